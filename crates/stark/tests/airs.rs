//! The AIRs that are ready for use: their traces against other implementations, and what constraints refuse.

use proofmill_cpu::Level;
use proofmill_field::{Field, goldilocks::Goldilocks};
use proofmill_hash::{Keccak, Poseidon2 as Hash, Sponge, permute, poseidon2::Parameters as HashParameters};
use proofmill_merkle::{RowMajor, Tree};
use proofmill_progress::Progress;
use proofmill_stark::{
    Constraints, Grinding, Parameters, Proof, StarkError,
    air::{Air, Graph, Input, Row, SELECTORS, capture},
    airs::{Execution, Fibonacci, MerklePath, MerkleTree, Poseidon2, Workload},
    prove, verify,
};
use proofmill_testing::rng;
use rand::{Rng, RngCore};
use std::{cell::Cell, collections::BTreeSet};

/// An AIR with an execution, and its constraints as a graph.
struct Case {
    air: Box<dyn Air>,
    graph: Graph,
    periodic: Vec<Vec<Goldilocks>>,
    execution: Execution,
}

impl Case {
    fn new(air: impl Air + 'static, execution: Execution) -> Self {
        let graph = graph(&air);
        Self { graph, periodic: air.periodic_columns(), air: Box::new(air), execution }
    }

    fn columns(&self) -> usize {
        self.air.columns()
    }

    fn rows(&self) -> usize {
        self.execution.trace.len() / self.columns()
    }

    /// The constraints that a row does not satisfy.
    fn violated(&self, row: usize) -> Vec<usize> {
        let rows = self.rows();
        let value = |input: Input| match input {
            Input::Scalar(index) => self.execution.public_values[index as usize],
            Input::Cell(cell) => {
                let (at, column) = ((row + usize::from(cell.next)) % rows, cell.column as usize);
                match (cell.matrix, column) {
                    (0, _) => self.execution.trace[at * self.columns() + column],
                    (_, 0) => Goldilocks::new((at == 0).into()),
                    (_, 1) => Goldilocks::new((at == rows - 1).into()),
                    (_, 2) => Goldilocks::new((at != rows - 1).into()),
                    _ => {
                        let values = &self.periodic[column - SELECTORS];
                        values[at % values.len()]
                    }
                }
            }
        };
        let values = self.graph.evaluate(|constant| constant, value);
        (0..values.len()).filter(|constraint| !values[*constraint].is_zero()).collect()
    }

    /// The first row and constraint that does not hold.
    fn unsatisfied(&self) -> Option<(usize, usize)> {
        (0..self.rows()).find_map(|row| Some((row, *self.violated(row).first()?)))
    }

    /// Changes every column in `samples` rows and every public value, one cell at a time, and expects that each change violates a
    /// constraint and each constraint is violated by a change.
    fn every_cell_and_every_constraint_counts(&mut self, samples: usize) {
        assert_eq!(self.unsatisfied(), None);
        let (rows, columns, mut rng) = (self.rows(), self.columns(), rng(1));
        let mut seen = BTreeSet::new();
        for column in 0..columns {
            // The first rows and the last ones for some columns, and others.
            let any = rng.random_range(0..rows);
            let chosen = [any, column % rows, rows - 1 - column % 3 % rows, 0];
            for row in chosen.into_iter().take(samples) {
                let cell = self.execution.trace[row * columns + column];
                let is_bit = cell.is_zero() || cell == Goldilocks::ONE;
                let flipped = if is_bit { Goldilocks::ONE - cell } else { -cell };
                for value in [flipped, cell + Goldilocks::new(1 << 32), Goldilocks::new(rng.next_u64())] {
                    self.execution.trace[row * columns + column] = value;
                    let violated = [self.violated(row), self.violated((row + rows - 1) % rows)].concat();
                    assert!(
                        !violated.is_empty() || value == cell,
                        "column {column} of row {row}: {cell} to {value}"
                    );
                    seen.extend(violated);
                }
                self.execution.trace[row * columns + column] = cell;
            }
        }
        for index in 0..self.execution.public_values.len() {
            let value = self.execution.public_values[index];
            for other in [value + Goldilocks::ONE, value + Goldilocks::new(1 << 32), -value] {
                self.execution.public_values[index] = other;
                let violated: Vec<_> = (0..rows).flat_map(|row| self.violated(row)).collect();
                assert!(!violated.is_empty() || value == other, "public value {index}: {value} to {other}");
                seen.extend(violated);
            }
            self.execution.public_values[index] = value;
        }
        assert_eq!(self.unsatisfied(), None);
        let unseen: Vec<_> = (0..self.graph.constraints()).filter(|index| !seen.contains(index)).collect();
        assert_eq!(unseen, [0; 0], "constraints that no change violates");
    }

    fn has(&self, columns: usize, constraints: usize) {
        assert_eq!((self.columns(), self.graph.constraints()), (columns, constraints));
        assert_eq!(self.air.public_values(), self.execution.public_values.len());
        assert!(self.graph.degrees().all(|degree| degree <= 3));
    }
}

/// The constraints of an AIR; a row is what the engine passes to it.
fn graph(air: &dyn Air) -> Graph {
    struct Probe(Cell<Option<Row>>);
    impl Air for Probe {
        fn columns(&self) -> usize {
            1
        }
        fn constrain(&self, row: Row) {
            self.0.set(Some(row));
        }
    }
    let probe = Probe(Cell::new(None));
    Constraints::new(&probe).expect("no constraints");
    let row = probe.0.get().expect("a row");
    capture(|| air.constrain(row))
}

fn elements<const N: usize>(seed: u64) -> [Goldilocks; N] {
    let mut rng = rng(seed);
    std::array::from_fn(|_| Goldilocks::random(&mut rng))
}

const PARAMETERS: Parameters = Parameters {
    extension: 2,
    log_blowup: 1,
    log_arity: 2,
    log_final_length: 1,
    queries: 3,
    cap_height: 1,
    grinding: Grinding { out_of_domain: 0, batching: 0, commit: 0, query: 1 },
    ..Parameters::PROVEN_100
};

/// Every workload is proved; the proof is of its public values and of no others.
#[test]
fn workloads_are_proved() {
    let level = Level::best();
    for workload in Workload::ALL {
        let log_rows = workload.least_log_rows().max(2) + 1;
        let example = workload.example(level, log_rows).expect("an example");
        let constraints = Constraints::new(&example.air).expect("constraints");
        assert!(constraints.chunks() <= 2, "{workload}");
        let Execution { trace, mut public_values } = example.execution;
        let proof: Proof<Keccak, 2> =
            prove(level, &PARAMETERS, &constraints, None, &trace, &public_values, Progress::NONE)
                .unwrap_or_else(|error| panic!("{workload}: {error}"));
        for index in 0..public_values.len() {
            let value = public_values[index];
            public_values[index] += Goldilocks::ONE;
            let forged = verify(level, &PARAMETERS, &constraints, None, &public_values, &proof);
            assert!(forged.is_err(), "{workload}, public value {index}");
            public_values[index] = value;
        }
        verify(level, &PARAMETERS, &constraints, None, &public_values, &proof).expect("a proof");
    }
}

#[test]
fn workloads_have_names_and_least_rows() {
    for workload in Workload::ALL {
        assert_eq!(workload.to_string().parse(), Ok(workload));
        let least = workload.least_log_rows();
        assert!(workload.example(Level::best(), least).is_ok(), "{workload}");
        if let Some(found) = least.checked_sub(1) {
            let error = workload.example(Level::best(), found).err().expect("a refusal");
            assert!(matches!(error, StarkError::TooFewRows { found: f, .. } if f == found), "{workload}");
        }
    }
    let error = "keccak".parse::<Workload>().expect_err("no such workload").to_string();
    assert!(error.starts_with("no workload \"keccak\": expected fibonacci, "), "{error}");
}

mod fibonacci {
    use super::*;

    #[test]
    fn the_last_value_is_public() {
        let execution = Fibonacci.trace(4, [0, 1].map(Goldilocks::new));
        assert_eq!(execution.public_values, [0, 1, 987].map(Goldilocks::new));
        let mut case = Case::new(Fibonacci, execution);
        case.has(2, 5);
        case.every_cell_and_every_constraint_counts(4);
    }
}

mod poseidon2 {
    use super::*;

    fn is_the_permutation<const WIDTH: usize>(columns: usize, constraints: usize)
    where
        Hash<WIDTH>: HashParameters,
    {
        let (air, input) = (Poseidon2::<WIDTH>::new(), elements::<WIDTH>(2));
        let mut case = Case::new(air.clone(), air.trace(3, input));
        case.has(columns, constraints);
        let mut state = input;
        for (row, values) in case.execution.trace.chunks_exact(columns).enumerate() {
            assert_eq!(values[..WIDTH], state, "row {row}");
            permute::<Hash<WIDTH>>(&mut state);
        }
        let last = &case.execution.trace[7 * columns..][..WIDTH];
        assert_eq!(case.execution.public_values, [&input[..], last].concat());
        case.every_cell_and_every_constraint_counts(3);
    }

    #[test]
    fn rows_are_permutations() {
        is_the_permutation::<8>(172, 188);
        is_the_permutation::<12>(236, 260);
    }

    #[test]
    fn one_row_is_no_permutation() {
        let execution = Poseidon2::<8>::new().trace(0, elements(3));
        assert_eq!(execution.public_values[..8], execution.public_values[8..]);
        assert_eq!(Case::new(Poseidon2::<8>::new(), execution).unsatisfied(), None);
    }
}

mod merkle_tree {
    use super::*;

    fn paths(depth: usize, count: usize) -> (Tree<Sponge<Hash<8>>>, Vec<MerklePath>) {
        let mut rng = rng(4);
        let leaves: Vec<_> = (0..4 << depth).map(|_| Goldilocks::random(&mut rng)).collect();
        let rows = RowMajor::new(Goldilocks::as_words(&leaves), 4).expect("rows");
        let tree = Tree::build(Level::best(), &rows).expect("a tree");
        let paths = (0..count).map(|_| MerklePath::new(&tree, &leaves, rng.random_range(0..1 << depth)));
        let paths = paths.collect();
        (tree, paths)
    }

    fn case(depth: usize, paths: &[MerklePath]) -> Case {
        Case::new(MerkleTree::new(depth), MerkleTree::new(depth).trace(paths))
    }

    /// Depths with and without idle rows; the root is that of a tree of this workspace.
    #[test]
    fn the_root_is_the_trees() {
        for depth in 1..=8 {
            let (tree, paths) = paths(depth, 4);
            let case = case(depth, &paths);
            assert_eq!(case.rows(), 4 * (depth + 1).next_power_of_two());
            assert_eq!(case.execution.public_values, tree.root().0);
            assert_eq!(case.unsatisfied(), None, "depth {depth}");
            for (path, rows) in paths.iter().zip(case.execution.trace.chunks_exact(case.rows() / 4 * 178)) {
                assert_eq!(rows[177], Goldilocks::new(path.index));
            }
        }
    }

    #[test]
    fn every_cell_counts() {
        let (_, paths) = paths(5, 4);
        let mut case = case(5, &paths);
        case.has(178, 184);
        case.every_cell_and_every_constraint_counts(4);
    }

    /// Sound rows of another path, leaf or index: each differs from a valid execution in one thing.
    #[test]
    fn other_paths_are_refused() {
        let (_, paths) = paths(3, 2);
        let root = case(3, &paths).execution.public_values;
        let changes: [fn(&mut MerklePath); 4] = [
            |path| path.leaf[2] += Goldilocks::ONE,
            |path| path.index ^= 1,
            |path| path.index ^= 4,
            |path| path.siblings[1].0[3] += Goldilocks::ONE,
        ];
        for (index, change) in changes.into_iter().enumerate() {
            for which in 0..2 {
                let mut changed = paths.clone();
                change(&mut changed[which]);
                let mut case = case(3, &changed);
                case.execution.public_values.clone_from(&root);
                let (row, _) = case.unsatisfied().expect("a refusal");
                assert_eq!(row, 4 * which + 3, "change {index}");
            }
        }
    }
}
