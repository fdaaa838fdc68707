//! The prover.

use crate::{
    StarkError, Trace,
    air::Preprocessed,
    claims,
    commitment::{
        Committed, Matrix, Rows, check_shape, extend, extend_coset, extend_in_place, lock, restore,
    },
    constraints::Constraints,
    domain::{SHIFT, coset, domain, generator, reverse},
    error::unreachable_refusal,
    hash::StarkHash,
    memory::{Memory, Resources},
    openings::{Opened, evaluate},
    proof::{OpenedValues, Proof},
    quotient::{Quotient, factors},
    rows::RowInputs,
    security::Parameters,
    shape,
    store::Buffer,
    tiled::Tiled,
    transcript::{Challenger, observe_cap, sample},
    verify::verify,
};
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_memory::Pages;
use proofmill_parallel as parallel;
use proofmill_poly::goldilocks::Order;
use std::{env, io, path::Path};

/// Preprocessed columns with their commitment: the key of provers. The verifier's key is [`commitment`](Self::commitment).
pub struct PreprocessedKey<H: StarkHash> {
    committed: Committed<H>,
    log_rows: u32,
    values: Vec<Goldilocks>,
}

impl<H: StarkHash> PreprocessedKey<H> {
    /// Commits to an AIR's preprocessed columns.
    ///
    /// # Errors
    /// [`StarkError::Parameters`], [`StarkError::Shape`].
    pub fn new(
        level: Level,
        parameters: &Parameters,
        preprocessed: Preprocessed,
    ) -> Result<Self, StarkError> {
        parameters.check()?;
        let (values, columns) = (preprocessed.values, preprocessed.columns);
        let log_rows = check_shape("preprocessed columns", values.len(), columns, parameters)?;
        let extension = extend(level, parameters.log_blowup, &values, columns, Goldilocks::ONE);
        let committed = Committed::new(level, parameters, Box::new(extension), columns);
        Ok(Self { committed, log_rows, values })
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.committed.matrices[0].columns
    }

    /// The commitment, of as many digests as the parameters' cap, and the logarithm of the number of rows: the verifier's key.
    pub fn commitment(&self) -> (&[H::Digest], u32) {
        (self.committed.cap(), self.log_rows)
    }
}

/// Proves that a trace, borrowed, owned or read in parts, satisfies an AIR with these public values. The proof is verified
/// before it is returned.
///
/// Runs on the ambient rayon pool. Memory is what [`Memory`](crate::Memory) says, trees, and a few elements of the extension for each
/// row of the extended trace.
///
/// # Errors
/// [`StarkError::Parameters`], [`StarkError::Shape`], [`StarkError::PublicValues`], [`StarkError::Preprocessed`],
/// [`StarkError::TooFewRows`], [`StarkError::Unsatisfied`]; [`StarkError::Trace`], [`StarkError::Scratch`].
pub fn prove<'a, H: StarkHash, const D: usize>(
    resources: Resources<'_>,
    parameters: &Parameters,
    constraints: &Constraints,
    preprocessed: Option<&PreprocessedKey<H>>,
    trace: impl Into<Trace<'a>>,
    public_values: &[Goldilocks],
) -> Result<Proof<H, D>, StarkError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let mut trace = trace.into();
    parameters.check_degree(D)?;
    constraints.check_alone()?;
    let log_rows = check_shape("trace", trace.len(), constraints.columns, parameters)?;
    let fixed = preprocessed.map(|key| (key.columns(), key.log_rows));
    check(constraints, parameters, fixed, log_rows, public_values)?;
    let (proof, rows) =
        prove_checked(resources, parameters, constraints, preprocessed, &mut trace, log_rows, public_values)?;
    resources.progress.begin("verify");
    let key = preprocessed.map(PreprocessedKey::commitment);
    let Err(error) = verify(resources.level, parameters, constraints, key, public_values, &proof) else {
        return Ok(proof);
    };
    // A trace that was given away is what was computed of it.
    let mut computed = rows.filter(|_| trace.len() == 0);
    match &mut computed {
        None => {}
        Some(Rows::Kept(values)) => {
            let values = &mut values[..constraints.columns << log_rows];
            restore(resources.level, values, constraints.columns);
        }
        Some(Rows::Computed(tiled)) => lock(tiled).restore(resources.level)?,
    }
    let read = |row: usize, values: &mut [Goldilocks]| match &computed {
        None => trace.read(row * values.len(), values),
        Some(Rows::Kept(restored)) => {
            values.copy_from_slice(&restored[row * values.len()..][..values.len()]);
            Ok(())
        }
        Some(Rows::Computed(tiled)) => lock(tiled).read_row(row, values),
    };
    let preprocessed = preprocessed.map_or(&[][..], |key| &key.values);
    let inputs = RowInputs { constraints, rows: 1 << log_rows, preprocessed, public_values };
    Err(inputs.unsatisfied(read)?.unwrap_or_else(|| match trace {
        Trace::Parts { .. } => StarkError::Trace(io::Error::other("it changed while it was proven")),
        Trace::Memory(_) => unreachable_refusal(&error),
    }))
}

/// Checks a trace of `2^log_rows` rows, given the columns of the preprocessed columns and the logarithm of the number of their rows.
pub(crate) fn check(
    constraints: &Constraints,
    parameters: &Parameters,
    preprocessed: Option<(usize, u32)>,
    log_rows: u32,
    public_values: &[Goldilocks],
) -> Result<(), StarkError> {
    let (expected, found) = (constraints.public_values, public_values.len());
    if expected != found {
        return Err(StarkError::PublicValues { expected, found });
    }
    let (columns, rows) = preprocessed.unwrap_or((0, log_rows));
    if columns != constraints.preprocessed || rows != log_rows {
        return Err(StarkError::Preprocessed {
            expected: format!("{} columns of 2^{log_rows} rows", constraints.preprocessed),
            found: format!("{columns} columns of 2^{rows} rows"),
        });
    }
    if log_rows < parameters.least_log_rows() {
        return Err(StarkError::TooFewRows { found: log_rows, more_than: parameters.log_final_length });
    }
    let longest = constraints.periodic.iter().map(Vec::len).max().unwrap_or(1).ilog2();
    if log_rows < longest {
        return Err(StarkError::TooFewRows { found: log_rows, more_than: longest - 1 });
    }
    if log_rows + constraints.log_chunks > Goldilocks::TWO_ADICITY {
        return Err(StarkError::Air("constraints of too high a degree for as many rows".into()));
    }
    Ok(())
}

fn prove_checked<H: StarkHash, const D: usize>(
    Resources { level, memory, scratch, progress }: Resources<'_>,
    parameters: &Parameters,
    constraints: &Constraints,
    preprocessed: Option<&PreprocessedKey<H>>,
    trace: &mut Trace<'_>,
    log_rows: u32,
    public_values: &[Goldilocks],
) -> Result<(Proof<H, D>, Option<Rows>), StarkError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let blowup = parameters.log_blowup;
    progress.begin("extend trace");
    let trace = match memory {
        Memory::Fast => {
            let extension: Box<dyn Buffer> = if let Some(mut values) = trace.take() {
                domain(log_rows).extend_vector(level, &mut values, blowup, SHIFT, Order::BitReversed);
                Box::new(values)
            } else {
                let len = trace.len();
                let mut extension = Pages::new(len << blowup);
                trace.read(0, &mut extension[..len])?;
                extend_in_place(level, blowup, &mut extension, constraints.columns, Goldilocks::ONE);
                Box::new(extension)
            };
            progress.begin("commit to trace");
            Committed::<H>::new(level, parameters, extension, constraints.columns)
        }
        Memory::Balanced | Memory::Low => {
            let tiled = if memory == Memory::Low {
                let folder = scratch.map_or_else(env::temp_dir, Path::to_owned);
                Tiled::in_file(level, &folder, trace, constraints.columns)?
            } else {
                Tiled::in_memory(level, trace, constraints.columns)?
            };
            progress.begin("commit to trace");
            Committed::<H>::tiled(level, parameters, tiled)?
        }
    };

    let mut challenger = H::Challenger::new();
    shape::description::<D>(constraints, parameters, log_rows).observe(&mut challenger);
    observe_cap::<H>(&mut challenger, trace.cap());
    if let Some(key) = preprocessed {
        observe_cap::<H>(&mut challenger, key.committed.cap());
    }
    public_values.iter().for_each(|value| challenger.observe(*value));
    let alpha = sample(&mut challenger);

    progress.begin("quotient");
    let factors = factors(constraints.len(), alpha);
    let quotient = Quotient { constraints, scalars: public_values, factors, log_rows };
    let preprocessed = preprocessed.map(|key| &key.committed);
    let matrices = [Some(&trace), preprocessed].into_iter().flatten().map(|committed| &committed.matrices[0]);
    let chunks = quotient_chunks(level, blowup, &quotient, &matrices.collect::<Vec<_>>())?;
    progress.begin("commit to quotient");
    let quotient = Committed::<H>::new(level, parameters, Box::new(chunks), D * constraints.chunks());
    observe_cap::<H>(&mut challenger, quotient.cap());
    let out_of_domain_work = challenger.work(level, parameters.grinding.out_of_domain);
    let zeta: Extension<Goldilocks, D> = sample(&mut challenger);

    progress.begin("evaluate");
    let next = zeta.scale(generator(log_rows));
    let committed: Vec<_> = [&trace, &quotient].into_iter().chain(preprocessed).collect();
    let [reads_next, reads_next_preprocessed] = constraints.reads_next;
    let points =
        [reads_next, false, reads_next_preprocessed].map(|next| if next { vec![0, 1] } else { vec![0] });
    let (mut kept, mut values) = (Vec::new(), Vec::new());
    for (committed, points) in committed.iter().zip(points) {
        let matrix = &committed.matrices[0];
        match &matrix.rows {
            Rows::Kept(rows) => {
                kept.push(Opened { words: Goldilocks::as_words(rows), width: matrix.columns, points });
            }
            Rows::Computed(tiled) => values.push(lock(tiled).evaluate(level, &[zeta, next], &points)?),
        }
    }
    // What is computed is the first.
    values.extend(evaluate(level, coset(), log_rows, &kept, &[zeta, next]));
    let mut values = values.into_iter();
    let mut of_matrix = || {
        let mut values = values.next().unwrap_or_default().into_iter();
        [(); 2].map(|()| values.next().unwrap_or_default())
    };
    let ([trace_values, next_values], [quotient_values, _], [fixed, next_fixed]) =
        (of_matrix(), of_matrix(), of_matrix());
    let opened = OpenedValues {
        trace: trace_values,
        next: next_values,
        preprocessed: fixed,
        next_preprocessed: next_fixed,
        quotient: quotient_values.as_chunks::<D>().0.to_vec(),
    };
    let claims = claims::of_statement(constraints, &opened, log_rows + blowup, zeta, next);
    let opening = claims::prove::<H, D>(level, parameters, &committed, &claims, &mut challenger, progress)?;
    let proof = Proof {
        log_rows,
        trace: trace.cap().to_vec(),
        quotient: quotient.cap().to_vec(),
        out_of_domain_work,
        opened,
        opening,
    };
    Ok((proof, trace.into_rows()))
}

/// The extended polynomials of the quotient, side by side, from the extensions of the trace and of the others that there are: of the
/// preprocessed columns and of those of lookups.
pub(crate) fn quotient_chunks<const D: usize>(
    level: Level,
    log_blowup: u32,
    quotient: &Quotient<'_, D>,
    matrices: &[&Matrix],
) -> Result<Pages<Goldilocks>, StarkError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    /// The rows of a task.
    const TASK: usize = 1 << 10;
    let (log_rows, log_chunks) = (quotient.log_rows, quotient.constraints.log_chunks);
    // The extensions contain the quotient's cosets, unless there are more of them.
    let trace = matrices[0];
    let kept = matrices.iter().filter_map(|matrix| match &matrix.rows {
        Rows::Kept(rows) => Some((&***rows, matrix.columns)),
        Rows::Computed(_) => None,
    });
    let matrices: Vec<_> = kept.collect();
    let longer: Vec<_> = if log_chunks > log_blowup {
        let longer = |(rows, columns): &(&[Goldilocks], usize)| {
            extend_coset(level, log_chunks, rows[..columns << log_rows].to_vec(), *columns)
        };
        matrices.iter().map(longer).collect()
    } else {
        Vec::new()
    };
    let values = |index: usize| longer.get(index).map_or(matrices[index].0, |values| &**values);
    let chunks = 1 << log_chunks;
    let mut order: Vec<_> = (0..chunks).collect();
    if let Rows::Computed(tiled) = &trace.rows {
        let shift = lock(tiled).shift();
        order.sort_by_key(|chunk| quotient.shift(*chunk) != shift);
    }
    let mut extensions = order
        .into_iter()
        .map(|chunk| {
            let first = reverse(chunk, log_chunks) << log_rows;
            let read = |row: usize, mut words: &mut [u64]| {
                let row = first + reverse(row, log_rows);
                for (index, (_, columns)) in matrices.iter().enumerate() {
                    let (part, rest) = words.split_at_mut(*columns);
                    part.copy_from_slice(Goldilocks::as_words(&values(index)[row * columns..][..*columns]));
                    words = rest;
                }
            };
            let values = match &trace.rows {
                Rows::Kept(_) => quotient.on_coset(level, chunk, read),
                Rows::Computed(tiled) => quotient.on_tiles(level, chunk, &mut lock(tiled), read)?,
            };
            let values = Extension::coefficients(&values);
            Ok((chunk, extend(level, log_blowup, values, D, quotient.shift(chunk))))
        })
        .collect::<Result<Vec<_>, StarkError>>()?;
    extensions.sort_by_key(|(chunk, _)| *chunk);
    let mut columns = Pages::new(extensions.len() * (D << (log_rows + log_blowup)));
    let tasks = (0..).step_by(D * TASK).zip(columns.chunks_mut(extensions.len() * D * TASK));
    parallel::for_each(tasks, |(first, columns)| {
        for (start, row) in (first..).step_by(D).zip(columns.chunks_exact_mut(extensions.len() * D)) {
            let parts = row.chunks_exact_mut(D).zip(&extensions);
            parts.for_each(|(part, (_, values))| part.copy_from_slice(&values[start..start + D]));
        }
    });
    Ok(columns)
}
