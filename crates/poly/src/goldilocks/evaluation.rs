//! Evaluating many polynomials at a point of an extension, from coefficients or from values.
//!
//! Both are weighted sums of rows: the weights are powers of the point (Horner's rule from block to block), or the
//! barycentric weights of a coset (Berrut, Trefethen, "Barycentric Lagrange interpolation", 2004). Products are added before
//! they are reduced.

use super::{GoldilocksDomain, Order};
use crate::reverse_bits::reverse_bits;
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field, Invert, LANES, Lanes, batch_invert_vartime, dispatch_goldilocks,
    goldilocks::{
        Extension, ExtensionField, Goldilocks, GoldilocksEngine, GoldilocksVector, Planes, U64s,
        constant_planes,
    },
};
use proofmill_parallel as parallel;

/// The rows of a block: the most products whose planes may be added.
const BLOCK: usize = 256;

/// The most blocks that one task sums.
const BLOCKS: usize = 16;

/// The weights of a block's rows, one array per coefficient of the weights.
type Weights<const D: usize> = [[u64; BLOCK]; D];

fn weights<const D: usize>(elements: impl IntoIterator<Item = Extension<Goldilocks, D>>) -> Weights<D> {
    let mut weights = [[0; BLOCK]; D];
    for (row, element) in elements.into_iter().take(BLOCK).enumerate() {
        for d in 0..D {
            weights[d][row] = element.0[d].to_canonical();
        }
    }
    weights
}

/// The values at `point` of the polynomials whose coefficients are the columns of a row-major matrix of `width` columns.
///
/// # Panics
/// If the width is zero or does not divide the number of coefficients.
pub fn evaluate<const D: usize>(
    level: Level,
    coefficients: &[Goldilocks],
    width: usize,
    point: Extension<Goldilocks, D>,
) -> Vec<Extension<Goldilocks, D>>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    assert!(width > 0 && coefficients.len().is_multiple_of(width), "rows of {width} coefficients");
    let powers = weights(std::iter::successors(Some(Extension::ONE), |power| Some(*power * point)));
    let block_power = point.pow_vartime(&[BLOCK as u64]);
    let horner = |sums: &mut Vec<_>, next: Vec<_>, factor| {
        sums.iter_mut().zip(next).for_each(|(sum, next)| *sum = *sum * factor + next);
    };
    let tasks = parallel::map(coefficients.chunks(BLOCKS * BLOCK * width), |part| {
        let mut sums = vec![Extension::ZERO; width];
        for block in part.chunks(BLOCK * width).rev() {
            let next = dispatch_goldilocks!(level, token => weighted_sums(token, block, width, &powers));
            horner(&mut sums, next, block_power);
        }
        sums
    });
    let task_power = block_power.pow_vartime(&[BLOCKS as u64]);
    let mut sums = vec![Extension::ZERO; width];
    tasks.into_iter().rev().for_each(|next| horner(&mut sums, next, task_power));
    sums
}

impl GoldilocksDomain {
    /// The values at `point` of the polynomials of degree below n whose values on the coset `shift * H`, in the given order,
    /// are the columns of a row-major matrix.
    ///
    /// # Panics
    /// If the number of values is not a multiple of n, or if `shift` is zero.
    pub fn evaluate_from_values<const D: usize>(
        &self,
        level: Level,
        values: &[Goldilocks],
        order: Order,
        shift: Goldilocks,
        point: Extension<Goldilocks, D>,
    ) -> Vec<Extension<Goldilocks, D>>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        assert!(
            values.len().is_multiple_of(self.len()),
            "a matrix with a row for each element of the domain"
        );
        assert!(!shift.is_zero(), "a coset's shift is not zero");
        let width = values.len() / self.len();
        if width == 0 {
            return vec![];
        }
        // The element of row `block + r` is that of row `block` times that of row r; the last block may be shorter.
        let power = |row: usize| {
            let log_n = self.len().trailing_zeros();
            let index = if order == Order::Natural { row } else { reverse_bits(row, log_n) };
            self.root().pow_vartime(&[index as u64])
        };
        let mut table = [1; BLOCK];
        for (row, element) in table.iter_mut().enumerate().take(self.len()) {
            *element = power(row).to_canonical();
        }
        let block_shift = |block: usize| shift * power(block);
        let n = [self.len() as u64];
        let (point_n, shift_n) = (point.pow_vartime(&n), shift.pow_vartime(&n));
        let vanishing = point_n - Extension::from_base(shift_n);
        if vanishing.is_zero() {
            let mut elements = (0..self.len()).map(|row| Extension::from_base(shift * power(row)));
            let row = elements.position(|element| element == point).expect("an element of the coset");
            return values[row * width..][..width].iter().map(|value| Extension::from_base(*value)).collect();
        }
        let add = |sums: &mut Vec<_>, next: Vec<_>| {
            sums.iter_mut().zip(next).for_each(|(sum, next)| *sum += next);
        };
        let blocks = self.len().div_ceil(BLOCK);
        let share = BLOCK * blocks.div_ceil(4 * parallel::threads()).min(BLOCKS);
        let tasks = parallel::map((0..).step_by(share).zip(values.chunks(share * width)), |(first, part)| {
            let mut sums = vec![Extension::ZERO; width];
            for (row, values) in (first..).step_by(BLOCK).zip(part.chunks(BLOCK * width)) {
                let next = dispatch_goldilocks!(level, token => {
                    let weights = barycentric_weights(token, &table, block_shift(row), point);
                    weighted_sums(token, values, width, &weights)
                });
                add(&mut sums, next);
            }
            sums
        });
        let mut sums = vec![Extension::ZERO; width];
        tasks.into_iter().for_each(|next| add(&mut sums, next));
        let scale = (shift_n * Goldilocks::new(self.len() as u64)).invert_vartime().expect("neither is zero");
        sums.into_iter().map(|sum| sum * vanishing.scale(scale)).collect()
    }
}

/// `x / (point - x)` for each x of a block, which is the table times `first`; one inversion per lane.
fn barycentric_weights<E: GoldilocksEngine, const D: usize>(
    engine: E,
    table: &[u64; BLOCK],
    first: Goldilocks,
    point: Extension<Goldilocks, D>,
) -> Weights<D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let mut weights = [[0; BLOCK]; D];
    let mut inverses = [Goldilocks::ONE; LANES];
    engine.run(
        #[inline(always)]
        || {
            // Here, where the compiler knows it: `run` is not inlined.
            let lanes = E::U64s::WIDTH;
            let first = E::Vector::broadcast(engine, first.to_canonical());
            let mut at_point = Extension([E::Vector::zero(engine); D]);
            for d in 0..D {
                at_point.0[d] = E::Vector::broadcast(engine, point.0[d].to_canonical());
            }
            // The products of all norms before each.
            let mut products = [E::Vector::one(engine); BLOCK];
            let mut product = E::Vector::one(engine);
            for (k, table) in table.chunks_exact(lanes).enumerate() {
                let mut difference = at_point;
                difference.0[0] = difference.0[0] - E::Vector::load(engine, table) * first;
                let (_, norm) = Extension::<Goldilocks, D>::conjugates_and_norm(difference);
                products[k] = product;
                product = product * norm;
            }
            let mut words = [0; LANES];
            product.store(&mut words);
            for lane in 0..lanes {
                inverses[lane] = Goldilocks::new(words[lane]);
            }
            batch_invert_vartime(&mut inverses);
            let mut inverse = E::Vector::load(engine, Goldilocks::as_words(&inverses));
            for k in (0..BLOCK / lanes).rev() {
                let x = E::Vector::load(engine, &table[k * lanes..]) * first;
                let mut difference = at_point;
                difference.0[0] = difference.0[0] - x;
                let (conjugates, norm) = Extension::<Goldilocks, D>::conjugates_and_norm(difference);
                let weight = conjugates.scale(inverse * products[k] * x);
                inverse = inverse * norm;
                for d in 0..D {
                    weight.0[d].store(&mut weights[d][k * lanes..]);
                }
            }
        },
    );
    weights
}

/// The sum of a block's rows times their weights.
fn weighted_sums<E: GoldilocksEngine, const D: usize>(
    engine: E,
    rows: &[Goldilocks],
    width: usize,
    weights: &Weights<D>,
) -> Vec<Extension<Goldilocks, D>> {
    let words = Goldilocks::as_words(rows);
    let lanes = E::U64s::WIDTH;
    if width >= lanes {
        let mut sums = vec![Extension([Goldilocks::ZERO; D]); width];
        for column in (0..width).step_by(lanes) {
            // The last vector may overlap the one before.
            let column = column.min(width - lanes);
            let parts = columns_together(engine, &words[column..], width, rows.len() / width, weights);
            for d in 0..D {
                sums[column..][..lanes].iter_mut().zip(&parts[d]).for_each(|(sum, part)| sum.0[d] = *part);
            }
        }
        return sums;
    }
    let column_sum = |column: usize| {
        let mut values = [0; BLOCK];
        values.iter_mut().zip(words[column..].iter().step_by(width)).for_each(|(to, word)| *to = *word);
        let parts = column_alone(engine, &values, weights);
        Extension(parts.map(|lanes| lanes.into_iter().fold(Goldilocks::ZERO, |sum, lane| sum + lane)))
    };
    (0..width).map(column_sum).collect()
}

/// The sums of adjacent columns, one per lane.
fn columns_together<E: GoldilocksEngine, const D: usize>(
    engine: E,
    words: &[u64],
    width: usize,
    rows: usize,
    weights: &Weights<D>,
) -> [[Goldilocks; LANES]; D] {
    engine.run(
        #[inline(always)]
        || {
            let mut sums = [Planes::splat(engine, constant_planes::<E::Chain>(0)); D];
            for row in 0..rows.min(BLOCK) {
                let vector = E::Chain::load(engine, &words[row * width..]);
                for d in 0..D {
                    sums[d] = sums[d] + vector.product_planes(E::Chain::broadcast(engine, weights[d][row]));
                }
            }
            lanes_of::<E, D>(sums)
        },
    )
}

/// The sums of one column: lane i sums every `lanes`th row from row i on.
fn column_alone<E: GoldilocksEngine, const D: usize>(
    engine: E,
    column: &[u64; BLOCK],
    weights: &Weights<D>,
) -> [[Goldilocks; LANES]; D] {
    engine.run(
        #[inline(always)]
        || {
            let mut sums = [Planes::splat(engine, constant_planes::<E::Chain>(0)); D];
            for row in (0..BLOCK).step_by(E::U64s::WIDTH) {
                let vector = E::Chain::load(engine, &column[row..]);
                for d in 0..D {
                    sums[d] = sums[d] + vector.product_planes(E::Chain::load(engine, &weights[d][row..]));
                }
            }
            lanes_of::<E, D>(sums)
        },
    )
}

#[inline(always)]
fn lanes_of<E: GoldilocksEngine, const D: usize>(sums: [Planes<E::U64s>; D]) -> [[Goldilocks; LANES]; D] {
    let mut lanes = [[Goldilocks::ZERO; LANES]; D];
    for d in 0..D {
        let mut words = [0; LANES];
        E::Chain::from_planes(sums[d]).store(&mut words);
        for lane in 0..LANES {
            lanes[d][lane] = Goldilocks::new(words[lane]);
        }
    }
    lanes
}
