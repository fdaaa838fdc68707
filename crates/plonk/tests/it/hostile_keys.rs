//! Proving keys whose counts are changed together with the sections that grow with them: they are refused, or nothing is proven
//! with them, and no count leads to a panic.

use crate::fixtures::{change_counts, path, toy_witness};
use proofmill_circom::{BinFile, CircomError, PlonkZkey};
use proofmill_cpu::Level;
use proofmill_field::{Field, bn254::Fr};
use proofmill_plonk::{ProveOptions, ProvingKey, prove};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use std::fs;

/// The offset of the counts in the header: wires, public signals, domain, additions, constraints.
const COUNTS: usize = 2 * (4 + 32);

/// The toy circuit's key with other counts, and sections as long as these counts require.
fn key_with(change: impl FnOnce(&mut [u32; 5])) -> Vec<u8> {
    let bytes = fs::read(path("toy.plonk.zkey")).expect("a key");
    let file = BinFile::from_bytes("key", bytes.clone()).expect("a container");
    let header = file.sections().iter().find(|section| section.id == 2).expect("a header");
    let mut header = bytes[header.range.clone()].to_vec();
    let mut counts = [0; 5];
    let fields = header[COUNTS..].chunks_exact_mut(4);
    for (count, bytes) in counts.iter_mut().zip(fields) {
        *count = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    }
    change(&mut counts);
    for (count, bytes) in counts.iter().zip(header[COUNTS..].chunks_exact_mut(4)) {
        bytes.copy_from_slice(&count.to_le_bytes());
    }
    let [_, public, domain, additions, constraints] = counts.map(|count| count as usize);
    let polynomial = 5 * 32 * domain;
    let mut key = bytes[..12].to_vec();
    for section in file.sections() {
        let mut content =
            if section.id == 2 { header.clone() } else { bytes[section.range.clone()].to_vec() };
        match section.id {
            3 => content.resize(72 * additions, 0),
            4..=6 => content.resize(4 * constraints, 0),
            7..=11 => content.resize(polynomial, 0),
            12 => content.resize(3 * polynomial, 0),
            13 => content.resize(public.max(1) * polynomial, 0),
            14 => content.resize(64 * (domain + 6), 0),
            _ => {}
        }
        key.extend(section.id.to_le_bytes());
        key.extend((content.len() as u64).to_le_bytes());
        key.extend(content);
    }
    key
}

fn read(key: Vec<u8>) -> Result<PlonkZkey, CircomError> {
    PlonkZkey::read(BinFile::from_bytes("changed.zkey", key)?)
}

#[test]
fn unchanged_counts_give_the_key() {
    assert!(key_with(|_| ()) == fs::read(path("toy.plonk.zkey")).expect("a key"));
}

#[test]
fn more_public_signals_than_constraints_are_refused() {
    let key = key_with(|[wires, public, _, _, constraints]| {
        *wires += *constraints;
        *public = *constraints + 1;
    });
    let error = read(key).expect_err("no key").to_string();
    assert!(error.contains("public signals, but") && error.lines().count() == 1, "{error}");
}

#[test]
fn no_counts_lead_to_a_panic() {
    let mut rng = ChaCha20Rng::seed_from_u64(15);
    let mut accepted = 0;
    for _ in 0..500 {
        let key = key_with(|counts| change_counts(counts, &mut rng));
        let Ok(key) = read(key) else { continue };
        accepted += 1;
        let wires = key.header().counts.circuit_wires() as usize;
        let key = ProvingKey::new(key);
        for check_witness in [true, false] {
            let options = ProveOptions { check_witness };
            for witness in [toy_witness(), vec![Fr::ONE; wires]] {
                // A proof by such a key may even be valid, if only unused parts changed.
                drop(prove(Level::best().into(), &key, &witness, options));
            }
        }
    }
    assert!(accepted >= 20, "only {accepted} keys passed the checks of the header");
}
