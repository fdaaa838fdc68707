//! Columns whose extension is computed in parts, each time it is needed.
//!
//! A polynomial of n = T m coefficients has on the coset of shift s, with a root w of order n, the values
//! `f(s w^(t + T k)) = sum_r (s w^t)^r w^(T k r) d_(t, r)`, where `d_(t, r) = sum_q c_(r + m q) (s w^t)^(m q)` for r below m. The d of all t are
//! transforms of T coefficients each and replace the coefficients in memory; the values of tile t are then a transform
//! of m of them. It is the first step of a transform of n values (Bailey, "FFTs in external or hierarchical memory", 1990), kept.

use crate::{
    domain::{SHIFT, domain, generator, reverse},
    openings::{Opened, combine, evaluate_coefficients},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field, Invert, batch_invert_vartime,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_memory::Pages;
use proofmill_poly::goldilocks::Order;

/// The logarithm of the number of tiles of a coset, at most.
const MOST_LOG_TILES: u32 = 4;

/// What is in memory.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Coefficient `r + m q` times this factor's power of q.
    Coefficients(Goldilocks),
    /// The tiles of the coset of this shift.
    Tiles(Goldilocks),
}

/// A matrix of `2^log_rows` rows as polynomials.
pub(crate) struct Tiled {
    columns: usize,
    log_rows: u32,
    log_tiles: u32,
    state: State,
    values: Pages<Goldilocks>,
}

impl Tiled {
    /// The polynomials whose values on the subgroup, in natural order, are the columns.
    pub(crate) fn new(level: Level, values: &[Goldilocks], columns: usize) -> Self {
        let log_rows = (values.len() / columns).ilog2();
        let mut coefficients = Pages::new(values.len());
        coefficients.copy_from_slice(values);
        domain(log_rows).intt(level, &mut coefficients, Order::Natural);
        let state = State::Coefficients(Goldilocks::ONE);
        Self { columns, log_rows, log_tiles: log_rows.min(MOST_LOG_TILES), state, values: coefficients }
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

    /// The words of a tile.
    pub(crate) fn tile_len(&self) -> usize {
        self.columns << self.log_tile_rows()
    }

    /// `x^m`.
    fn power(&self, x: Goldilocks) -> Goldilocks {
        x.pow_vartime(&[1 << self.log_tile_rows()])
    }

    /// Brings coefficients to memory, and returns the factor.
    fn coefficients(&mut self, level: Level) -> Goldilocks {
        match self.state {
            State::Coefficients(factor) => factor,
            State::Tiles(shift) => {
                domain(self.log_tiles).intt(level, &mut self.values, Order::Natural);
                let factor = self.power(shift);
                self.state = State::Coefficients(factor);
                factor
            }
        }
    }

    /// Prepares the tiles of the coset of a shift.
    pub(crate) fn go_to(&mut self, level: Level, shift: Goldilocks) {
        if self.state == State::Tiles(shift) {
            return;
        }
        let factor = self.coefficients(level);
        let ratio = self.power(shift) * factor.invert_vartime().expect("a power of a shift");
        domain(self.log_tiles).coset_ntt(level, &mut self.values, ratio, Order::Natural);
        self.state = State::Tiles(shift);
    }

    /// Computes a tile of the coset that is prepared: the rows `tile + tiles k`, with k in bit-reversed order.
    ///
    /// # Panics
    /// If none is prepared.
    pub(crate) fn tile(&self, level: Level, tile: usize, rows: &mut [Goldilocks]) {
        let State::Tiles(shift) = self.state else { unreachable!("the tiles of no coset are prepared") };
        rows.copy_from_slice(&self.values[tile * self.tile_len()..][..self.tile_len()]);
        let shift = shift * generator(self.log_rows).pow_vartime(&[tile as u64]);
        domain(self.log_tile_rows()).coset_ntt(level, rows, shift, Order::BitReversed);
    }

    /// Calls `body` with parts of the extension and the index of their first row, in ascending order: those for which `wanted` is true
    /// for the range of their rows.
    pub(crate) fn for_each_part(
        &mut self,
        level: Level,
        log_blowup: u32,
        wanted: impl Fn(std::ops::Range<usize>) -> bool,
        mut body: impl FnMut(usize, &[Goldilocks]),
    ) {
        let root = generator(self.log_rows + log_blowup);
        let part_rows = 1 << self.log_tile_rows();
        let mut rows = Pages::new(self.tile_len());
        for part in 0..self.tiles() << log_blowup {
            let first = part * part_rows;
            if !wanted(first..first + part_rows) {
                continue;
            }
            let coset = reverse(part >> self.log_tiles, log_blowup);
            self.go_to(level, SHIFT * root.pow_vartime(&[coset as u64]));
            self.tile(level, reverse(part % self.tiles(), self.log_tiles), &mut rows);
            body(first, &rows);
        }
    }

    /// The values of all columns at points.
    pub(crate) fn evaluate<const D: usize>(
        &mut self,
        level: Level,
        points: &[Extension<Goldilocks, D>],
        opened: &[usize],
    ) -> Vec<Vec<Extension<Goldilocks, D>>>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let factor = self.coefficients(level).invert_vartime().expect("a power of a shift");
        let words = Goldilocks::as_words(&self.values);
        let matrix = Opened { words, width: self.columns, points: opened.to_vec() };
        evaluate_coefficients(level, self.log_tile_rows(), factor, &matrix, points)
    }

    /// The values on the coset of extensions, in bit-reversed order, of the sum of all columns times their factors.
    pub(crate) fn combination<const D: usize>(
        &mut self,
        level: Level,
        log_blowup: u32,
        factors: &[Extension<Goldilocks, D>],
    ) -> Pages<Goldilocks>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let factor = self.coefficients(level);
        let words = Goldilocks::as_words(&self.values);
        let mut sums = combine(level, words, self.columns, &factors[..self.columns]);
        let mut powers: Vec<_> = std::iter::successors(Some(Goldilocks::ONE), |power| Some(*power * factor))
            .take(self.tiles())
            .collect();
        batch_invert_vartime(&mut powers);
        for (sums, power) in sums.chunks_mut(1 << self.log_tile_rows()).zip(powers) {
            sums.iter_mut().for_each(|sum| *sum = sum.scale(power));
        }
        let coefficients = Extension::coefficients(&sums);
        let mut extension = Pages::new(coefficients.len() << log_blowup);
        extension[..coefficients.len()].copy_from_slice(coefficients);
        let domain = domain(self.log_rows);
        domain.extend_coefficients(level, &mut extension, log_blowup, SHIFT, Order::BitReversed);
        extension
    }
}
