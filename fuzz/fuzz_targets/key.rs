//! Arbitrary bytes as proving keys and powers of tau.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_circom::{BinFile, FileKind, PointCheck, Ptau, Zkey};
use proofmill_cpu::Level;

fuzz_target!(|bytes: &[u8]| {
    let level = Level::best();
    let Ok(file) = BinFile::from_bytes("input", bytes.to_vec()) else { return };
    if file.kind() == FileKind::Ptau {
        if let Ok(ptau) = Ptau::read(file) {
            drop(ptau.tau_g1().and_then(|points| points.decode(level, PointCheck::OnCurve)));
            drop(ptau.beta_g2());
            drop(ptau.lagrange_tau_g1(ptau.header().power + 1));
        }
        return;
    }
    match Zkey::read(file) {
        Ok(Zkey::Groth16(key)) => {
            drop(key.a().decode(level, PointCheck::OnCurve));
            drop(key.b2().decode(level, PointCheck::OnCurve));
            if let Ok(coefficients) = key.coefficients() {
                coefficients.iter().for_each(drop);
            }
        }
        Ok(Zkey::Plonk(key)) => {
            drop(key.additions());
            drop(key.ptau().decode(level, PointCheck::OnCurve));
        }
        Err(_) => {}
    }
});
