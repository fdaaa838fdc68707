//! Many signatures at once: with r_i random, `e(G, sum of r_i S_i) = product of e(r_i P_i, H(m_i))`.
//!
//! If an equation `e(G, S_i) = e(P_i, H(m_i))` is wrong, then for any values of the others at most one value of r_i makes the
//! product right (Bellare, Garay, Rabin, "Fast batch verification for modular exponentiation and digital signatures", EUROCRYPT
//! 1998; Camenisch, Hohenberger, Pedersen, eprint 2007/172). r_i is uniform in 1..2^64: a batch with a forged signature passes
//! with probability below 2^-63, even if signatures were chosen to cancel. Equal messages are hashed once, and their keys summed before
//! the pairing: `e(r_1 P_1, H) e(r_2 P_2, H) = e(r_1 P_1 + r_2 P_2, H)`, so that every further signature of a message costs two short
//! multiples instead of a pairing.

use crate::{BlsError, DST, Signature, ValidPublicKey};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve, Jacobian,
    bls12_381::{G1, G2},
    hash_to_curve::hash_to_g2,
    multiples_of_points, sum_of_multiples,
};
use proofmill_field::LANES;
use proofmill_pairing::{find_wrong, pairing_product_is_one};
use proofmill_run::parallel;
use rand::{CryptoRng, TryRngCore, rngs::OsRng};
use std::collections::HashMap;

/// A signature, or an aggregate of signatures, of one message by one or more keys.
#[derive(Clone, Copy, Debug)]
pub struct SignatureSet<'a> {
    /// The keys whose signatures were aggregated; at least one.
    pub keys: &'a [ValidPublicKey],
    /// The signed message.
    pub message: &'a [u8],
    /// The signature or aggregate.
    pub signature: Signature,
}

/// Checks that all signatures are valid. Runs on the ambient rayon pool.
///
/// # Errors
/// [`BlsError::EmptyBatch`]; [`BlsError::EmptyAggregate`] and [`BlsError::InfinityKey`] for any set; [`BlsError::Rejected`] if
/// any signature is wrong; [`BlsError::Randomness`].
pub fn verify_batch(level: Level, sets: &[SignatureSet<'_>]) -> Result<(), BlsError> {
    Blinding::from_system(sets.len()).and_then(|blinding| blinding.verify(level, sets))
}

/// [`verify_batch`] with the blinding from `rng`: for tests that need the same blinding twice. With a predictable generator,
/// forged signatures can pass.
///
/// # Errors
/// As [`verify_batch`].
pub fn verify_batch_with_rng(
    level: Level,
    sets: &[SignatureSet<'_>],
    rng: &mut impl CryptoRng,
) -> Result<(), BlsError> {
    Blinding::from_rng(sets.len(), rng).verify(level, sets)
}

/// The indices of the sets whose signatures are wrong or whose keys cannot be aggregated, in ascending order. Found by
/// bisection, so that few bad sets need few checks of parts of the batch. Runs on the ambient rayon pool.
///
/// # Errors
/// [`BlsError::Randomness`].
pub fn find_invalid(level: Level, sets: &[SignatureSet<'_>]) -> Result<Vec<usize>, BlsError> {
    Ok(Blinding::from_system(sets.len())?.find_invalid(level, sets))
}

/// [`find_invalid`] with the blinding from `rng`; see [`verify_batch_with_rng`].
pub fn find_invalid_with_rng(
    level: Level,
    sets: &[SignatureSet<'_>],
    rng: &mut impl CryptoRng,
) -> Vec<usize> {
    Blinding::from_rng(sets.len(), rng).find_invalid(level, sets)
}

/// A factor for each set, from 1 to 2^64 - 1.
struct Blinding(Vec<u64>);

impl Blinding {
    fn from_system(count: usize) -> Result<Self, BlsError> {
        let draw = || loop {
            match OsRng.try_next_u64() {
                // A factor of 0 would accept any signature.
                Ok(0) => {}
                drawn => return drawn.map_err(|error| BlsError::Randomness(error.to_string())),
            }
        };
        (0..count).map(|_| draw()).collect::<Result<_, _>>().map(Self)
    }

    fn from_rng(count: usize, rng: &mut impl CryptoRng) -> Self {
        let mut draw = || loop {
            let drawn = rng.next_u64();
            if drawn != 0 {
                return drawn;
            }
        };
        Self((0..count).map(|_| draw()).collect())
    }

    fn verify(&self, level: Level, sets: &[SignatureSet<'_>]) -> Result<(), BlsError> {
        if sets.is_empty() {
            return Err(BlsError::EmptyBatch);
        }
        let keys = aggregate_keys(level, sets).into_iter().collect::<Result<Vec<_>, _>>()?;
        if hold(level, &self.equations(level, sets.iter().zip(&keys))) {
            Ok(())
        } else {
            Err(BlsError::Rejected)
        }
    }

    fn find_invalid(&self, level: Level, sets: &[SignatureSet<'_>]) -> Vec<usize> {
        let (mut invalid, mut rest, mut usable) = (Vec::new(), Vec::new(), Vec::new());
        let keys = aggregate_keys(level, sets);
        for (i, (set, key)) in sets.iter().zip(&keys).enumerate() {
            match key {
                Ok(key) => {
                    rest.push(i);
                    usable.push((set, key));
                }
                Err(_) => invalid.push(i),
            }
        }
        let wrong = find_wrong(&self.equations(level, usable), |equations| hold(level, equations));
        invalid.extend(wrong.into_iter().filter_map(|i| rest.get(i)));
        invalid.sort_unstable();
        invalid
    }

    /// The equations of sets with their summed keys.
    fn equations<'a>(
        &self,
        level: Level,
        sets: impl IntoIterator<Item = (&'a SignatureSet<'a>, &'a ValidPublicKey)>,
    ) -> Vec<Equation> {
        let (mut numbers, mut messages) = (HashMap::new(), Vec::new());
        let mut equations = Vec::new();
        // Sets whose keys cannot be summed were left out, so there are enough factors.
        for ((set, key), factor) in sets.into_iter().zip(&self.0) {
            let message = *numbers.entry(set.message).or_insert(messages.len());
            if message == messages.len() {
                messages.push(set.message);
            }
            let (key, signature) = (*key.point(), *set.signature.point());
            equations.push(Equation { key, message, hash: Affine::INFINITY, signature, factor: *factor });
        }
        // All different messages together, which fills the lanes.
        let hashes = hash_to_g2(level, &messages, DST);
        for equation in &mut equations {
            equation.hash = hashes.get(equation.message).copied().unwrap_or(equation.hash);
        }
        equations
    }
}

/// The sum of the keys of each set.
fn aggregate_keys(level: Level, sets: &[SignatureSet<'_>]) -> Vec<Result<ValidPublicKey, BlsError>> {
    let share = sets.len().div_ceil(4 * parallel::threads()).max(1);
    let aggregate = |set: &SignatureSet<'_>| ValidPublicKey::aggregate(level, set.keys);
    let keys = parallel::map(sets.chunks(share), |sets| sets.iter().map(aggregate).collect::<Vec<_>>());
    keys.into_iter().flatten().collect()
}

/// The equation `e(G, S) = e(P, H)`, to be raised to a random power, so that the product of several holds only if all of them do.
struct Equation {
    key: Affine<G1>,
    /// The message's number, the same for equal messages.
    message: usize,
    hash: Affine<G2>,
    signature: Affine<G2>,
    factor: u64,
}

/// Whether the product of equations holds.
fn hold(level: Level, equations: &[Equation]) -> bool {
    let (signatures, factors): (Vec<_>, Vec<_>) =
        equations.iter().map(|equation| (equation.signature, equation.factor)).unzip();
    let sum = sum_of_multiples(level, &signatures, &factors);
    let mut pairs = pairs(level, equations);
    // The left side, moved into the product: all sets share this pairing.
    pairs.push((-G1::GENERATOR, sum.to_affine()));
    pairing_product_is_one(level, &pairs)
}

/// The different messages: the sum of their keys times factors, and the hash.
fn pairs(level: Level, equations: &[Equation]) -> Vec<(Affine<G1>, Affine<G2>)> {
    let mut order: Vec<&Equation> = equations.iter().collect();
    // Equal messages become adjacent, to share one pairing.
    order.sort_unstable_by_key(|equation| equation.message);
    let terms = |equations: &[&Equation]| -> (Vec<_>, Vec<_>) {
        equations.iter().map(|equation| (equation.key, equation.factor)).unzip()
    };
    // Many keys of one message share doublings. A few would leave lanes empty: multiples of all of them fill these.
    let groups = order.chunk_by(|a, b| a.message == b.message);
    let (many, few): (Vec<_>, Vec<_>) = groups.partition(|group| group.len() >= LANES);
    let (keys, factors) = terms(&few.concat());
    let multiples = multiples_of_points(level, &keys, &factors);
    let mut multiples = multiples.iter().map(|point| Jacobian::from(*point));
    let mut sums: Vec<Jacobian<G1>> =
        few.iter().map(|group| multiples.by_ref().take(group.len()).sum()).collect();
    for group in &many {
        let (keys, factors) = terms(group);
        sums.push(sum_of_multiples(level, &keys, &factors));
    }
    let hashes = few.iter().chain(&many).filter_map(|group| group.first()).map(|equation| equation.hash);
    Jacobian::batch_to_affine(&sums).into_iter().zip(hashes).collect()
}
