//! The prover: five rounds, one file each where there is something to compute.
//!
//! Memory, in vectors of n scalars (n is the domain's size; a polynomial of the extended domain is 4 of them):
//! the highest point is in round 3, with the coefficients of a, b, c, z and the public inputs (5), the values of all
//! five on three cosets (15) and the reference string (2, for points of 64 bytes): 22 vectors, 5.5 polynomials of
//! the extended domain, beside the mapped key, whose pages are given back as they are read.

mod grand_product;
mod openings;
mod quotient;
mod wires;

use crate::{
    Evaluations, PlonkError, Proof, ProvingKey, WIRES,
    challenges::{self, Challenges},
    key::LOG_N,
    polynomial::blind,
    verify,
};
use proofmill_curve::{Affine, bn254::G1, msm};
use proofmill_field::bn254::{Fr, FrParams};
use proofmill_poly::Domain;
use proofmill_simd::Level;
use rand::{
    RngCore, SeedableRng, TryRngCore,
    rngs::{OsRng, StdRng},
};

/// What [`prove`] may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProveOptions {
    /// Whether to check every gate before anything is computed, so that an unsatisfied one can be named.
    pub check_witness: bool,
}

impl Default for ProveOptions {
    fn default() -> Self {
        Self { check_witness: true }
    }
}

/// Proves knowledge of `witness`, the values of R1CS's wires (the first is the constant one), with blinding
/// from the operating system's randomness. Gives the proof and the public inputs.
///
/// `observer` is called with the name of each phase as it begins. The proof has been verified when it is
/// returned. Runs on the ambient rayon pool.
///
/// # Errors
/// [`PlonkError::Unsatisfied`] with the first gate that does not hold (if it is checked),
/// [`PlonkError::WitnessLength`], [`PlonkError::File`] for a key that cannot be read,
/// [`PlonkError::Domain`], [`PlonkError::CopyConstraint`] and [`PlonkError::NotProven`] for one that
/// contradicts itself, [`PlonkError::Randomness`].
pub fn prove(
    level: Level,
    key: &ProvingKey,
    witness: &[Fr],
    options: ProveOptions,
    observer: &mut dyn FnMut(&'static str),
) -> Result<(Proof, Vec<Fr>), PlonkError> {
    let mut seed = [0; 32];
    OsRng.try_fill_bytes(&mut seed).map_err(|error| PlonkError::Randomness(error.to_string()))?;
    prove_with_rng(level, key, witness, options, &mut StdRng::from_seed(seed), observer)
}

/// [`prove`] with blinding from `rng`: for tests that compare proofs. The proof hides the witness only from
/// those who cannot predict `rng`.
///
/// # Errors
/// As [`prove`].
pub fn prove_with_rng(
    level: Level,
    key: &ProvingKey,
    witness: &[Fr],
    options: ProveOptions,
    rng: &mut impl RngCore,
    observer: &mut dyn FnMut(&'static str),
) -> Result<(Proof, Vec<Fr>), PlonkError> {
    let blinding = Blinding::random(rng);
    let mut prover = Prover::new(level, key, observer)?;
    let assignment = prover.round1_assign(witness, options)?;
    let wires = prover.round1_wires(&assignment, &blinding);
    let wire_commitments = wires.each_ref().map(|wire| prover.commit("msm a, b, c", wire));

    let public = assignment.public;
    let (beta, gamma) = challenges::permutation(key.verifying_key(), &public, &wire_commitments);
    let mut grand_product = prover.round2_grand_product(assignment.wires, beta, gamma)?;
    blind(&mut grand_product, &blinding.grand_product);
    let grand_product_commitment = prover.commit("msm z", &grand_product);

    let alpha = challenges::quotient(beta, gamma, &grand_product_commitment);
    let mut challenges = Challenges { beta, gamma, alpha, xi: alpha, v: alpha, u: alpha };
    let polynomials = Polynomials { wires, grand_product };
    let quotient = prover.round3_quotient(&polynomials, &public, &challenges, &blinding.quotient)?;
    let quotient_commitments = quotient.each_ref().map(|part| prover.commit("msm t", part));

    challenges.xi = challenges::evaluation(alpha, &quotient_commitments);
    let opened = prover.round4_evaluate(&polynomials, challenges.xi)?;
    challenges.v = challenges::opening(challenges.xi, &opened.evaluations);
    let [opening, shifted_opening] =
        prover.round5_open(polynomials, quotient, &opened, &public, &challenges)?;
    let proof = Proof {
        wires: wire_commitments,
        grand_product: grand_product_commitment,
        quotient: quotient_commitments,
        evaluations: opened.evaluations,
        opening: prover.commit("msm w", &opening),
        shifted_opening: prover.commit("msm w", &shifted_opening),
    };
    prover.phase("verify");
    match verify(level, key.verifying_key(), &public, &proof) {
        Ok(true) => Ok((proof, public)),
        _ => Err(PlonkError::NotProven),
    }
}

/// What does not change from round to round.
struct Prover<'a> {
    level: Level,
    key: &'a ProvingKey,
    domain: Domain<FrParams>,
    /// Powers of tau in G1.
    reference: Vec<Affine<G1>>,
    observer: &'a mut dyn FnMut(&'static str),
}

/// Coefficients of the committed polynomials, blinded: n + 2 for a wire, n + 3 for z.
struct Polynomials {
    wires: [Vec<Fr>; WIRES],
    grand_product: Vec<Fr>,
}

/// The evaluations and the polynomials of the key that were read for them.
struct Opened {
    evaluations: Evaluations,
    sigmas: [Vec<Fr>; WIRES - 1],
}

/// Random coefficients: the paper's b_1 to b_11, lowest coefficient first.
struct Blinding {
    wires: [[Fr; 2]; WIRES],
    grand_product: [Fr; 3],
    quotient: [Fr; 2],
}

impl Blinding {
    fn random(rng: &mut impl RngCore) -> Self {
        let mut random = || Fr::random(rng);
        Self {
            wires: std::array::from_fn(|_| std::array::from_fn(|_| random())),
            grand_product: std::array::from_fn(|_| random()),
            quotient: std::array::from_fn(|_| random()),
        }
    }
}

impl<'a> Prover<'a> {
    fn new(
        level: Level,
        key: &'a ProvingKey,
        observer: &'a mut dyn FnMut(&'static str),
    ) -> Result<Self, PlonkError> {
        observer("read zkey");
        let log_n = key.verifying_key().log_n;
        let domain = LOG_N.contains(&log_n).then(|| Domain::new(log_n)).flatten();
        let domain = domain.ok_or(PlonkError::Domain { log_n })?;
        let reference = key.reference(level)?;
        Ok(Self { level, key, domain, reference, observer })
    }

    fn phase(&mut self, name: &'static str) {
        (self.observer)(name);
    }

    /// The commitment to a polynomial of at most n + 6 coefficients.
    fn commit(&mut self, phase: &'static str, coefficients: &[Fr]) -> Affine<G1> {
        self.phase(phase);
        msm::<G1>(self.level, &self.reference[..coefficients.len()], coefficients).to_affine()
    }
}
