//! The two passes of a transform over a part of its matrix, for machines that divide one transform among them.
//!
//! An index is `columns * i + j` in a matrix of `rows` rows. A machine has some columns of the input. After the first pass it sends each
//! machine the rows that this machine transforms in the second pass. These yield columns of the output, in a matrix of `columns` rows.

use crate::{
    domain::{Domain, Transformed, is_small},
    four_step::{FourStep, Geometric},
};
use proofmill_cpu::Level;
use proofmill_field::{Engine, Field, Fp, LANES, Packable, Prime, Vector, dispatch};
use proofmill_memory::Pages;
use proofmill_run::parallel;
use std::ops::Range;

/// A transform in two passes over parts of its matrix.
///
/// Parts are stored row by row. The bounds of ranges must be multiples of [`LANES`].
pub struct DividedTransform<'a, P: Prime>(pub(crate) FourStep<'a, P>);

impl<P: Transformed> Domain<P> {
    /// [`intt_scaled`](Self::intt_scaled) for machines that divide it.
    ///
    /// # Panics
    /// For less than [`LANES`] squared elements.
    pub fn divided_intt(&self, ratio: Fp<P>) -> DividedTransform<'_, P> {
        let after = Geometric { first: self.inverse_len, ratio };
        self.divided(self.log_shape(), self.inverse_root, &self.inverse_twiddles, after)
    }

    /// [`ntt`](Self::ntt) of the results of [`divided_intt`](Self::divided_intt) on each machine, so its matrix is the transposed one.
    ///
    /// # Panics
    /// For less than [`LANES`] squared elements.
    pub fn divided_ntt(&self) -> DividedTransform<'_, P> {
        let [log_rows, log_columns] = self.log_shape();
        let after = Geometric { first: Fp::ONE, ratio: Fp::ONE };
        self.divided([log_columns, log_rows], self.root, &self.twiddles, after)
    }

    fn divided<'a>(
        &self,
        [log_rows, log_columns]: [u32; 2],
        root: Fp<P>,
        twiddles: &'a [Fp<P>],
        after: Geometric<P>,
    ) -> DividedTransform<'a, P> {
        assert!(!is_small(self.log_n), "a transform of 2^{} elements cannot be divided", self.log_n);
        DividedTransform(FourStep { log_rows, log_columns, root, twiddles, before: None, after })
    }
}

impl<P: Prime> DividedTransform<'_, P> {
    /// The number of rows of the inputs, and of columns of the outputs.
    pub fn rows(&self) -> usize {
        1 << self.0.log_rows
    }

    /// The number of columns of the inputs, and of rows of the outputs.
    pub fn columns(&self) -> usize {
        1 << self.0.log_columns
    }
}

impl<P: Transformed> DividedTransform<'_, P> {
    /// The first pass over these columns: all rows of them.
    ///
    /// # Panics
    /// For another length, or a range that is out of bounds or not of multiples of [`LANES`] (also for the second pass).
    pub fn first(&self, level: Level, columns: Range<usize>, values: &[Fp<P>]) -> Vec<Fp<P>> {
        assert_range(&columns, self.columns());
        assert_eq!(values.len(), columns.len() * self.rows(), "all rows of these columns");
        // SAFETY: limbs are integers.
        let mut buffer = unsafe { Pages::<P::Limbs>::scratch(values.len()) };
        // The buffer is not canonical, but what is sent to other machines must be.
        P::columns(level, &self.0, columns, values, &mut buffer);
        let mut canonical = vec![Fp::ZERO; values.len()];
        parallel::for_each(canonical.chunks_mut(BLOCK).zip(buffer.chunks(BLOCK)), |(canonical, buffer)| {
            dispatch!(level, engine => reduce(engine, buffer, canonical));
        });
        canonical
    }

    /// The second pass over these rows of the first one's results: these columns of the transform.
    ///
    /// # Panics
    /// As [`Self::first`].
    pub fn second(&self, level: Level, rows: Range<usize>, values: &[Fp<P>]) -> Vec<Fp<P>> {
        assert_range(&rows, self.rows());
        assert_eq!(values.len(), rows.len() * self.columns(), "all columns of these rows");
        let mut transformed = vec![Fp::ZERO; values.len()];
        P::rows(level, &self.0, rows, Fp::as_limbs(values), &mut transformed);
        transformed
    }
}

/// Elements that one task reduces.
const BLOCK: usize = 1 << 12;

fn assert_range(range: &Range<usize>, end: usize) {
    let Range { start, end: last } = *range;
    assert!(start < last && last <= end && start % LANES == 0 && last % LANES == 0, "multiples of {LANES}");
}

/// Between passes, values are below the modulus only almost.
fn reduce<E: Engine, P: Prime>(engine: E, buffer: &[P::Limbs], values: &mut [Fp<P>]) {
    engine.run(
        #[inline(always)]
        || {
            for (limbs, values) in buffer.chunks_exact(LANES).zip(values.chunks_exact_mut(LANES)) {
                E::Packed::<P>::load_bits(engine, limbs).store_scaled(values);
            }
        },
    );
}
