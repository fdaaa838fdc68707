//! Times proofs with Plonky3, with Proofmill's kernels in it, with its openings, too, and with its engine, in turn; prints medians. The
//! engine's proofs are verified within its time.
//!
//! `cargo bench -p proofmill-p3 --bench compare -- keccak-f 12 fibonacci 18`: AIRs and logarithms of their rows, after
//! `--repetitions COUNT` if not 5. On one thread: `RAYON_NUM_THREADS=1`. With our kernels at another level: `PROOFMILL_LEVEL=avx2`. Plonky3's
//! kernels for this CPU: `RUSTFLAGS="-C target-cpu=native"`.

#[path = "../tests/proofs/airs.rs"]
#[allow(dead_code, reason = "the tests prove more AIRs")]
mod airs;
#[path = "../tests/proofs/batches.rs"]
#[allow(dead_code, reason = "the tests prove more batches")]
mod batches;
#[path = "../tests/proofs/configurations.rs"]
#[allow(dead_code, reason = "the tests prove with others, too")]
mod configurations;

use airs::Fibonacci;
use batches::Batch;
use configurations::{
    BENCHMARK, hiding, keccak, keccak_kernels, poseidon2, poseidon2_12, poseidon2_12_kernels,
    poseidon2_kernels, stock_keccak, stock_poseidon2, stock_poseidon2_12,
};
use p3_air::{Air, symbolic::SymbolicAirBuilder};
use p3_batch_stark::{ProverData, StarkInstance};
use p3_blake3_air::Blake3Air;
use p3_goldilocks::{GenericPoseidon2LinearLayersGoldilocks, Goldilocks};
use p3_keccak_air::KeccakAir;
use p3_matrix::dense::RowMajorMatrix;
use p3_poseidon2_air::{RoundConstants, VectorizedPoseidon2Air};
use p3_uni_stark::verify;
use proofmill_cpu::Level;
use proofmill_hash::{Keccak, NarrowNodes, Poseidon2, Sponge};
use proofmill_p3::{prove, prove_batch, tables, tables_key};
use proofmill_stark::StarkHash;
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use std::time::{Duration, Instant};

/// Permutations side by side in a row of the Poseidon2 AIR.
const SIDE_BY_SIDE: usize = 8;

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

/// Calls the macro for each hash: its name, the configurations of Plonky3, with our kernels and ours, and the engine's.
macro_rules! for_each_hash {
    ($macro:ident, $($arguments:tt)*) => {
        $macro!("Poseidon2-8", stock_poseidon2, poseidon2_kernels, poseidon2, &Sponge(Poseidon2::<8>), $($arguments)*);
        $macro!("Poseidon2-12/8", stock_poseidon2_12, poseidon2_12_kernels, poseidon2_12, &NarrowNodes, $($arguments)*);
        $macro!("Keccak", stock_keccak, keccak_kernels, keccak, &Keccak, $($arguments)*);
    };
}

/// Prints one line.
macro_rules! compare {
    ($hash:literal, $stock:ident, $kernels:ident, $ours:ident, $engine:expr, $repetitions:expr, $name:expr, $air:expr, $trace:expr, $public:expr) => {
        let [mut stock_times, mut kernels_times, mut times, mut engine_times] = [const { Vec::new() }; 4];
        for _ in 0..$repetitions {
            let (stock, kernels) = ($stock::config(BENCHMARK), $kernels::config(BENCHMARK));
            let ours = $ours::config(BENCHMARK);
            let timed = |times: &mut Vec<_>, start: Instant| times.push(start.elapsed());
            let (trace, start) = ($trace.clone(), Instant::now());
            let expected = p3_uni_stark::prove(&stock, &$air, trace, &$public).expect("a proof");
            timed(&mut stock_times, start);
            let (trace, start) = ($trace.clone(), Instant::now());
            let with_kernels = p3_uni_stark::prove(&kernels, &$air, trace, &$public).expect("a proof");
            timed(&mut kernels_times, start);
            let (trace, start) = ($trace.clone(), Instant::now());
            let proof = p3_uni_stark::prove(&ours, &$air, trace, &$public).expect("a proof");
            timed(&mut times, start);
            let (trace, start) = ($trace.clone(), Instant::now());
            prove_with_engine($engine, &$air, trace, &$public);
            timed(&mut engine_times, start);
            verify(&stock, &$air, &expected, &$public).expect("a valid proof");
            let expected = serde_json::to_vec(&expected).expect("JSON");
            assert!(serde_json::to_vec(&with_kernels).expect("JSON") == expected, "the same proof");
            assert!(serde_json::to_vec(&proof).expect("JSON") == expected, "the same proof");
        }
        print($hash, &$name, [stock_times, kernels_times, times, engine_times]);
    };
}

fn print(hash: &str, name: &str, times: [Vec<Duration>; 4]) {
    let [stock, kernels, ours, engine] = times.map(median);
    println!(
        "{name:<16} {hash:<14} {stock:>9.3} {kernels:>9.3} {ours:>9.3} {engine:>9.3} {:>9.2} {:>9.2} {:>9.2}",
        stock / kernels,
        stock / ours,
        stock / engine
    );
}

/// Prints one line for a batch of tables.
macro_rules! compare_batch {
    ($hash:literal, $stock:ident, $kernels:ident, $ours:ident, $engine:expr, $repetitions:expr, $name:expr, $batch:expr) => {
        let batch: &Batch = &$batch;
        let traces: Vec<_> = batch.traces.iter().collect();
        macro_rules! timed {
            ($configuration:ident, $prove:path, $times:expr) => {{
                let config = $configuration::config(BENCHMARK);
                let instances = StarkInstance::new_multiple(&batch.airs, &traces, &batch.public_values);
                let data = ProverData::from_instances(&config, &instances).expect("data");
                let start = Instant::now();
                let proof = $prove(&config, &instances, &data).expect("a proof");
                $times.push(start.elapsed());
                serde_json::to_vec(&proof).expect("JSON")
            }};
        }
        let [mut stock_times, mut kernels_times, mut times, mut engine_times] = [const { Vec::new() }; 4];
        for _ in 0..$repetitions {
            let expected = timed!($stock, p3_batch_stark::prove_batch, stock_times);
            let with_kernels = timed!($kernels, p3_batch_stark::prove_batch, kernels_times);
            let proof = timed!($ours, p3_batch_stark::prove_batch, times);
            assert!(with_kernels == expected && proof == expected, "the same proof");
            engine_times.push(prove_batch_with_engine($engine, batch));
        }
        print($hash, &$name, [stock_times, kernels_times, times, engine_times]);
    };
}

/// A configuration of proofs of the engine. Of its type only the kind of words in digests matters, whatever the hash is.
type OfEngine = stock_keccak::Config;

/// Proves as a program of Plonky3 would.
fn prove_with_engine<A: Air<SymbolicAirBuilder<Goldilocks>>>(
    hash: &dyn StarkHash,
    air: &A,
    trace: RowMajorMatrix<Goldilocks>,
    public: &[Goldilocks],
) {
    let (run, parameters) = (Level::best().into(), BENCHMARK.of_engine(2));
    prove::<OfEngine, _, 2>(run, hash, &parameters, air, None, trace, public).expect("a proof");
}

/// Proves a batch with preprocessed columns that were committed to before, as the others.
fn prove_batch_with_engine(hash: &dyn StarkHash, batch: &Batch) -> Duration {
    let (level, parameters) = (Level::best(), BENCHMARK.of_engine(2));
    let (config, traces) = (stock_keccak::config(BENCHMARK), batch.traces.iter().collect::<Vec<_>>());
    let instances = StarkInstance::<OfEngine, _>::new_multiple(&batch.airs, &traces, &batch.public_values);
    let mut common = ProverData::from_instances(&config, &instances).expect("data").common;
    let tables = tables::<configurations::Challenge, _>(&batch.airs, &common.lookups).expect("tables");
    let key = tables_key(level, hash, &parameters, &batch.airs, &tables).expect("a key");
    if let Some((preprocessed, key)) = common.preprocessed.as_mut().zip(key.as_ref()) {
        preprocessed.commitment = hiding::quadratic::cap(&key.verifying_key().cap);
    }
    let start = Instant::now();
    prove_batch::<_, _, 2>(level.into(), hash, &parameters, &instances, &common, key.as_ref())
        .expect("a proof");
    start.elapsed()
}

fn main() {
    let mut arguments: Vec<_> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let mut repetitions = 5_usize;
    if arguments.first().is_some_and(|argument| argument == "--repetitions") {
        let Some(count) = arguments.get(1).and_then(|text| text.parse().ok()).filter(|count| *count > 0)
        else {
            eprintln!("error: --repetitions: expected a number of at least 1");
            std::process::exit(2);
        };
        repetitions = count;
        arguments.drain(..2);
    }
    if let Ok(name) = std::env::var("PROOFMILL_LEVEL") {
        name.parse::<Level>()
            .unwrap_or_else(|error| {
                eprintln!("error: PROOFMILL_LEVEL: {error}");
                std::process::exit(2);
            })
            .set_best();
    }
    let jobs = match arguments.as_slice() {
        [] => ["fibonacci", "16", "keccak-f", "10", "poseidon2", "10", "blake3", "8"]
            .map(str::to_owned)
            .to_vec(),
        arguments => arguments.to_vec(),
    };
    println!(
        "Seconds with Plonky3, with our kernels at {}, with our openings, too, with our engine; how many times as fast each of ours is",
        Level::best()
    );
    for job in jobs.chunks(2) {
        let log_rows =
            job.get(1).and_then(|text| text.parse().ok()).filter(|log_rows| (5..=24).contains(log_rows));
        let (air, Some(log_rows)) = (job[0].as_str(), log_rows) else {
            eprintln!("error: `{}`: give an AIR and the logarithm of its rows, 5 to 24", job.join(" "));
            std::process::exit(2);
        };
        compare_provers(air, log_rows, repetitions);
    }
}

/// Prints a line for each hash of an AIR with so many rows.
fn compare_provers(air: &str, log_rows: usize, repetitions: usize) {
    let mut rng = SmallRng::seed_from_u64(1);
    let name = format!("{air} 2^{log_rows}");
    match air {
        "fibonacci" => {
            let (trace, public) = Fibonacci::trace(log_rows);
            for_each_hash!(compare, repetitions, name, Fibonacci, trace, public);
        }
        "keccak-f" => {
            // 24 rows a permutation, padded to a power of two.
            let inputs = (0..(1 << log_rows) / 24).map(|_| rng.random()).collect();
            let trace = p3_keccak_air::generate_trace_rows::<Goldilocks>(inputs, BENCHMARK.log_blowup);
            for_each_hash!(compare, repetitions, name, KeccakAir {}, trace, []);
        }
        "poseidon2" => {
            type Air = VectorizedPoseidon2Air<
                Goldilocks,
                GenericPoseidon2LinearLayersGoldilocks,
                8,
                7,
                1,
                4,
                22,
                SIDE_BY_SIDE,
            >;
            let air = Air::new(RoundConstants::from_rng(&mut rng));
            let trace = air.generate_vectorized_trace_rows(SIDE_BY_SIDE << log_rows, BENCHMARK.log_blowup);
            for_each_hash!(compare, repetitions, name, air, trace, []);
        }
        "lookups" => {
            for_each_hash!(compare_batch, repetitions, name, Batch::with_lookups([log_rows; 2]));
        }
        "blake3" => {
            let inputs = (0..1 << log_rows).map(|_| rng.random()).collect();
            let trace = p3_blake3_air::generate_trace_rows::<Goldilocks>(inputs, BENCHMARK.log_blowup);
            for_each_hash!(compare, repetitions, name, Blake3Air {}, trace, []);
        }
        _ => {
            eprintln!("error: no AIR `{air}`: fibonacci, keccak-f, poseidon2, blake3 or lookups");
            std::process::exit(2);
        }
    }
}
