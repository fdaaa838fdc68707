//! The arithmetic of a tile: field elements as eight signed 32-bit limbs, by a vector unit that multiplies signed numbers only.
//!
//! An element x is stored as limbs `d_0 .. d_7` of -2^31 ..= 2^31 - 1 with `x = sum d_i 2^(32 i)`; the limbs are unique. Elements
//! are residues times R = 2^256 (Montgomery form) and need not be the least ones: with p < 2^254, everything from -2 p to 2 p
//! has eight limbs. How large an element may be is told by the interval of its highest limb ([`Ranges`]).
//!
//! Signed Montgomery reduction is due to G. Seiler, "Faster AVX2 optimized NTT multiplication for Ring-LWE lattice cryptography"
//! (IACR ePrint 2018/039), for one word. Here it is done limb by limb (P. Montgomery, "Modular multiplication without trial
//! division", 1985). So does the pipeline of Ulvetanna's "Elliptic Curve ZK-Proof Acceleration on AMD Versal" (2024), whose
//! formula was not published.

mod bundle;
mod exact;
mod field;
mod kernels;
mod lanes;
mod program;
mod ranges;
mod tile;

pub use bundle::Bundle;
pub use exact::{Exact, Overflow};
pub(crate) use field::digits_of;
pub use field::{BITS, SignedField};
pub use kernels::{ElementWords, FieldConstants, VectorWord};
pub use lanes::CpuLanes;
pub use program::{InstructionOperand, TileInstruction, TileOperation, TileProgram};
pub use ranges::{Interval, Ranges};
pub use tile::{Divisor, Fit, Numbers, QUOTIENT_SHIFT, Tile};

/// Limbs of an element.
pub const LIMBS: usize = 8;
/// Numbers in a vector.
pub const LANES: usize = 8;

/// The limbs of an integer below 2^255, or of its negative.
fn to_digits(integer: [u64; 4], negative: bool) -> [i32; LIMBS] {
    let mut carry = 0;
    std::array::from_fn(|i| {
        let word = i64::from((integer[i / 2] >> (32 * (i % 2))) as u32);
        let sum = if negative { -word } else { word } + carry;
        let digit = sum as i32;
        carry = (sum - i64::from(digit)) >> 32;
        digit
    })
}
