//! The prime modulus in each file, which identifies its curve.

use crate::{
    binfile::{Cursor, Section},
    curve::CircomCurve,
    error::CircomError,
};
use proofmill_field::Prime;

/// The name of the supported curve in messages.
pub(crate) const BN254: &str = "bn254";

/// The scalar fields of circom's primes, by their big-endian hexadecimal modulus.
const SCALAR_FIELDS: [(&str, &str); 8] = [
    ("30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001", BN254),
    ("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", "bls12-381"),
    ("12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001", "bls12-377"),
    ("30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47", "grumpkin"),
    ("40000000000000000000000000000000224698fc094cf91b992d30ed00000001", "pallas"),
    ("40000000000000000000000000000000224698fc0994a8dd8c46eb2100000001", "vesta"),
    ("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff", "secq256r1"),
    ("ffffffff00000001", "goldilocks"),
];

/// The base fields of the pairing curves that snarkjs supports.
const BASE_FIELDS: [(&str, &str); 2] = [
    ("30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47", BN254),
    (
        "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
        "bls12-381",
    ),
];

/// The most bytes of a modulus.
const LONGEST: usize = 96;

/// The field of a curve that a modulus belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldOf {
    Scalars,
    Coordinates,
}

impl FieldOf {
    /// The name of the curve whose field has this modulus, in little-endian bytes, or the modulus itself.
    fn curve(self, modulus: &[u8]) -> String {
        let digits = hex::encode(modulus.iter().rev().copied().collect::<Vec<u8>>());
        let digits = digits.trim_start_matches('0');
        let known: &[(&str, &str)] = match self {
            Self::Scalars => &SCALAR_FIELDS,
            Self::Coordinates => &BASE_FIELDS,
        };
        let name = known.iter().find(|(modulus, _)| *modulus == digits).map(|(_, name)| (*name).to_owned());
        name.unwrap_or_else(|| format!("unknown (modulus 0x{digits})"))
    }
}

/// A modulus in a file: its length as a u32, then its little-endian bytes.
pub(crate) struct FileModulus<'a> {
    bytes: Section<'a>,
    field: FieldOf,
}

impl<'a> FileModulus<'a> {
    /// Reads any modulus of a plausible length.
    pub(crate) fn read(cursor: &mut Cursor<'a>, field: FieldOf) -> Result<Self, CircomError> {
        let at = cursor.position();
        let length = cursor.u32("a modulus's length")? as usize;
        if length == 0 || length > LONGEST || !length.is_multiple_of(8) {
            let problem = format!("expected a modulus of 8 to {LONGEST} bytes, found a length of {length}");
            return Err(cursor.malformed_at(at, problem));
        }
        Ok(Self { bytes: cursor.take(length, "modulus")?, field })
    }

    /// The curve's name, or the modulus itself.
    pub(crate) fn curve(&self) -> String {
        self.field.curve(self.bytes.bytes())
    }

    /// Checks that it is this prime, encoded in as many bytes as its limbs have.
    pub(crate) fn expect<P: Prime>(&self) -> Result<(), CircomError> {
        let expected: Vec<u8> = P::MODULUS.as_ref().iter().flat_map(|limb| limb.to_le_bytes()).collect();
        if self.bytes.bytes() == expected {
            return Ok(());
        }
        let (expected, found) = (self.field.curve(&expected), self.curve());
        Err(CircomError::Curve { place: self.bytes.place(0), expected, found })
    }
}

impl Cursor<'_> {
    /// Reads the moduli of coordinates and scalars, which must be BN254's.
    ///
    /// # Errors
    /// [`CircomError::Malformed`], [`CircomError::Curve`].
    pub fn expect_bn254(&mut self) -> Result<(), CircomError> {
        type Bn254 = proofmill_curve::bn254::G1;
        FileModulus::read(self, FieldOf::Coordinates)?.expect::<<Bn254 as CircomCurve>::BasePrime>()?;
        FileModulus::read(self, FieldOf::Scalars)?.expect::<<Bn254 as CircomCurve>::ScalarPrime>()
    }
}
