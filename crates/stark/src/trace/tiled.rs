//! Columns whose extension is computed in parts, each time it is needed.
//!
//! A polynomial of n = T m coefficients has on the coset of shift s, with a root w of order n, the values
//! `f(s w^(t + T k)) = sum_r (s w^(t + T k))^r d_(t, r)`. Here `d_(t, r) = sum_q c_(r + m q) (s w^t)^(m q)`, for r below m. The d of all t
//! are transforms of T coefficients each, and replace the coefficients. The values of tile t, for all k, are then a transform of its m
//! values `d_(t, r)`. The d that are kept are the first step of a transform of n values (Bailey, "FFTs in external or hierarchical memory",
//! 1990).
//!
//! A trace has the values of the tiles of the coset of shift 1, its subgroup. Their inverse transforms are the d with which a file begins.

use super::store::{Buffer, Piece, Scratch, Store};
use crate::{
    StarkError, Trace,
    domain::{SHIFT, coset, coset_shift, domain, generator, reverse},
    openings::{Opened, combine, weighted_sums},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field, Invert,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_memory::Pages;
use proofmill_ntt::goldilocks::Order;
use proofmill_run::parallel;
use std::{borrow::Cow, collections::BTreeMap, iter::successors, mem, path::Path};

/// The base-2 logarithm of the number of tiles of a coset: large enough to save memory, and to make tiles that are transformed in one step.
fn log_tiles(log_rows: u32) -> u32 {
    log_rows.saturating_sub(8).clamp(6, 8).min(log_rows)
}

/// A matrix of `2^log_rows` rows as polynomials.
pub(crate) struct Tiled {
    columns: usize,
    log_rows: u32,
    log_tiles: u32,
    /// The shift of the coset whose tiles are stored; `None` before the first coset, when coefficients are stored.
    shift: Option<Goldilocks>,
    values: Store,
    /// Files with the tiles of other cosets.
    others: Vec<(Goldilocks, Store)>,
}

/// Calls `body` for each item on all threads; an error is that of one of the calls.
fn for_each<T: Send>(
    items: impl IntoIterator<Item = T>,
    body: impl Fn(T) -> Result<(), StarkError> + Sync,
) -> Result<(), StarkError> {
    parallel::map(items, body).into_iter().collect()
}

impl Tiled {
    /// The polynomials whose values on the subgroup, in natural order, are the columns. They take over the memory of values that are owned.
    pub(crate) fn in_memory(level: Level, trace: &mut Trace<'_>, columns: usize) -> Result<Self, StarkError> {
        let log_rows = (trace.len() / columns).ilog2();
        let mut values: Box<dyn Buffer> = match trace.take() {
            Some(values) => Box::new(values),
            None => {
                let mut copy = Pages::new(trace.len());
                trace.read_all(&mut copy)?;
                Box::new(copy)
            }
        };
        domain(log_rows).intt(level, &mut values, Order::Natural);
        let (log_tiles, values) = (log_tiles(log_rows), Store::Memory(values));
        Ok(Self { columns, log_rows, log_tiles, shift: None, values, others: Vec::new() })
    }

    /// As [`in_memory`](Self::in_memory), in files in a folder; values that are owned are freed.
    pub(crate) fn in_file(
        level: Level,
        folder: &Path,
        trace: &mut Trace<'_>,
        columns: usize,
    ) -> Result<Self, StarkError> {
        let log_rows = (trace.len() / columns).ilog2();
        let (log_tiles, values) = (log_tiles(log_rows), Store::File(Scratch::new(folder, trace.len())?));
        let mut tiled =
            Self { columns, log_rows, log_tiles, shift: Some(Goldilocks::ONE), values, others: Vec::new() };
        tiled.fill(level, trace)?;
        drop(trace.take());
        Ok(tiled)
    }

    /// Writes the tiles of the subgroup.
    fn fill(&mut self, level: Level, trace: &Trace<'_>) -> Result<(), StarkError> {
        /// The number of rows of a tile that a task collects.
        const ROWS: usize = 1 << 4;
        let (tiles, len, columns, at_a_time) =
            (self.tiles(), self.tile_len(), self.columns, self.tiles_at_a_time());
        let mut rows = Pages::new(at_a_time * len);
        let mut parts = self.values.whole(None).cut(len);
        for first in (0..tiles).step_by(at_a_time) {
            // Row `tile + tiles k` of the trace is row k of a tile.
            let mut chunks: Vec<_> =
                rows.chunks_mut(len).map(|tile| tile.chunks_mut(ROWS * columns)).collect();
            let tasks =
                (0..len).step_by(ROWS * columns).map(|start| (start / columns, next_of_each(&mut chunks)));
            for_each(tasks.collect::<Vec<_>>(), |(start, mut chunks)| {
                let mut run = vec![Goldilocks::ZERO; at_a_time * columns];
                for k in 0..chunks[0].len() / columns {
                    trace.read((first + tiles * (start + k)) * columns, &mut run)?;
                    for (chunk, row) in chunks.iter_mut().zip(run.chunks(columns)) {
                        chunk[k * columns..][..columns].copy_from_slice(row);
                    }
                }
                Ok(())
            })?;
            let tiles = (first..).zip(rows.chunks_mut(len)).zip(parts.by_ref());
            let (log_rows, log_tile_rows) = (self.log_rows, self.log_rows - self.log_tiles);
            for_each(tiles, |((tile, rows), mut part)| {
                domain(log_tile_rows).coset_intt(level, rows, tile_shift(log_rows, tile));
                part.write(rows)
            })?;
        }
        Ok(())
    }

    /// Restores the values that the polynomials were made of, for [`read_row`](Self::read_row).
    pub(crate) fn restore(&mut self, level: Level) -> Result<(), StarkError> {
        self.others.clear();
        self.go_to(level, Goldilocks::ONE)?;
        let (log_rows, log_tile_rows, len) = (self.log_rows, self.log_tile_rows(), self.tile_len());
        for_each(self.values.whole(None).cut(len).enumerate(), |(tile, mut part)| {
            let mut rows = vec![Goldilocks::ZERO; len];
            part.read(&mut rows)?;
            domain(log_tile_rows).coset_ntt(level, &mut rows, tile_shift(log_rows, tile), Order::Natural);
            part.write(&rows)
        })
    }

    /// Copies a row of the values that the polynomials were made of, after [`restore`](Self::restore).
    pub(crate) fn read_row(&self, row: usize, values: &mut [Goldilocks]) -> Result<(), StarkError> {
        let (tile, row) = (row % self.tiles(), row / self.tiles());
        self.values.read(tile * self.tile_len() + row * self.columns, values)
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// The base-2 logarithm of the number of rows of a coset.
    pub(crate) fn log_rows(&self) -> u32 {
        self.log_rows
    }

    /// The number of tiles of a coset.
    pub(crate) fn tiles(&self) -> usize {
        1 << self.log_tiles
    }

    /// The base-2 logarithm of the number of rows of a tile.
    pub(crate) fn log_tile_rows(&self) -> u32 {
        self.log_rows - self.log_tiles
    }

    /// The number of elements of a tile.
    pub(crate) fn tile_len(&self) -> usize {
        self.columns << self.log_tile_rows()
    }

    /// The largest number of tiles that are in memory at a time: a quarter of a coset's tiles.
    pub(crate) fn tiles_at_a_time(&self) -> usize {
        (self.tiles() / 4).max(1)
    }

    /// The shift of the coset whose tiles are stored.
    ///
    /// # Panics
    /// If no tiles are stored yet.
    pub(crate) fn shift(&self) -> Goldilocks {
        self.shift.unwrap_or_else(|| unreachable!("the tiles of no coset are stored"))
    }

    /// `s^m` for a shift s, where m is the number of rows of a tile.
    fn power(&self, shift: Goldilocks) -> Goldilocks {
        shift.pow_vartime(&[1 << self.log_tile_rows()])
    }

    /// Stores the tiles of the coset of a shift.
    pub(crate) fn go_to(&mut self, level: Level, shift: Goldilocks) -> Result<(), StarkError> {
        /// The number of elements that a task transforms: they fit the second-level cache.
        const TASK: usize = 1 << 14;
        /// The number of elements of one run in a file: in runs of 2^10 a proof takes 1.2 times as long.
        const RUN: usize = 1 << 13;
        /// The number of tasks whose pieces are listed at a time.
        const TASKS: usize = 1 << 8;
        if self.shift == Some(shift) {
            return Ok(());
        }
        if let Some((kept, values)) = self.others.iter_mut().find(|(kept, _)| *kept == shift) {
            mem::swap(&mut self.values, values);
            *kept = self.shift.replace(shift).unwrap_or(shift);
            return Ok(());
        }
        // Each coset is needed again, but not the subgroup: the subgroup's file is used for the first coset.
        let kept = self.shift.filter(|before| *before != Goldilocks::ONE);
        let file = if kept.is_some() { self.values.another()? } else { None };
        let before =
            self.shift.map(|before| self.power(before).invert_vartime().expect("a power of a shift"));
        // Inverse transforms leave powers of the old `s^m`: the ratio divides by them.
        let ratio = self.power(shift) * before.unwrap_or(Goldilocks::ONE);
        let (tiles, len, domain) = (self.tiles(), self.tile_len(), domain(self.log_tiles));
        let task = if self.values.is_file() { RUN } else { TASK / tiles };
        let mut parts: Vec<_> =
            self.values.whole(file.as_ref()).cut(len).map(|part| part.cut(task)).collect();
        for tasks in parallel::ranges(len.div_ceil(task), TASKS) {
            let tasks: Vec<Vec<Piece<'_>>> = tasks.map(|_| next_of_each(&mut parts)).collect();
            for_each(tasks, |mut rows| {
                let width = rows[0].len();
                let mut copy = vec![Goldilocks::ZERO; tiles * width];
                copy.chunks_mut(width).zip(&rows).try_for_each(|(copy, row)| row.read(copy))?;
                if before.is_some() {
                    domain.intt(level, &mut copy, Order::Natural);
                }
                domain.coset_ntt(level, &mut copy, ratio, Order::Natural);
                copy.chunks(width).zip(&mut rows).try_for_each(|(copy, row)| row.write(copy))
            })?;
        }
        drop(parts);
        self.shift = Some(shift);
        if let Some((file, kept)) = file.zip(kept) {
            self.others.push((kept, mem::replace(&mut self.values, Store::File(file))));
        }
        Ok(())
    }

    /// Computes the rows `tile + tiles k` of the stored coset, with k in bit-reversed order.
    fn tile(&self, level: Level, tile: usize, rows: &mut [Goldilocks]) -> Result<(), StarkError> {
        self.values.read(tile * self.tile_len(), rows)?;
        // A tile is on the coset `s w^t` of a subgroup of m elements.
        let shift = self.shift() * tile_shift(self.log_rows, tile);
        domain(self.log_tile_rows()).coset_ntt(level, rows, shift, Order::BitReversed);
        Ok(())
    }

    /// Computes tiles of the coset that is stored.
    pub(crate) fn each_tile<'a>(
        &self,
        level: Level,
        tiles: impl Iterator<Item = (usize, &'a mut [Goldilocks])>,
    ) -> Result<(), StarkError> {
        for_each(tiles, |(tile, rows)| self.tile(level, tile, rows))
    }

    /// The number of elements of a part: a quarter of a coset's.
    pub(crate) fn part_len(&self) -> usize {
        self.tiles_at_a_time() * self.tile_len()
    }

    /// Computes a part of the extension, in bit-reversed order, from row `first` on. `first` is a multiple of the number of rows of a part.
    pub(crate) fn part(
        &mut self,
        level: Level,
        log_blowup: u32,
        first: usize,
        rows: &mut [Goldilocks],
    ) -> Result<(), StarkError> {
        let first = first >> self.log_tile_rows();
        self.go_to(level, self.coset_and_tile(log_blowup, first).0)?;
        let tiles = (first..).map(|part| self.coset_and_tile(log_blowup, part).1);
        self.each_tile(level, tiles.zip(rows.chunks_mut(self.tile_len())))
    }

    /// The coset's shift and the tile's index for group `part` of the extension's rows. A group has as many consecutive rows as a tile.
    fn coset_and_tile(&self, log_blowup: u32, part: usize) -> (Goldilocks, usize) {
        let coset = reverse(part >> self.log_tiles, log_blowup);
        let tile = reverse(part & (self.tiles() - 1), self.log_tiles);
        (coset_shift(self.log_rows, log_blowup, coset), tile)
    }

    /// Rows of the extension, one after the other.
    pub(crate) fn rows(
        &mut self,
        level: Level,
        log_blowup: u32,
        queries: &[usize],
    ) -> Result<Vec<Goldilocks>, StarkError> {
        let mut rows = vec![Goldilocks::ZERO; queries.len() * self.columns];
        // Queries by coset, the stored coset first, and by tile.
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
            self.go_to(level, shift)?;
            let values = parallel::map(&tiles, |(tile, indices)| {
                // A row is `sum_r x^r d_(t, r)` at its element x: the tile needs no transform.
                let points: Vec<_> = indices.iter().map(|index| coset().element(queries[*index])).collect();
                let part = self.values.at(tile * self.tile_len()..(tile + 1) * self.tile_len())?;
                let words = Goldilocks::as_words(&part);
                let matrix = Opened { words, width: self.columns, points: (0..points.len()).collect() };
                Ok(weighted_sums(level, &matrix, |point, range| {
                    let first = points[point].pow_vartime(&[range.start as u64]);
                    let powers = successors(Some(first), |power| Some(*power * points[point]));
                    powers.take(range.len()).map(|power| Extension([power])).collect()
                }))
            });
            let values = values.into_iter().collect::<Result<Vec<_>, StarkError>>()?;
            for (index, values) in tiles.values().flatten().zip(values.into_iter().flatten()) {
                let row = &mut rows[index * self.columns..][..self.columns];
                row.iter_mut().zip(values).for_each(|(to, value)| *to = value.0[0]);
            }
        }
        Ok(rows)
    }

    /// The stored values in parts of whole tiles, which are in memory, each with the index of its first row.
    fn parts(&self) -> impl Iterator<Item = Result<(usize, Cow<'_, [Goldilocks]>), StarkError>> {
        let tiles = if self.values.is_file() { self.tiles_at_a_time() } else { self.tiles() };
        parallel::ranges(self.values.len(), tiles * self.tile_len())
            .map(|range| Ok((range.start / self.columns, self.values.at(range)?)))
    }

    /// The values of all columns at the points with the indices `opened`.
    pub(crate) fn evaluate<const D: usize>(
        &self,
        level: Level,
        points: &[Extension<Goldilocks, D>],
        opened: &[usize],
    ) -> Result<Vec<Vec<Extension<Goldilocks, D>>>, StarkError>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        // The coefficients are an inverse transform over the tiles: the factor of tile t is a sum of powers.
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
        let mut sums = vec![vec![Extension::ZERO; self.columns]; opened.len()];
        for part in self.parts() {
            let (first, values) = part?;
            let words = Goldilocks::as_words(&values);
            let matrix = Opened { words, width: self.columns, points: opened.to_vec() };
            let of_part = weighted_sums(level, &matrix, |point, range| {
                let weight = |row: usize| {
                    factors[point][row >> log_step] * points[point].pow_vartime(&[(row & (step - 1)) as u64])
                };
                let mut next = weight(first + range.start);
                let advance = |row: usize| {
                    let this = if row & (step - 1) == 0 { weight(row) } else { next };
                    next = this * points[point];
                    this
                };
                (first + range.start..first + range.end).map(advance).collect()
            });
            sums.iter_mut().flatten().zip(of_part.iter().flatten()).for_each(|(sum, part)| *sum += *part);
        }
        Ok(sums)
    }

    /// The values on the coset of extensions, in bit-reversed order, of the sum of all columns times their factors.
    pub(crate) fn combination<const D: usize>(
        &self,
        level: Level,
        log_blowup: u32,
        factors: &[Extension<Goldilocks, D>],
    ) -> Result<Pages<Goldilocks>, StarkError>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let len = D << self.log_rows;
        let mut extension = Pages::new(len << log_blowup);
        // The columns are combined first: only the sum is transformed.
        let coefficients = &mut extension[..len];
        for part in self.parts() {
            let (first, values) = part?;
            let words = Goldilocks::as_words(&values);
            let sums = combine(level, words, self.columns, &factors[..self.columns]);
            let sums = Extension::coefficients(&sums);
            coefficients[D * first..][..sums.len()].copy_from_slice(sums);
        }
        domain(self.log_tiles).intt(level, coefficients, Order::Natural);
        let ratio = self.power(self.shift()).invert_vartime().expect("a power of a shift");
        scale_parts(coefficients, D << self.log_tile_rows(), ratio);
        let domain = domain(self.log_rows);
        domain.extend_coefficients(level, &mut extension, log_blowup, SHIFT, Order::BitReversed);
        Ok(extension)
    }
}

/// `w^t` for tile t, where w is the root of unity of order `2^log_rows`.
fn tile_shift(log_rows: u32, tile: usize) -> Goldilocks {
    generator(log_rows).pow_vartime(&[tile as u64])
}

/// The next item of each iterator that has one.
fn next_of_each<I: Iterator>(iterators: &mut [I]) -> Vec<I::Item> {
    iterators.iter_mut().filter_map(Iterator::next).collect()
}

/// Multiplies part q of `len` values by `ratio^q`.
fn scale_parts(values: &mut [Goldilocks], len: usize, ratio: Goldilocks) {
    let powers = successors(Some(Goldilocks::ONE), |power| Some(*power * ratio));
    let parts = values.chunks_mut(len).zip(powers);
    parallel::for_each(parts, |(part, power)| part.iter_mut().for_each(|value| *value *= power));
}
