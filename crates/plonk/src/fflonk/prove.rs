//! The prover.
//!
//! Memory, in vectors of n scalars: the combinations C0, C1, C2 and the quotients of the openings take 8 or 9 each.
//! The reference string (18) and a multi-scalar multiplication over 9n points come in addition.

use super::{
    FREE_ROWS, Proof, ProvingKey,
    challenges::FflonkChallenges,
    equation::Factors,
    verify::{VerifierEquation, verify},
};
use crate::{
    Column, Commit, PlonkError, ProveOptions,
    arithmetisation::{summand::PERMUTATION_POWERS, system::Argument},
    memory::{CowScalars, Scalars, Storage},
    polynomial::{add_multiple, divide_by_linear, multiply},
    prove::{Assignment, BlindingCoefficients, Committer, ProverState, os_rng},
    setup::FIXED_COLUMNS,
};
use proofmill_cpu::Level;
use proofmill_field::{Algebra, Field, Invert, bn254::Fr};
use proofmill_run::{Run, parallel};
use rand::RngCore;

/// Coefficients that blind the grand product: one for C2, and one for each of the two values that a proof reveals.
const GRAND_PRODUCT_BLINDING: usize = 3;

/// Proves knowledge of `witness`, the values of R1CS's wires (the first is the constant one), with blinding from the
/// operating system's randomness. Returns the proof and the public inputs.
///
/// The proof is verified before it is returned. Runs on the ambient rayon
/// pool.
///
/// # Errors
/// [`PlonkError::Unsatisfied`] with the first row that does not hold (if they are checked);
/// [`PlonkError::WitnessLength`]; [`PlonkError::File`] for a key that cannot be read; [`PlonkError::CopyConstraint`] and
/// [`PlonkError::NotProven`] for an inconsistent key; [`PlonkError::Randomness`]; [`PlonkError::Scratch`].
pub fn prove(
    run: Run<'_>,
    key: &ProvingKey,
    witness: &[Fr],
    options: ProveOptions,
) -> Result<(Proof, Vec<Fr>), PlonkError> {
    prove_with_rng(run, key, witness, options, &mut os_rng()?)
}

/// [`prove`] with commitments that `commit` makes, so that the key's powers of tau are not read.
///
/// # Errors
/// As [`prove`], and [`PlonkError::Commitment`]; [`PlonkError::NotProven`] also for a commitment that is wrong.
pub fn prove_with_commitments(
    run: Run<'_>,
    key: &ProvingKey,
    witness: &[Fr],
    options: ProveOptions,
    commit: Commit<'_>,
) -> Result<(Proof, Vec<Fr>), PlonkError> {
    prove_by(run, key, witness, options, Committer::Elsewhere(commit), &mut os_rng()?)
}

/// [`prove`] with blinding from `rng`, for tests that need the same proof twice. A predictable generator reveals the
/// witness.
///
/// # Errors
/// As [`prove`].
pub fn prove_with_rng(
    run: Run<'_>,
    key: &ProvingKey,
    witness: &[Fr],
    options: ProveOptions,
    rng: &mut impl RngCore,
) -> Result<(Proof, Vec<Fr>), PlonkError> {
    prove_by(run, key, witness, options, Committer::here(run, &key.circuit)?, rng)
}

fn prove_by(
    run: Run<'_>,
    key: &ProvingKey,
    witness: &[Fr],
    options: ProveOptions,
    committer: Committer<'_>,
    rng: &mut impl RngCore,
) -> Result<(Proof, Vec<Fr>), PlonkError> {
    let Run { level, progress, .. } = run;
    let mut random = |count: usize| (0..count).map(|_| Fr::random(rng)).collect::<Vec<_>>();
    let columns = [(Column::GrandProduct, random(GRAND_PRODUCT_BLINDING))].into();
    let blinding = BlindingCoefficients { columns, quotient: Vec::new() };
    let prover = ProverState::new(run, &key.circuit, blinding, committer)?;
    let mut rounds = Rounds { key, prover, challenges: FflonkChallenges::default() };
    let mut assignment = rounds.prover.round1_assign(witness, options)?;
    let public = assignment.public.clone();
    let n = rounds.prover.domain.len();
    // Wires are blinded by values on free rows, which have no gates and no copy constraints.
    // A multiple of X^n - 1, as in PLONK, would make them longer than n coefficients.
    for (_, values) in &mut assignment.values {
        values[n - FREE_ROWS..n].copy_from_slice(&random(FREE_ROWS));
    }
    let proof = rounds.prove(assignment)?;
    progress.begin("verify");
    match verify(level, key.verifying_key(), &public, &proof) {
        Ok(()) => Ok((proof, public)),
        Err(_) => Err(PlonkError::NotProven),
    }
}

/// Polynomials `f_j` in one: `sum of X^j f_j(X^m)` for m polynomials, so coefficient `m i + j` is coefficient i of f_j.
struct Combination {
    polynomials: Vec<Scalars>,
    coefficients: Scalars,
}

impl Combination {
    fn new(storage: &Storage, polynomials: Vec<Scalars>, length: usize) -> Result<Self, PlonkError> {
        let coefficients = combined(storage, &polynomials, length)?;
        Ok(Self { polynomials, coefficients })
    }
}

/// Divides each polynomial by `X - point` and returns the remainders, which are the values at the point.
fn divide<const N: usize>(level: Level, polynomials: &mut [Scalars], point: Fr) -> [Fr; N] {
    let mut values = [Fr::ZERO; N];
    for (polynomial, value) in polynomials.iter_mut().zip(&mut values) {
        *value = divide_by_linear(level, polynomial, point);
        polynomial.release(0..polynomial.len());
    }
    values
}

/// The coefficients of the [`Combination`] of polynomials.
fn combined(storage: &Storage, polynomials: &[Scalars], length: usize) -> Result<Scalars, PlonkError> {
    /// Coefficients of each polynomial per task.
    const ROWS: usize = 1 << 9;
    let count = polynomials.len();
    let mut combined = storage.scalars(length)?;
    parallel::for_each((0..).step_by(ROWS).zip(combined.chunks_mut(count * ROWS)), |(first, chunk)| {
        for (row, values) in (first..).zip(chunk.chunks_mut(count)) {
            for (value, polynomial) in values.iter_mut().zip(polynomials) {
                *value = polynomial.get(row).copied().unwrap_or_default();
            }
        }
    });
    polynomials.iter().chain([&combined]).for_each(|used| used.release(0..used.len()));
    Ok(combined)
}

/// The state shared by the rounds.
struct Rounds<'a> {
    key: &'a ProvingKey,
    prover: ProverState<'a>,
    challenges: FflonkChallenges,
}

impl Rounds<'_> {
    fn n(&self) -> usize {
        self.prover.domain.len()
    }

    /// The proof for values on the wires, valid or not.
    fn prove(&mut self, assignment: Assignment) -> Result<Proof, PlonkError> {
        let public = assignment.public.clone();
        // C1 needs no challenge: the wires, and a quotient of the gates alone.
        let c1 = self.round1_gates(&assignment)?;
        let first = self.prover.commit("msm wires", &CowScalars::from(&c1.coefficients))?;
        self.challenges.after_first_round(&self.key.verifying_key().c0, &public, &first);
        // C2 needs beta and gamma. T1 and T2 are not folded by alpha, so they are in C2 with z.
        let c2 = self.round2_permutation(assignment)?;
        let second = self.prover.commit("msm z", &CowScalars::from(&c2.coefficients))?;
        self.challenges.after_second_round(&second);

        let (mut evaluations, mut opening) = ([Fr::ZERO; 15], self.prover.storage().scalars(9 * self.n())?);
        // W1: the openings of C0, C1 and C2, folded by alpha, which depends on the values.
        let combinations = self.round3_open([c1, c2], &mut evaluations, &mut opening)?;
        let w1 = self.prover.commit("msm w", &CowScalars::from(&opening))?;
        self.challenges.after_opening(&w1);
        // What is divided by is zero with negligible probability.
        let equation = VerifierEquation::new(self.key.verifying_key(), &public, &self.challenges);
        let equation = equation.ok_or(PlonkError::NotProven)?;
        let factors = equation.factors(&self.challenges, &evaluations);
        // W2 shows that the equation of W1 holds at y.
        let last = self.round4_open(combinations, &opening, factors)?;
        drop(opening);
        let w2 = self.prover.commit("msm w", &CowScalars::from(&last))?;
        Ok(Proof { points: [first, second, w1, w2], evaluations, inverse: equation.inverse })
    }

    /// C1: the wires, and the quotient T0 of the gates.
    fn round1_gates(&mut self, assignment: &Assignment) -> Result<Combination, PlonkError> {
        for (column, values) in assignment.columns() {
            let coefficients = self.prover.interpolate_column(column, values)?;
            self.prover.polynomials.insert(column, coefficients);
        }
        self.prover.interpolate_public_inputs(&assignment.public)?;
        // The gates' degree is below 3n, so the quotient has at most 2n coefficients.
        let t0 = self.quotient(|argument| matches!(argument, Argument::Gate(_)), 2)?;
        // The verifier computes PI itself: it is not part of C1.
        self.prover.polynomials.remove(&Column::PublicInput);
        let storage = self.prover.storage();
        let mut polynomials = Vec::new();
        // Only the wires are left, in order.
        for wire in self.prover.polynomials.values() {
            polynomials.push(storage.copy(wire, wire.len())?);
        }
        polynomials.push(t0);
        Combination::new(storage, polynomials, 8 * self.n())
    }

    /// C2: the grand product z, and the quotients T1 of `z = 1` on the first row and T2 of its growth.
    fn round2_permutation(&mut self, assignment: Assignment) -> Result<Combination, PlonkError> {
        let FflonkChallenges { beta, gamma, .. } = self.challenges;
        (self.prover.challenges.beta, self.prover.challenges.gamma) = (beta, gamma);
        for (column, values) in self.prover.round3_running(assignment)? {
            let coefficients = self.prover.interpolate_column(column, values)?;
            self.prover.polynomials.insert(column, coefficients);
        }
        // The degree is at most 3 (n - 1) + n + 2, so the quotient has at most 3n coefficients.
        let t2 = self.quotient(|argument| matches!(argument, Argument::Permutation), 3)?;
        let mut polynomials = std::mem::take(&mut self.prover.polynomials);
        let z = polynomials.remove(&Column::GrandProduct).ok_or(PlonkError::NotProven)?;
        // `(z - 1) L_1 / Z_H`: a constraint of its own, not folded into T2.
        let t1 = self.first_row_quotient(&z)?;
        Combination::new(self.prover.storage(), vec![z, t1, t2], 9 * self.n())
    }

    /// The quotient of some of the system's constraints, each with the factor 1, which has at most `count * n`
    /// coefficients.
    fn quotient(
        &mut self,
        is_included: impl FnMut(&Argument) -> bool,
        count: usize,
    ) -> Result<Scalars, PlonkError> {
        let prover = &mut self.prover;
        let arguments: Vec<Argument> = prover.system.arguments().into_iter().filter(is_included).collect();
        let multipliers = self.key.circuit.verifying_key().multipliers;
        let mut parameters = prover.system.parameters(&prover.challenges, multipliers);
        // z = 1 on the first row has a quotient of its own.
        // Each quotient shows one constraint here, so none is folded by alpha.
        parameters.alpha = vec![Fr::ZERO; parameters.alpha.len()];
        parameters.alpha[PERMUTATION_POWERS[0]] = Fr::ONE;
        let parts = prover.quotient_parts(&arguments, &parameters, count, 0)?;
        let n = prover.domain.len();
        let mut quotient = prover.storage().scalars(count * n)?;
        for (place, part) in quotient.chunks_mut(n).zip(&parts) {
            place.copy_from_slice(part);
        }
        quotient.release(0..count * n);
        Ok(quotient)
    }

    /// `(z - 1) L_1 / (X^n - 1)`, which is `(z - 1) / (n (X - 1))`.
    fn first_row_quotient(&self, z: &Scalars) -> Result<Scalars, PlonkError> {
        let (level, storage) = (self.prover.level, self.prover.storage());
        let mut quotient = storage.copy(z, z.len())?;
        quotient[0] -= Fr::ONE;
        // z is 1 at 1, so there is no remainder.
        let _ = divide_by_linear(level, &mut quotient, Fr::ONE);
        // L_1 is (X^n - 1) / (n (X - 1)), so 1 / n is left.
        multiply(level, &mut quotient, Fr::from(self.n() as u64).invert_vartime().unwrap_or_default());
        Ok(quotient)
    }

    /// Writes the values of all polynomials, and the quotient of the openings of C0, C1 and C2, folded by alpha.
    /// Returns the coefficients of C1 and C2.
    fn round3_open(
        &mut self,
        [mut c1, mut c2]: [Combination; 2],
        evaluations: &mut [Fr; 15],
        opening: &mut Scalars,
    ) -> Result<[Scalars; 2], PlonkError> {
        self.prover.phase("open");
        let (level, storage) = (self.prover.level, self.prover.storage());
        let xi = self.challenges.xi();
        let after = xi * self.prover.domain.root();
        // `(C - r) / (X^m - xi)` is the combination of all `(f_j - f_j(xi)) / (X - xi)`, so
        // each f_j is divided on its own. For C2 also by `X - xi omega`.
        let mut fixed = self.fixed_polynomials()?;
        let [ql, qr, qo, qm, qc, s1, s2, s3] = divide(level, &mut fixed, xi);
        let [a, b, c, _] = divide(level, &mut c1.polynomials, xi);
        let [z, t1, t2] = divide(level, &mut c2.polynomials, xi);
        // f = f(xi) + (X - xi) q, so f(xi omega) is f(xi) + (xi omega - xi) q(xi omega).
        let [zw, t1w, t2w] = divide(level, &mut c2.polynomials, after);
        // C2 as a whole is opened at cube roots of xi omega: T1 and T2 have values there like z.
        let shifted = |here: Fr, slope: Fr| here + (after - xi) * slope;
        let [zw, t1w, t2w] = [shifted(z, zw), shifted(t1, t1w), shifted(t2, t2w)];
        // T0, and T1 and T2 at xi, are not sent: the verifier computes them from the constraints.
        *evaluations = [ql, qr, qm, qo, qc, s1, s2, s3, a, b, c, z, zw, t1w, t2w];
        self.challenges.after_evaluations(evaluations);

        let alpha = self.challenges.alpha;
        let factors = [Fr::ONE, alpha, alpha.square()];
        for (factor, polynomials) in factors.into_iter().zip([fixed, c1.polynomials, c2.polynomials]) {
            let quotient = combined(storage, &polynomials, opening.len())?;
            add_multiple(level, opening, factor, &quotient);
        }
        opening.release(0..opening.len());
        Ok([c1.coefficients, c2.coefficients])
    }

    /// The polynomials in C0.
    fn fixed_polynomials(&self) -> Result<Vec<Scalars>, PlonkError> {
        let (storage, c0) = (self.prover.storage(), self.key.c0()?);
        let mut polynomials = Vec::with_capacity(FIXED_COLUMNS);
        for place in 0..FIXED_COLUMNS {
            let mut polynomial = storage.scalars(self.n())?;
            c0.decode_strided(place, FIXED_COLUMNS, &mut polynomial)?;
            polynomials.push(polynomial);
        }
        Ok(polynomials)
    }

    /// The quotient of the verifier's equation, as polynomials, by `X - y`.
    fn round4_open(
        &mut self,
        [c1, c2]: [Scalars; 2],
        opening: &Scalars,
        factors: Factors<Fr>,
    ) -> Result<Scalars, PlonkError> {
        self.prover.phase("open");
        let level = self.prover.level;
        let mut sum = c2;
        // C2 is the longest.
        multiply(level, &mut sum, factors.c2);
        add_multiple(level, &mut sum, factors.c1, &c1);
        drop(c1);
        add_multiple(level, &mut sum, factors.w1, opening);
        add_multiple(level, &mut sum, Fr::ONE, &self.key.c0()?.decode(level)?);
        sum[0] += factors.generator;
        // The remainder is not zero if the witness is wrong and was not checked; verification then refuses the proof.
        let _ = divide_by_linear(level, &mut sum, self.challenges.y);
        sum.release(0..sum.len());
        Ok(sum)
    }
}
