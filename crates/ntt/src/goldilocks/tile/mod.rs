//! Transforms of a tile, which is as many adjacent columns as a level has lanes, in cache.
//!
//! Each lane is an independent transform. The passes have radix 16, then the remaining radix. Between passes, output k of
//! row i of a block is multiplied by `w^(i k)`, and elements stay in Gaussian form in a scratch buffer, where row r holds
//! the real parts of all lanes, then the imaginary ones.

#[cfg(target_arch = "aarch64")]
mod sve;

use super::butterflies::{MAX_RADIX, transform};
use crate::reverse_bits::reverse_bits;
use proofmill_cpu::MAX_LANES;
use proofmill_field::{
    Algebra, Field,
    goldilocks::{Factor, Gaussian, Goldilocks, GoldilocksEngine, Twiddle, U64s},
};
use proofmill_memory::prefetch_at;
use std::{marker::PhantomData, mem::MaybeUninit};

/// Rows of `lanes` words in memory.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    /// The start of row 0.
    pub(crate) start: *mut u64,
    /// The distance between rows, in words.
    pub(crate) stride: usize,
}

impl Rows {
    #[inline(always)]
    pub(crate) fn row(self, index: usize) -> *mut u64 {
        // Kernels request only rows that their callers promise.
        self.start.wrapping_add(index * self.stride)
    }

    /// The rows without the words before this one.
    #[inline(always)]
    pub(crate) fn columns(self, first: usize) -> Self {
        Self { start: self.start.wrapping_add(first), ..self }
    }
}

/// Words of which tasks read and write separate parts.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    start: *mut u64,
    len: usize,
    words: PhantomData<&'a mut [u64]>,
}

// SAFETY: it represents an exclusive borrow; each task uses only words that no other task uses.
unsafe impl Send for Part<'_> {}
// SAFETY: as above.
unsafe impl Sync for Part<'_> {}

impl<'a> Part<'a> {
    pub(crate) fn new(words: &'a mut [u64]) -> Self {
        Self { start: words.as_mut_ptr(), len: words.len(), words: PhantomData }
    }

    /// Words of which those that are not initialised are written before they are read.
    ///
    /// # Safety
    /// The words must be readable and writable, and not be accessed by others as long as this exists.
    pub(crate) unsafe fn from_raw(start: *mut u64, len: usize) -> Self {
        Self { start, len, words: PhantomData }
    }

    pub(crate) fn len(self) -> usize {
        self.len
    }

    pub(crate) fn sub(self, offset: usize, len: usize) -> Self {
        assert!(offset + len <= self.len, "a part of the part");
        Self { start: self.start.wrapping_add(offset), len, words: PhantomData }
    }

    /// Rows from `offset` on.
    pub(crate) fn rows(self, offset: usize, stride: usize) -> Rows {
        Rows { start: self.start.wrapping_add(offset), stride }
    }
}

/// The factors of rows that are read.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// No factors.
    Plain,
    /// Row r is multiplied by one factor in all lanes.
    Multiplied(&'a Factors),
    /// Row r is multiplied by each lane's `first ratio^r`.
    Scaled(&'a Scale),
}

impl<'a> Input<'a> {
    pub(crate) fn of(factors: &'a Option<Factors>) -> Self {
        factors.as_ref().map_or(Self::Plain, Self::Multiplied)
    }
}

/// A factor for each row.
pub(crate) struct Factors {
    twiddles: Vec<Twiddle>,
    #[cfg(target_arch = "aarch64")]
    words: Vec<u64>,
}

impl Factors {
    /// `first ratio^r` for row r.
    pub(crate) fn powers(first: Goldilocks, ratio: Goldilocks, rows: usize) -> Self {
        let powers = || std::iter::successors(Some(first), |power| Some(*power * ratio)).take(rows);
        Self {
            twiddles: powers().map(|power| Twiddle::new(power.to_canonical())).collect(),
            #[cfg(target_arch = "aarch64")]
            words: powers().map(Goldilocks::to_canonical).collect(),
        }
    }
}

/// Powers of each lane's ratio.
pub(crate) struct Scale {
    first: [u64; MAX_LANES],
    ratio: [u64; MAX_LANES],
    leap: [u64; MAX_LANES],
    /// The fourth power of the leap, for interleaved chains of products.
    leap_4: [u64; MAX_LANES],
}

impl Scale {
    /// From `[first, ratio, leap]` of each lane; leap is the ratio to the power of [`Tables::leap`].
    pub(crate) fn new(lanes: usize, lane: impl Fn(usize) -> [Goldilocks; 3]) -> Self {
        let zero = [0; MAX_LANES];
        let mut scale = Self { first: zero, ratio: zero, leap: zero, leap_4: zero };
        for k in 0..lanes {
            let [first, ratio, leap] = lane(k);
            scale.first[k] = first.to_canonical();
            scale.ratio[k] = ratio.to_canonical();
            scale.leap[k] = leap.to_canonical();
            scale.leap_4[k] = leap.square().square().to_canonical();
        }
        scale
    }
}

/// Twiddles of the passes of a transform of `len` rows.
pub(crate) struct Tables {
    len: usize,
    passes: Vec<Pass>,
}

/// One pass: blocks of `radix * stride` rows.
struct Pass {
    radix: usize,
    stride: usize,
    /// Where output `place` of the butterflies is written: the bit-reversed number of the transform's output that it is, times the
    /// stride.
    rows: [usize; MAX_RADIX],
    /// In blocks of 64 rows, the twiddle of row i for output `place` is `2^(3 i place)` times the imaginary unit to the power of
    /// `i turns`.
    turns: [u32; MAX_RADIX],
    /// `w^(i k)` for row i of the block and output k at `i * radix + place`; empty for the last pass.
    twiddles: Vec<Twiddle>,
}

impl Tables {
    /// For transforms with a root of order `2^log_len`.
    ///
    /// The butterflies' roots are always powers of two: with their power e as the root, output k is the butterflies' output
    /// `e k`.
    pub(crate) fn new(log_len: u32, root: Goldilocks) -> Self {
        let (mut passes, mut left, mut root) = (Vec::new(), log_len, root);
        // At least one pass, which scales and copies.
        while left > 0 || passes.is_empty() {
            let log_radix = match left {
                // 2^5 = 8 * 4: two passes in any case, and the larger radix first needs fewer products. 2^9 = 8 * 64.
                5 | 9 => 3,
                left => left.min(4),
            };
            let (radix, stride) = (1 << log_radix, 1 << (left - log_radix));
            // Roots of order up to 64 are powers of two, and so is the given root's.
            let order = (radix * stride).min(64);
            let exponent = exponent_of(root.pow_vartime(&[(radix * stride / order) as u64]), order);
            let (mut outputs, mut rows, mut turns) = ([0; MAX_RADIX], [0; MAX_RADIX], [0; MAX_RADIX]);
            for output in 0..radix {
                let place = output * exponent % radix;
                outputs[place] = output;
                rows[place] = reverse_bits(output, log_radix) * stride;
                turns[place] = (output * exponent % order / radix) as u32;
            }
            let mut twiddles = Vec::new();
            // The last pass has no twiddles after it.
            if stride > 1 {
                let mut row_root = Goldilocks::ONE;
                for _ in 0..stride {
                    let twiddle = |k: &usize| Twiddle::new(row_root.pow_vartime(&[*k as u64]).to_canonical());
                    twiddles.extend(outputs[..radix].iter().map(twiddle));
                    row_root *= root;
                }
            }
            passes.push(Pass { radix, stride, rows, turns, twiddles });
            left -= log_radix;
            // The rest of a block is a transform whose root is this one to the power of the radix.
            (0..log_radix).for_each(|_| root *= root);
        }
        Self { len: 1 << log_len, passes }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The distance between the rows that the first pass reads together.
    pub(crate) fn leap(&self) -> usize {
        self.passes.first().map_or(1, |pass| pass.stride)
    }

    /// The words of scratch for this number of lanes.
    pub(crate) fn scratch(&self, lanes: usize) -> usize {
        2 * self.len * lanes
    }
}

/// The exponent of a root of this order, at most 64, to the base [`Goldilocks::root_of_unity`], which is a power of two.
fn exponent_of(root: Goldilocks, order: usize) -> usize {
    let base = Goldilocks::root_of_unity(order.trailing_zeros()).expect("a small order");
    let mut powers = std::iter::successors(Some(Goldilocks::ONE), |power| Some(*power * base)).take(order);
    powers.position(|power| power == root).expect("a root of this order")
}

/// The number of columns of a tile.
#[inline(always)]
pub(crate) fn lanes<E: GoldilocksEngine>(engine: E) -> usize {
    #[cfg(target_arch = "aarch64")]
    if let Some(assembly) = engine.assembly() {
        return sve::lanes(assembly);
    }
    let _ = engine;
    E::U64s::WIDTH
}

/// Transforms every lane of adjacent tiles from natural to bit-reversed order, from rows to others or in place; the number of rows
/// is that of the tables. Inputs are any words, outputs are canonical.
///
/// # Safety
/// The rows, of [`lanes`] words for each tile, must be readable at `from` and writable at `to`, must be the same or not overlap, and
/// not be accessed by others during the call.
///
/// # Panics
/// If the length of `scratch` is not that of [`Tables::scratch`].
pub(crate) unsafe fn transform_tiles<E: GoldilocksEngine>(
    engine: E,
    tables: &Tables,
    input: Input<'_>,
    [from, to]: [Rows; 2],
    tiles: usize,
    scratch: &mut [u64],
) {
    let lanes = lanes(engine);
    assert_eq!(scratch.len(), 2 * tables.len * lanes, "scratch for a whole tile");
    let scratch = scratch.as_mut_ptr();
    let tile = |index: usize| [from, to].map(|rows| rows.columns(index * lanes));
    #[cfg(target_arch = "aarch64")]
    if let Some(assembly) = engine.assembly() {
        for index in 0..tiles {
            let [from, to] = tile(index);
            // SAFETY: the caller's promise.
            unsafe { sve::transform(assembly, tables, input, from, to, scratch) };
        }
        return;
    }
    engine.run(
        #[inline(always)]
        || {
            for index in 0..tiles {
                let [from, to] = tile(index);
                // SAFETY: the caller's promise.
                unsafe { passes::<E::U64s, E::Factor>(engine, tables, input, from, to, scratch) };
            }
        },
    );
}

/// Writes rows of `len` words at `from`, one per [lane](lanes), as columns at `to`, that is as `len` rows; `len` is a
/// multiple of the lanes.
///
/// # Safety
/// As [`transform_tiles`], without overlap.
pub(crate) unsafe fn rows_to_columns<E: GoldilocksEngine>(engine: E, from: Rows, to: Rows, len: usize) {
    #[cfg(target_arch = "aarch64")]
    if let Some(assembly) = engine.assembly() {
        // SAFETY: the caller's promise.
        return unsafe { sve::rows_to_columns(assembly, from, to, len) };
    }
    engine.run(
        #[inline(always)]
        || {
            for column in (0..len).step_by(E::U64s::WIDTH) {
                let from = from.columns(column);
                let to = Rows { start: to.row(column), ..to };
                // SAFETY: the caller's promise.
                unsafe { square::<E::U64s>(engine, from, to) }
            }
        },
    );
}

/// The inverse of [`rows_to_columns`].
///
/// # Safety
/// As [`rows_to_columns`].
pub(crate) unsafe fn columns_to_rows<E: GoldilocksEngine>(engine: E, from: Rows, to: Rows, len: usize) {
    #[cfg(target_arch = "aarch64")]
    if let Some(assembly) = engine.assembly() {
        // SAFETY: the caller's promise.
        return unsafe { sve::columns_to_rows(assembly, from, to, len) };
    }
    engine.run(
        #[inline(always)]
        || {
            for column in (0..len).step_by(E::U64s::WIDTH) {
                let from = Rows { start: from.row(column), ..from };
                let to = to.columns(column);
                // SAFETY: the caller's promise.
                unsafe { square::<E::U64s>(engine, from, to) }
            }
        },
    );
}

/// Exchanges two squares of words with the [`lanes`] as side, transposed, with rows and columns in bit-reversed order; both
/// may be the same square. `squares` has room for both.
///
/// # Safety
/// The rows must be readable and writable, and not be accessed by others during the call.
pub(crate) unsafe fn exchange_reversed<E: GoldilocksEngine>(
    engine: E,
    a: Rows,
    b: Rows,
    squares: &mut [u64],
) {
    let squares = Part::new(squares);
    #[cfg(target_arch = "aarch64")]
    if let Some(assembly) = engine.assembly() {
        // SAFETY: the caller's promise.
        return unsafe { sve::exchange_reversed(assembly, a, b, squares) };
    }
    let square = squares.rows(0, E::U64s::WIDTH);
    engine.run(
        #[inline(always)]
        // SAFETY: the caller's promise.
        || unsafe { exchange_in_registers::<E::U64s>(engine, a, b, square) },
    );
}

/// # Safety
/// As [`rows_to_columns`].
#[inline(always)]
unsafe fn square<W: U64s>(token: W::Token, from: Rows, to: Rows) {
    // SAFETY: the caller's promise.
    unsafe {
        W::transpose(
            token,
            #[inline(always)]
            |k| from.row(k).cast_const(),
            #[inline(always)]
            |k| to.row(k),
        );
    }
}

/// # Safety
/// As [`exchange_reversed`].
#[inline(always)]
unsafe fn exchange_in_registers<W: U64s>(token: W::Token, a: Rows, b: Rows, square: Rows) {
    let log_lanes = W::WIDTH.trailing_zeros();
    // SAFETY: the caller's promise.
    unsafe {
        W::transpose(
            token,
            #[inline(always)]
            |k| a.row(reverse_bits(k, log_lanes)).cast_const(),
            #[inline(always)]
            |k| square.row(k),
        );
        // The square of a palindromic middle is exchanged with itself.
        if a.start != b.start {
            W::transpose(
                token,
                #[inline(always)]
                |k| b.row(reverse_bits(k, log_lanes)).cast_const(),
                #[inline(always)]
                |k| a.row(reverse_bits(k, log_lanes)),
            );
        }
        for k in 0..W::WIDTH {
            store::<W>(load(token, square.row(k)), b.row(reverse_bits(k, log_lanes)));
        }
    }
}

/// # Safety
/// As [`transform_tiles`].
#[inline(always)]
unsafe fn passes<W: U64s, F: Factor<W>>(
    token: W::Token,
    tables: &Tables,
    input: Input<'_>,
    from: Rows,
    to: Rows,
    scratch: *mut u64,
) {
    let last = tables.passes.len() - 1;
    let middle = Rows { start: scratch, stride: 2 * W::WIDTH };
    for (index, pass) in tables.passes.iter().enumerate() {
        let blocks = Blocks { pass, len: tables.len, input };
        // In blocks of 64 rows all twiddles are powers of two: shifts can replace products.
        let by_shifts = F::PREFERS_SHIFTS && pass.radix == 16 && pass.stride == 4;
        // SAFETY: the caller's promise; the scratch buffer has room for every row.
        unsafe {
            match (index, index == last, input) {
                (0, _, Input::Plain) if by_shifts => blocks.of_64::<W, F, PLAIN>(token, from, middle),
                (0, _, Input::Multiplied(_)) if by_shifts => {
                    blocks.of_64::<W, F, MULTIPLIED>(token, from, middle);
                }
                (0, _, Input::Scaled(_)) if by_shifts => blocks.of_64::<W, F, SCALED>(token, from, middle),
                _ if by_shifts => blocks.of_64::<W, F, GAUSSIAN>(token, middle, middle),
                (0, false, Input::Plain) => blocks.run::<W, F, PLAIN, GAUSSIAN>(token, from, middle),
                (0, false, Input::Multiplied(_)) => {
                    blocks.run::<W, F, MULTIPLIED, GAUSSIAN>(token, from, middle);
                }
                (0, false, Input::Scaled(_)) => blocks.run::<W, F, SCALED, GAUSSIAN>(token, from, middle),
                (0, true, Input::Plain) => blocks.run::<W, F, PLAIN, PLAIN>(token, from, to),
                (0, true, Input::Multiplied(_)) => blocks.run::<W, F, MULTIPLIED, PLAIN>(token, from, to),
                (0, true, Input::Scaled(_)) => blocks.run::<W, F, SCALED, PLAIN>(token, from, to),
                (_, false, _) => blocks.run::<W, F, GAUSSIAN, GAUSSIAN>(token, middle, middle),
                (_, true, _) => blocks.run::<W, F, GAUSSIAN, PLAIN>(token, middle, to),
            }
        }
    }
}

// The content of rows: words, words to be multiplied as `Input` says, or elements in Gaussian form.
const PLAIN: u8 = 0;
const MULTIPLIED: u8 = 1;
const SCALED: u8 = 2;
const GAUSSIAN: u8 = 3;

/// # Safety
/// As [`transform_tiles`].
#[inline(always)]
unsafe fn load<W: U64s>(token: W::Token, from: *const u64) -> W {
    // SAFETY: the caller's promise.
    W::load(token, unsafe { std::slice::from_raw_parts(from, W::WIDTH) })
}

/// # Safety
/// As [`transform_tiles`].
#[inline(always)]
unsafe fn store<W: U64s>(words: W, to: *mut u64) {
    // SAFETY: the caller's promise.
    words.store(unsafe { std::slice::from_raw_parts_mut(to, W::WIDTH) });
}

/// The number of tiles by which prefetching is ahead.
const AHEAD: usize = 2;

/// The blocks of a pass.
struct Blocks<'a> {
    pass: &'a Pass,
    len: usize,
    input: Input<'a>,
}

impl Blocks<'_> {
    /// # Safety
    /// As [`transform_tiles`].
    #[inline(always)]
    unsafe fn run<W: U64s, F: Factor<W>, const FROM: u8, const TO: u8>(
        &self,
        token: W::Token,
        from: Rows,
        to: Rows,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.pass.radix {
                1 if FROM != GAUSSIAN && TO == PLAIN => self.of_radix::<W, F, 1, FROM, TO>(token, from, to),
                2 if TO == PLAIN => self.of_radix::<W, F, 2, FROM, TO>(token, from, to),
                4 if TO == PLAIN => self.of_radix::<W, F, 4, FROM, TO>(token, from, to),
                8 => self.of_radix::<W, F, 8, FROM, TO>(token, from, to),
                16 => self.of_radix::<W, F, 16, FROM, TO>(token, from, to),
                _ => {
                    unreachable!("only the last pass has a radix below 8, and only a single one has radix 1")
                }
            }
        }
    }

    /// # Safety
    /// As [`transform_tiles`].
    #[inline(always)]
    unsafe fn of_radix<W: U64s, F: Factor<W>, const R: usize, const FROM: u8, const TO: u8>(
        &self,
        token: W::Token,
        from: Rows,
        to: Rows,
    ) {
        let Self { pass, len, input } = *self;
        let stride = pass.stride;
        let mut reader = Reader::<W, F, R>::new::<FROM>(token, input, from);
        let twiddles = &pass.twiddles[..];
        assert!(TO != GAUSSIAN || twiddles.len() == R * stride, "a row of twiddles for each row of a block");
        let rows: &[usize; R] = pass.rows[..R].try_into().expect("R is at most the largest radix");
        for block in (0..len).step_by(R * stride) {
            for i in 0..stride {
                // SAFETY: the caller's promise.
                let x = unsafe { reader.read::<FROM>(block + i, stride) };
                let row_twiddles = if TO == GAUSSIAN { &twiddles[i * R..][..R] } else { &[] };
                // All outputs first, because the products after them need the registers.
                if F::APART {
                    let mut y = x;
                    transform(
                        x,
                        #[inline(always)]
                        |k, element| y[k] = element,
                    );
                    for k in 0..R {
                        // SAFETY: the caller's promise.
                        unsafe { write::<W, F, TO>(y[k], k, to.row(block + i + rows[k]), row_twiddles) };
                    }
                } else {
                    transform(
                        x,
                        #[inline(always)]
                        |k, y| {
                            // SAFETY: the caller's promise.
                            unsafe { write::<W, F, TO>(y, k, to.row(block + i + rows[k]), row_twiddles) };
                        },
                    );
                }
            }
        }
    }

    /// Blocks of 64 rows, whose twiddles are powers of two: output k of row i is multiplied by `2^(3 e i k)`, where
    /// `e k = place + 16 turns`.
    ///
    /// # Safety
    /// As [`transform_tiles`].
    #[inline(always)]
    unsafe fn of_64<W: U64s, F: Factor<W>, const FROM: u8>(&self, token: W::Token, from: Rows, to: Rows) {
        let Self { len, input, .. } = *self;
        let mut reader = Reader::<W, F, 16>::new::<FROM>(token, input, from);
        for block in (0..len).step_by(64) {
            // SAFETY: the caller's promise.
            unsafe {
                self.row_of_64::<W, F, 0, FROM>(&mut reader, block, to);
                self.row_of_64::<W, F, 1, FROM>(&mut reader, block, to);
                self.row_of_64::<W, F, 2, FROM>(&mut reader, block, to);
                self.row_of_64::<W, F, 3, FROM>(&mut reader, block, to);
            }
        }
    }

    /// # Safety
    /// As [`transform_tiles`].
    #[inline(always)]
    unsafe fn row_of_64<W: U64s, F: Factor<W>, const I: usize, const FROM: u8>(
        &self,
        reader: &mut Reader<'_, W, F, 16>,
        block: usize,
        to: Rows,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            transform(
                reader.read::<FROM>(block + I, 4),
                #[inline(always)]
                |k, y| {
                    let y = y.mul_root_of_64(I * k).turned(I as u32 * self.pass.turns[k]);
                    let row = to.row(block + I + self.pass.rows[k]);
                    store(y.re, row);
                    store(y.im, row.wrapping_add(W::WIDTH));
                },
            );
        }
    }
}

/// Reads the rows of a pass.
struct Reader<'a, W: U64s, F: Factor<W>, const R: usize> {
    token: W::Token,
    rows: Rows,
    /// The factor of each row.
    factors: &'a [Twiddle],
    /// The factor of input k in each lane, which is multiplied by the ratio from row to row.
    powers: [F::Power; R],
    ratio: F,
}

impl<'a, W: U64s, F: Factor<W>, const R: usize> Reader<'a, W, F, R> {
    #[inline(always)]
    fn new<const FROM: u8>(token: W::Token, input: Input<'a>, rows: Rows) -> Self {
        let one = W::splat(token, 1);
        let (mut powers, mut ratio) = ([F::power(one); R], F::new(one));
        let mut factors = &[][..];
        match input {
            Input::Scaled(scale) if FROM == SCALED => {
                ratio = F::new(W::load(token, &scale.ratio));
                let (leap, leap_4) =
                    (F::new(W::load(token, &scale.leap)), F::new(W::load(token, &scale.leap_4)));
                powers[0] = F::power(W::load(token, &scale.first));
                for k in 1..R {
                    // Four chains of products in place of one, whose latencies would add up.
                    powers[k] = if k < 4 { leap.raise(powers[k - 1]) } else { leap_4.raise(powers[k - 4]) };
                }
            }
            Input::Multiplied(of_rows) if FROM == MULTIPLIED => factors = &of_rows.twiddles,
            _ => {}
        }
        Self { token, rows, factors, powers, ratio }
    }

    /// Reads R rows from this one on.
    ///
    /// # Safety
    /// As [`transform_tiles`].
    #[inline(always)]
    unsafe fn read<const FROM: u8>(&mut self, first: usize, stride: usize) -> [Gaussian<W>; R] {
        let token = self.token;
        let mut x = [const { MaybeUninit::uninit() }; R];
        for k in 0..R {
            let row = self.rows.row(first + k * stride);
            if FROM != GAUSSIAN {
                // Only in the first pass: later ones read scratch, which is in the cache.
                prefetch_at(row.wrapping_add(AHEAD * W::WIDTH));
            }
            // SAFETY: the caller's promise.
            x[k].write(unsafe {
                match FROM {
                    PLAIN => Gaussian::new(load(token, row)),
                    MULTIPLIED => {
                        F::splat(token, &self.factors[first + k * stride]).times_words(load(token, row))
                    }
                    SCALED => {
                        let scaled = F::scale(self.powers[k], load(token, row));
                        self.powers[k] = self.ratio.raise(self.powers[k]);
                        scaled
                    }
                    _ => Gaussian { re: load(token, row), im: load(token, row.wrapping_add(W::WIDTH)) },
                }
            });
        }
        // SAFETY: all were written.
        unsafe { x.as_ptr().cast::<[Gaussian<W>; R]>().read() }
    }
}

/// Writes output k of a row, as words or in Gaussian form.
///
/// # Safety
/// As [`transform_tiles`].
#[inline(always)]
unsafe fn write<W: U64s, F: Factor<W>, const TO: u8>(
    y: Gaussian<W>,
    k: usize,
    row: *mut u64,
    twiddles: &[Twiddle],
) {
    // SAFETY: the caller's promise.
    unsafe {
        if TO == GAUSSIAN {
            // The twiddle of output 0 is 1.
            let y = if k == 0 { y.reduced() } else { F::splat(y.re.token(), &twiddles[k]).times(y) };
            store(y.re, row);
            store(y.im, row.wrapping_add(W::WIDTH));
        } else {
            store(y.words().canonical(), row);
        }
    }
}
