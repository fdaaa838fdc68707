//! The prover.

use super::{
    TableValues, Tables, TablesKey, TablesProof,
    lookups::{Challenges, TableRows, columns, unbalanced},
    shape,
    verify::{claims, factors, verify_tables},
};
use crate::{
    OpenedValues, Parameters, Resources, StarkError, StarkHash, VerifyError,
    air::Products,
    claims,
    commitment::{Committed, check_shape, extend},
    domain::{coset, generator},
    error::unreachable_refusal,
    openings::{Opened, evaluate},
    prove::{check, quotient_chunks},
    quotient::Quotient,
    rows::RowInputs,
    transcript::{Challenger, observe, observe_cap, sample},
};
use proofmill_field::{
    Field,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};

/// Proves that traces, one for each table and with rows stored contiguously, satisfy their AIRs with the public values of each, and that
/// lookups are balanced over all tables. The proof is verified before it is returned.
///
/// Runs on the ambient rayon pool. Extensions of all columns are in memory, whichever [`Memory`](crate::Memory) is asked for.
///
/// # Errors
/// As [`prove`](crate::prove()), in [`StarkError::Table`] if they are of one table; [`StarkError::Unbalanced`].
pub fn prove_tables<H: StarkHash, const D: usize>(
    resources: Resources<'_>,
    parameters: &Parameters,
    tables: &Tables,
    key: Option<&TablesKey<H>>,
    traces: &[&[Goldilocks]],
    public_values: &[&[Goldilocks]],
) -> Result<TablesProof<H, D>, StarkError>
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
        log_rows.push(rows);
    }
    let tallest = log_rows.iter().max().copied().unwrap_or(0) + parameters.log_blowup;
    // The commitment would not depend on a table of fewer rows than it has digests.
    let least = parameters.log_cap(tallest).saturating_sub(parameters.log_blowup);
    if let Some(table) = log_rows.iter().position(|rows| *rows < least) {
        let source = StarkError::TooFewRows { found: log_rows[table], more_than: least - 1 };
        return Err(StarkError::Table { table, source: Box::new(source) });
    }
    tables.check_counts(&log_rows)?;
    let statement = Statement { tables, key, traces, public_values, log_rows };
    let proof = statement.prove(resources, parameters)?;
    resources.progress.begin("verify");
    let key = key.map(TablesKey::verifying_key);
    match verify_tables(resources.level, parameters, tables, key.as_ref(), public_values, &proof) {
        Ok(()) => Ok(proof),
        Err(error) => Err(statement.reason(&error)),
    }
}

/// What is proved, which was checked.
struct Statement<'a, H: StarkHash> {
    tables: &'a Tables,
    key: Option<&'a TablesKey<H>>,
    traces: &'a [&'a [Goldilocks]],
    public_values: &'a [&'a [Goldilocks]],
    log_rows: Vec<u32>,
}

impl<H: StarkHash> Statement<'_, H> {
    /// The place of a table's preprocessed columns in their commitment.
    fn preprocessed(&self, table: usize) -> Option<(&TablesKey<H>, usize)> {
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
        TableRows { inputs, trace: self.traces[table] }
    }

    fn prove<const D: usize>(
        &self,
        Resources { level, progress, .. }: Resources<'_>,
        parameters: &Parameters,
    ) -> Result<TablesProof<H, D>, StarkError>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let Self { tables, key, traces: values, public_values, log_rows } = self;
        let blowup = parameters.log_blowup;
        let extended = |values: &[Goldilocks], columns| {
            (extend(level, blowup, values, columns, Goldilocks::ONE), columns)
        };
        progress.begin("extend traces");
        let matrices =
            values.iter().zip(&tables.tables).map(|(values, table)| extended(values, table.columns));
        let matrices: Vec<_> = matrices.collect();
        progress.begin("commit to traces");
        let traces = Committed::<H>::of_matrices(level, parameters, matrices);

        let mut challenger = H::Challenger::new();
        shape::description::<D>(tables, parameters).observe(&mut challenger);
        for log_rows in log_rows {
            observe(&mut challenger, &[Extension::<_, D>::from_base(Goldilocks::new(u64::from(*log_rows)))]);
        }
        observe_cap::<H>(&mut challenger, traces.cap());
        public_values.iter().copied().flatten().for_each(|value| challenger.observe(*value));
        if let Some(key) = key {
            observe_cap::<H>(&mut challenger, key.committed.cap());
        }

        let mut challenges = Challenges { alpha: Extension::ZERO, beta: Extension::ZERO };
        let (mut lookup_work, mut lookups, mut totals) = (Goldilocks::ZERO, None, Vec::new());
        if tables.with_lookups().next().is_some() {
            progress.begin("lookups");
            lookup_work = challenger.work(level, parameters.grinding.lookups);
            (challenges.alpha, challenges.beta) = (sample(&mut challenger), sample(&mut challenger));
            let matrices = tables.with_lookups().map(|table| {
                let (values, total) = columns(level, tables, table, &self.rows(table), &challenges);
                totals.push(total);
                extended(&values, D * tables.tables[table].graph.lookup_columns())
            });
            let committed = Committed::<H>::of_matrices(level, parameters, matrices.collect::<Vec<_>>());
            observe_cap::<H>(&mut challenger, committed.cap());
            observe(&mut challenger, &totals);
            lookups = Some(committed);
        }
        let alpha = sample(&mut challenger);

        progress.begin("quotients");
        let products = Products::of::<D>();
        // The matrices of a table: its trace, preprocessed columns, and columns of lookups.
        let of_lookups = |table: usize| {
            let place = tables.with_lookups().position(|other| other == table)?;
            Some((lookups.as_ref()?, totals[place], place))
        };
        let matrices = |table: usize| {
            let fixed = self.preprocessed(table).map(|(key, place)| &key.committed.matrices[place]);
            let lookups = of_lookups(table).map(|(committed, _, place)| &committed.matrices[place]);
            (&traces.matrices[table], fixed, lookups)
        };
        let quotient = |(index, log_rows): (usize, &u32)| {
            let table = &tables.tables[index];
            let constraints = table.with_lookups(&products);
            let total = of_lookups(index).map_or(Extension::ZERO, |(_, total, _)| total);
            let scalars = challenges.scalars(tables, index, public_values[index], total);
            let quotient = Quotient {
                constraints: &constraints,
                scalars: &scalars,
                factors: factors(table, alpha),
                log_rows: *log_rows,
            };
            let (trace, fixed, lookups) = matrices(index);
            let matrices: Vec<_> = std::iter::once(trace).chain(fixed).chain(lookups).collect();
            Ok((quotient_chunks(level, blowup, &quotient, &matrices)?, D * table.chunks()))
        };
        let quotients = log_rows.iter().enumerate().map(quotient).collect::<Result<Vec<_>, StarkError>>()?;
        progress.begin("commit to quotients");
        let quotients = Committed::<H>::of_matrices(level, parameters, quotients);
        observe_cap::<H>(&mut challenger, quotients.cap());
        let out_of_domain_work = challenger.work(level, parameters.grinding.out_of_domain);
        let zeta: Extension<Goldilocks, D> = sample(&mut challenger);

        progress.begin("evaluate");
        let opened = log_rows.iter().enumerate().map(|(index, log_rows)| {
            let next = zeta.scale(generator(*log_rows));
            let [reads_next, reads_next_preprocessed] = tables.tables[index].reads_next;
            let (trace, fixed, lookups) = matrices(index);
            let quotient = &quotients.matrices[index];
            let matrices = [Some((trace, reads_next)), Some((quotient, false))].into_iter();
            let others =
                [fixed.map(|matrix| (matrix, reads_next_preprocessed)), lookups.map(|matrix| (matrix, true))];
            let opened = matrices.chain(others).flatten().map(|(matrix, next)| Opened {
                words: Goldilocks::as_words(matrix.kept()),
                width: matrix.columns,
                points: if next { vec![0, 1] } else { vec![0] },
            });
            let values = evaluate(level, coset(), *log_rows, &opened.collect::<Vec<_>>(), &[zeta, next]);
            let mut values = values.into_iter();
            let mut of_matrix = |there: bool| {
                let values = if there { values.next() } else { None };
                let mut values = values.unwrap_or_default().into_iter();
                [(); 2].map(|()| values.next().unwrap_or_default())
            };
            let ([trace, next], [quotient, _]) = (of_matrix(true), of_matrix(true));
            let [preprocessed, next_preprocessed] = of_matrix(fixed.is_some());
            let [lookups, next_lookups] = of_matrix(lookups.is_some());
            let quotient = quotient.as_chunks::<D>().0.to_vec();
            let columns = OpenedValues { trace, next, preprocessed, next_preprocessed, quotient };
            TableValues { columns, lookups, next_lookups }
        });
        let opened: Vec<_> = opened.collect();
        let claims = claims(parameters, tables, log_rows, &opened, zeta);
        let committed: Vec<_> =
            [Some(&traces), Some(&quotients), key.map(|key| &key.committed), lookups.as_ref()]
                .into_iter()
                .flatten()
                .collect();
        let opening =
            claims::prove::<H, D>(level, parameters, &committed, &claims, &mut challenger, progress)?;
        Ok(TablesProof {
            log_rows: log_rows.clone(),
            traces: traces.cap().to_vec(),
            lookup_work,
            lookups: lookups.as_ref().map_or(Vec::new(), |lookups| lookups.cap().to_vec()),
            totals,
            quotients: quotients.cap().to_vec(),
            out_of_domain_work,
            opened,
            opening,
        })
    }

    /// Why a proof was not accepted.
    fn reason(&self, error: &VerifyError) -> StarkError {
        let rows: Vec<_> = (0..self.traces.len()).map(|table| self.rows(table)).collect();
        let of_table = |(table, rows): (usize, &TableRows<'_>)| {
            Some(StarkError::Table { table, source: Box::new(rows.unsatisfied()?) })
        };
        let unsatisfied = rows.iter().enumerate().find_map(of_table);
        let reason = unsatisfied.or_else(|| unbalanced(self.tables, &rows));
        reason.unwrap_or_else(|| unreachable_refusal(error))
    }
}
