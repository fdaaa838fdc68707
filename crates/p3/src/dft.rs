//! Transforms.

use crate::elements::{element, into_elements, into_values};
use p3_dft::TwoAdicSubgroupDft;
use p3_field::{PrimeCharacteristicRing, TwoAdicField};
use p3_goldilocks::Goldilocks;
use p3_matrix::{
    Matrix,
    bitrev::{BitReversalPerm, BitReversedMatrixView},
    dense::RowMajorMatrix,
};
use proofmill_cpu::Level;
use proofmill_ntt::goldilocks::{GoldilocksDomain, Order};
use std::sync::OnceLock;

/// Discrete Fourier transforms over Goldilocks, of the columns of matrices, on the ambient rayon pool.
#[derive(Clone, Copy, Debug)]
pub struct Dft {
    level: Level,
}

impl Dft {
    /// Transforms with the kernels of a level.
    pub fn at(level: Level) -> Self {
        Self { level }
    }
}

impl Default for Dft {
    fn default() -> Self {
        Self::at(Level::best())
    }
}

/// The subgroup with Plonky3's generator.
///
/// # Panics
/// If the height is not a power of two of at most 2^32.
fn domain(height: usize) -> &'static GoldilocksDomain {
    static DOMAINS: [OnceLock<GoldilocksDomain>; Goldilocks::TWO_ADICITY + 1] =
        [const { OnceLock::new() }; Goldilocks::TWO_ADICITY + 1];
    assert!(height.is_power_of_two(), "a matrix of {height} rows: transforms need a power of two");
    let log_height = height.ilog2();
    let generator = element(Goldilocks::two_adic_generator(Goldilocks::TWO_ADICITY));
    DOMAINS[log_height as usize].get_or_init(|| {
        GoldilocksDomain::with_generator(log_height, generator).expect("a generator, and at most 2^32 rows")
    })
}

impl TwoAdicSubgroupDft<Goldilocks> for Dft {
    type Evaluations = BitReversedMatrixView<RowMajorMatrix<Goldilocks>>;

    fn dft_batch(&self, mat: RowMajorMatrix<Goldilocks>) -> Self::Evaluations {
        self.coset_dft_batch(mat, Goldilocks::ONE)
    }

    fn coset_dft_batch(&self, mat: RowMajorMatrix<Goldilocks>, shift: Goldilocks) -> Self::Evaluations {
        let (height, width) = (mat.height(), mat.width());
        let mut values = into_elements(mat.values);
        domain(height).coset_ntt(self.level, &mut values, element(shift), Order::BitReversed);
        BitReversalPerm::new_view(RowMajorMatrix::new(into_values(values), width))
    }

    fn idft_batch(&self, mat: RowMajorMatrix<Goldilocks>) -> RowMajorMatrix<Goldilocks> {
        self.coset_idft_batch(mat, Goldilocks::ONE)
    }

    fn coset_idft_batch(
        &self,
        mat: RowMajorMatrix<Goldilocks>,
        shift: Goldilocks,
    ) -> RowMajorMatrix<Goldilocks> {
        let (height, width) = (mat.height(), mat.width());
        let mut values = into_elements(mat.values);
        domain(height).coset_intt(self.level, &mut values, element(shift));
        RowMajorMatrix::new(into_values(values), width)
    }

    fn coset_lde_batch(
        &self,
        mat: RowMajorMatrix<Goldilocks>,
        added_bits: usize,
        shift: Goldilocks,
    ) -> Self::Evaluations {
        let (height, width) = (mat.height(), mat.width());
        let bits = u32::try_from(added_bits).unwrap_or(u32::MAX);
        let mut values = into_elements(mat.values);
        domain(height).extend_vector(self.level, &mut values, bits, element(shift), Order::BitReversed);
        BitReversalPerm::new_view(RowMajorMatrix::new(into_values(values), width))
    }
}
