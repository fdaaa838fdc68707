//! The curves of circom whose files have points.

use crate::decode::{Coordinate, ScalarPrime};
use proofmill_curve::{Curve, SourceGroups, bls12_381, bn254};
use proofmill_field::{Algebra, Fp, Prime, bls12_381 as bls12_381_fields, bn254 as bn254_fields};

/// A pairing's curve, named by its first source group.
pub trait CircomCurve:
    SourceGroups<Base: Coordinate, Scalar = Fp<Self::ScalarPrime>, G2: Curve<Base: Coordinate>>
{
    /// The prime of the coordinates.
    type BasePrime: Prime;
    /// The prime of the scalars.
    type ScalarPrime: ScalarPrime;
    /// The name in messages.
    const NAME: &'static str;
    /// snarkjs's name, in its JSON.
    const SNARKJS: &'static str;

    /// snarkjs's root of unity of order `2^log_n`: a power of the smallest element that is no square. `None` above the two-adicity.
    fn root_of_unity(log_n: u32) -> Option<Self::Scalar> {
        Fp::root_of_unity(log_n)
    }
}

impl CircomCurve for bn254::G1 {
    type BasePrime = bn254_fields::FqParams;
    type ScalarPrime = bn254_fields::FrParams;
    const NAME: &'static str = "bn254";
    const SNARKJS: &'static str = "bn128";
}

impl CircomCurve for bls12_381::G1 {
    type BasePrime = bls12_381_fields::FqParams;
    type ScalarPrime = bls12_381_fields::FrParams;
    const NAME: &'static str = "bls12-381";
    const SNARKJS: &'static str = "bls12381";

    /// The root of unity from the generator 5, as snarkjs has it. [`Fp::root_of_unity`] is from 7, the smallest generator.
    fn root_of_unity(log_n: u32) -> Option<Self::Scalar> {
        let log_cofactor = <Self::ScalarPrime as Prime>::TWO_ADICITY;
        let squarings = log_cofactor.checked_sub(log_n)?;
        // (r - 1) / 2^32 is r without its lowest 32 bits.
        let [a, b, c, d] = <Self::ScalarPrime as Prime>::MODULUS;
        let exponent = [a >> 32 | b << 32, b >> 32 | c << 32, c >> 32 | d << 32, d >> 32];
        let root = Self::Scalar::from(5).pow_vartime(&exponent);
        Some((0..squarings).fold(root, |root, _| root.square()))
    }
}

/// A pairing's curve, where a file or a user chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairingCurve {
    /// snarkjs's bn128.
    Bn254,
    /// snarkjs's bls12381.
    Bls12_381,
}

impl PairingCurve {
    /// The curve of a name in a description of a file, or of snarkjs's name in its JSON; `None` for one without a pairing here.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            <bn254::G1 as CircomCurve>::NAME | <bn254::G1 as CircomCurve>::SNARKJS => Some(Self::Bn254),
            <bls12_381::G1 as CircomCurve>::NAME | <bls12_381::G1 as CircomCurve>::SNARKJS => {
                Some(Self::Bls12_381)
            }
            _ => None,
        }
    }
}

/// Evaluates an expression with a type that is the curve's: `over_curve!(curve, C => Ptau::<C>::open(path))`.
#[macro_export]
macro_rules! over_curve {
    ($curve:expr, $C:ident => $value:expr) => {
        match $curve {
            $crate::PairingCurve::Bn254 => {
                type $C = $crate::curves::bn254::G1;
                $value
            }
            $crate::PairingCurve::Bls12_381 => {
                type $C = $crate::curves::bls12_381::G1;
                $value
            }
        }
    };
}
