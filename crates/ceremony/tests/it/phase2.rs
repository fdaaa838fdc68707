//! ZkeyContributions and beacons against snarkjs 0.7.6, and what verification refuses.
//!
//! `contributed.zkey` is `snarkjs zkey contribute toy.zkey contributed.zkey -n="Alice Ångström"`, and `beacon.zkey` is
//! `snarkjs zkey beacon contributed.zkey beacon.zkey 010203..1f 10 -n="Final beacon"`. `exported.mpcparams` is
//! `zkey export bellman contributed.zkey`, `response.mpcparams` a `zkey bellman contribute` of that, and `imported.zkey` is
//! `zkey import bellman contributed.zkey response.mpcparams imported.zkey -n=imported`.

use proofmill_ceremony::{CeremonyError, Randomness, bellman, contribute, verify};
use proofmill_circom::{Beacon, BinFile, Contributors, Groth16Zkey, Ptau, R1cs, read_witness};
use proofmill_cpu::Level;
use proofmill_curve::bn254::G1;
use proofmill_field::bn254::FrParams;
use proofmill_files::Target;
use proofmill_groth16::{insecurity_of_contributions, prove, verifying_key};
use proofmill_testing::{for_each_level, for_each_pool};
use std::{fs, path::PathBuf};

/// The hashes that snarkjs printed.
const HASHES: [&str; 2] = [
    "a4dd573c5d55a8fba0fba7f42ecc09aa3b9fab3ecc19b7949c20f165497b8b9bc0ff0d184f55f00d9dd9f64687437a8b83897ac7886b10b996178f7c03b1541a",
    "00888e092b72cf3853c8f4f14c2f937029d4945b5a29fd3b914f82c10a653c7ad42676ae88fae5120d03479f4fd28242512fbd5bfa8d32838a53677edef3c532",
];

fn path(relative: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", relative].iter().collect()
}

fn bytes(name: &str) -> Vec<u8> {
    let folder = if name == "toy.zkey" { "crates/groth16/tests/data" } else { "crates/ceremony/tests/data" };
    fs::read(path(folder).join(name)).expect("a key")
}

fn of_bytes(bytes: Vec<u8>) -> Result<Groth16Zkey, CeremonyError> {
    Ok(Groth16Zkey::read(BinFile::from_bytes("key", bytes)?)?)
}

fn key(name: &str) -> Groth16Zkey {
    of_bytes(bytes(name)).expect("a key")
}

fn powers() -> Ptau {
    Ptau::open(&path("examples/membership-small/pot8.ptau")).expect("powers")
}

fn contributed(
    level: Level,
    key: &Groth16Zkey,
    name: Option<&str>,
    randomness: Randomness<'_>,
) -> Result<(Vec<u8>, [u8; 64]), CeremonyError> {
    let mut made = Vec::new();
    let hash = contribute(level.into(), key, Target::Memory(&mut made), name, randomness)?;
    Ok((made, hash))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn beacon() -> Beacon {
    Beacon { seed: (1..32).collect(), log_iterations: 10 }
}

#[test]
fn a_beacon_gives_snarkjss_bytes() {
    let (before, expected) = (key("contributed.zkey"), bytes("beacon.zkey"));
    for_each_pool(&[1, 2, 5], |threads| {
        for_each_level(|level| {
            let made = contributed(level, &before, Some("Final beacon"), Randomness::Beacon(&beacon()));
            let (made, hash) = made.expect("a contribution");
            assert!(made == expected, "{level}, {threads} threads");
            assert_eq!(hex(&hash), HASHES[1]);
        });
    });
}

#[test]
fn snarkjss_contributions_are_valid() {
    let (initial, last) = (key("toy.zkey"), key("beacon.zkey"));
    for_each_level(|level| {
        let hashes = verify::key(level, &last, &initial).expect("valid");
        assert_eq!(hashes.iter().map(|hash| hex(hash)).collect::<Vec<_>>(), HASHES, "{level}");
        verify::powers(level, &initial, &powers()).expect("its powers");
    });
}

#[test]
fn own_contributions_are_valid_and_differ() {
    let (level, initial) = (Level::best(), key("toy.zkey"));
    let mut last = key("toy.zkey");
    let mut hashes = Vec::new();
    for name in [None, Some("Bob"), Some("")] {
        let (made, hash) = contributed(level, &last, name, Randomness::System(b"typed")).expect("made");
        let (other, _) = contributed(level, &last, name, Randomness::System(b"typed")).expect("made");
        assert!(made != other, "the system's randomness is in it");
        last = of_bytes(made).expect("a key");
        hashes.push(hash);
        assert_eq!(verify::key(level, &last, &initial).expect("valid"), hashes);
    }
    let (made, _) = contributed(level, &last, None, Randomness::Beacon(&beacon())).expect("made");
    last = of_bytes(made).expect("a key");
    assert_eq!(verify::key(level, &last, &initial).expect("valid").len(), 4);
    let all = last.decoded_contributions().expect("readable").expect("a list").list;
    let names: Vec<_> = all.iter().map(|contribution| contribution.name.as_deref()).collect();
    assert_eq!(names, [None, Some("Bob"), None, None]);
    assert_eq!(all[3].beacon, Some(beacon()));
    // It still proves.
    let witness = read_witness(&path("crates/circom/tests/data/witness.wtns"), level).expect("a witness");
    let public = R1cs::<FrParams>::open(&path("crates/circom/tests/data/circuit.r1cs"))
        .expect("a circuit")
        .header
        .public();
    let proof = prove(level.into(), &last, &witness).expect("a proof");
    let verifying = verifying_key(level, &last).expect("a key");
    proofmill_groth16::verify(level, &verifying, &witness[1..=public as usize], &proof).expect("valid");
}

#[test]
fn a_change_anywhere_is_noticed() {
    let (level, initial, valid) = (Level::best(), key("toy.zkey"), bytes("beacon.zkey"));
    let names: Vec<_> = ["Alice \u{c5}ngstr\u{f6}m", "Final beacon"]
        .iter()
        .map(|name| {
            let start =
                valid.windows(name.len()).position(|window| window == name.as_bytes()).expect("there");
            start..start + name.len()
        })
        .collect();
    // Every fifth byte: no field is shorter than that but for numbers, whose bytes differ by their positions.
    for (place, bit) in (0..valid.len()).step_by(5).zip((0..8).cycle()) {
        let mut changed = valid.clone();
        changed[place] ^= 1 << bit;
        let verdict = of_bytes(changed).and_then(|key| verify::key(level, &key, &initial));
        let is_name = names.iter().any(|name| name.contains(&place));
        assert_eq!(verdict.is_ok(), is_name, "byte {place}: names are not bound by anything");
    }
}

#[test]
fn contributions_stand_in_their_order_and_belong_to_their_key() {
    let level = Level::best();
    let (initial, first, last) = (key("toy.zkey"), key("contributed.zkey"), key("beacon.zkey"));
    let all = last.decoded_contributions().expect("readable").expect("a list");
    let refused = |change: &dyn Fn(&mut proofmill_circom::ZkeyContributions)| {
        let mut changed = all.clone();
        change(&mut changed);
        verify::contributions(level, &changed).expect_err("not valid").to_string()
    };
    assert!(refused(&|all| all.list.swap(0, 1)).starts_with("contribution 1 (Final beacon): its transcript"));
    assert!(refused(&|all| drop(all.list.remove(0))).contains("its transcript"));
    assert!(refused(&|all| all.circuit_hash[0] ^= 1).contains("its transcript"));
    assert!(refused(&|all| all.list[1].delta_after = all.list[0].delta_after).contains("multiplied delta"));
    assert!(refused(&|all| all.list[1].spx = all.list[0].spx).contains("proof of knowledge"));
    assert!(refused(&|all| all.list[0].beacon = Some(beacon())).contains("not the beacon's"));
    let endless = Beacon { log_iterations: 63, ..beacon() };
    assert!(refused(&|all| all.list[1].beacon = Some(endless.clone())).contains("2^63 iterations"));
    // The same contributions, but delta is that of the key before the last one.
    let (shorter, delta) =
        verify::contributions(level, &first.decoded_contributions().expect("readable").expect("a list"))
            .expect("valid");
    assert_eq!((shorter.len(), delta), (1, first.header().delta_1));
    let not_initial = verify::key(level, &last, &first);
    assert!(matches!(not_initial, Err(CeremonyError::NotInitial(1))), "{not_initial:?}");
    let other = Groth16Zkey::open(&path("crates/groth16/tests/data/odd.zkey")).expect("a key");
    assert!(matches!(verify::key(level, &last, &other), Err(CeremonyError::Differs(_))));
    assert!(verify::key(level, &initial, &initial).expect("valid").is_empty(), "nobody contributed");
}

#[test]
fn a_key_of_beacons_only_is_found() {
    let level = Level::best();
    let first = contributed(level, &key("toy.zkey"), None, Randomness::Beacon(&beacon())).expect("made").0;
    let first = of_bytes(first).expect("a key");
    let second = contributed(level, &first, Some("second"), Randomness::Beacon(&beacon())).expect("made").0;
    let second = of_bytes(second).expect("a key");
    for key in [&first, &second] {
        // Nothing in the key is wrong.
        verify::key(level, key, &self::key("toy.zkey")).expect("valid");
        assert_eq!(key.contributors().expect("a list"), Some(Contributors::OnlyBeacons));
        let reason = insecurity_of_contributions(key).expect("it is found");
        assert!(reason.contains("only beacons contributed"), "{reason}");
    }
    let third = contributed(level, &second, None, Randomness::System(b"typed")).expect("made").0;
    for key in [of_bytes(third).expect("a key"), key("beacon.zkey"), key("contributed.zkey")] {
        assert_eq!(key.contributors().expect("a list"), Some(Contributors::Participants));
        assert_eq!(insecurity_of_contributions(&key), None);
    }
    assert_eq!(key("toy.zkey").contributors().expect("a list"), Some(Contributors::Nobody));
}

#[test]
fn what_cannot_be_written_is_refused() {
    let (level, key) = (Level::best(), key("toy.zkey"));
    let refused = |name: Option<&str>, randomness: Randomness<'_>| {
        contributed(level, &key, name, randomness).expect_err("refused").to_string()
    };
    assert!(refused(Some(&"n".repeat(256)), Randomness::System(b"")).contains("255 bytes"));
    let long = Beacon { seed: vec![1; 256], log_iterations: 10 };
    assert!(refused(None, Randomness::Beacon(&long)).contains("255 bytes"));
    for log_iterations in [0, 9, 64, 255] {
        let beacon = Beacon { log_iterations, ..beacon() };
        assert!(refused(None, Randomness::Beacon(&beacon)).contains("expected 2^10 to 2^63"));
    }
    assert!(
        refused(None, Randomness::Beacon(&Beacon { seed: vec![], log_iterations: 10 })).contains("empty")
    );
}

/// The hash that snarkjs printed.
const RESPONSE: &str = "2b91628628a30053ca51441a3d7006c2a867f17481f155c1b1591c1f8793fe7fb2f6eda98c149c62adf5e221cdc478cc87993a00c22bce393f9ff1211e550ec2";

fn imported(
    key: &Groth16Zkey,
    parameters: &[u8],
    name: Option<&str>,
) -> Result<(Vec<u8>, Vec<[u8; 64]>), CeremonyError> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("parameters");
    fs::write(&file, parameters).expect("written");
    let mut made = Vec::new();
    let target = Target::Memory(&mut made);
    let hashes = bellman::import(Level::best().into(), key, &file, target, name, folder.path())?;
    Ok((made, hashes))
}

#[test]
fn bellmans_parameters_are_snarkjss_bytes() {
    let (key, folder) = (key("contributed.zkey"), tempfile::tempdir().expect("a folder"));
    let expected = bytes("exported.mpcparams");
    for_each_pool(&[1, 2, 5], |threads| {
        for_each_level(|level| {
            let mut made = Vec::new();
            let target = Target::Memory(&mut made);
            bellman::export(level.into(), &key, target, folder.path()).expect("exported");
            assert!(made == expected, "{level}, {threads} threads");
        });
    });
    let (made, hashes) = imported(&key, &bytes("response.mpcparams"), Some("imported")).expect("imported");
    assert!(made == bytes("imported.zkey"));
    assert_eq!(hashes.iter().map(|hash| hex(hash)).collect::<Vec<_>>(), [HASHES[0], RESPONSE]);
}

#[test]
fn contributions_to_bellmans_parameters_are_valid() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let contribute = |from: &PathBuf, to: &PathBuf| {
        let randomness = Randomness::System(b"typed");
        bellman::contribute::<G1>(Level::best().into(), from, to, randomness).expect("a contribution")
    };
    let hash = contribute(&path("crates/ceremony/tests/data/exported.mpcparams"), &first);
    let hashes = [hash, contribute(&first, &second)];
    let parameters = fs::read(&second).expect("written");
    let key = key("contributed.zkey");
    let (made, all) = imported(&key, &parameters, None).expect("imported");
    assert_eq!(all[1..], hashes);
    let verified = verify::key(Level::best(), &of_bytes(made).expect("a key"), &self::key("toy.zkey"));
    assert_eq!(verified.expect("valid"), all);
    // Without a new contribution, of another key, and a key that has more.
    for (key, parameters, problem) in [
        ("contributed.zkey", bytes("exported.mpcparams"), "no new contribution"),
        ("beacon.zkey", bytes("response.mpcparams"), "no new contribution"),
        ("beacon.zkey", parameters.clone(), "other contributions"),
    ] {
        let error = imported(&self::key(key), &parameters, None).expect_err(problem).to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn changed_parameters_are_refused() {
    let (key, parameters) = (key("contributed.zkey"), bytes("response.mpcparams"));
    let header = 3 * 64 + 3 * 128;
    // Alpha to gamma, IC, A and B are those of the key.
    for at in (2 * 64 + 2 * 128..header).chain(parameters.len() - 2 * 384 - 68..parameters.len()) {
        let mut changed = parameters.clone();
        changed[at] ^= 1;
        assert!(imported(&key, &changed, None).is_err(), "byte {at}");
    }
    for length in (0..parameters.len()).step_by(37) {
        assert!(imported(&key, &parameters[..length], None).is_err(), "{length} bytes");
    }
    // Counts that go beyond the file, or that are not the key's.
    for count in [0, 1, 1 << 20, u32::MAX] {
        let mut changed = parameters.clone();
        changed[header..header + 4].copy_from_slice(&count.to_be_bytes());
        assert!(imported(&key, &changed, None).is_err(), "{count} points");
    }
}
