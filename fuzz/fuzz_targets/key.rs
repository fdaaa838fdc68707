//! Arbitrary bytes as proving keys and powers of tau; with small keys, also proofs.
#![no_main]

mod counts;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use proofmill_circom::{BinFile, Column, FileKind, GateSections, Groth16Zkey, PointCheck, Ptau, Zkey};
use proofmill_cpu::Level;
use proofmill_curve::{bls12_381, bn254};
use proofmill_field::Field;
use proofmill_groth16::{self as groth16, Groth16Curve};
use proofmill_plonk::{ProveOptions, ProvingKey, fflonk, prove};

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
fn witness<F: Field>(domain_size: u32, wires: u32) -> Option<Vec<F>> {
    (domain_size <= SMALL && wires <= SMALL).then(|| vec![F::ONE; wires as usize])
}

fn read_powers<C: Groth16Curve>(level: Level, file: BinFile) {
    let Ok(ptau) = Ptau::<C>::read(file) else { return };
    drop(ptau.tau_g1().and_then(|points| points.decode(level, PointCheck::InSubgroup)));
    drop(ptau.beta_g2());
    drop(ptau.expect_complete());
    drop(ptau.decoded_contributions());
    drop(ptau.lagrange_tau_g1(ptau.header().power + 1));
}

fn read_groth16<C: Groth16Curve>(level: Level, key: &Groth16Zkey<C>) {
    drop(key.a().decode(level, PointCheck::InSubgroup));
    drop(key.b2().decode(level, PointCheck::InSubgroup));
    drop(key.decoded_contributions());
    if let Ok(coefficients) = key.coefficients() {
        coefficients.iter().for_each(drop);
    }
    if let Some(witness) = witness(key.header().domain_size, key.header().wires) {
        drop(groth16::prove(level.into(), key, &witness));
    }
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    counts::mutate(data, size, max_size, seed)
});

fuzz_target!(|bytes: &[u8]| {
    let level = Level::best();
    let options = ProveOptions { check_witness: false };
    let file = || BinFile::from_bytes("input", bytes.to_vec());
    let (Ok(first), Ok(second)) = (file(), file()) else { return };
    if first.kind() == FileKind::Ptau {
        read_powers::<bn254::G1>(level, first);
        return read_powers::<bls12_381::G1>(level, second);
    }
    if let Ok(key) = Groth16Zkey::<bls12_381::G1>::read(second) {
        return read_groth16(level, &key);
    }
    match Zkey::read(first) {
        Ok(Zkey::Groth16(key)) => read_groth16(level, &key),
        Ok(Zkey::Plonk(key)) => {
            read(level, key.gates());
            let counts = *key.gates().counts();
            if let Some(witness) = witness(counts.domain_size, counts.circuit_wires()) {
                drop(prove(level.into(), &ProvingKey::new(key), &witness, options));
            }
        }
        Ok(Zkey::Fflonk(key)) => {
            read(level, key.gates());
            let counts = *key.gates().counts();
            let Some(witness) = witness(counts.domain_size, counts.circuit_wires()) else { return };
            if let Ok(key) = fflonk::ProvingKey::read(file().expect("it was read before")) {
                drop(fflonk::prove(level.into(), &key, &witness, options));
            }
        }
        Err(_) => {}
    }
});
