//! Number-theoretic transforms over the scalar fields of BN254 and BLS12-381 and over Goldilocks: between a polynomial's
//! coefficients and its values on a subgroup of order 2^k, or on a coset of it.
//!
//! ```
//! use proofmill::{field::{Field, Fr, Goldilocks}, ntt::{Domain, GoldilocksDomain, Order}};
//!
//! // 1 + 2 X + 3 X^2 on the four fourth roots of unity.
//! let domain = Domain::new(2).expect("a small domain");
//! let mut values = [1, 2, 3, 0].map(Fr::from);
//! domain.ntt(&mut values);
//! let at = |x: Fr| Fr::ONE + Fr::from(2) * x + Fr::from(3) * x * x;
//! assert_eq!(values[1], at(domain.root()));
//! domain.intt(&mut values);
//! assert_eq!(values, [1, 2, 3, 0].map(Fr::from));
//!
//! let domain = GoldilocksDomain::new(10).expect("a small domain");
//! let mut values = vec![Goldilocks::new(5); domain.len()];
//! domain.ntt(&mut values, Order::Natural);
//! assert_eq!(values[0], Goldilocks::new(5 << 10));
//! ```

use crate::{
    field::{Fp, Goldilocks, bn254},
    machine::current,
};
pub use proofmill_ntt::{Transformed, goldilocks::Order};

/// The subgroup of order n = 2^log_n of a prime field's multiplicative group; by default of BN254's scalar field.
///
/// Transforms run on all threads and in place, with input and output in natural order: value i belongs to `root()^i`. The
/// domain keeps n elements of scratch memory for the next transform.
pub struct Domain<P: Transformed = bn254::FrParams> {
    domain: proofmill_ntt::Domain<P>,
}

impl<P: Transformed> Domain<P> {
    /// The subgroup of order `2^log_n`; `None` beyond the field's two-adicity or 2^28.
    pub fn new(log_n: u32) -> Option<Self> {
        proofmill_ntt::Domain::new(log_n).map(|domain| Self { domain })
    }

    /// The number of elements, n.
    #[expect(clippy::len_without_is_empty, reason = "a group is never empty")]
    pub fn len(&self) -> usize {
        self.domain.len()
    }

    /// The generator, a root of unity of order n.
    pub fn root(&self) -> Fp<P> {
        self.domain.root()
    }

    /// Coefficients to values: `values[i] = sum_j coefficients[j] root^(i j)`.
    ///
    /// # Panics
    /// If the number of values is not n (the same holds for all transforms of this type).
    pub fn ntt(&self, values: &mut [Fp<P>]) {
        self.domain.ntt(current().level, values);
    }

    /// Values to coefficients, the inverse of [`ntt`](Self::ntt).
    pub fn intt(&self, values: &mut [Fp<P>]) {
        self.domain.intt(current().level, values);
    }

    /// Coefficients to values on the coset `shift * H`.
    pub fn coset_ntt(&self, values: &mut [Fp<P>], shift: Fp<P>) {
        self.domain.coset_ntt(current().level, values, shift);
    }

    /// Values on the coset `shift * H` to coefficients, the inverse of [`coset_ntt`](Self::coset_ntt).
    ///
    /// # Panics
    /// Also if `shift` is zero.
    pub fn coset_intt(&self, values: &mut [Fp<P>], shift: Fp<P>) {
        self.domain.coset_intt(current().level, values, shift);
    }
}

impl<P: Transformed> std::fmt::Debug for Domain<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Domain of {} elements", self.len())
    }
}

/// The subgroup of order n = 2^log_n of the Goldilocks field's multiplicative group.
///
/// Transforms run on all threads and in place, of one or several polynomials, the columns of a row-major matrix of n rows.
pub struct GoldilocksDomain {
    domain: proofmill_ntt::goldilocks::GoldilocksDomain,
}

impl GoldilocksDomain {
    /// The subgroup of order `2^log_n`; `None` beyond 2^32.
    pub fn new(log_n: u32) -> Option<Self> {
        proofmill_ntt::goldilocks::GoldilocksDomain::new(log_n).map(|domain| Self { domain })
    }

    /// The number of elements, n.
    #[expect(clippy::len_without_is_empty, reason = "a group is never empty")]
    pub fn len(&self) -> usize {
        self.domain.len()
    }

    /// The generator, a root of unity of order n.
    pub fn root(&self) -> Goldilocks {
        self.domain.root()
    }

    /// Coefficients to values in the given order.
    ///
    /// # Panics
    /// If the number of values is not a multiple of n (the same holds for all transforms of this type).
    pub fn ntt(&self, values: &mut [Goldilocks], order: Order) {
        self.domain.ntt(current().level, values, order);
    }

    /// Coefficients to values on the coset `shift * H`.
    pub fn coset_ntt(&self, values: &mut [Goldilocks], shift: Goldilocks, order: Order) {
        self.domain.coset_ntt(current().level, values, shift, order);
    }

    /// Values in the given order to coefficients, the inverse of [`ntt`](Self::ntt).
    pub fn intt(&self, values: &mut [Goldilocks], order: Order) {
        self.domain.intt(current().level, values, order);
    }

    /// Values on the coset `shift * H` in natural order to coefficients.
    ///
    /// # Panics
    /// Also if `shift` is zero.
    pub fn coset_intt(&self, values: &mut [Goldilocks], shift: Goldilocks) {
        self.domain.coset_intt(current().level, values, shift);
    }
}

impl GoldilocksDomain {
    /// The low-degree extension of the polynomials whose values on H, in natural order, are the columns of a row-major matrix:
    /// their values on the coset `shift * H'`, where H' is larger than H by the same factor as `extension` is longer than
    /// `values`.
    ///
    /// # Panics
    /// If the number of values is not a multiple of n, the length of `extension` is not that number times a power of two, or H'
    /// would have more than 2^32 elements.
    pub fn low_degree_extension(
        &self,
        values: &[Goldilocks],
        shift: Goldilocks,
        extension: &mut [Goldilocks],
        order: Order,
    ) {
        self.domain.low_degree_extension(current().level, values, shift, extension, order);
    }
}

impl std::fmt::Debug for GoldilocksDomain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GoldilocksDomain of {} elements", self.len())
    }
}
