//! Memory modes give the same proofs.

use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Extension, Goldilocks},
};
use proofmill_hash::{Keccak, Poseidon2, Sponge};
use proofmill_stark::{
    Constraints, Grinding, Memory, Parameters, PreprocessedKey, Proof, Resources, StarkError,
    air::{Air, Preprocessed, Row},
    openings::{Opened, combine, weighted_sums},
    prove,
};
use proofmill_testing::{for_each_goldilocks_level, for_each_pool};
use std::borrow::Cow;

/// Columns that are each multiplied by the preprocessed one, plus the one before and a periodic one, to a power.
struct Wide {
    columns: usize,
    rows: usize,
    power: u32,
}

fn power<T: std::ops::Mul<Output = T> + Copy>(value: T, exponent: u32) -> T {
    (1..exponent).fold(value, |product, _| product * value)
}

impl Wide {
    fn fixed(&self) -> Vec<Goldilocks> {
        (0..self.rows as u64).map(|row| Goldilocks::new(row * row + 2)).collect()
    }

    fn trace(&self) -> Vec<Goldilocks> {
        let mut row: Vec<_> = (0..self.columns as u64).map(Goldilocks::new).collect();
        let mut values = Vec::new();
        for (index, fixed) in self.fixed().into_iter().enumerate() {
            values.extend(&row);
            let before = row.clone();
            for (column, value) in row.iter_mut().enumerate() {
                let other = before[(column + self.columns - 1) % self.columns];
                *value = power(before[column], self.power) * fixed
                    + other
                    + Goldilocks::new(PERIODIC[index % PERIODIC.len()]);
            }
        }
        values
    }
}

const PERIODIC: [u64; 2] = [7, 11];

impl Air for Wide {
    fn columns(&self) -> usize {
        self.columns
    }

    fn public_values(&self) -> usize {
        1
    }

    fn preprocessed(&self) -> Option<Preprocessed> {
        Some(Preprocessed { columns: 1, values: self.fixed() })
    }

    fn periodic_columns(&self) -> Vec<Vec<Goldilocks>> {
        vec![PERIODIC.map(Goldilocks::new).to_vec()]
    }

    fn constrain(&self, row: Row) {
        for column in 0..self.columns {
            let other = row.column((column + self.columns - 1) % self.columns);
            let next = power(row.column(column), self.power) * row.preprocessed(0) + other + row.periodic(0);
            (row.is_transition() * (row.next(column) - next)).must_vanish();
        }
        (row.is_last() * (row.column(0) - row.public_value(0))).must_vanish();
    }
}

const NO_WORK: Grinding = Grinding { lookups: 0, out_of_domain: 0, batching: 0, commit: 0, query: 0 };

/// An emulator is slow.
const THREADS: &[usize] = if cfg!(target_arch = "aarch64") { &[2] } else { &[1, 2, 5] };

/// Fewer rows than tiles, one row a tile, and many; more polynomials of the quotient than cosets of the extension, and fewer.
const CASES: [(usize, u32, u32, u32); 7] =
    [(1, 1, 1, 1), (3, 3, 1, 1), (2, 4, 3, 2), (17, 5, 1, 5), (40, 7, 2, 1), (9, 8, 3, 1), (70, 6, 2, 1)];

macro_rules! compare {
    ($hash:ty, $degree:literal, $case:expr, $level:expr, $place:expr) => {{
        let (columns, log_rows, log_blowup, power) = $case;
        let (air, level) = (Wide { columns, rows: 1 << log_rows, power }, $level);
        let parameters = Parameters {
            extension: $degree,
            log_blowup,
            log_arity: 2,
            log_final_length: 0,
            queries: 20,
            grinding: NO_WORK,
            ..Parameters::PROVEN_100
        };
        let constraints = Constraints::new(&air).expect("constraints");
        let columns = air.preprocessed().expect("columns");
        let key = PreprocessedKey::<$hash>::new(level, &parameters, columns).expect("a key");
        let trace = air.trace();
        let public = [trace[trace.len() - air.columns]];
        let proofs: Vec<Proof<$hash, $degree>> = [Memory::Fast, Memory::Low, Memory::Low]
            .into_iter()
            .zip([Cow::Borrowed(&trace[..]), Cow::Borrowed(&trace[..]), Cow::Owned(trace.clone())])
            .map(|(memory, trace)| {
                let resources = Resources { memory, ..level.into() };
                let proof = prove(resources, &parameters, &constraints, Some(&key), trace, &public);
                proof.unwrap_or_else(|error| panic!("{:?}, {memory:?}, {}: {error}", $case, $place))
            })
            .collect();
        assert!(proofs[0] == proofs[1], "{:?}, {}", $case, $place);
        assert!(proofs[0] == proofs[2], "{:?}, {}, of a trace that was given away", $case, $place);
    }};
}

#[test]
fn memory_modes_give_the_same_proof() {
    for case in CASES {
        for_each_pool(THREADS, |threads| {
            for_each_goldilocks_level(|level| {
                compare!(Keccak, 3, case, level, format!("{threads} threads, {level}"));
            });
        });
        compare!(Sponge<Poseidon2<8>>, 2, case, Level::best(), "Poseidon2");
    }
}

#[test]
fn with_low_memory_the_prover_names_what_is_wrong() {
    let air = Wide { columns: 5, rows: 1 << 6, power: 2 };
    let (level, parameters) =
        (Level::best(), Parameters { log_blowup: 1, grinding: NO_WORK, ..Parameters::PROVEN_100 });
    let constraints = Constraints::new(&air).expect("constraints");
    let columns = air.preprocessed().expect("columns");
    let key = PreprocessedKey::<Keccak>::new(level, &parameters, columns).expect("a key");
    let mut trace = air.trace();
    let public = [trace[trace.len() - 5]];
    trace[5 * 33 + 2] += Goldilocks::ONE;
    let resources = Resources { memory: Memory::Low, ..level.into() };
    let error = prove::<_, 3>(resources, &parameters, &constraints, Some(&key), &trace, &public).err();
    let expected = |error| matches!(error, Some(StarkError::Unsatisfied { constraint: 2, row: 32 }));
    assert!(expected(error));
    let error = prove::<_, 3>(resources, &parameters, &constraints, Some(&key), trace, &public).err();
    assert!(expected(error), "of a trace that was given away");
}

#[test]
fn rows_are_weighted_and_combined() {
    let element = |i: u64| Goldilocks::new(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678);
    let extension = |i: u64| Extension::<Goldilocks, 3>([element(i), element(i + 1), element(i + 2)]);
    for (width, rows) in [(1, 1), (3, 300), (5, 512), (40, 257)] {
        let mut words: Vec<u64> = (0..rows * width).map(|i| element(i as u64).to_canonical()).collect();
        words[0] = u64::MAX;
        let factors: Vec<_> = (0..width as u64).map(extension).collect();
        let at = |row: usize, column: usize| Goldilocks::new(words[row * width + column]);
        let weight = |point: usize, row: usize| extension((10_000 * (point + 1) + row) as u64);
        let value = |point: usize, column: usize| {
            let term = |sum, row: usize| sum + weight(point, row).scale(at(row, column));
            (0..rows).fold(Extension::ZERO, term)
        };
        let values = [1, 0].map(|point| (0..width).map(|column| value(point, column)).collect::<Vec<_>>());
        let sum = |row: usize| {
            let term = |sum, column: usize| sum + factors[column].scale(at(row, column));
            (0..width).fold(Extension::ZERO, term)
        };
        let sums: Vec<_> = (0..rows).map(sum).collect();
        for_each_goldilocks_level(|level| {
            let opened = Opened { words: &words, width, points: vec![1, 0] };
            let found =
                weighted_sums(level, &opened, |point, range| range.map(|row| weight(point, row)).collect());
            assert_eq!(found, values, "{level}");
            assert_eq!(combine(level, &words, width, &factors), sums, "{level}");
        });
    }
}
