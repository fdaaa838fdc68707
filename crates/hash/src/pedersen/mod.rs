//! The Pedersen hash of two elements of BN254's scalar field: `H(a, b) = x(O + a G0 + b G1)` over Grumpkin.
//!
//! The scalars are the integers below r of a and b; r is less than the group's order. O, G0 and G1 are
//! [hashed to the curve](proofmill_curve::hash_to_curve) from their names, so that no relation between them is known;
//! finding a collision is finding such a relation. O separates H(a, b) from H(-a, -b), and makes cases that
//! additions of different points do not cover, such as the zero point, as hard to find as a relation.
//!
//! A scalar is split into K windows of w bits, whose digits e represent the odd numbers 2 e - (2^w - 1), so that none is
//! zero: the sum over k < K of `(2 e_k - (2^w - 1)) 2^(w k) G/2` is `a G - (2^(w K) - 1)/2 G`. The missing term is part of
//! the point with which the sum starts. Circuits add points of this kind too.
//!
//! Time and accesses to the tables depend on the inputs.

mod generators;

use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, FixedBase, Jacobian, Xyzz,
    grumpkin::{self, Grumpkin},
};
use proofmill_field::{Field, Invert, PrimeField, bn254::Fr};
use proofmill_run::parallel;
use std::{iter::successors, sync::LazyLock};

/// The tag of the generators' derivation: hash-to-curve of "O", "G0" and "G1", with SHA-256 and the map of Shallue and van
/// de Woestijne (RFC 9380).
pub const DST: &str = "PROOFMILL-GRUMPKIN-PEDERSEN-V1_XMD:SHA-256_SVDW_RO_";

/// The first summand of every hash.
pub const ORIGIN: Affine<Grumpkin> = point(generators::O);

/// The points multiplied by the inputs.
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

/// The hashes of several pairs. Runs on the ambient rayon pool.
pub fn pedersen_many(level: Level, pairs: &[[Fr; 2]]) -> Vec<Fr> {
    if pairs.len() < FEWEST {
        return pairs.iter().map(|[a, b]| pedersen(*a, *b)).collect();
    }
    let bases = [GENERATORS[0], GENERATORS[1], ORIGIN];
    let mut points = vec![Affine::INFINITY; pairs.len()];
    // The third scalar stays 1: it adds O.
    let mut scalars = vec![[grumpkin::Fr::ONE; 3]; pairs.len()];
    parallel::for_each(pairs.chunks(PIECE).zip(scalars.chunks_mut(PIECE)), |(pairs, scalars)| {
        for ([a, b], scalars) in pairs.iter().zip(scalars) {
            (scalars[0], scalars[1]) = (scalar(*a), scalar(*b));
        }
    });
    FixedBase::of_bases(level, &bases, pairs.len()).multiply(scalars.as_flattened(), &mut points);
    points.iter().map(|point| point.x).collect()
}

/// The fewest pairs for which separate tables are faster (`proofmill bench run bn254_hashes --level all`): at `portable` this
/// is the number where both methods take the same time; at `avx512ifma` it is 128.
const FEWEST: usize = 1 << 10;

/// The pairs that one task converts to scalars.
const PIECE: usize = 1 << 8;

/// The input's integer as a scalar of the group, whose order is larger.
fn scalar(input: Fr) -> grumpkin::Fr {
    let Some(scalar) = grumpkin::Fr::from_canonical(input.to_canonical()) else {
        unreachable!("an integer below the order")
    };
    scalar
}

/// The bits of a window. Ten or twelve need fewer additions but take the same time, because the tables exceed the cache.
const WIDTH: u32 = 8;

/// The stored points of such a window; the other half are their negatives.
const KEPT: usize = 1 << (WIDTH - 1);

/// The number of windows of an input.
const WINDOWS: usize = <Fr as PrimeField>::BITS.div_ceil(WIDTH) as usize;

/// The tables of [`pedersen`]: 512 KiB.
struct Tables {
    /// `O + (2^256 - 1)/2 (G0 + G1)`.
    start: Affine<Grumpkin>,
    /// For each input, the windows' multiples by positive numbers, window after window.
    windows: [Vec<Affine<Grumpkin>>; 2],
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let half = grumpkin::Fr::from(2).invert_vartime().unwrap_or_default();
    let halves = GENERATORS.map(|generator| generator.mul_vartime(&half));
    // All windows with full width: 2^256 - 1.
    let missing = halves[0].add(&halves[1]).to_affine().mul_words_vartime(&[u64::MAX; 4]);
    Tables { start: missing.add_affine(&ORIGIN).to_affine(), windows: halves.map(odd_multiples) }
});

const _: () = assert!(WINDOWS * WIDTH as usize == 256);

/// For each window the multiples by 1, 3, ..., from half a generator.
fn odd_multiples(mut half: Jacobian<Grumpkin>) -> Vec<Affine<Grumpkin>> {
    let mut multiples = Vec::with_capacity(WINDOWS * KEPT);
    for _ in 0..WINDOWS {
        let double = half.double();
        multiples.extend(successors(Some(half), |odd| Some(odd.add(&double))).take(KEPT));
        // The next window counts 2^w times as much.
        half = (0..WIDTH).fold(half, |point, _| point.double());
    }
    Jacobian::batch_to_affine(&multiples)
}

/// The points of an input's windows.
fn summands<'a>(input: &Fr, windows: &'a [Affine<Grumpkin>]) -> impl Iterator<Item = Affine<Grumpkin>> + 'a {
    let words = input.to_words();
    windows.chunks_exact(KEPT).enumerate().map(move |(k, window)| {
        let bit = k * WIDTH as usize;
        let digit = (words[bit / 64] >> (bit % 64)) as usize & (2 * KEPT - 1);
        // 2 e - 255 is negative below KEPT; entry i holds the multiple by 2 i + 1.
        if digit < KEPT { -window[KEPT - 1 - digit] } else { window[digit - KEPT] }
    })
}
