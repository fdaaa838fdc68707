//! Operations on vectors of coefficients and values: tasks over chunks, the level's lanes within a chunk.
//!
//! Every operation here takes one or two multiplications per element and is bound by memory with a few cores.
//! Passes are not fused; that keeps the code simple. Chunks have [`CHUNK`] elements, so that the few vectors
//! of an operation stay in the second-level cache.

use proofmill_cpu::{Level, Token};
use proofmill_field::{
    Algebra, Backend, Engine, Field, Fp, LANES, Lanes as _, Packable, Vector,
    bn254::{Fr, FrParams},
    dispatch,
};
use proofmill_run::parallel;

/// Elements of one parallel task: 64 KiB of scalars.
pub(crate) const CHUNK: usize = 1 << LOG_CHUNK;
const LOG_CHUNK: u32 = 11;

/// Number of independent lane groups; they hide the latency of a multiplication.
pub(crate) const CHAINS: usize = 4;

/// Coefficients that all groups process in one step.
pub(crate) const GROUP: usize = CHAINS * LANES;

/// Eight scalars in a vector.
pub(crate) type Lanes<E> = <E as Engine>::Packed<FrParams>;

/// One scalar in every lane.
#[inline(always)]
pub(crate) fn splat<E: Engine>(engine: E, element: Fr) -> Lanes<E> {
    Lanes::<E>::broadcast(engine, element)
}

/// `from[0..8]`, padded with zeros. Costs a multiplication where [`form`] is not one.
#[inline(always)]
pub(crate) fn load<E: Engine>(engine: E, from: &[Fr]) -> Lanes<E> {
    let mut rest = None;
    Lanes::<E>::load(engine, from.first_chunk().unwrap_or_else(|| rest.insert(padded(from))))
}

/// As [`load`], but the elements are divided by [`form`]. This costs nothing. It is for linear maps whose
/// results go to [`store_bits`], and for elements that were multiplied by [`form`] before.
#[inline(always)]
pub(crate) fn load_bits<E: Engine>(engine: E, from: &[Fr]) -> Lanes<E> {
    let mut rest = None;
    let group = from.first_chunk().unwrap_or_else(|| rest.insert(padded(from)));
    Lanes::<E>::load_bits(engine, Fr::as_limbs(group))
}

#[cold]
fn padded(from: &[Fr]) -> [Fr; LANES] {
    let mut group = [Fr::ZERO; LANES];
    group[..from.len()].copy_from_slice(from);
    group
}

/// Writes the first `to.len()` lanes. Costs a multiplication where [`form`] is not one.
#[inline(always)]
pub(crate) fn store<P: Vector<Fr>>(lanes: P, to: &mut [Fr]) {
    match to.first_chunk_mut::<LANES>() {
        Some(group) => lanes.store(group),
        None => {
            let mut group = [Fr::ZERO; LANES];
            lanes.store(&mut group);
            to.copy_from_slice(&group[..to.len()]);
        }
    }
}

/// As [`store`], but the elements are multiplied by [`form`]. This costs nothing. The inverse of
/// [`load_bits`].
#[inline(always)]
pub(crate) fn store_bits<P: Vector<Fr>>(lanes: P, to: &mut [Fr]) {
    match to.first_chunk_mut::<LANES>() {
        Some(group) => lanes.store_scaled(group),
        None => {
            let mut group = [Fr::ZERO; LANES];
            lanes.store_scaled(&mut group);
            to.copy_from_slice(&group[..to.len()]);
        }
    }
}

/// The factor between the two Montgomery forms: an element times this factor has in memory the bits that the
/// level's lanes use for the element.
pub(crate) fn form(level: Level) -> Fr {
    let mut forms = [Fr::ZERO; LANES];
    dispatch!(level, engine => engine.run(#[inline(always)] || write_one(engine, &mut forms)));
    forms[0]
}

#[inline(always)]
fn write_one<E: Engine>(engine: E, to: &mut [Fr]) {
    store_bits(Lanes::<E>::one(engine), to);
}

/// Calls `body` with the index of each chunk's first element and the chunk, on the ambient rayon pool.
pub(crate) fn each_chunk(elements: &mut [Fr], body: impl Fn(usize, &mut [Fr]) + Sync) {
    let chunks = (0..).step_by(CHUNK).zip(elements.chunks_mut(CHUNK));
    parallel::for_each(chunks, |(start, chunk)| body(start, chunk));
}

/// Multiplies the elements by [`form`].
pub(crate) fn bring_in_form(level: Level, elements: &mut [Fr]) {
    multiply(level, elements, form(level));
}

/// Multiplies the elements by a factor.
pub(crate) fn multiply(level: Level, elements: &mut [Fr], factor: Fr) {
    each_chunk(elements, |_, chunk| {
        dispatch!(level, engine => engine.run(#[inline(always)] || scale(engine, chunk, factor)));
    });
}

#[inline(always)]
fn scale<E: Engine>(engine: E, elements: &mut [Fr], factor: Fr) {
    let factor = splat(engine, factor);
    for elements in elements.chunks_mut(LANES) {
        store_bits(load_bits(engine, elements) * factor, elements);
    }
}

/// The value at `x` of the polynomial with these coefficients (lowest first). Horner's rule in `8 * CHAINS`
/// interleaved chains within a chunk, then over the chunks.
pub(crate) fn evaluate(level: Level, coefficients: &[Fr], x: Fr) -> Fr {
    horner(&chunk_values(level, coefficients, x), repeated_square(x, LOG_CHUNK))
}

/// The value at `x` of each chunk as a polynomial.
fn chunk_values(level: Level, coefficients: &[Fr], x: Fr) -> Vec<Fr> {
    parallel::map(coefficients.chunks(CHUNK), |chunk| {
        dispatch!(level, engine => engine.run(
            #[inline(always)]
            || evaluate_chunk(engine, chunk, x)
        ))
    })
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
fn evaluate_chunk<E: Engine>(engine: E, chunk: &[Fr], x: Fr) -> Fr {
    let power = splat(engine, repeated_square(x, GROUP.trailing_zeros()));
    let mut sums = [Lanes::<E>::zero(engine); CHAINS];
    for group in chunk.chunks(GROUP).rev() {
        for (i, sum) in sums.iter_mut().enumerate() {
            let terms = group.get(i * LANES..).unwrap_or_default();
            *sum = *sum * power + load_bits(engine, terms);
        }
    }
    let mut value = [Fr::ZERO; GROUP];
    for (sum, value) in sums.into_iter().zip(value.chunks_mut(LANES)) {
        store_bits(sum, value);
    }
    horner(&value, x)
}

/// `sum += factor * polynomial` over the shorter of the two.
pub(crate) fn add_multiple(level: Level, sum: &mut [Fr], factor: Fr, polynomial: &[Fr]) {
    let length = sum.len().min(polynomial.len());
    each_chunk(&mut sum[..length], |start, sum| {
        let polynomial = &polynomial[start..];
        dispatch!(level, engine => engine.run(#[inline(always)] || add_scaled(engine, sum, factor, polynomial)));
    });
}

/// `sum += factor * polynomial`, where `polynomial` is at least as long.
#[inline(always)]
fn add_scaled<E: Engine>(engine: E, sum: &mut [Fr], factor: Fr, polynomial: &[Fr]) {
    let factor = splat(engine, factor);
    for (sum, terms) in sum.chunks_mut(LANES).zip(polynomial.chunks(LANES)) {
        store_bits(load_bits(engine, sum) + factor * load_bits(engine, terms), sum);
    }
}

/// Divides by `X - x` in place and returns the remainder: `q[i - 1] = f[i] + x q[i]`. The last coefficient
/// becomes zero. There are two passes over the chunks: the first computes the carry out of each chunk, the
/// second divides.
#[must_use]
pub(crate) fn divide_by_linear(level: Level, coefficients: &mut [Fr], x: Fr) -> Fr {
    let step = repeated_square(x, LOG_CHUNK);
    let values = chunk_values(level, coefficients, x);
    let mut carries = vec![Fr::ZERO; values.len()];
    let mut carry = Fr::ZERO;
    for (value, slot) in values.iter().zip(&mut carries).rev() {
        *slot = carry;
        // All chunks are full except the last, which has no carry in.
        carry = *value + step * carry;
    }
    let remainder = carry;
    each_chunk(coefficients, |start, chunk| {
        let carry = carries[start / CHUNK];
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
/// of size `n` unchanged. `coefficients` has length `n + blinding.len()`.
pub(crate) fn blind(coefficients: &mut [Fr], blinding: &[Fr]) {
    for (coefficient, blinding) in coefficients.iter_mut().zip(blinding) {
        *coefficient -= *blinding;
    }
    let n = coefficients.len() - blinding.len();
    coefficients[n..].copy_from_slice(blinding);
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
    fn evaluation_equals_horners_rule() {
        let x = random(1)[0];
        for length in lengths() {
            let polynomial = random(length);
            for level in proofmill_field::prime_field_levels() {
                assert_eq!(evaluate(level, &polynomial, x), horner(&polynomial, x), "{length} at {level}");
            }
        }
    }

    #[test]
    fn a_multiple_is_added_to_the_shorter_of_two() {
        for length in lengths() {
            let (p, q) = (random(length), random(length / 2));
            let (k, l) = (Fr::from(3), -Fr::ONE);
            let expected: Vec<Fr> = (0..length + 5)
                .map(|i| {
                    k * p.get(i).copied().unwrap_or_default() + l * q.get(i).copied().unwrap_or_default()
                })
                .collect();
            for level in proofmill_field::prime_field_levels() {
                let mut sum = vec![Fr::ZERO; length + 5];
                add_multiple(level, &mut sum, k, &p);
                add_multiple(level, &mut sum, l, &q);
                assert_eq!(sum, expected, "{length}");
            }
        }
    }

    #[test]
    fn quotient_times_divisor_plus_remainder_is_the_polynomial() {
        let x = random(1)[0];
        for length in lengths().filter(|length| *length > 0) {
            let polynomial = random(length);
            for level in proofmill_field::prime_field_levels() {
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
        blinded.resize(n + 3, Fr::ZERO);
        blind(&mut blinded, &random(3));
        assert_eq!(blinded[n..], random(3));
        for i in 0..n as u64 {
            let x = root.pow_vartime(&[i]);
            assert_eq!(horner(&blinded, x), horner(&plain, x));
        }
    }
}
