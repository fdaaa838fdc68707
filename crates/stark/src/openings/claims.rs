//! The argument that committed polynomials have claimed values at points outside of the domain: all quotients
//! `(f(z) - f(x)) / (z - x)`, combined by powers of one challenge, are of low degree.

use super::fri;
use crate::{
    Run, StarkError, VerifyError,
    air::constraints::Constraints,
    commitment::{Committed, check_rows},
    domain::coset,
    openings::{Claim, Claimed, quotients},
    proof::{OpenedRows, OpenedValues, OpeningProof},
    security::Parameters,
    trace::{
        blinding::{Blinding, SALT},
        placement::Combined,
    },
    transcript::{Challenger, Description, check_work, hash::StarkHash, observe, sample},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field, batch_invert_vartime,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_hash::Digest;
use std::{
    cmp::Reverse,
    iter::{self, successors},
};

/// The claims about a matrix: the values of its columns at points.
#[derive(Clone)]
pub(crate) struct Claims<const D: usize> {
    /// The base-2 logarithm of the number of rows of the extension.
    pub(crate) log_height: u32,
    /// The number of columns.
    pub(crate) columns: usize,
    /// The number of parts, side by side, that count as matrices of their own; 0 for salts. A matrix of several parts has one point.
    parts: usize,
    /// The points, with the value of each column there.
    points: Vec<(Extension<Goldilocks, D>, Vec<Extension<Goldilocks, D>>)>,
}

impl<const D: usize> Claims<D> {
    /// The claims about a matrix with these values at a point and, unless they are empty, at the next row's point.
    pub(crate) fn of_rows(
        log_height: u32,
        [current, next]: [(Extension<Goldilocks, D>, &[Extension<Goldilocks, D>]); 2],
    ) -> Self {
        let points = [current, next].into_iter().enumerate();
        let points = points.filter(|(index, (_, values))| *index == 0 || !values.is_empty());
        let points = points.map(|(_, (point, values))| (point, values.to_vec())).collect();
        Self { log_height, columns: current.1.len(), parts: 1, points }
    }

    /// The claims about the coordinates of the quotient's polynomials: one matrix, or with blinding one matrix for each polynomial.
    pub(crate) fn of_quotient(
        log_height: u32,
        point: Extension<Goldilocks, D>,
        opened: &OpenedValues<D>,
    ) -> Vec<Self> {
        let OpenedValues { quotient, beside_quotient, .. } = opened;
        let of_values = |values: Vec<_>, parts| Self {
            log_height,
            columns: values.len(),
            parts,
            points: vec![(point, values)],
        };
        match beside_quotient.len() / quotient.len().max(1) {
            0 => vec![of_values(quotient.as_flattened().to_vec(), quotient.len())],
            random => {
                let chunks = quotient.iter().zip(beside_quotient.chunks(random));
                chunks.map(|(values, beside)| of_values([&values[..], beside].concat(), 1)).collect()
            }
        }
    }

    /// A matrix of salts, about which nothing is claimed.
    fn of_salts(log_height: u32) -> Self {
        Self { log_height, columns: SALT, parts: 0, points: Vec::new() }
    }

    /// The values of each part at each point, in the transcript's order.
    fn values(&self) -> impl Iterator<Item = &[Extension<Goldilocks, D>]> {
        let width = self.columns / self.parts.max(1);
        self.points.iter().flat_map(move |(_, values)| values.chunks_exact(width))
    }
}

/// The claims about each commitment: to the random polynomials, the trace, the quotient, and the preprocessed columns.
pub(crate) fn of_statement<const D: usize>(
    constraints: &Constraints,
    opened: &OpenedValues<D>,
    log_height: u32,
    zeta: Extension<Goldilocks, D>,
    next: Extension<Goldilocks, D>,
) -> Vec<Vec<Claims<D>>> {
    let rows = |values, of_next| vec![Claims::of_rows(log_height, [(zeta, values), (next, of_next)])];
    let mut claims = Vec::new();
    if !opened.random.is_empty() {
        claims.push(rows(&opened.random, &[]));
    }
    claims.push(rows(&opened.trace, &opened.next));
    claims.push(Claims::of_quotient(log_height, zeta, opened));
    if constraints.preprocessed > 0 {
        claims.push(rows(&opened.preprocessed, &opened.next_preprocessed));
    }
    claims
}

/// The claims where, with blinding, a matrix is followed by the salts of its rows.
fn with_salts<const D: usize>(parameters: &Parameters, claims: Vec<Vec<Claims<D>>>) -> Vec<Vec<Claims<D>>> {
    let salted = |claims: Claims<D>| {
        let salts = parameters.is_blinded().then(|| Claims::of_salts(claims.log_height));
        iter::once(claims).chain(salts)
    };
    claims.into_iter().map(|claims| claims.into_iter().flat_map(salted).collect()).collect()
}

pub(crate) fn description<const D: usize>(parameters: &Parameters, claims: &[Vec<Claims<D>>]) -> Description {
    let mut steps = Description::new("p3-fri-pcs");
    for values in claims.iter().flatten().flat_map(Claims::values) {
        steps = steps.elements("claimed_evaluations", D, values.len());
    }
    steps = steps
        .work("batch_pow", parameters.grinding.batching)
        .challenge("alpha", D)
        .protocol("low_degree_test")
        .number(claims.len());
    for matrices in claims {
        steps = steps.number(matrices.iter().map(|claims| claims.parts).sum());
        for claims in matrices {
            for _ in 0..claims.parts {
                steps = steps.number(claims.points.len());
            }
        }
    }
    steps
}

/// Begins the argument: the transcript takes the claims.
fn begin<const D: usize>(
    parameters: &Parameters,
    claims: &[Vec<Claims<D>>],
    challenger: &mut dyn Challenger,
) {
    description(parameters, claims).observe(challenger);
    // The values are fixed before alpha, or false ones could cancel each other.
    claims.iter().flatten().flat_map(Claims::values).for_each(|values| observe(challenger, values));
}

/// The claims on all matrices of one height, combined.
struct Combination<const D: usize> {
    /// The base-2 logarithm of the number of rows of the extensions.
    log_height: u32,
    /// The different points.
    points: Vec<Extension<Goldilocks, D>>,
    /// The index of each matrix's commitment, the matrix's place there, and its claims. The columns of a matrix have consecutive powers of
    /// the challenge.
    matrices: Vec<(usize, usize, Vec<Claim<D>>)>,
}

/// The claims combined for each height, the tallest first.
struct Combinations<const D: usize> {
    /// Powers of the challenge, where the first power is 1: the factors of columns.
    powers: Vec<Extension<Goldilocks, D>>,
    of_heights: Vec<Combination<D>>,
}

impl<const D: usize> Combinations<D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    fn new(claims: &[Vec<Claims<D>>], alpha: Extension<Goldilocks, D>) -> Self {
        let widest = claims.iter().flatten().map(|claims| claims.columns).max().unwrap_or(0);
        let powers: Vec<_> =
            successors(Some(Extension::ONE), |power| Some(*power * alpha)).take(widest).collect();
        let of_height = |log_height: u32| {
            // The factors of each height begin with 1: FRI's challenges keep words of different heights apart.
            let (mut points, mut factor) = (Vec::new(), Extension::ONE);
            let mut combine = |(at, values): &(_, Vec<_>)| {
                let point = points.iter().position(|point| point == at).unwrap_or(points.len());
                if point == points.len() {
                    points.push(*at);
                }
                let products = powers.iter().zip(values).map(|(power, value)| *power * *value);
                let value = products.fold(Extension::ZERO, |sum, product| sum + product);
                let claim = Claim { point, value: value * factor, factor };
                // No two openings of one height have the same power.
                factor *= alpha.pow_vartime(&[values.len() as u64]);
                claim
            };
            let mut matrices = Vec::new();
            for (commitment, of_commitment) in claims.iter().enumerate() {
                for (place, claims) in of_commitment.iter().enumerate() {
                    if claims.log_height == log_height && !claims.points.is_empty() {
                        matrices.push((commitment, place, claims.points.iter().map(&mut combine).collect()));
                    }
                }
            }
            Combination { log_height, points, matrices }
        };
        let of_heights = heights(claims).into_iter().map(of_height).collect();
        Self { powers, of_heights }
    }

    /// The sum of one height's quotients at one place, from the row of each matrix there and the inverses of `z - x` for all points z.
    fn at<'a>(
        &self,
        combination: &Combination<D>,
        row: impl Fn(usize, usize) -> &'a [Goldilocks],
        inverses: &[Extension<Goldilocks, D>],
    ) -> Extension<Goldilocks, D> {
        let mut sum = Extension::ZERO;
        for (commitment, place, claims) in &combination.matrices {
            let mut combined = Extension::ZERO;
            let terms = self.powers.iter().zip(row(*commitment, *place));
            terms.for_each(|(power, value)| combined += power.scale(*value));
            for claim in claims {
                sum += (claim.value - combined * claim.factor) * inverses[claim.point];
            }
        }
        sum
    }

    /// The sums of each height's quotients at the queries. A proof does not have these values of the words that FRI folds: they are
    /// computed from the rows and the claimed values.
    ///
    /// For each commitment, `shapes` has the base-2 logarithm of the number of rows, and the number of columns, of each matrix. `widths`
    /// has the length of a row of all its matrices.
    fn at_queries(
        &self,
        log_blowup: u32,
        queries: &fri::Queries<D>,
        shapes: &[Vec<(u32, usize)>],
        widths: &[usize],
        rows: &[OpenedRows],
    ) -> Result<Vec<Vec<Extension<Goldilocks, D>>>, VerifyError> {
        let mut values = Vec::with_capacity(self.of_heights.len());
        for combination in &self.of_heights {
            let mut of_queries = Vec::with_capacity(queries.indices.len());
            for (query, index) in queries.indices.iter().enumerate() {
                let x = coset().element(index >> (queries.log_height - combination.log_height));
                let mut inverses: Vec<_> =
                    combination.points.iter().map(|point| *point - Extension::from_base(x)).collect();
                if inverses.contains(&Extension::ZERO) {
                    return Err(VerifyError::Rejected("a query is an opened point"));
                }
                batch_invert_vartime(&mut inverses);
                let row = |commitment: usize, place: usize| {
                    let before: usize = shapes[commitment][..place].iter().map(|(_, columns)| columns).sum();
                    let columns = shapes[commitment][place].1;
                    &rows[commitment].values[query * widths[commitment] + before..][..columns]
                };
                of_queries.push(self.at(combination, row, &inverses));
            }
            // On so few rows every word is of low degree. A column of one row has to be shown constant, which makes its quotient zero.
            if combination.log_height == log_blowup && of_queries.iter().any(|value| !value.is_zero()) {
                return Err(VerifyError::Rejected("a column of one row is not constant"));
            }
            values.push(of_queries);
        }
        Ok(values)
    }

    /// The sums of one height's quotients on the whole coset of extensions, in bit-reversed order.
    fn word(
        &self,
        level: Level,
        log_blowup: u32,
        combination: &Combination<D>,
        committed: &[&Committed],
    ) -> Result<Vec<Extension<Goldilocks, D>>, StarkError> {
        // For a sum of columns, the factors of its coordinates: the basis of the extension.
        let unit = |i: usize| Extension(std::array::from_fn(|d| Goldilocks::new((d == i).into())));
        let basis: Vec<_> = (0..D).map(unit).collect();
        let combine = |(commitment, place, _): &(usize, usize, _)| {
            let matrix = &committed[*commitment].matrices[*place];
            Ok((matrix.combined(level, log_blowup, &self.powers)?, matrix.columns))
        };
        let combined = combination.matrices.iter().map(combine).collect::<Result<Vec<_>, StarkError>>()?;
        let matrices = combination.matrices.iter().zip(&combined);
        let matrices: Vec<_> = matrices
            .map(|((_, _, claims), (combined, columns))| {
                let (values, width, powers) = match combined {
                    Combined::Sum(values) => (&**values, D, &basis),
                    Combined::Columns(rows) => (*rows, *columns, &self.powers),
                };
                Claimed { words: Goldilocks::as_words(values), width, powers, claims: claims.clone() }
            })
            .collect();
        Ok(quotients(level, coset(), combination.log_height, &matrices, &combination.points))
    }
}

/// The base-2 logarithms of the different heights of matrices, the greatest first.
fn heights<const D: usize>(claims: &[Vec<Claims<D>>]) -> Vec<u32> {
    let mut heights: Vec<_> = claims.iter().flatten().map(|claims| claims.log_height).collect();
    heights.sort_unstable_by_key(|height| Reverse(*height));
    heights.dedup();
    heights
}

/// Proves the claims about the commitments.
pub(crate) fn prove<const D: usize>(
    Run { level, progress, .. }: Run<'_>,
    hash: &dyn StarkHash,
    parameters: &Parameters,
    committed: &[&Committed],
    claims: Vec<Vec<Claims<D>>>,
    blinding: &mut Option<Blinding>,
    challenger: &mut dyn Challenger,
) -> Result<OpeningProof<D>, StarkError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let claims = &with_salts(parameters, claims);
    // Batching: the claimed values, grinding, and the challenge whose powers combine all columns.
    begin(parameters, claims, challenger);
    let batching_work = challenger.work(level, parameters.grinding.batching);
    let alpha = sample(challenger);
    // DEEP: one word for each height, of the quotients of all its columns.
    progress.begin("combine");
    let combinations = Combinations::new(claims, alpha);
    let word = |combination| combinations.word(level, parameters.log_blowup, combination, committed);
    let words = combinations.of_heights.iter().map(word).collect::<Result<_, StarkError>>()?;
    progress.begin("fri");
    let fri = fri::prove(level, hash, parameters, words, blinding, challenger);
    // Query phase: rows of all commitments at the same indices.
    progress.begin("open");
    let (rounds, queries) = fri.open(level, hash, parameters)?;
    let log_height = combinations.of_heights[0].log_height;
    let open = |committed: &&Committed| {
        // The upper bits of an index are the row of a shorter matrix, as they are the index in a folded word.
        let shorter = log_height - committed.log_rows();
        let queries: Vec<_> = queries.iter().map(|query| query >> shorter).collect();
        committed.open(level, hash, parameters, &queries)
    };
    Ok(OpeningProof {
        batching_work,
        rounds,
        final_polynomial: fri.final_polynomial,
        query_work: fri.query_work,
        rows: committed.iter().map(open).collect::<Result<_, StarkError>>()?,
    })
}

/// Checks the claims about the matrices of commitments, which are given by their caps.
pub(crate) fn verify<const D: usize>(
    level: Level,
    hash: &dyn StarkHash,
    parameters: &Parameters,
    caps: &[&[Digest]],
    claims: Vec<Vec<Claims<D>>>,
    proof: &OpeningProof<D>,
    challenger: &mut dyn Challenger,
) -> Result<(), VerifyError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    VerifyError::check_length("opened commitments", caps.len(), proof.rows.len())?;
    let claims = &with_salts(parameters, claims);
    let shapes: Vec<Vec<_>> = claims
        .iter()
        .map(|claims| claims.iter().map(|claims| (claims.log_height, claims.columns)).collect())
        .collect();
    let widths: Vec<usize> =
        shapes.iter().map(|shapes| shapes.iter().map(|(_, columns)| columns).sum()).collect();
    for (width, rows) in widths.iter().zip(&proof.rows) {
        let expected = parameters.queries as usize * width;
        VerifyError::check_length("values of opened rows", expected, rows.values.len())?;
    }
    begin(parameters, claims, challenger);
    check_work(challenger, parameters.grinding.batching, proof.batching_work)?;
    let combinations = Combinations::new(claims, sample(challenger));
    let log_heights: Vec<_> =
        combinations.of_heights.iter().map(|combination| combination.log_height).collect();
    // FRI: all its commitments and challenges, then the indices of queries.
    let queries = fri::verify_commitments(parameters, &log_heights, proof, challenger)?;
    let log_height = queries.log_height;
    // The rows of queries have to be rows of the committed matrices.
    for ((cap, shapes), rows) in caps.iter().zip(&shapes).zip(&proof.rows) {
        let indices =
            |log_rows: u32| queries.indices.iter().map(move |index| index >> (log_height - log_rows));
        let tallest = shapes.iter().map(|(log_rows, _)| *log_rows).max().unwrap_or(0);
        check_rows(level, hash, parameters, cap, shapes, &indices(tallest).collect::<Vec<_>>(), rows)?;
    }
    let values = combinations.at_queries(parameters.log_blowup, &queries, &shapes, &widths, &proof.rows)?;
    fri::verify_queries(level, hash, parameters, &log_heights, &queries, &values, proof)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmill_hash::Keccak;
    use proofmill_memory::Pages;

    const PARAMETERS: Parameters =
        Parameters { extension: 2, log_blowup: 1, cap_height: 0, queries: 4, ..Parameters::PROVEN_100 };

    /// The verdict on a proof of matrices of one column with the values of `1 + slope x`. `columns` has the slope of each matrix, and the
    /// base-2 logarithm of its number of rows.
    fn verdict(log_final_length: u32, columns: &[(u64, u32)]) -> Result<(), VerifyError> {
        let level = Level::best();
        let parameters = Parameters { log_final_length, grinding: Default::default(), ..PARAMETERS };
        let point = Extension([Goldilocks::new(3), Goldilocks::new(4)]);
        let (mut matrices, mut claims) = (Vec::new(), Vec::new());
        for (slope, log_rows) in columns {
            let (slope, log_height) = (Goldilocks::new(*slope), log_rows + parameters.log_blowup);
            let mut values = Pages::new(1 << log_height);
            for (index, value) in values.iter_mut().enumerate() {
                *value = Goldilocks::ONE + slope * coset().element(index);
            }
            matrices.push((values, 1));
            let value = Extension::ONE + point.scale(slope);
            claims.push(Claims::of_rows(log_height, [(point, &[value]), (point, &[])]));
        }
        let committed = Committed::new(level, &Keccak, &parameters, matrices, &mut None);
        let claims = vec![claims];
        let proof = prove::<2>(
            level.into(),
            &Keccak,
            &parameters,
            &[&committed],
            claims.clone(),
            &mut None,
            &mut *Keccak.challenger(),
        );
        let proof = proof.expect("a proof of what is in memory");
        verify(level, &Keccak, &parameters, &[committed.cap()], claims, &proof, &mut *Keccak.challenger())
    }

    /// All words on so few points are of low degree, so FRI alone does not suffice. Plonky3's verifier checks the same.
    #[test]
    fn columns_of_one_row_are_constant() {
        let refused = Err(VerifyError::Rejected("a column of one row is not constant"));
        for others in [&[][..], &[(2, 3)], &[(2, 3), (5, 1)]] {
            for (slope, expected) in [(0, Ok(())), (1, refused.clone())] {
                assert_eq!(verdict(0, &[others, &[(slope, 0)]].concat()), expected);
            }
        }
    }

    #[test]
    fn matrices_of_as_many_rows_as_the_final_polynomial_has_coefficients() {
        for columns in [&[(2, 2)][..], &[(2, 2), (3, 2)], &[(2, 5), (3, 2)]] {
            assert_eq!(verdict(2, columns), Ok(()));
        }
    }
}
