//! The prover.

pub(crate) mod quotient;

use crate::{
    Run, StarkError, Trace,
    air::{Preprocessed, constraints::Constraints},
    commitment::{Committed, check_shape},
    domain::{coset, generator, reverse},
    error::{changed, unreachable_refusal},
    extension::{extend, extend_coset},
    openings::{Opened, claims, evaluate},
    proof::{OpenedValues, Proof},
    prove::quotient::{Quotient, factors},
    security::Parameters,
    trace::{
        blinding::Blinding,
        divided::Divided,
        placement::{Matrix, extend_trace},
        rows::RowInputs,
    },
    transcript::{Challenger, hash::StarkHash, observe_cap, sample, shape},
    verify::verify,
};
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_hash::Digest;
use proofmill_memory::{Pages, prefetch};
use proofmill_run::parallel;

/// Preprocessed columns with their commitment: the key of provers. The verifier's key is [`commitment`](Self::commitment).
pub struct PreprocessedKey {
    /// The name of the hash.
    hash: &'static str,
    committed: Committed,
    log_rows: u32,
    values: Vec<Goldilocks>,
}

impl PreprocessedKey {
    /// Commits to an AIR's preprocessed columns.
    ///
    /// # Errors
    /// [`StarkError::Parameters`], [`StarkError::Shape`].
    pub fn new(
        level: Level,
        hash: &dyn StarkHash,
        parameters: &Parameters,
        preprocessed: Preprocessed,
    ) -> Result<Self, StarkError> {
        parameters.check()?;
        let (values, columns) = (preprocessed.values, preprocessed.columns);
        let log_rows = check_shape("preprocessed columns", values.len(), columns, parameters)?;
        let mut blinding = Blinding::of_key(parameters);
        let extension =
            extend_trace(level.into(), parameters, &mut (&values).into(), columns, &mut blinding)?;
        let committed = Committed::of_matrices(level, hash, parameters, [extension], &mut blinding)?;
        Ok(Self { hash: hash.name(), committed, log_rows, values })
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.committed.matrix(0).columns
    }

    /// The verifier's key: the commitment, with as many digests as the parameters' cap has, and the base-2 logarithm of the number of rows.
    pub fn commitment(&self) -> (&[Digest], u32) {
        (self.committed.cap(), self.log_rows)
    }
}

/// Proves that a trace, borrowed, owned or read in parts, satisfies an AIR with these public values. The proof is verified
/// before it is returned.
///
/// Runs on the ambient rayon pool. It takes the memory that [`Memory`](crate::Memory) says, trees, and a few elements of the extension for
/// each row of the extended trace.
///
/// # Errors
/// [`StarkError::Parameters`], [`StarkError::Shape`], [`StarkError::PublicValues`], [`StarkError::Preprocessed`],
/// [`StarkError::TooFewRows`], [`StarkError::Unsatisfied`]; [`StarkError::Trace`], [`StarkError::Scratch`], [`StarkError::Randomness`].
pub fn prove<'a, const D: usize>(
    run: Run<'_>,
    hash: &dyn StarkHash,
    parameters: &Parameters,
    constraints: &Constraints,
    preprocessed: Option<&PreprocessedKey>,
    trace: impl Into<Trace<'a>>,
    public_values: &[Goldilocks],
) -> Result<Proof<D>, StarkError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let mut trace = trace.into();
    parameters.check_degree(D)?;
    constraints.check_alone()?;
    let log_rows = check_shape("trace", trace.len(), constraints.columns, parameters)?;
    let fixed = preprocessed.map(|key| (key.columns(), key.log_rows));
    check(constraints, parameters, fixed, log_rows, public_values)?;
    check_hash(hash, preprocessed.map(|key| key.hash))?;
    if let Trace::Divided { .. } = trace {
        Divided::check(constraints, parameters)?;
    }
    let statement = Statement { hash, parameters, constraints, preprocessed, public_values, log_rows };
    let (proof, extended) = statement.prove(run, &mut trace)?;
    // A wrong trace gives a proof, too: only the check at zeta shows that a constraint fails.
    run.progress.begin("verify");
    let key = preprocessed.map(PreprocessedKey::commitment);
    let Err(error) = verify(run.level, hash, parameters, constraints, key, public_values, &proof) else {
        return Ok(proof);
    };
    // An owned trace was taken: its values are restored from its extension.
    let mut extended = extended.filter(|_| trace.len() == 0);
    if let Some(extended) = &mut extended {
        extended.restore(run.level, parameters.log_blowup)?;
    }
    let read = |row: usize, values: &mut [Goldilocks]| match &extended {
        None => trace.read(row * values.len(), values),
        Some(restored) => restored.read_row(row, values),
    };
    let preprocessed = preprocessed.map_or(&[][..], |key| &key.values);
    let inputs = RowInputs { constraints, rows: 1 << log_rows, preprocessed, public_values };
    // Name the constraint and the row that fail.
    Err(inputs.unsatisfied(read)?.unwrap_or_else(|| match trace {
        Trace::Parts { .. } => changed(),
        Trace::Divided { .. } => StarkError::Answer("answers about another trace, or wrong ones".into()),
        Trace::Memory(_) => unreachable_refusal(&error),
    }))
}

/// Checks that a key, if there is one, has the hash of the proof.
pub(crate) fn check_hash(hash: &dyn StarkHash, of_key: Option<&str>) -> Result<(), StarkError> {
    match of_key.filter(|found| *found != hash.name()) {
        None => Ok(()),
        Some(found) => {
            let [expected, found] = [hash.name(), found].map(|name| format!("a commitment with {name}"));
            Err(StarkError::Preprocessed { expected, found })
        }
    }
}

/// Checks a trace of `2^log_rows` rows. `preprocessed` has the number of preprocessed columns, and the base-2 logarithm of the number of
/// their rows.
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
    // All columns are opened at one pair of points, so their heights must agree.
    let (columns, rows) = preprocessed.unwrap_or((0, log_rows));
    if columns != constraints.preprocessed || rows != log_rows {
        return Err(StarkError::Preprocessed {
            expected: format!("{} columns of 2^{log_rows} rows", constraints.preprocessed),
            found: format!("{columns} columns of 2^{rows} rows"),
        });
    }
    let least = parameters.least_log_rows();
    if log_rows < least {
        return Err(StarkError::TooFewRows { found: log_rows, more_than: least - 1 });
    }
    // A periodic column is a polynomial in `x^(rows / period)`: the period has to divide the rows.
    let longest = constraints.periodic.iter().map(Vec::len).max().unwrap_or(1).ilog2();
    if log_rows < longest {
        return Err(StarkError::TooFewRows { found: log_rows, more_than: longest - 1 });
    }
    // The quotient is evaluated on a coset of a subgroup of this order.
    if log_rows + constraints.log_chunks(parameters) > Goldilocks::TWO_ADICITY {
        return Err(StarkError::Air("constraints of too high a degree for as many rows".into()));
    }
    Ok(())
}

/// The statement to prove, which was checked.
struct Statement<'a> {
    hash: &'a dyn StarkHash,
    parameters: &'a Parameters,
    constraints: &'a Constraints,
    preprocessed: Option<&'a PreprocessedKey>,
    public_values: &'a [Goldilocks],
    log_rows: u32,
}

impl Statement<'_> {
    /// The proof, and the extended trace.
    fn prove<const D: usize>(
        &self,
        run: Run<'_>,
        trace: &mut Trace<'_>,
    ) -> Result<(Proof<D>, Option<Matrix>), StarkError>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let Self { hash, parameters, constraints, preprocessed, log_rows, .. } = *self;
        let (level, progress) = (run.level, run.progress);
        let mut blinding = Blinding::of_proof(parameters)?;
        // Commit to the trace: its low-degree extension to a coset that is disjoint from its domain, so
        // that the vanishing polynomial can be divided by there.
        progress.begin("extend trace");
        let trace = extend_trace(run, parameters, trace, constraints.columns, &mut blinding)?;
        progress.begin("commit to trace");
        let trace = Committed::of_matrices(level, hash, parameters, [trace], &mut blinding)?;
        let challenger = &mut *hash.challenger();
        let alpha = self.alpha::<D>(&trace, challenger);

        progress.begin("quotient");
        let chunks = self.quotient(level, &trace, alpha, &mut blinding)?;
        progress.begin("commit to quotient");
        let rows = &[log_rows];
        let out_of_domain =
            commit_to_quotients::<D>(level, hash, parameters, rows, chunks, &mut blinding, challenger);
        let OutOfDomain { quotient, random, work: out_of_domain_work, zeta } = out_of_domain;

        progress.begin("evaluate");
        let next = zeta.scale(generator(log_rows));
        // This order of the commitments is part of the protocol: claims and the verifier have it, too.
        let preprocessed = preprocessed.map(|key| &key.committed);
        let committed = [random.as_ref(), Some(&trace), Some(&quotient), preprocessed];
        let opened = self.opened(level, committed, [zeta, next])?;
        // Opening argument: FRI shows that the quotients `(f(zeta) - f(x)) / (zeta - x)` are of low degree.
        let claims = claims::of_statement(constraints, &opened, parameters.log_height(log_rows), zeta, next);
        let committed: Vec<_> = committed.into_iter().flatten().collect();
        let opening = claims::prove(run, hash, parameters, &committed, claims, &mut blinding, challenger)?;
        let proof = Proof {
            log_rows,
            trace: trace.cap().to_vec(),
            quotient: quotient.cap().to_vec(),
            random: random.map_or(Vec::new(), |random| random.cap().to_vec()),
            out_of_domain_work,
            opened,
            opening,
        };
        Ok((proof, trace.into_matrix()))
    }

    /// Fiat-Shamir: statement and trace are fixed before alpha, or they could be fitted to it.
    fn alpha<const D: usize>(
        &self,
        trace: &Committed,
        challenger: &mut dyn Challenger,
    ) -> Extension<Goldilocks, D> {
        shape::description::<D>(self.constraints, self.parameters, self.log_rows).observe(challenger);
        observe_cap(challenger, trace.cap());
        if let Some(key) = self.preprocessed {
            observe_cap(challenger, key.committed.cap());
        }
        self.public_values.iter().for_each(|value| challenger.observe(*value));
        // Powers of alpha combine the constraints: a violated constraint hardly ever cancels.
        sample(challenger)
    }

    /// Quotient: constraints divided by the vanishing polynomial, on a coset for each chunk.
    fn quotient<const D: usize>(
        &self,
        level: Level,
        trace: &Committed,
        alpha: Extension<Goldilocks, D>,
        blinding: &mut Option<Blinding>,
    ) -> Result<Vec<(Pages<Goldilocks>, usize)>, StarkError>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let Self { parameters, constraints, preprocessed, public_values, log_rows, .. } = *self;
        let factors = factors(constraints.len(), alpha);
        let log_chunks = constraints.log_chunks(parameters);
        let quotient = Quotient { constraints, scalars: public_values, factors, log_rows, log_chunks };
        let preprocessed = preprocessed.map(|key| &key.committed);
        let matrices: Vec<_> =
            [Some(trace), preprocessed].into_iter().flatten().map(|committed| committed.matrix(0)).collect();
        quotient_chunks(level, parameters, &quotient, &matrices, blinding)
    }

    /// Out-of-domain opening (DEEP): the values of columns at zeta and, if constraints read the next row, at the next row's point.
    /// `committed` has the random polynomials, the trace, the quotient, and the preprocessed columns.
    fn opened<const D: usize>(
        &self,
        level: Level,
        committed: [Option<&Committed>; 4],
        points: [Extension<Goldilocks, D>; 2],
    ) -> Result<OpenedValues<D>, StarkError>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let Self { parameters, constraints, log_rows, .. } = *self;
        let [reads_next, reads_next_preprocessed] = constraints.reads_next;
        let committed = committed.into_iter().zip([false, reads_next, false, reads_next_preprocessed]);
        let matrices = committed.filter_map(|(committed, next)| Some(committed?.opened(next)));
        let matrices: Vec<_> = matrices.flatten().collect();
        let values = values_at(level, &matrices, parameters.log_coefficients(log_rows), points)?;
        Ok(OpenedValues::new(parameters, constraints, &mut values.into_iter()))
    }
}

/// The point outside of the domains, with the messages that are fixed before it is drawn.
pub(crate) struct OutOfDomain<const D: usize> {
    /// The commitment to the quotient, or to the quotients of several traces.
    pub(crate) quotient: Committed,
    /// The commitment to random polynomials, if there is blinding.
    pub(crate) random: Option<Committed>,
    /// The proof of work before the point.
    pub(crate) work: Goldilocks,
    /// The point.
    pub(crate) zeta: Extension<Goldilocks, D>,
}

/// Commits to the quotients of traces of these numbers of rows, and then draws zeta.
pub(crate) fn commit_to_quotients<const D: usize>(
    level: Level,
    hash: &dyn StarkHash,
    parameters: &Parameters,
    log_rows: &[u32],
    chunks: impl IntoIterator<Item = (Pages<Goldilocks>, usize)>,
    blinding: &mut Option<Blinding>,
    challenger: &mut dyn Challenger,
) -> OutOfDomain<D> {
    let quotient = Committed::new(level, hash, parameters, chunks, blinding);
    // The quotient is fixed before zeta, or it could be made to agree at that point only.
    observe_cap(challenger, quotient.cap());
    // Zero knowledge: random polynomials make the word that FRI folds uniform. They are fixed before zeta, too.
    let random = random_polynomials::<D>(level, hash, parameters, log_rows, blinding);
    if let Some(random) = &random {
        observe_cap(challenger, random.cap());
    }
    // Grinding: each attempt to get a better zeta costs a prover this work.
    let work = challenger.work(level, parameters.grinding.out_of_domain);
    OutOfDomain { quotient, random, work, zeta: sample(challenger) }
}

/// The values of the columns of matrices at a point. If constraints read the next row of a matrix, its values at the next row's point are
/// the second list.
pub(crate) fn values_at<const D: usize>(
    level: Level,
    matrices: &[(&Matrix, bool)],
    log_coefficients: u32,
    points: [Extension<Goldilocks, D>; 2],
) -> Result<Vec<[Vec<Extension<Goldilocks, D>>; 2]>, StarkError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let points_of = |next: bool| if next { vec![0, 1] } else { vec![0] };
    // All kept matrices in one pass: they share the barycentric weights.
    let kept = matrices.iter().filter_map(|(matrix, next)| {
        let words = Goldilocks::as_words(matrix.kept()?);
        Some(Opened { words, width: matrix.columns, points: points_of(*next) })
    });
    // The first rows are the values on a smaller coset. There are as many as coefficients, so that they determine the columns.
    let mut of_kept =
        evaluate(level, coset(), log_coefficients, &kept.collect::<Vec<_>>(), &points).into_iter();
    let of_matrix = |(matrix, next): &(&Matrix, bool)| {
        let values = matrix.evaluate(level, &points, &points_of(*next))?;
        let mut values = values.or_else(|| of_kept.next()).unwrap_or_default().into_iter();
        Ok([(); 2].map(|()| values.next().unwrap_or_default()))
    };
    matrices.iter().map(of_matrix).collect()
}

impl<const D: usize> OpenedValues<D> {
    /// Sorts the values of matrices at the point and at the next row's point. The matrices are the random polynomials if there is blinding,
    /// the trace, the quotient, and the preprocessed columns if there are some.
    pub(crate) fn new(
        parameters: &Parameters,
        constraints: &Constraints,
        values: &mut impl Iterator<Item = [Vec<Extension<Goldilocks, D>>; 2]>,
    ) -> Self {
        let mut of_matrix = |there: bool| if there { values.next() } else { None }.unwrap_or_default();
        let blinded = parameters.is_blinded();
        let [random, _] = of_matrix(blinded);
        let [trace, next] = of_matrix(true);
        let (mut quotient, mut beside_quotient) = (Vec::new(), Vec::new());
        // With blinding, a chunk is a matrix of its own: D coordinates, then random columns.
        for _ in 0..if blinded { constraints.chunks(parameters) } else { 1 } {
            let [values, _] = of_matrix(true);
            let (own, beside) = values.split_at(if blinded { D } else { values.len() });
            quotient.extend(own.as_chunks::<D>().0);
            beside_quotient.extend(beside);
        }
        let [preprocessed, next_preprocessed] = of_matrix(constraints.preprocessed > 0);
        Self { trace, next, preprocessed, next_preprocessed, quotient, beside_quotient, random }
    }
}

/// The commitment to random polynomials for traces of these numbers of rows, if there is blinding. Each trace has one polynomial over the
/// extension; random columns follow its coordinates.
fn random_polynomials<const D: usize>(
    level: Level,
    hash: &dyn StarkHash,
    parameters: &Parameters,
    log_rows: &[u32],
    blinding: &mut Option<Blinding>,
) -> Option<Committed> {
    let columns = D + parameters.random_columns as usize;
    let random = blinding.as_mut()?;
    // Random values on a subgroup are the values of a uniform polynomial, of the degree of the columns.
    let matrices = log_rows.iter().map(|log_rows| {
        let values = random.elements(columns << parameters.log_coefficients(*log_rows));
        (extend(level, parameters.log_blowup, &values, columns, Goldilocks::ONE), columns)
    });
    let matrices: Vec<_> = matrices.collect();
    Some(Committed::new(level, hash, parameters, matrices, blinding))
}

/// The extended polynomials of the quotient, as matrices to commit to. Without blinding, they are side by side in one matrix. `matrices`
/// has the extensions of the trace and, where a statement has them, of the preprocessed columns and of the columns of lookups.
pub(crate) fn quotient_chunks<const D: usize>(
    level: Level,
    parameters: &Parameters,
    quotient: &Quotient<'_, D>,
    matrices: &[&Matrix],
    blinding: &mut Option<Blinding>,
) -> Result<Vec<(Pages<Goldilocks>, usize)>, StarkError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let Quotient { constraints, log_rows, log_chunks, .. } = *quotient;
    let log_coefficients = parameters.log_coefficients(log_rows);
    let log_cosets = log_chunks + log_rows - log_coefficients;
    let (trace, log_blowup) = (matrices[0], parameters.log_blowup);
    let kept = KeptRows::new(level, constraints, matrices, log_blowup, [log_coefficients, log_cosets]);
    let mut blinded = blinding.as_mut().map(|blinding| blinding.of_quotient(log_rows, 1 << log_chunks));
    let mut extensions = Vec::with_capacity(1 << log_chunks);
    let read = |chunk: usize, row: usize, words: &mut [u64]| {
        // In bit-reversed order the rows of one coset are consecutive.
        let of_coset = |row: usize| (reverse(chunk, log_chunks) << log_rows) + reverse(row, log_rows);
        kept.read(of_coset(row), of_coset((row + AHEAD) & ((1 << log_rows) - 1)), words);
    };
    trace.for_each_chunk(level, quotient, read, |chunk, values| {
        // A chunk is the polynomial with these values on its coset, extended like all columns.
        let shift = quotient.shift(chunk);
        let extension = match &mut blinded {
            None => (extend(level, log_blowup, Extension::coefficients(&values), D, shift), D),
            Some(blinded) => blinded.extend(level, log_blowup, &values, shift),
        };
        extensions.push((chunk, extension));
    })?;
    // The verifier weighs chunks by their index.
    extensions.sort_by_key(|(chunk, _)| *chunk);
    let extensions: Vec<_> = extensions.into_iter().map(|(_, extension)| extension).collect();
    Ok(if parameters.is_blinded() { extensions } else { vec![side_by_side::<D>(&extensions)] })
}

/// How many rows ahead a row is prefetched. In bit-reversed order each row is in another cache line and page.
const AHEAD: usize = 16;

/// The rows of kept matrices that a quotient reads.
struct KeptRows<'a> {
    /// The rows of each matrix, the number of its columns, and the number of columns that are read.
    matrices: Vec<(&'a [Goldilocks], usize, usize)>,
    /// Longer extensions to read in place of these rows, if there are some.
    longer: Vec<Pages<Goldilocks>>,
}

impl<'a> KeptRows<'a> {
    /// The rows of extensions to `2^log_blowup` cosets, whose columns have `2^log_coefficients` coefficients. The quotient is on
    /// `2^log_cosets` cosets of the same size.
    fn new(
        level: Level,
        constraints: &Constraints,
        matrices: &[&'a Matrix],
        log_blowup: u32,
        [log_coefficients, log_cosets]: [u32; 2],
    ) -> Self {
        // The extensions contain the quotient's cosets, unless the quotient has more cosets. Only the first columns of a row are read:
        // random columns follow.
        let widths = [constraints.columns, constraints.preprocessed, constraints.lookup_columns];
        let widths = widths.into_iter().filter(|width| *width > 0);
        let kept = matrices.iter().zip(widths);
        let kept = kept.filter_map(|(matrix, width)| Some((matrix.kept()?, matrix.columns, width)));
        let matrices: Vec<_> = kept.collect();
        // A quotient has more cosets than the extension: extend the columns again, to all of them.
        let longer: Vec<_> = if log_cosets > log_blowup {
            let longer = |(rows, columns, _): &(&[Goldilocks], usize, usize)| {
                extend_coset(level, log_cosets, rows[..columns << log_coefficients].to_vec(), *columns)
            };
            matrices.iter().map(longer).collect()
        } else {
            Vec::new()
        };
        Self { matrices, longer }
    }

    /// Writes the values that are read in a row of all matrices, and prefetches the row that is read [`AHEAD`].
    #[inline]
    fn read(&self, row: usize, ahead: usize, mut words: &mut [u64]) {
        for (index, (rows, columns, width)) in self.matrices.iter().enumerate() {
            let rows = self.longer.get(index).map_or(*rows, |longer| &**longer);
            let (part, rest) = words.split_at_mut(*width);
            prefetch(&rows[ahead * columns]);
            part.copy_from_slice(Goldilocks::as_words(&rows[row * columns..][..*width]));
            words = rest;
        }
    }
}

/// One matrix with the columns of all matrices, which have D columns each.
fn side_by_side<const D: usize>(matrices: &[(Pages<Goldilocks>, usize)]) -> (Pages<Goldilocks>, usize) {
    /// The number of rows of a task.
    const TASK: usize = 1 << 10;
    let matrices: Vec<&[[Goldilocks; D]]> =
        matrices.iter().map(|(values, _)| values.as_chunks::<D>().0).collect();
    let columns = matrices.len() * D;
    let mut rows = Pages::new(matrices[0].len() * columns);
    let tasks = (0..).step_by(TASK).zip(rows.chunks_mut(TASK * columns));
    parallel::for_each(tasks, |(first, rows)| {
        for (index, row) in (first..).zip(rows.chunks_exact_mut(columns)) {
            let parts = row.as_chunks_mut::<D>().0.iter_mut().zip(&matrices);
            parts.for_each(|(part, matrix)| *part = matrix[index]);
        }
    });
    (rows, columns)
}
