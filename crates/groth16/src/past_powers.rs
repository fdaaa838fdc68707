//! The value that snarkjs hashes instead of `tau^(2n-1) - tau^(n-1)` when the powers end at `tau^(2n-2)`.
//!
//! It reads the next 64 bytes of the file (the next section's number, length and first bytes) as a point in Montgomery form.
//! These integers exceed the modulus. On such operands snarkjs's field additions and subtractions, which correct by one modulus
//! and drop the carry, give wrong results, and these enter the hash. So this module repeats the computation on the same 256-bit
//! integers: `add-2007-bl` of the Explicit-Formulas Database for Z1 = Z2 = 1.
#![allow(clippy::indexing_slicing)] // Arrays of four and five, by loops' constants.

use crate::Groth16Error;
use proofmill_circom::{Ptau, SectionName};
use proofmill_curve::{Affine, Jacobian, bn254::G1};
use proofmill_field::{
    Prime,
    bn254::{Fq, FqParams},
};

const Q: [u64; 4] = FqParams::MODULUS;

/// The number of the section with the powers of tau in G1.
const POWERS: u32 = 2;

/// The point in the bytes after the powers, minus `power`, as snarkjs computes it.
pub(crate) fn past_the_powers(ptau: &Ptau, power: &Affine<G1>) -> Result<Jacobian<G1>, Groth16Error> {
    let [x1, y1] = next_bytes(ptau)?;
    let (x2, y2) = (power.x.to_montgomery(), sub([0; 4], power.y.to_montgomery()));
    let h = sub(x2, x1);
    let dy = sub(y2, y1);
    let hh = mul(h, h);
    let i = add(add(hh, hh), add(hh, hh));
    let j = mul(h, i);
    let r = add(dy, dy);
    let v = mul(x1, i);
    let x = sub(sub(mul(r, r), j), add(v, v));
    let y1_j = mul(y1, j);
    let y = sub(mul(sub(v, x), r), add(y1_j, y1_j));
    Ok(Jacobian { x: reduce(x), y: reduce(y), z: reduce(add(h, h)) })
}

/// The 64 bytes after the powers, as two little-endian integers.
fn next_bytes(ptau: &Ptau) -> Result<[[u64; 4]; 2], Groth16Error> {
    const SHORT: Groth16Error = Groth16Error::Malformed("the powers of tau end too early in their file");
    let sections = ptau.file().sections();
    let powers = sections.iter().position(|entry| entry.id == POWERS);
    let next = powers.and_then(|index| sections.get(index + 1)).ok_or(SHORT)?;
    let content = ptau.file().section(SectionName { id: next.id, content: "after tau in G1" })?;
    let mut bytes = Vec::with_capacity(64);
    bytes.extend(next.id.to_le_bytes());
    bytes.extend((next.range.len() as u64).to_le_bytes());
    bytes.extend(content.bytes().iter().take(64 - bytes.len()));
    let limbs = bytes.as_chunks().0.iter().map(|limb| u64::from_le_bytes(*limb)).collect::<Vec<_>>();
    let &[[a, b, c, d], [e, f, g, h]] = limbs.as_chunks::<4>().0 else { return Err(SHORT) };
    Ok([[a, b, c, d], [e, f, g, h]])
}

fn carrying_add(a: [u64; 4], b: [u64; 4]) -> ([u64; 4], bool) {
    let mut carry = false;
    let sum = std::array::from_fn(|i| {
        let (sum, over) = a[i].overflowing_add(b[i]);
        let (sum, over_carry) = sum.overflowing_add(u64::from(carry));
        carry = over | over_carry;
        sum
    });
    (sum, carry)
}

fn borrowing_sub(a: [u64; 4], b: [u64; 4]) -> ([u64; 4], bool) {
    let mut borrow = false;
    let difference = std::array::from_fn(|i| {
        let (difference, under) = a[i].overflowing_sub(b[i]);
        let (difference, under_borrow) = difference.overflowing_sub(u64::from(borrow));
        borrow = under | under_borrow;
        difference
    });
    (difference, borrow)
}

/// Subtracts the modulus once if there is a carry or the value is not below the modulus.
fn correct(value: [u64; 4], carry: bool) -> [u64; 4] {
    let (reduced, borrow) = borrowing_sub(value, Q);
    if borrow && !carry { value } else { reduced }
}

fn add(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let (sum, carry) = carrying_add(a, b);
    correct(sum, carry)
}

fn sub(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let (difference, borrow) = borrowing_sub(a, b);
    if borrow { carrying_add(difference, Q).0 } else { difference }
}

/// The Montgomery product `a b / 2^256`, for any integers below 2^256.
fn mul(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let mut t = [0u64; 6];
    for b in b {
        multiply_add(&mut t, a, b);
        let quotient = t[0].wrapping_mul(FqParams::INV);
        multiply_add(&mut t, Q, quotient);
        t.rotate_left(1);
    }
    correct([t[0], t[1], t[2], t[3]], t[4] != 0)
}

/// `t += a * b`.
fn multiply_add(t: &mut [u64; 6], a: [u64; 4], b: u64) {
    let mut carry = 0u128;
    for (limb, a) in t.iter_mut().zip(a.into_iter().chain([0, 0])) {
        let sum = u128::from(*limb) + u128::from(a) * u128::from(b) + carry;
        *limb = sum as u64;
        carry = sum >> 64;
    }
}

/// The element with these Montgomery limbs, modulo the modulus.
fn reduce(mut limbs: [u64; 4]) -> Fq {
    loop {
        if let Some(element) = Fq::from_montgomery(limbs) {
            return element;
        }
        limbs = borrowing_sub(limbs, Q).0;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proofmill_circom::PointCheck;
    use proofmill_cpu::Level;

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
        let ptau = Ptau::open(path.as_ref()).unwrap();
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
