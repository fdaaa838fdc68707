//! Arbitrary bytes as descriptions, circuits and witnesses.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_circom::{BinFile, R1cs, decode_witness, describe_file};
use proofmill_cpu::Level;

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = BinFile::from_bytes("input", bytes.to_vec()) else { return };
    let described = describe_file(&file);
    // Every circuit that can be read can be described.
    if let Ok(circuit) = R1cs::read(&file) {
        assert!(described.is_ok());
        assert_eq!(circuit.a.rows(), circuit.header.constraints as usize);
    } else if decode_witness(&file, Level::best()).is_ok() {
        assert!(described.is_ok());
    }
});
