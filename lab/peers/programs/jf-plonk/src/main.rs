//! Times jf-plonk over BN254 on a chain of multiplications: the peer of `proofmill plonk workload
//! arithmetic`.
//!
//! Usage: `jf-plonk-peer turbo|ultra LOG_GATES [RUNS]`; prints a line of a record (`lab/records/README.md`), of the prove
//! call. Threads are rayon's: all, or `RAYON_NUM_THREADS`.

use ark_bn254::{Bn254, Fr};
use ark_ff::Field;
use jf_plonk::{
    proof_system::{PlonkKzgSnark, UniversalSNARK},
    transcript::StandardTranscript,
};
use jf_relation::{Arithmetization, Circuit, PlonkCircuit};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use std::{env, error::Error, fs, num::NonZeroUsize, process::ExitCode, thread, time::Instant};

/// Bits of the range table that every Ultra circuit has. The minimum, since the chain has no lookups.
const RANGE_BITS: usize = 8;

/// Rows that are left for the public input, the constants and the last row.
const SPARE: usize = 16;

/// A circuit for x and its power, the public input, with `gates` multiplications by x.
fn chain(mut circuit: PlonkCircuit<Fr>, gates: usize) -> Result<PlonkCircuit<Fr>, Box<dyn Error>> {
    let power = Fr::from(3).pow([gates as u64 + 1]);
    let public = circuit.create_public_variable(power)?;
    let x = circuit.create_variable(Fr::from(3))?;
    let mut last = x;
    for _ in 0..gates {
        last = circuit.mul(last, x)?;
    }
    circuit.enforce_equal(last, public)?;
    circuit.finalize_for_arithmetization()?;
    let (found, expected) = (circuit.eval_domain_size()?, gates + SPARE);
    if found != expected {
        return Err(format!("expected a domain of {expected}, found {found}").into());
    }
    Ok(circuit)
}

/// The process's peak resident memory (`VmHWM`) in megabytes.
fn peak_mb() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak in the status")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024 / 1_000_000)
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (kind, log_gates) = match arguments.as_slice() {
        [kind, log_gates, ..] => (kind.as_str(), log_gates.parse::<u32>()?),
        _ => return Err("usage: jf-plonk-peer turbo|ultra LOG_GATES [RUNS]".into()),
    };
    let runs = arguments.get(2).map_or("3", String::as_str).parse::<NonZeroUsize>()?.get();
    let circuit = match kind {
        "turbo" => PlonkCircuit::new_turbo_plonk(),
        "ultra" => PlonkCircuit::new_ultra_plonk(RANGE_BITS),
        _ => return Err(format!("expected turbo or ultra, found {kind}").into()),
    };
    let size = 1_usize.checked_shl(log_gates).unwrap_or(0);
    let gates = size.checked_sub(SPARE).ok_or("expected at least 2^4 gates")?;
    let circuit = chain(circuit, gates)?;
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let srs = PlonkKzgSnark::<Bn254>::universal_setup_for_testing(circuit.srs_size()?, &mut rng)?;
    let (proving_key, verifying_key) = PlonkKzgSnark::<Bn254>::preprocess(&srs, &circuit)?;
    let public = circuit.public_input()?;
    let mut seconds = Vec::new();
    // The first run is a warm-up.
    for run in 0..=runs {
        let began = Instant::now();
        let proof = PlonkKzgSnark::prove::<_, _, StandardTranscript>(&mut rng, &circuit, &proving_key, None)?;
        let elapsed = began.elapsed().as_secs_f64();
        PlonkKzgSnark::verify::<StandardTranscript>(&verifying_key, &public, &proof, None)?;
        if run > 0 {
            seconds.push(elapsed);
        }
    }
    seconds.sort_by(f64::total_cmp);
    let (median, least) = (seconds[seconds.len() / 2], seconds[0]);
    let threads = match env::var("RAYON_NUM_THREADS") {
        Ok(count) => count.parse()?,
        Err(_) => thread::available_parallelism()?,
    };
    let peak = peak_mb()?;
    // family, benchmark, implementation, size, threads, run, samples, median_s, min_s, peak_mb, others_share
    println!("plonk_workloads,{kind},jf-plonk,{gates},{threads},1,{runs},{median:.4},{least:.4},{peak},");
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
