//! The AIRs that are ready for use: their traces against other implementations, and what constraints refuse.

use proofmill_cpu::Level;
use proofmill_field::{Field, goldilocks::Goldilocks};
use proofmill_hash::{Keccak, Poseidon2 as Hash, Sponge, permute, poseidon2::Parameters as HashParameters};
use proofmill_merkle::{RowMajor, Tree};
use proofmill_stark::{
    Constraints, Grinding, Parameters, Proof, StarkError,
    air::{Air, Graph, Input, SELECTORS},
    airs::{Blake3, Execution, Fibonacci, KeccakF, MerklePath, MerkleTree, Poseidon2, Workload},
    prove, verify,
};
use proofmill_testing::rng;
use rand::{Rng, RngCore};
use std::collections::BTreeSet;

/// An AIR with an execution, and its constraints as a graph.
struct Case {
    air: Box<dyn Air>,
    graph: Graph,
    periodic: Vec<Vec<Goldilocks>>,
    execution: Execution,
}

impl Case {
    fn new(air: impl Air + 'static, execution: Execution) -> Self {
        let constraints = Constraints::new(&air).expect("constraints");
        Self {
            graph: constraints.graph().clone(),
            periodic: air.periodic_columns(),
            air: Box::new(air),
            execution,
        }
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

    /// Changes every column in `samples` rows (the last three, which count rows in some AIRs, in all) and every public value, one cell
    /// at a time, and expects that each change violates a constraint and each constraint is violated by a change.
    fn every_cell_and_every_constraint_counts(&mut self, samples: usize) {
        assert_eq!(self.unsatisfied(), None);
        let (rows, columns, mut rng) = (self.rows(), self.columns(), rng(1));
        let next = self.graph.inputs().filter_map(|input| match input {
            Input::Cell(cell) if cell.matrix == 0 && cell.next => Some(cell.column as usize),
            _ => None,
        });
        let next: BTreeSet<_> = next.collect();
        let mut seen = BTreeSet::new();
        for column in 0..columns {
            let any = rng.random_range(0..rows);
            let mut chosen = vec![any, column % rows, rows - 1 - column % 3 % rows, 0];
            chosen.truncate(samples);
            if column + 3 >= columns {
                chosen.extend(0..rows);
            }
            for row in chosen {
                let cell = self.execution.trace[row * columns + column];
                let is_bit = cell.is_zero() || cell == Goldilocks::ONE;
                let flipped = if is_bit { Goldilocks::ONE - cell } else { -cell };
                let mut values =
                    vec![Goldilocks::new(rng.next_u64()), flipped, cell + Goldilocks::new(1 << 32)];
                // Wide traces take seconds: there, each column gets the first change and some the second.
                if columns > 1000 {
                    values.truncate(1 + usize::from(column % 3 == 0 || column + 3 >= columns));
                }
                for value in values.into_iter().filter(|value| *value != cell) {
                    self.execution.trace[row * columns + column] = value;
                    let mut violated = self.violated(row);
                    if next.contains(&column) {
                        violated.extend(self.violated((row + rows - 1) % rows));
                    }
                    assert!(!violated.is_empty(), "column {column} of row {row}: {cell} to {value}");
                    seen.extend(violated);
                }
                self.execution.trace[row * columns + column] = cell;
            }
        }
        for index in 0..self.execution.public_values.len() {
            let value = self.execution.public_values[index];
            for other in [value + Goldilocks::ONE, value + Goldilocks::new(1 << 32)] {
                self.execution.public_values[index] = other;
                let violated: Vec<_> = (0..rows).flat_map(|row| self.violated(row)).collect();
                assert!(!violated.is_empty(), "public value {index}: {value} to {other}");
                seen.extend(violated);
            }
            self.execution.public_values[index] = value;
        }
        assert_eq!(self.unsatisfied(), None);
        let unseen: Vec<_> = (0..self.graph.constraints()).filter(|index| !seen.contains(index)).collect();
        let some = &unseen[..unseen.len().min(9)];
        assert!(some.is_empty(), "no change violates constraints {some:?}");
    }

    fn has(&self, columns: usize, constraints: usize) {
        assert_eq!((self.columns(), self.graph.constraints()), (columns, constraints));
        assert_eq!(self.air.public_values(), self.execution.public_values.len());
        assert!(self.graph.degrees().all(|degree| degree <= 3));
    }
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
    grinding: Grinding { lookups: 0, out_of_domain: 0, batching: 0, commit: 0, query: 1 },
    ..Parameters::PROVEN_100
};

/// Every workload is proved; the proof is of its public values and of no others.
#[test]
fn workloads_are_proved() {
    let level = Level::best();
    for workload in Workload::ALL {
        let log_rows = workload.least_log_rows().max(2) + 1;
        let example = workload.example(level, log_rows).expect("an example");
        let constraints = Constraints::new(&*example.air).expect("constraints");
        assert!(constraints.chunks(&Parameters::PROVEN_100) <= 2, "{workload}");
        let Execution { trace, mut public_values } = example.execution;
        let proof: Proof<2> =
            prove(level.into(), &Keccak, &PARAMETERS, &constraints, None, &trace, &public_values)
                .unwrap_or_else(|error| panic!("{workload}: {error}"));
        for index in 0..public_values.len() {
            let value = public_values[index];
            public_values[index] += Goldilocks::ONE;
            let forged = verify(level, &Keccak, &PARAMETERS, &constraints, None, &public_values, &proof);
            assert!(forged.is_err(), "{workload}, public value {index}");
            public_values[index] = value;
        }
        verify(level, &Keccak, &PARAMETERS, &constraints, None, &public_values, &proof).expect("a proof");
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

mod keccak_f {
    use super::*;

    const ROUNDS: usize = 24;
    const COLUMNS: usize = 2300;
    /// The columns that count rounds, and the one that marks the last permutation.
    const PHASE: usize = 2297;
    const END: usize = 2299;

    fn input() -> [u64; 25] {
        let mut rng = rng(6);
        std::array::from_fn(|_| rng.next_u64())
    }

    fn case(log_rows: u32) -> Case {
        let execution = KeccakF.trace(Level::best(), log_rows, input()).expect("enough rows");
        Case::new(KeccakF, execution)
    }

    fn halves(state: [u64; 25]) -> Vec<Goldilocks> {
        state.iter().flat_map(|word| [word & 0xffff_ffff, word >> 32]).map(Goldilocks::new).collect()
    }

    /// By the crate `keccak`.
    #[test]
    fn every_24_rows_are_a_permutation() {
        for log_rows in [5, 6, 7] {
            let case = case(log_rows);
            let mut state = input();
            for rows in case.execution.trace.chunks(ROUNDS * COLUMNS) {
                assert_eq!(rows[..50], halves(state), "2^{log_rows} rows");
                if rows.len() == ROUNDS * COLUMNS {
                    keccak::f1600(&mut state);
                }
            }
            assert_eq!(case.execution.public_values, [halves(input()), halves(state)].concat());
            assert_eq!(case.unsatisfied(), None, "2^{log_rows} rows");
        }
    }

    #[test]
    fn every_cell_counts() {
        let mut case = case(5);
        case.has(COLUMNS, 2775);
        case.every_cell_and_every_constraint_counts(1);
    }

    /// The output of fewer permutations, whatever the column says that marks the last one.
    #[test]
    fn earlier_ends_are_refused() {
        let mut state = input();
        keccak::f1600(&mut state);
        let output = halves(state);
        // 64 rows are two permutations and 16 rounds.
        for marks in [24..64, 24..48, 24..25, 48..64, 0..0, 24..63] {
            let mut case = case(6);
            case.execution.public_values[50..].copy_from_slice(&output);
            for row in 0..64 {
                let mark = marks.contains(&row) || row == 63 && marks.end != 63;
                case.execution.trace[row * COLUMNS + END] = Goldilocks::new(mark.into());
            }
            assert!(case.unsatisfied().is_some(), "{marks:?}");
        }
        // A mark that is not a bit.
        let mut case = case(6);
        case.execution.public_values[50..].copy_from_slice(&output);
        for row in 24..48 {
            case.execution.trace[row * COLUMNS + END] = Goldilocks::new(2);
        }
        assert!(case.unsatisfied().is_some());
    }

    /// The rounds of another row, all of them.
    #[test]
    fn shifted_rounds_are_refused() {
        for shift in 1..3 {
            let mut case = case(5);
            for row in 0..32 {
                for column in 0..2 {
                    let is_phase = (row + shift) % 3 == column;
                    case.execution.trace[row * COLUMNS + PHASE + column] = Goldilocks::new(is_phase.into());
                }
            }
            assert!(case.violated(0).len() >= 2);
        }
    }

    /// Parities that are wrong in a consistent way: C and C' are flipped together, also where D does not change.
    #[test]
    fn wrong_parities_are_refused() {
        let mut case = case(5);
        for x in 0..5 {
            for z in [0, 31, 32, 63] {
                let bits = [50 + 64 * x + z, 370 + 64 * x + z];
                let flip = |case: &mut Case| {
                    for at in bits {
                        let bit = &mut case.execution.trace[at];
                        *bit = Goldilocks::ONE - *bit;
                    }
                };
                flip(&mut case);
                assert!(!case.violated(0).is_empty(), "column {x}, bit {z}");
                flip(&mut case);
            }
        }
        assert_eq!(case.unsatisfied(), None);
    }
}

mod blake3_chain {
    use super::*;

    const COLUMNS: usize = 8032;

    fn case(rows: usize) -> (Case, [Vec<Goldilocks>; 2]) {
        let mut rng = rng(7);
        let mut bytes = || std::array::from_fn(|_| rng.next_u32() as u8);
        let (first, entries): ([u8; 32], Vec<[u8; 32]>) = (bytes(), (1..rows).map(|_| bytes()).collect());
        let last = entries
            .iter()
            .fold(first, |digest, entry| *blake3::hash([digest, *entry].as_flattened()).as_bytes());
        let words = [first, last].map(|digest| {
            let words = digest.as_chunks().0.iter();
            words.map(|bytes| Goldilocks::from(u32::from_le_bytes(*bytes))).collect()
        });
        (Case::new(Blake3, Blake3.trace(&first, &entries)), words)
    }

    /// By the crate `blake3`.
    #[test]
    fn rows_are_digests() {
        for rows in [1, 2, 8] {
            let (case, words) = case(rows);
            assert_eq!(case.execution.public_values, words.concat(), "{rows} rows");
            assert_eq!(case.unsatisfied(), None, "{rows} rows");
        }
    }

    #[test]
    fn every_cell_counts() {
        let (mut case, _) = case(4);
        case.has(COLUMNS, 8284);
        case.every_cell_and_every_constraint_counts(1);
    }

    /// Sums that are another representative of their class modulo 2^32, which a carry would allow without the range of bits.
    #[test]
    fn sums_have_a_range() {
        let (mut case, _) = case(1);
        for step in [0, 1, 8, 111] {
            for column in 0..2 {
                let at = 640 + 66 * step + column;
                let sum = case.execution.trace[at];
                for multiple in [1, 2] {
                    let more = Goldilocks::new(multiple << 32);
                    for other in [sum + more, sum - more] {
                        case.execution.trace[at] = other;
                        assert!(!case.violated(0).is_empty(), "step {step}");
                    }
                }
                case.execution.trace[at] = sum;
            }
        }
        // Nor do public values that are equal modulo 2^32 name the same digest.
        case.execution.public_values[3] += Goldilocks::new(1 << 32);
        assert!(case.unsatisfied().is_some());
    }
}

mod merkle_tree {
    use super::*;

    fn paths(depth: usize, count: usize) -> (Tree, Vec<MerklePath>) {
        let mut rng = rng(4);
        let leaves: Vec<_> = (0..4 << depth).map(|_| Goldilocks::random(&mut rng)).collect();
        let rows = RowMajor::new(Goldilocks::as_words(&leaves), 4).expect("rows");
        let tree = Tree::build(Level::best(), &Sponge(Hash::<8>), &rows).expect("a tree");
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
            assert_eq!(Goldilocks::as_words(&case.execution.public_values), tree.root().0);
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
            |path| path.siblings[1].0[3] ^= 1,
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

    /// The rows of a path but its first, for trees of one level less: all is right but that a node passes for a leaf.
    #[test]
    fn a_node_is_no_leaf() {
        let (_, mut paths) = paths(4, 1);
        paths[0].index &= !1;
        let higher = case(4, &paths).execution;
        let execution = Execution { trace: higher.trace[178..5 * 178].to_vec(), ..higher };
        let case = Case::new(MerkleTree::new(3), execution);
        let violated: Vec<_> = (0..4).map(|row| case.violated(row).len()).collect();
        assert_eq!(violated, [4, 0, 0, 0]);
    }
}
