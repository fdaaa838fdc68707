//! Programs on blocks of rows.

use super::program::{BLOCK, Instruction, Operation, Program, STRIDE, Scalar};
use proofmill_cpu::Level;
use proofmill_field::{
    dispatch_goldilocks,
    goldilocks::{
        Extension, Goldilocks, GoldilocksEngine, GoldilocksLanes, GoldilocksVector, Planes, U64s, U64x1,
        constant_planes,
    },
};
use proofmill_memory::Lines;
use proofmill_run::parallel;

/// The number of rows that a task should evaluate. Each task allocates its memory.
pub(crate) fn rows_of_task(rows: usize) -> usize {
    BLOCK * rows.div_ceil(BLOCK).div_ceil(4 * parallel::threads()).max(1)
}

/// A program with its inputs, without the rows.
#[derive(Clone, Debug)]
pub struct Evaluation<'a, const N: usize> {
    program: &'a Program,
    /// The places of the program's columns in the rows that are read, which have `width` words.
    columns: Vec<usize>,
    width: usize,
    scalars: Vec<u64>,
    /// The coefficients of the factor of each constraint.
    factors: Vec<[u64; N]>,
    /// The number of sums, and the index of the sum to which each constraint is added.
    sums: usize,
    sum_of: Vec<usize>,
}

/// Sums of products, not reduced, for each row of a block.
#[derive(Clone, Copy)]
struct Total {
    low: [u64; BLOCK],
    high: [u64; BLOCK],
}

/// The number of products that are added before the sum is reduced.
const MOST_PRODUCTS: usize = 255;

/// The planes that a sum begins with; they do not depend on the vectors.
const OFFSET: [u64; 2] = constant_planes::<GoldilocksLanes<U64x1>>(0);

impl Total {
    const EMPTY: Self = Self { low: [OFFSET[0]; BLOCK], high: [OFFSET[1]; BLOCK] };

    #[inline(always)]
    fn get<W: U64s>(&self, token: W::Token, k: usize) -> Planes<W> {
        Planes { low: W::load(token, &self.low[k..]), high: W::load(token, &self.high[k..]) }
    }

    #[inline(always)]
    fn set<W: U64s>(&mut self, k: usize, planes: Planes<W>) {
        planes.low.store(&mut self.low[k..]);
        planes.high.store(&mut self.high[k..]);
    }

    #[inline(always)]
    fn reduced<E: GoldilocksEngine>(&self, engine: E, k: usize) -> GoldilocksLanes<E::U64s> {
        GoldilocksLanes::from_planes(self.get(engine, k))
    }
}

/// The number of rows that are read before their columns are copied to the program's slots.
const READ: usize = 8;

/// Copies as many adjacent columns of [`READ`] rows as vectors have lanes to the beginnings of slots.
#[inline(always)]
fn transpose<E: GoldilocksEngine>(engine: E, rows: &[u64], width: usize, slots: &mut [u64]) {
    let lanes = E::U64s::WIDTH;
    const { assert!(READ.is_multiple_of(E::U64s::WIDTH)) };
    assert!(rows.len() >= (READ - 1) * width + lanes && slots.len() >= (lanes - 1) * STRIDE + READ);
    for first in (0..READ).step_by(lanes) {
        let (from, to) = (rows[first * width..].as_ptr(), slots[first..].as_mut_ptr());
        // SAFETY: the last vector of the rows, and of the slots, ends within them, as was checked.
        unsafe { E::U64s::transpose(engine, |row| from.add(row * width), |slot| to.add(slot * STRIDE)) };
    }
}

impl<'a, const N: usize> Evaluation<'a, N> {
    /// The sum of `factors[i] * constraint_i`, to be evaluated on rows of matrices with these numbers of columns.
    ///
    /// # Panics
    /// If the program reads a column or a scalar that does not exist, or if there is not one factor for each constraint.
    pub fn new(
        program: &'a Program,
        widths: &[usize],
        scalars: &[Goldilocks],
        factors: &[Extension<Goldilocks, N>],
    ) -> Self {
        let offset = |matrix: usize| widths[..matrix].iter().sum::<usize>();
        let column = |(matrix, column): &(u32, u32)| {
            let (matrix, column) = (*matrix as usize, *column as usize);
            assert!(
                widths.get(matrix).is_some_and(|width| column < *width),
                "column {column} of matrix {matrix}"
            );
            offset(matrix) + column
        };
        assert_eq!(factors.len(), program.constraints, "a factor for each constraint");
        let scalars = program.scalars.iter().map(|scalar| match scalar {
            Scalar::Constant(value) => value.to_canonical(),
            Scalar::Given(index) => scalars[*index as usize].to_canonical(),
        });
        Self {
            program,
            columns: program.columns.iter().map(column).collect(),
            width: offset(widths.len()),
            scalars: scalars.collect(),
            factors: factors.iter().map(|factor| factor.0.map(|each| each.to_canonical())).collect(),
            sums: 1,
            sum_of: vec![0; program.constraints],
        }
    }

    /// Makes several sums in place of one. Sum i is over the next `lengths[i]` constraints.
    ///
    /// # Panics
    /// If the lengths do not add up to the number of constraints.
    #[must_use]
    pub fn with_sums(self, lengths: &[usize]) -> Self {
        let of_each = |(sum, length): (usize, &usize)| std::iter::repeat_n(sum, *length);
        let sum_of: Vec<_> = lengths.iter().enumerate().flat_map(of_each).collect();
        assert_eq!(sum_of.len(), self.program.constraints, "as many constraints as in all sums");
        Self { sums: lengths.len(), sum_of, ..self }
    }

    /// Writes the sums on the rows from `first` on, on the calling thread: all sums of a row, then the sums of the next row.
    ///
    /// `read(row, words)` writes the values of a row, matrix by matrix, as any words. It is also called for the row after the last one.
    pub fn run(
        &self,
        level: Level,
        first: usize,
        sums: &mut [Extension<Goldilocks, N>],
        read: impl Fn(usize, &mut [u64]),
    ) {
        dispatch_goldilocks!(level, engine => self.run_at(engine, first, sums, &read));
    }

    fn run_at<E: GoldilocksEngine>(
        &self,
        engine: E,
        first: usize,
        sums: &mut [Extension<Goldilocks, N>],
        read: &impl Fn(usize, &mut [u64]),
    ) {
        let mut scratch = Lines::zeroed(self.program.slots * STRIDE);
        let mut rows = vec![0; READ * self.width];
        let mut totals = vec![[Total::EMPTY; N]; self.sums];
        for (block, sums) in sums.chunks_mut(BLOCK * self.sums).enumerate() {
            self.gather(engine, first + block * BLOCK, sums.len() / self.sums, &mut rows, &mut scratch, read);
            totals.fill([Total::EMPTY; N]);
            engine.run(
                #[inline(always)]
                || {
                    for instruction in &self.program.instructions {
                        self.step(engine, *instruction, &mut scratch, &mut totals);
                    }
                    for k in (0..BLOCK).step_by(E::U64s::WIDTH) {
                        for total in totals.as_flattened_mut() {
                            total.reduced(engine, k).words().store(&mut total.low[k..]);
                        }
                    }
                },
            );
            for (row, sums) in sums.chunks_mut(self.sums).enumerate() {
                for (sum, total) in sums.iter_mut().zip(&totals) {
                    *sum = Extension(std::array::from_fn(|i| Goldilocks::new(total[i].low[row])));
                }
            }
        }
    }

    /// Writes the columns of `count` rows and of the row after them.
    fn gather<E: GoldilocksEngine>(
        &self,
        engine: E,
        first: usize,
        count: usize,
        rows: &mut [u64],
        scratch: &mut [u64],
        read: &impl Fn(usize, &mut [u64]),
    ) {
        for start in (0..=count).step_by(READ) {
            let len = READ.min(count + 1 - start);
            for k in 0..len {
                read(first + start + k, &mut rows[k * self.width..][..self.width]);
            }
            engine.run(
                #[inline(always)]
                || {
                    let lanes = E::U64s::WIDTH;
                    let slots = scratch.chunks_mut(lanes * STRIDE).zip(self.columns.chunks(lanes));
                    for (slots, columns) in slots {
                        // Columns are in ascending order.
                        let (column, adjacent) = (columns[0], columns[columns.len() - 1] + 1 - columns[0]);
                        if len == READ && columns.len() == lanes && adjacent == lanes {
                            transpose::<E>(engine, &rows[column..], self.width, &mut slots[start..]);
                        } else {
                            for (slot, column) in slots.chunks_mut(STRIDE).zip(columns) {
                                for k in 0..len {
                                    slot[start + k] = rows[k * self.width + column];
                                }
                            }
                        }
                    }
                },
            );
        }
    }

    #[inline(always)]
    fn step<E: GoldilocksEngine>(
        &self,
        engine: E,
        instruction: Instruction,
        scratch: &mut [u64],
        totals: &mut [[Total; N]],
    ) {
        let Instruction { operation, to, left, right } = instruction;
        let (to, left, index) = (to as usize, left as usize, right as usize);
        let lanes = E::U64s::WIDTH;
        let two_words = matches!(operation, Operation::Add | Operation::Sub | Operation::Mul);
        let furthest = to.max(left).max(if two_words { index } else { 0 });
        // Once per instruction: checks of every load and store take longer than the arithmetic.
        assert!(furthest + BLOCK <= scratch.len(), "blocks of the scratch memory");
        let words = scratch.as_mut_ptr();
        /// A vector of the scratch memory.
        macro_rules! load {
            ($at:expr) => {
                // SAFETY: a part of a block, which is in the memory; nothing else is borrowed from it.
                GoldilocksLanes::new(E::U64s::load(engine, unsafe {
                    std::slice::from_raw_parts(words.add($at), E::U64s::WIDTH)
                }))
            };
        }
        macro_rules! each {
            (|$k:ident| $value:expr) => {
                for $k in (0..BLOCK).step_by(lanes) {
                    let value = $value;
                    // SAFETY: as for loads.
                    let place = unsafe { std::slice::from_raw_parts_mut(words.add(to + $k), E::U64s::WIDTH) };
                    value.words().store(place);
                }
            };
        }
        macro_rules! with_scalar {
            (|$value:ident, $scalar:ident| $result:expr) => {{
                let $scalar = GoldilocksLanes::new(E::U64s::splat(engine, self.scalars[index]));
                each!(|k| {
                    let $value = load!(left + k);
                    $result
                });
            }};
        }
        match operation {
            Operation::Add => each!(|k| load!(left + k) + load!(index + k)),
            Operation::Sub => each!(|k| load!(left + k) - load!(index + k)),
            Operation::Mul => each!(|k| load!(left + k) * load!(index + k)),
            Operation::AddScalar => with_scalar!(|value, scalar| value + scalar),
            Operation::SubScalar => with_scalar!(|value, scalar| value - scalar),
            Operation::ScalarSub => with_scalar!(|value, scalar| scalar - value),
            Operation::MulScalar => with_scalar!(|value, scalar| value * scalar),
            Operation::Broadcast => {
                let scalar = GoldilocksLanes::new(E::U64s::splat(engine, self.scalars[index]));
                each!(|_k| scalar);
            }
            Operation::Constrain => {
                for (total, factor) in totals[self.sum_of[index]].iter_mut().zip(self.factors[index]) {
                    let factor = GoldilocksLanes::new(E::U64s::splat(engine, factor));
                    for k in (0..BLOCK).step_by(lanes) {
                        let product = load!(left + k).product_planes(factor);
                        total.set(k, total.get(engine, k) + product);
                    }
                    if (index + 1).is_multiple_of(MOST_PRODUCTS) {
                        for k in (0..BLOCK).step_by(lanes) {
                            total.set(k, total.reduced(engine, k).planes() + Planes::splat(engine, OFFSET));
                        }
                    }
                }
            }
        }
    }
}
