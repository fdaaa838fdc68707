//! Cosets in bit-reversed order, and inverses of their distances from a point.

use super::{BLOCK, Planes};
use proofmill_field::{
    Algebra, Field, LANES, Lanes, batch_invert_vartime,
    goldilocks::{Extension, ExtensionField, Goldilocks, GoldilocksEngine, U64s},
};

/// The cosets `shift * H` of the subgroups H of order 1, 2, 4 to 2^32 in bit-reversed order: each coset begins with the smaller ones.
#[derive(Clone, Debug)]
pub struct Coset {
    shift: Goldilocks,
    /// The roots of unity of order 2, 4, 8 ... 2^32.
    roots: [Goldilocks; Goldilocks::TWO_ADICITY as usize],
}

impl Coset {
    /// The cosets, from a generator of the subgroup of order 2^32. `None` if the generator has another order, or if `shift` is zero.
    pub fn new(generator: Goldilocks, shift: Goldilocks) -> Option<Self> {
        let mut roots = [generator; Goldilocks::TWO_ADICITY as usize];
        for i in (1..roots.len()).rev() {
            roots[i - 1] = roots[i].square();
        }
        (roots[0] == -Goldilocks::ONE && !shift.is_zero()).then_some(Self { shift, roots })
    }

    pub(crate) fn shift(&self) -> Goldilocks {
        self.shift
    }

    /// The element at an index below 2^32.
    pub fn element(&self, index: usize) -> Goldilocks {
        let bits = (0..self.roots.len()).filter(|bit| index >> bit & 1 == 1);
        bits.fold(self.shift, |element, bit| element * self.roots[bit])
    }

    /// The elements at `first + i step`, divided by the element at `first`. `step` is a power of two, and `first` has no bit of any
    /// `i step`.
    pub(super) fn table(&self, step: usize) -> [u64; BLOCK] {
        let log_step = step.trailing_zeros() as usize;
        let mut table = [1; BLOCK];
        for i in 1..BLOCK {
            let bit = i.ilog2() as usize;
            let root = self.roots[bit + log_step];
            table[i] = (Goldilocks::new(table[i - (1 << bit)]) * root).to_canonical();
        }
        table
    }
}

/// `1 / (point - x)`, or `x / (point - x)`, for the elements x of a block: `first` times the elements of the table. Montgomery's trick
/// takes one inversion for the block.
///
/// # Panics
/// If the point is one of these elements.
pub(super) fn inverses<E: GoldilocksEngine, const N: usize>(
    engine: E,
    table: &[u64; BLOCK],
    first: Goldilocks,
    point: Extension<Goldilocks, N>,
    times_x: bool,
    inverses: &mut Planes<N>,
) where
    Extension<Goldilocks, N>: ExtensionField<N>,
{
    let mut of_lanes = [Goldilocks::ONE; LANES];
    engine.run(
        #[inline(always)]
        || {
            let lanes = E::U64s::WIDTH;
            let first = E::Vector::broadcast(engine, first.to_canonical());
            let mut at_point = Extension([E::Vector::zero(engine); N]);
            for d in 0..N {
                at_point.0[d] = E::Vector::broadcast(engine, point.0[d].to_canonical());
            }
            // For each vector, the product of all norms before it.
            let mut products = [E::Vector::one(engine); BLOCK];
            // Only norms are inverted, in the base field: conjugates make inverses of them.
            let mut product = E::Vector::one(engine);
            for (k, table) in table.chunks_exact(lanes).enumerate() {
                let mut difference = at_point;
                difference.0[0] = difference.0[0] - E::Vector::load(engine, table) * first;
                let (_, norm) = Extension::<Goldilocks, N>::conjugates_and_norm(difference);
                products[k] = product;
                product = product * norm;
            }
            let mut words = [1; LANES];
            product.store(&mut words);
            for lane in 0..lanes {
                of_lanes[lane] = Goldilocks::new(words[lane]);
            }
            assert!(words.iter().all(|word| *word != 0), "a point outside of the coset");
            batch_invert_vartime(&mut of_lanes);
            let mut inverse = E::Vector::load(engine, Goldilocks::as_words(&of_lanes));
            // Backwards: `inverse` is the inverse of the product of the norms up to the k-th.
            for k in (0..BLOCK / lanes).rev() {
                let x = E::Vector::load(engine, &table[k * lanes..]) * first;
                let mut difference = at_point;
                difference.0[0] = difference.0[0] - x;
                let (conjugates, norm) = Extension::<Goldilocks, N>::conjugates_and_norm(difference);
                let mut factor = inverse * products[k];
                if times_x {
                    factor = factor * x;
                }
                let scaled = conjugates.scale(factor);
                inverse = inverse * norm;
                for d in 0..N {
                    scaled.0[d].store(&mut inverses[d][k * lanes..]);
                }
            }
        },
    );
}
