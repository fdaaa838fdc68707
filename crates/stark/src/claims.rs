//! The argument that committed polynomials have claimed values at points outside of the domain: all quotients
//! `(f(z) - f(x)) / (z - x)`, combined by powers of one challenge, are of low degree.

use crate::{
    StarkError, VerifyError,
    commitment::{Committed, Rows, check_rows, extend_coset, lock},
    constraints::Constraints,
    domain::coset,
    fri,
    hash::StarkHash,
    openings::{Claim, Claimed, combine, quotients},
    proof::{OpenedValues, OpeningProof},
    security::Parameters,
    transcript::{Challenger, Description, check_work, observe, sample},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field, batch_invert_vartime,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_hash::TreeHash;
use proofmill_progress::Progress;

/// What is claimed of a commitment: of matrices of the same width side by side, each opened at the same points.
pub(crate) struct Claims<const D: usize> {
    matrices: usize,
    /// Points, and the value of each column of all matrices there; one point, if there are more matrices than one.
    points: Vec<(Extension<Goldilocks, D>, Vec<Extension<Goldilocks, D>>)>,
}

impl<const D: usize> Claims<D> {
    /// The number of columns of the commitment.
    fn columns(&self) -> usize {
        self.points.first().map_or(0, |(_, values)| values.len())
    }

    /// The values of one matrix at one point, and those of the next, in the transcript's order.
    fn values(&self) -> impl Iterator<Item = &[Extension<Goldilocks, D>]> {
        let width = self.columns() / self.matrices;
        self.points.iter().flat_map(move |(_, values)| values.chunks_exact(width))
    }
}

/// What is claimed of each commitment: of the trace, the quotient, and the preprocessed columns.
pub(crate) fn of_statement<const D: usize>(
    constraints: &Constraints,
    opened: &OpenedValues<D>,
    zeta: Extension<Goldilocks, D>,
    next: Extension<Goldilocks, D>,
) -> Vec<Claims<D>> {
    let rows = |current: &[_], following: &[_]| {
        let mut points = vec![(zeta, current.to_vec())];
        if !following.is_empty() {
            points.push((next, following.to_vec()));
        }
        Claims { matrices: 1, points }
    };
    let quotient = opened.quotient.as_flattened().to_vec();
    let mut claims = vec![
        rows(&opened.trace, &opened.next),
        Claims { matrices: opened.quotient.len(), points: vec![(zeta, quotient)] },
    ];
    if constraints.preprocessed > 0 {
        claims.push(rows(&opened.preprocessed, &opened.next_preprocessed));
    }
    claims
}

pub(crate) fn description<const D: usize>(parameters: &Parameters, claims: &[Claims<D>]) -> Description {
    let mut steps = Description::new("p3-fri-pcs");
    for values in claims.iter().flat_map(Claims::values) {
        steps = steps.elements("claimed_evaluations", D, values.len());
    }
    steps = steps
        .work("batch_pow", parameters.grinding.batching)
        .challenge("alpha", D)
        .protocol("low_degree_test")
        .number(claims.len());
    for commitment in claims {
        steps = steps.number(commitment.matrices);
        for _ in 0..commitment.matrices {
            steps = steps.number(commitment.points.len());
        }
    }
    steps
}

/// Begins the argument: the transcript takes the claims.
fn begin<C: Challenger, const D: usize>(parameters: &Parameters, claims: &[Claims<D>], challenger: &mut C) {
    description(parameters, claims).observe(challenger);
    claims.iter().flat_map(Claims::values).for_each(|values| observe(challenger, values));
}

/// The claims, combined.
struct Combination<const D: usize> {
    /// Powers of the challenge, from 1 on: the factors of columns.
    powers: Vec<Extension<Goldilocks, D>>,
    /// The different points.
    points: Vec<Extension<Goldilocks, D>>,
    /// Those of each commitment. Matrices side by side are one matrix: its columns have consecutive powers.
    claims: Vec<Vec<Claim<D>>>,
}

impl<const D: usize> Combination<D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    fn new(claims: &[Claims<D>], alpha: Extension<Goldilocks, D>) -> Self {
        let widest = claims.iter().map(Claims::columns).max().unwrap_or(0);
        let powers: Vec<_> =
            std::iter::successors(Some(Extension::ONE), |power| Some(*power * alpha)).take(widest).collect();
        let mut points = Vec::new();
        let mut factor = Extension::ONE;
        let mut combine = |(at, values): &(_, Vec<_>)| {
            let point = points.iter().position(|point| point == at).unwrap_or(points.len());
            if point == points.len() {
                points.push(*at);
            }
            let value =
                powers.iter().zip(values).fold(Extension::ZERO, |sum, (power, value)| sum + *power * *value);
            let claim = Claim { point, value: value * factor, factor };
            factor *= alpha.pow_vartime(&[values.len() as u64]);
            claim
        };
        let claims = claims.iter().map(|claims| claims.points.iter().map(&mut combine).collect()).collect();
        Self { powers, points, claims }
    }

    /// The sum of quotients at one place, from the rows of all commitments and the inverses of `z - x` for all points z.
    fn at<'a>(
        &self,
        rows: impl Iterator<Item = &'a [Goldilocks]>,
        inverses: &[Extension<Goldilocks, D>],
    ) -> Extension<Goldilocks, D> {
        let mut sum = Extension::ZERO;
        for (row, claims) in rows.zip(&self.claims) {
            let mut combined = Extension::ZERO;
            self.powers.iter().zip(row).for_each(|(power, value)| combined += power.scale(*value));
            for claim in claims {
                sum += (claim.value - combined * claim.factor) * inverses[claim.point];
            }
        }
        sum
    }

    /// The sums of quotients on the whole coset of extensions, in bit-reversed order.
    fn word<H: TreeHash>(
        &self,
        level: Level,
        log_blowup: u32,
        committed: &[&Committed<H>],
    ) -> Result<Vec<Extension<Goldilocks, D>>, StarkError> {
        /// From how many columns on it is faster to extend the combination than to combine the extension.
        const MANY: usize = 64;
        // Of such rows, and of those that are not kept, the combination: a matrix of its coordinates.
        let unit = |i: usize| Extension(std::array::from_fn(|d| Goldilocks::new((d == i).into())));
        let basis: Vec<_> = (0..D).map(unit).collect();
        let combination = |matrix: &&Committed<H>| match &matrix.rows {
            Rows::Kept(rows) if log_blowup > 0 && matrix.columns >= MANY => {
                let first = Goldilocks::as_words(&rows[..rows.len() >> log_blowup]);
                let sums = combine(level, first, matrix.columns, &self.powers[..matrix.columns]);
                Ok(Some(extend_coset(level, log_blowup, Extension::coefficients(&sums).to_vec(), D)))
            }
            Rows::Kept(_) => Ok(None),
            Rows::Computed(tiled) => lock(tiled).combination(level, log_blowup, &self.powers).map(Some),
        };
        let combinations = committed.iter().map(combination).collect::<Result<Vec<_>, StarkError>>()?;
        let matrices = committed.iter().zip(&combinations).zip(&self.claims);
        let matrices: Vec<_> = matrices
            .map(|((matrix, combination), claims)| {
                let (values, width, powers) = match combination {
                    Some(values) => (&**values, D, &basis),
                    None => (matrix.kept(), matrix.columns, &self.powers),
                };
                Claimed { words: Goldilocks::as_words(values), width, powers, claims: claims.clone() }
            })
            .collect();
        Ok(quotients(level, coset(), committed[0].log_rows(), &matrices, &self.points))
    }
}

/// Proves the claims about the commitments.
pub(crate) fn prove<H: StarkHash, const D: usize>(
    level: Level,
    parameters: &Parameters,
    committed: &[&Committed<H>],
    claims: &[Claims<D>],
    challenger: &mut H::Challenger,
    progress: Progress<'_>,
) -> Result<OpeningProof<H, D>, StarkError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    begin(parameters, claims, challenger);
    let batching_work = challenger.work(level, parameters.grinding.batching);
    let alpha = sample(challenger);
    progress.begin("combine");
    let word = Combination::new(claims, alpha).word(level, parameters.log_blowup, committed)?;
    progress.begin("fri");
    let fri = fri::prove::<H, D>(level, parameters, word, challenger);
    progress.begin("open");
    let (rounds, queries) = fri.open(level, parameters)?;
    let rows = committed.iter().map(|matrix| matrix.open(level, parameters, &queries));
    Ok(OpeningProof {
        batching_work,
        rounds,
        final_polynomial: fri.final_polynomial,
        query_work: fri.query_work,
        rows: rows.collect::<Result<_, StarkError>>()?,
    })
}

/// A commitment as the verifier knows it.
pub(crate) struct Commitment<'a, H: TreeHash> {
    pub(crate) cap: &'a [H::Digest],
    pub(crate) columns: usize,
}

/// Checks the claims about commitments to `2^log_height` rows.
pub(crate) fn verify<H: StarkHash, const D: usize>(
    level: Level,
    parameters: &Parameters,
    commitments: &[Commitment<'_, H>],
    log_height: u32,
    claims: &[Claims<D>],
    proof: &OpeningProof<H, D>,
    challenger: &mut H::Challenger,
) -> Result<(), VerifyError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    VerifyError::check_length("opened commitments", commitments.len(), proof.rows.len())?;
    for (commitment, rows) in commitments.iter().zip(&proof.rows) {
        VerifyError::check_length(
            "values of opened rows",
            parameters.queries as usize * commitment.columns,
            rows.values.len(),
        )?;
    }
    begin(parameters, claims, challenger);
    check_work(challenger, parameters.grinding.batching, proof.batching_work)?;
    let combination = Combination::new(claims, sample(challenger));
    let queries = fri::verify_commitments::<H, D>(parameters, log_height, proof, challenger)?;
    for (commitment, rows) in commitments.iter().zip(&proof.rows) {
        let columns = commitment.columns;
        check_rows::<H>(level, parameters, commitment.cap, log_height, columns, &queries.indices, rows)?;
    }
    let mut values = Vec::with_capacity(queries.indices.len());
    for (query, index) in queries.indices.iter().enumerate() {
        let x = coset().element(*index);
        let mut inverses: Vec<_> =
            combination.points.iter().map(|point| *point - Extension::from_base(x)).collect();
        if inverses.contains(&Extension::ZERO) {
            return Err(VerifyError::Rejected("a query is an opened point"));
        }
        batch_invert_vartime(&mut inverses);
        let rows = commitments
            .iter()
            .zip(&proof.rows)
            .map(|(commitment, rows)| &rows.values[query * commitment.columns..][..commitment.columns]);
        values.push(combination.at(rows, &inverses));
    }
    fri::verify_queries::<H, D>(level, parameters, log_height, &queries, values, proof)
}
