//! Bulk operations on coefficient and evaluation vectors: rayon over chunks, the level's lanes within one.
//!
//! Everything here is one multiplication an element, or two, and memory-bound at a few cores: no attempt is
//! made to avoid passes at the price of clarity. Chunks are of [`CHUNK`] elements so that the handful of
//! vectors that one operation looks at stay in the second-level cache.

use proofmill_field::{
    Algebra, Backend, Engine, Field, Fp, LANES, Packed,
    bn254::{Fr, FrParams},
};
use proofmill_simd::{Level, dispatch};
use rayon::prelude::*;

/// Elements of one parallel task: 64 KiB of scalars.
pub(crate) const CHUNK: usize = 1 << LOG_CHUNK;
const LOG_CHUNK: u32 = 11;

/// Groups of lanes in flight in [`evaluate`], against the latency of a multiplication.
const CHAINS: usize = 4;

/// Eight scalars side by side.
pub(crate) type Lanes<E> = <E as Engine>::Packed<FrParams>;

/// One scalar in every lane.
#[inline(always)]
pub(crate) fn splat<E: Engine>(element: Fr) -> Lanes<E> {
    Lanes::<E>::splat(&Lanes::<E>::prepare(element))
}

/// `from[0..8]`, zeros where `from` is shorter.
#[inline(always)]
pub(crate) fn load<E: Engine>(from: &[Fr]) -> Lanes<E> {
    match from.first_chunk() {
        Some(group) => Lanes::<E>::load(group),
        None => Lanes::<E>::load(&padded(from)),
    }
}

#[cold]
fn padded(from: &[Fr]) -> [Fr; LANES] {
    let mut group = [Fr::ZERO; LANES];
    group[..from.len()].copy_from_slice(from);
    group
}

/// Writes as many lanes as `to` has places.
#[inline(always)]
pub(crate) fn store<P: Packed<FrParams>>(lanes: P, to: &mut [Fr]) {
    match to.first_chunk_mut() {
        Some(group) => lanes.store(group),
        None => {
            let mut group = [Fr::ZERO; LANES];
            lanes.store(&mut group);
            to.copy_from_slice(&group[..to.len()]);
        }
    }
}

/// The value at `x` of the polynomial with these coefficients (lowest first). Horner's rule in
/// `8 * CHAINS` interleaved chains of a chunk, then over the chunks.
pub(crate) fn evaluate(level: Level, coefficients: &[Fr], x: Fr) -> Fr {
    horner(&chunk_values(level, coefficients, x), repeated_square(x, LOG_CHUNK))
}

/// The value at `x` of each chunk by itself.
fn chunk_values(level: Level, coefficients: &[Fr], x: Fr) -> Vec<Fr> {
    coefficients
        .par_chunks(CHUNK)
        .map(|chunk| {
            dispatch!(level, engine => engine.run(
                #[inline(always)]
                || evaluate_chunk(engine, chunk, x)
            ))
        })
        .collect()
}

/// `x^(2^times)`.
#[inline(always)]
pub(crate) fn repeated_square(x: Fr, times: u32) -> Fr {
    (0..times).fold(x, |power, _| power.square())
}

fn horner(coefficients: &[Fr], x: Fr) -> Fr {
    coefficients.iter().rev().fold(Fr::ZERO, |value, coefficient| value * x + *coefficient)
}

#[inline(always)]
fn evaluate_chunk<E: Engine>(_: E, chunk: &[Fr], x: Fr) -> Fr {
    const GROUP: usize = CHAINS * LANES;
    let step = splat::<E>(repeated_square(x, GROUP.trailing_zeros()));
    let mut sums = [Lanes::<E>::zero(); CHAINS];
    for group in chunk.chunks(GROUP).rev() {
        for (i, sum) in sums.iter_mut().enumerate() {
            let terms = group.get(i * LANES..).unwrap_or_default();
            *sum = *sum * step + load::<E>(terms);
        }
    }
    let mut value = [Fr::ZERO; GROUP];
    for (sum, value) in sums.into_iter().zip(value.chunks_mut(LANES)) {
        store(sum, value);
    }
    horner(&value, x)
}

/// `sum of factor * polynomial`, as long as `length`; longer polynomials are a caller's bug.
///
/// # Panics
/// If a polynomial has more than `length` coefficients.
pub(crate) fn linear_combination(level: Level, length: usize, terms: &[(Fr, &[Fr])]) -> Vec<Fr> {
    assert!(terms.iter().all(|(_, polynomial)| polynomial.len() <= length));
    let mut sum = vec![Fr::ZERO; length];
    sum.par_chunks_mut(CHUNK).enumerate().for_each(|(index, sum)| {
        dispatch!(level, engine => engine.run(
            #[inline(always)]
            || for &(factor, polynomial) in terms {
                let start = (index * CHUNK).min(polynomial.len());
                add_scaled(engine, sum, factor, &polynomial[start..]);
            }
        ));
    });
    sum
}

/// `sum += factor * polynomial` over the shorter of the two.
pub(crate) fn add_multiple(level: Level, sum: &mut [Fr], factor: Fr, polynomial: &[Fr]) {
    sum.par_chunks_mut(CHUNK).zip(polynomial.par_chunks(CHUNK)).for_each(|(sum, polynomial)| {
        dispatch!(level, engine => engine.run(#[inline(always)] || add_scaled(engine, sum, factor, polynomial)));
    });
}

/// The polynomial modulo `X^residues - power`, lowest coefficient first; `residues` is a multiple of the lanes and divides the
/// length of a chunk.
pub(crate) fn fold(level: Level, coefficients: &[Fr], residues: usize, power: Fr) -> Vec<Fr> {
    let chunks: Vec<Vec<Fr>> = coefficients
        .par_chunks(CHUNK)
        .map(|chunk| {
            let mut sum = vec![Fr::ZERO; residues];
            dispatch!(level, engine => engine.run(#[inline(always)] || fold_chunk(engine, chunk, power, &mut sum)));
            sum
        })
        .collect();
    let step = repeated_square(power, (CHUNK / residues).trailing_zeros());
    let mut sum = vec![Fr::ZERO; residues];
    for chunk in chunks.iter().rev() {
        for (sum, value) in sum.iter_mut().zip(chunk) {
            *sum = *sum * step + *value;
        }
    }
    sum
}

#[inline(always)]
fn fold_chunk<E: Engine>(_: E, chunk: &[Fr], power: Fr, sum: &mut [Fr]) {
    let power = splat::<E>(power);
    let residues = sum.len();
    for block in chunk.chunks(residues).rev() {
        for (i, sum) in sum.chunks_mut(LANES).enumerate() {
            let terms = block.get(i * LANES..).unwrap_or_default();
            store(load::<E>(sum) * power + load::<E>(terms), sum);
        }
    }
}

/// `sum += factor * polynomial` over the shorter of the two.
#[inline(always)]
fn add_scaled<E: Engine>(_: E, sum: &mut [Fr], factor: Fr, polynomial: &[Fr]) {
    let factor = splat::<E>(factor);
    let length = sum.len().min(polynomial.len());
    for (sum, terms) in sum[..length].chunks_mut(LANES).zip(polynomial.chunks(LANES)) {
        let lanes = load::<E>(sum) + factor * load::<E>(terms);
        store(lanes, sum);
    }
}

/// Divides by `X - x` in place and gives the remainder: `q[i - 1] = f[i] + x q[i]`. The last coefficient
/// becomes zero. Each chunk runs twice: with nothing carried in to learn what it carries out, then for good.
#[must_use]
pub(crate) fn divide_by_linear(level: Level, coefficients: &mut [Fr], x: Fr) -> Fr {
    let step = repeated_square(x, LOG_CHUNK);
    let values = chunk_values(level, coefficients, x);
    let mut carries = vec![Fr::ZERO; values.len()];
    let mut carry = Fr::ZERO;
    for (value, slot) in values.iter().zip(&mut carries).rev() {
        *slot = carry;
        // All chunks but the last, which carries nothing in, are full.
        carry = *value + step * carry;
    }
    let remainder = carry;
    coefficients.par_chunks_mut(CHUNK).zip(carries).for_each(|(chunk, carry)| {
        dispatch!(level, engine => {
            let backend = engine.backend();
            divide_chunk(Fr::slice_with_backend_mut(backend, chunk), x.with_backend(backend), carry.with_backend(backend));
        });
    });
    remainder
}

fn divide_chunk<B: Backend>(chunk: &mut [Fp<FrParams, B>], x: Fp<FrParams, B>, mut carry: Fp<FrParams, B>) {
    for coefficient in chunk.iter_mut().rev() {
        let quotient = carry;
        carry = *coefficient + x * carry;
        *coefficient = quotient;
    }
}

/// Adds `blinding(X) * (X^n - 1)` to a polynomial of `n` coefficients, which leaves its values on the domain
/// of size `n` as they are.
pub(crate) fn blind(coefficients: &mut Vec<Fr>, blinding: &[Fr]) {
    for (coefficient, blinding) in coefficients.iter_mut().zip(blinding) {
        *coefficient -= *blinding;
    }
    coefficients.extend_from_slice(blinding);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

    fn lengths() -> impl Iterator<Item = usize> {
        (0..=3 * LANES + 1).chain([31, 32, 33, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7])
    }

    fn random(length: usize) -> Vec<Fr> {
        let mut rng = ChaCha20Rng::seed_from_u64(length as u64);
        (0..length).map(|_| Fr::random(&mut rng)).collect()
    }

    #[test]
    fn evaluation_is_horners() {
        let x = random(1)[0];
        for length in lengths() {
            let polynomial = random(length);
            for level in Level::prime_field_levels() {
                assert_eq!(evaluate(level, &polynomial, x), horner(&polynomial, x), "{length} at {level}");
            }
        }
    }

    #[test]
    fn a_combination_adds_every_term() {
        for length in lengths() {
            let (p, q) = (random(length), random(length / 2));
            let (k, l) = (Fr::from(3), -Fr::ONE);
            let expected: Vec<Fr> = (0..length + 5)
                .map(|i| {
                    k * p.get(i).copied().unwrap_or_default() + l * q.get(i).copied().unwrap_or_default()
                })
                .collect();
            for level in Level::prime_field_levels() {
                assert_eq!(linear_combination(level, length + 5, &[(k, &p), (l, &q)]), expected, "{length}");
            }
        }
    }

    #[test]
    fn a_quotient_and_a_remainder_make_the_polynomial() {
        let x = random(1)[0];
        for length in lengths().filter(|length| *length > 0) {
            let polynomial = random(length);
            for level in Level::prime_field_levels() {
                let mut quotient = polynomial.clone();
                assert_eq!(divide_by_linear(level, &mut quotient, x), horner(&polynomial, x));
                assert_eq!(quotient.last(), Some(&Fr::ZERO));
                let product: Vec<Fr> = (0..length)
                    .map(|i| if i > 0 { quotient[i - 1] } else { Fr::ZERO } - x * quotient[i])
                    .collect();
                assert_eq!(product[1..], polynomial[1..], "{length} at {level}");
            }
        }
    }

    #[test]
    fn blinding_vanishes_on_the_domain() {
        let (n, root) = (8, Fr::root_of_unity(3).expect("a root"));
        let plain = random(n);
        let mut blinded = plain.clone();
        blind(&mut blinded, &random(3));
        assert_eq!(blinded.len(), n + 3);
        for i in 0..n as u64 {
            let x = root.pow_vartime(&[i]);
            assert_eq!(horner(&blinded, x), horner(&plain, x));
        }
    }
}
