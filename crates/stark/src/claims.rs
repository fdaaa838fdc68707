//! The argument that committed polynomials have claimed values at points outside of the domain: all quotients
//! `(f(z) - f(x)) / (z - x)`, combined by powers of one challenge, are of low degree.

use crate::{
    VerifyError,
    commitment::{Committed, check_rows},
    constraints::Constraints,
    domain::{SHIFT, generator, reverse},
    fri,
    hash::StarkHash,
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
use proofmill_parallel as parallel;
use proofmill_progress::Progress;
use std::ops::Range;

/// Claimed values of one matrix, which is a part of the columns of a commitment.
pub(crate) struct Claim<const D: usize> {
    pub(crate) columns: Range<usize>,
    /// Points, and the value of each column there.
    pub(crate) points: Vec<(Extension<Goldilocks, D>, Vec<Extension<Goldilocks, D>>)>,
}

/// The claims about each commitment.
pub(crate) type Claims<const D: usize> = Vec<Vec<Claim<D>>>;

/// What is claimed of each commitment: of the trace, the quotient, and the preprocessed columns.
pub(crate) fn of_statement<const D: usize>(
    constraints: &Constraints,
    opened: &OpenedValues<D>,
    zeta: Extension<Goldilocks, D>,
    next: Extension<Goldilocks, D>,
) -> Claims<D> {
    let rows = |columns, current: &[_], following: &[_]| {
        let mut points = vec![(zeta, current.to_vec())];
        if !following.is_empty() {
            points.push((next, following.to_vec()));
        }
        vec![Claim { columns: 0..columns, points }]
    };
    let mut claims = vec![rows(constraints.columns, &opened.trace, &opened.next)];
    let chunk = |(chunk, values): (usize, &[_; D])| Claim {
        columns: D * chunk..D * (chunk + 1),
        points: vec![(zeta, values.to_vec())],
    };
    claims.push(opened.quotient.iter().enumerate().map(chunk).collect());
    if constraints.preprocessed > 0 {
        claims.push(rows(constraints.preprocessed, &opened.preprocessed, &opened.next_preprocessed));
    }
    claims
}

fn description<const D: usize>(parameters: &Parameters, claims: &Claims<D>) -> Description {
    let mut steps = Description::new("p3-fri-pcs");
    for (_, values) in claims.iter().flatten().flat_map(|claim| &claim.points) {
        steps = steps.elements("claimed_evaluations", D, values.len());
    }
    steps = steps
        .work("batch_pow", parameters.grinding.batching)
        .challenge("alpha", D)
        .protocol("low_degree_test")
        .number(claims.len());
    for commitment in claims {
        steps = steps.number(commitment.len());
        for claim in commitment {
            steps = steps.number(claim.points.len());
        }
    }
    steps
}

/// Begins the argument: the transcript takes the claims.
fn begin<C: Challenger, const D: usize>(parameters: &Parameters, claims: &Claims<D>, challenger: &mut C) {
    description(parameters, claims).observe(challenger);
    for (_, values) in claims.iter().flatten().flat_map(|claim| &claim.points) {
        observe(challenger, values);
    }
}

/// The claims, combined.
struct Combination<const D: usize> {
    /// Powers of the challenge, from 1 on.
    powers: Vec<Extension<Goldilocks, D>>,
    /// The different points.
    points: Vec<Extension<Goldilocks, D>>,
    claims: Vec<Vec<CombinedClaim<D>>>,
}

/// One matrix: its columns are combined by [`Combination::powers`], and each point's quotient is multiplied by a factor.
struct CombinedClaim<const D: usize> {
    columns: Range<usize>,
    points: Vec<CombinedPoint<D>>,
}

struct CombinedPoint<const D: usize> {
    /// The index of the point.
    point: usize,
    factor: Extension<Goldilocks, D>,
    /// The combination of the claimed values.
    value: Extension<Goldilocks, D>,
}

/// `sum_i powers[i] values[i]`.
fn combine<const D: usize>(
    powers: &[Extension<Goldilocks, D>],
    values: &[Goldilocks],
) -> Extension<Goldilocks, D> {
    let mut sum = Extension([Goldilocks::ZERO; D]);
    powers.iter().zip(values).for_each(|(power, value)| sum += power.scale(*value));
    sum
}

impl<const D: usize> Combination<D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    fn new(claims: &Claims<D>, alpha: Extension<Goldilocks, D>) -> Self {
        let widest = claims.iter().flatten().map(|claim| claim.columns.len()).max().unwrap_or(0);
        let powers: Vec<_> =
            std::iter::successors(Some(Extension::ONE), |power| Some(*power * alpha)).take(widest).collect();
        let mut points = Vec::new();
        let mut factor = Extension::ONE;
        let mut combined = Vec::new();
        for commitment in claims {
            let mut of_commitment = Vec::new();
            for claim in commitment {
                let mut of_claim = Vec::new();
                for (point, values) in &claim.points {
                    let index = points.iter().position(|other| other == point).unwrap_or(points.len());
                    if index == points.len() {
                        points.push(*point);
                    }
                    let mut value = Extension::ZERO;
                    powers.iter().zip(values).for_each(|(power, each)| value += *power * *each);
                    of_claim.push(CombinedPoint { point: index, factor, value });
                    factor *= alpha.pow_vartime(&[values.len() as u64]);
                }
                of_commitment.push(CombinedClaim { columns: claim.columns.clone(), points: of_claim });
            }
            combined.push(of_commitment);
        }
        Self { powers, points, claims: combined }
    }

    /// The sum of quotients at one place, from the rows of all commitments and the inverses of `z - x` for all points z.
    fn at<'a>(
        &self,
        rows: impl Iterator<Item = &'a [Goldilocks]>,
        inverses: impl Fn(usize) -> Extension<Goldilocks, D>,
    ) -> Extension<Goldilocks, D> {
        let mut sum = Extension::ZERO;
        for (row, claims) in rows.zip(&self.claims) {
            for claim in claims {
                let value = combine(&self.powers, &row[claim.columns.clone()]);
                for point in &claim.points {
                    sum += (point.value - value) * point.factor * inverses(point.point);
                }
            }
        }
        sum
    }

    /// The sums of quotients on the whole coset of extensions, in bit-reversed order.
    fn word<H: TreeHash>(&self, committed: &[&Committed<H>]) -> Vec<Extension<Goldilocks, D>> {
        /// The rows of a task.
        const TASK: usize = 1 << 9;
        let first = committed[0];
        let rows = first.values.len() / first.columns;
        let (log_rows, task) = (rows.ilog2(), TASK.min(rows));
        let root = generator(log_rows);
        // An index is the sum of a task's first one and one below `TASK`, and so are the indices in reverse.
        let element = |index: usize| root.pow_vartime(&[reverse(index, log_rows) as u64]);
        let table: Vec<_> = (0..task).map(element).collect();
        let mut word = vec![Extension::ZERO; rows];
        parallel::for_each(word.chunks_mut(task).enumerate(), |(index, word)| {
            let first = index * task;
            let shift = SHIFT * element(first);
            let mut inverses: Vec<_> = self
                .points
                .iter()
                .flat_map(|point| table.iter().map(|x| *point - Extension::from_base(shift * *x)))
                .collect();
            batch_invert_vartime(&mut inverses);
            for (k, sum) in word.iter_mut().enumerate() {
                let rows = committed
                    .iter()
                    .map(|matrix| &matrix.values[(first + k) * matrix.columns..][..matrix.columns]);
                *sum = self.at(rows, |point| inverses[point * task + k]);
            }
        });
        word
    }
}

/// Proves the claims about the commitments.
pub(crate) fn prove<H: StarkHash, const D: usize>(
    level: Level,
    parameters: &Parameters,
    committed: &[&Committed<H>],
    claims: &Claims<D>,
    challenger: &mut H::Challenger,
    progress: Progress<'_>,
) -> OpeningProof<H, D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    begin(parameters, claims, challenger);
    let batching_work = challenger.work(level, parameters.grinding.batching);
    let alpha = sample(challenger);
    progress.begin("combine");
    let word = Combination::new(claims, alpha).word(committed);
    progress.begin("fri");
    let fri = fri::prove::<H, D>(level, parameters, word, challenger);
    progress.begin("open");
    let (rounds, queries) = fri.open();
    OpeningProof {
        batching_work,
        rounds,
        final_polynomial: fri.final_polynomial,
        query_work: fri.query_work,
        rows: committed.iter().map(|matrix| matrix.open(&queries)).collect(),
    }
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
    claims: &Claims<D>,
    proof: &OpeningProof<H, D>,
    challenger: &mut H::Challenger,
) -> Result<(), VerifyError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let expect = |what, expected: usize, found: usize| {
        if expected == found { Ok(()) } else { Err(VerifyError::Malformed { what, expected, found }) }
    };
    expect("opened commitments", commitments.len(), proof.rows.len())?;
    for (commitment, rows) in commitments.iter().zip(&proof.rows) {
        expect("values of opened rows", parameters.queries as usize * commitment.columns, rows.values.len())?;
    }
    begin(parameters, claims, challenger);
    check_work(challenger, parameters.grinding.batching, proof.batching_work)?;
    let combination = Combination::new(claims, sample(challenger));
    let queries = fri::verify_commitments::<H, D>(parameters, log_height, proof, challenger)?;
    for (commitment, rows) in commitments.iter().zip(&proof.rows) {
        let columns = commitment.columns;
        check_rows::<H>(level, parameters, commitment.cap, log_height, columns, &queries.indices, rows)?;
    }
    let root = generator(log_height);
    let mut values = Vec::with_capacity(queries.indices.len());
    for (query, index) in queries.indices.iter().enumerate() {
        let x = SHIFT * root.pow_vartime(&[reverse(*index, log_height) as u64]);
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
        values.push(combination.at(rows, |point| inverses[point]));
    }
    fri::verify_queries::<H, D>(level, parameters, log_height, &queries, values, proof)
}
