//! Many short linear combinations of points, one per wire.
//!
//! Straus's method (Straus, "Addition chains of vectors", 1964): the terms of one sum share their doublings. A scalar s is
//! replaced by `-(r - s)` where that is shorter. Scalars are recoded to width-w non-adjacent form (Hankerson, Menezes,
//! Vanstone, "Guide to Elliptic Curve Cryptography", algorithm 3.35). Short scalars, mostly 1 or -1, have w = 2; long ones have
//! w = 4 and tables of odd multiples. The multiples of a block of sums are converted to affine coordinates together, and so are
//! the sums. Sums of many terms are computed by [`msm`].

use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, Jacobian, Msm, msm};
use proofmill_field::PrimeField;
use proofmill_run::parallel;

/// Sums that one task computes.
const BLOCK: usize = 64;
/// From this number of terms on, buckets are cheaper than shared doublings.
const MANY_TERMS: usize = 128;
/// Scalars up to this number of bits are processed without a table.
const SHORT_BITS: usize = 24;
/// The width of the digits of long scalars.
const WIDTH: u32 = 4;
/// The number of odd multiples for digits of that width: 1, 3, 5, 7.
const MULTIPLES: usize = 1 << (WIDTH - 2);

/// The sums of `count` lists of terms; `terms(i, list)` appends the terms of the i-th to an empty list.
/// Runs on the ambient rayon pool.
pub(crate) fn combinations<C: Msm>(
    level: Level,
    count: usize,
    terms: impl Fn(usize, &mut Vec<(Affine<C>, C::Scalar)>) + Sync,
) -> Vec<Affine<C>> {
    let mut points = vec![Affine::INFINITY; count];
    let blocks = (0..).step_by(BLOCK).zip(points.chunks_mut(BLOCK));
    parallel::for_each(blocks, |(start, points)| {
        let mut list = Vec::new();
        let mut tables = Vec::new();
        let sums = (start..start + points.len()).map(|index| {
            list.clear();
            terms(index, &mut list);
            if list.len() < MANY_TERMS {
                return Sum::Short(
                    list.iter().map(|(base, scalar)| Term::new(base, scalar, &mut tables)).collect(),
                );
            }
            let (bases, scalars): (Vec<_>, Vec<_>) = list.drain(..).unzip();
            Sum::Long(msm(level, &bases, &scalars))
        });
        let sums: Vec<Sum<C>> = sums.collect();
        let tables = Jacobian::batch_to_affine(&tables);
        let sums: Vec<_> = sums.into_iter().map(|sum| sum.compute(&tables)).collect();
        points.copy_from_slice(&Jacobian::batch_to_affine(&sums));
    });
    points
}

enum Sum<C: Curve> {
    Short(Vec<Term<C>>),
    Long(Jacobian<C>),
}

/// A point and the digits of its scalar, least significant first, each zero or odd.
struct Term<C: Curve> {
    base: Affine<C>,
    digits: Vec<i8>,
    /// The index of the odd multiples, from 3 on, in the block's tables.
    table: usize,
}

impl<C: Curve> Term<C> {
    /// Appends to `tables` the multiples that the scalar's digits need.
    fn new(base: &Affine<C>, scalar: &C::Scalar, tables: &mut Vec<Jacobian<C>>) -> Self {
        let (base, integer) = shorter(*base, scalar);
        let table = tables.len();
        let long = bits(integer.as_ref()) > SHORT_BITS;
        if long {
            let mut multiple = Jacobian::from(base);
            let double = multiple.double();
            for _ in 1..MULTIPLES {
                multiple = multiple.add(&double);
                tables.push(multiple);
            }
        }
        let digits = non_adjacent_form(integer.as_ref(), if long { WIDTH } else { 2 });
        Self { base, digits, table }
    }

    /// `|digit| * base` for an odd digit.
    fn multiple(&self, digit: i8, tables: &[Affine<C>]) -> Affine<C> {
        let index = usize::from(digit.unsigned_abs() / 2);
        let table = index.checked_sub(1).and_then(|index| tables.get(self.table + index));
        let point = *table.unwrap_or(&self.base);
        if digit < 0 { -point } else { point }
    }
}

impl<C: Curve> Sum<C> {
    fn compute(self, tables: &[Affine<C>]) -> Jacobian<C> {
        let terms = match self {
            Self::Short(terms) => terms,
            Self::Long(sum) => return sum,
        };
        let longest = terms.iter().map(|term| term.digits.len()).max().unwrap_or(0);
        // From the highest position down: one doubling per position serves all terms of the sum.
        (0..longest).rev().fold(Jacobian::INFINITY, |sum, position| {
            let digits = terms.iter().filter_map(|term| Some((term, *term.digits.get(position)?)));
            digits
                .filter(|(_, digit)| *digit != 0)
                .fold(sum.double(), |sum, (term, digit)| sum.add_affine(&term.multiple(digit, tables)))
        })
    }
}

/// A point and a scalar with the same product: the scalar is the shorter of `scalar` and its negation.
fn shorter<C: Curve>(base: Affine<C>, scalar: &C::Scalar) -> (Affine<C>, <C::Scalar as PrimeField>::Words) {
    let (positive, negative) = (scalar.to_words(), (-*scalar).to_words());
    if negative.as_ref().iter().rev().lt(positive.as_ref().iter().rev()) {
        (-base, negative)
    } else {
        (base, positive)
    }
}

fn bits(words: &[u64]) -> usize {
    let top = words.iter().rposition(|&word| word != 0);
    top.and_then(|top| Some((top, words.get(top)?)))
        .map_or(0, |(top, word)| 64 * (top + 1) - word.leading_zeros() as usize)
}

/// Digits in `-2^(width-1)..2^(width-1)`, least significant first, each zero or odd; nonzero ones are at least `width`
/// positions apart, and the last one is nonzero.
fn non_adjacent_form(words: &[u64], width: u32) -> Vec<i8> {
    // The carry out of the highest bit may need one more digit.
    let end = bits(words) + 1;
    let bit = |position: usize| words.get(position / 64).is_some_and(|word| word >> (position % 64) & 1 == 1);
    let mut digits = Vec::with_capacity(end);
    let mut carry = false;
    while digits.len() < end {
        let position = digits.len();
        if bit(position) == carry {
            digits.push(0);
            continue;
        }
        // The window with the carry is odd: its lowest bit differs from the carry, and becomes 1.
        let window = (1..width as usize).fold(1, |sum, i| sum | i16::from(bit(position + i)) << i);
        // A window in the upper half becomes negative, and the 2^width that it lacks is carried.
        carry = window >> (width - 1) == 1;
        let digit = if carry { window - (1 << width) } else { window };
        digits.push(digit as i8);
        digits.extend((1..width).map(|_| 0));
    }
    let used = digits.iter().rposition(|&digit| digit != 0).map_or(0, |last| last + 1);
    digits.truncate(used);
    digits
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proofmill_curve::bn254::{G1, G2};
    use proofmill_field::{Field, bn254::Fr};
    use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

    #[test]
    fn digits_make_the_integer() {
        let edges = [0, 1, 2, 3, 7, 8, 15, 0x5555, 0xffff, u64::MAX, u64::MAX - 1, 1 << 63];
        for (low, high) in edges.iter().flat_map(|low| edges.map(|high| (*low, high))) {
            let integer = u128::from(high) << 64 | u128::from(low);
            for width in 2..=6 {
                let digits = non_adjacent_form(&[low, high], width);
                // Modulo 2^128, since the highest digit may exceed it.
                let sum = digits
                    .iter()
                    .rev()
                    .fold(0u128, |sum, &digit| sum.wrapping_mul(2).wrapping_add_signed(digit.into()));
                assert_eq!(sum, integer, "width {width}");
                assert!(digits.last() != Some(&0));
                for (position, digit) in digits.iter().enumerate().filter(|(_, digit)| **digit != 0) {
                    assert!(digit % 2 != 0 && i32::from(*digit).abs() < 1 << (width - 1));
                    let apart = digits.iter().skip(position + 1).take(width as usize - 1);
                    assert!(apart.into_iter().all(|digit| *digit == 0));
                }
            }
        }
    }

    fn check<C: Msm<Scalar = Fr>>() {
        let rng = &mut ChaCha20Rng::seed_from_u64(1);
        let small = |value: u64| Fr::from(value);
        let mut scalars =
            vec![Fr::ZERO, Fr::ONE, -Fr::ONE, small(2), -small(7), small(1 << 24), -small(1 << 25)];
        scalars.extend((0..MANY_TERMS).map(|_| Fr::random(rng)));
        let bases: Vec<Affine<C>> =
            scalars.iter().map(|_| C::GENERATOR.mul_vartime(&Fr::random(rng)).to_affine()).collect();
        let pairs: Vec<_> = bases.iter().copied().zip(scalars).collect();
        // Each pair alone, each two neighbours, none, a point minus itself, infinity, and all pairs.
        let mut lists: Vec<Vec<_>> = pairs.iter().map(|pair| vec![*pair]).collect();
        lists.extend(pairs.windows(2).map(<[_]>::to_vec));
        let (base, scalar) = *pairs.last().unwrap();
        lists.extend([
            vec![],
            vec![(base, scalar), (-base, scalar)],
            vec![(Affine::INFINITY, scalar)],
            pairs,
        ]);
        let sums = combinations::<C>(Level::best(), lists.len(), |index, list| list.extend(&lists[index]));
        for (list, sum) in lists.iter().zip(sums) {
            let expected: Jacobian<C> = list.iter().map(|(base, scalar)| base.mul_vartime(scalar)).sum();
            assert_eq!(sum, expected.to_affine(), "{} terms", list.len());
        }
    }

    #[test]
    fn sums_are_double_and_adds() {
        check::<G1>();
        check::<G2>();
    }
}
