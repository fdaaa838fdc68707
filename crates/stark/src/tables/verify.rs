//! The verifier. Whatever the proof is, it neither panics nor takes more memory than a multiple of the proof's size.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::{TableValues, Tables, TablesProof, lookups::Challenges, shape};
use crate::{
    Constraints, Parameters, StarkHash, VerifyError,
    air::Products,
    domain::generator,
    openings::claims::{self, Claims},
    prove::quotient::Quotient,
    transcript::{Challenger, check_work, observe, observe_cap, sample},
    verify::{check_log_rows, check_values},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_hash::Digest;

/// The verifier's key of tables, where some tables have preprocessed columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablesVerifyingKey {
    /// The commitment to the preprocessed columns of all these tables.
    pub cap: Vec<Digest>,
    /// The base-2 logarithm of the number of rows of each table that has preprocessed columns.
    pub log_rows: Vec<u32>,
}

/// Verifies a proof of tables with the public values of each table.
///
/// Parameters, tables and key are the verifier's own: a proof cannot choose them. The prover chooses only the number of rows of each table
/// without preprocessed columns. A statement about certain numbers of rows has to compare [`TablesProof::log_rows`].
///
/// **Not checked**: how many bits the proof proves. [`Parameters::security`] computes the bits for the [shape](Tables::shape) of these
/// numbers of rows; the shortest table decides. [`Config::verify_tables`](crate::Config::verify_tables) checks them.
///
/// # Errors
/// [`VerifyError::Statement`] for the caller's arguments, [`VerifyError::Malformed`] and [`VerifyError::Rejected`] for the proof.
pub fn verify_tables<const D: usize>(
    level: Level,
    hash: &dyn StarkHash,
    parameters: &Parameters,
    tables: &Tables,
    key: Option<&TablesVerifyingKey>,
    public_values: &[&[Goldilocks]],
    proof: &TablesProof<D>,
) -> Result<(), VerifyError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    check_statement(parameters, tables, key, public_values, D)?;
    // Lengths first: the code below relies on them.
    check_shape(parameters, tables, key, proof)?;
    let challenger = &mut *hash.challenger();
    let Drawn { challenges, alpha, zeta } =
        replay(parameters, tables, key, public_values, proof, challenger)?;

    // Opening argument: the opened values of all tables have to be values of the committed polynomials.
    let claims = claims(parameters, tables, &proof.log_rows, &proof.opened, zeta);
    let mut caps: Vec<&[_]> = Vec::new();
    if parameters.is_blinded() {
        caps.push(&proof.random);
    }
    caps.extend([&*proof.traces, &proof.quotients]);
    caps.extend(key.map(|key| &*key.cap));
    if !proof.lookups.is_empty() {
        caps.push(&proof.lookups);
    }
    claims::verify(level, hash, parameters, &caps, claims, &proof.opening, challenger)?;

    // At zeta, the combined constraints of each table and its lookups have to be its quotient times the vanishing polynomial.
    let mut totals = proof.totals.iter();
    let products = Products::of::<D>();
    for (index, (table, values)) in tables.tables.iter().zip(&proof.opened).enumerate() {
        let total = if tables.buses[index].is_empty() { None } else { totals.next().copied() };
        let (constraints, total) = (table.with_lookups(&products), total.unwrap_or(Extension::ZERO));
        let quotient = Quotient {
            constraints: &constraints,
            scalars: &challenges.scalars(tables, index, public_values[index], total),
            factors: factors(table, alpha),
            log_rows: proof.log_rows[index],
            log_chunks: table.log_chunks(parameters),
        };
        quotient.check(level, &values.columns, [&values.lookups, &values.next_lookups], zeta)?;
    }
    // LogUp: the fractions of all tables cancel if lookups are balanced, and hardly ever otherwise.
    let sum = proof.totals.iter().fold(Extension::ZERO, |sum, total| sum + *total);
    if sum.is_zero() { Ok(()) } else { Err(VerifyError::Rejected("lookups are not balanced")) }
}

/// The challenges before the opening argument.
struct Drawn<const D: usize> {
    /// The challenges of lookups; zeros if there are no lookups.
    challenges: Challenges<D>,
    /// The challenge whose powers combine the constraints.
    alpha: Extension<Goldilocks, D>,
    /// The point outside of the domains.
    zeta: Extension<Goldilocks, D>,
}

/// Replays the transcript in the prover's order.
fn replay<const D: usize>(
    parameters: &Parameters,
    tables: &Tables,
    key: Option<&TablesVerifyingKey>,
    public_values: &[&[Goldilocks]],
    proof: &TablesProof<D>,
    challenger: &mut dyn Challenger,
) -> Result<Drawn<D>, VerifyError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    shape::description::<D>(tables, parameters).observe(challenger);
    observe(challenger, &shape::heights::<D>(parameters, &proof.log_rows));
    observe_cap(challenger, &proof.traces);
    public_values.iter().copied().flatten().for_each(|value| challenger.observe(*value));
    if let Some(key) = key {
        observe_cap(challenger, &key.cap);
    }
    // LogUp: challenges after the traces, then the columns of sums, all before alpha.
    let mut challenges = Challenges { alpha: Extension::ZERO, beta: Extension::ZERO };
    if !proof.lookups.is_empty() {
        check_work(challenger, parameters.grinding.lookups, proof.lookup_work)?;
        (challenges.alpha, challenges.beta) = (sample(challenger), sample(challenger));
        observe_cap(challenger, &proof.lookups);
        observe(challenger, &proof.totals);
    }
    let alpha = sample(challenger);
    observe_cap(challenger, &proof.quotients);
    if parameters.is_blinded() {
        observe_cap(challenger, &proof.random);
    }
    check_work(challenger, parameters.grinding.out_of_domain, proof.out_of_domain_work)?;
    Ok(Drawn { challenges, alpha, zeta: sample(challenger) })
}

/// The claims about each commitment: to random polynomials, traces, quotients, preprocessed columns, and columns of lookups.
pub(super) fn claims<const D: usize>(
    parameters: &Parameters,
    tables: &Tables,
    log_rows: &[u32],
    opened: &[TableValues<D>],
    zeta: Extension<Goldilocks, D>,
) -> Vec<Vec<Claims<D>>>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let next = |table: usize| zeta.scale(generator(log_rows[table]));
    let log_height = |table: usize| parameters.log_height(log_rows[table]);
    let rows =
        |table: usize, current: &[Extension<Goldilocks, D>], following: &[Extension<Goldilocks, D>]| {
            Claims::of_rows(log_height(table), [(zeta, current), (next(table), following)])
        };
    let of_trace =
        |(table, values): (usize, &TableValues<D>)| rows(table, &values.columns.trace, &values.columns.next);
    let of_quotient = |(table, values): (usize, &TableValues<D>)| {
        Claims::of_quotient(log_height(table), zeta, &values.columns)
    };
    let mut claims = Vec::new();
    if parameters.is_blinded() {
        claims.push((0..opened.len()).map(|table| rows(table, &opened[table].columns.random, &[])).collect());
    }
    claims.push(opened.iter().enumerate().map(of_trace).collect());
    claims.push(opened.iter().enumerate().flat_map(of_quotient).collect());
    let preprocessed = tables.with_preprocessed().map(|table| {
        rows(table, &opened[table].columns.preprocessed, &opened[table].columns.next_preprocessed)
    });
    let lookups =
        tables.with_lookups().map(|table| rows(table, &opened[table].lookups, &opened[table].next_lookups));
    let others: [Vec<_>; 2] = [preprocessed.collect(), lookups.collect()];
    claims.extend(others.into_iter().filter(|claims| !claims.is_empty()));
    claims
}

/// The factor of each constraint of a table: a power of the challenge. Constraints of lookups are in coordinates: the factor of a
/// coordinate is a power of the challenge times an element of the basis.
pub(super) fn factors<const D: usize>(
    table: &Constraints,
    alpha: Extension<Goldilocks, D>,
) -> Vec<Extension<Goldilocks, D>>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let powers = crate::prove::quotient::factors(table.len() + table.constraints_of_lookups(), alpha);
    let (own, of_lookups) = powers.split_at(table.len());
    let coordinates = of_lookups.iter().flat_map(|power| {
        (0..D).map(|coordinate| {
            let mut basis = Extension([Goldilocks::ZERO; D]);
            basis.0[coordinate] = Goldilocks::ONE;
            *power * basis
        })
    });
    own.iter().copied().chain(coordinates).collect()
}

/// Checks the caller's arguments.
fn check_statement(
    parameters: &Parameters,
    tables: &Tables,
    key: Option<&TablesVerifyingKey>,
    public_values: &[&[Goldilocks]],
    degree: usize,
) -> Result<(), VerifyError> {
    let statement = |text: String| Err(VerifyError::Statement(text));
    if let Err(error) = parameters.check_degree(degree) {
        return statement(error.to_string());
    }
    let expected: Vec<_> = tables.tables.iter().map(|table| table.public_values).collect();
    let found: Vec<_> = public_values.iter().map(|values| values.len()).collect();
    if expected != found {
        return statement(format!("expected {expected:?} public values, found {found:?}"));
    }
    let (expected, found) = (tables.with_preprocessed().count(), key.map_or(0, |key| key.log_rows.len()));
    if expected != found || key.is_some_and(|key| key.log_rows.is_empty()) {
        return statement(format!(
            "expected a key of {expected} tables with preprocessed columns, found {found}"
        ));
    }
    Ok(())
}

/// Checks all lengths outside of the opening argument.
fn check_shape<const D: usize>(
    parameters: &Parameters,
    tables: &Tables,
    key: Option<&TablesVerifyingKey>,
    proof: &TablesProof<D>,
) -> Result<(), VerifyError> {
    VerifyError::check_blinding(parameters, &proof.random)?;
    let count = tables.tables.len();
    VerifyError::check_length("tables", count, proof.log_rows.len())?;
    VerifyError::check_length("tables with opened values", count, proof.opened.len())?;
    let tallest = proof.log_rows.iter().max().copied().unwrap_or(0);
    for (table, log_rows) in tables.tables.iter().zip(&proof.log_rows) {
        // Provers need more rows than the final polynomial has coefficients. Tables with exactly as many rows are sound, and Plonky3's
        // verifier takes them, too.
        let least = parameters.log_final_length.max(parameters.least_blinded_log_rows());
        check_log_rows(parameters, table, least, *log_rows)?;
    }
    let preprocessed = key.map_or(&[][..], |key| &key.log_rows);
    for (table, expected) in tables.with_preprocessed().zip(preprocessed) {
        let (expected, found) = (*expected as usize, proof.log_rows[table] as usize);
        VerifyError::check_length("logarithm of the number of rows", expected, found)?;
    }
    // Counts are elements of the field: as many as the modulus would count as none.
    if tables.check_counts(&proof.log_rows).is_err() {
        return Err(VerifyError::Rejected("messages could be looked up as often as the modulus"));
    }
    let cap = 1 << parameters.log_cap(parameters.log_height(tallest));
    let with_lookups = tables.with_lookups().count();
    let cap_of_lookups = if with_lookups == 0 {
        0
    } else {
        let tallest = tables.with_lookups().map(|table| proof.log_rows[table]).max().unwrap_or(0);
        1 << parameters.log_cap(parameters.log_height(tallest))
    };
    let cap_of_random = if parameters.is_blinded() { cap } else { 0 };
    for (what, expected, found) in [
        ("digests of the traces' commitment", cap, proof.traces.len()),
        ("digests of the quotients' commitment", cap, proof.quotients.len()),
        ("digests of the random polynomials' commitment", cap_of_random, proof.random.len()),
        ("digests of the lookups' commitment", cap_of_lookups, proof.lookups.len()),
        ("sums of lookups", with_lookups, proof.totals.len()),
    ] {
        VerifyError::check_length(what, expected, found)?;
    }
    if with_lookups == 0 && !proof.lookup_work.is_zero() {
        return Err(VerifyError::Rejected("a proof of work that nobody asked for"));
    }
    for (table, values) in tables.tables.iter().zip(&proof.opened) {
        check_values(parameters, table, &values.columns)?;
        let random = parameters.random_columns as usize;
        let columns = match D * table.graph.lookup_columns() {
            0 => 0,
            columns => columns + random,
        };
        VerifyError::check_length("values of lookups", columns, values.lookups.len())?;
        VerifyError::check_length("values of the next row's lookups", columns, values.next_lookups.len())?;
    }
    Ok(())
}
