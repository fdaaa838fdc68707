//! The Pedersen hash of two elements of BN254's scalar field: `H(a, b) = x(O + a G0 + b G1)` over Grumpkin.
//!
//! a and b act as the integers below r that they are, r being less than the group's order. O, G0 and G1 are
//! [hashed to the curve](proofmill_curve::hash_to_curve) from their names, so that nobody knows a relation between them;
//! finding a collision is finding one. O keeps H(a, b) and H(-a, -b) apart, and makes it as hard to meet a case that
//! additions of different points do not cover, such as the zero point, as to find a relation.
//!
//! A scalar is cut into windows, whose digit e stands for the odd number 2 e - (2^w - 1), so that none is zero:
//! the sum over k < K of `(2 e_k - (2^w - 1)) 2^(w k) G/2` is `a G - (2^(w K) - 1)/2 G`. What is missing is in the
//! [point that one starts from](start). The circuits add up the same points.

mod generators;

use proofmill_curve::{
    Affine, FixedBase, Jacobian, Xyzz,
    grumpkin::{self, Grumpkin},
};
use proofmill_field::{Field, PrimeField, bn254::Fr};
use proofmill_simd::Level;
use rayon::prelude::*;
use std::sync::LazyLock;

/// The tag of the generators' derivation: hash-to-curve of "O", "G0" and "G1", with SHA-256 and the map of Shallue and van
/// de Woestijne (RFC 9380).
pub const DST: &str = "PROOFMILL-GRUMPKIN-PEDERSEN-V1_XMD:SHA-256_SVDW_RO_";

/// The point that every hash begins with.
pub const ORIGIN: Affine<Grumpkin> = point(generators::O);

/// The points that the inputs multiply.
pub const GENERATORS: [Affine<Grumpkin>; 2] = [point(generators::G0), point(generators::G1)];

const fn point([x, y]: [[u64; 4]; 2]) -> Affine<Grumpkin> {
    Affine { x: Fr::constant(x), y: Fr::constant(y) }
}

/// The hash of two elements.
pub fn pedersen(a: Fr, b: Fr) -> Fr {
    let mut sum = Xyzz::from(TABLES.start);
    for (input, windows) in [a, b].iter().zip(&TABLES.windows) {
        sum = summands(input, windows).fold(sum, |sum, point| sum.add_affine(&point));
    }
    Jacobian::from(sum).to_affine().x
}

/// The hashes of many pairs. Runs on the ambient rayon pool.
pub fn pedersen_many(level: Level, pairs: &[[Fr; 2]]) -> Vec<Fr> {
    if pairs.len() < FEWEST {
        return pairs.iter().map(|[a, b]| pedersen(*a, *b)).collect();
    }
    let bases = [GENERATORS[0], GENERATORS[1], ORIGIN];
    let mut points = vec![Affine::INFINITY; pairs.len()];
    let scalars = |[a, b]: &[Fr; 2]| [scalar(*a), scalar(*b), grumpkin::Fr::ONE];
    let scalars: Vec<[grumpkin::Fr; 3]> = pairs.par_iter().map(scalars).collect();
    FixedBase::of_bases(level, &bases, pairs.len()).multiply(scalars.as_flattened(), &mut points);
    points.iter().map(|point| point.x).collect()
}

/// Fewer pairs are not worth their own tables.
const FEWEST: usize = 128;

/// The input's integer as a scalar of the group, whose order is above it.
fn scalar(input: Fr) -> grumpkin::Fr {
    let Some(scalar) = grumpkin::Fr::from_canonical(input.to_canonical()) else {
        unreachable!("an integer below the order")
    };
    scalar
}

/// Half of a generator, by its number, 0 or 1.
fn half(generator: usize) -> Jacobian<Grumpkin> {
    let half = grumpkin::Fr::from(2).invert().unwrap_or_default();
    GENERATORS[generator].mul_vartime(&half)
}

/// The points of the first `windows` windows of `width` bits of a scalar that multiplies `GENERATORS[generator]`, window by
/// window, from the lowest: entry e of window k is `(2 e - (2^width - 1)) 2^(width k) G/2`, for e below 2^width.
///
/// # Panics
/// If there is no such generator, or `width` is not in 1..=16.
pub fn window_tables(generator: usize, width: u32, windows: usize) -> Vec<Vec<Affine<Grumpkin>>> {
    assert!((1..=16).contains(&width), "windows of 1 to 16 bits, not {width}");
    let mut half = half(generator);
    let mut points = Vec::with_capacity(windows << width);
    for _ in 0..windows {
        let double = half.double();
        let mut odd = half;
        let first = points.len();
        for _ in 0..1 << (width - 1) {
            points.push(odd);
            odd = odd.add(&double);
        }
        // The odd multiples 1, 3, ... are the upper half; their opposites the lower one, backwards.
        let lower: Vec<_> = points[first..].iter().rev().map(|point| -*point).collect();
        points.splice(first..first, lower);
        half = (0..width).fold(half, |point, _| point.double());
    }
    let affine = Jacobian::batch_to_affine(&points);
    affine.chunks(1 << width).map(<[_]>::to_vec).collect()
}

/// Where sums of the windows of both inputs start, whose windows have `bits` bits in all: `O + (2^bits - 1)/2 (G0 + G1)`.
pub fn start(bits: u32) -> Affine<Grumpkin> {
    let mut words = vec![0; bits as usize / 64 + 1];
    words[bits as usize / 64] = 1 << (bits % 64);
    let half_sum = half(0).add(&half(1));
    // (2^bits - 1) (G0 + G1)/2.
    let multiple = half_sum.to_affine().mul_words_vartime(&words).add(&-half_sum);
    multiple.add_affine(&ORIGIN).to_affine()
}

/// Bits of a window of the tables that [`pedersen`] adds up.
const WIDTH: u32 = 8;

/// Points of such a window that are kept: the other half are their opposites.
const KEPT: usize = 1 << (WIDTH - 1);

/// Windows of an input.
const WINDOWS: usize = <Fr as PrimeField>::BITS.div_ceil(WIDTH) as usize;

/// What [`pedersen`] adds up.
struct Tables {
    start: Affine<Grumpkin>,
    /// Of each input and window the upper half, one after the other.
    windows: [Vec<Affine<Grumpkin>>; 2],
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    start: start(WIDTH * WINDOWS as u32),
    windows: [0, 1].map(|generator| {
        let windows = window_tables(generator, WIDTH, WINDOWS);
        windows.iter().flat_map(|window| &window[KEPT..]).copied().collect()
    }),
});

/// The points that the windows of an input stand for.
fn summands<'a>(input: &Fr, windows: &'a [Affine<Grumpkin>]) -> impl Iterator<Item = Affine<Grumpkin>> + 'a {
    let words = input.to_words();
    windows.chunks_exact(KEPT).enumerate().map(move |(k, window)| {
        let bit = k * WIDTH as usize;
        let digit = (words[bit / 64] >> (bit % 64)) as usize & (2 * KEPT - 1);
        if digit < KEPT { -window[KEPT - 1 - digit] } else { window[digit - KEPT] }
    })
}
