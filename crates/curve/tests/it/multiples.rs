//! Sums and multiples of many points, at every level and on several threads.

use proofmill_curve::{
    Affine, CompleteCurve, Curve, Jacobian, bls12_381, bn254, multiples_of_points, sum_of_multiples,
    sum_of_points,
};
use proofmill_testing::{for_each_level, for_each_pool, rng};
use rand::RngCore;

/// Points of the subgroup, some of them equal, opposite or infinite; factors, some of them extreme.
fn inputs<C: Curve>(count: usize) -> (Vec<Affine<C>>, Vec<u64>) {
    let mut rng = rng(count as u64);
    let mut points: Vec<Affine<C>> =
        (0..count).map(|_| C::GENERATOR.mul_words_vartime(&[rng.next_u64()]).to_affine()).collect();
    for i in (0..count).step_by(5).skip(1) {
        points[i] = [Affine::INFINITY, points[i - 1], -points[i - 1]][i % 3];
    }
    let ends =
        [0, 1, 8, 9, u64::MAX, 1 << 63, 0x8888_8888_8888_8888, 0x7777_7777_7777_7777, 0xf0f0_f0f0_f0f0_f0f0];
    let factors =
        (0..count).map(|i| if i % 2 == 0 { rng.next_u64() } else { ends[i / 2 % ends.len()] }).collect();
    (points, factors)
}

fn check<C: CompleteCurve>() {
    for count in [0, 1, 2, 7, 8, 9, 15, 17, 31, 130, 300] {
        let (points, factors) = inputs::<C>(count);
        let multiples: Vec<Jacobian<C>> =
            points.iter().zip(&factors).map(|(point, factor)| point.mul_words_vartime(&[*factor])).collect();
        let sum: Jacobian<C> = points.iter().map(|point| Jacobian::from(*point)).sum();
        let sum_of: Jacobian<C> = multiples.iter().copied().sum();
        let multiples = Jacobian::batch_to_affine(&multiples);
        for_each_level(|level| {
            for_each_pool(&[1, 2, 5], |threads| {
                let context = format!("{level}, {threads} threads, {count} points");
                assert_eq!(sum_of_points(level, &points), sum, "{context}");
                assert_eq!(multiples_of_points(level, &points, &factors), multiples, "{context}");
                assert_eq!(sum_of_multiples(level, &points, &factors), sum_of, "{context}");
            });
        });
    }
}

#[test]
fn sums_and_multiples_are_right_in_g1() {
    check::<bls12_381::G1>();
    check::<bn254::G1>();
}

#[test]
fn sums_and_multiples_are_right_in_g2() {
    check::<bls12_381::G2>();
    check::<bn254::G2>();
}
