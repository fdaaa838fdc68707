//! Arbitrary bytes as proving keys and powers of tau.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_circom::{BinFile, Column, FileKind, GateSections, PointCheck, Ptau, Zkey};
use proofmill_cpu::Level;

/// Reads what PLONK's and fflonk's keys have in common.
fn read(level: Level, gates: &GateSections) {
    drop(gates.additions());
    drop(gates.wire_map(Column::C));
    drop(gates.sigma(Column::B).extended.decode(level));
    drop(gates.c0().map(|c0| c0.decode(level)));
    drop(gates.ptau().decode(level, PointCheck::OnCurve));
}

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
        Ok(Zkey::Plonk(key)) => read(level, key.gates()),
        Ok(Zkey::Fflonk(key)) => read(level, key.gates()),
        Err(_) => {}
    }
});
