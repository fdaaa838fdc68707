//! Arbitrary bytes as powers of tau, keys with contributions, challenges, responses, and bellman's parameters.
#![no_main]

mod counts;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use proofmill_ceremony::{Randomness, bellman, powers, verify};
use proofmill_circom::{Beacon, BinFile, Groth16Zkey, Ptau, Target};
use proofmill_cpu::Level;
use proofmill_progress::Progress;
use std::{fs, path::Path};

/// The largest power of files with which everything is computed.
const SMALL: u32 = 5;
/// The most iterations of a beacon that are repeated here, as a logarithm.
const FEW: u8 = 10;

const KEY: &[u8] = include_bytes!("../../crates/ceremony/tests/data/contributed.zkey");
const POWERS: &[u8] = include_bytes!("../../crates/ceremony/tests/data/contributed.ptau");

fn is_quick(beacon: Option<&Beacon>) -> bool {
    beacon.is_none_or(|beacon| beacon.log_iterations <= FEW)
}

fn with_powers(level: Level, powers: &Ptau, folder: &Path) {
    let list = powers.decoded_contributions();
    if list.is_ok_and(|list| list.iter().all(|each| is_quick(each.beacon.as_ref()))) {
        drop(powers::verify(level, powers, Progress::NONE));
    }
    let mut made = Vec::new();
    drop(powers::export_challenge(level, powers, Target::Memory(&mut made), Progress::NONE));
    if powers.header().power <= SMALL {
        let beacon = Beacon { seed: vec![1], log_iterations: FEW };
        let randomness = Randomness::Beacon(&beacon);
        drop(powers::contribute(level, powers, Target::Memory(&mut made), None, randomness, Progress::NONE));
        drop(powers::prepare(level, powers, Target::Memory(&mut made), folder, Progress::NONE));
        drop(powers::convert(level, powers, Target::Memory(&mut made), folder, Progress::NONE));
    }
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    counts::mutate(data, size, max_size, seed)
});

fuzz_target!(|bytes: &[u8]| {
    let (level, folder) = (Level::best(), std::env::temp_dir());
    let file = || BinFile::from_bytes("input", bytes.to_vec());
    if let Ok(powers) = file().and_then(Ptau::read) {
        return with_powers(level, &powers, &folder);
    }
    let mut made = Vec::new();
    if let Ok(key) = file().and_then(Groth16Zkey::read) {
        if let Ok(Some(all)) = key.decoded_contributions()
            && all.list.iter().all(|each| is_quick(each.beacon.as_ref()))
        {
            drop(verify::contributions(level, &all));
        }
        if key.header().domain_size <= 1 << SMALL {
            drop(bellman::export(level, &key, Target::Memory(&mut made), &folder, Progress::NONE));
        }
        return;
    }
    let input = folder.join(format!("proofmill-fuzz-{}", std::process::id()));
    fs::write(&input, bytes).expect("a temporary file");
    let of = |bytes: &[u8]| BinFile::from_bytes("fixture", bytes.to_vec()).expect("a container");
    let (key, powers) = (Groth16Zkey::read(of(KEY)).expect("a key"), Ptau::read(of(POWERS)).expect("powers"));
    let randomness = || Randomness::System(&[]);
    drop(powers::contribute_to_challenge(
        level,
        &input,
        Target::Memory(&mut made),
        randomness(),
        Progress::NONE,
    ));
    drop(powers::import_response(level, &powers, &input, Target::Memory(&mut made), None, Progress::NONE));
    drop(bellman::contribute(level, &input, Target::Memory(&mut made), randomness(), Progress::NONE));
    drop(bellman::import(level, &key, &input, Target::Memory(&mut made), None, &folder, Progress::NONE));
    drop(fs::remove_file(&input));
});
