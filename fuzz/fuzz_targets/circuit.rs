//! Arbitrary bytes as descriptions, circuits and witnesses.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_circom::{BinFile, CircomCurve, R1cs, decode_witness, describe_file};
use proofmill_cpu::Level;
use proofmill_curve::{bls12_381, bn254};

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = BinFile::from_bytes("input", bytes.to_vec()) else { return };
    let described = describe_file(&file).is_ok();
    read::<bn254::G1>(&file, described);
    read::<bls12_381::G1>(&file, described);
});

/// Every circuit and witness that can be read can be described.
fn read<C: CircomCurve>(file: &BinFile, described: bool) {
    if let Ok(circuit) = R1cs::<C::ScalarPrime>::read(file) {
        assert!(described);
        assert_eq!(circuit.a.rows(), circuit.header.constraints as usize);
    } else if decode_witness::<C::ScalarPrime>(file, Level::best()).is_ok() {
        assert!(described);
    }
}
