//! Subgroups of roots of unity and transforms over them.

use crate::{
    four_step::{FourStep, Geometric},
    in_cache::MAX_LOG,
};
use proofmill_cpu::Level;
use proofmill_field::{Algebra, Field, Fp, Invert, LANES, Prime, bls12_381, bn254, dispatch};
use proofmill_memory::Pages;
use std::{ops::Range, sync::Mutex};

/// The subgroup of order n = 2^log_n of a field's multiplicative group.
///
/// Inputs and outputs are in natural order: value i belongs to `root()^i`. Transforms run on the ambient rayon pool
/// and use n elements of scratch, which the domain keeps for the next transform.
pub struct Domain<P: Prime> {
    pub(crate) log_n: u32,
    pub(crate) root: Fp<P>,
    pub(crate) inverse_root: Fp<P>,
    pub(crate) inverse_len: Fp<P>,
    pub(crate) twiddles: Vec<Fp<P>>,
    pub(crate) inverse_twiddles: Vec<Fp<P>>,
    scratch: Mutex<Option<Pages<P::Limbs>>>,
}

impl<P: Prime> Domain<P> {
    /// The subgroup of order `2^log_n`; `None` above the field's two-adicity or 2^28.
    pub fn new(log_n: u32) -> Option<Self> {
        Self::with_root(log_n, Fp::<P>::root_of_unity(log_n)?)
    }

    /// The same with another generator, a root of unity of order `2^log_n`; `None` above 2^28.
    pub fn with_root(log_n: u32, root: Fp<P>) -> Option<Self> {
        let root = Some(root).filter(|_| log_n <= 2 * MAX_LOG)?;
        let inverse_root = root.invert_vartime()?;
        let inverse_len = Fp::<P>::from(1u64 << log_n).invert_vartime()?;
        // The larger transform of the two steps; the whole transform for small sizes, which take one step.
        let log_len = if is_small(log_n) { log_n } else { log_n.div_ceil(2) };
        let halves = [root, inverse_root].map(|root| {
            // Both steps share this table: if they differ, the shorter takes every second entry.
            let step = root.pow_vartime(&[1 << (log_n - log_len)]);
            std::iter::successors(Some(Fp::ONE), |power| Some(*power * step))
                .take(1 << log_len >> 1)
                .collect::<Vec<_>>()
        });
        let [twiddles, inverse_twiddles] = halves;
        let scratch = Mutex::default();
        Some(Self { log_n, root, inverse_root, inverse_len, twiddles, inverse_twiddles, scratch })
    }

    /// The number of elements, n.
    #[expect(clippy::len_without_is_empty, reason = "a group is never empty")]
    pub fn len(&self) -> usize {
        1 << self.log_n
    }

    /// The generator, of order n: [`Fp::root_of_unity`] or the given one.
    pub fn root(&self) -> Fp<P> {
        self.root
    }
}

/// The prime fields whose transforms are compiled in this crate, not in every user.
pub trait Transformed: Prime {
    /// The first pass over some columns.
    #[doc(hidden)]
    fn columns(
        level: Level,
        step: &FourStep<'_, Self>,
        columns: Range<usize>,
        source: &[Fp<Self>],
        buffer: &mut [Self::Limbs],
    );

    /// The second pass over some rows.
    #[doc(hidden)]
    fn rows(
        level: Level,
        step: &FourStep<'_, Self>,
        rows: Range<usize>,
        buffer: &[Self::Limbs],
        values: &mut [Fp<Self>],
    );
}

macro_rules! compile {
    ($($params:ty),*) => { $(
        impl Transformed for $params {
            fn columns(
                level: Level,
                step: &FourStep<'_, Self>,
                columns: Range<usize>,
                source: &[Fp<Self>],
                buffer: &mut [Self::Limbs],
            ) {
                dispatch!(level, engine => step.run_columns(engine, columns, source, buffer));
            }

            fn rows(
                level: Level,
                step: &FourStep<'_, Self>,
                rows: Range<usize>,
                buffer: &[Self::Limbs],
                values: &mut [Fp<Self>],
            ) {
                dispatch!(level, engine => step.run_rows(engine, rows, buffer, values));
            }
        }
    )* };
}

compile!(bn254::FrParams, bls12_381::FrParams);

impl<P: Transformed> Domain<P> {
    /// Coefficients to values: `values[i] = sum_j coefficients[j] root^(i j)`.
    ///
    /// # Panics
    /// If the slice's length is not n (also for all other transforms).
    pub fn ntt(&self, level: Level, values: &mut [Fp<P>]) {
        self.forward(level, values, None);
    }

    /// Values to coefficients, the inverse of [`ntt`](Self::ntt).
    pub fn intt(&self, level: Level, values: &mut [Fp<P>]) {
        self.inverse(level, values, Fp::ONE);
    }

    /// Coefficients to values on the coset `shift * H`.
    pub fn coset_ntt(&self, level: Level, values: &mut [Fp<P>], shift: Fp<P>) {
        self.forward(level, values, Some(Geometric { first: Fp::ONE, ratio: shift }));
    }

    /// [`coset_ntt`](Self::coset_ntt) that leaves the coefficients unchanged; the values are multiplied by `factor` at no
    /// cost.
    ///
    /// # Panics
    /// If either slice's length is not n.
    pub fn coset_ntt_into(
        &self,
        level: Level,
        coefficients: &[Fp<P>],
        shift: Fp<P>,
        factor: Fp<P>,
        values: &mut [Fp<P>],
    ) {
        let before = Some(Geometric { first: Fp::ONE, ratio: shift });
        let after = Geometric { first: factor, ratio: Fp::ONE };
        self.transform(level, Some(coefficients), values, self.root, &self.twiddles, before, after);
    }

    /// Values on the coset `shift * H` to coefficients, the inverse of [`coset_ntt`](Self::coset_ntt).
    ///
    /// # Panics
    /// Also if `shift` is zero.
    pub fn coset_intt(&self, level: Level, values: &mut [Fp<P>], shift: Fp<P>) {
        self.inverse(level, values, shift.invert_vartime().expect("a coset's shift is not zero"));
    }

    /// Values to coefficients, with coefficient i multiplied by `ratio^i`: an [`intt`](Self::intt) and the scaling of
    /// a following [`coset_ntt`](Self::coset_ntt) in one pass.
    pub fn intt_scaled(&self, level: Level, values: &mut [Fp<P>], ratio: Fp<P>) {
        self.inverse(level, values, ratio);
    }

    /// The exponents of rows and columns of the four steps.
    pub(crate) fn log_shape(&self) -> [u32; 2] {
        [self.log_n.div_ceil(2), self.log_n / 2]
    }

    fn forward(&self, level: Level, values: &mut [Fp<P>], before: Option<Geometric<P>>) {
        let after = Geometric { first: Fp::ONE, ratio: Fp::ONE };
        self.transform(level, None, values, self.root, &self.twiddles, before, after);
    }

    fn inverse(&self, level: Level, values: &mut [Fp<P>], ratio: Fp<P>) {
        let after = Geometric { first: self.inverse_len, ratio };
        self.transform(level, None, values, self.inverse_root, &self.inverse_twiddles, None, after);
    }

    /// Transforms `source`, or the values themselves.
    #[expect(clippy::too_many_arguments, reason = "what transforms differ in")]
    fn transform(
        &self,
        level: Level,
        source: Option<&[Fp<P>]>,
        values: &mut [Fp<P>],
        root: Fp<P>,
        twiddles: &[Fp<P>],
        before: Option<Geometric<P>>,
        after: Geometric<P>,
    ) {
        assert_eq!(values.len(), self.len(), "a transform takes as many values as its domain has elements");
        assert!(source.is_none_or(|source| source.len() == self.len()), "as many coefficients as values");
        if is_small(self.log_n) {
            if let Some(source) = source {
                values.copy_from_slice(source);
            }
            return transform_small(values, twiddles, before, after);
        }
        let [log_rows, log_columns] = self.log_shape();
        let (rows, columns) = (0..1 << log_rows, 0..1 << log_columns);
        let step = FourStep { log_rows, log_columns, root, twiddles, before, after };
        // A second transform at the same time finds none, and allocates its own.
        let kept = self.scratch.lock().ok().and_then(|mut kept| kept.take());
        // SAFETY: limbs are integers.
        let mut buffer = kept.unwrap_or_else(|| unsafe { Pages::scratch(values.len()) });
        P::columns(level, &step, columns, source.unwrap_or(values), &mut buffer);
        P::rows(level, &step, rows, &buffer, values);
        if let Ok(mut kept) = self.scratch.lock() {
            *kept = Some(buffer);
        }
    }
}

/// Whether one side of the four-step matrix would be smaller than the number of lanes.
pub(crate) fn is_small(log_n: u32) -> bool {
    log_n < 2 * LANES.ilog2()
}

/// Radix-2 decimation in time, for less than `LANES^2` values.
fn transform_small<P: Prime>(
    values: &mut [Fp<P>],
    twiddles: &[Fp<P>],
    before: Option<Geometric<P>>,
    after: Geometric<P>,
) {
    let n = values.len();
    let scale = |values: &mut [Fp<P>], Geometric { mut first, ratio }| {
        for value in values {
            *value *= first;
            first *= ratio;
        }
    };
    if let Some(before) = before {
        scale(values, before);
    }
    // Decimation in time takes its inputs in bit-reversed order.
    for i in 1..n {
        let reversed = i.reverse_bits() >> (usize::BITS - n.ilog2());
        if i < reversed {
            values.swap(i, reversed);
        }
    }
    let mut half = 1;
    while half < n {
        for block in values.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for ((a, b), twiddle) in low.iter_mut().zip(high).zip(twiddles.iter().step_by(n / (2 * half))) {
                let t = *b * *twiddle;
                (*a, *b) = (*a + t, *a - t);
            }
        }
        half *= 2;
    }
    scale(values, after);
}
