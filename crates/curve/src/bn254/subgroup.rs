//! Whether many points are in the subgroup of prime order.
//!
//! A random sum of points leaves the subgroup if one of them does, but for a chance that is at most the inverse of the smallest prime in the
//! twist's cofactor, 10069, so several sums are tested (as Bellare, Garay, Rabin, "Fast batch verification for modular exponentiation and
//! digital signatures", 1998). The windows of one multi-scalar multiplication are several such sums at the price of one: their digits do not depend on
//! each other. Digits of c bits hit the one residue modulo 10069 that hides a point with a chance of at most 2^-13, or 2^-c if that is
//! more: the windows of scalars of 160 bits miss a point with a chance of at most 2^-128.

use super::G2;
use crate::{Affine, Jacobian, msm::window_sums};
use proofmill_cpu::Level;
use proofmill_field::{bn254::Fr, dispatch};
use proofmill_run::parallel;
use rand::{TryRngCore, rngs::OsRng};

/// Below this many points, testing each is as fast.
const FEWEST: usize = 1 << 6;
/// Bytes of a random scalar.
const SCALAR: usize = 20;

/// The index of the first of these points of the curve that is outside the subgroup of order r; infinity is in it. Runs on the ambient rayon
/// pool.
///
/// Many points are tested together with randomness of the operating system, or each without it. One outside is missed with a chance of 2^-128.
pub fn first_outside(level: Level, points: &[Affine<G2>]) -> Option<usize> {
    if points.len() >= FEWEST && sums_are_inside(level, points) == Some(true) {
        return None;
    }
    const PIECE: usize = 1 << 4;
    let pieces = (0..).step_by(PIECE).zip(points.chunks(PIECE));
    let found = parallel::map(pieces, |(start, points)| {
        Some(start + points.iter().position(|point| !point.is_in_subgroup())?)
    });
    found.into_iter().flatten().next()
}

/// `None` if there is no randomness.
fn sums_are_inside(level: Level, points: &[Affine<G2>]) -> Option<bool> {
    let mut random = vec![0; points.len() * SCALAR];
    OsRng.try_fill_bytes(&mut random).ok()?;
    let scalar = |bytes: &[u8; SCALAR]| {
        let mut words = [0; 4];
        let mut padded = [0; 8 * 3];
        padded[..SCALAR].copy_from_slice(bytes);
        words
            .iter_mut()
            .zip(padded.as_chunks().0)
            .for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
        Fr::from_canonical(words)
    };
    let scalars: Vec<Fr> = random.as_chunks().0.iter().map(scalar).collect::<Option<_>>()?;
    let (_, sums) = dispatch!(level, engine => window_sums(engine, &points, &scalars, points.len()));
    let sums = parallel::map(sums, |sum: Jacobian<G2>| sum.to_affine().is_in_subgroup());
    Some(sums.into_iter().all(|inside| inside))
}
