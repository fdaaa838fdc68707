//! Proving keys of circuits in any arithmetisation, of any bytes, and R1CS laid out in any.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_circom::{BinFile, CircuitKey, FileKind, R1cs};
use proofmill_plonk::{Arithmetisation, key_file, r1cs};
use proofmill_simd::Level;

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
    if let Ok((layout, derivations)) = key_file::circuit(&key, level) {
        assert_eq!(layout.variables as usize, derivations.first() as usize + derivations.len());
    }
});
