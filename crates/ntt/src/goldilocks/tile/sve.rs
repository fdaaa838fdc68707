//! Tiles with vectors of any length: assembly passes, generated from the butterflies' formulas.
//!
//! Input factors are multiplied into a tile's rows where its outputs will be, in a separate loop before the first pass: one more
//! load and store per row, but half the kernels.

use super::{Factors, Input, MAX_LANES, MAX_RADIX, Part, Pass, Rows, Scale, Tables, reverse_bits};
use proofmill_field::goldilocks::{Assembly, Twiddle};
use std::{arch::asm, ptr};

std::arch::global_asm!(include_str!("sve.s"), edition = const 1);
std::arch::global_asm!(include_str!("sve.s"), edition = const 2);

/// The arguments of a pass, which repeatedly reads a row of the butterflies and writes one. Lengths are in bytes, offsets in
/// words.
#[repr(C)]
struct Job {
    from: *const u64,
    from_step: usize,
    to: *mut u64,
    to_step: usize,
    /// One twiddle per output, row after row.
    twiddles: *const Twiddle,
    count: usize,
    from_offsets: [usize; MAX_RADIX],
    to_offsets: [usize; MAX_RADIX],
}

/// The number of radices: powers of two up to the largest.
const RADICES: usize = MAX_RADIX.trailing_zeros() as usize + 1;

/// The assembly functions.
#[derive(Clone, Copy)]
struct Kernels {
    /// Indices: input in words or Gaussian form, output in words or Gaussian form, the logarithm of the radix.
    passes: &'static [[[unsafe extern "C" fn(*const Job); RADICES]; 2]; 2],
    /// Arguments: one factor per row, unused, rows, distance between rows in words, number of rows.
    multiply_rows: unsafe extern "C" fn(*const u64, *const u64, *mut u64, usize, usize),
    /// Arguments: the lanes' first powers and ratios, then as above.
    scale_1_rows: unsafe extern "C" fn(*const u64, *const u64, *mut u64, usize, usize),
    /// The same for multiples of four rows.
    scale_4_rows: unsafe extern "C" fn(*const u64, *const u64, *mut u64, usize, usize),
}

/// Declares the functions of an edition.
macro_rules! kernels {
    ($name:ident, $passes:ident, $multiply_rows:ident, $scale_1_rows:ident, $scale_4_rows:ident) => {
        fn $name() -> Kernels {
            unsafe extern "C" {
                static $passes: [[[unsafe extern "C" fn(*const Job); RADICES]; 2]; 2];
                fn $multiply_rows(
                    words: *const u64,
                    unused: *const u64,
                    rows: *mut u64,
                    stride: usize,
                    count: usize,
                );
                fn $scale_1_rows(
                    first: *const u64,
                    ratio: *const u64,
                    rows: *mut u64,
                    stride: usize,
                    count: usize,
                );
                fn $scale_4_rows(
                    first: *const u64,
                    ratio: *const u64,
                    rows: *mut u64,
                    stride: usize,
                    count: usize,
                );
            }
            Kernels {
                // SAFETY: the table is never written to.
                passes: unsafe { &$passes },
                multiply_rows: $multiply_rows,
                scale_1_rows: $scale_1_rows,
                scale_4_rows: $scale_4_rows,
            }
        }
    };
}

kernels!(
    sve,
    proofmill_goldilocks_ntt_passes_sve1,
    proofmill_goldilocks_ntt_multiply_rows_sve1,
    proofmill_goldilocks_ntt_scale_1_rows_sve1,
    proofmill_goldilocks_ntt_scale_4_rows_sve1
);
kernels!(
    sve2,
    proofmill_goldilocks_ntt_passes_sve2,
    proofmill_goldilocks_ntt_multiply_rows_sve2,
    proofmill_goldilocks_ntt_scale_1_rows_sve2,
    proofmill_goldilocks_ntt_scale_4_rows_sve2
);

/// The number of words in a vector, rounded down to a power of two.
pub(super) fn lanes(assembly: Assembly) -> usize {
    1 << assembly.words().ilog2()
}

/// # Safety
/// As [`transform_tiles`](super::transform_tiles).
pub(super) unsafe fn transform(
    assembly: Assembly,
    tables: &Tables,
    input: Input<'_>,
    from: Rows,
    to: Rows,
    scratch: *mut u64,
) {
    let kernels = assembly.choose::<fn() -> Kernels>(sve, sve2)();
    // SAFETY: the token proves the kernels' instructions; the rest is the caller's promise.
    unsafe { kernels.transform(lanes(assembly), tables, input, from, to, scratch) }
}

/// Transposes rows to columns, then exchanges word by word.
///
/// # Safety
/// As [`exchange_reversed`](super::exchange_reversed).
pub(super) unsafe fn exchange_reversed(assembly: Assembly, a: Rows, b: Rows, squares: Part<'_>) {
    let lanes = lanes(assembly);
    let log_lanes = lanes.trailing_zeros();
    for (index, from) in [a, b].into_iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { rows_to_columns(assembly, from, squares.rows(index * lanes * lanes, lanes), lanes) };
    }
    // Both are transposed before one is written, because they may be the same square.
    for (index, to) in [b, a].into_iter().enumerate() {
        let square = squares.rows(index * lanes * lanes, lanes);
        for row in 0..lanes {
            for column in 0..lanes {
                let to = to.row(reverse_bits(row, log_lanes)).wrapping_add(reverse_bits(column, log_lanes));
                // SAFETY: as above.
                unsafe { *to = *square.row(row).wrapping_add(column) };
            }
        }
    }
}

impl Kernels {
    /// # Safety
    /// As [`transform_tiles`](super::transform_tiles), on a CPU that has the kernels' instructions.
    unsafe fn transform(
        self,
        lanes: usize,
        tables: &Tables,
        input: Input<'_>,
        mut from: Rows,
        to: Rows,
        scratch: *mut u64,
    ) {
        let Rows { start, stride } = to;
        // Factors are multiplied in place, so the rows first move to where the outputs will be.
        if !matches!(input, Input::Plain) && from.start != start {
            // SAFETY: the caller's promise.
            (0..tables.len).for_each(|r| unsafe { ptr::copy_nonoverlapping(from.row(r), to.row(r), lanes) });
            from = to;
        }
        match input {
            Input::Plain => {}
            Input::Multiplied(Factors { words, .. }) => {
                assert_eq!(words.len(), tables.len, "a factor for each row");
                // SAFETY: the caller's promise.
                unsafe { (self.multiply_rows)(words.as_ptr(), ptr::null(), start, stride, tables.len) };
            }
            Input::Scaled(Scale { first, ratio, .. }) => {
                const { assert!(MAX_LANES == 32, "as many as the longest vectors have") };
                let scale = if tables.len.is_multiple_of(4) { self.scale_4_rows } else { self.scale_1_rows };
                // SAFETY: the caller's promise; the arrays are no shorter than a vector.
                unsafe { scale(first.as_ptr(), ratio.as_ptr(), start, stride, tables.len) };
            }
        }
        let last = tables.passes.len() - 1;
        let middle = Rows { start: scratch, stride: 2 * lanes };
        for (index, pass) in tables.passes.iter().enumerate() {
            let (from_gaussian, to_gaussian) = (index != 0, index != last);
            let from = if from_gaussian { middle } else { from };
            let to = if to_gaussian { middle } else { to };
            let forms = &self.passes[usize::from(from_gaussian)][usize::from(to_gaussian)];
            let kernel = forms[pass.radix.trailing_zeros() as usize];
            // SAFETY: the caller's promise; the scratch buffer has room for every row.
            unsafe { pass.run(kernel, tables.len, from, to) };
        }
    }
}

impl Pass {
    /// # Safety
    /// As [`transform_tiles`](super::transform_tiles); the kernel must match the pass's radix and the content of the rows.
    unsafe fn run(&self, kernel: unsafe extern "C" fn(*const Job), len: usize, from: Rows, to: Rows) {
        const BYTES: usize = size_of::<u64>();
        let Self { radix, stride, .. } = *self;
        // The last pass is a loop over blocks of one row; the others loop over the rows of each block.
        let (block_len, step, count) =
            if stride == 1 { (len, radix, len / radix) } else { (radix * stride, 1, stride) };
        assert!(
            self.twiddles.len() == if stride == 1 { 0 } else { block_len },
            "a twiddle for each row of a block"
        );
        let (mut from_offsets, mut to_offsets) = ([0; MAX_RADIX], [0; MAX_RADIX]);
        for k in 0..radix {
            from_offsets[k] = k * stride * from.stride;
            to_offsets[k] = self.rows[k] * to.stride;
        }
        let mut job = Job {
            from: from.start,
            from_step: step * from.stride * BYTES,
            to: to.start,
            to_step: step * to.stride * BYTES,
            twiddles: self.twiddles.as_ptr(),
            count,
            from_offsets,
            to_offsets,
        };
        for block in (0..len).step_by(block_len) {
            (job.from, job.to) = (from.row(block), to.row(block));
            // SAFETY: the caller's promise; the kernel accesses only rows of the block, reads all rows of a step before it
            // writes one, and reads as many twiddles as counted above.
            unsafe { kernel(&job) };
        }
    }
}

/// # Safety
/// As [`rows_to_columns`](super::rows_to_columns).
pub(super) unsafe fn rows_to_columns(assembly: Assembly, from: Rows, to: Rows, len: usize) {
    if len == 0 {
        return;
    }
    // SAFETY: the token proves SVE; the caller promises rows of `len` words and `len` rows.
    unsafe {
        asm!(
            ".arch_extension sve",
            "ptrue p0.d, pow2",
            "index z1.d, #0, {stride}",
            "2:",
            "ld1d {{z0.d}}, p0/z, [{from}, z1.d, lsl #3]",
            "add {from}, {from}, #8",
            "subs {len}, {len}, #1",
            "st1d {{z0.d}}, p0, [{to}]",
            "add {to}, {to}, {step}, lsl #3",
            "b.ne 2b",
            stride = in(reg) from.stride,
            step = in(reg) to.stride,
            from = inout(reg) from.start => _,
            to = inout(reg) to.start => _,
            len = inout(reg) len => _,
            out("v0") _, out("v1") _, out("p0") _,
            options(nostack),
        );
    }
    let _ = assembly;
}

/// # Safety
/// As [`columns_to_rows`](super::columns_to_rows).
pub(super) unsafe fn columns_to_rows(assembly: Assembly, from: Rows, to: Rows, len: usize) {
    if len == 0 {
        return;
    }
    // SAFETY: as above.
    unsafe {
        asm!(
            ".arch_extension sve",
            "ptrue p0.d, pow2",
            "index z1.d, #0, {stride}",
            "2:",
            "ld1d {{z0.d}}, p0/z, [{from}]",
            "add {from}, {from}, {step}, lsl #3",
            "subs {len}, {len}, #1",
            "st1d {{z0.d}}, p0, [{to}, z1.d, lsl #3]",
            "add {to}, {to}, #8",
            "b.ne 2b",
            stride = in(reg) to.stride,
            step = in(reg) from.stride,
            from = inout(reg) from.start => _,
            to = inout(reg) to.start => _,
            len = inout(reg) len => _,
            out("v0") _, out("v1") _, out("p0") _,
            options(nostack),
        );
    }
    let _ = assembly;
}
