//! Inputs, which depend only on a kernel's name and size.

use proofmill_curve::{Affine, Curve, Jacobian};
use proofmill_field::{Fp, Prime, goldilocks::Goldilocks};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;
use std::iter::successors;

/// The generator of inputs.
pub(crate) type Rng = ChaCha20Rng;

/// The generator for a kernel's input: ChaCha20 with SHA-256 of name and size as its key.
pub(crate) fn rng(name: &str, size: u64) -> Rng {
    Rng::from_seed(proofmill_sha256::digest(format!("{name} {size}").as_bytes()))
}

/// Uniform elements.
pub(crate) fn elements<P: Prime>(rng: &mut Rng, count: usize) -> Vec<Fp<P>> {
    (0..count).map(|_| Fp::random(rng)).collect()
}

/// Uniform elements of Goldilocks.
pub(crate) fn goldilocks(rng: &mut Rng, count: usize) -> Vec<Goldilocks> {
    (0..count).map(|_| Goldilocks::random(rng)).collect()
}

/// Random byte arrays.
pub(crate) fn arrays<const N: usize>(rng: &mut Rng, count: usize) -> Vec<[u8; N]> {
    let mut arrays = vec![[0; N]; count];
    rng.fill_bytes(arrays.as_flattened_mut());
    arrays
}

/// Random bytes.
pub(crate) fn bytes(rng: &mut Rng, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    rng.fill_bytes(&mut bytes);
    bytes
}

/// Points per parallel task.
const PIECE: usize = 1 << 10;

/// Distinct points of the subgroup at the cost of one addition each: `(a + i b) G` for random a and b. Their
/// discrete logarithms make no difference to a sum with random scalars.
pub(crate) fn points<C: Curve<Scalar = Fp<P>>, P: Prime>(rng: &mut Rng, count: usize) -> Vec<Affine<C>> {
    let [first, step] = [Fp::random(rng), Fp::random(rng)];
    let difference = C::GENERATOR.mul_vartime(&step).to_affine();
    let mut points = vec![Affine::INFINITY; count];
    points.par_chunks_mut(PIECE).enumerate().for_each(|(piece, points)| {
        let start = first + step * Fp::from((piece * PIECE) as u64);
        let first = C::GENERATOR.mul_vartime(&start);
        let multiples: Vec<Jacobian<C>> =
            successors(Some(first), |point| Some(point.add_affine(&difference))).take(points.len()).collect();
        points.copy_from_slice(&Jacobian::batch_to_affine(&multiples));
    });
    points
}

/// The base-2 logarithm of a size, which must be a power of two from `2^least` to `2^most`.
pub(crate) fn logarithm(size: usize, least: u32, most: u32) -> Result<u32, String> {
    let log = size.checked_ilog2().filter(|log| size.is_power_of_two() && (least..=most).contains(log));
    log.ok_or_else(|| format!("expected a power of two from 2^{least} to 2^{most}"))
}
