//! Arbitrary bytes as proving keys of circuits in every arithmetisation, and R1CS laid out in each.
#![no_main]

mod counts;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use proofmill_circom::{BinFile, FileKind, R1cs};
use proofmill_cpu::Level;
use proofmill_field::bn254::Fr;
use proofmill_plonk::{
    Arithmetisation, CircuitKey, Memory, ProveOptions, ProvingKey, VerifyingKey, circuit_file, prove,
    r1cs, verify,
};
use proofmill_run::Run;

/// The most rows of keys that are used to prove.
const MOST_ROWS: u32 = 128;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    counts::mutate(data, size, max_size, seed)
});

fuzz_target!(|bytes: &[u8]| {
    let level = Level::best();
    let Ok(file) = BinFile::from_bytes("input", bytes.to_vec()) else { return };
    if file.kind() == FileKind::R1cs {
        let Ok(circuit) = R1cs::read(&file) else { return };
        for arithmetisation in Arithmetisation::ALL {
            if let Ok((layout, derivations)) = r1cs::layout(&circuit, arithmetisation) {
                assert_eq!(layout.variables as usize, derivations.first() as usize + derivations.len());
            }
        }
        return;
    }
    let Ok(key) = CircuitKey::read(file) else { return };
    drop(key.commitments(level));
    drop(key.powers(level));
    let verifying_key = VerifyingKey::of_circuit(level, &key);
    let Ok((layout, derivations)) = circuit_file::circuit(&key, level) else { return };
    assert_eq!(layout.variables as usize, derivations.first() as usize + derivations.len());
    let header = key.header();
    let most = header.columns.iter().map(|(_, values)| *values).max().unwrap_or(0).max(header.rows);
    if most > MOST_ROWS {
        return;
    }
    let Ok(proving_key) = ProvingKey::of_circuit(Run { memory: Some(Memory::Low), ..level.into() }, &key) else { return };
    assert!(verifying_key.is_ok_and(|key| key == *proving_key.verifying_key()));
    let witness = vec![Fr::from(1); derivations.first() as usize];
    for check_witness in [true, false] {
        let made = prove(level.into(), &proving_key, &witness, ProveOptions { check_witness });
        if let Ok((proof, public)) = made {
            assert_eq!(verify(level, proving_key.verifying_key(), &public, &proof), Ok(()));
        }
    }
});
