//! Pairings at every level beside arkworks and, on BLS12-381, blst, on one core:
//! `cargo bench -p proofmill-curve --bench pairing [-- --csv]`.

#[path = "../tests/arkworks/mod.rs"]
mod arkworks;
#[path = "../tests/blst_points/mod.rs"]
mod blst_points;

use ark_ec::{CurveGroup, pairing::Pairing as ArkPairing};
use ark_ff::UniformRand;
use arkworks::{g1, g2};
use proofmill_curve::{Affine, Pairing, bls12_381, bn254, multi_pairing};
use proofmill_testing::Records;
use std::hint::black_box;

fn main() {
    let mut records = Records::new();
    for count in [1, 4] {
        let bn254 = Case::<bn254::G1, ark_bn254::Bn254> { name: "BN254", g1, g2, blst: None };
        bn254.compare(&mut records, count);
    }
    for count in [1, 2, 8, 128] {
        let blst = Some(&multi_pairing_by_blst as Peer<ark_bls12_381::Bls12_381>);
        let bls12_381 = Case::<bls12_381::G1, ark_bls12_381::Bls12_381> { name: "BLS12-381", g1, g2, blst };
        bls12_381.compare(&mut records, count);
    }
}

type Pairs<A> = [(<A as ArkPairing>::G1Affine, <A as ArkPairing>::G2Affine)];
/// Another library's products of pairings, ready to be timed.
type Peer<'a, A> = &'a dyn Fn(&Pairs<A>) -> Box<dyn Fn()>;

/// A curve, how arkworks' points become ours, and blst where it has the curve.
struct Case<'a, C: Pairing, A: ArkPairing> {
    name: &'static str,
    g1: fn(A::G1Affine) -> Affine<C>,
    g2: fn(A::G2Affine) -> Affine<C::G2>,
    blst: Option<Peer<'a, A>>,
}

impl<C: Pairing, A: ArkPairing> Case<'_, C, A> {
    /// Times products of `count` pairings, of which a sample makes as many as take a few milliseconds.
    fn compare(&self, records: &mut Records, count: usize) {
        let mut rng = ark_std::test_rng();
        let mut next = || (A::G1::rand(&mut rng).into_affine(), A::G2::rand(&mut rng).into_affine());
        let ark: Vec<_> = (0..count).map(|_| next()).collect();
        let pairs: Vec<_> = ark.iter().map(|(p, q)| ((self.g1)(*p), (self.g2)(*q))).collect();
        let repeats = 100 / count.min(25);
        let name = format!("{repeats} pairings of {count} {}", self.name);
        let theirs = || {
            let _ = black_box(A::multi_pairing(ark.iter().map(|pair| pair.0), ark.iter().map(|pair| pair.1)));
        };
        let mut against =
            ("arkworks", records.record(&name, "arkworks", 1, None, || repeat(repeats, theirs)));
        if let Some(peer) = self.blst {
            let theirs = peer(&ark);
            against = ("blst", records.record(&name, "blst", 1, Some(against), || repeat(repeats, &theirs)));
        }
        for level in proofmill_field::prime_field_levels() {
            let ours = || {
                black_box(multi_pairing(level, &pairs));
            };
            records.record(&name, level.name(), 1, Some(against), || repeat(repeats, ours));
        }
    }
}

fn repeat(count: usize, run: impl Fn()) {
    for _ in 0..count {
        run();
    }
}

/// blst's Miller loop of many pairs and its final exponentiation.
fn multi_pairing_by_blst(pairs: &Pairs<ark_bls12_381::Bls12_381>) -> Box<dyn Fn()> {
    let p: Vec<_> = pairs.iter().map(|pair| blst_points::g1(&g1(pair.0))).collect();
    let q: Vec<_> = pairs.iter().map(|pair| blst_points::g2(&g2(pair.1))).collect();
    Box::new(move || {
        black_box(blst::blst_fp12::miller_loop_n(&q, &p).final_exp());
    })
}
