//! The verifier. Whatever the proof is, it neither panics nor takes more memory than a multiple of the proof's size.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::{
    VerifyError,
    air::{Input, SELECTORS, constraints::Constraints},
    domain::{domain, generator},
    openings::claims,
    proof::{OpenedValues, Proof},
    prove::quotient::{Quotient, factors, selectors_at},
    security::Parameters,
    transcript::{check_work, hash::StarkHash, observe_cap, sample, shape},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field, Invert,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_hash::Digest;
use proofmill_ntt::goldilocks::{Order, evaluate};

/// Verifies a proof of an AIR with these public values. `preprocessed` is for an AIR with preprocessed columns: their commitment, and the
/// base-2 logarithm of their number of rows. In a tree of another height, nodes could pass for rows.
///
/// Parameters, constraints and the commitment are the verifier's own: a proof cannot choose them. The prover chooses only the number of
/// rows. A statement about a certain number of rows has to compare [`Proof::log_rows`].
///
/// **Not checked**: how many bits the proof proves. [`Parameters::security`] computes the bits for the proof's number of rows. They can be
/// few or none: a valid proof can have one row. [`Config::verify`](crate::Config::verify) checks them.
///
/// # Errors
/// [`VerifyError::Statement`] for the caller's arguments, [`VerifyError::Malformed`] and [`VerifyError::Rejected`] for the proof.
pub fn verify<const D: usize>(
    level: Level,
    hash: &dyn StarkHash,
    parameters: &Parameters,
    constraints: &Constraints,
    preprocessed: Option<(&[Digest], u32)>,
    public_values: &[Goldilocks],
    proof: &Proof<D>,
) -> Result<(), VerifyError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    check_statement(parameters, constraints, preprocessed, public_values, D)?;
    // Lengths first: the code below relies on them.
    let log_rows = proof.log_rows;
    check_shape(parameters, constraints, proof)?;
    if let Some((_, expected)) = preprocessed.filter(|(_, expected)| *expected != log_rows) {
        let what = "logarithm of the number of rows";
        return Err(VerifyError::Malformed { what, expected: expected as usize, found: log_rows as usize });
    }

    // Replay the transcript in the prover's order: each message before the challenges after it.
    let challenger = &mut *hash.challenger();
    shape::description::<D>(constraints, parameters, log_rows).observe(challenger);
    observe_cap(challenger, &proof.trace);
    if let Some((cap, _)) = preprocessed {
        observe_cap(challenger, cap);
    }
    public_values.iter().for_each(|value| challenger.observe(*value));
    let alpha = sample(challenger);
    observe_cap(challenger, &proof.quotient);
    if parameters.is_blinded() {
        observe_cap(challenger, &proof.random);
    }
    check_work(challenger, parameters.grinding.out_of_domain, proof.out_of_domain_work)?;
    let zeta: Extension<Goldilocks, D> = sample(challenger);

    // Opening argument: the opened values have to be values of the committed polynomials.
    let next = zeta.scale(generator(log_rows));
    let claims =
        claims::of_statement(constraints, &proof.opened, parameters.log_height(log_rows), zeta, next);
    let random = parameters.is_blinded().then_some(&*proof.random);
    // Commitments in the order of their claims.
    let caps = random.into_iter().chain([&*proof.trace, &*proof.quotient]);
    let caps: Vec<&[_]> = caps.chain(preprocessed.map(|(cap, _)| cap)).collect();
    claims::verify(level, hash, parameters, &caps, claims, &proof.opening, challenger)?;

    // At zeta, the combined constraints have to be the quotient times the vanishing polynomial.
    let factors = factors(constraints.len(), alpha);
    let log_chunks = constraints.log_chunks(parameters);
    let quotient = Quotient { constraints, scalars: public_values, factors, log_rows, log_chunks };
    quotient.check(level, &proof.opened, [&[]; 2], zeta)
}

/// Checks the caller's arguments.
fn check_statement(
    parameters: &Parameters,
    constraints: &Constraints,
    preprocessed: Option<(&[Digest], u32)>,
    public_values: &[Goldilocks],
    degree: usize,
) -> Result<(), VerifyError> {
    let statement = |text: String| Err(VerifyError::Statement(text));
    if let Err(error) = parameters.check_degree(degree) {
        return statement(error.to_string());
    }
    if public_values.len() != constraints.public_values {
        let (expected, found) = (constraints.public_values, public_values.len());
        return statement(format!("expected {expected} public values, found {found}"));
    }
    if let Err(error) = constraints.check_alone() {
        return statement(error.to_string());
    }
    if preprocessed.is_some() != (constraints.preprocessed > 0) {
        return statement(
            "expected a commitment to the AIR's preprocessed columns, and only to those".into(),
        );
    }
    Ok(())
}

/// Checks all lengths outside of the opening argument.
fn check_shape<const D: usize>(
    parameters: &Parameters,
    constraints: &Constraints,
    proof: &Proof<D>,
) -> Result<(), VerifyError> {
    VerifyError::check_blinding(parameters, &proof.random)?;
    check_log_rows(parameters, constraints, parameters.least_log_rows(), proof.log_rows)?;
    let cap = 1 << parameters.log_cap(parameters.log_height(proof.log_rows));
    VerifyError::check_length("digests of the trace's commitment", cap, proof.trace.len())?;
    VerifyError::check_length("digests of the quotient's commitment", cap, proof.quotient.len())?;
    let of_random = if parameters.is_blinded() { cap } else { 0 };
    VerifyError::check_length(
        "digests of the random polynomials' commitment",
        of_random,
        proof.random.len(),
    )?;
    check_values(parameters, constraints, &proof.opened)
}

/// Checks that a trace can have `2^log_rows` rows, and that it has at least `2^least` rows.
pub(crate) fn check_log_rows(
    parameters: &Parameters,
    constraints: &Constraints,
    least: u32,
    log_rows: u32,
) -> Result<(), VerifyError> {
    let longest = constraints.periodic.iter().map(Vec::len).max().unwrap_or(1).ilog2();
    let least = least.max(longest);
    let most = parameters
        .most_log_rows()
        .min(Goldilocks::TWO_ADICITY.saturating_sub(constraints.log_chunks(parameters)));
    if (least..=most).contains(&log_rows) {
        return Ok(());
    }
    let expected = if log_rows < least { least } else { most };
    Err(VerifyError::Malformed {
        what: "logarithm of the number of rows",
        expected: expected as usize,
        found: log_rows as usize,
    })
}

/// Checks the numbers of opened values of a trace, its quotient, and its preprocessed and random columns.
pub(crate) fn check_values<const D: usize>(
    parameters: &Parameters,
    constraints: &Constraints,
    opened: &OpenedValues<D>,
) -> Result<(), VerifyError> {
    let [reads_next, reads_next_preprocessed] = constraints.reads_next.map(usize::from);
    let (chunks, random) = (constraints.chunks(parameters), parameters.random_columns as usize);
    let columns = constraints.columns + random;
    let polynomials = if parameters.is_blinded() { D + random } else { 0 };
    for (what, expected, found) in [
        ("values of the trace", columns, opened.trace.len()),
        ("values of the next row", reads_next * columns, opened.next.len()),
        ("values of preprocessed columns", constraints.preprocessed, opened.preprocessed.len()),
        (
            "values of the next row's preprocessed columns",
            reads_next_preprocessed * constraints.preprocessed,
            opened.next_preprocessed.len(),
        ),
        ("polynomials of the quotient", chunks, opened.quotient.len()),
        ("values of random columns beside the quotient", chunks * random, opened.beside_quotient.len()),
        ("values of random polynomials", polynomials, opened.random.len()),
    ] {
        VerifyError::check_length(what, expected, found)?;
    }
    Ok(())
}

impl<const D: usize> Quotient<'_, D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    /// Checks that the constraints on the opened values agree with the quotient at a point. `lookups` has the values of the columns of
    /// lookups in the row and in the next one. Lengths were checked before.
    pub(crate) fn check(
        &self,
        level: Level,
        opened: &OpenedValues<D>,
        lookups: [&[Extension<Goldilocks, D>]; 2],
        point: Extension<Goldilocks, D>,
    ) -> Result<(), VerifyError> {
        let outside = VerifyError::Rejected("the point is in a domain");
        let expected = self.at(level, opened, lookups, point).ok_or(outside.clone())?;
        let found = self.of_chunks(opened, point).ok_or(outside)?;
        if expected == found { Ok(()) } else { Err(VerifyError::Rejected("constraints do not hold")) }
    }

    /// The quotient at a point from the constraints on the opened values; `None` for a point of the trace's domain.
    fn at(
        &self,
        level: Level,
        opened: &OpenedValues<D>,
        [lookups, next_lookups]: [&[Extension<Goldilocks, D>]; 2],
        point: Extension<Goldilocks, D>,
    ) -> Option<Extension<Goldilocks, D>> {
        let (selectors, vanishing) = selectors_at(self.log_rows, point)?;
        let rows = 1_usize << self.log_rows;
        let periodic: Vec<_> = self
            .constraints
            .periodic
            .iter()
            .map(|column| {
                // A periodic column is a polynomial in `x^(rows / period)`.
                let point = point.pow_vartime(&[(rows / column.len()) as u64]);
                let mut coefficients = column.clone();
                domain(column.len().ilog2()).intt(level, &mut coefficients, Order::Natural);
                evaluate(level, &coefficients, 1, point)[0]
            })
            .collect();
        // Indices were checked when the constraints were captured, lengths with the shape.
        let value = |input: Input| match input {
            Input::Scalar(index) => Extension::from_base(self.scalars[index as usize]),
            Input::Cell(cell) => {
                let column = cell.column as usize;
                match (cell.matrix, cell.next) {
                    (0, false) => opened.trace[column],
                    (0, true) => opened.next[column],
                    (1, false) => opened.preprocessed[column],
                    (1, true) => opened.next_preprocessed[column],
                    (2, false) => lookups[column],
                    (2, true) => next_lookups[column],
                    _ if column < SELECTORS => selectors[column],
                    _ => periodic[column - SELECTORS],
                }
            }
        };
        // Selectors and periodic columns are computed here: the proof has no values of them.
        let constraints = self.constraints.graph.evaluate(Extension::from_base, value);
        let terms = constraints.into_iter().zip(&self.factors);
        let sum = terms.fold(Extension::ZERO, |sum, (value, factor)| sum + value * *factor);
        Some(sum * vanishing.invert_vartime()?)
    }

    /// The quotient at a point from the values of its polynomials, each of which has the quotient's values on one coset. This is the
    /// Lagrange interpolation between cosets. `None` if two cosets were equal, which they never are.
    fn of_chunks(
        &self,
        opened: &OpenedValues<D>,
        point: Extension<Goldilocks, D>,
    ) -> Option<Extension<Goldilocks, D>> {
        let rows = [1 << self.log_rows];
        let power = point.pow_vartime(&rows);
        // On coset i, `x^rows` is constant: element i of a coset of a group that has one element for each chunk.
        let elements: Vec<_> =
            (0..1 << self.log_chunks).map(|chunk| self.shift(chunk).pow_vartime(&rows)).collect();
        let mut sum = Extension::ZERO;
        // The factor of a chunk is 1 on its own coset and 0 on the others.
        for (chunk, values) in opened.quotient.iter().enumerate() {
            let mut factor = Extension::ONE;
            for (_, other) in elements.iter().enumerate().filter(|(index, _)| *index != chunk) {
                let scale = (elements[chunk] - *other).invert_vartime()?;
                factor *= (power - Extension::from_base(*other)).scale(scale);
            }
            sum += factor * basis_sum(values);
        }
        Some(sum)
    }
}

/// `sum_i values[i] x^i`, where x is the extension's generator.
fn basis_sum<const D: usize>(values: &[Extension<Goldilocks, D>; D]) -> Extension<Goldilocks, D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    // Coordinates are columns over the base field, but at zeta each has a value in the extension.
    let mut generator = Extension([Goldilocks::ZERO; D]);
    generator.0[1] = Goldilocks::ONE;
    values.iter().rev().fold(Extension::ZERO, |sum, value| sum * generator + *value)
}
