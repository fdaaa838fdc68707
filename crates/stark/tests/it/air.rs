//! Programs against the same operations on single elements.

use proofmill_field::{
    Field,
    goldilocks::{Extension, Goldilocks, MODULUS},
};
use proofmill_stark::air::{BLOCK, Cell, Evaluation, Expression, Graph, Input, Program, capture};
use proofmill_testing::{for_each_goldilocks_level, rng};
use rand::{Rng, RngCore};

fn element(rng: &mut impl RngCore) -> Goldilocks {
    const EDGES: [u64; 6] = [0, 1, MODULUS - 1, 0xffff_ffff, 1 << 32, MODULUS - (1 << 32)];
    Goldilocks::new(if rng.random_bool(0.3) { EDGES[rng.random_range(0..6)] } else { rng.next_u64() })
}

fn cell(matrix: u32, column: u32, next: bool) -> Expression {
    Expression::input(Input::Cell(Cell { matrix, column, next }), 1)
}

fn scalar(index: u32) -> Expression {
    Expression::input(Input::Scalar(index), 0)
}

const COLUMNS: [usize; 2] = [5, 3];
const SCALARS: usize = 3;

/// A graph of random operations, and for each constraint its values on all rows.
struct Random {
    graph: Graph,
    rows: usize,
    matrices: [Vec<Goldilocks>; 2],
    scalars: Vec<Goldilocks>,
    constraints: Vec<Vec<Goldilocks>>,
}

fn random(seed: u64, rows: usize, operations: usize) -> Random {
    let mut rng = rng(seed);
    let matrices = COLUMNS.map(|columns| (0..rows * columns).map(|_| element(&mut rng)).collect::<Vec<_>>());
    let scalars: Vec<Goldilocks> = (0..SCALARS).map(|_| element(&mut rng)).collect();
    let mut constraints = Vec::new();
    let graph = capture(|| {
        let mut pool: Vec<(Expression, Vec<Goldilocks>)> = Vec::new();
        for (matrix, values) in matrices.iter().enumerate() {
            let columns = COLUMNS[matrix];
            for (column, next) in (0..columns).flat_map(|column| [(column, false), (column, true)]) {
                let value = |row: usize| values[(row + usize::from(next)) % rows * columns + column];
                pool.push((cell(matrix as u32, column as u32, next), (0..rows).map(value).collect()));
            }
        }
        for (index, value) in scalars.iter().enumerate() {
            pool.push((scalar(index as u32), vec![*value; rows]));
        }
        for value in [0, 1, 7, MODULUS - 1].map(Goldilocks::new) {
            pool.push((Expression::from(value), vec![value; rows]));
        }
        for _ in 0..operations {
            let [(a, left), (b, right)] = [(); 2].map(|()| pool[rng.random_range(0..pool.len())].clone());
            let of_rows = |f: fn(Goldilocks, Goldilocks) -> Goldilocks| {
                left.iter().zip(&right).map(|(a, b)| f(*a, *b)).collect::<Vec<_>>()
            };
            let result = match rng.random_range(0..7) {
                0 | 1 => (a + b, of_rows(|a, b| a + b)),
                2 | 3 => (a - b, of_rows(|a, b| a - b)),
                4 | 5 => (a * b, of_rows(|a, b| a * b)),
                _ => (-a, of_rows(|a, _| -a)),
            };
            if rng.random_bool(0.2) {
                result.0.must_vanish();
                constraints.push(result.1.clone());
            }
            pool.push(result);
        }
        // Inputs, constants and a repetition may be constraints, too.
        for index in [0, 1, 2 * (COLUMNS[0] + COLUMNS[1]), pool.len() - operations - 1, pool.len() - 1] {
            pool[index].0.must_vanish();
            constraints.push(pool[index].1.clone());
        }
    });
    Random { graph, rows, matrices, scalars, constraints }
}

/// Reads a row of row-major matrices; the row after the last is the first.
fn read(matrices: &[(&[Goldilocks], usize)], row: usize, mut words: &mut [u64]) {
    for (values, columns) in matrices {
        let (to, rest) = words.split_at_mut(*columns);
        let row = &values[row % (values.len() / columns) * columns..][..*columns];
        to.iter_mut().zip(row).for_each(|(word, value)| *word = value.to_canonical());
        words = rest;
    }
}

fn check<const N: usize>(case: &Random, factors: &[Extension<Goldilocks, N>]) {
    let program = Program::new(&case.graph);
    assert_eq!(program.constraints(), case.constraints.len());
    let expected: Vec<[Goldilocks; N]> = (0..case.rows)
        .map(|row| {
            std::array::from_fn(|i| {
                let terms = case.constraints.iter().zip(factors);
                terms.fold(Goldilocks::ZERO, |sum, (values, factor)| sum + values[row] * factor.0[i])
            })
        })
        .collect();
    let matrices: Vec<_> = case.matrices.iter().map(Vec::as_slice).zip(COLUMNS).collect();
    let evaluation = Evaluation::new(&program, &COLUMNS, &case.scalars, factors);
    for_each_goldilocks_level(|level| {
        for first in [0, case.rows / 3] {
            let mut sums = vec![Extension([Goldilocks::ONE; N]); case.rows - first];
            evaluation.run(level, first, &mut sums, |row, words| read(&matrices, row, words));
            let found: Vec<[Goldilocks; N]> = sums.iter().map(|sum| sum.0).collect();
            assert_eq!(found, expected[first..], "{} rows from {first}, {level}", case.rows);
        }
    });
}

#[test]
fn random_programs_at_every_level() {
    for (seed, rows) in (0..).zip([1, 2, 7, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5]) {
        for operations in [0, 10, 500] {
            let case = random(seed, rows, operations);
            let mut rng = rng(seed + 100);
            let mut factor = || element(&mut rng);
            let count = case.constraints.len();
            check(&case, &(0..count).map(|_| Extension([(); 2].map(|()| factor()))).collect::<Vec<_>>());
            check(&case, &(0..count).map(|_| Extension([(); 3].map(|()| factor()))).collect::<Vec<_>>());
        }
    }
}

/// Fibonacci: both transitions vanish in every row but the last, which is followed by the first.
#[test]
fn a_trace_satisfies_its_constraints() {
    let rows = 100;
    let mut trace = vec![Goldilocks::ONE; 2];
    for row in 1..rows {
        let (a, b) = (trace[2 * row - 2], trace[2 * row - 1]);
        trace.extend([b, a + b]);
    }
    let graph = capture(|| {
        let [a, b, next_a, next_b] =
            [(0, false), (1, false), (0, true), (1, true)].map(|(column, next)| cell(0, column, next));
        (next_a - b).must_vanish();
        (next_b - (a + b)).must_vanish();
    });
    assert_eq!(graph.degrees().collect::<Vec<_>>(), [1, 1]);
    let program = Program::new(&graph);
    let one = Extension([Goldilocks::ONE]);
    let evaluation = Evaluation::new(&program, &[2], &[], &[one, one]);
    for_each_goldilocks_level(|level| {
        let mut sums = vec![one; rows];
        evaluation.run(level, 0, &mut sums, |row, words| read(&[(&trace, 2)], row, words));
        assert!(sums[..rows - 1].iter().all(|sum| sum.0[0] == Goldilocks::ZERO), "{level}");
        assert_ne!(sums[rows - 1].0[0], Goldilocks::ZERO, "{level}");
    });
}

#[test]
fn equal_operations_are_one_node() {
    let graph = capture(|| {
        let [a, b] = [cell(0, 0, false), cell(0, 1, false)];
        (a * b + b * a).must_vanish();
        (b * a * Expression::from(Goldilocks::ONE) + Expression::from(Goldilocks::ZERO)).must_vanish();
        ((a - a) * b).must_vanish();
    });
    // Two cells, their product, its double, one and zero.
    assert_eq!(graph.nodes(), 6);
    assert_eq!(graph.degrees().collect::<Vec<_>>(), [2, 2, 0]);
    let program = Program::new(&graph);
    assert!(program.temporaries() <= 2, "{program:?}");
}

/// A chain of sums needs one temporary, however long it is.
#[test]
fn temporaries_are_reused() {
    let graph = capture(|| {
        let terms = (0..10_000).map(|column| {
            let value = cell(0, column, false);
            value * value + Expression::from(Goldilocks::new(column.into()))
        });
        terms.sum::<Expression>().must_vanish();
    });
    let program = Program::new(&graph);
    assert!(program.temporaries() <= 3, "{} temporaries", program.temporaries());
}

#[test]
#[should_panic(expected = "only by the code that `capture` runs")]
fn expressions_outside_of_a_capture_are_refused() {
    let _ = Expression::from(Goldilocks::ONE) + Expression::from(Goldilocks::ONE);
}

#[test]
fn a_capture_that_panics_is_over() {
    let caught = std::panic::catch_unwind(|| capture(|| panic!("in a capture")));
    assert!(caught.is_err());
    assert_eq!(capture(|| cell(0, 0, false).must_vanish()).constraints(), 1);
}

#[test]
fn a_capture_within_a_capture_is_refused_and_disturbs_nothing() {
    let graph = capture(|| {
        cell(0, 0, false).must_vanish();
        assert!(std::panic::catch_unwind(|| capture(|| ())).is_err());
        cell(0, 1, false).must_vanish();
    });
    assert_eq!((graph.nodes(), graph.constraints()), (2, 2));
}
