//! The linear layer of full rounds: four by four blocks of one circulant matrix, doubled on the diagonal.

use proofmill_field::goldilocks::U64s;

/// The first row of the four by four block that the matrix of full rounds consists of; each further row is the one before, rotated
/// right.
pub const BLOCK: [u64; 4] = [2, 3, 1, 1];

/// The product of the matrix and the state, modulo 2^64; its row sums are 7 (WIDTH / 4 + 1).
#[inline(always)]
pub(crate) fn multiply<W: U64s, const WIDTH: usize>(state: &[W; WIDTH]) -> [W; WIDTH] {
    let mut product = *state;
    for start in (0..WIDTH).step_by(4) {
        [product[start], product[start + 1], product[start + 2], product[start + 3]] =
            block([state[start], state[start + 1], state[start + 2], state[start + 3]]);
    }
    for i in 0..4 {
        // The sum over all blocks, added to each block: those on the diagonal count twice.
        let mut sum = product[i];
        for start in (4..WIDTH).step_by(4) {
            sum = sum + product[start + i];
        }
        for start in (0..WIDTH).step_by(4) {
            product[start + i] = product[start + i] + sum;
        }
    }
    product
}

/// The product of the block and four elements.
#[inline(always)]
fn block<W: U64s>([a, b, c, d]: [W; 4]) -> [W; 4] {
    let (ab, cd) = (a + b, c + d);
    let sum = ab + cd;
    let (with_b, with_d) = (sum + b, sum + d);
    [with_b + ab, with_b + c.shl::<1>(), with_d + cd, with_d + a.shl::<1>()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmill_cpu::Portable;
    use proofmill_field::goldilocks::U64x1;

    fn is_the_dense_product<const WIDTH: usize>() {
        for at in 0..WIDTH {
            let mut words = [0u64; WIDTH];
            words[at] = 1;
            let product = multiply(&words.map(|word| U64x1::splat(Portable, word)));
            for (row, word) in product.into_iter().enumerate() {
                let entry = BLOCK[(4 + at % 4 - row % 4) % 4];
                let expected = if row / 4 == at / 4 { 2 * entry } else { entry };
                let mut value = [0];
                word.store(&mut value);
                assert_eq!(value[0], expected, "width {WIDTH}, row {row}, column {at}");
            }
        }
    }

    #[test]
    fn is_the_dense_product_at_every_width() {
        is_the_dense_product::<8>();
        is_the_dense_product::<12>();
    }
}
