//! The four-step transform of n = rows x columns values (Bailey, "FFTs in external or hierarchical memory", 1990).
//!
//! With `j = columns j1 + j2` and `k = k1 + rows k2`:
//! `X_k = sum_j2 w^(j2 k1) (w^rows)^(j2 k2) sum_j1 (w^columns)^(j1 k1) x_j`.
//! Pass 1 transforms eight adjacent columns at a time in cache and multiplies by `w^(j2 k1)`; pass 2 transforms
//! eight rows at a time and writes them as columns, so the transposition has no cost of its own. The data
//! cross memory twice in each direction; between the passes they are in a buffer of n elements.
//!
//! Values keep their 64-bit Montgomery form throughout (`load_bits`): the transform is linear, and only the twiddles
//! are in the lanes' own form.

use crate::{columns::SharedColumns, in_cache, reverse_bits::reverse_bits};
use proofmill_field::{Algebra, Engine, Field, Fp, LANES, Lanes, Packable, Prime, Scale, Vector};
use proofmill_memory::prefetch;
use proofmill_run::parallel;
use std::ops::Range;

/// The factors `first * ratio^i` for index i, of the inputs or the outputs.
#[derive(Clone, Copy)]
pub(crate) struct Geometric<P: Prime> {
    pub(crate) first: Fp<P>,
    pub(crate) ratio: Fp<P>,
}

impl<P: Prime> Geometric<P> {
    /// The factors of eight adjacent indices from `start` on, and the factor for a distance of `step` indices.
    #[inline(always)]
    fn lanes<V: Scale<Fp<P>>>(&self, token: V::Token, start: usize, step: usize) -> (V, V::Factor) {
        let mut terms = [self.first * self.ratio.pow_vartime(&[start as u64]); LANES];
        for lane in 1..LANES {
            terms[lane] = terms[lane - 1] * self.ratio;
        }
        (V::load(token, &terms), V::factor(token, self.ratio.pow_vartime(&[step as u64])))
    }

    fn constant(&self) -> Option<Fp<P>> {
        (self.ratio == Fp::ONE).then_some(self.first)
    }
}

/// A block among columns that are stored alone.
struct Place {
    /// The first stored column.
    first: usize,
    /// The number of stored columns.
    width: usize,
    /// The block's first column, counted from the first stored one.
    here: usize,
}

/// The parameters of one transform.
pub struct FourStep<'a, P: Prime> {
    pub(crate) log_rows: u32,
    pub(crate) log_columns: u32,
    /// Root of unity of order n.
    pub(crate) root: Fp<P>,
    /// Powers of `root^(n / len)`: half of `len = max(rows, columns)`.
    pub(crate) twiddles: &'a [Fp<P>],
    /// The factors of the inputs.
    pub(crate) before: Option<Geometric<P>>,
    /// The factors of the outputs.
    pub(crate) after: Geometric<P>,
}

impl<P: Prime> FourStep<'_, P> {
    /// The first pass over these columns: from `source` to `buffer`, both of all rows and of these columns only.
    pub(crate) fn run_columns<E: Engine>(
        &self,
        engine: E,
        columns: Range<usize>,
        source: &[Fp<P>],
        buffer: &mut [P::Limbs],
    ) {
        let width = columns.len();
        let buffer = SharedColumns::new(buffer, width);
        let twiddles = self.twiddles_of(engine, self.log_rows);
        each_block(
            engine,
            width,
            1 << self.log_rows,
            #[inline(always)]
            |scratch, column| {
                let place = Place { first: columns.start, width, here: column };
                self.transform_columns(engine, source, &buffer, &twiddles, scratch, place);
            },
        );
    }

    /// The second pass over these rows: from `buffer`, which has these rows only, to the columns of the transform that they become.
    pub(crate) fn run_rows<E: Engine>(
        &self,
        engine: E,
        rows: Range<usize>,
        buffer: &[P::Limbs],
        values: &mut [Fp<P>],
    ) {
        let values = SharedColumns::new(values, rows.len());
        let twiddles = self.twiddles_of(engine, self.log_columns);
        each_block(
            engine,
            rows.len(),
            1 << self.log_columns,
            #[inline(always)]
            |scratch, row| {
                self.transform_rows(engine, buffer, &values, &twiddles, scratch, (rows.start, row));
            },
        );
    }

    fn twiddles_of<E: Engine>(&self, engine: E, log_len: u32) -> Vec<<E::Packed<P> as Scale<Fp<P>>>::Factor> {
        let stride = (2 * self.twiddles.len()) >> log_len;
        self.twiddles.iter().step_by(stride).map(|twiddle| E::Packed::<P>::factor(engine, *twiddle)).collect()
    }

    #[inline(always)]
    fn transform_columns<E: Engine>(
        &self,
        engine: E,
        source: &[Fp<P>],
        buffer: &SharedColumns<'_, P::Limbs>,
        twiddles: &[<E::Packed<P> as Scale<Fp<P>>>::Factor],
        scratch: &mut [E::Packed<P>],
        Place { first, width, here: column }: Place,
    ) {
        // The next row is `columns` indices on, so that factors grow by ratio^columns per row.
        let mut before = self.before.map(
            #[inline(always)]
            |before| before.lanes::<E::Packed<P>>(engine, first + column, 1 << self.log_columns),
        );
        for row in 0..scratch.len() {
            if let Some(ahead) = source.get((row + AHEAD) * width + column..) {
                ahead.iter().take(LANES).for_each(prefetch);
            }
            let elements = &source[row * width + column..][..LANES];
            let mut value = E::Packed::<P>::load_bits(engine, Fp::as_limbs(elements));
            if let Some((term, step)) = &mut before {
                value = value * *term;
                *term = term.scale(step);
            }
            scratch[reverse_bits(row, self.log_rows)] = value;
        }
        in_cache::transform(scratch, twiddles);
        // The twiddles w^(j2 k1) between the passes: lane j2 starts at 1, with ratio w^j2.
        let mut steps = [Fp::ONE; LANES];
        steps[0] = self.root.pow_vartime(&[(first + column) as u64]);
        for lane in 1..LANES {
            steps[lane] = steps[lane - 1] * self.root;
        }
        let step = E::Packed::<P>::load(engine, &steps);
        let mut twiddle = E::Packed::<P>::one(engine);
        for (row, value) in scratch.iter().enumerate() {
            // SAFETY: only this task uses these columns.
            let limbs = unsafe { buffer.block::<LANES>(row, column) };
            (*value * twiddle).store_bits(limbs);
            twiddle = twiddle * step;
        }
    }

    #[inline(always)]
    fn transform_rows<E: Engine>(
        &self,
        engine: E,
        buffer: &[P::Limbs],
        values: &SharedColumns<'_, Fp<P>>,
        twiddles: &[<E::Packed<P> as Scale<Fp<P>>>::Factor],
        scratch: &mut [E::Packed<P>],
        (first, row): (usize, usize),
    ) {
        let columns = scratch.len();
        let rows = &buffer[row * columns..][..LANES * columns];
        for index in 0..columns {
            // The lanes are eight rows, each contiguous in the buffer: a gather transposes them.
            scratch[reverse_bits(index, self.log_columns)] = E::Packed::<P>::gather(
                engine,
                #[inline(always)]
                |lane| &rows[lane * columns + index],
            );
        }
        in_cache::transform(scratch, twiddles);
        // One factor for all outputs, as without a coset: there are no powers to carry along.
        if let Some(factor) = self.after.constant() {
            let factor = E::Packed::<P>::factor(engine, factor);
            for (index, value) in scratch.iter().enumerate() {
                // SAFETY: only this task uses these columns of the transposed matrix.
                value.scale(&factor).store_scaled(unsafe { values.block::<LANES>(index, row) });
            }
            return;
        }
        // Output k1 + rows k2 is in row k2: factors grow by ratio^rows from row to row.
        let (mut term, step) = self.after.lanes::<E::Packed<P>>(engine, first + row, 1 << self.log_rows);
        for (index, value) in scratch.iter().enumerate() {
            // SAFETY: as above.
            (*value * term).store_scaled(unsafe { values.block::<LANES>(index, row) });
            term = term.scale(&step);
        }
    }
}

/// The distance in rows by which inputs are prefetched. Rows of a long transform are pages apart, and the CPU does not prefetch
/// across pages.
const AHEAD: usize = 8;

/// Runs `transform` for every block of [`LANES`] among `count` columns or rows, with `len` vectors of scratch.
fn each_block<P: Prime, E: Engine>(
    engine: E,
    count: usize,
    len: usize,
    transform: impl Fn(&mut [E::Packed<P>], usize) + Sync,
) {
    let blocks = count / LANES;
    // Four tasks per thread balance the load; each task has its own scratch.
    let tasks = blocks.min(4 * parallel::threads());
    parallel::for_each(0..tasks, |task| {
        engine.run(
            #[inline(always)]
            || {
                let mut scratch = vec![E::Packed::<P>::zero(engine); len];
                for block in task * blocks / tasks..(task + 1) * blocks / tasks {
                    transform(&mut scratch, block * LANES);
                }
            },
        );
    });
}
