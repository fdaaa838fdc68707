//! The scalars of the H points: `A B - C` on the odd coset of the domain.
//!
//! The key's H points are the Lagrange polynomials at tau of the coset `g H`, where g is a root of unity of order 2n. They are
//! multiplied by `Z(tau)`, and divided by delta and by the constant value -2 of Z on the coset. So neither a division nor an
//! inverse transform is needed here.

use crate::{Groth16Curve, Groth16Error};
use proofmill_circom::{Groth16Zkey, ScalarPrime};
use proofmill_cpu::Level;
use proofmill_field::{Engine, Fp, LANES, Lanes, dispatch};
use proofmill_ntt::{DividedTransform, Domain};
use proofmill_run::{Run, parallel};
use std::ops::Range;

/// Elements that one task multiplies.
const BLOCK: usize = 1 << 12;

/// The values of A and B times `witness` (one value for each wire) on the domain, for all constraints. Runs on the ambient rayon pool.
///
/// # Errors
/// [`Groth16Error::WitnessLength`], and the errors of a damaged key.
pub fn constraints<C: Groth16Curve>(
    run: Run<'_>,
    key: &Groth16Zkey<C>,
    witness: &[C::Scalar],
) -> Result<[Vec<C::Scalar>; 2], Groth16Error> {
    let Run { level, progress, .. } = run;
    let wires = key.header().wires;
    if witness.len() != wires as usize {
        return Err(Groth16Error::WitnessLength { expected: wires, found: witness.len() });
    }
    progress.begin("evaluate constraints");
    Ok(key.coefficients()?.multiply(level, witness)?)
}

/// The quotient of `witness` (one value for each wire) on the odd coset of the domain: one scalar for each of the key's H points. Runs
/// on the ambient rayon pool. Peak memory is four elements for each point of the domain.
///
/// # Errors
/// As [`constraints`].
pub fn quotient<C: Groth16Curve>(
    run: Run<'_>,
    key: &Groth16Zkey<C>,
    witness: &[C::Scalar],
) -> Result<Vec<C::Scalar>, Groth16Error> {
    let Run { level, progress, .. } = run;
    let [mut a, mut b] = constraints(run, key, witness)?;
    progress.begin("ntt");
    let (domain, shift) = domain::<C>(a.len().ilog2())
        .ok_or(Groth16Error::Malformed("the proving key's domain is larger than the field allows"))?;
    // The key has no matrix C: on the domain, A B has the values of C if the constraints hold.
    let mut c = product(level, a.clone(), &b);
    for values in [&mut a, &mut b, &mut c] {
        // Coefficient i times shift^i: the transform of these has the values on the coset.
        domain.intt_scaled(level, values, shift);
        domain.ntt(level, values);
    }
    // Here A B and C differ: C has degree below n, and agrees with A B only on the domain.
    Ok(difference(level, product(level, a, &b), &c))
}

/// The domain of 2^log_n points, and the shift of its odd coset. `None` for one that is larger than the field allows.
fn domain<C: Groth16Curve>(log_n: u32) -> Option<(Domain<C::ScalarPrime>, C::Scalar)> {
    let (root, shift) = (C::root_of_unity(log_n)?, C::root_of_unity(log_n + 1)?);
    Some((Domain::with_root(log_n, root)?, shift))
}

/// The [`quotient`], divided among machines. Each executes three steps, and between steps all send values to all.
///
/// The domain is a matrix of [`rows`](Self::rows) times [`columns`](Self::columns) points, row by row. A machine has a range of its columns and
/// one of its rows, whose bounds are multiples of [`LANES`]. It begins with its columns of [`constraints`]. Each step yields matrices; each
/// machine receives its range of their rows, and puts these pieces side by side for its next step. After the last step, its range of rows is a
/// range of the quotient.
pub struct DividedQuotient<C: Groth16Curve> {
    domain: Domain<C::ScalarPrime>,
    shift: C::Scalar,
}

impl<C: Groth16Curve> DividedQuotient<C> {
    /// The divided quotient for a domain of this many points. `None` if it is no power of two, less than [`LANES`] squared, or larger than the
    /// field allows.
    pub fn new(points: usize) -> Option<Self> {
        let divides = points.is_power_of_two() && points >= LANES * LANES;
        let (domain, shift) = domain::<C>(divides.then(|| points.ilog2())?)?;
        Some(Self { domain, shift })
    }

    /// The number of rows of constraints and quotient.
    pub fn rows(&self) -> usize {
        self.interpolation().rows()
    }

    /// The number of columns of constraints and quotient.
    pub fn columns(&self) -> usize {
        self.interpolation().columns()
    }

    /// Step 1: from some columns of the constraints to three matrices of `rows` times these columns.
    ///
    /// # Panics
    /// For ranges and lengths that are not as this type says (all steps).
    pub fn interpolate(
        &self,
        level: Level,
        columns: Range<usize>,
        [a, b]: [&[C::Scalar]; 2],
    ) -> [Vec<C::Scalar>; 3] {
        let c = product(level, a.to_vec(), b);
        [a, b, &c].map(|values| self.interpolation().first(level, columns.clone(), values))
    }

    /// Step 2: from some rows of step 1's matrices to three matrices of `columns` times these rows, now columns.
    ///
    /// # Panics
    /// As step 1.
    pub fn extend(&self, level: Level, rows: Range<usize>, values: [&[C::Scalar]; 3]) -> [Vec<C::Scalar>; 3] {
        values.map(|values| {
            let coefficients = self.interpolation().second(level, rows.clone(), values);
            self.evaluation().first(level, rows.clone(), &coefficients)
        })
    }

    /// Step 3: from some rows of step 2's matrices to these columns of the quotient, whose matrix has `rows` rows.
    ///
    /// # Panics
    /// As step 1.
    pub fn finish(&self, level: Level, columns: Range<usize>, values: [&[C::Scalar]; 3]) -> Vec<C::Scalar> {
        let [a, b, c] = values.map(|values| self.evaluation().second(level, columns.clone(), values));
        difference(level, product(level, a, &b), &c)
    }

    fn interpolation(&self) -> DividedTransform<'_, C::ScalarPrime> {
        self.domain.divided_intt(self.shift)
    }

    fn evaluation(&self) -> DividedTransform<'_, C::ScalarPrime> {
        self.domain.divided_ntt()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Pointwise {
    Multiply,
    Subtract,
}

fn product<P: ScalarPrime>(level: Level, mut left: Vec<Fp<P>>, right: &[Fp<P>]) -> Vec<Fp<P>> {
    pointwise(level, &mut left, right, Pointwise::Multiply);
    left
}

fn difference<P: ScalarPrime>(level: Level, mut left: Vec<Fp<P>>, right: &[Fp<P>]) -> Vec<Fp<P>> {
    pointwise(level, &mut left, right, Pointwise::Subtract);
    left
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
