//! Columns whose extension is computed in parts, each time it is needed.
//!
//! A polynomial of n = T m coefficients has on the coset of shift s, with a root w of order n, the values
//! `f(s w^(t + T k)) = sum_r (s w^(t + T k))^r d_(t, r)`, where `d_(t, r) = sum_q c_(r + m q) (s w^t)^(m q)` for r below m. The d of all t are
//! transforms of T coefficients each, and replace them in memory. The values of tile t, all k, are then a transform of m of
//! them. It is the first step of a transform of n values (Bailey, "FFTs in external or hierarchical memory", 1990), kept.

use crate::{
    domain::{SHIFT, coset, coset_shift, domain, generator, reverse},
    openings::{Opened, combine, weighted_sums},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field, Invert,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_memory::Pages;
use proofmill_parallel as parallel;
use proofmill_poly::goldilocks::Order;
use std::{borrow::Cow, collections::BTreeMap, iter::successors, ops::DerefMut};

/// The logarithm of the number of tiles of a coset: enough to save memory, and as many as make tiles that are transformed in one step.
fn log_tiles(log_rows: u32) -> u32 {
    log_rows.saturating_sub(8).clamp(6, 8).min(log_rows)
}

/// A matrix of `2^log_rows` rows as polynomials.
pub(crate) struct Tiled {
    columns: usize,
    log_rows: u32,
    log_tiles: u32,
    /// The coset whose tiles are in memory, by its shift; before the first, coefficients are.
    shift: Option<Goldilocks>,
    values: Box<dyn Buffer>,
}

/// Memory of a matrix.
trait Buffer: DerefMut<Target = [Goldilocks]> + Send + Sync {}

impl Buffer for Pages<Goldilocks> {}
impl Buffer for Vec<Goldilocks> {}

impl Tiled {
    /// The polynomials whose values on the subgroup, in natural order, are the columns, in the memory of the values if they are owned.
    pub(crate) fn new(level: Level, values: Cow<'_, [Goldilocks]>, columns: usize) -> Self {
        let mut values: Box<dyn Buffer> = match values {
            Cow::Owned(values) => Box::new(values),
            Cow::Borrowed(values) => {
                let mut copy = Pages::new(values.len());
                copy.copy_from_slice(values);
                Box::new(copy)
            }
        };
        let log_rows = (values.len() / columns).ilog2();
        domain(log_rows).intt(level, &mut values, Order::Natural);
        Self { columns, log_rows, log_tiles: log_tiles(log_rows), shift: None, values }
    }

    /// The values that it was made of.
    pub(crate) fn into_values(mut self, level: Level) -> Vec<Goldilocks> {
        if let Some(shift) = self.shift {
            domain(self.log_tiles).intt(level, &mut self.values, Order::Natural);
            let ratio = self.power(shift).invert_vartime().expect("a power of a shift");
            let len = self.tile_len();
            scale_parts(&mut self.values, len, ratio);
        }
        domain(self.log_rows).ntt(level, &mut self.values, Order::Natural);
        self.values.to_vec()
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// The number of tiles of a coset.
    pub(crate) fn tiles(&self) -> usize {
        1 << self.log_tiles
    }

    /// The logarithm of the number of rows of a tile.
    pub(crate) fn log_tile_rows(&self) -> u32 {
        self.log_rows - self.log_tiles
    }

    /// The elements of a tile.
    pub(crate) fn tile_len(&self) -> usize {
        self.columns << self.log_tile_rows()
    }

    /// Those from which a tile is computed.
    fn part(&self, tile: usize) -> &[Goldilocks] {
        &self.values[tile * self.tile_len()..][..self.tile_len()]
    }

    /// The shift of the coset whose tiles are in memory.
    ///
    /// # Panics
    /// If there is none yet.
    pub(crate) fn shift(&self) -> Goldilocks {
        self.shift.unwrap_or_else(|| unreachable!("the tiles of no coset are in memory"))
    }

    /// `s^m`.
    fn power(&self, shift: Goldilocks) -> Goldilocks {
        shift.pow_vartime(&[1 << self.log_tile_rows()])
    }

    /// Brings the tiles of the coset of a shift to memory.
    pub(crate) fn go_to(&mut self, level: Level, shift: Goldilocks) {
        /// The elements that a task transforms, which fit the second-level cache.
        const TASK: usize = 1 << 14;
        if self.shift == Some(shift) {
            return;
        }
        let before =
            self.shift.map(|before| self.power(before).invert_vartime().expect("a power of a shift"));
        let ratio = self.power(shift) * before.unwrap_or(Goldilocks::ONE);
        let (tiles, len, domain) = (self.tiles(), self.tile_len(), domain(self.log_tiles));
        let task = TASK / tiles;
        let mut parts: Vec<_> = self.values.chunks_mut(len).map(|part| part.chunks_mut(task)).collect();
        let tasks: Vec<Vec<_>> =
            (0..len.div_ceil(task)).map(|_| parts.iter_mut().filter_map(Iterator::next).collect()).collect();
        parallel::for_each(tasks, |mut rows| {
            let width = rows[0].len();
            let mut copy = vec![Goldilocks::ZERO; tiles * width];
            copy.chunks_mut(width).zip(&rows).for_each(|(copy, row)| copy.copy_from_slice(row));
            if before.is_some() {
                domain.intt(level, &mut copy, Order::Natural);
            }
            domain.coset_ntt(level, &mut copy, ratio, Order::Natural);
            copy.chunks(width).zip(&mut rows).for_each(|(copy, row)| row.copy_from_slice(copy));
        });
        self.shift = Some(shift);
    }

    /// The rows `tile + tiles k`, with k in bit-reversed order.
    fn tile(&self, level: Level, tile: usize, rows: &mut [Goldilocks]) {
        rows.copy_from_slice(self.part(tile));
        let shift = self.shift() * generator(self.log_rows).pow_vartime(&[tile as u64]);
        domain(self.log_tile_rows()).coset_ntt(level, rows, shift, Order::BitReversed);
    }

    /// Computes tiles of the coset in memory.
    pub(crate) fn each_tile<'a>(
        &self,
        level: Level,
        tiles: impl Iterator<Item = (usize, &'a mut [Goldilocks])>,
    ) {
        parallel::for_each(tiles, |(tile, rows)| self.tile(level, tile, rows));
    }

    /// Calls `body` with consecutive rows of the extension, in bit-reversed order, and the index of the first: a quarter of a coset at a
    /// time.
    pub(crate) fn for_each_part(
        &mut self,
        level: Level,
        log_blowup: u32,
        mut body: impl FnMut(usize, &[Goldilocks]),
    ) {
        let (len, at_a_time) = (self.tile_len(), (self.tiles() / 4).max(1));
        let mut rows = Pages::new(at_a_time * len);
        for first in (0..self.tiles() << log_blowup).step_by(at_a_time) {
            self.go_to(level, self.coset_and_tile(log_blowup, first).0);
            let tiles = (first..).map(|part| self.coset_and_tile(log_blowup, part).1);
            self.each_tile(level, tiles.zip(rows.chunks_mut(len)));
            body(first << self.log_tile_rows(), &rows);
        }
    }

    /// The shift of the coset and the index of the tile that have the consecutive rows of this number.
    fn coset_and_tile(&self, log_blowup: u32, part: usize) -> (Goldilocks, usize) {
        let coset = reverse(part >> self.log_tiles, log_blowup);
        let tile = reverse(part & (self.tiles() - 1), self.log_tiles);
        (coset_shift(self.log_rows, log_blowup, coset), tile)
    }

    /// Rows of the extension, one after the other.
    pub(crate) fn rows(&mut self, level: Level, log_blowup: u32, queries: &[usize]) -> Vec<Goldilocks> {
        let mut rows = vec![Goldilocks::ZERO; queries.len() * self.columns];
        // By coset, that in memory first, and by tile.
        let mut cosets: Vec<(Goldilocks, BTreeMap<usize, Vec<usize>>)> =
            vec![(self.shift(), BTreeMap::new())];
        for (index, query) in queries.iter().enumerate() {
            let (shift, tile) = self.coset_and_tile(log_blowup, query >> self.log_tile_rows());
            let place = cosets.iter().position(|(other, _)| *other == shift).unwrap_or(cosets.len());
            if place == cosets.len() {
                cosets.push((shift, BTreeMap::new()));
            }
            cosets[place].1.entry(tile).or_default().push(index);
        }
        for (shift, tiles) in cosets.into_iter().filter(|(_, tiles)| !tiles.is_empty()) {
            self.go_to(level, shift);
            let values = parallel::map(&tiles, |(tile, indices)| {
                let points: Vec<_> = indices.iter().map(|index| coset().element(queries[*index])).collect();
                let words = Goldilocks::as_words(self.part(*tile));
                let matrix = Opened { words, width: self.columns, points: (0..points.len()).collect() };
                weighted_sums(level, &matrix, |point, range| {
                    let first = points[point].pow_vartime(&[range.start as u64]);
                    let powers = successors(Some(first), |power| Some(*power * points[point]));
                    powers.take(range.len()).map(|power| Extension([power])).collect()
                })
            });
            for (index, values) in tiles.values().flatten().zip(values.into_iter().flatten()) {
                let row = &mut rows[index * self.columns..][..self.columns];
                row.iter_mut().zip(values).for_each(|(to, value)| *to = value.0[0]);
            }
        }
        rows
    }

    /// The values of all columns at some of the points.
    pub(crate) fn evaluate<const D: usize>(
        &self,
        level: Level,
        points: &[Extension<Goldilocks, D>],
        opened: &[usize],
    ) -> Vec<Vec<Extension<Goldilocks, D>>>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        // The coefficients are an inverse transform of the parts: the factor of part t is a sum over it.
        let log_step = self.log_tile_rows();
        let step = 1 << log_step;
        let inverse = |value: Goldilocks| value.invert_vartime().expect("not zero");
        let scale = inverse(Goldilocks::new(self.tiles() as u64));
        let of_tile = |point: &Extension<Goldilocks, D>, tile: usize| {
            let root = generator(self.log_tiles).pow_vartime(&[tile as u64]);
            let x = point.pow_vartime(&[step as u64]).scale(inverse(self.power(self.shift()) * root));
            let powers = successors(Some(Extension::from_base(scale)), |power| Some(*power * x));
            powers.take(self.tiles()).fold(Extension::ZERO, |sum, power| sum + power)
        };
        let factors: Vec<Vec<_>> =
            points.iter().map(|point| (0..self.tiles()).map(|tile| of_tile(point, tile)).collect()).collect();
        let words = Goldilocks::as_words(&self.values);
        let matrix = Opened { words, width: self.columns, points: opened.to_vec() };
        weighted_sums(level, &matrix, |point, range| {
            let weight = |row: usize| {
                factors[point][row >> log_step] * points[point].pow_vartime(&[(row & (step - 1)) as u64])
            };
            let mut next = weight(range.start);
            let advance = |row: usize| {
                let this = if row & (step - 1) == 0 { weight(row) } else { next };
                next = this * points[point];
                this
            };
            range.map(advance).collect()
        })
    }

    /// The values on the coset of extensions, in bit-reversed order, of the sum of all columns times their factors.
    pub(crate) fn combination<const D: usize>(
        &self,
        level: Level,
        log_blowup: u32,
        factors: &[Extension<Goldilocks, D>],
    ) -> Pages<Goldilocks>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let words = Goldilocks::as_words(&self.values);
        let sums = combine(level, words, self.columns, &factors[..self.columns]);
        let sums = Extension::coefficients(&sums);
        let mut extension = Pages::new(sums.len() << log_blowup);
        let coefficients = &mut extension[..sums.len()];
        coefficients.copy_from_slice(sums);
        domain(self.log_tiles).intt(level, coefficients, Order::Natural);
        let ratio = self.power(self.shift()).invert_vartime().expect("a power of a shift");
        scale_parts(coefficients, D << self.log_tile_rows(), ratio);
        let domain = domain(self.log_rows);
        domain.extend_coefficients(level, &mut extension, log_blowup, SHIFT, Order::BitReversed);
        extension
    }
}

/// Multiplies part q by `ratio^q`.
fn scale_parts(values: &mut [Goldilocks], len: usize, ratio: Goldilocks) {
    let powers = successors(Some(Goldilocks::ONE), |power| Some(*power * ratio));
    let parts = values.chunks_mut(len).zip(powers);
    parallel::for_each(parts, |(part, power)| part.iter_mut().for_each(|value| *value *= power));
}
