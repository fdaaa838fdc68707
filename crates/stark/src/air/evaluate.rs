//! Programs on blocks of rows.

use super::program::{BLOCK, Instruction, Operation, Program, STRIDE, Scalar};
use proofmill_cpu::Level;
use proofmill_field::{
    dispatch_goldilocks,
    goldilocks::{Extension, Goldilocks, GoldilocksEngine, GoldilocksLanes, U64s},
};

/// The values of a matrix on a coset, row-major, in natural order: the row after the last is the first.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    values: &'a [Goldilocks],
    columns: usize,
}

impl<'a> Rows<'a> {
    /// # Panics
    /// If the number of values is not a multiple of that of columns.
    pub fn new(values: &'a [Goldilocks], columns: usize) -> Self {
        let whole = if columns == 0 { values.is_empty() } else { values.len().is_multiple_of(columns) };
        assert!(whole, "whole rows");
        Self { values, columns }
    }

    fn rows(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }
}

/// A program with its inputs.
#[derive(Clone, Debug)]
pub struct Evaluation<'a, const N: usize> {
    program: &'a Program,
    matrices: Vec<Rows<'a>>,
    scalars: Vec<u64>,
    /// The coefficients of the factor of each constraint.
    factors: Vec<[u64; N]>,
    rows: usize,
}

impl<'a, const N: usize> Evaluation<'a, N> {
    /// The sum of `factors[i] * constraint_i`, to be evaluated on the rows of the matrices.
    ///
    /// # Panics
    /// If the matrices have not equally many rows, if the program reads a column or a scalar that there is not, or if there are
    /// not as many factors as constraints.
    pub fn new(
        program: &'a Program,
        matrices: &[Rows<'a>],
        scalars: &[Goldilocks],
        factors: &[Extension<Goldilocks, N>],
    ) -> Self {
        let rows = matrices.iter().map(Rows::rows).max().unwrap_or(0);
        assert!(matrices.iter().all(|matrix| matrix.rows() == rows), "equally many rows");
        for (matrix, column) in &program.columns {
            let columns = matrices.get(*matrix as usize).map_or(0, |matrix| matrix.columns);
            assert!((*column as usize) < columns, "column {column} of matrix {matrix}");
        }
        assert_eq!(factors.len(), program.constraints, "a factor for each constraint");
        let scalars = program.scalars.iter().map(|scalar| match scalar {
            Scalar::Constant(value) => value.to_canonical(),
            Scalar::Given(index) => scalars[*index as usize].to_canonical(),
        });
        Self {
            program,
            matrices: matrices.to_vec(),
            scalars: scalars.collect(),
            factors: factors.iter().map(|factor| factor.0.map(|each| each.to_canonical())).collect(),
            rows,
        }
    }

    /// Writes the sums on the rows from `first` on, on the calling thread.
    ///
    /// # Panics
    /// If there are not that many rows.
    pub fn run(&self, level: Level, first: usize, sums: &mut [Extension<Goldilocks, N>]) {
        assert!(first + sums.len() <= self.rows, "rows of the matrices");
        dispatch_goldilocks!(level, engine => self.run_at(engine, first, sums));
    }

    fn run_at<E: GoldilocksEngine>(&self, engine: E, first: usize, sums: &mut [Extension<Goldilocks, N>]) {
        let mut scratch = vec![0; self.program.slots * STRIDE];
        for (block, sums) in sums.chunks_mut(BLOCK).enumerate() {
            self.gather(first + block * BLOCK, sums.len(), &mut scratch);
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
    fn gather(&self, first: usize, count: usize, scratch: &mut [u64]) {
        for row in 0..=count {
            let at = (first + row) % self.rows;
            for (slot, (matrix, column)) in self.program.columns.iter().enumerate() {
                let Rows { values, columns } = self.matrices[*matrix as usize];
                scratch[slot * STRIDE + row] = values[at * columns + *column as usize].to_canonical();
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
