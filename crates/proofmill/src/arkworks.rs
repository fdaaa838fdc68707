//! Conversions from and to the types of ark-ff and ark-ec 0.5 for the fields and curves of BN254, BLS12-381 and Grumpkin, and
//! multi-scalar multiplication and transforms on these types.
//!
//! ```
//! use ark_ec::{CurveGroup, PrimeGroup, VariableBaseMSM};
//! use ark_ff::UniformRand;
//! use proofmill::{arkworks::{self, Ark}, field::Fr};
//!
//! let mut rng = ark_std::test_rng();
//! let scalars: Vec<_> = (0..100).map(|_| ark_bn254::Fr::rand(&mut rng)).collect();
//! let bases: Vec<_> = scalars.iter().map(|s| (ark_bn254::G1Projective::generator() * s).into_affine()).collect();
//! assert_eq!(arkworks::msm(&bases, &scalars), ark_bn254::G1Projective::msm(&bases, &scalars).unwrap());
//!
//! let ours = Fr::from_ark(&scalars[0]);
//! assert_eq!(ours.to_string(), scalars[0].to_string());
//! assert_eq!(ours.to_ark(), scalars[0]);
//! ```
//!
//! Both libraries use the same words for an element, so a conversion is a copy.

use crate::{
    curve::{self, Affine, Curve, Jacobian, Msm},
    field::{Fp, bls12_381, bn254},
    machine::current,
    ntt::{self, Transformed},
};
use ark_ec::short_weierstrass::{self, SWCurveConfig};
use ark_ff::{AdditiveGroup, BigInt};
use proofmill_curve::Bases;
use rayon::prelude::*;

/// A type with an equivalent in arkworks.
pub trait Ark: Sized {
    /// The type in arkworks.
    type Ark;

    /// Converts to arkworks' type.
    fn to_ark(&self) -> Self::Ark;

    /// Converts from arkworks' type.
    fn from_ark(value: &Self::Ark) -> Self;
}

/// Implements [`Ark`] for the elements of a prime field.
macro_rules! field {
    ($params:ty, $ark:ty) => {
        impl Ark for Fp<$params> {
            type Ark = $ark;

            fn to_ark(&self) -> $ark {
                <$ark>::new_unchecked(BigInt(self.to_montgomery()))
            }

            fn from_ark(value: &$ark) -> Self {
                Self::from_montgomery(value.0.0).expect("words below the modulus")
            }
        }
    };
}

/// Implements [`Ark`] for a quadratic extension.
macro_rules! quadratic {
    ($ours:ty, $ark:ty) => {
        impl Ark for $ours {
            type Ark = $ark;

            fn to_ark(&self) -> $ark {
                <$ark>::new(self.c0.to_ark(), self.c1.to_ark())
            }

            fn from_ark(value: &$ark) -> Self {
                Self::new(Ark::from_ark(&value.c0), Ark::from_ark(&value.c1))
            }
        }
    };
}

field!(bn254::FqParams, ark_bn254::Fq);
field!(bn254::FrParams, ark_bn254::Fr);
field!(bls12_381::FqParams, ark_bls12_381::Fq);
field!(bls12_381::FrParams, ark_bls12_381::Fr);
quadratic!(bn254::Fq2, ark_bn254::Fq2);
quadratic!(bls12_381::Fq2, ark_bls12_381::Fq2);

mod sealed {
    pub trait Sealed {}
}

/// The curves of arkworks that Proofmill has, too.
pub trait ArkCurve: SWCurveConfig + sealed::Sealed {
    /// The curve in Proofmill.
    type Ours: Msm<
            Base: Ark<Ark = <Self as ark_ec::CurveConfig>::BaseField>,
            Scalar: Ark<Ark = <Self as ark_ec::CurveConfig>::ScalarField>,
        >;
}

/// Implements [`Ark`] and [`ArkCurve`] for a curve.
macro_rules! curve {
    ($ours:ty, $config:ty) => {
        impl sealed::Sealed for $config {}

        impl ArkCurve for $config {
            type Ours = $ours;
        }

        impl Ark for Affine<$ours> {
            type Ark = short_weierstrass::Affine<$config>;

            fn to_ark(&self) -> Self::Ark {
                match self.is_infinity() {
                    true => Self::Ark::identity(),
                    false => Self::Ark::new_unchecked(self.x.to_ark(), self.y.to_ark()),
                }
            }

            fn from_ark(point: &Self::Ark) -> Self {
                affine::<$config>(point)
            }
        }

        impl Ark for Jacobian<$ours> {
            type Ark = short_weierstrass::Projective<$config>;

            fn to_ark(&self) -> Self::Ark {
                projective::<$config>(self)
            }

            fn from_ark(point: &Self::Ark) -> Self {
                if point.z == <$config as ark_ec::CurveConfig>::BaseField::ZERO {
                    return Self::INFINITY;
                }
                Self { x: Ark::from_ark(&point.x), y: Ark::from_ark(&point.y), z: Ark::from_ark(&point.z) }
            }
        }
    };
}

curve!(curve::bn254::G1, ark_bn254::g1::Config);
curve!(curve::bn254::G2, ark_bn254::g2::Config);
curve!(curve::bls12_381::G1, ark_bls12_381::g1::Config);
curve!(curve::bls12_381::G2, ark_bls12_381::g2::Config);
curve!(curve::grumpkin::Grumpkin, ark_grumpkin::GrumpkinConfig);

fn affine<P: ArkCurve>(point: &short_weierstrass::Affine<P>) -> Affine<P::Ours> {
    match point.infinity {
        true => Affine::INFINITY,
        false => Affine { x: Ark::from_ark(&point.x), y: Ark::from_ark(&point.y) },
    }
}

fn projective<P: ArkCurve>(point: &Jacobian<P::Ours>) -> short_weierstrass::Projective<P> {
    match point.is_infinity() {
        true => short_weierstrass::Projective::ZERO,
        false => {
            short_weierstrass::Projective::new_unchecked(point.x.to_ark(), point.y.to_ark(), point.z.to_ark())
        }
    }
}

/// Points of arkworks as the bases of a sum, converted during the sum.
struct ArkBases<'a, P: SWCurveConfig>(&'a [short_weierstrass::Affine<P>]);

impl<P: ArkCurve> Bases<P::Ours> for ArkBases<'_, P> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn read(&self, start: usize, bases: &mut [Affine<P::Ours>]) {
        for (ours, point) in bases.iter_mut().zip(&self.0[start..]) {
            *ours = affine(point);
        }
    }
}

/// The sum of `scalars[i] * bases[i]` by [`msm`](crate::msm::msm()): the result of ark-ec's `VariableBaseMSM`.
///
/// # Panics
/// If the slices differ in length or hold 2^30 elements or more.
pub fn msm<P: ArkCurve>(
    bases: &[short_weierstrass::Affine<P>],
    scalars: &[P::ScalarField],
) -> short_weierstrass::Projective<P> {
    let scalars: Vec<<P::Ours as Curve>::Scalar> = scalars.par_iter().map(Ark::from_ark).collect();
    projective(&P::Ours::msm(current().level, &ArkBases(bases), &scalars))
}

/// The fields of arkworks for [`Domain`]: the scalar fields of BN254 and BLS12-381.
pub trait ArkTransformed: ark_ff::PrimeField {
    /// The field's parameters in Proofmill.
    type Params: Transformed;

    #[doc(hidden)]
    fn ours(&self) -> Fp<Self::Params>;

    #[doc(hidden)]
    fn theirs(ours: &Fp<Self::Params>) -> Self;
}

/// Implements [`ArkTransformed`].
macro_rules! transformed {
    ($params:ty, $ark:ty) => {
        impl ArkTransformed for $ark {
            type Params = $params;

            fn ours(&self) -> Fp<$params> {
                Ark::from_ark(self)
            }

            fn theirs(ours: &Fp<$params>) -> Self {
                ours.to_ark()
            }
        }
    };
}

transformed!(bn254::FrParams, ark_bn254::Fr);
transformed!(bls12_381::FrParams, ark_bls12_381::Fr);

/// [`ntt::Domain`] for arkworks' elements, with the results of ark-poly's `Radix2EvaluationDomain`.
///
/// ```
/// use ark_poly::{EvaluationDomain, Radix2EvaluationDomain};
/// use proofmill::arkworks::Domain;
///
/// let mut values: Vec<_> = (0..64u64).map(ark_bn254::Fr::from).collect();
/// let theirs = Radix2EvaluationDomain::<ark_bn254::Fr>::new(64).unwrap().fft(&values);
/// Domain::new(6).unwrap().ntt(&mut values);
/// assert_eq!(values, theirs);
/// ```
pub struct Domain<F: ArkTransformed> {
    domain: ntt::Domain<F::Params>,
}

impl<F: ArkTransformed> Domain<F> {
    /// The subgroup of order `2^log_n`; `None` beyond the field's two-adicity or 2^28.
    pub fn new(log_n: u32) -> Option<Self> {
        ntt::Domain::new(log_n).map(|domain| Self { domain })
    }

    /// Coefficients to values: `fft_in_place`.
    ///
    /// # Panics
    /// If the number of values is not n (the same holds for all transforms of this type).
    pub fn ntt(&self, values: &mut [F]) {
        self.with(values, |domain, values| domain.ntt(values));
    }

    /// Values to coefficients: `ifft_in_place`.
    pub fn intt(&self, values: &mut [F]) {
        self.with(values, |domain, values| domain.intt(values));
    }

    /// Coefficients to values on the coset `shift * H`: `fft_in_place` of the domain's `get_coset`.
    pub fn coset_ntt(&self, values: &mut [F], shift: F) {
        self.with(values, |domain, values| domain.coset_ntt(values, shift.ours()));
    }

    /// Values on the coset `shift * H` to coefficients: `ifft_in_place` of the domain's `get_coset`.
    ///
    /// # Panics
    /// Also if `shift` is zero.
    pub fn coset_intt(&self, values: &mut [F], shift: F) {
        self.with(values, |domain, values| domain.coset_intt(values, shift.ours()));
    }

    fn with(&self, values: &mut [F], work: impl FnOnce(&ntt::Domain<F::Params>, &mut [Fp<F::Params>])) {
        let mut ours: Vec<Fp<F::Params>> = values.par_iter().map(F::ours).collect();
        work(&self.domain, &mut ours);
        values.par_iter_mut().zip(&ours).for_each(|(value, ours)| *value = F::theirs(ours));
    }
}

impl<F: ArkTransformed> std::fmt::Debug for Domain<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.domain.fmt(f)
    }
}
