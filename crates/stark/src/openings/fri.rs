//! FRI: a committed word is near to a polynomial of low degree (Ben-Sasson, Bentov, Horesh, Riabzev, 2018).
//!
//! A round halves a word one or more times. With `p(x) = e(x^2) + x o(x^2)`, the values of `e + beta o` follow from pairs of values,
//! `(p(x) + p(-x)) / 2 + beta (p(x) - p(-x)) / (2 x)`. The next halving takes `beta^2`.
//!
//! Words are in bit-reversed order, where the pairs of all halvings of a round are adjacent. Their domain is taken for a subgroup: the
//! shift of its coset is a part of the polynomial.

use crate::{
    StarkError, VerifyError,
    commitment::{Committed, check_rows},
    domain::{domain, generator, inverses, reverse},
    openings::fold,
    proof::{OpenedRows, OpeningProof, Round},
    security::Parameters,
    trace::blinding::{Blinding, SALT},
    transcript::{Challenger, Description, check_work, hash::StarkHash, observe, observe_cap, sample},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_memory::Pages;
use proofmill_ntt::goldilocks::Order;

pub(crate) fn description<const D: usize>(
    parameters: &Parameters,
    arities: &[u32],
    log_height: u32,
) -> Description {
    let mut steps = Description::new("p3-fri");
    for _ in arities {
        steps = steps
            .commitment("commit_phase_commitment")
            .work("commit_pow", parameters.grinding.commit)
            .challenge("fold_challenge", D);
    }
    steps = steps
        .elements("final_poly", D, 1 << parameters.log_final_length)
        .work("query_pow", parameters.grinding.query)
        .bits("query_indices", log_height, parameters.queries as usize)
        .number(parameters.log_blowup as usize)
        .number(parameters.log_arity as usize);
    arities.iter().fold(steps, |steps, arity| steps.number(*arity as usize))
}

/// Folds row `index` of a word, of `2^log_arity` values.
fn fold_row<const D: usize>(
    row: &[Extension<Goldilocks, D>],
    index: usize,
    mut beta: Extension<Goldilocks, D>,
) -> Extension<Goldilocks, D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    /// `1/2`.
    const HALF: Goldilocks = Goldilocks::new(0x7fff_ffff_8000_0001);
    let mut values = row.to_vec();
    while values.len() > 1 {
        let first = index * values.len();
        let pairs = values.as_chunks::<2>().0.iter().zip((first..).step_by(2));
        let fold = |([low, high], place): (&[Extension<Goldilocks, D>; 2], usize)| {
            let inverse = inverses().element(place);
            ((*low + *high) + (*low - *high).scale(inverse) * beta).scale(HALF)
        };
        values = pairs.map(fold).collect();
        beta = beta.square();
    }
    values[0]
}

/// The prover's state after the queries are known.
pub(crate) struct Prover<const D: usize> {
    /// The commitment of each round, the base-2 logarithm of its arity, and its proof of work.
    rounds: Vec<(Committed, u32, Goldilocks)>,
    pub(crate) final_polynomial: Vec<Extension<Goldilocks, D>>,
    pub(crate) query_work: Goldilocks,
    queries: Vec<usize>,
}

fn unflatten<const D: usize>(coefficients: &[Goldilocks]) -> Vec<Extension<Goldilocks, D>> {
    coefficients.as_chunks::<D>().0.iter().map(|element| Extension(*element)).collect()
}

/// The base-2 logarithm of the arity of each round, for words of these heights, the tallest first: a round ends where a word is added.
fn arities(parameters: &Parameters, log_heights: &[u32]) -> Vec<u32> {
    let last = parameters.log_blowup + parameters.log_final_length;
    let stops = log_heights.iter().skip(1).copied().chain([last]);
    let segments = log_heights.iter().zip(stops);
    segments.flat_map(|(from, to)| parameters.log_arities_between(*from, to)).collect()
}

/// Commits to the word of each round, sends the final polynomial, and draws queries. A shorter word is added where the first word is folded
/// to the same length, times the next power of the round's challenge.
pub(crate) fn prove<const D: usize>(
    level: Level,
    hash: &dyn StarkHash,
    parameters: &Parameters,
    words: Vec<Vec<Extension<Goldilocks, D>>>,
    blinding: &mut Option<Blinding>,
    challenger: &mut dyn Challenger,
) -> Prover<D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let log_heights: Vec<_> = words.iter().map(|word| word.len().ilog2()).collect();
    let log_height = log_heights[0];
    let arities = arities(parameters, &log_heights);
    description::<D>(parameters, &arities, log_height).observe(challenger);
    let mut words = words.into_iter().peekable();
    let mut word = words.next().unwrap_or_default();
    let mut rounds = Vec::new();
    // FRI commit phase: commit to the word, then draw the challenge that folds it.
    for log_arity in arities {
        let coefficients = Extension::coefficients(&word);
        let mut values = Pages::new(coefficients.len());
        values.copy_from_slice(coefficients);
        // All values that fold to one are one leaf: a query takes one path for each round.
        let committed = Committed::new(level, hash, parameters, [(values, D << log_arity)], blinding);
        observe_cap(challenger, committed.cap());
        let work = challenger.work(level, parameters.grinding.commit);
        let beta = sample(challenger);
        word = fold(level, inverses(), log_arity, beta, Goldilocks::as_words(coefficients));
        // The fold takes the lower powers of beta: the shorter word has the next one.
        if let Some(other) = words.next_if(|other| other.len() == word.len()) {
            let factor = beta.pow_vartime(&[1 << log_arity]);
            word.iter_mut().zip(other).for_each(|(sum, value)| *sum += value * factor);
        }
        rounds.push((committed, log_arity, work));
    }
    // A part of the word suffices for the coefficients of a polynomial of its degree. In bit-reversed order the first values are the values
    // on a smaller subgroup.
    word.truncate(1 << parameters.log_final_length);
    let log_len = word.len().ilog2();
    let mut values: Vec<_> = (0..word.len()).flat_map(|i| word[reverse(i, log_len)].0).collect();
    domain(log_len).intt(level, &mut values, Order::Natural);
    // The final polynomial is fixed before the queries, or it could be fitted to them.
    let final_polynomial = unflatten(&values);
    observe(challenger, &final_polynomial);
    // FRI query phase: grinding, then indices of values of the tallest word.
    let query_work = challenger.work(level, parameters.grinding.query);
    let queries = (0..parameters.queries).map(|_| challenger.sample_bits(log_height)).collect();
    Prover { rounds, final_polynomial, query_work, queries }
}

impl<const D: usize> Prover<D> {
    /// The rounds with the rows of all queries, and the queries.
    pub(crate) fn open(
        &self,
        level: Level,
        hash: &dyn StarkHash,
        parameters: &Parameters,
    ) -> Result<(Vec<Round<D>>, Vec<usize>), StarkError> {
        let mut indices = self.queries.clone();
        let mut rounds = Vec::new();
        for (committed, log_arity, work) in &self.rounds {
            let rows: Vec<_> = indices.iter().map(|index| index >> log_arity).collect();
            let OpenedRows { values, siblings } = committed.open(level, hash, parameters, &rows)?;
            let (arity, width) = (1 << log_arity, D << log_arity);
            let (mut others, mut salts) = (Vec::new(), Vec::new());
            for (row, index) in values.chunks_exact(values.len() / rows.len()).zip(&indices) {
                // The verifier computes the known value from the round before: it is left out.
                let (row, salt) = row.split_at(width);
                let (row, known) = (unflatten::<D>(row), index % arity);
                others.extend(row[..known].iter().chain(&row[known + 1..]));
                salts.extend(salt);
            }
            rounds.push(Round { commitment: committed.cap().to_vec(), work: *work, others, salts, siblings });
            indices = rows;
        }
        Ok((rounds, self.queries.clone()))
    }
}

/// The verifier's state after the queries are known.
pub(crate) struct Queries<const D: usize> {
    /// The indices of the queries in the tallest word.
    pub(crate) indices: Vec<usize>,
    /// The base-2 logarithm of the length of the tallest word.
    pub(crate) log_height: u32,
    /// The challenge of each round.
    betas: Vec<Extension<Goldilocks, D>>,
    /// The base-2 logarithm of the arity of each round.
    arities: Vec<u32>,
}

/// Observes all commitments, and draws challenges and queries. `log_heights` has the base-2 logarithms of the lengths of the words, the
/// tallest first. Checks every length.
pub(crate) fn verify_commitments<const D: usize>(
    parameters: &Parameters,
    log_heights: &[u32],
    proof: &OpeningProof<D>,
    challenger: &mut dyn Challenger,
) -> Result<Queries<D>, VerifyError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let log_height = log_heights.first().copied().unwrap_or(0);
    let arities = arities(parameters, log_heights);
    VerifyError::check_length("rounds of FRI", arities.len(), proof.rounds.len())?;
    VerifyError::check_length(
        "coefficients of the final polynomial",
        1 << parameters.log_final_length,
        proof.final_polynomial.len(),
    )?;
    let mut height = log_height;
    for (round, log_arity) in proof.rounds.iter().zip(&arities) {
        height -= log_arity;
        VerifyError::check_length(
            "digests of a commitment",
            1 << parameters.log_cap(height),
            round.commitment.len(),
        )?;
        VerifyError::check_length(
            "values of a round of FRI",
            parameters.queries as usize * ((1 << log_arity) - 1),
            round.others.len(),
        )?;
        let salts = if parameters.is_blinded() { parameters.queries as usize * SALT } else { 0 };
        VerifyError::check_length("values of salts in a round of FRI", salts, round.salts.len())?;
    }
    // FRI commit phase: a challenge follows its commitment.
    description::<D>(parameters, &arities, log_height).observe(challenger);
    let mut betas = Vec::with_capacity(arities.len());
    for round in &proof.rounds {
        observe_cap(challenger, &round.commitment);
        check_work(challenger, parameters.grinding.commit, round.work)?;
        betas.push(sample(challenger));
    }
    // FRI query phase: the indices follow the final polynomial.
    observe(challenger, &proof.final_polynomial);
    check_work(challenger, parameters.grinding.query, proof.query_work)?;
    let indices = (0..parameters.queries).map(|_| challenger.sample_bits(log_height)).collect();
    Ok(Queries { indices, log_height, betas, arities })
}

/// Checks that the values of the words at the queries fold to the final polynomial.
pub(crate) fn verify_queries<const D: usize>(
    level: Level,
    hash: &dyn StarkHash,
    parameters: &Parameters,
    log_heights: &[u32],
    queries: &Queries<D>,
    words: &[Vec<Extension<Goldilocks, D>>],
    proof: &OpeningProof<D>,
) -> Result<(), VerifyError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let (mut height, mut indices) = (queries.log_height, queries.indices.clone());
    let mut words = log_heights.iter().zip(words).peekable();
    let mut values = words.next().map(|(_, values)| values.clone()).unwrap_or_default();
    for ((round, log_arity), beta) in proof.rounds.iter().zip(&queries.arities).zip(&queries.betas) {
        let arity = 1 << log_arity;
        let mut rows = Vec::with_capacity(arity * indices.len());
        let others = round.others.chunks_exact(arity - 1);
        for ((value, index), others) in values.iter_mut().zip(&mut indices).zip(others) {
            // The lowest bits are the place in the row; the others are the index in the next word.
            let known = *index % arity;
            *index >>= log_arity;
            // The computed value takes its place in the row: the check of the path covers it, too.
            let first = rows.len();
            rows.extend_from_slice(&others[..known]);
            rows.push(*value);
            rows.extend_from_slice(&others[known..]);
            *value = fold_row(&rows[first..], *index, *beta);
        }
        height -= log_arity;
        // Check the completed rows against the commitment of the round.
        let (rows, width) = (Extension::coefficients(&rows), D << log_arity);
        let mut shapes = vec![(height, width)];
        let values_of_rows = if parameters.is_blinded() {
            shapes.push((height, SALT));
            let salted = rows.chunks_exact(width).zip(round.salts.chunks_exact(SALT));
            salted.flat_map(|(row, salt)| row.iter().chain(salt).copied()).collect()
        } else {
            rows.to_vec()
        };
        let opened = OpenedRows { values: values_of_rows, siblings: round.siblings.clone() };
        check_rows(level, hash, parameters, &round.commitment, &shapes, &indices, &opened)?;
        // The values of a shorter word join here, with the factor that the prover took.
        if let Some((_, others)) = words.next_if(|(log_height, _)| **log_height == height) {
            let factor = beta.pow_vartime(&[1 << log_arity]);
            values.iter_mut().zip(others).for_each(|(sum, value)| *sum += *value * factor);
        }
    }
    verify_final_polynomial(height, &indices, &values, &proof.final_polynomial)
}

/// Checks that the last values are the final polynomial's values on the subgroup that is left, of order `2^height`.
fn verify_final_polynomial<const D: usize>(
    height: u32,
    indices: &[usize],
    values: &[Extension<Goldilocks, D>],
    polynomial: &[Extension<Goldilocks, D>],
) -> Result<(), VerifyError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let root = generator(height);
    for (value, index) in values.iter().zip(indices) {
        let x = root.pow_vartime(&[reverse(*index, height) as u64]);
        let horner = |sum: Extension<Goldilocks, D>, coefficient: &_| sum.scale(x) + *coefficient;
        let expected = polynomial.iter().rev().fold(Extension([Goldilocks::ZERO; D]), horner);
        if *value != expected {
            return Err(VerifyError::Rejected("a query does not lead to the final polynomial"));
        }
    }
    Ok(())
}
