//! How many terms add up before products: [`Single`](proofmill_field::Single) lets them be many, not any number.

use super::{Ate, Form, Gt, lift_dodecic, miller::miller_loop};
use crate::{Affine, Curve, bls12_381, bn254};
use proofmill_field::{Algebra, Dodecic, Fp, MOST_TERMS, Prime};
use std::ops::{Add, Mul, Neg, Sub};

/// The terms of a sum.
#[derive(Clone, Copy, Debug)]
struct Terms(u64);

impl Add for Terms {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0 + rhs.0)
    }
}

impl Sub for Terms {
    type Output = Self;
    #[expect(clippy::suspicious_arithmetic_impl, reason = "a difference has the terms of both")]
    fn sub(self, rhs: Self) -> Self {
        self + rhs
    }
}

impl Neg for Terms {
    type Output = Self;
    fn neg(self) -> Self {
        self
    }
}

impl Mul for Terms {
    type Output = Self;
    fn mul(self, rhs: Self) -> Self {
        assert!(self.0.max(rhs.0) <= MOST_TERMS, "{self:?} times {rhs:?}");
        Self(1)
    }
}

impl Algebra for Terms {
    fn zero() -> Self {
        Self(0)
    }

    fn one() -> Self {
        Self(1)
    }

    fn square(self) -> Self {
        self * self
    }

    fn reduced(self) -> Self {
        assert!(self.0 <= MOST_TERMS, "{self:?}");
        Self(1)
    }
}

struct Counted;

impl<P: Prime> Form<P> for Counted {
    type Element = Terms;
    const WIDTH: usize = 1;

    fn broadcast(_: Fp<P>) -> Terms {
        Terms(1)
    }

    fn load(_: &[Fp<P>]) -> Terms {
        Terms(1)
    }

    fn store(terms: Terms, _: &mut [Fp<P>]) {
        assert!(terms.0 <= MOST_TERMS, "{terms:?}");
    }
}

fn check<C: Ate>() {
    let constants = C::constants().lift::<Counted>();
    let pair: (Affine<C>, Affine<C::G2>) = (C::GENERATOR, C::G2::GENERATOR);
    for pairs in [&[pair][..], &[pair; 2], &[pair; 3]] {
        miller_loop::<C, Counted>(&constants, pairs);
    }
    let f: Dodecic<C::Prime, Terms> = lift_dodecic::<_, Counted>(&Gt::<C>::one());
    let f = f.conjugate() * f;
    let f = f.frobenius(2, constants.gammas[1]) * f;
    C::hard_part::<Counted>(&constants, f);
}

#[test]
fn products_of_pairings_are_of_few_terms() {
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}
