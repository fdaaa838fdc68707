//! The value that snarkjs hashes instead of `tau^(2n-1) - tau^(n-1)` when the powers end at `tau^(2n-2)`.
//!
//! It reads the bytes after the powers (the next section's number, length and first bytes) as a point in Montgomery form. These integers exceed
//! the modulus. On such operands snarkjs's field additions and subtractions, which correct by one modulus and drop the carry, give wrong results,
//! and these enter the hash. So this module repeats the computation on the same integers: `add-2007-bl` of the Explicit-Formulas Database for Z1
//! = Z2 = 1.
#![allow(clippy::indexing_slicing)] // Limbs below their number.

use crate::{Groth16Curve, Groth16Error};
use proofmill_circom::{Ptau, SectionName};
use proofmill_curve::{Affine, Jacobian};
use proofmill_field::{Fp, Prime};
use std::marker::PhantomData;

/// The number of the section with the powers of tau in G1.
const POWERS: u32 = 2;

/// The point in the bytes after the powers, minus `power`, as snarkjs computes it.
pub(crate) fn past_the_powers<C: Groth16Curve>(
    ptau: &Ptau<C>,
    power: &Affine<C>,
) -> Result<Jacobian<C>, Groth16Error> {
    let q = Modulus::<C::BasePrime>::new();
    let [x1, y1] = q.next_bytes(ptau)?;
    // Minus the power: its y is negated, by snarkjs as 0 - y.
    let (x2, y2) = (power.x.to_montgomery(), q.sub(q.zero(), power.y.to_montgomery()));
    let h = q.sub(x2, x1);
    let dy = q.sub(y2, y1);
    let hh = q.mul(h, h);
    let i = q.add(q.add(hh, hh), q.add(hh, hh));
    let j = q.mul(h, i);
    let r = q.add(dy, dy);
    let v = q.mul(x1, i);
    let x = q.sub(q.sub(q.mul(r, r), j), q.add(v, v));
    let y1_j = q.mul(y1, j);
    let y = q.sub(q.mul(q.sub(v, x), r), q.add(y1_j, y1_j));
    Ok(Jacobian { x: q.reduce(x), y: q.reduce(y), z: q.reduce(q.add(h, h)) })
}

/// Arithmetic on integers with the limbs of the modulus, which may exceed it.
struct Modulus<P: Prime>(PhantomData<P>);

impl<P: Prime> Modulus<P> {
    fn new() -> Self {
        Self(PhantomData)
    }

    fn zero(&self) -> P::Limbs {
        P::Limbs::default()
    }

    /// The bytes after the powers that a point would take, as two little-endian integers.
    fn next_bytes<C: Groth16Curve>(&self, ptau: &Ptau<C>) -> Result<[P::Limbs; 2], Groth16Error> {
        const SHORT: Groth16Error = Groth16Error::Malformed("the powers of tau end too early in their file");
        let sections = ptau.file().sections();
        let powers = sections.iter().position(|entry| entry.id == POWERS);
        let next = powers.and_then(|index| sections.get(index + 1)).ok_or(SHORT)?;
        let content = ptau.file().section(SectionName { id: next.id, content: "after tau in G1" })?;
        let mut integers = [self.zero(); 2];
        let size = 16 * integers[0].as_ref().len();
        let mut bytes = Vec::with_capacity(size);
        bytes.extend(next.id.to_le_bytes());
        bytes.extend((next.range.len() as u64).to_le_bytes());
        bytes.extend(content.bytes().iter().take(size - bytes.len()));
        if bytes.len() < size {
            return Err(SHORT);
        }
        let limbs = integers.iter_mut().flat_map(|integer| integer.as_mut());
        for (limb, bytes) in limbs.zip(bytes.as_chunks().0) {
            *limb = u64::from_le_bytes(*bytes);
        }
        Ok(integers)
    }

    fn carrying_add(&self, mut a: P::Limbs, b: P::Limbs) -> (P::Limbs, bool) {
        let mut carry = false;
        for (a, b) in a.as_mut().iter_mut().zip(b.as_ref()) {
            (*a, carry) = a.carrying_add(*b, carry);
        }
        (a, carry)
    }

    fn borrowing_sub(&self, mut a: P::Limbs, b: P::Limbs) -> (P::Limbs, bool) {
        let mut borrow = false;
        for (a, b) in a.as_mut().iter_mut().zip(b.as_ref()) {
            (*a, borrow) = a.borrowing_sub(*b, borrow);
        }
        (a, borrow)
    }

    /// Subtracts the modulus once if there is a carry or the value is not below the modulus.
    fn correct(&self, value: P::Limbs, carry: bool) -> P::Limbs {
        let (reduced, borrow) = self.borrowing_sub(value, P::MODULUS);
        if borrow && !carry { value } else { reduced }
    }

    fn add(&self, a: P::Limbs, b: P::Limbs) -> P::Limbs {
        let (sum, carry) = self.carrying_add(a, b);
        self.correct(sum, carry)
    }

    fn sub(&self, a: P::Limbs, b: P::Limbs) -> P::Limbs {
        let (difference, borrow) = self.borrowing_sub(a, b);
        if borrow { self.carrying_add(difference, P::MODULUS).0 } else { difference }
    }

    /// The Montgomery product `a b / 2^(64 LEN)`, for any integers of `LEN` limbs.
    fn mul(&self, a: P::Limbs, b: P::Limbs) -> P::Limbs {
        let length = a.as_ref().len();
        let mut t = vec![0; length + 2];
        for b in b.as_ref() {
            multiply_add(&mut t, a.as_ref(), *b);
            let quotient = t[0].wrapping_mul(P::INV);
            multiply_add(&mut t, P::MODULUS.as_ref(), quotient);
            t.rotate_left(1);
        }
        let mut product = self.zero();
        product.as_mut().copy_from_slice(&t[..length]);
        self.correct(product, t[length] != 0)
    }

    /// The element with these Montgomery limbs, modulo the modulus.
    fn reduce(&self, mut limbs: P::Limbs) -> Fp<P> {
        loop {
            if let Some(element) = Fp::from_montgomery(limbs) {
                return element;
            }
            limbs = self.borrowing_sub(limbs, P::MODULUS).0;
        }
    }
}

/// `t += a * b`, for a t of two more limbs.
fn multiply_add(t: &mut [u64], a: &[u64], b: u64) {
    let mut carry = 0;
    for (limb, a) in t.iter_mut().zip(a.iter().chain(&[0, 0])) {
        (*limb, carry) = a.carrying_mul_add(b, *limb, carry);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proofmill_circom::PointCheck;
    use proofmill_cpu::Level;
    use proofmill_curve::bn254::G1;

    /// Results of snarkjs 0.7.6's `subAffine` for the bytes after the powers in pot8.ptau and three of the powers.
    const EXPECTED: [(usize, [&str; 2]); 3] = [
        (
            255,
            [
                "234fbaeca23f21faf5cbf8ea6193f3b932a37dd031cb677dc0a4898860602ad6",
                "0844f9fba491f4dea625c36d24dcd9eea32ba8737c1bb0fe941287f088def756",
            ],
        ),
        (
            0,
            [
                "19d711936beed7f7e60d564fa6096c86d210e23d64901199bf2ab35e3828c454",
                "07e2fb41b581678de95717c8b39c65dd50499cd27ffba32f462c86eb955a313b",
            ],
        ),
        (
            7,
            [
                "288108ca578fa9e5cb89f0deee36bf435d25e181d01583b09a7642a83bf5310d",
                "051ef72f540d8ae8f487d4b1449932ed398f541e6af7323f3fccc41fa2674ec7",
            ],
        ),
    ];

    #[test]
    fn differences_are_snarkjss() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small/pot8.ptau");
        let ptau = Ptau::<G1>::open(path.as_ref()).unwrap();
        let powers = ptau.tau_g1().unwrap().decode(Level::best(), PointCheck::OnCurve).unwrap();
        for (index, expected) in EXPECTED {
            let point = past_the_powers(&ptau, &powers[index]).unwrap().to_affine();
            let hex = [point.x, point.y].map(|coordinate| {
                let limbs = coordinate.to_canonical();
                limbs.iter().rev().map(|limb| format!("{limb:016x}")).collect::<String>()
            });
            assert_eq!(hex, expected, "power {index}");
        }
    }
}
