//! Programs on blocks of rows.

use super::program::{BLOCK, Instruction, Operation, Program, STRIDE, Scalar};
use proofmill_cpu::Level;
use proofmill_field::{
    dispatch_goldilocks,
    goldilocks::{Extension, Goldilocks, GoldilocksEngine, GoldilocksLanes, U64s},
};

/// A program with its inputs, but for the rows.
#[derive(Clone, Debug)]
pub struct Evaluation<'a, const N: usize> {
    program: &'a Program,
    /// Where the program's columns are in the rows that it reads, whose length is `width`.
    columns: Vec<usize>,
    width: usize,
    scalars: Vec<u64>,
    /// The coefficients of the factor of each constraint.
    factors: Vec<[u64; N]>,
}

/// The rows that are read before their columns are copied to the program's slots.
const READ: usize = 8;

impl<'a, const N: usize> Evaluation<'a, N> {
    /// The sum of `factors[i] * constraint_i`, to be evaluated on rows of matrices with these numbers of columns.
    ///
    /// # Panics
    /// If the program reads a column or a scalar that there is not, or if there are not as many factors as constraints.
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
        }
    }

    /// Writes the sums on the rows from `first` on, on the calling thread.
    ///
    /// `read(row, words)` writes the values of a row, those of the first matrix first, as any words; it is also called for the
    /// row after the last one.
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
        let mut scratch = vec![0; self.program.slots * STRIDE];
        let mut rows = vec![0; READ * self.width];
        for (block, sums) in sums.chunks_mut(BLOCK).enumerate() {
            self.gather(first + block * BLOCK, sums.len(), &mut rows, &mut scratch, read);
            let mut totals = [[0; BLOCK]; N];
            engine.run(
                #[inline(always)]
                || {
                    for instruction in &self.program.instructions {
                        self.step(engine, *instruction, &mut scratch, &mut totals);
                    }
                },
            );
            for (row, sum) in sums.iter_mut().enumerate() {
                *sum = Extension(std::array::from_fn(|i| Goldilocks::new(totals[i][row])));
            }
        }
    }

    /// Writes the columns of `count` rows and of the row after them.
    fn gather(
        &self,
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
            for (slot, column) in scratch.chunks_exact_mut(STRIDE).zip(&self.columns) {
                for k in 0..len {
                    slot[start + k] = rows[k * self.width + column];
                }
            }
        }
    }

    #[inline(always)]
    fn step<E: GoldilocksEngine>(
        &self,
        engine: E,
        instruction: Instruction,
        scratch: &mut [u64],
        totals: &mut [[u64; BLOCK]; N],
    ) {
        let Instruction { operation, to, left, right } = instruction;
        let (to, left, index) = (to as usize, left as usize, right as usize);
        let lanes = E::U64s::WIDTH;
        /// A vector of the scratch memory.
        macro_rules! load {
            ($at:expr) => {
                GoldilocksLanes::new(E::U64s::load(engine, &scratch[$at..]))
            };
        }
        macro_rules! each {
            (|$k:ident| $value:expr) => {
                for $k in (0..BLOCK).step_by(lanes) {
                    let value = $value;
                    value.words().store(&mut scratch[to + $k..]);
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
                for (total, factor) in totals.iter_mut().zip(self.factors[index]) {
                    let factor = GoldilocksLanes::new(E::U64s::splat(engine, factor));
                    for k in (0..BLOCK).step_by(lanes) {
                        let total = &mut total[k..];
                        let sum =
                            load!(left + k) * factor + GoldilocksLanes::new(E::U64s::load(engine, total));
                        sum.words().store(total);
                    }
                }
            }
        }
    }
}
