//! Transforms over Goldilocks against sums by definition and the known answers of Polygon's C++ library.

use proofmill_field::{
    Algebra, Field,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_hash::{Poseidon, sponge::linear_hash};
use proofmill_ntt::goldilocks::{GoldilocksDomain, Order, evaluate as evaluate_columns};
use proofmill_testing::{for_each_goldilocks_level, for_each_pool, rng};
use serde_json::Value;

fn random(n: usize) -> Vec<Goldilocks> {
    let mut rng = rng(n as u64);
    (0..n).map(|_| Goldilocks::random(&mut rng)).collect()
}

fn evaluate(coefficients: &[Goldilocks], x: Goldilocks) -> Goldilocks {
    coefficients.iter().rev().fold(Goldilocks::ZERO, |sum, c| sum * x + *c)
}

/// Plonky3's generator of the subgroup of order 2^32, ours to a power that is 13 modulo 64, and others.
fn generators() -> [Goldilocks; 4] {
    let power = |e: u64| Goldilocks::ROOT_OF_UNITY.pow_vartime(&[e]);
    [Goldilocks::new(0x1856_29dc_da58_878c), power(31), power(5), power((1 << 32) - 21)]
}

#[test]
fn is_the_sum_of_the_definition() {
    (0..=13).for_each(|log_n| is_the_sum_with(&GoldilocksDomain::new(log_n).unwrap(), log_n));
}

#[test]
fn is_the_sum_with_other_generators() {
    for generator in generators() {
        for log_n in [0, 1, 2, 4, 5, 6, 7, 10, 12] {
            is_the_sum_with(&GoldilocksDomain::with_generator(log_n, generator).unwrap(), log_n);
        }
    }
    let order_31 = Goldilocks::ROOT_OF_UNITY.square();
    for generator in [Goldilocks::ZERO, Goldilocks::ONE, -Goldilocks::ONE, Goldilocks::GENERATOR, order_31] {
        assert!(GoldilocksDomain::with_generator(3, generator).is_none(), "{generator:?}");
    }
}

fn is_the_sum_with(domain: &GoldilocksDomain, log_n: u32) {
    let shift = Goldilocks::GENERATOR;
    let coefficients = random(domain.len());
    let some = (0..domain.len()).step_by(domain.len().div_ceil(64));
    for_each_goldilocks_level(|level| {
        let mut natural = coefficients.clone();
        domain.ntt(level, &mut natural, Order::Natural);
        for k in some.clone() {
            let x = domain.root().pow_vartime(&[k as u64]);
            assert_eq!(natural[k], evaluate(&coefficients, x), "{level}, 2^{log_n}, value {k}");
        }
        let mut reversed = coefficients.clone();
        domain.ntt(level, &mut reversed, Order::BitReversed);
        for k in 0..domain.len() {
            let place = if log_n == 0 { 0 } else { k.reverse_bits() >> (usize::BITS - log_n) };
            assert_eq!(reversed[place], natural[k], "{level}, 2^{log_n}, value {k} in bit-reversed order");
        }
        domain.intt(level, &mut natural, Order::Natural);
        assert!(natural == coefficients, "{level}, 2^{log_n}, inverse");
        let mut coset = coefficients.clone();
        domain.coset_ntt(level, &mut coset, shift, Order::Natural);
        for k in some.clone() {
            let x = shift * domain.root().pow_vartime(&[k as u64]);
            assert_eq!(coset[k], evaluate(&coefficients, x), "{level}, 2^{log_n}, value {k} on the coset");
        }
        domain.coset_intt(level, &mut coset, shift);
        assert!(coset == coefficients, "{level}, 2^{log_n}, inverse from the coset");
    });
}

/// A word of a known answer, in hexadecimal.
fn word(text: &Value) -> u64 {
    u64::from_str_radix(text.as_str().expect("a string"), 16).expect("hexadecimal digits")
}

/// The values of the known answers' generator (xorshift64).
fn generated(n: usize, seed: u64) -> Vec<Goldilocks> {
    let mut state = seed;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Goldilocks::new(state)
    };
    (0..n).map(|_| next()).collect()
}

/// Asserts that the values have the first value, the last value and the digest of a known answer.
#[track_caller]
fn assert_answer(values: &[Goldilocks], answer: &Value, what: &str) {
    assert_eq!(values[0].to_canonical(), word(&answer["first"]), "{what}, first value");
    if let Some(last) = answer.get("last") {
        assert_eq!(values[values.len() - 1].to_canonical(), word(last), "{what}, last value");
    }
    let digest = linear_hash::<Poseidon>(values).0;
    let expected = answer["linear_hash_of_output"].as_array().expect("a list");
    assert!(expected.iter().map(word).eq(digest), "{what}, digest");
}

#[test]
fn values_are_those_of_polygons_library() {
    let answers: Value =
        serde_json::from_str(include_str!("../../../hash/tests/data/hermez-kat.json")).unwrap();
    let answers = answers["ntt"].as_array().unwrap();
    let mut extended = 0;
    for answer in answers {
        let log_n = answer["log_n"].as_u64().unwrap() as u32;
        let domain = GoldilocksDomain::new(log_n).unwrap();
        let input = generated(domain.len(), word(&answer["xorshift_seed"]));
        let extend = answer.get("operation").is_some();
        extended += usize::from(extend);
        for_each_goldilocks_level(|level| {
            let mut values = input.clone();
            if extend {
                let shift = Goldilocks::GENERATOR;
                values.resize(2 * domain.len(), Goldilocks::ZERO);
                domain.low_degree_extension(level, &input, shift, &mut values, Order::Natural);
            } else {
                domain.ntt(level, &mut values, Order::Natural);
            }
            assert_answer(&values, answer, &format!("{level}, 2^{log_n}, {}", answer["operation"]));
        });
    }
    assert_eq!((answers.len(), extended), (12, 6));
}

/// Sums are largest, or cancel, for extreme words.
#[test]
fn words_at_their_ends_carry_nothing_away() {
    let edges =
        [0, 1, (1 << 32) - 1, 1 << 32, (1 << 48) - 1, 1 << 48, 0xffff_ffff_0000_0000, 0xffff_fffe_ffff_ffff];
    let edges = edges.map(|word| Goldilocks::from_canonical(word).unwrap());
    let largest = -Goldilocks::ONE;
    for log_n in [3, 4, 6, 8, 12, 13] {
        let domain = GoldilocksDomain::new(log_n).unwrap();
        let patterns: [&dyn Fn(usize) -> Goldilocks; 5] = [
            &|_| largest,
            &|i| if i % 2 == 0 { largest } else { Goldilocks::ZERO },
            &|i| if i == 0 { largest } else { Goldilocks::ZERO },
            &|i| edges[i % 8],
            &|i| edges[i / 8 % 8],
        ];
        for (number, pattern) in patterns.iter().enumerate() {
            let coefficients: Vec<_> = (0..domain.len()).map(pattern).collect();
            for_each_goldilocks_level(|level| {
                for shift in [Goldilocks::ONE, largest, Goldilocks::GENERATOR] {
                    let mut values = coefficients.clone();
                    domain.coset_ntt(level, &mut values, shift, Order::Natural);
                    for k in [0, 1, domain.len() / 2, domain.len() - 1] {
                        let x = shift * domain.root().pow_vartime(&[k as u64]);
                        let what = format!("{level}, 2^{log_n}, pattern {number}, shift {shift}, value {k}");
                        assert_eq!(values[k], evaluate(&coefficients, x), "{what}");
                    }
                    domain.coset_intt(level, &mut values, shift);
                    assert!(
                        values == coefficients,
                        "{level}, 2^{log_n}, pattern {number}, shift {shift}, inverse"
                    );
                }
            });
        }
    }
}

/// Transforms of three and four steps.
#[test]
fn many_values_are_the_sum_of_the_definition() {
    let shift = Goldilocks::GENERATOR;
    for log_n in [17, 18, 20] {
        let domain = GoldilocksDomain::new(log_n).unwrap();
        let coefficients = random(domain.len());
        for_each_goldilocks_level(|level| {
            let mut values = coefficients.clone();
            domain.coset_ntt(level, &mut values, shift, Order::Natural);
            for k in [0, 1, 2, domain.len() / 3, domain.len() - 1] {
                let x = shift * domain.root().pow_vartime(&[k as u64]);
                assert_eq!(values[k], evaluate(&coefficients, x), "{level}, 2^{log_n}, value {k}");
            }
            domain.coset_intt(level, &mut values, shift);
            assert!(values == coefficients, "{level}, 2^{log_n}, inverse");
        });
    }
}

#[test]
fn columns_of_a_matrix_are_transformed_each_for_itself() {
    let shift = Goldilocks::GENERATOR;
    for log_n in [0, 1, 3, 6, 8, 9, 11, 18] {
        let domain = GoldilocksDomain::new(log_n).unwrap();
        let widths: &[usize] = match log_n {
            18 => &[3],
            // More vectors than are transposed, at every level but those of SVE's longest vectors: short ones in one step.
            1 | 6 | 8 | 9 => &[2, 3, 4, 8, 13, 16, 37, 67],
            _ => &[2, 3, 4, 8, 13, 16],
        };
        for &width in widths {
            let columns: Vec<_> = (0..width).map(|c| random(domain.len() + c)[c..].to_vec()).collect();
            let matrix: Vec<_> =
                (0..domain.len()).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
            for_each_goldilocks_level(|level| {
                for order in [Order::Natural, Order::BitReversed] {
                    let mut values = matrix.clone();
                    domain.coset_ntt(level, &mut values, shift, order);
                    for (c, column) in columns.iter().enumerate() {
                        let mut alone = column.clone();
                        domain.coset_ntt(level, &mut alone, shift, order);
                        let equal = values[c..].iter().step_by(width).eq(&alone);
                        assert!(equal, "{level}, 2^{log_n} x {width}, column {c}, {order:?}");
                    }
                    if order == Order::Natural {
                        domain.coset_intt(level, &mut values, shift);
                        assert!(values == matrix, "{level}, 2^{log_n} x {width}, back");
                    }
                }
            });
        }
    }
}

#[test]
fn threads_do_not_change_it() {
    let domain = GoldilocksDomain::new(18).unwrap();
    let coefficients = random(domain.len());
    for_each_goldilocks_level(|level| {
        for order in [Order::Natural, Order::BitReversed] {
            let mut alone = coefficients.clone();
            for_each_pool_of_one(|| domain.ntt(level, &mut alone, order));
            for_each_pool(&[2, 5], |threads| {
                let mut values = coefficients.clone();
                domain.ntt(level, &mut values, order);
                assert!(values == alone, "{level}, {order:?}, {threads} threads");
            });
        }
    });
}

fn for_each_pool_of_one(body: impl FnMut() + Send) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(body);
}

#[test]
fn a_low_degree_extension_is_the_polynomial_on_a_larger_coset() {
    let shift = Goldilocks::GENERATOR;
    let sizes = [(0, 1), (1, 2), (5, 3), (9, 1), (9, 8), (9, 75), (10, 19)];
    for (generator, (log_n, width)) in
        [Goldilocks::ROOT_OF_UNITY, generators()[0]].into_iter().flat_map(|g| sizes.map(|size| (g, size)))
    {
        let domain = |log_n| GoldilocksDomain::with_generator(log_n, generator).unwrap();
        let (domain_of, domain) = (domain, domain(log_n));
        let coefficients = random(domain.len() * width);
        for log_blow_up in 0..=3 {
            let larger = domain_of(log_n + log_blow_up);
            let mut expected = coefficients.clone();
            expected.resize(coefficients.len() << log_blow_up, Goldilocks::ZERO);
            for_each_goldilocks_level(|level| {
                let mut values = coefficients.clone();
                domain.ntt(level, &mut values, Order::Natural);
                for order in [Order::Natural, Order::BitReversed] {
                    let mut expected = expected.clone();
                    larger.coset_ntt(level, &mut expected, shift, order);
                    let mut extension = vec![Goldilocks::ZERO; expected.len()];
                    domain.low_degree_extension(level, &values, shift, &mut extension, order);
                    let mut vector = values.clone();
                    domain.extend_vector(level, &mut vector, log_blow_up, shift, order);
                    assert!(
                        extension == expected && vector == expected,
                        "{level}, 2^{log_n} x {width} by 2^{log_blow_up}, {order:?}"
                    );
                }
            });
        }
    }
}

/// Horner's rule, one coefficient at a time.
fn evaluate_at<const D: usize>(
    coefficients: impl DoubleEndedIterator<Item = Goldilocks>,
    point: Extension<Goldilocks, D>,
) -> Extension<Goldilocks, D>
where
    Extension<Goldilocks, D>: Field,
{
    coefficients.rev().fold(Extension::ZERO, |sum, c| sum * point + Extension::from_base(c))
}

fn evaluations_agree<const D: usize>(point: Extension<Goldilocks, D>)
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    for (log_n, width) in [(0, 1), (2, 1), (13, 1), (3, 2), (9, 3), (9, 7), (8, 8), (10, 19)] {
        let domain = GoldilocksDomain::new(log_n).unwrap();
        // The largest element in every position, and random ones.
        let largest = vec![-Goldilocks::ONE; domain.len() * width];
        for coefficients in [largest, random(domain.len() * width)] {
            let expected: Vec<_> = (0..width)
                .map(|c| evaluate_at(coefficients[c..].iter().copied().step_by(width), point))
                .collect();
            for_each_goldilocks_level(|level| {
                let what = format!("{level}, 2^{log_n} x {width}, {point:?}");
                assert_eq!(evaluate_columns(level, &coefficients, width, point), expected, "{what}");
            });
        }
    }
}

#[test]
fn polynomials_at_a_point_have_the_values_of_horners_rule() {
    let mut rng = rng(7);
    let mut element = || Goldilocks::random(&mut rng);
    for _ in 0..2 {
        evaluations_agree(Extension([element(), element()]));
        evaluations_agree(Extension([element(), element(), element()]));
    }
    let root = GoldilocksDomain::new(9).unwrap().root();
    for point in [Goldilocks::ZERO, Goldilocks::GENERATOR, Goldilocks::GENERATOR * root, element()] {
        evaluations_agree(Extension::<_, 2>::from_base(point));
    }
    evaluations_agree(Extension([-Goldilocks::ONE; 3]));
}
