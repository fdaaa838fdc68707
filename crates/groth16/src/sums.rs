//! The sums of points that a proof consists of, whole or by parts.
//!
//! With the witness w and the quotient q, before blinding: `A = sum w_i a_i`, `B = sum w_i b_i` (in G1 and in G2), and
//! `C = sum w_i c_i + sum q_j h_j`. All are linear, so ranges of the wires and of the quotient can be summed in any order, by several
//! machines, and added: [`Sums`] is a group.

use crate::{Groth16Curve, Groth16Error};
use proofmill_circom::{CircomError, Coordinate, Groth16Zkey, Points};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Bases, Curve, EncodingError, Jacobian, Msm,
    bn254::{G1, G2},
};
use proofmill_run::Run;
use std::{
    iter::Sum,
    ops::Add,
    sync::{Mutex, PoisonError},
};

/// Sums over some wires and some points of the quotient. They are not
/// blinded: with them anyone can test guesses of the witness.
#[derive(Clone, Copy, Debug)]
pub struct Sums<C: Groth16Curve = G1> {
    pub(crate) a: Jacobian<C>,
    pub(crate) b1: Jacobian<C>,
    pub(crate) b2: Jacobian<C::G2>,
    /// The sums of the C points and of the H points.
    pub(crate) c: Jacobian<C>,
}

impl<C: Groth16Curve> Sums<C> {
    /// The sums of nothing.
    pub const ZERO: Self =
        Self { a: Jacobian::INFINITY, b1: Jacobian::INFINITY, b2: Jacobian::INFINITY, c: Jacobian::INFINITY };

    /// The sums of the wires from `first` on, whose values are `witness`. Runs on the ambient
    /// rayon pool.
    ///
    /// # Errors
    /// [`Groth16Error::Range`] for more wires than the key has, and the errors of a damaged key.
    pub fn of_wires(
        run: Run<'_>,
        key: &Groth16Zkey<C>,
        first: usize,
        witness: &[C::Scalar],
    ) -> Result<Self, Groth16Error> {
        let Run { level, progress, .. } = run;
        // There are no C points for the constant and the public signals.
        let public = key.header().public as usize + 1;
        let private = witness.get(public.saturating_sub(first)..).unwrap_or_default();
        progress.begin("msm a");
        let a = sum(level, key.a(), first, witness)?;
        progress.begin("msm b1");
        let b1 = sum(level, key.b1(), first, witness)?;
        progress.begin("msm b2");
        let b2 = sum(level, key.b2(), first, witness)?;
        progress.begin("msm c");
        let c = sum(level, key.c(), first.saturating_sub(public), private)?;
        Ok(Self { a, b1, b2, c })
    }

    /// The sum of the quotient's values from index `first` on ([`quotient`](crate::quotient)).
    ///
    /// # Errors
    /// As [`Self::of_wires`].
    pub fn of_quotient(
        run: Run<'_>,
        key: &Groth16Zkey<C>,
        first: usize,
        quotient: &[C::Scalar],
    ) -> Result<Self, Groth16Error> {
        let Run { level, progress, .. } = run;
        progress.begin("msm h");
        Ok(Self { c: sum(level, key.h(), first, quotient)?, ..Self::ZERO })
    }
}

impl Sums {
    /// Bytes of an encoding.
    pub const BYTES: usize = 3 * G1_BYTES + G2_BYTES;

    /// The points A, B1, B2 and C in the encodings of EIP-196 and EIP-197: 64, 64, 128 and 64 bytes.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let [a, b1, c] = [self.a, self.b1, self.c].map(|point| point.to_affine().to_evm());
        let mut bytes = [0; Self::BYTES];
        let parts: [&[u8]; 4] = [&a, &b1, &self.b2.to_affine().to_evm(), &c];
        for (byte, value) in bytes.iter_mut().zip(parts.into_iter().flatten()) {
            *byte = *value;
        }
        bytes
    }

    /// Decodes [`Self::to_bytes`].
    ///
    /// # Errors
    /// [`EncodingError`] for points that are not in their groups.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, EncodingError> {
        let mut left = bytes.as_slice();
        let [a, b1] = [take::<G1_BYTES>(&mut left), take(&mut left)];
        let (b2, c) = (take::<G2_BYTES>(&mut left), take(&mut left));
        Ok(Self {
            a: Affine::<G1>::from_evm(&a)?.into(),
            b1: Affine::<G1>::from_evm(&b1)?.into(),
            b2: Affine::<G2>::from_evm(&b2)?.into(),
            c: Affine::<G1>::from_evm(&c)?.into(),
        })
    }
}

const G1_BYTES: usize = 64;
const G2_BYTES: usize = 128;

/// The next bytes; zeros if there are fewer.
fn take<const BYTES: usize>(left: &mut &[u8]) -> [u8; BYTES] {
    left.split_off(..BYTES).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; BYTES])
}

impl<C: Groth16Curve> Add for Sums<C> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            a: self.a.add(&other.a),
            b1: self.b1.add(&other.b1),
            b2: self.b2.add(&other.b2),
            c: self.c.add(&other.c),
        }
    }
}

impl<C: Groth16Curve> Sum for Sums<C> {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::ZERO, Self::add)
    }
}

/// The sum of `scalars[i] * points[first + i]`. The points are decoded block by block during the sum.
fn sum<C: Msm<Base: Coordinate>>(
    level: Level,
    points: Points<'_, C>,
    first: usize,
    scalars: &[C::Scalar],
) -> Result<Jacobian<C>, Groth16Error> {
    if first.checked_add(scalars.len()).is_none_or(|end| end > points.len()) {
        return Err(Groth16Error::Range { first, count: scalars.len(), points: points.len() });
    }
    let bases = MappedBases { level, points, first, count: scalars.len(), fault: Mutex::new(None) };
    let sum = C::msm(level, &bases, scalars);
    match bases.fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(sum),
        Some((_, error)) => Err(error.into()),
    }
}

/// Points of a mapped key as the bases of a sum.
struct MappedBases<'a, C> {
    level: Level,
    points: Points<'a, C>,
    /// The index of the first base.
    first: usize,
    count: usize,
    /// The position of the first block that could not be decoded, and the error.
    fault: Mutex<Option<(usize, CircomError)>>,
}

impl<C: Curve<Base: Coordinate>> Bases<C> for MappedBases<'_, C> {
    fn count(&self) -> usize {
        self.count
    }

    fn read(&self, start: usize, bases: &mut [Affine<C>]) {
        if let Err(error) = self.points.read(self.level, self.first + start, bases) {
            let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            // Blocks are read in parallel: the lowest one gives the same error in every run.
            if fault.as_ref().is_none_or(|(first, _)| start < *first) {
                *fault = Some((start, error));
            }
        }
    }
}
