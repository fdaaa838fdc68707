//! How many terms add up before products: [`Single`](proofmill_field::Single) lets them be many, not any number.

use super::{Ate, Form, Gt, lift_dodecic, miller::miller_loop};
use crate::{Affine, Curve, bls12_381, bn254};
use proofmill_field::{Dodecic, Fp, MOST_TERMS, Prime, Terms};

struct Counted;

impl<P: Prime> Form<P> for Counted {
    type Element = Terms;
    const WIDTH: usize = 1;

    fn broadcast((): (), _: Fp<P>) -> Terms {
        Terms(1)
    }

    fn load((): (), _: &[Fp<P>]) -> Terms {
        Terms(1)
    }

    fn store(terms: Terms, _: &mut [Fp<P>]) {
        assert!(terms.0 <= MOST_TERMS, "{terms:?}");
    }
}

fn check<C: Ate>() {
    let constants = C::constants().lift::<Counted>(());
    let pair: (Affine<C>, Affine<C::G2>) = (C::GENERATOR, C::G2::GENERATOR);
    for pairs in [&[pair][..], &[pair; 2], &[pair; 3]] {
        miller_loop::<C, Counted>((), &constants, pairs);
    }
    let f: Dodecic<C::Prime, Terms> = lift_dodecic::<_, Counted>((), &Gt::<C>::ONE);
    let f = f.conjugate() * f;
    let f = f.frobenius(2, constants.gammas[1]) * f;
    C::hard_part::<Counted>(&constants, f);
}

#[test]
fn products_of_pairings_are_of_few_terms() {
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}
