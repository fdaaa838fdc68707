//! The folding of FRI: `(f(x) + f(-x)) / 2 + beta (f(x) - f(-x)) / (2 x)` at the squares of x.

use super::{BLOCK, Coset};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field, Lanes, dispatch_goldilocks,
    goldilocks::{Extension, ExtensionField, Goldilocks, GoldilocksEngine, U64s},
};
use proofmill_run::parallel;

/// The number of blocks of a task.
const BLOCKS: usize = 8;

/// Folds values `log_arity` times, with `beta`, its square, and so on. `words` has the coefficients of each value, one value after the
/// other, as any words. The domain of the values is the subgroup, in bit-reversed order, whose elements' inverses are `inverses`.
///
/// # Panics
/// If `log_arity` is 0, or if the words are not whole groups of `2^log_arity` values.
pub fn fold<const N: usize>(
    level: Level,
    inverses: &Coset,
    log_arity: u32,
    beta: Extension<Goldilocks, N>,
    words: &[u64],
) -> Vec<Extension<Goldilocks, N>>
where
    Extension<Goldilocks, N>: ExtensionField<N>,
{
    assert!(log_arity > 0 && words.len().is_multiple_of(N << log_arity), "groups of 2^{log_arity} values");
    // The inverses of x in the pairs (x, -x).
    let table = inverses.table(2);
    let once = |words: &[u64], beta: Extension<Goldilocks, N>| {
        let mut folded = vec![Extension([Goldilocks::ZERO; N]); words.len() / (2 * N)];
        let task = BLOCKS * BLOCK;
        let tasks = (0..).step_by(task).zip(words.chunks(2 * N * task)).zip(folded.chunks_mut(task));
        parallel::for_each(tasks, |((first, words), folded)| {
            let blocks = words.chunks(2 * N * BLOCK).zip(folded.chunks_mut(BLOCK));
            for (first, (words, folded)) in (first..).step_by(BLOCK).zip(blocks) {
                let inverse = inverses.element(2 * first);
                dispatch_goldilocks!(level, engine => fold_block(engine, &table, inverse, beta, words, folded));
            }
        });
        folded
    };
    let mut beta = beta;
    let mut folded = once(words, beta);
    for _ in 1..log_arity {
        beta = beta.square();
        let words: Vec<_> = folded.iter().flat_map(|value| value.0.map(|each| each.to_canonical())).collect();
        folded = once(&words, beta);
    }
    folded
}

fn fold_block<E: GoldilocksEngine, const N: usize>(
    engine: E,
    table: &[u64; BLOCK],
    first: Goldilocks,
    beta: Extension<Goldilocks, N>,
    words: &[u64],
    folded: &mut [Extension<Goldilocks, N>],
) where
    Extension<Goldilocks, N>: ExtensionField<N>,
{
    /// `1/2`.
    const HALF: u64 = 0x7fff_ffff_8000_0001;
    // One array for each coefficient: vectors run across pairs.
    let mut pairs = [[[0; BLOCK]; N]; 2];
    for (row, pair) in words.chunks_exact(2 * N).enumerate() {
        for d in 0..N {
            pairs[0][d][row] = pair[d];
            pairs[1][d][row] = pair[N + d];
        }
    }
    let [mut sums, differences] = pairs;
    engine.run(
        #[inline(always)]
        || {
            // The half of the second term is part of the inverses.
            let half = E::Vector::broadcast(engine, HALF);
            let first = E::Vector::broadcast(engine, first.to_canonical()) * half;
            let mut factor = Extension([E::Vector::zero(engine); N]);
            for d in 0..N {
                factor.0[d] = E::Vector::broadcast(engine, beta.0[d].to_canonical());
            }
            for row in (0..BLOCK).step_by(E::U64s::WIDTH) {
                let (mut sum, mut difference) = (factor, factor);
                for d in 0..N {
                    let a = E::Vector::load(engine, &sums[d][row..]);
                    let b = E::Vector::load(engine, &differences[d][row..]);
                    sum.0[d] = (a + b) * half;
                    difference.0[d] = a - b;
                }
                let inverse = E::Vector::load(engine, &table[row..]) * first;
                let product = Extension::<Goldilocks, N>::product(difference, factor).scale(inverse);
                let value = sum + product;
                for d in 0..N {
                    value.0[d].store(&mut sums[d][row..]);
                }
            }
        },
    );
    for (row, value) in folded.iter_mut().enumerate() {
        *value = Extension(std::array::from_fn(|d| Goldilocks::new(sums[d][row])));
    }
}
