//! Counts the terms that are added before products, which [`Engine::Single`](proofmill_field::Engine::Single) limits.

use crate::{Ate, Gt, lift_dodecic, miller::miller_loop};
use proofmill_curve::{Affine, Curve, bls12_381, bn254};
use proofmill_field::{Dodecic, Terms};

fn check<C: Ate, const MOST: u64>() {
    let constants = C::constants().lift::<Terms<MOST>>(());
    let pair: (Affine<C>, Affine<C::G2>) = (C::GENERATOR, C::G2::GENERATOR);
    for pairs in [&[pair][..], &[pair; 2], &[pair; 3]] {
        miller_loop::<C, Terms<MOST>>((), &constants, pairs);
    }
    let f: Dodecic<C::Prime, Terms<MOST>> = lift_dodecic::<_, Terms<MOST>>((), &Gt::<C>::ONE);
    let f = f.conjugate() * f;
    let f = f.frobenius(2, constants.gammas[1]) * f;
    C::hard_part::<Terms<MOST>>(&constants, f);
}

#[test]
fn products_of_pairings_are_of_few_terms() {
    check::<bn254::G1, 39>();
    check::<bn254::G1, 1000>();
    check::<bls12_381::G1, 39>();
    check::<bls12_381::G1, 1000>();
}
