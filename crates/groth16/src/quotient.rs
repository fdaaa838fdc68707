//! The scalars of the H points: `A B - C` on the odd coset of the domain.
//!
//! The key's H points are the Lagrange polynomials at tau of the coset `g H`, g a root of unity of order 2n, times `Z(tau)` and
//! divided by delta and by Z on the coset, the constant -2. So neither a division nor an inverse transform is needed.

use crate::{Groth16Curve, Groth16Error, Progress};
use proofmill_circom::{Groth16Zkey, ScalarPrime};
use proofmill_cpu::Level;
use proofmill_field::{Engine, Fp, LANES, Lanes, dispatch};
use proofmill_parallel as parallel;
use proofmill_poly::Domain;

/// Elements that one task multiplies.
const BLOCK: usize = 1 << 12;

/// The quotient of `witness` (one value for each wire) on the odd coset of the domain: one scalar for each of the key's H points. Runs
/// on the ambient rayon pool. Peak memory is four elements for each point of the domain.
///
/// # Errors
/// [`Groth16Error::WitnessLength`], and the errors of a damaged key.
pub fn quotient<C: Groth16Curve>(
    level: Level,
    key: &Groth16Zkey<C>,
    witness: &[C::Scalar],
    progress: Progress<'_>,
) -> Result<Vec<C::Scalar>, Groth16Error> {
    let wires = key.header().wires;
    if witness.len() != wires as usize {
        return Err(Groth16Error::WitnessLength { expected: wires, found: witness.len() });
    }
    progress.begin("evaluate constraints");
    let [mut a, mut b] = key.coefficients()?.multiply(level, witness)?;
    let mut c = a.clone();
    pointwise(level, &mut c, &b, Pointwise::Multiply);
    progress.begin("ntt");
    let log_n = a.len().ilog2();
    let malformed = Groth16Error::Malformed("the proving key's domain is larger than the field allows");
    let (Some(root), Some(shift)) = (C::root_of_unity(log_n), C::root_of_unity(log_n + 1)) else {
        return Err(malformed);
    };
    let domain = Domain::<C::ScalarPrime>::with_root(log_n, root).ok_or(malformed)?;
    for values in [&mut a, &mut b, &mut c] {
        domain.intt_scaled(level, values, shift);
        domain.ntt(level, values);
    }
    pointwise(level, &mut a, &b, Pointwise::Multiply);
    pointwise(level, &mut a, &c, Pointwise::Subtract);
    Ok(a)
}

#[derive(Clone, Copy, PartialEq)]
enum Pointwise {
    Multiply,
    Subtract,
}

/// Computes `left_i = left_i op right_i` in lanes.
fn pointwise<P: ScalarPrime>(level: Level, left: &mut [Fp<P>], right: &[Fp<P>], operation: Pointwise) {
    parallel::for_each(left.chunks_mut(BLOCK).zip(right.chunks(BLOCK)), |(left, right)| {
        dispatch!(level, engine => pointwise_block(engine, left, right, operation));
    });
}

fn pointwise_block<E: Engine, P: ScalarPrime>(
    engine: E,
    left: &mut [Fp<P>],
    right: &[Fp<P>],
    operation: Pointwise,
) {
    engine.run(
        #[inline(always)]
        || {
            let (left, left_rest) = left.as_chunks_mut::<LANES>();
            let (right, right_rest) = right.as_chunks::<LANES>();
            for (left, right) in left.iter_mut().zip(right) {
                let x = E::Packed::<P>::load(engine, left);
                let y = E::Packed::<P>::load(engine, right);
                if operation == Pointwise::Multiply { x * y } else { x - y }.store(left);
            }
            for (left, right) in left_rest.iter_mut().zip(right_rest) {
                *left = if operation == Pointwise::Multiply { *left * *right } else { *left - *right };
            }
        },
    );
}
