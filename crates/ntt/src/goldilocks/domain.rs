//! Subgroups of roots of unity and transforms over them.
//!
//! A transform of m = rows x columns values (Bailey, "FFTs in external or hierarchical memory", 1990), with
//! `j = columns j1 + j2` and `k = k1 + rows k2`, is one of every column, then one of every row k1, after multiplying its
//! value j2 by `w^(j2 k1)`: a transform over a coset. Rows are split in the same way until they fit the
//! cache next to the CPU, and each step reads and writes the values once.

use super::{
    Order,
    bit_reversal::reverse_rows,
    tile::{self, Factors, Input, Part, Rows, Scale, Tables},
};
use crate::reverse_bits::reverse_bits;
use proofmill_cpu::{Level, Portable};
use proofmill_field::{
    Algebra, Field, Invert, dispatch_goldilocks,
    goldilocks::{Goldilocks, GoldilocksEngine},
};
use proofmill_memory::{Lines, advise_huge_pages, prefetch_at};
use proofmill_run::parallel;
use std::{cell::Cell, ops::Range};

/// The subgroup of order n = 2^log_n.
///
/// Values are a row-major matrix of n rows; each column is one polynomial. A slice of n values is one polynomial.
/// Transforms take natural order, work in place, and run on the ambient rayon pool.
pub struct GoldilocksDomain {
    log_n: u32,
    /// A root of order 2^32.
    generator: Goldilocks,
    root: Goldilocks,
    forward: Steps,
    inverse: Steps,
    inverse_len: Goldilocks,
}

/// The steps of a transform.
struct Steps {
    split: Vec<Step>,
    /// A single step for many polynomials of few coefficients.
    whole: Option<Step>,
}

/// `base^(2^log)`.
fn power_of_two(base: Goldilocks, log: u32) -> Goldilocks {
    base.pow_vartime(&[1 << log])
}

/// `base^e` for e below a bound, with one product.
struct Powers {
    low: Vec<Goldilocks>,
    high: Vec<Goldilocks>,
}

impl Powers {
    /// The powers for exponents below `2^log_bound`.
    fn new(base: Goldilocks, log_bound: u32) -> Self {
        let (log_low, log_high) = (log_bound.div_ceil(2), log_bound / 2);
        let powers = |base, log_len: u32| {
            std::iter::successors(Some(Goldilocks::ONE), |x| Some(*x * base)).take(1 << log_len).collect()
        };
        Self { low: powers(base, log_low), high: powers(base.pow_vartime(&[1 << log_low]), log_high) }
    }

    fn get(&self, exponent: usize) -> Goldilocks {
        let log_low = self.low.len().trailing_zeros();
        self.low[exponent & (self.low.len() - 1)] * self.high[exponent >> log_low]
    }
}

/// A transform of the columns of a matrix.
struct Step {
    columns: usize,
    /// Powers of the root of order rows x columns.
    powers: Powers,
    tables: Tables,
}

impl Step {
    fn rows(&self) -> usize {
        self.tables.len()
    }

    /// `w^(k1 exponent)`, where row r holds output k1.
    fn power(&self, r: usize, exponent: usize) -> Goldilocks {
        self.powers.get(reverse_bits(r, self.rows().trailing_zeros()) * exponent)
    }

    /// `first ratio^r` for row r, unless all are 1.
    fn factors(&self, first: Goldilocks, ratio: Goldilocks) -> Option<Factors> {
        let one = Goldilocks::ONE;
        (first != one || ratio != one).then(|| Factors::powers(first, ratio, self.rows()))
    }

    /// The multiplication of value j by `shift^j`: the part that depends on the row.
    fn shift(&self, shift: Goldilocks) -> Option<Factors> {
        self.factors(Goldilocks::ONE, shift.pow_vartime(&[self.columns as u64]))
    }
}

/// The logarithms of the steps' rows, first to last: the last two steps are for the cache next to the CPU, as halves whose
/// tiles fit the first-level cache.
fn split(log_n: u32) -> Vec<u32> {
    /// The largest and the best total of the last two steps.
    const TWO_STEPS: (u32, u32) = (17, 16);
    /// The least and the most of an earlier step.
    const BEFORE: (u32, u32) = (3, 8);
    let mut logs = Vec::new();
    let mut left = log_n;
    while left > TWO_STEPS.0 {
        let before = (left - TWO_STEPS.1).max(BEFORE.0);
        let log = before.div_ceil(before.div_ceil(BEFORE.1));
        logs.push(log);
        left -= log;
    }
    logs.extend([left.div_ceil(2), left / 2]);
    logs
}

fn steps(log_n: u32, root: Goldilocks) -> Steps {
    /// The most rows whose tiles fit the first-level cache.
    const WHOLE: u32 = 9;
    let whole =
        (1..=WHOLE).contains(&log_n).then(|| chain(log_n, root, &[log_n])).and_then(|mut steps| steps.pop());
    Steps { split: chain(log_n, root, &split(log_n)), whole }
}

/// Steps with these logarithms of rows, first to last.
fn chain(log_n: u32, root: Goldilocks, logs: &[u32]) -> Vec<Step> {
    let (mut left, mut root) = (log_n, root);
    logs.iter()
        .copied()
        .map(|log_rows| {
            let powers = Powers::new(root, left);
            left -= log_rows;
            let tables = Tables::new(log_rows, root.pow_vartime(&[1 << left]));
            // The rows of this step's result are transforms with the root w^rows.
            root = root.pow_vartime(&[1 << log_rows]);
            Step { columns: 1 << left, powers, tables }
        })
        .collect()
}

impl GoldilocksDomain {
    /// The subgroup of order `2^log_n` with [`Goldilocks::root_of_unity`]; `None` above 2^32, the field's two-adicity.
    pub fn new(log_n: u32) -> Option<Self> {
        Self::with_generator(log_n, Goldilocks::ROOT_OF_UNITY)
    }

    /// The subgroup of order `2^log_n` with a power of a generator of the subgroup of order 2^32, for libraries that chose
    /// another; `None` above 2^32, or if `generator` has another order.
    pub fn with_generator(log_n: u32, generator: Goldilocks) -> Option<Self> {
        // An element has order 2^32 exactly if its power 2^31 is -1.
        if log_n > Goldilocks::TWO_ADICITY
            || power_of_two(generator, Goldilocks::TWO_ADICITY - 1) != -Goldilocks::ONE
        {
            return None;
        }
        let root = power_of_two(generator, Goldilocks::TWO_ADICITY - log_n);
        let (forward, inverse) = (steps(log_n, root), steps(log_n, root.invert_vartime()?));
        let inverse_len = Goldilocks::new(1 << log_n).invert_vartime()?;
        Some(Self { log_n, generator, root, forward, inverse, inverse_len })
    }

    /// The number of elements, n.
    #[expect(clippy::len_without_is_empty, reason = "a group is never empty")]
    pub fn len(&self) -> usize {
        1 << self.log_n
    }

    /// The generator of the subgroup.
    pub fn root(&self) -> Goldilocks {
        self.root
    }

    /// Coefficients to values: value k is `sum_j coefficients[j] root^(j k)`.
    ///
    /// # Panics
    /// If the slice's length is not a multiple of n (also for all other transforms).
    pub fn ntt(&self, level: Level, values: &mut [Goldilocks], order: Order) {
        self.transform(level, &self.forward, values, Goldilocks::ONE, Goldilocks::ONE, order);
    }

    /// Coefficients to values on the coset `shift * H`.
    pub fn coset_ntt(&self, level: Level, values: &mut [Goldilocks], shift: Goldilocks, order: Order) {
        self.transform(level, &self.forward, values, shift, Goldilocks::ONE, order);
    }

    /// Values to coefficients, the inverse of [`ntt`](Self::ntt).
    pub fn intt(&self, level: Level, values: &mut [Goldilocks], order: Order) {
        self.transform(level, &self.inverse, values, Goldilocks::ONE, self.inverse_len, order);
    }

    /// Values on the coset `shift * H` to coefficients in natural order, the inverse of [`coset_ntt`](Self::coset_ntt).
    ///
    /// # Panics
    /// Also if `shift` is zero.
    pub fn coset_intt(&self, level: Level, values: &mut [Goldilocks], shift: Goldilocks) {
        self.intt(level, values, Order::Natural);
        let ratio = shift.invert_vartime().expect("a coset's shift is not zero");
        if ratio != Goldilocks::ONE {
            scale_rows(values, self.len(), ratio);
        }
    }

    /// The low-degree extension of the polynomials whose values on H, in natural order, are the columns of a row-major
    /// matrix: their values on the coset `shift * H'`, where the order of H' is n times the length of `extension`
    /// divided by that of `values`.
    ///
    /// In bit-reversed order, the values on each coset of H are adjacent.
    ///
    /// # Panics
    /// If the number of values is not a multiple of n, if the length of the extension is not a power of two times that
    /// number, or if H' would have more than 2^32 elements.
    pub fn low_degree_extension(
        &self,
        level: Level,
        values: &[Goldilocks],
        shift: Goldilocks,
        extension: &mut [Goldilocks],
        order: Order,
    ) {
        if values.is_empty() && extension.is_empty() {
            return;
        }
        let blow_up = extension.len() / values.len().max(1);
        let fits = blow_up.is_power_of_two() && extension.len() == blow_up * values.len();
        assert!(fits, "an extension of {} values has a power of two times as many", values.len());
        extension[..values.len()].copy_from_slice(values);
        self.extend(level, extension, blow_up.trailing_zeros(), shift, order);
    }

    /// As [`low_degree_extension`](Self::low_degree_extension) with an extension that begins with the values and is
    /// `2^log_blow_up` times as long; what follows them is overwritten.
    ///
    /// # Panics
    /// If the length is not a multiple of that of H', or if H' would have more than 2^32 elements.
    pub fn extend(
        &self,
        level: Level,
        extension: &mut [Goldilocks],
        log_blow_up: u32,
        shift: Goldilocks,
        order: Order,
    ) {
        assert!(self.log_n + log_blow_up <= Goldilocks::TWO_ADICITY, "at most 2^32 elements");
        assert!(extension.len().is_multiple_of(self.len() << log_blow_up), "a row for each element of H'");
        let len = extension.len() >> log_blow_up;
        self.intt(level, &mut extension[..len], Order::Natural);
        self.extend_coefficients(level, extension, log_blow_up, shift, order);
    }

    /// As [`extend`](Self::extend) of polynomials whose coefficients are at the beginning.
    ///
    /// # Panics
    /// As [`extend`](Self::extend).
    pub fn extend_coefficients(
        &self,
        level: Level,
        extension: &mut [Goldilocks],
        log_blow_up: u32,
        shift: Goldilocks,
        order: Order,
    ) {
        assert!(self.log_n + log_blow_up <= Goldilocks::TWO_ADICITY, "at most 2^32 elements");
        assert!(extension.len().is_multiple_of(self.len() << log_blow_up), "a row for each element of H'");
        // SAFETY: transforms write only integers below p.
        let words = unsafe { Goldilocks::as_words_mut(extension) };
        self.transform_cosets(level, Part::new(words), log_blow_up, shift);
        self.order_rows(level, extension, self.log_n + log_blow_up, order);
    }

    /// As [`extend`](Self::extend) of the values in a vector, which grows to their extension.
    ///
    /// # Panics
    /// If the number of values is not a multiple of n, or if H' would have more than 2^32 elements.
    pub fn extend_vector(
        &self,
        level: Level,
        values: &mut Vec<Goldilocks>,
        log_blow_up: u32,
        shift: Goldilocks,
        order: Order,
    ) {
        assert!(log_blow_up <= Goldilocks::TWO_ADICITY - self.log_n, "at most 2^32 elements");
        let len = values.len().checked_mul(1 << log_blow_up).expect("less than the address space");
        values.reserve_exact(len - values.len());
        advise_huge_pages(values.spare_capacity_mut());
        self.intt(level, values, Order::Natural);
        // SAFETY: the vector has room for these words, of which only the first are initialised. All that are added are written before
        // they are read or counted, and as integers below p.
        unsafe {
            let words = Part::from_raw(values.as_mut_ptr().cast(), len);
            self.transform_cosets(level, words, log_blow_up, shift);
            values.set_len(len);
        }
        self.order_rows(level, values, self.log_n + log_blow_up, order);
    }

    /// Transforms the coefficients at the beginning to values on each coset of H, in bit-reversed order.
    fn transform_cosets(&self, level: Level, extension: Part<'_>, log_blow_up: u32, shift: Goldilocks) {
        let len = extension.len() >> log_blow_up;
        let root = power_of_two(self.generator, Goldilocks::TWO_ADICITY - self.log_n - log_blow_up);
        // The first coset takes the place of the coefficients, and is the last.
        for coset in (0..1 << log_blow_up).rev() {
            let shift = shift * root.pow_vartime(&[reverse_bits(coset, log_blow_up) as u64]);
            let (from, to) = (extension.sub(0, len), extension.sub(coset * len, len));
            self.transform_part(level, &self.forward, from, to, shift, Goldilocks::ONE);
        }
    }

    fn transform(
        &self,
        level: Level,
        steps: &Steps,
        values: &mut [Goldilocks],
        shift: Goldilocks,
        after: Goldilocks,
        order: Order,
    ) {
        assert!(
            values.len().is_multiple_of(self.len()),
            "a matrix with a row for each element of the domain"
        );
        // SAFETY: transforms write only integers below p.
        let part = Part::new(unsafe { Goldilocks::as_words_mut(values) });
        self.transform_part(level, steps, part, part, shift, after);
        self.order_rows(level, values, self.log_n, order);
    }

    /// Transforms a part to another or in place, in bit-reversed order.
    fn transform_part(
        &self,
        level: Level,
        steps: &Steps,
        from: Part<'_>,
        to: Part<'_>,
        shift: Goldilocks,
        after: Goldilocks,
    ) {
        let width = to.len() / self.len();
        if self.log_n == 0 {
            // SAFETY: both parts have as many words, and are the same or do not overlap.
            return unsafe { std::ptr::copy(from.rows(0, width).start, to.rows(0, width).start, width) };
        }
        if width > 0 {
            let transform = Transform { width, after };
            dispatch_goldilocks!(level, engine => transform.run(engine, steps, from, to, shift));
        }
    }

    /// Brings `2^log_rows` rows from bit-reversed order to this one.
    fn order_rows(&self, level: Level, values: &mut [Goldilocks], log_rows: u32, order: Order) {
        let width = values.len() >> log_rows;
        if order == Order::Natural && width > 0 {
            // SAFETY: only whole rows are swapped.
            let words = unsafe { Goldilocks::as_words_mut(values) };
            dispatch_goldilocks!(level, engine => reverse_rows(engine, words, width));
        }
    }
}

/// Multiplies row i of a matrix with `rows` rows by `ratio^i`.
fn scale_rows(values: &mut [Goldilocks], rows: usize, ratio: Goldilocks) {
    let width = values.len() / rows;
    if width == 0 {
        return;
    }
    let block = ((1 << 13) / width).max(1 << 10);
    let blocks = (0u64..).step_by(block).zip(values.chunks_mut(block * width));
    parallel::for_each(blocks, |(row, values)| {
        let mut factor = ratio.pow_vartime(&[row]);
        for row in values.chunks_exact_mut(width) {
            row.iter_mut().for_each(|value| *value *= factor);
            factor *= ratio;
        }
    });
}

/// Above this number of rows, columns are copied: the ways of a cache set.
const FEW_ROWS: usize = 16;

/// Above this number of vectors a row, the values of rows that are not whole vectors are copied: below, transposed.
const MANY_VECTORS: usize = 8;

/// Copies `len` words of each row.
///
/// # Safety
/// The rows must be readable and writable, must not overlap, and not be accessed by others during the call.
unsafe fn copy_rows(from: Rows, to: Rows, rows: usize, len: usize) {
    for r in 0..rows {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from.row(r).cast_const(), to.row(r), len) };
    }
}

/// The parameters of all steps of a transform.
#[derive(Clone, Copy)]
struct Transform {
    /// The number of polynomials.
    width: usize,
    /// A factor of every value.
    after: Goldilocks,
}

impl Transform {
    fn run<E: GoldilocksEngine>(
        self,
        engine: E,
        steps: &Steps,
        from: Part<'_>,
        to: Part<'_>,
        shift: Goldilocks,
    ) {
        if let Some(step) = steps.whole.as_ref().filter(|_| self.width > MANY_VECTORS * tile::lanes(engine)) {
            return self.whole(engine, step, from, to, shift);
        }
        let steps = &steps.split[..];
        // The last step has the fewest rows.
        if steps.last().is_some_and(|step| step.rows() < tile::lanes(engine)) {
            self.run_steps(Portable, steps, from, to, shift);
        } else {
            self.run_steps(engine, steps, from, to, shift);
        }
    }

    /// Transforms all rows in one step.
    fn whole<E: GoldilocksEngine>(
        self,
        engine: E,
        step: &Step,
        from: Part<'_>,
        to: Part<'_>,
        shift: Goldilocks,
    ) {
        let (lanes, width) = (tile::lanes(engine), self.width);
        let factors = step.factors(self.after, shift);
        let input = Input::of(&factors);
        let words = [step.tables.scratch(lanes), lanes * step.rows()];
        each(width.div_ceil(lanes), words, |tiles, buffers| {
            let (first, last) = (tiles.start * lanes, width.min(tiles.end * lanes));
            let rows = [from, to].map(|part| part.rows(first, width));
            self.tiles(engine, step, input, rows, last - first, buffers);
        });
    }

    /// Transforms `len` adjacent columns; the last tile may be incomplete.
    fn tiles<E: GoldilocksEngine>(
        self,
        engine: E,
        step: &Step,
        input: Input<'_>,
        [from, to]: [Rows; 2],
        len: usize,
        [scratch, copy]: &mut [&mut [u64]; 2],
    ) {
        let lanes = tile::lanes(engine);
        let (rest, whole) = (len % lanes, len - len % lanes);
        // SAFETY: only this task uses these columns, and its copy.
        unsafe {
            tile::transform_tiles(engine, &step.tables, input, [from, to], len / lanes, scratch);
            if rest > 0 {
                // The last columns do not fill a tile: a copy of full width takes them.
                let copy = Part::new(copy).rows(0, lanes);
                copy_rows(from.columns(whole), copy, step.rows(), rest);
                tile::transform_tiles(engine, &step.tables, input, [copy; 2], 1, scratch);
                copy_rows(copy, to.columns(whole), step.rows(), rest);
            }
        }
    }

    /// Transforms a part after multiplying its value j by `shift^j`.
    fn run_steps<E: GoldilocksEngine>(
        self,
        engine: E,
        steps: &[Step],
        from: Part<'_>,
        to: Part<'_>,
        shift: Goldilocks,
    ) {
        let [step, rest @ ..] = steps else { return };
        if let [last] = rest {
            self.columns(engine, step, from, to, shift);
            return self.rows(engine, step, last, to, shift);
        }
        // Rows at multiples of a power of two share cache sets: too many evict each other.
        if step.rows() > FEW_ROWS {
            self.far_columns(engine, step, from, to, shift);
        } else {
            self.columns(engine, step, from, to, shift);
        }
        let row = step.columns * self.width;
        // Row k1 is now a transform over the coset of shift w^k1, which is split further.
        parallel::for_each(0..step.rows(), |r| {
            let part = to.sub(r * row, row);
            self.run_steps(engine, rest, part, part, shift * step.power(r, 1));
        });
    }

    /// Transforms every column, with the coefficient in row j1 times `shift^(columns j1)`; row r of the result holds output
    /// `reverse_bits(r)`.
    fn columns<E: GoldilocksEngine>(
        self,
        engine: E,
        step: &Step,
        from: Part<'_>,
        to: Part<'_>,
        shift: Goldilocks,
    ) {
        let (lanes, row, shift) = (tile::lanes(engine), step.columns * self.width, step.shift(shift));
        each(row / lanes, [step.tables.scratch(lanes), 0], |tiles, [scratch, _]| {
            let rows = [from, to].map(|part| part.rows(tiles.start * lanes, row));
            // SAFETY: only this task uses these columns.
            unsafe {
                tile::transform_tiles(engine, &step.tables, Input::of(&shift), rows, tiles.len(), scratch);
            }
        });
    }

    /// As [`columns`](Self::columns), for rows so far apart that their words would share few cache lines: on
    /// a copy of adjacent columns.
    fn far_columns<E: GoldilocksEngine>(
        self,
        engine: E,
        step: &Step,
        from: Part<'_>,
        to: Part<'_>,
        shift: Goldilocks,
    ) {
        /// The words of a copy.
        const COPY: usize = 1 << 13;
        let (lanes, row, shift) = (tile::lanes(engine), step.columns * self.width, step.shift(shift));
        // As many columns as fill the copy: whole cache lines of each row are read and written.
        let copied = (COPY / step.rows()).max(lanes);
        each(
            row.div_ceil(copied),
            [step.tables.scratch(lanes), copied * step.rows()],
            |blocks, [scratch, copy]| {
                for block in blocks {
                    let first = block * copied;
                    let len = copied.min(row - first);
                    let copy = Part::new(copy).rows(0, copied);
                    let [from, to] = [from, to].map(|part| part.rows(first, row));
                    // SAFETY: only this task uses these words.
                    unsafe { copy_rows(from, copy, step.rows(), len) };
                    let tiles = len.div_ceil(lanes);
                    for tile in 0..tiles {
                        // Prefetches a part of the next block during the computation.
                        for r in tile * step.rows() / tiles..(tile + 1) * step.rows() / tiles {
                            let next = from.row(r).wrapping_add(copied);
                            (0..len).step_by(8).for_each(|word| prefetch_at(next.wrapping_add(word)));
                        }
                        let rows = [copy.columns(tile * lanes); 2];
                        // SAFETY: as above.
                        unsafe {
                            tile::transform_tiles(engine, &step.tables, Input::of(&shift), rows, 1, scratch);
                        }
                    }
                    // SAFETY: as above.
                    unsafe { copy_rows(copy, to, step.rows(), len) };
                }
            },
        );
    }

    /// Transforms every row of the result of `step`, with value j2 times `(shift w^k1)^j2`.
    fn rows<E: GoldilocksEngine>(
        self,
        engine: E,
        step: &Step,
        last: &Step,
        part: Part<'_>,
        shift: Goldilocks,
    ) {
        let (lanes, width, row) = (tile::lanes(engine), self.width, step.columns * self.width);
        let scratch = last.tables.scratch(lanes);
        // Many polynomials: adjacent columns of one row fill the lanes.
        if width.is_multiple_of(lanes) || width > MANY_VECTORS * lanes {
            return each(step.rows(), [scratch, lanes * last.rows()], |rows, buffers| {
                for r in rows {
                    let factors = last.factors(self.after, shift * step.power(r, 1));
                    let rows = [part.rows(r * row, width); 2];
                    self.tiles(engine, last, Input::of(&factors), rows, width, buffers);
                }
            });
        }
        // Few polynomials: each lane takes a row with its own shift, after a transposition.
        let leap = last.tables.leap();
        let shift_leap = shift.pow_vartime(&[leap as u64]);
        let powers = |r| [self.after, shift * step.power(r, 1), shift_leap * step.power(r, leap)];
        each(step.rows() / lanes, [scratch, row * lanes], |blocks, [scratch, tile]| {
            let columns = Part::new(tile).rows(0, lanes);
            for block in blocks {
                let scale = Scale::new(lanes, |lane| powers(block * lanes + lane));
                let rows = part.rows(block * lanes * row, row);
                // SAFETY: only this task uses these rows and its tile.
                unsafe {
                    tile::rows_to_columns(engine, rows, columns, row);
                    let polynomials = [Rows { stride: width * lanes, ..columns }; 2];
                    let input = Input::Scaled(&scale);
                    tile::transform_tiles(engine, &last.tables, input, polynomials, width, scratch);
                    tile::columns_to_rows(engine, columns, rows, row);
                }
            }
        });
    }
}

/// Runs `body` on ranges that together are all indices below `count`, with two buffers of these lengths, in words, of any content.
fn each(count: usize, [scratch, copy]: [usize; 2], body: impl Fn(Range<usize>, &mut [&mut [u64]; 2]) + Sync) {
    /// The most words that a thread keeps.
    const KEPT: usize = 1 << 16;
    thread_local! {
        /// Kept between calls: new buffers take a twentieth of a transform, because the cache does not have them.
        static BUFFER: Cell<Lines> = Cell::new(Lines::default());
    }
    let threads = parallel::threads();
    // Several tasks per thread balance the load; a single thread has nothing to balance.
    let tasks = if threads == 1 { 1 } else { count.min(4 * threads) };
    parallel::for_each(0..tasks, |task| {
        let mut buffer = BUFFER.take();
        if buffer.len() < scratch + copy {
            buffer = Lines::zeroed(scratch + copy);
        }
        let (first, second) = buffer.split_at_mut(scratch);
        let range = task * count / tasks..(task + 1) * count / tasks;
        body(range, &mut [first, &mut second[..copy]]);
        if buffer.len() <= KEPT {
            BUFFER.set(buffer);
        }
    });
}
