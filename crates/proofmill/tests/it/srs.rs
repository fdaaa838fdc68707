//! Reference strings, and descriptions of files.

use crate::{bytes, example, machines, refused};
use proofmill::{
    circom::{FileKind, Ptau, describe},
    curve::{Curve, bn254::G1},
    field::Fr,
    msm::msm,
    srs::{Srs, SrsKind},
};

#[test]
fn strings_commit_at_every_level() {
    let coefficients: Vec<_> = (5..60u64).map(Fr::from).collect();
    let folder = tempfile::tempdir().unwrap();
    let made = Srs::insecure_to(folder.path().join("test.ptau"), 100).unwrap();
    for machine in machines() {
        machine.run(|| {
            for srs in [&Srs::open(example("pot8.ptau")).unwrap(), &made] {
                srs.verify().unwrap();
                let powers = srs.powers(0..coefficients.len()).unwrap();
                assert_eq!(powers[0], G1::GENERATOR);
                let commitment = srs.commit(&coefficients).unwrap();
                assert_eq!(commitment, msm::<G1>(&powers, &coefficients).to_affine());
            }
        });
    }
    assert_eq!(made.kind(), SrsKind::Ptau);
    refused(made.commit(&vec![Fr::from(1); 1000]), "mismatch", "1000");
}

#[test]
fn wrong_powers_are_rejected() {
    let mut wrong = bytes("pot8.ptau");
    let ptau = Ptau::from_bytes(wrong.clone()).unwrap();
    assert_eq!((ptau.power(), ptau.is_prepared()), (8, true));
    assert_eq!(ptau.as_bytes(), wrong);
    // The powers of tau in G1: the sixth becomes the fifth.
    let section = describe(example("pot8.ptau")).unwrap();
    assert_eq!(section.kind, FileKind::Ptau);
    let start = section.sections.iter().find(|section| section.id == 2).unwrap().offset as usize;
    wrong.copy_within(start + 4 * 64..start + 5 * 64, start + 5 * 64);
    refused(Srs::from_bytes(wrong).unwrap().verify(), "rejected", "power 5 of tau");
    refused(Srs::from_bytes(bytes("circuit.r1cs")), "malformed", "ptau");
    refused(Srs::open(example("absent.ptau")), "io", "absent.ptau");
    refused(describe(example("public.json")), "malformed", "public.json");
}
