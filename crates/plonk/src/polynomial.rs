//! Bulk operations on coefficient and evaluation vectors: rayon over chunks, the level's lanes within one.
//!
//! Everything here is one multiplication an element, or two, and memory-bound at a few cores: no attempt is
//! made to avoid passes at the price of clarity. Chunks are of [`CHUNK`] elements so that the handful of
//! vectors that one operation looks at stay in the second-level cache.

use proofmill_cpu::{Level, Token};
use proofmill_field::{
    Algebra, Backend, Engine, Field, Fp, LANES, Lanes as _, Packable, Vector,
    bn254::{Fr, FrParams},
    dispatch,
};
use rayon::prelude::*;

/// Elements of one parallel task: 64 KiB of scalars.
pub(crate) const CHUNK: usize = 1 << LOG_CHUNK;
const LOG_CHUNK: u32 = 11;

/// Groups of lanes in flight, against the latency of a multiplication.
pub(crate) const CHAINS: usize = 4;

/// Coefficients that the groups take at a time.
pub(crate) const GROUP: usize = CHAINS * LANES;

/// Eight scalars side by side.
pub(crate) type Lanes<E> = <E as Engine>::Packed<FrParams>;

/// One scalar in every lane.
#[inline(always)]
pub(crate) fn splat<E: Engine>(engine: E, element: Fr) -> Lanes<E> {
    Lanes::<E>::splat(engine, &Lanes::<E>::prepare(engine, element))
}

/// `from[0..8]`, zeros where `from` is shorter. Costs a multiplication where [`form`] is not one.
#[inline(always)]
pub(crate) fn load<E: Engine>(engine: E, from: &[Fr]) -> Lanes<E> {
    match from.first_chunk::<LANES>() {
        Some(group) => Lanes::<E>::load(engine, group),
        None => Lanes::<E>::load(engine, &padded(from)),
    }
}

/// As [`load`], but the elements divided by [`form`], which costs nothing: for linear maps, that end in [`store_bits`], and for
/// elements that have been multiplied by it.
#[inline(always)]
pub(crate) fn load_bits<E: Engine>(engine: E, from: &[Fr]) -> Lanes<E> {
    match from.first_chunk::<LANES>() {
        Some(group) => Lanes::<E>::load_bits(engine, Fr::as_limbs(group)),
        None => Lanes::<E>::load_bits(engine, Fr::as_limbs(&padded(from))),
    }
}

#[cold]
fn padded(from: &[Fr]) -> [Fr; LANES] {
    let mut group = [Fr::ZERO; LANES];
    group[..from.len()].copy_from_slice(from);
    group
}

/// Writes as many lanes as `to` has places. Costs a multiplication where [`form`] is not one.
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

/// As [`store`], but the elements times [`form`], which costs nothing: the inverse of [`load_bits`].
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

/// What an element is multiplied by for its bits in memory to be those that the level's lanes compute with: Montgomery's constants
/// of lanes and memory differ.
pub(crate) fn form(level: Level) -> Fr {
    let mut forms = [Fr::ZERO; LANES];
    dispatch!(level, engine => engine.run(#[inline(always)] || write_one(engine, &mut forms)));
    forms[0]
}

#[inline(always)]
fn write_one<E: Engine>(engine: E, to: &mut [Fr]) {
    store_bits(Lanes::<E>::one(engine), to);
}

/// Calls `body` with the place of each chunk's first element and the chunk, on the ambient rayon pool. Not generic, so that
/// the machinery of parallel loops is compiled once.
pub(crate) fn each_chunk(elements: &mut [Fr], body: &(dyn Fn(usize, &mut [Fr]) + Sync)) {
    elements.par_chunks_mut(CHUNK).enumerate().for_each(|(index, chunk)| body(index * CHUNK, chunk));
}

/// Multiplies the elements by [`form`].
pub(crate) fn bring_in_form(level: Level, elements: &mut [Fr]) {
    let factor = form(level);
    each_chunk(elements, &|_, chunk| {
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
    each_chunk(&mut sum[..length], &|start, sum| {
        let polynomial = &polynomial[start..];
        dispatch!(level, engine => engine.run(#[inline(always)] || add_scaled(engine, sum, factor, polynomial)));
    });
}

/// `sum += factor * polynomial`, which is as long or longer.
#[inline(always)]
fn add_scaled<E: Engine>(engine: E, sum: &mut [Fr], factor: Fr, polynomial: &[Fr]) {
    let factor = splat(engine, factor);
    for (sum, terms) in sum.chunks_mut(LANES).zip(polynomial.chunks(LANES)) {
        store_bits(load_bits(engine, sum) + factor * load_bits(engine, terms), sum);
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
    each_chunk(coefficients, &|start, chunk| {
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
/// of size `n` as they are; behind the coefficients there is room for as many as `blinding` has.
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
    fn evaluation_is_horners() {
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
    fn a_quotient_and_a_remainder_make_the_polynomial() {
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
