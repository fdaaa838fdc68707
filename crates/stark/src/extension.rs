//! Low-degree extensions of the columns of matrices.

use crate::domain::{SHIFT, domain, reverse};
use proofmill_cpu::Level;
use proofmill_field::{Invert, goldilocks::Goldilocks};
use proofmill_memory::Pages;
use proofmill_ntt::goldilocks::Order;

/// The low-degree extension of the columns of a matrix: values on the coset of extensions, in bit-reversed order. The columns are the
/// values of polynomials on `shift` times the subgroup, in natural order.
pub(crate) fn extend(
    level: Level,
    log_blowup: u32,
    values: &[Goldilocks],
    columns: usize,
    shift: Goldilocks,
) -> Pages<Goldilocks> {
    let mut extension = Pages::new(values.len() << log_blowup);
    extension[..values.len()].copy_from_slice(values);
    extend_in_place(level, log_blowup, &mut extension, columns, shift);
    extension
}

/// As [`extend`], in place: the values are at the beginning of the memory of the extension.
pub(crate) fn extend_in_place(
    level: Level,
    log_blowup: u32,
    extension: &mut [Goldilocks],
    columns: usize,
    shift: Goldilocks,
) {
    // The transform takes the values' domain for the subgroup: the shift is relative to it.
    let ratio = SHIFT * shift.invert_vartime().expect("a shift is not zero");
    let log_rows = (extension.len() / columns).ilog2() - log_blowup;
    domain(log_rows).extend(level, extension, log_blowup, ratio, Order::BitReversed);
}

/// Replaces the values on the first part of the coset by the values that [`extend_in_place`] extended with shift 1.
pub(crate) fn restore(level: Level, values: &mut [Goldilocks], columns: usize) {
    reverse_rows(values, columns);
    let domain = domain((values.len() / columns).ilog2());
    domain.coset_intt(level, values, SHIFT);
    domain.ntt(level, values, Order::Natural);
}

/// The values on the whole coset of extensions, from the values on its first part. Both are in bit-reversed order.
pub(crate) fn extend_coset(
    level: Level,
    log_blowup: u32,
    mut values: Vec<Goldilocks>,
    columns: usize,
) -> Pages<Goldilocks> {
    reverse_rows(&mut values, columns);
    extend(level, log_blowup, &values, columns, SHIFT)
}

/// Brings rows from bit-reversed to natural order.
fn reverse_rows(values: &mut [Goldilocks], columns: usize) {
    let rows = values.len() / columns;
    for row in 0..rows {
        let other = reverse(row, rows.ilog2());
        if row < other {
            let (low, high) = values.split_at_mut(other * columns);
            low[row * columns..][..columns].swap_with_slice(&mut high[..columns]);
        }
    }
}
