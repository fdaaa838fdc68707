//! The prover.

use super::{
    TableValues, Tables, TablesKey, TablesProof,
    lookups::{Challenges, TableRows, columns, unbalanced},
    shape,
    verify::{claims, factors, verify_tables},
};
use crate::{
    OpenedValues, Parameters, Run, StarkError, StarkHash, Trace, VerifyError,
    air::Products,
    commitment::{Committed, check_shape},
    domain::generator,
    error::{changed, unreachable_refusal},
    openings::claims,
    prove::{
        OutOfDomain, check, check_hash, commit_to_quotients, quotient::Quotient, quotient_chunks, values_at,
    },
    trace::{
        blinding::Blinding,
        placement::{Matrix, extend_trace},
        rows::RowInputs,
    },
    transcript::{Challenger, observe, observe_cap, sample},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_memory::Pages;

/// Proves that traces, one for each table, satisfy their AIRs with the public values of each table. Also proves that lookups are balanced
/// over all tables. The proof is verified before it is returned.
///
/// Runs on the ambient rayon pool. [`Memory`](crate::Memory) applies to all traces; the traces themselves are kept, too. Columns of lookups
/// and preprocessed columns are extended in memory.
///
/// # Errors
/// The errors of [`prove`](crate::prove()), in [`StarkError::Table`] if they are of one table; [`StarkError::Tables`],
/// [`StarkError::Unbalanced`].
pub fn prove_tables<const D: usize>(
    run: Run<'_>,
    hash: &dyn StarkHash,
    parameters: &Parameters,
    tables: &Tables,
    key: Option<&TablesKey>,
    traces: &[Trace<'_>],
    public_values: &[&[Goldilocks]],
) -> Result<TablesProof<D>, StarkError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    parameters.check_degree(D)?;
    for (what, found) in [("traces", traces.len()), ("lists of public values", public_values.len())] {
        if found != tables.tables.len() {
            return Err(StarkError::Tables { what, expected: tables.tables.len(), found });
        }
    }
    let expected = tables.with_preprocessed().count();
    let found = key.map_or(0, |key| key.log_rows.len());
    if expected != found {
        let text = |count| format!("those of {count} tables");
        return Err(StarkError::Preprocessed { expected: text(expected), found: text(found) });
    }
    let mut log_rows = Vec::with_capacity(traces.len());
    let mut preprocessed = key.map_or(&[][..], |key| &key.log_rows).iter();
    for (index, (table, trace)) in tables.tables.iter().zip(traces).enumerate() {
        let of_table = |error| StarkError::Table { table: index, source: Box::new(error) };
        let rows = check_shape("trace", trace.len(), table.columns, parameters).map_err(of_table)?;
        let fixed = if table.preprocessed > 0 { preprocessed.next() } else { None };
        let fixed = fixed.map(|log_rows| (table.preprocessed, *log_rows));
        check(table, parameters, fixed, rows, public_values[index]).map_err(of_table)?;
        if matches!(trace, Trace::Divided { .. }) {
            return Err(of_table(StarkError::Indivisible("it is one of several")));
        }
        log_rows.push(rows);
    }
    let tallest = parameters.log_height(log_rows.iter().max().copied().unwrap_or(0));
    // The commitment would not depend on a table whose extension has fewer rows than the commitment has digests.
    let least = parameters.log_cap(tallest).saturating_sub(parameters.log_height(0));
    if let Some(table) = log_rows.iter().position(|rows| *rows < least) {
        let source = StarkError::TooFewRows { found: log_rows[table], more_than: least - 1 };
        return Err(StarkError::Table { table, source: Box::new(source) });
    }
    tables.check_counts(&log_rows)?;
    check_hash(hash, key.map(|key| key.hash))?;
    let statement = Statement { hash, tables, key, traces, public_values, log_rows };
    let proof = statement.prove(run, parameters)?;
    run.progress.begin("verify");
    let key = key.map(TablesKey::verifying_key);
    match verify_tables(run.level, hash, parameters, tables, key.as_ref(), public_values, &proof) {
        Ok(()) => Ok(proof),
        Err(error) => Err(statement.reason(&error).unwrap_or_else(|error| error)),
    }
}

/// The statement to prove, which was checked.
struct Statement<'a> {
    hash: &'a dyn StarkHash,
    tables: &'a Tables,
    key: Option<&'a TablesKey>,
    traces: &'a [Trace<'a>],
    public_values: &'a [&'a [Goldilocks]],
    log_rows: Vec<u32>,
}

/// The extended polynomials of a table's quotient, as matrices to commit to.
type Chunks = Vec<(Pages<Goldilocks>, usize)>;

/// The columns of lookups.
struct Lookups<const D: usize> {
    challenges: Challenges<D>,
    /// The proof of work before the challenges.
    work: Goldilocks,
    /// The commitment to the columns, if tables have some.
    committed: Option<Committed>,
    /// For each table with lookups, the sum of its fractions.
    totals: Vec<Extension<Goldilocks, D>>,
}

impl Statement<'_> {
    /// The key, and the place of a table's preprocessed columns in the key's commitment.
    fn preprocessed(&self, table: usize) -> Option<(&TablesKey, usize)> {
        let place = self.tables.with_preprocessed().position(|other| other == table)?;
        Some((self.key?, place))
    }

    /// The rows of a table.
    fn rows(&self, table: usize) -> TableRows<'_> {
        let inputs = RowInputs {
            constraints: &self.tables.tables[table],
            rows: 1 << self.log_rows[table],
            preprocessed: self.preprocessed(table).map_or(&[], |(key, place)| &key.values[place]),
            public_values: self.public_values[table],
        };
        TableRows { inputs, trace: &self.traces[table] }
    }

    /// The matrices of a table: its trace, preprocessed columns, and columns of lookups.
    fn matrices<'b>(
        &'b self,
        table: usize,
        traces: &'b Committed,
        lookups: Option<&'b Committed>,
    ) -> (&'b Matrix, Option<&'b Matrix>, Option<&'b Matrix>) {
        let fixed = self.preprocessed(table).map(|(key, place)| key.committed.matrix(place));
        let lookups = lookups.zip(self.place_of_lookups(table));
        (traces.matrix(table), fixed, lookups.map(|(committed, place)| committed.matrix(place)))
    }

    /// The place of a table among the tables that have lookups, if it has some.
    fn place_of_lookups(&self, table: usize) -> Option<usize> {
        self.tables.with_lookups().position(|other| other == table)
    }

    fn prove<const D: usize>(
        &self,
        run: Run<'_>,
        parameters: &Parameters,
    ) -> Result<TablesProof<D>, StarkError>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let Self { tables, key, log_rows, .. } = self;
        let (level, hash, progress) = (run.level, self.hash, run.progress);
        let mut blinding = Blinding::of_proof(parameters)?;
        let traces = self.commit_to_traces(run, parameters, &mut blinding)?;
        let challenger = &mut *hash.challenger();
        self.begin::<D>(parameters, &traces, challenger);
        let lookups = self.lookups::<D>(run, parameters, &mut blinding, challenger)?;
        let alpha = sample(challenger);

        progress.begin("quotients");
        let of_tables = self.quotients(level, parameters, &traces, &lookups, alpha, &mut blinding)?;
        progress.begin("commit to quotients");
        let chunks: Vec<_> = of_tables.iter().map(Vec::len).collect();
        let of_tables = of_tables.into_iter().flatten();
        let out_of_domain =
            commit_to_quotients::<D>(level, hash, parameters, log_rows, of_tables, &mut blinding, challenger);

        progress.begin("evaluate");
        let of_lookups = lookups.committed.as_ref();
        let opened = self.opened(level, parameters, &traces, of_lookups, &out_of_domain, &chunks)?;
        // Opening argument: one FRI, which shorter tables join where a word has their height.
        let OutOfDomain { quotient: quotients, random, work: out_of_domain_work, zeta } = out_of_domain;
        let claims = claims(parameters, tables, log_rows, &opened, zeta);
        let committed = [random.as_ref(), Some(&traces), Some(&quotients), key.map(|key| &key.committed)];
        let committed: Vec<_> = committed.into_iter().chain([of_lookups]).flatten().collect();
        let opening = claims::prove(run, hash, parameters, &committed, claims, &mut blinding, challenger)?;
        Ok(TablesProof {
            log_rows: log_rows.clone(),
            traces: traces.cap().to_vec(),
            lookup_work: lookups.work,
            lookups: of_lookups.map_or(Vec::new(), |lookups| lookups.cap().to_vec()),
            totals: lookups.totals,
            quotients: quotients.cap().to_vec(),
            random: random.as_ref().map_or(Vec::new(), |random| random.cap().to_vec()),
            out_of_domain_work,
            opened,
            opening,
        })
    }

    /// Commits to the traces of all tables: one tree.
    fn commit_to_traces(
        &self,
        run: Run<'_>,
        parameters: &Parameters,
        blinding: &mut Option<Blinding>,
    ) -> Result<Committed, StarkError> {
        run.progress.begin("extend traces");
        let matrices = self.traces.iter().zip(&self.tables.tables).map(|(values, table)| {
            extend_trace(run, parameters, &mut values.borrowed(), table.columns, blinding)
        });
        let matrices = matrices.collect::<Result<Vec<_>, StarkError>>()?;
        run.progress.begin("commit to traces");
        Committed::of_matrices(run.level, self.hash, parameters, matrices, blinding)
    }

    /// Begins the transcript: numbers of rows, traces and public values are fixed before any challenge.
    fn begin<const D: usize>(
        &self,
        parameters: &Parameters,
        traces: &Committed,
        challenger: &mut dyn Challenger,
    ) where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        shape::description::<D>(self.tables, parameters).observe(challenger);
        observe(challenger, &shape::heights::<D>(parameters, &self.log_rows));
        observe_cap(challenger, traces.cap());
        self.public_values.iter().copied().flatten().for_each(|value| challenger.observe(*value));
        if let Some(key) = self.key {
            observe_cap(challenger, key.committed.cap());
        }
    }

    /// LogUp (eprint 2022/1530): challenges follow the traces, or traces could be fitted to them.
    fn lookups<const D: usize>(
        &self,
        run: Run<'_>,
        parameters: &Parameters,
        blinding: &mut Option<Blinding>,
        challenger: &mut dyn Challenger,
    ) -> Result<Lookups<D>, StarkError>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let (level, tables) = (run.level, self.tables);
        let mut challenges = Challenges { alpha: Extension::ZERO, beta: Extension::ZERO };
        let mut totals = Vec::new();
        if tables.with_lookups().next().is_none() {
            return Ok(Lookups { challenges, work: Goldilocks::ZERO, committed: None, totals });
        }
        run.progress.begin("lookups");
        let work = challenger.work(level, parameters.grinding.lookups);
        (challenges.alpha, challenges.beta) = (sample(challenger), sample(challenger));
        let matrices = tables.with_lookups().map(|table| {
            let (values, total) = columns(level, tables, table, &self.rows(table), &challenges)?;
            totals.push(total);
            let columns = D * tables.tables[table].graph.lookup_columns();
            extend_trace(level.into(), parameters, &mut (&*values).into(), columns, blinding)
        });
        let matrices = matrices.collect::<Result<Vec<_>, StarkError>>()?;
        let committed = Committed::of_matrices(level, self.hash, parameters, matrices, blinding)?;
        observe_cap(challenger, committed.cap());
        // Constraints read the sum of their table's fractions: it is fixed before alpha.
        observe(challenger, &totals);
        Ok(Lookups { challenges, work, committed: Some(committed), totals })
    }

    /// Quotients: one for each table, with powers of the same alpha.
    fn quotients<const D: usize>(
        &self,
        level: Level,
        parameters: &Parameters,
        traces: &Committed,
        lookups: &Lookups<D>,
        alpha: Extension<Goldilocks, D>,
        blinding: &mut Option<Blinding>,
    ) -> Result<Vec<Chunks>, StarkError>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let Self { tables, public_values, log_rows, .. } = self;
        let products = Products::of::<D>();
        let quotient = |(index, log_rows): (usize, &u32)| {
            let table = &tables.tables[index];
            let constraints = table.with_lookups(&products);
            let total = self.place_of_lookups(index).map_or(Extension::ZERO, |place| lookups.totals[place]);
            let scalars = lookups.challenges.scalars(tables, index, public_values[index], total);
            let quotient = Quotient {
                constraints: &constraints,
                scalars: &scalars,
                factors: factors(table, alpha),
                log_rows: *log_rows,
                log_chunks: table.log_chunks(parameters),
            };
            let (trace, fixed, lookups) = self.matrices(index, traces, lookups.committed.as_ref());
            let matrices: Vec<_> = std::iter::once(trace).chain(fixed).chain(lookups).collect();
            quotient_chunks(level, parameters, &quotient, &matrices, blinding)
        };
        log_rows.iter().enumerate().map(quotient).collect()
    }

    /// Out-of-domain opening (DEEP): one point for all tables. `chunks` has the number of matrices of each table's quotient.
    fn opened<const D: usize>(
        &self,
        level: Level,
        parameters: &Parameters,
        traces: &Committed,
        lookups: Option<&Committed>,
        out_of_domain: &OutOfDomain<D>,
        chunks: &[usize],
    ) -> Result<Vec<TableValues<D>>, StarkError>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let OutOfDomain { quotient, random, zeta, .. } = out_of_domain;
        let mut of_quotients = quotient.opened(false);
        let mut opened = Vec::with_capacity(self.log_rows.len());
        for (index, log_rows) in self.log_rows.iter().enumerate() {
            // The next row's point depends on the table's number of rows.
            let next = zeta.scale(generator(*log_rows));
            let [reads_next, reads_next_preprocessed] = self.tables.tables[index].reads_next;
            let (trace, fixed, lookups) = self.matrices(index, traces, lookups);
            let of_table = random.iter().map(|random| (random.matrix(index), false));
            let of_table = of_table.chain([(trace, reads_next)]);
            let of_table = of_table.chain(of_quotients.by_ref().take(chunks[index]));
            let of_table = of_table.chain(fixed.map(|matrix| (matrix, reads_next_preprocessed)));
            let of_table: Vec<_> = of_table.chain(lookups.map(|matrix| (matrix, true))).collect();
            let log_coefficients = parameters.log_coefficients(*log_rows);
            let mut values = values_at(level, &of_table, log_coefficients, [*zeta, next])?.into_iter();
            let columns = OpenedValues::new(parameters, &self.tables.tables[index], &mut values);
            let [lookups, next_lookups] = values.next().unwrap_or_default();
            opened.push(TableValues { columns, lookups, next_lookups });
        }
        Ok(opened)
    }

    /// The reason why a proof was not accepted.
    fn reason(&self, error: &VerifyError) -> Result<StarkError, StarkError> {
        let rows: Vec<_> = (0..self.traces.len()).map(|table| self.rows(table)).collect();
        for (table, rows) in rows.iter().enumerate() {
            if let Some(source) = rows.unsatisfied()? {
                return Ok(StarkError::Table { table, source: Box::new(source) });
            }
        }
        let are_read = || self.traces.iter().any(|trace| matches!(trace, Trace::Parts { .. }));
        Ok(match unbalanced(self.tables, &rows)? {
            Some(error) => error,
            None if are_read() => changed(),
            None => unreachable_refusal(error),
        })
    }
}
