//! The domains of the protocol: subgroups with Plonky3's generator, and the coset on which extensions lie.

use crate::openings::Coset;
use proofmill_field::{Algebra, Field, Invert, goldilocks::Goldilocks};
use proofmill_ntt::goldilocks::GoldilocksDomain;
use std::sync::OnceLock;

/// Plonky3's generator of the subgroup of order 2^32.
const ROOT: Goldilocks = Goldilocks::new(0x1856_29dc_da58_878c);

/// The shift of the coset of extensions: a generator of the whole group, so that it is in no domain
/// of a trace.
pub const SHIFT: Goldilocks = Goldilocks::GENERATOR;

/// The subgroup of order `2^log_n`.
///
/// # Panics
/// If the order is more than 2^32.
pub fn domain(log_n: u32) -> &'static GoldilocksDomain {
    static DOMAINS: [OnceLock<GoldilocksDomain>; Goldilocks::TWO_ADICITY as usize + 1] =
        [const { OnceLock::new() }; Goldilocks::TWO_ADICITY as usize + 1];
    DOMAINS[log_n as usize].get_or_init(|| {
        GoldilocksDomain::with_generator(log_n, ROOT).expect("a generator, and at most 2^32 elements")
    })
}

/// The cosets of extensions.
pub fn coset() -> &'static Coset {
    static COSET: OnceLock<Coset> = OnceLock::new();
    COSET.get_or_init(|| Coset::new(ROOT, SHIFT).expect("a generator"))
}

/// The subgroups whose elements are the inverses of the elements of FRI's domains.
pub fn inverses() -> &'static Coset {
    static INVERSES: OnceLock<Coset> = OnceLock::new();
    let inverse = || ROOT.invert_vartime().expect("a root is not zero");
    INVERSES.get_or_init(|| Coset::new(inverse(), Goldilocks::ONE).expect("a generator"))
}

/// The generator of the subgroup of order `2^log_n`, which is at most 2^32.
pub fn generator(log_n: u32) -> Goldilocks {
    (log_n..Goldilocks::TWO_ADICITY).fold(ROOT, |root, _| root.square())
}

/// The shift of coset `index` of the subgroup of order `2^log_rows`. An extension has `2^log_cosets` cosets.
pub fn coset_shift(log_rows: u32, log_cosets: u32, index: usize) -> Goldilocks {
    SHIFT * generator(log_rows + log_cosets).pow_vartime(&[index as u64])
}

/// The index with its lowest `bits` bits in reverse order; the index has no other bits.
pub(crate) fn reverse(index: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { index.reverse_bits() >> (usize::BITS - bits) }
}
