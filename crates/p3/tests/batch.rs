//! Proofs of several tables with lookups: the same bytes as Plonky3's, accepted by its verifier.

#[allow(dead_code, reason = "other tests use the others")]
mod airs;
#[allow(dead_code, reason = "other tests use the others")]
mod configurations;

use airs::{Fibonacci, Preprocessed, RoundConstants};
use configurations::{
    PARAMETERS, Parameters, defaults::cubic_8, hiding, keccak, keccak_kernels, poseidon2, poseidon2_kernels,
    stock_keccak, stock_poseidon2,
};
use p3_air::{Air, AirBuilder, BaseAir, WindowAccess};
use p3_batch_stark::{ProverData, StarkInstance, verify_batch};
use p3_field::{Field, PrimeCharacteristicRing};
use p3_goldilocks::Goldilocks;
use p3_lookup::{Count, InteractionBuilder, LookupBus};
use p3_matrix::dense::RowMajorMatrix;
use p3_uni_stark::StarkGenericConfig;
use proofmill_testing::for_each_pool;
use std::borrow::Cow;

/// The table of all integers of so many bits, and others that look up in it.
const BITS: usize = 5;

/// The bus of lookups in it.
const INTEGERS: LookupBus<'_> = LookupBus::new("integers");

/// The AIRs of a batch.
#[derive(Clone, Copy)]
enum Table {
    /// A preprocessed column of integers, with how often each is looked up.
    Integers,
    /// Pairs of integers, whose combination is also in a column in another order.
    Pairs,
    /// At most one flag says which integer of a row is looked up.
    Either,
    /// Others without lookups.
    Fibonacci(Fibonacci),
    Preprocessed(Preprocessed),
    RoundConstants(RoundConstants),
}

impl<F: Field> BaseAir<F> for Table {
    fn width(&self) -> usize {
        match self {
            Self::Integers => 1,
            Self::Pairs => 4,
            Self::Either => 3,
            Self::Fibonacci(air) => BaseAir::<F>::width(air),
            Self::Preprocessed(air) => BaseAir::<F>::width(air),
            Self::RoundConstants(air) => BaseAir::<F>::width(air),
        }
    }

    fn num_public_values(&self) -> usize {
        match self {
            Self::Fibonacci(air) => BaseAir::<F>::num_public_values(air),
            _ => 0,
        }
    }

    fn main_next_row_columns(&self) -> Vec<usize> {
        match self {
            Self::Integers | Self::Either => vec![],
            Self::Pairs => vec![0],
            Self::Fibonacci(air) => BaseAir::<F>::main_next_row_columns(air),
            Self::Preprocessed(air) => BaseAir::<F>::main_next_row_columns(air),
            Self::RoundConstants(air) => BaseAir::<F>::main_next_row_columns(air),
        }
    }

    fn preprocessed_width(&self) -> usize {
        match self {
            Self::Integers => 1,
            Self::Preprocessed(air) => BaseAir::<F>::preprocessed_width(air),
            _ => 0,
        }
    }

    fn preprocessed_next_row_columns(&self) -> Vec<usize> {
        match self {
            Self::Preprocessed(air) => BaseAir::<F>::preprocessed_next_row_columns(air),
            _ => vec![],
        }
    }

    fn preprocessed_trace(&self) -> Option<RowMajorMatrix<F>> {
        match self {
            Self::Integers => Some(RowMajorMatrix::new_col((0..1 << BITS).map(F::from_u64).collect())),
            Self::Preprocessed(air) => air.preprocessed_trace(),
            _ => None,
        }
    }

    fn num_periodic_columns(&self) -> usize {
        match self {
            Self::RoundConstants(air) => BaseAir::<F>::num_periodic_columns(air),
            _ => 0,
        }
    }

    fn periodic_columns(&self) -> Cow<'_, [Vec<F>]> {
        match self {
            Self::RoundConstants(air) => air.periodic_columns(),
            _ => Cow::Owned(vec![]),
        }
    }
}

impl<AB: InteractionBuilder<F: Field>> Air<AB> for Table {
    fn eval(&self, builder: &mut AB) {
        let main = builder.main();
        let local = main.current_slice();
        match self {
            Self::Integers => {
                let integer = builder.preprocessed().current_slice()[0];
                INTEGERS.table_entry(builder, [integer], local[0]);
            }
            Self::Pairs => {
                let [low, high, pair, other] = [0, 1, 2, 3].map(|column| local[column]);
                builder.assert_eq(pair, low + high * AB::Expr::from_u64(1 << BITS));
                builder.when_transition().assert_eq(main.next_slice()[0], high);
                INTEGERS.lookup_key(builder, [low], 1);
                INTEGERS.lookup_key(builder, [high], 1);
                builder.push_local_interaction([
                    (vec![pair.into(), pair.into()], Count::bounded(AB::Expr::ONE, 1)),
                    (vec![other.into(), other.into()], Count::provided(-AB::Expr::ONE)),
                ]);
            }
            Self::Either => {
                let [first, second, integer] = [0, 1, 2].map(|column| local[column]);
                let flags: [AB::Expr; 3] = [first.into(), second.into(), first + second];
                for flag in flags {
                    builder.assert_zero(flag.clone() * (flag - AB::Expr::ONE));
                }
                let complement = AB::Expr::from_u64((1 << BITS) - 1) - integer;
                let branches = [(first.into(), vec![integer.into()]), (second.into(), vec![complement])];
                INTEGERS.lookup_key_exclusive(builder, branches);
            }
            Self::Fibonacci(air) => air.eval(builder),
            Self::Preprocessed(air) => air.eval(builder),
            Self::RoundConstants(air) => air.eval(builder),
        }
    }
}

/// Tables with their traces and public values.
struct Batch {
    airs: Vec<Table>,
    traces: Vec<RowMajorMatrix<Goldilocks>>,
    public_values: Vec<Vec<Goldilocks>>,
}

impl Batch {
    fn new(tables: impl IntoIterator<Item = (Table, RowMajorMatrix<Goldilocks>)>) -> Self {
        let (airs, traces): (Vec<_>, Vec<_>) = tables.into_iter().unzip();
        let public_values = airs.iter().zip(&traces).map(|(air, trace)| match air {
            Table::Fibonacci(_) => [0, 1, trace.values.len() - 1].map(|index| trace.values[index]).to_vec(),
            _ => vec![],
        });
        Self { public_values: public_values.collect(), airs, traces }
    }

    /// With the table that the others look up in.
    fn with_lookups(log_rows: [usize; 2]) -> Self {
        let elements = |row: &[u64]| row.iter().map(|value| Goldilocks::from_u64(*value)).collect::<Vec<_>>();
        let mut counts = [0; 1 << BITS];
        let mut count = |integer: u64| {
            counts[integer as usize] += 1;
            integer
        };
        let chain: Vec<u64> = (0..=1 << log_rows[0]).map(|row| (row * row + 3) % (1 << BITS)).collect();
        let pairs: Vec<_> = chain.windows(2).map(|pair| [count(pair[0]), count(pair[1])]).collect();
        let pair = |row: usize| pairs[row][0] + (pairs[row][1] << BITS);
        let pairs = (0..pairs.len()).flat_map(|row| {
            elements(&[pairs[row][0], pairs[row][1], pair(row), pair((row + 1) % pairs.len())])
        });
        let either: Vec<_> = (0..1 << log_rows[1])
            .flat_map(|row| {
                let integer = (5 * row + 1) % (1 << BITS);
                match row % 3 {
                    0 => elements(&[1, 0, count(integer)]),
                    1 => elements(&[0, 1, (1 << BITS) - 1 - count(integer)]),
                    _ => elements(&[0, 0, 1000 + row]),
                }
            })
            .collect();
        let pairs = RowMajorMatrix::new(pairs.collect(), 4);
        let integers = RowMajorMatrix::new_col(elements(&counts));
        Self::new([
            (Table::Pairs, pairs),
            (Table::Fibonacci(Fibonacci), Fibonacci::trace(5).0),
            (Table::Integers, integers),
            (Table::Either, RowMajorMatrix::new(either, 3)),
            (Table::Preprocessed(Preprocessed { log_rows: 5 }), Preprocessed::trace(5)),
        ])
    }

    fn without_lookups() -> Self {
        Self::new([
            (Table::Fibonacci(Fibonacci), Fibonacci::trace(6).0),
            (Table::RoundConstants(RoundConstants), RoundConstants.trace(3)),
            (Table::Fibonacci(Fibonacci), Fibonacci::trace(3).0),
        ])
    }
}

/// Proves with Plonky3 and with ours, compares the proofs' JSON, and verifies ours with Plonky3. Several threads may find different
/// witnesses of work, and Plonky3's draw randomness in any order.
macro_rules! same_proofs {
    ($stock:ident, $ours:ident, $batch:expr) => {
        for parameters in PARAMETERS {
            let parameters = Parameters { num_queries: 5, ..parameters };
            let batch = $batch;
            for_each_pool(&[1, 2, 5], |threads| {
                let (stock, ours) = ($stock::config(parameters), $ours::config(parameters));
                let traces: Vec<_> = batch.traces.iter().collect();
                let instances = StarkInstance::new_multiple(&batch.airs, &traces, &batch.public_values);
                let data = ProverData::from_instances(&ours, &instances).expect("data");
                let proof = proofmill_p3::prove_batch(&ours, &instances, &data).expect("a proof");
                let json = serde_json::to_string(&proof).expect("JSON");
                let instances = StarkInstance::new_multiple(&batch.airs, &traces, &batch.public_values);
                let data = ProverData::from_instances(&stock, &instances).expect("data");
                if threads == 1 || parameters.grinding == 0 && stock.is_zk() == 0 {
                    let expected = p3_batch_stark::prove_batch(&stock, &instances, &data).expect("a proof");
                    assert!(serde_json::to_string(&expected).expect("JSON") == json, "{threads} threads");
                }
                let proof = serde_json::from_str(&json).expect("a proof");
                verify_batch(&stock, &batch.airs, &proof, &batch.public_values, &data.common)
                    .expect("Plonky3 verifies");
            });
        }
    };
}

#[test]
fn tables_with_lookups() {
    for log_rows in [[3, 3], [6, 4], [4, 7]] {
        same_proofs!(stock_poseidon2, poseidon2, Batch::with_lookups(log_rows));
        same_proofs!(stock_poseidon2, poseidon2_kernels, Batch::with_lookups(log_rows));
        same_proofs!(stock_keccak, keccak, Batch::with_lookups(log_rows));
    }
}

#[test]
fn tables_without_lookups() {
    same_proofs!(stock_poseidon2, poseidon2, Batch::without_lookups());
    same_proofs!(stock_keccak, keccak_kernels, Batch::without_lookups());
}

/// Challenges from the cubic extension.
#[test]
fn tables_with_challenges_of_three_coordinates() {
    same_proofs!(cubic_8, cubic_8, Batch::with_lookups([4, 5]));
}

/// With the same randomness.
#[test]
fn zero_knowledge_proofs() {
    same_proofs!(hiding, hiding, Batch::with_lookups([5, 6]));
}

/// Plonky3's prover panics at such tables if it is built for debugging.
#[test]
fn false_lookups_are_refused() {
    let config = poseidon2::config(PARAMETERS[0]);
    let verdict = |batch: &Batch| {
        let traces: Vec<_> = batch.traces.iter().collect();
        let instances = StarkInstance::new_multiple(&batch.airs, &traces, &batch.public_values);
        let data = ProverData::from_instances(&config, &instances).expect("data");
        let proof = proofmill_p3::prove_batch(&config, &instances, &data).expect("a proof");
        verify_batch(&config, &batch.airs, &proof, &batch.public_values, &data.common)
    };
    let batch = || Batch::with_lookups([4, 5]);
    assert!(verdict(&batch()).is_ok());
    // In order: a pair whose low integer is another one, the first of Fibonacci's sequence, a count, an integer, and one that is not looked up.
    for (table, place, valid) in [(0, 2, false), (1, 0, false), (2, 3, false), (3, 2, false), (3, 8, true)] {
        let mut batch = batch();
        batch.traces[table].values[place] += Goldilocks::ONE;
        assert_eq!(verdict(&batch).is_ok(), valid, "table {table}, value {place}");
    }
}
