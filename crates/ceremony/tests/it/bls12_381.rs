//! Ceremonies over the second curve, against files of snarkjs 0.7.6: powers with a contribution and a beacon, and a key with both.

use proofmill_ceremony::{CeremonyError, Randomness, contribute, powers, verify};
use proofmill_circom::{BinFile, Groth16Zkey, PointCheck, Ptau};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Jacobian, bls12_381::G1};
use proofmill_field::{Algebra, SquareRoot, bls12_381::Fq};
use proofmill_files::Target;
use proofmill_testing::{for_each_level, for_each_pool};
use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../circom/tests/data/bls12-381", name].iter().collect()
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(path(name)).expect("a file")
}

fn powers_of(bytes: Vec<u8>) -> Ptau<G1> {
    Ptau::read(BinFile::from_bytes("powers", bytes).expect("a container")).expect("powers")
}

fn key_of(bytes: Vec<u8>) -> Groth16Zkey<G1> {
    Groth16Zkey::read(BinFile::from_bytes("key", bytes).expect("a container")).expect("a key")
}

fn section(file: &BinFile, id: u32) -> Range<usize> {
    file.sections().iter().find(|section| section.id == id).expect("a section").range.clone()
}

/// A point of the curve that is in no subgroup of prime order, as files have it.
fn outside() -> Vec<u8> {
    let x = (1..).map(Fq::from).find(|x| (x.square() * *x + Fq::from(4u64)).sqrt_vartime().is_some());
    let x = x.expect("a point");
    let y = (x.square() * x + Fq::from(4u64)).sqrt_vartime().expect("a root");
    let point = Affine { x, y };
    assert!(point.is_on_curve());
    in_file(point)
}

fn in_file(point: Affine<G1>) -> Vec<u8> {
    [point.x, point.y]
        .into_iter()
        .flat_map(|value| value.to_montgomery())
        .flat_map(u64::to_le_bytes)
        .collect()
}

#[test]
fn prepared_powers_are_snarkjss_bytes_and_valid() {
    let expected = bytes("powers.ptau");
    let before = powers_of(expected.clone());
    for_each_pool(&[1, 2, 5], |threads| {
        for_each_level(|level| {
            let mut made = Vec::new();
            let target = Target::Memory(&mut made);
            powers::prepare(level.into(), &before, target, &std::env::temp_dir()).expect("written");
            assert!(made == expected, "at {level} with {threads} threads");
        });
    });
    for_each_level(|level| {
        assert_eq!(powers::verify(level.into(), &before).expect("valid").len(), 2);
    });
}

#[test]
fn own_contributions_to_powers_are_valid() {
    let before = powers_of(bytes("powers.ptau"));
    let mut made = Vec::new();
    let (target, randomness) = (Target::Memory(&mut made), Randomness::System(b"test"));
    let hash = powers::contribute(Level::best().into(), &before, target, Some("own"), randomness);
    let hashes = powers::verify(Level::best().into(), &powers_of(made.clone())).expect("valid");
    assert_eq!((hashes.len(), hashes.last()), (3, Some(&hash.expect("written"))));
    // Every point is one that verification reads: the next one in its place is noticed.
    for id in [2, 3, 4, 5] {
        let size = if id == 3 { 192 } else { 96 };
        let points = section(powers_of(made.clone()).file(), id);
        for at in points.step_by(size).skip(1) {
            let mut changed = made.clone();
            changed.copy_within(at - size..at, at);
            let error = powers::verify(Level::best().into(), &powers_of(changed)).expect_err("changed");
            assert!(matches!(error, CeremonyError::Powers { .. }), "section {id}: {error}");
        }
    }
}

/// The second curve is types, not formulas: code that is common to both names neither.
#[test]
fn nothing_is_written_for_one_curve() {
    fn naming(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                naming(&path, found);
            } else if fs::read_to_string(&path).expect("a source").contains("bls12_381") {
                found.push(path.file_name().expect("a name").to_string_lossy().into_owned());
            }
        }
    }
    for (name, expected) in [
        ("ceremony", vec!["encoding.rs"]),
        ("circom", vec!["curve.rs", "decode.rs", "describe.rs"]),
        ("groth16", vec!["curve.rs"]),
        ("witness", vec![]),
    ] {
        let mut found = Vec::new();
        naming(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src"), &mut found);
        found.sort();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn points_outside_the_group_are_refused() {
    let whole = bytes("powers.ptau");
    let before = powers_of(whole.clone());
    let mut changed = whole;
    let at = section(before.file(), 2).start + 5 * 96;
    changed[at..at + 96].copy_from_slice(&outside());
    let changed = powers_of(changed);
    let (mut made, randomness) = (Vec::new(), Randomness::System(&[]));
    let target = Target::Memory(&mut made);
    let contributed = powers::contribute(Level::best().into(), &changed, target, None, randomness).map(drop);
    let verified = powers::verify(Level::best().into(), &changed).map(drop);
    for error in [contributed, verified].map(|result| result.expect_err("refused").to_string()) {
        assert!(error.contains("section 2") && error.contains("element 5"), "{error}");
    }

    let mut changed = bytes("groth16.zkey");
    let at = section(key_of(changed.clone()).file(), 8).start + 96;
    changed[at..at + 96].copy_from_slice(&outside());
    let key = key_of(changed);
    let target = Target::Memory(&mut made);
    let error = contribute(Level::best().into(), &key, target, None, randomness);
    let error = error.expect_err("refused").to_string();
    assert!(error.contains("section 8") && error.contains("element 1"), "{error}");
}

#[test]
fn points_that_pairings_take_for_right_are_refused() {
    // Of order 3, so that a pairing with the sum is that with the point.
    let small = Affine::<G1> { x: Fq::from(0u64), y: Fq::from(2u64) };
    let initial = key_of(bytes("initial.zkey"));
    let key = key_of(bytes("groth16.zkey"));
    for (id, points) in [(8, key.c()), (9, key.h())] {
        let right = points.decode(Level::best(), PointCheck::InSubgroup).expect("points")[0];
        let wrong = Jacobian::from(right).add_affine(&small).to_affine();
        let mut changed = bytes("groth16.zkey");
        let at = section(key.file(), id).start;
        changed[at..at + 96].copy_from_slice(&in_file(wrong));
        let error = verify::key(Level::best(), &key_of(changed), &initial).expect_err("refused").to_string();
        assert!(error.contains(&format!("section {id}")) && error.contains("element 0"), "{error}");
    }
}

#[test]
fn keys_are_valid_with_snarkjss_contributions_and_own_ones() {
    let initial = key_of(bytes("initial.zkey"));
    let valid = |key: &Groth16Zkey<G1>| verify::key(Level::best(), key, &initial);
    let before = key_of(bytes("groth16.zkey"));
    verify::powers(Level::best(), &initial, &powers_of(bytes("powers.ptau"))).expect("its powers");
    valid(&before).expect("valid");
    let mut made = Vec::new();
    let (target, randomness) = (Target::Memory(&mut made), Randomness::System(b"test"));
    let hash = contribute(Level::best().into(), &before, target, Some("own"), randomness);
    let key = key_of(made.clone());
    valid(&key).expect("valid");
    let contributions = key.decoded_contributions().expect("a list").expect("a list").list;
    assert_eq!(contributions.last().map(|own| own.hash()), Some(hash.expect("written")));
    assert_eq!(contributions.len(), 3);
    let points = section(key.file(), 8);
    for at in points.step_by(96).skip(1) {
        let mut changed = made.clone();
        changed.copy_within(at - 96..at, at);
        assert!(valid(&key_of(changed)).is_err(), "offset {at}");
    }
}
