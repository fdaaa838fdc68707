//! The Pedersen hash equals its definition, in plain integers and with arkworks.

use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::PrimeField as _;
use num_bigint::{BigInt, BigUint};
use proofmill_curve::{Affine, grumpkin::Grumpkin};
use proofmill_field::{Algebra, Field, bn254::Fr};
use proofmill_hash::pedersen::{DST, GENERATORS, ORIGIN, pedersen, pedersen_many};
use proofmill_testing::{IntegerCurve, for_each_level, rng};

fn integer(x: Fr) -> BigInt {
    x.to_string().parse().expect("decimal digits")
}

fn coordinates(point: Affine<Grumpkin>) -> Option<[BigInt; 2]> {
    Some([point.x, point.y].map(integer))
}

/// Edges, equal and opposite inputs, and random ones.
fn pairs(random: usize) -> Vec<[Fr; 2]> {
    let mut rng = rng(1);
    let power = |bit: u32| Fr::from(2).pow_vartime(&[u64::from(bit)]);
    let edges = [Fr::ZERO, Fr::ONE, -Fr::ONE, power(253), power(128) - Fr::ONE, Fr::from(u64::MAX)];
    let mut pairs: Vec<_> = edges.iter().flat_map(|a| edges.map(|b| [*a, b])).collect();
    for _ in 0..random {
        let [a, b] = [Fr::random(&mut rng), Fr::random(&mut rng)];
        pairs.extend([[a, b], [a, a], [a, -a], [Fr::ZERO, b]]);
    }
    pairs
}

#[test]
fn generators_are_hashed_to_the_curve() {
    let curve = IntegerCurve::grumpkin();
    for (name, point) in [("O", ORIGIN), ("G0", GENERATORS[0]), ("G1", GENERATORS[1])] {
        assert_eq!(curve.hash_to_curve(name.as_bytes(), DST.as_bytes()), coordinates(point));
    }
}

#[test]
fn the_hash_is_its_definition() {
    let curve = IntegerCurve::grumpkin();
    let points = [ORIGIN, GENERATORS[0], GENERATORS[1]].map(coordinates);
    for [a, b] in pairs(2) {
        let sum =
            curve.add(&curve.multiply(&integer(a), &points[1]), &curve.multiply(&integer(b), &points[2]));
        let [x, _] = curve.add(&points[0], &sum).expect("a finite point");
        assert_eq!(x, integer(pedersen(a, b)));
    }
}

fn arkworks(point: Affine<Grumpkin>) -> ark_grumpkin::Affine {
    let [x, y] = [point.x, point.y].map(|x| ark_grumpkin::Fq::from_le_bytes_mod_order(&x.to_bytes_le()));
    ark_grumpkin::Affine::new(x, y)
}

#[test]
fn arkworks_agrees_at_every_level() {
    let pairs = pairs(300);
    let [o, g0, g1] = [ORIGIN, GENERATORS[0], GENERATORS[1]].map(arkworks);
    let scalar = |x: Fr| ark_grumpkin::Fr::from_le_bytes_mod_order(&x.to_bytes_le());
    let expected: Vec<BigUint> = pairs
        .iter()
        .map(|[a, b]| {
            (g0 * scalar(*a) + g1 * scalar(*b) + o).into_affine().x().expect("a finite point").into()
        })
        .collect();
    let decimal = |hashes: Vec<Fr>| hashes.iter().map(|hash| hash.to_string().parse().unwrap()).collect();
    let one_by_one: Vec<BigUint> = decimal(pairs.iter().map(|[a, b]| pedersen(*a, *b)).collect());
    assert_eq!(one_by_one, expected);
    for_each_level(|level| {
        for count in [0, 1, 1023, 1024, pairs.len()] {
            let hashes: Vec<BigUint> = decimal(pedersen_many(level, &pairs[..count]));
            assert!(hashes == expected[..count], "{count} at {level}");
        }
    });
}
