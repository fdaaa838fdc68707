//! Products of many points and scalars, at every level and on several threads.

use proofmill_curve::{
    Affine, Curve, Jacobian, Products, bls12_381, bn254, products_of_points, sums_and_differences,
};
use proofmill_field::{Field, PrimeField};
use proofmill_testing::{for_each_level, for_each_pool, rng};
use rand::RngCore;

/// The integer in a field.
fn field<F: PrimeField>(words: &[u64]) -> F {
    let bits = words.iter().rev().flat_map(|word| (0..64).rev().map(move |i| word >> i & 1 == 1));
    bits.fold(F::ZERO, |sum, bit| sum + sum + if bit { F::ONE } else { F::ZERO })
}

/// Points of the subgroup, some of them equal, opposite or infinite.
fn points<C: Curve>(count: usize) -> Vec<Affine<C>> {
    let mut rng = rng(count as u64);
    let mut points: Vec<Affine<C>> =
        (0..count).map(|_| C::GENERATOR.mul_words_vartime(&[rng.next_u64()]).to_affine()).collect();
    for i in (0..count).step_by(5).skip(1) {
        points[i] = [Affine::INFINITY, points[i - 1], -points[i - 1]][i % 3];
    }
    points
}

fn check<C: Products>(points: &[Affine<C>], scalars: &[C::Scalar], context: &str) {
    let expected: Vec<Jacobian<C>> =
        points.iter().zip(scalars).map(|(point, scalar)| point.mul_vartime(scalar)).collect();
    let expected = Jacobian::batch_to_affine(&expected);
    for_each_level(|level| {
        for_each_pool(&[1, 2, 5], |threads| {
            let products = products_of_points(level, points, scalars);
            assert_eq!(products, expected, "{context}, {level}, {threads} threads");
        });
    });
}

fn check_butterflies<C: Products>() {
    for count in [0, 1, 2, 9, 33, 5000] {
        let (a, mut b) = (points::<C>(count), points::<C>(count + 3)[3..].to_vec());
        for i in (0..count).step_by(7) {
            b[i] = if i % 2 == 0 { a[i] } else { -a[i] };
        }
        let combined = |sign: fn(Affine<C>) -> Affine<C>| {
            let all: Vec<_> =
                a.iter().zip(&b).map(|(a, b)| Jacobian::from(*a).add_affine(&sign(*b))).collect();
            Jacobian::batch_to_affine(&all)
        };
        let expected = (combined(|b| b), combined(|b| -b));
        for_each_level(|level| {
            for_each_pool(&[1, 2, 5], |threads| {
                let mut pairs = (a.clone(), b.clone());
                sums_and_differences(level, &mut pairs.0, &mut pairs.1);
                assert_eq!(pairs, expected, "{level}, {threads} threads, {count} pairs");
            });
        });
    }
}

/// Roots of unity of order 3 and 4 in the scalars: eigenvalues of endomorphisms and their like.
fn eigenvalues<F: PrimeField>(x: u64, negative: bool) -> [F; 4] {
    let x = if negative { -field::<F>(&[x]) } else { field(&[x]) };
    let square = x * x;
    let six = square + square + square + square + square + square;
    [x, -square, six, six * six - F::ONE]
}

fn check_all<C: Products>(x: u64, negative: bool) {
    for count in [0, 1, 2, 7, 15, 16, 17, 33, 1025] {
        let mut rng = rng(1000 + count as u64);
        let mut random = || field::<C::Scalar>(&[0; 4].map(|_: u64| rng.next_u64()));
        let scalars: Vec<_> = (0..count).map(|_| random()).collect();
        check::<C>(&points(count), &scalars, &format!("{count} points"));
    }
    // One point each, so that those that the formulas cannot compute do not keep others from them.
    let [a, b, c, d] = eigenvalues::<C::Scalar>(x, negative);
    let mut scalars: Vec<C::Scalar> = (0..32).map(|i| field(&[i])).collect();
    for i in 0..4 {
        for word in [1, u64::MAX, 1 << 63, 0x8888_8888_8888_8888, 0x7777_7777_7777_7777] {
            let mut words = [0; 4];
            words[i] = word;
            scalars.push(field(&words));
            words[..i].fill(u64::MAX);
            scalars.push(field(&words));
        }
    }
    for eigenvalue in [a, b, c, d, a * b, c * d] {
        scalars.extend([2, 3, 15, 16, 30].map(|small| field::<C::Scalar>(&[small]) * eigenvalue));
        scalars.push(eigenvalue + C::Scalar::ONE);
    }
    let negatives: Vec<_> = scalars.iter().map(|scalar| -*scalar).collect();
    for scalar in scalars.into_iter().chain(negatives) {
        check::<C>(&points(1), &[scalar], &format!("{:x?}", scalar.to_words().as_ref()));
    }
    // All in one batch.
    check::<C>(&points(32), &std::array::from_fn::<_, 32, _>(|i| field(&[i as u64])), "small scalars");
}

#[test]
fn products_are_right_in_g1() {
    check_all::<bn254::G1>(bn254::X, false);
    check_all::<bls12_381::G1>(bls12_381::X, true);
}

#[test]
fn products_are_right_in_g2() {
    check_all::<bn254::G2>(bn254::X, false);
    check_all::<bls12_381::G2>(bls12_381::X, true);
}

#[test]
fn sums_and_differences_are_right() {
    check_butterflies::<bn254::G1>();
    check_butterflies::<bn254::G2>();
    check_butterflies::<bls12_381::G1>();
    check_butterflies::<bls12_381::G2>();
}
