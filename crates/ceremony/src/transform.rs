//! Transforms of points.
//!
//! By decimation in frequency (Gentleman, Sande, "Fast Fourier transforms for fun and profit", 1966): `(a, b)` becomes
//! `(a + b, (a - b) w^j)`, and the order that of reversed bits. Products of a point and a root take most of the time. So there are no
//! products with 1, and none with 1/n alone: the roots of the first block contain this factor. So the second half of each first block has
//! it, and the very first point gets it at the end.
//!
//! Many points lie in a file. Their levels are done piece by piece until a block fits the memory, which is then finished.

use crate::{CeremonyError, encoding::Group};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, products_of_points, sums_and_differences};
use proofmill_field::{Algebra, Field};
use proofmill_memory::{Elements, Zeroed};
use proofmill_run::{Progress, parallel};
use std::{cell::Cell, ops::Range, path::Path};

/// The logarithm of the points that are transformed in memory: 128 or 256 MiB.
pub(crate) const LOG_BLOCK: u32 = 21;
/// Butterflies that are computed together, and points that are read or written together.
pub(crate) const PIECE: usize = 1 << 16;

/// A file or memory for this many points. Domains of more than `2^LOG_BLOCK` points are in a temporary file in `folder`.
pub(crate) fn scratch<C: Curve<Base: Zeroed>>(
    folder: &Path,
    count: usize,
) -> Result<Elements<Affine<C>>, CeremonyError> {
    let place = (count > 1 << LOG_BLOCK).then_some(folder);
    Elements::zeroed(place, count)
        .map_err(|source| CeremonyError::Scratch { folder: folder.to_owned(), source })
}

/// Reads the first `count` points, piece by piece.
pub(crate) fn fill<C: Curve, E>(
    points: &mut Elements<Affine<C>>,
    count: usize,
    mut read: impl FnMut(Range<usize>) -> Result<Vec<Affine<C>>, E>,
) -> Result<(), E> {
    for range in parallel::ranges(count, PIECE) {
        let piece = read(range.clone())?;
        points.iter_mut().skip(range.start).zip(piece).for_each(|(to, point)| *to = point);
        points.release(range);
    }
    Ok(())
}

/// The roots of a transform.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// `sum_j w^(i j) a_j`.
    Forward,
    /// `1/n sum_j w^(-i j) a_j`.
    Inverse,
}

/// A transform of points, which stay in bit-reversed order.
pub(crate) struct PointTransform<'a, C: Curve> {
    pub(crate) level: Level,
    pub(crate) points: &'a mut Elements<Affine<C>>,
    /// Roots of unity by the logarithms of their orders.
    pub(crate) roots: fn(u32) -> Option<C::Scalar>,
    pub(crate) steps: &'a ButterflyProgress<'a>,
}

/// Reports which share of all butterflies is done.
pub(crate) struct ButterflyProgress<'a> {
    all: u64,
    done: Cell<u64>,
    progress: Progress<'a>,
}

impl<'a> ButterflyProgress<'a> {
    pub(crate) fn new(all: u64, progress: Progress<'a>) -> Self {
        Self { all, done: Cell::new(0), progress }
    }

    fn advance(&self, count: usize) {
        self.done.set(self.done.get() + count as u64);
        self.progress.share(self.done.get(), self.all);
    }
}

/// The butterflies of a transform of n points.
pub(crate) fn butterflies(n: usize) -> u64 {
    n as u64 / 2 * u64::from(n.ilog2())
}

impl<C: Group> PointTransform<'_, C> {
    /// Gives the transform of a range of points, a power of two, to `write`, in pieces, each with the index of its first point.
    pub(crate) fn run<E>(
        &mut self,
        domain: Range<usize>,
        direction: Direction,
        mut write: impl FnMut(usize, &[Affine<C>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let log_n = domain.len().ilog2();
        let log_block = log_n.min(LOG_BLOCK);
        let scale = match direction {
            Direction::Forward => C::Scalar::ONE,
            Direction::Inverse => inverse(&C::Scalar::from(domain.len() as u64)),
        };
        for log_m in (log_block + 1..=log_n).rev() {
            self.butterflies(domain.clone(), log_m, direction, &scale);
        }
        for block in parallel::ranges(domain.len(), 1 << log_block) {
            let scale = if block.start == 0 { scale } else { C::Scalar::ONE };
            let block = domain.start + block.start..domain.start + block.end;
            for log_m in (1..=log_block).rev() {
                self.butterflies(block.clone(), log_m, direction, &scale);
            }
            if let Some(first) = self.points.get_mut(block.start) {
                *first = first.mul_vartime(&scale).to_affine();
            }
            reverse_bits(self.points.get_mut(block.clone()).unwrap_or_default());
            self.points.release(block);
        }
        // The blocks are in the order of reversed bits, and each takes turns with the others.
        let blocks = domain.len() >> log_block;
        let block =
            |i: usize| if blocks == 1 { 0 } else { i.reverse_bits() >> (usize::BITS - blocks.ilog2()) };
        for range in parallel::ranges(domain.len(), PIECE.max(blocks)) {
            let place = |i: usize| domain.start + (block(i % blocks) << log_block) + i / blocks;
            let transformed: Vec<_> =
                range.clone().filter_map(|i| self.points.get(place(i)).copied()).collect();
            write(range.start, &transformed)?;
            for first in range.clone().take(blocks) {
                let place = place(first);
                self.points.release(place..place + range.len() / blocks);
            }
        }
        Ok(())
    }

    /// The butterflies of blocks of `2^log_m` points; the factors of the first one are multiplied by `scale`.
    fn butterflies(&mut self, domain: Range<usize>, log_m: u32, direction: Direction, scale: &C::Scalar) {
        let half = 1 << (log_m - 1);
        let root = (self.roots)(log_m).unwrap_or(C::Scalar::ONE);
        let root = if direction == Direction::Forward { root } else { inverse(&root) };
        for pairs in parallel::ranges(domain.len() / 2, PIECE) {
            let place = |pair: usize| domain.start + pair / half * 2 * half + pair % half;
            let at = |place: usize| self.points.get(place).copied().unwrap_or(Affine::INFINITY);
            let mut a: Vec<_> = pairs.clone().map(|pair| at(place(pair))).collect();
            let mut b: Vec<_> = pairs.clone().map(|pair| at(place(pair) + half)).collect();
            sums_and_differences(self.level, &mut a, &mut b);
            let mut factor = root.pow_vartime(&[(pairs.start % half) as u64]);
            let (mut multiplied, mut factors) = (Vec::new(), Vec::new());
            for (pair, b) in pairs.clone().zip(&mut b) {
                if pair % half == 0 {
                    factor = C::Scalar::ONE;
                }
                // Only the first block has the factor 1/n: see the head of this module.
                let scaled = if pair < half { factor * *scale } else { factor };
                // A product with 1 would take as long as any other, so it is left out.
                if scaled != C::Scalar::ONE {
                    factors.push(scaled);
                    multiplied.push(b);
                }
                factor *= root;
            }
            let points: Vec<_> = multiplied.iter().map(|point| **point).collect();
            let products = products_of_points(self.level, &points, &factors);
            multiplied.into_iter().zip(products).for_each(|(point, product)| *point = product);
            for (pair, (a, b)) in pairs.clone().zip(a.into_iter().zip(b)) {
                for (place, point) in [(place(pair), a), (place(pair) + half, b)] {
                    self.points.get_mut(place).into_iter().for_each(|to| *to = point);
                }
            }
            self.steps.advance(pairs.len());
            if domain.len() > 1 << LOG_BLOCK {
                let first = place(pairs.start);
                self.points.release(first..first + pairs.len());
                self.points.release(first + half..first + half + pairs.len());
            }
        }
    }
}

/// Moves each element to the index with its bits reversed.
fn reverse_bits<T>(elements: &mut [T]) {
    let bits = elements.len().ilog2();
    for i in (0..elements.len()).filter(|_| bits > 0) {
        let other = i.reverse_bits() >> (usize::BITS - bits);
        // Each pair is swapped once.
        if i < other {
            elements.swap(i, other);
        }
    }
}

/// `factor base^i` for each i of a range. Runs on the ambient rayon pool.
pub(crate) fn powers<F: Field>(factor: F, base: F, range: Range<usize>) -> Vec<F> {
    const BLOCK: usize = 1 << 10;
    let blocks = parallel::map(parallel::ranges(range.len(), BLOCK), |block| {
        let first = factor * base.pow_vartime(&[(range.start + block.start) as u64]);
        std::iter::successors(Some(first), |power| Some(*power * base)).take(block.len()).collect::<Vec<_>>()
    });
    blocks.concat()
}

/// The inverse of an element other than zero.
pub(crate) fn inverse<F: Field>(value: &F) -> F {
    value.invert_vartime().unwrap_or_default()
}
