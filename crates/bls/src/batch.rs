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
use proofmill_pairing::pairing_product_is_one;
use proofmill_parallel as parallel;
use rand::{CryptoRng, TryRngCore, rngs::OsRng};
use std::{collections::HashMap, ops::Range};

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
        let signatures = sets.iter().map(|set| set.signature).collect();
        let messages: Vec<_> = sets.iter().map(|set| set.message).collect();
        let equations = self.blind(level, &keys, &messages, signatures);
        if equations.hold(level, 0..sets.len()) { Ok(()) } else { Err(BlsError::Rejected) }
    }

    fn find_invalid(&self, level: Level, sets: &[SignatureSet<'_>]) -> Vec<usize> {
        let keys = aggregate_keys(level, sets);
        let (mut invalid, mut rest) = (Vec::new(), Vec::new());
        let (mut usable, mut messages, mut signatures) = (Vec::new(), Vec::new(), Vec::new());
        for (i, (set, key)) in sets.iter().zip(keys).enumerate() {
            match key {
                Ok(key) => {
                    rest.push(i);
                    usable.push(key);
                    messages.push(set.message);
                    signatures.push(set.signature);
                }
                Err(_) => invalid.push(i),
            }
        }
        let equations = self.blind(level, &usable, &messages, signatures);
        let mut wrong = Vec::new();
        equations.bisect(level, 0..rest.len(), &mut wrong);
        invalid.extend(wrong.into_iter().filter_map(|i| rest.get(i)));
        invalid.sort_unstable();
        invalid
    }

    fn blind(
        &self,
        level: Level,
        keys: &[ValidPublicKey],
        messages: &[&[u8]],
        signatures: Vec<Signature>,
    ) -> Equations {
        let (mut known, mut different) = (HashMap::new(), Vec::new());
        let mut indices = Vec::new();
        for message in messages {
            indices.push(*known.entry(*message).or_insert(different.len()));
            if indices.last() == Some(&different.len()) {
                different.push(*message);
            }
        }
        Equations {
            keys: keys.iter().map(|key| *key.point()).collect(),
            messages: indices,
            hashes: hash_to_g2(level, &different, DST),
            signatures: signatures.iter().map(|signature| *signature.point()).collect(),
            // Sets whose keys cannot be aggregated were left out, so there are enough factors.
            factors: self.0.iter().copied().take(keys.len()).collect(),
        }
    }
}

/// The sum of the keys of each set.
fn aggregate_keys(level: Level, sets: &[SignatureSet<'_>]) -> Vec<Result<ValidPublicKey, BlsError>> {
    let share = sets.len().div_ceil(4 * parallel::threads()).max(1);
    let aggregate = |set: &SignatureSet<'_>| ValidPublicKey::aggregate(level, set.keys);
    let keys = parallel::map(sets.chunks(share), |sets| sets.iter().map(aggregate).collect::<Vec<_>>());
    keys.into_iter().flatten().collect()
}

/// Equations `e(G, S_i) = e(P_i, H_i)`, raised to random powers r_i, so that their product holds only if all of them do.
struct Equations {
    keys: Vec<Affine<G1>>,
    /// For each key, the index of its message's hash.
    messages: Vec<usize>,
    /// The hashes of the different messages.
    hashes: Vec<Affine<G2>>,
    signatures: Vec<Affine<G2>>,
    /// The r_i.
    factors: Vec<u64>,
}

impl Equations {
    /// Whether the product of the equations in a range holds.
    fn hold(&self, level: Level, range: Range<usize>) -> bool {
        let sum = sum_of_multiples(level, &self.signatures[range.clone()], &self.factors[range.clone()]);
        let mut pairs = self.pairs(level, range);
        pairs.push((-G1::GENERATOR, sum.to_affine()));
        pairing_product_is_one(level, &pairs)
    }

    /// The different messages of a range: the sum of their keys times factors, and the hash.
    fn pairs(&self, level: Level, range: Range<usize>) -> Vec<(Affine<G1>, Affine<G2>)> {
        let mut order: Vec<usize> = range.collect();
        order.sort_unstable_by_key(|i| self.messages[*i]);
        let terms = |sets: &[usize]| -> (Vec<_>, Vec<_>) {
            sets.iter().map(|i| (self.keys[*i], self.factors[*i])).unzip()
        };
        let groups = || order.chunk_by(|i, j| self.messages[*i] == self.messages[*j]);
        // Many keys of one message share doublings. A few would leave lanes empty: multiples of all of them fill these.
        let (many, few): (Vec<_>, Vec<_>) = groups().partition(|group| group.len() >= LANES);
        let (points, factors) = terms(&few.concat());
        let multiples = multiples_of_points(level, &points, &factors);
        let mut multiples = multiples.iter();
        let mut sums: Vec<Jacobian<G1>> = Vec::new();
        for group in &few {
            sums.push(multiples.by_ref().take(group.len()).map(|point| Jacobian::from(*point)).sum());
        }
        for group in &many {
            let (points, factors) = terms(group);
            sums.push(sum_of_multiples(level, &points, &factors));
        }
        let hashes = few.iter().chain(&many).map(|group| self.hashes[self.messages[group[0]]]);
        Jacobian::batch_to_affine(&sums).into_iter().zip(hashes).collect()
    }

    /// Collects the indices of the wrong equations in a range.
    fn bisect(&self, level: Level, range: Range<usize>, wrong: &mut Vec<usize>) {
        if !range.is_empty() && !self.hold(level, range.clone()) {
            self.bisect_wrong(level, range, wrong);
        }
    }

    /// [`bisect`](Self::bisect) for a range that is known to have a wrong equation.
    fn bisect_wrong(&self, level: Level, range: Range<usize>, wrong: &mut Vec<usize>) {
        if range.len() == 1 {
            wrong.push(range.start);
            return;
        }
        let middle = range.start + range.len() / 2;
        let before = wrong.len();
        self.bisect(level, range.start..middle, wrong);
        if wrong.len() == before {
            // The left half holds, so the right half has a wrong equation.
            self.bisect_wrong(level, middle..range.end, wrong);
        } else {
            self.bisect(level, middle..range.end, wrong);
        }
    }
}
