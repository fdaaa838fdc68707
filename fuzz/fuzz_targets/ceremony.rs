//! Arbitrary bytes as powers of tau, keys with contributions, challenges, responses, and bellman's parameters.
#![no_main]

mod counts;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use proofmill_ceremony::{CeremonyCurve, Randomness, bellman, powers, verify};
use proofmill_circom::{Beacon, BinFile, Groth16Zkey, Ptau};
use proofmill_cpu::Level;
use proofmill_curve::{bls12_381, bn254};
use proofmill_files::Target;
use proofmill_run::Run;
use std::{fs, path::Path};

/// The largest power of files with which everything is computed.
const SMALL: u32 = 5;
/// The most iterations of a beacon that are repeated here, as a logarithm.
const FEW: u8 = 10;

/// A key with contributions and powers, of each curve.
const FIRST: [&[u8]; 2] = [
    include_bytes!("../../crates/ceremony/tests/data/contributed.zkey"),
    include_bytes!("../../crates/ceremony/tests/data/contributed.ptau"),
];
const SECOND: [&[u8]; 2] = [
    include_bytes!("../../crates/circom/tests/data/bls12-381/groth16.zkey"),
    include_bytes!("../../crates/circom/tests/data/bls12-381/powers.ptau"),
];

fn is_quick(beacon: Option<&Beacon>) -> bool {
    beacon.is_none_or(|beacon| beacon.log_iterations <= FEW)
}

fn with_powers<C: CeremonyCurve>(run: Run<'_>, powers: &Ptau<C>, folder: &Path) {
    let list = powers.decoded_contributions();
    if list.is_ok_and(|list| list.iter().all(|each| is_quick(each.beacon.as_ref()))) {
        drop(powers::verify(run, powers));
    }
    let mut made = Vec::new();
    drop(powers::export_challenge(run, powers, Target::Memory(&mut made)));
    if powers.header().power <= SMALL {
        let beacon = Beacon { seed: vec![1], log_iterations: FEW };
        let randomness = Randomness::Beacon(&beacon);
        drop(powers::contribute(run, powers, Target::Memory(&mut made), None, randomness));
        drop(powers::prepare(run, powers, Target::Memory(&mut made), folder));
        drop(powers::convert(run, powers, Target::Memory(&mut made), folder));
    }
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    counts::mutate(data, size, max_size, seed)
});

fuzz_target!(|bytes: &[u8]| {
    read::<bn254::G1>(bytes, FIRST);
    read::<bls12_381::G1>(bytes, SECOND);
});

fn read<C: CeremonyCurve>(bytes: &[u8], [key, powers]: [&[u8]; 2]) {
    let (run, folder) = (Run::from(Level::best()), std::env::temp_dir());
    let file = || BinFile::from_bytes("input", bytes.to_vec());
    if let Ok(powers) = file().and_then(Ptau::<C>::read) {
        return with_powers(run, &powers, &folder);
    }
    let mut made = Vec::new();
    if let Ok(key) = file().and_then(Groth16Zkey::<C>::read) {
        if let Ok(Some(all)) = key.decoded_contributions()
            && all.list.iter().all(|each| is_quick(each.beacon.as_ref()))
        {
            drop(verify::contributions(run.level, &all));
        }
        if key.header().domain_size <= 1 << SMALL {
            drop(bellman::export(run, &key, Target::Memory(&mut made), &folder));
        }
        return;
    }
    if file().is_ok() {
        return;
    }
    let input = folder.join(format!("proofmill-fuzz-{}", std::process::id()));
    fs::write(&input, bytes).expect("a temporary file");
    let of = |bytes: &[u8]| BinFile::from_bytes("fixture", bytes.to_vec()).expect("a container");
    let key = Groth16Zkey::<C>::read(of(key)).expect("a key");
    let powers = Ptau::<C>::read(of(powers)).expect("powers");
    let system = Randomness::System(&[]);
    drop(powers::contribute_to_challenge::<C>(run, &input, Target::Memory(&mut made), system));
    drop(powers::import_response(run, &powers, &input, Target::Memory(&mut made), None));
    drop(bellman::contribute::<C>(run, &input, Target::Memory(&mut made), system));
    drop(bellman::import(run, &key, &input, Target::Memory(&mut made), None, &folder));
    drop(fs::remove_file(&input));
}
