//! Arbitrary bytes as proving keys and powers of tau; with small keys, also proofs.
#![no_main]

mod counts;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use proofmill_circom::{BinFile, Column, FileKind, GateSections, PointCheck, Ptau, Zkey};
use proofmill_cpu::Level;
use proofmill_field::{Field, bn254::Fr};
use proofmill_groth16 as groth16;
use proofmill_plonk::{Progress, ProveOptions, ProvingKey, fflonk, prove};

/// The largest domain and number of wires for which proofs are attempted.
const SMALL: u32 = 64;

/// Reads what PLONK's and fflonk's keys have in common.
fn read(level: Level, gates: &GateSections) {
    drop(gates.additions());
    drop(gates.wire_map(Column::C));
    drop(gates.sigma(Column::B).extended.decode(level));
    drop(gates.c0().map(|c0| c0.decode(level)));
    drop(gates.ptau().decode(level, PointCheck::OnCurve));
}

/// A witness for a key that is small enough.
fn witness(domain_size: u32, wires: u32) -> Option<Vec<Fr>> {
    (domain_size <= SMALL && wires <= SMALL).then(|| vec![Fr::ONE; wires as usize])
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    counts::mutate(data, size, max_size, seed)
});

fuzz_target!(|bytes: &[u8]| {
    let level = Level::best();
    let options = ProveOptions { check_witness: false };
    let Ok(file) = BinFile::from_bytes("input", bytes.to_vec()) else { return };
    if file.kind() == FileKind::Ptau {
        if let Ok(ptau) = Ptau::read(file) {
            drop(ptau.tau_g1().and_then(|points| points.decode(level, PointCheck::OnCurve)));
            drop(ptau.beta_g2());
            drop(ptau.expect_complete());
            drop(ptau.decoded_contributions());
            drop(ptau.lagrange_tau_g1(ptau.header().power + 1));
        }
        return;
    }
    match Zkey::read(file) {
        Ok(Zkey::Groth16(key)) => {
            drop(key.a().decode(level, PointCheck::OnCurve));
            drop(key.b2().decode(level, PointCheck::OnCurve));
            drop(key.decoded_contributions());
            if let Ok(coefficients) = key.coefficients() {
                coefficients.iter().for_each(drop);
            }
            if let Some(witness) = witness(key.header().domain_size, key.header().wires) {
                drop(groth16::prove(level, &key, &witness, Progress::NONE));
            }
        }
        Ok(Zkey::Plonk(key)) => {
            read(level, key.gates());
            let counts = *key.gates().counts();
            if let Some(witness) = witness(counts.domain_size, counts.circuit_wires()) {
                drop(prove(level, &ProvingKey::new(key), &witness, options, Progress::NONE));
            }
        }
        Ok(Zkey::Fflonk(key)) => {
            read(level, key.gates());
            let counts = *key.gates().counts();
            let Some(witness) = witness(counts.domain_size, counts.circuit_wires()) else { return };
            let file = BinFile::from_bytes("input", bytes.to_vec());
            if let Ok(key) = fflonk::ProvingKey::read(file.expect("it was read before")) {
                drop(fflonk::prove(level, &key, &witness, options, Progress::NONE));
            }
        }
        Err(_) => {}
    }
});
