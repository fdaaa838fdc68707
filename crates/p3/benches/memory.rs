//! Proves Plonky3's Keccak AIR once, with Plonky3 or with the engine, with Keccak hashing, and prints the time and the most memory that
//! the process has had while proving. Each prover owns the trace, but for `low` it is in a temporary file.
//!
//! `cargo bench -p proofmill-p3 --bench memory -- plonky3 14`, or `fast`, `balanced` or `low` in place of `plonky3`; the last
//! argument is the logarithm of the number of rows. On one thread: `RAYON_NUM_THREADS=1`. Temporary files are in `TMPDIR`.

#[path = "../tests/proofs/configurations.rs"]
#[allow(dead_code, reason = "the tests prove with more configurations")]
mod configurations;

use configurations::{BENCHMARK, stock_keccak};
use p3_field::PrimeField64;
use p3_goldilocks::Goldilocks;
use p3_keccak_air::KeccakAir;
use proofmill_cpu::Level;
use proofmill_field::goldilocks::Goldilocks as Element;
use proofmill_hash::Keccak;
use proofmill_memory::{ScratchWords, process_memory, release_kept_memory};
use proofmill_stark::{Memory, Run, Trace};
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use std::time::{Duration, Instant};

/// Huge pages, for every prover.
#[global_allocator]
static ALLOCATOR: proofmill_memory::LargeBlocks = proofmill_memory::LargeBlocks;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let log_rows = arguments.get(1).and_then(|text| text.parse::<u32>().ok());
    let (Some(prover), Some(log_rows @ 5..=24)) = (arguments.first(), log_rows) else {
        eprintln!(
            "error: expected plonky3, fast, balanced or low, and the logarithm of the number of rows, 5 to 24"
        );
        std::process::exit(2);
    };
    let mut rng = SmallRng::seed_from_u64(1);
    let inputs = (0..(1 << log_rows) / 24).map(|_| rng.random()).collect();
    let trace = p3_keccak_air::generate_trace_rows::<Goldilocks>(inputs, BENCHMARK.log_blowup);
    let trace_bytes = size_of_val(&*trace.values);
    let seconds = match prover.as_str() {
        "plonky3" => {
            let start = Instant::now();
            let config = stock_keccak::config(BENCHMARK);
            p3_uni_stark::prove(&config, &KeccakAir {}, trace, &[]).expect("a proof");
            start.elapsed()
        }
        "fast" => prove_with_engine(Memory::Fast, trace.values),
        "balanced" => prove_with_engine(Memory::Balanced, trace.values),
        _ => prove_with_engine(Memory::Low, trace.values),
    };
    let peak = process_memory::peak().unwrap_or(0);
    println!(
        "{prover}, 2^{log_rows} rows: {:.3} s, at most {} MiB, {:.2} of the trace",
        seconds.as_secs_f64(),
        peak >> 20,
        peak as f64 / trace_bytes as f64
    );
}

/// The time of a proof with the engine, which owns the trace or has it in a temporary file.
fn prove_with_engine(memory: Memory, trace: Vec<Goldilocks>) -> Duration {
    // In place.
    let trace: Vec<_> = trace.into_iter().map(|value| Element::new(value.as_canonical_u64())).collect();
    let in_file = if memory == Memory::Low { trace.len() } else { 0 };
    let file = ScratchWords::new(&std::env::temp_dir(), in_file).expect("a file");
    let read = |first: usize, values: &mut [Element]| {
        let mut words = vec![0; values.len()];
        file.read(first, &mut words)?;
        values.iter_mut().zip(words).for_each(|(value, word)| *value = Element::new(word));
        Ok(())
    };
    let len = trace.len();
    let trace = if memory == Memory::Low {
        file.write(0, Element::as_words(&trace)).expect("written");
        drop(trace);
        Trace::Parts { len, read: &read }
    } else {
        trace.into()
    };
    release_kept_memory();
    process_memory::forget_peak();
    let start = Instant::now();
    let constraints = proofmill_p3::constraints(&KeccakAir {}).expect("constraints");
    let run = Run { memory: Some(memory), ..Level::best().into() };
    let parameters = BENCHMARK.of_engine(2);
    proofmill_stark::prove::<2>(run, &Keccak, &parameters, &constraints, None, trace, &[]).expect("a proof");
    start.elapsed()
}
