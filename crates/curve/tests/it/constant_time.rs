//! Multiples by secret scalars, at every level, against variable-time sums.

use proofmill_curve::{
    Affine, Curve, Jacobian,
    bls12_381::{G1, G2},
    bn254,
    constant_time::{invert, invert_quadratic, multiple, multiple_in_g2, multiple_of_generator, to_affine},
    grumpkin::Grumpkin,
};
use proofmill_field::{Field, Fp, Packable, Prime, bls12_381::Fr};
use proofmill_testing::{edge_integers, for_each_level, rng};

/// The absolute value of the curve's parameter, the base in which scalars are split.
const X: u64 = 0xd201_0000_0001_0000;

/// Scalars at which digits, carries and quotients change, and uniform ones.
fn scalars() -> Vec<Fr> {
    let mut scalars: Vec<Fr> = (0..34).map(Fr::from).collect();
    let mut power = Fr::from(1);
    for _ in 0..4 {
        for factor in [1, 2, X - 1, 1 << 63, 0x1084_2108_4210_8421, 0x8421_0842_1084_2108] {
            let scalar = power * Fr::from(factor);
            scalars.extend([scalar, scalar - Fr::from(1), scalar + Fr::from(1), -scalar]);
        }
        power *= Fr::from(X);
    }
    let two = Fr::from(2);
    scalars.extend([51u64, 64, 127, 128, 192, 254].map(|exponent| two.pow(exponent)));
    let mut rng = rng(1);
    scalars.extend((0..40).map(|_| Fr::random(&mut rng)));
    scalars
}

/// Powers with an exponent below 2^64.
trait Power {
    fn pow(self, exponent: u64) -> Self;
}

impl Power for Fr {
    fn pow(self, exponent: u64) -> Self {
        proofmill_field::Algebra::pow_vartime(&self, &[exponent])
    }
}

#[test]
fn multiples_of_the_generator_are_right() {
    let scalars = scalars();
    for scalar in &scalars {
        let expected = G1::GENERATOR.mul_vartime(scalar).to_affine();
        for_each_level(|level| {
            assert_eq!(multiple_of_generator(level, &scalar.to_canonical()), expected, "{level}: {scalar}");
        });
    }
}

#[test]
fn multiples_in_g2_are_right() {
    let point = G2::GENERATOR.mul_vartime(&Fr::from(0x1234_5678_9abc_def0)).to_affine();
    for scalar in &scalars() {
        for point in [G2::GENERATOR, point] {
            let expected = point.mul_vartime(scalar).to_affine();
            for_each_level(|level| {
                assert_eq!(
                    multiple_in_g2(level, &point, &scalar.to_canonical()),
                    expected,
                    "{level}: {scalar}"
                );
            });
        }
    }
}

/// Scalars at which the digits of [`multiple`] change, and uniform ones.
fn scalars_below<P: Prime>() -> Vec<Fp<P>> {
    let words = |integer: Vec<u64>| {
        let mut words = P::MODULUS;
        words.as_mut().copy_from_slice(&integer);
        words
    };
    let edges =
        edge_integers(P::MODULUS.as_ref()).into_iter().filter_map(|edge| Fp::from_canonical(words(edge)));
    let small = (0..34).flat_map(|small| [Fp::from(small), -Fp::from(small)]);
    let mut rng = rng(2);
    small.chain(edges.step_by(7)).chain((0..20).map(|_| Fp::random(&mut rng))).collect()
}

fn check_multiples<P: Prime, C: Curve<Base: Packable, Scalar = Fp<P>>>(invert: fn(C::Base) -> C::Base) {
    let base = C::GENERATOR.mul_vartime(&Fp::from(0x1234_5678_9abc_def0));
    for scalar in scalars_below::<P>() {
        for base in [Jacobian::from(C::GENERATOR), base, base.double(), Jacobian::INFINITY] {
            let expected = base.to_affine().mul_vartime(&scalar).to_affine();
            for_each_level(|level| {
                let point = multiple(level, &base, &scalar);
                assert_eq!(point.to_affine(), expected, "{level}: {scalar} in {}", C::NAME);
                assert_eq!(to_affine(&point, invert), expected, "{level}: {scalar} in {}", C::NAME);
            });
        }
    }
    assert_eq!(to_affine::<C>(&Jacobian::INFINITY, invert), Affine::INFINITY);
    assert_eq!(invert(C::Base::ZERO), C::Base::ZERO);
}

#[test]
fn multiples_of_any_point_are_right() {
    check_multiples::<_, bn254::G1>(invert);
    check_multiples::<_, bn254::G2>(invert_quadratic);
    check_multiples::<_, Grumpkin>(invert);
    check_multiples::<_, G1>(invert);
    check_multiples::<_, G2>(invert_quadratic);
}
