//! Openings and folding at every level, against the definitions on single elements.

use proofmill_field::{
    Algebra, Field, Invert,
    goldilocks::{Extension, ExtensionField, Goldilocks, MODULUS},
};
use proofmill_stark::openings::{Claim, Claimed, Coset, Opened, evaluate, fold, quotients};
use proofmill_testing::{for_each_goldilocks_level, for_each_pool, rng};
use rand::{Rng, RngCore};

/// Any word: those from p on represent elements, too.
fn word(rng: &mut impl RngCore) -> u64 {
    const EDGES: [u64; 8] =
        [0, 1, MODULUS - 1, MODULUS, MODULUS + 1, u64::MAX, 0xffff_ffff, 0xffff_ffff_0000_0000];
    if rng.random_bool(0.4) { EDGES[rng.random_range(0..EDGES.len())] } else { rng.next_u64() }
}

fn extension<const N: usize>(rng: &mut impl RngCore) -> Extension<Goldilocks, N> {
    Extension(std::array::from_fn(|_| Goldilocks::new(word(rng))))
}

/// A point that is in no coset of the base field.
fn point<const N: usize>(rng: &mut impl RngCore) -> Extension<Goldilocks, N> {
    let mut point = extension(rng);
    point.0[N - 1] = Goldilocks::new(rng.next_u64() | 1);
    point
}

/// The elements of the coset of order `2^log_rows`, in bit-reversed order.
fn elements(shift: Goldilocks, log_rows: u32) -> Vec<Goldilocks> {
    let root = Goldilocks::root_of_unity(log_rows).expect("a small order");
    let reversed = |row: u64| if log_rows == 0 { 0 } else { row.reverse_bits() >> (64 - log_rows) };
    (0..1 << log_rows).map(|row| shift * root.pow_vartime(&[reversed(row)])).collect()
}

const WIDTHS: [usize; 9] = [1, 2, 3, 4, 5, 8, 13, 70, 530];

fn openings<const N: usize>(log_rows: u32, widths: &[usize])
where
    Extension<Goldilocks, N>: ExtensionField<N> + Invert,
{
    let mut rng = rng(u64::from(log_rows) * 100 + N as u64);
    let rows = 1 << log_rows;
    let shift = Goldilocks::new(7);
    let coset = Coset::new(Goldilocks::ROOT_OF_UNITY, shift).expect("a generator");
    let elements = elements(shift, log_rows);
    let points: Vec<Extension<Goldilocks, N>> = (0..3).map(|_| point(&mut rng)).collect();
    let powers: Vec<_> = (0..widths.iter().copied().max().unwrap()).map(|_| extension(&mut rng)).collect();
    let words: Vec<Vec<u64>> =
        widths.iter().map(|width| (0..rows * width).map(|_| word(&mut rng)).collect()).collect();
    // Some at one point, some at two.
    let of = |index: usize| if index.is_multiple_of(2) { vec![2, 0] } else { vec![index % 3] };
    let opened: Vec<_> = (0..)
        .zip(widths.iter().zip(&words))
        .map(|(index, (width, words))| Opened { words, width: *width, points: of(index) })
        .collect();
    let claimed: Vec<_> = opened
        .iter()
        .map(|matrix| {
            let claim = |point: &usize| Claim {
                point: *point,
                value: extension(&mut rng),
                factor: extension(&mut rng),
            };
            Claimed {
                words: matrix.words,
                width: matrix.width,
                powers: &powers,
                claims: matrix.points.iter().map(claim).collect(),
            }
        })
        .collect();

    let base = Extension::<Goldilocks, N>::from_base;
    let inverse = |point: usize, row: usize| (points[point] - base(elements[row])).invert_vartime().unwrap();
    let inverses: Vec<Vec<_>> =
        (0..points.len()).map(|point| (0..rows).map(|row| inverse(point, row)).collect()).collect();
    let n = [rows as u64];
    let scale = (shift.pow_vartime(&n) * Goldilocks::new(rows as u64)).invert_vartime().unwrap();
    let values: Vec<Vec<Vec<_>>> = opened
        .iter()
        .map(|matrix| {
            matrix
                .points
                .iter()
                .map(|point| {
                    let vanishing = points[*point].pow_vartime(&n) - base(shift.pow_vartime(&n));
                    (0..matrix.width)
                        .map(|column| {
                            let sum = (0..rows).fold(Extension::ZERO, |sum, row| {
                                let value = Goldilocks::new(matrix.words[row * matrix.width + column]);
                                sum + inverses[*point][row].scale(value * elements[row])
                            });
                            sum * vanishing.scale(scale)
                        })
                        .collect()
                })
                .collect()
        })
        .collect();
    let sums: Vec<_> = (0..rows)
        .map(|row| {
            claimed.iter().fold(Extension::ZERO, |sum, matrix| {
                let row_words = matrix.words[row * matrix.width..][..matrix.width].iter();
                let combined = row_words
                    .zip(&powers)
                    .fold(Extension::ZERO, |sum, (word, power)| sum + power.scale(Goldilocks::new(*word)));
                matrix.claims.iter().fold(sum, |sum, claim| {
                    sum + (claim.value - claim.factor * combined) * inverses[claim.point][row]
                })
            })
        })
        .collect();
    for_each_goldilocks_level(|level| {
        assert_eq!(evaluate(level, &coset, log_rows, &opened, &points), values, "2^{log_rows} rows, {level}");
        let found = quotients(level, &coset, log_rows, &claimed, &points);
        assert!(found == sums, "2^{log_rows} rows, {level}");
    });
}

#[test]
fn openings_are_the_definitions() {
    for log_rows in [0, 1, 3, 8, 9] {
        openings::<2>(log_rows, &WIDTHS);
        openings::<3>(log_rows, &WIDTHS);
    }
    openings::<2>(12, &[2, 5]);
}

/// The largest sums: all words and factors as large as they may be.
#[test]
fn sums_do_not_overflow() {
    let (log_rows, width) = (9, 600);
    let words = vec![u64::MAX; width << log_rows];
    let coset = Coset::new(Goldilocks::ROOT_OF_UNITY, Goldilocks::ONE).expect("a generator");
    let point = Extension([Goldilocks::new(3), Goldilocks::new(5)]);
    let largest = Extension([-Goldilocks::ONE; 2]);
    // One claim whose quotient is the combination, up to the factor 1 / (z - x).
    let claims = vec![Claim { point: 0, value: Extension::ZERO, factor: Extension::ONE }];
    let sum = largest.scale(Goldilocks::new(u64::MAX) * Goldilocks::new(width as u64));
    let expected: Vec<_> = elements(Goldilocks::ONE, log_rows)
        .into_iter()
        .map(|x| -sum * (point - Extension::from_base(x)).invert_vartime().unwrap())
        .collect();
    let opened = [Opened { words: &words, width, points: vec![0] }];
    let powers = vec![largest; width];
    let claimed = [Claimed { words: &words, width, powers: &powers, claims }];
    for_each_goldilocks_level(|level| {
        let found = quotients(level, &coset, log_rows, &claimed, &[point]);
        assert!(found == expected, "{level}");
        // A constant polynomial.
        let constant = Extension::from_base(Goldilocks::new(u64::MAX));
        let found = evaluate(level, &coset, log_rows, &opened, &[point]);
        assert!(found[0][0].iter().all(|value| *value == constant), "{level}");
    });
}

fn folds<const N: usize>(log_rows: u32, log_arity: u32)
where
    Extension<Goldilocks, N>: ExtensionField<N>,
{
    let mut rng = rng(u64::from(log_rows * 10 + log_arity));
    let words: Vec<_> = (0..N << log_rows).map(|_| word(&mut rng)).collect();
    let beta = extension::<N>(&mut rng);
    let root = Goldilocks::ROOT_OF_UNITY;
    let inverses = Coset::new(root.invert_vartime().unwrap(), Goldilocks::ONE).expect("a generator");
    let mut expected: Vec<_> = words
        .chunks(N)
        .map(|words| Extension::<_, N>(std::array::from_fn(|d| Goldilocks::new(words[d]))))
        .collect();
    let mut power = beta;
    for round in 0..log_arity {
        let elements = elements(Goldilocks::ONE, log_rows - round);
        expected = (0..expected.len() / 2)
            .map(|i| {
                let [a, b] = [expected[2 * i], expected[2 * i + 1]];
                let half = Goldilocks::new(2).invert_vartime().unwrap();
                let inverse = elements[2 * i].invert_vartime().unwrap();
                (a + b).scale(half) + (power * (a - b)).scale(half * inverse)
            })
            .collect();
        power = power.square();
    }
    for_each_goldilocks_level(|level| {
        let found = fold(level, &inverses, log_arity, beta, &words);
        assert!(found == expected, "2^{log_rows} values, arity 2^{log_arity}, {level}");
    });
}

#[test]
fn folding_is_the_definition() {
    for log_rows in [1, 2, 5, 9, 10, 13] {
        for log_arity in 1..=4.min(log_rows) {
            folds::<2>(log_rows, log_arity);
            folds::<3>(log_rows, log_arity);
        }
    }
}

#[test]
fn threads_do_not_change_openings() {
    for_each_pool(&[1, 2, 5], |_| {
        openings::<2>(10, &[3, 9]);
        folds::<2>(13, 1);
    });
}
