//! Tiles at vectors of any length: passes in assembly, generated from the butterflies' formulas.
//!
//! Factors of a tile's input are multiplied into its rows in place, in a loop of their own before the first pass: a load and
//! a store more for each row, and half as many kernels.

use super::{Input, MAX_LANES, MAX_RADIX, Pass, Rows, Scale, Shift, Tables, Tiles, reverse_bits};
use proofmill_cpu::{Sve, Sve2};
use proofmill_field::goldilocks::Twiddle;
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

/// Names the functions of a level.
macro_rules! kernels {
    ($token:ty, $sve:expr, $passes:ident, $multiply_rows:ident, $scale_1_rows:ident, $scale_4_rows:ident) => {
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

        impl Tiles for $token {
            fn lanes(self) -> usize {
                lanes(($sve)(self))
            }

            unsafe fn transform(self, tables: &Tables, input: Input<'_>, rows: Rows, scratch: &mut [u64]) {
                assert_eq!(scratch.len(), 2 * tables.len * self.lanes(), "scratch for the whole tile");
                let kernels = Kernels {
                    // SAFETY: nothing ever writes the table.
                    passes: unsafe { &$passes },
                    multiply_rows: $multiply_rows,
                    scale_1_rows: $scale_1_rows,
                    scale_4_rows: $scale_4_rows,
                };
                // SAFETY: the token is proof of the kernels' instructions; the rest is the caller's promise.
                unsafe { kernels.transform(self.lanes(), tables, input, rows, scratch.as_mut_ptr()) }
            }

            unsafe fn rows_to_columns(self, from: Rows, to: Rows, len: usize) {
                // SAFETY: the caller's promise.
                unsafe { rows_to_columns(($sve)(self), from, to, len) }
            }

            unsafe fn columns_to_rows(self, from: Rows, to: Rows, len: usize) {
                // SAFETY: the caller's promise.
                unsafe { columns_to_rows(($sve)(self), from, to, len) }
            }
        }
    };
}

kernels!(
    Sve,
    |sve: Sve| sve,
    proofmill_goldilocks_ntt_passes_sve,
    proofmill_goldilocks_ntt_multiply_rows_sve,
    proofmill_goldilocks_ntt_scale_1_rows_sve,
    proofmill_goldilocks_ntt_scale_4_rows_sve
);
kernels!(
    Sve2,
    |sve2: Sve2| sve2.sve(),
    proofmill_goldilocks_ntt_passes_sve2,
    proofmill_goldilocks_ntt_multiply_rows_sve2,
    proofmill_goldilocks_ntt_scale_1_rows_sve2,
    proofmill_goldilocks_ntt_scale_4_rows_sve2
);

/// Words of a vector, or as many of them as are a power of two.
fn lanes(sve: Sve) -> usize {
    1 << sve.words().ilog2()
}

impl Kernels {
    /// # Safety
    /// As [`Tiles::transform`], on a CPU that has the kernels' instructions.
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
    /// As [`Tiles::transform`]; the kernel must be for the pass's radix, and for what the rows hold.
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
/// As [`Tiles::rows_to_columns`].
unsafe fn rows_to_columns(sve: Sve, from: Rows, to: Rows, len: usize) {
    if len == 0 {
        return;
    }
    // SAFETY: `sve` proves SVE; the caller promises rows of `len` words and `len` rows.
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
    let _ = sve;
}

/// # Safety
/// As [`Tiles::columns_to_rows`].
unsafe fn columns_to_rows(sve: Sve, from: Rows, to: Rows, len: usize) {
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
    let _ = sve;
}
