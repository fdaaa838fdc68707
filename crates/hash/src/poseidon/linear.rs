//! The linear layer: a circulant matrix of small integers, plus 8 in its first entry.
//!
//! The circulant is a product in `Z[x] / (x^12 - 1)`. With `x^3 = y` that is `Z[y] / (y^4 - 1)`, split by `y = 1`, `-1` and
//! `i` into three products of three terms, whose coefficients are powers of two (plonky2 chose them so):
//! shifts and sums in place of 144 products.

use proofmill_field::goldilocks::U64s;

/// The elements of the state.
pub const WIDTH: usize = 12;

/// The first row of the circulant; each further row is the one before, rotated right.
pub(crate) const CIRCULANT: [u64; WIDTH] = [17, 15, 41, 16, 2, 28, 13, 13, 39, 18, 34, 20];

/// Added to the matrix's first entry.
#[cfg(test)]
pub(crate) const CORNER: u64 = 8;

/// Values of a polynomial of degree 3 with integer coefficients at 1, -1 and i.
#[derive(Clone, Copy)]
struct Values<W> {
    at_one: W,
    at_minus_one: W,
    real: W,
    imaginary: W,
}

impl<W: U64s> Values<W> {
    #[inline(always)]
    fn of([c0, c1, c2, c3]: [W; 4]) -> Self {
        let (even, odd) = (c0 + c2, c1 + c3);
        Self { at_one: even + odd, at_minus_one: even - odd, real: c0 - c2, imaginary: c1 - c3 }
    }
}

/// The product of the matrix and the state, modulo 2^64.
#[inline(always)]
pub(crate) fn multiply<W: U64s>(s: &[W; WIDTH]) -> [W; WIDTH] {
    if W::PREFERS_PRODUCTS { by_products(s) } else { by_shifts(s) }
}

#[inline(always)]
fn by_shifts<W: U64s>(s: &[W; WIDTH]) -> [W; WIDTH] {
    // Coefficients with equal exponents modulo 3 are polynomials in y = x^3.
    let a = Values::of([s[0], s[3], s[6], s[9]]);
    let b = Values::of([s[1], s[4], s[7], s[10]]);
    let c = Values::of([s[2], s[5], s[8], s[11]]);
    let at_one = at_one([a.at_one, b.at_one, c.at_one]);
    let opposite = at_minus_one_negated([a.at_minus_one, b.at_minus_one, c.at_minus_one]);
    let (real, imaginary) = at_i([a.real, b.real, c.real], [a.imaginary, b.imaginary, c.imaginary]);
    let mut product = *s;
    // Back to coefficients of y^0 to y^3; the factors at 1, -1 and i include the division by 4.
    for k in 0..3 {
        let (even, odd) = (at_one[k] - opposite[k], at_one[k] + opposite[k]);
        product[k] = even + real[k];
        product[k + 3] = odd + imaginary[k];
        product[k + 6] = even - real[k];
        product[k + 9] = odd - imaginary[k];
    }
    // The 8 in the first entry.
    product[0] = product[0] + s[0].shl::<3>();
    product
}

/// The product with `16 + 32 x + 16 x^2` modulo `x^3 - 1`.
#[inline(always)]
fn at_one<W: U64s>([a, b, c]: [W; 3]) -> [W; 3] {
    let sum = a + b + c;
    [(sum + c).shl::<4>(), (sum + a).shl::<4>(), (sum + b).shl::<4>()]
}

/// The negated product with `-1 - 8 x + 2 x^2` modulo `x^3 + 1`.
#[inline(always)]
fn at_minus_one_negated<W: U64s>([a, b, c]: [W; 3]) -> [W; 3] {
    [a + (b - c.shl::<2>()).shl::<1>(), b + (a.shl::<2>() + c).shl::<1>(), c + (b.shl::<2>() - a).shl::<1>()]
}

/// Twice the product with `(1 + i/2) - (2 + i/2) x + (8 - i/2) x^2` modulo `x^3 - i`: real and imaginary parts.
#[inline(always)]
fn at_i<W: U64s>(r: [W; 3], i: [W; 3]) -> ([W; 3], [W; 3]) {
    let real = [
        r[0].shl::<1>() + (r[1] + r[2]) - (i[0] + (i[1].shl::<2>() - i[2]).shl::<2>()),
        (r[1] - r[0].shl::<1>()).shl::<1>() + r[2] - (i[1] - i[0] + i[2].shl::<4>()),
        (r[2] - r[1].shl::<1>() + r[0].shl::<3>()).shl::<1>() - (i[2] - i[1] - i[0]),
    ];
    let imaginary = [
        i[0].shl::<1>() + (i[1] + i[2]) + (r[0] + (r[1].shl::<2>() - r[2]).shl::<2>()),
        (i[1] - i[0].shl::<1>()).shl::<1>() + i[2] + (r[1] - r[0] + r[2].shl::<4>()),
        (i[2] - i[1].shl::<1>() + i[0].shl::<3>()).shl::<1>() + (r[2] - r[1] - r[0]),
    ];
    (real, imaginary)
}

/// The same, for instruction sets that add a product in one instruction: 73 operations with the shifts in sums, in place of 104.
///
/// `x = -z` modulo `x^3 + 1` and `x = -i z` modulo `x^3 - i` make these products cyclic in z, too. The signs cost nothing:
/// sums and differences are exchanged.
#[inline(always)]
fn by_products<W: U64s>(s: &[W; WIDTH]) -> [W; WIDTH] {
    let a = Values::of([s[0], s[3], s[6], s[9]]);
    let b = Values::of([s[1], s[4], s[7], s[10]]);
    let c = Values::of([s[2], s[5], s[8], s[11]]);
    // The substitutions' signs, at no cost: the differences are taken the other way round.
    let b_opposite = (s[4] + s[10]) - (s[1] + s[7]);
    let at_one = at_one_by_products([a.at_one, b.at_one, c.at_one]);
    let at_minus_one = at_minus_one_cyclic([a.at_minus_one, b_opposite, c.at_minus_one]);
    let (u, v) = ([a.real, b.imaginary, s[8] - s[2]], [a.imaginary, s[7] - s[1], s[11] - s[5]]);
    let (opposite, imaginary) = at_i_cyclic(u, v);
    let mut even = at_one;
    let mut odd = at_one;
    for k in 0..3 {
        let (sum, difference) = (at_one[k] + at_minus_one[k], at_one[k] - at_minus_one[k]);
        (even[k], odd[k]) = if k == 1 { (sum, difference) } else { (difference, sum) };
    }
    let mut product = [
        even[0] - opposite[0],
        even[1] - imaginary[1],
        even[2] + opposite[2],
        odd[0] + imaginary[0],
        odd[1] - opposite[1],
        odd[2] - imaginary[2],
        even[0] + opposite[0],
        even[1] + imaginary[1],
        even[2] - opposite[2],
        odd[0] - imaginary[0],
        odd[1] + opposite[1],
        odd[2] + imaginary[2],
    ];
    product[0] = product[0] + s[0].shl::<3>();
    product
}

/// As [`at_one`].
#[inline(always)]
fn at_one_by_products<W: U64s>([a, b, c]: [W; 3]) -> [W; 3] {
    let sum = (a + b + c).shl::<4>();
    [sum + c.mul_low(16), sum + a.mul_low(16), sum + b.mul_low(16)]
}

/// The negated product with `-1 + 8 z + 2 z^2` modulo `z^3 - 1`.
#[inline(always)]
fn at_minus_one_cyclic<W: U64s>([a, b, c]: [W; 3]) -> [W; 3] {
    [a - (b + c.shl::<2>()).shl::<1>(), b - (c + a.shl::<2>()).shl::<1>(), c - (a + b.shl::<2>()).shl::<1>()]
}

/// Twice the product of `u + i v` with `(1 + i/2) + (-1/2 + 2 i) z + (-8 + i/2) z^2` modulo `z^3 - 1`, negated real and
/// imaginary parts: the sum of the coefficients times `2 + i`, and single ones times 3 and 18.
#[inline(always)]
fn at_i_cyclic<W: U64s>(u: [W; 3], v: [W; 3]) -> ([W; 3], [W; 3]) {
    let (u_sum, v_sum) = (u[0] + u[1] + u[2], v[0] + v[1] + v[2]);
    let common_imaginary = u_sum + v_sum.shl::<1>();
    let common_opposite = v_sum - u_sum.shl::<1>();
    let (mut opposite, mut imaginary) = (u, v);
    for k in 0..3 {
        let (next, last) = ((k + 1) % 3, (k + 2) % 3);
        opposite[k] = common_opposite + (u[last] + v[last] + u[next].mul_low(6)).mul_low(3);
        imaginary[k] = common_imaginary + (u[last] - v[last] - v[next].mul_low(6)).mul_low(3);
    }
    (opposite, imaginary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmill_cpu::Portable;
    use proofmill_field::goldilocks::U64x1;

    fn check(multiply: impl Fn(&[U64x1; WIDTH]) -> [U64x1; WIDTH]) {
        for at in 0..WIDTH {
            let mut words = [0u64; WIDTH];
            words[at] = 1;
            let product = multiply(&words.map(|word| U64x1::splat(Portable, word)));
            for (row, word) in product.into_iter().enumerate() {
                let corner = if row == 0 && at == 0 { CORNER } else { 0 };
                let mut value = [0];
                word.store(&mut value);
                assert_eq!(
                    value[0],
                    CIRCULANT[(at + WIDTH - row) % WIDTH] + corner,
                    "row {row}, column {at}"
                );
            }
        }
    }

    #[test]
    fn is_the_dense_product() {
        check(by_shifts);
        check(by_products);
    }
}
