//! Evaluating many polynomials at a point of an extension from their coefficients: sums of rows weighted by powers of the point, with
//! Horner's rule from block to block. Products are added before they are reduced.

use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field, LANES, Lanes, dispatch_goldilocks,
    goldilocks::{
        Extension, ExtensionField, Goldilocks, GoldilocksEngine, GoldilocksVector, Planes, U64s,
        constant_planes,
    },
};
use proofmill_run::parallel;

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
    // Horner's rule again, over tasks: each one stands for BLOCKS blocks.
    let task_power = block_power.pow_vartime(&[BLOCKS as u64]);
    let mut sums = vec![Extension::ZERO; width];
    tasks.into_iter().rev().for_each(|next| horner(&mut sums, next, task_power));
    sums
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
