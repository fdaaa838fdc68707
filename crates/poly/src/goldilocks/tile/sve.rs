//! Tiles at vectors of any length: passes in assembly, generated from the butterflies' formulas.
//!
//! Factors of a tile's input are multiplied into its rows in place, in a loop of their own before the first pass: a load and
//! a store more for each row, and half as many kernels.

use super::{Input, MAX_LANES, MAX_RADIX, Part, Pass, Rows, Scale, Shift, Tables, reverse_bits};
use proofmill_field::goldilocks::{Assembly, Twiddle};
use std::{arch::asm, ptr};

std::arch::global_asm!(include_str!("sve.s"), include_str!("sve2.s"), options(raw));

/// What a pass does: some times over, it reads a row of the butterflies and writes one. Lengths in bytes, offsets in words.
#[repr(C)]
struct Job {
    from: *const u64,
    from_step: usize,
    to: *mut u64,
    to_step: usize,
    /// Those of an output each, a row after the other.
    twiddles: *const Twiddle,
    count: usize,
    from_offsets: [usize; MAX_RADIX],
    to_offsets: [usize; MAX_RADIX],
}

/// Radices: powers of two up to the largest.
const RADICES: usize = MAX_RADIX.trailing_zeros() as usize + 1;

/// Functions in assembly.
#[derive(Clone, Copy)]
struct Kernels {
    /// From words or Gaussian form, to words or Gaussian form, by the logarithm of the radix.
    passes: &'static [[[unsafe extern "C" fn(*const Job); RADICES]; 2]; 2],
    /// A word for each row, unused, rows, words from a row to the next, how many rows.
    multiply_rows: unsafe extern "C" fn(*const u64, *const u64, *mut u64, usize, usize),
    /// Lanes' first powers and ratios, then as above.
    scale_1_rows: unsafe extern "C" fn(*const u64, *const u64, *mut u64, usize, usize),
    /// The same for a multiple of four rows.
    scale_4_rows: unsafe extern "C" fn(*const u64, *const u64, *mut u64, usize, usize),
}

/// Names the functions of an edition.
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
                // SAFETY: nothing ever writes the table.
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
    proofmill_goldilocks_ntt_passes_sve,
    proofmill_goldilocks_ntt_multiply_rows_sve,
    proofmill_goldilocks_ntt_scale_1_rows_sve,
    proofmill_goldilocks_ntt_scale_4_rows_sve
);
kernels!(
    sve2,
    proofmill_goldilocks_ntt_passes_sve2,
    proofmill_goldilocks_ntt_multiply_rows_sve2,
    proofmill_goldilocks_ntt_scale_1_rows_sve2,
    proofmill_goldilocks_ntt_scale_4_rows_sve2
);

/// Words of a vector, or as many of them as are a power of two.
pub(super) fn lanes(assembly: Assembly) -> usize {
    1 << assembly.words().ilog2()
}

/// # Safety
/// As [`transform_tile`](super::transform_tile).
pub(super) unsafe fn transform(
    assembly: Assembly,
    tables: &Tables,
    input: Input<'_>,
    rows: Rows,
    scratch: *mut u64,
) {
    let kernels = assembly.choose::<fn() -> Kernels>(sve, sve2)();
    // SAFETY: the token is proof of the kernels' instructions; the rest is the caller's promise.
    unsafe { kernels.transform(lanes(assembly), tables, input, rows, scratch) }
}

/// By rows turned to columns, then word by word.
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
    /// As [`transform_tile`](super::transform_tile), on a CPU that has the kernels' instructions.
    unsafe fn transform(
        self,
        lanes: usize,
        tables: &Tables,
        input: Input<'_>,
        rows: Rows,
        scratch: *mut u64,
    ) {
        let Rows { start, stride } = rows;
        match input {
            Input::Plain => {}
            Input::Shifted(Shift { powers, .. }) => {
                assert_eq!(powers.len(), tables.len, "a power for each row");
                // SAFETY: the caller's promise.
                unsafe { (self.multiply_rows)(powers.as_ptr(), ptr::null(), start, stride, tables.len) };
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
            let from = if from_gaussian { middle } else { rows };
            let to = if to_gaussian { middle } else { rows };
            let forms = &self.passes[usize::from(from_gaussian)][usize::from(to_gaussian)];
            let kernel = forms[pass.radix.trailing_zeros() as usize];
            // SAFETY: the caller's promise; the scratch buffer has room for every row.
            unsafe { pass.run(kernel, tables.len, from, to) };
        }
    }
}

impl Pass {
    /// # Safety
    /// As [`transform_tile`](super::transform_tile); the kernel must be for the pass's radix, and for what the rows hold.
    unsafe fn run(&self, kernel: unsafe extern "C" fn(*const Job), len: usize, from: Rows, to: Rows) {
        const BYTES: usize = size_of::<u64>();
        let Self { radix, stride, .. } = *self;
        // The last pass is a loop over blocks of one row, the others are blocks of many.
        let (block_len, step, count) =
            if stride == 1 { (len, radix, len / radix) } else { (radix * stride, 1, stride) };
        assert!(
            self.twiddles.len() == if stride == 1 { 0 } else { block_len },
            "a twiddle for each row of a block"
        );
        let (mut from_offsets, mut to_offsets) = ([0; MAX_RADIX], [0; MAX_RADIX]);
        for k in 0..radix {
            from_offsets[k] = k * stride * from.stride;
            to_offsets[k] = reverse_bits(self.outputs[k], radix.trailing_zeros()) * stride * to.stride;
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
            // SAFETY: the caller's promise; the kernel reads and writes rows of the block alone, all rows of a step before it
            // writes one, and as many twiddles as were counted above.
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
