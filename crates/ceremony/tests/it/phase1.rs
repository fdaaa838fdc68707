//! Powers of tau against snarkjs 0.7.6, and what verification refuses.
//!
//! `new.ptau` is `snarkjs powersoftau new bn128 3`; `contributed.ptau` is a contribution to it, `--name="Alice Ångström"`; `beacon.ptau` is
//! `beacon contributed.ptau beacon.ptau 010203..1f 10 --name="Final beacon"`; `prepared.ptau` is `prepare phase2` of that. `challenge` is
//! `export challenge contributed.ptau`; `response` is `challenge contribute` of that, and `imported.ptau` is
//! `import response contributed.ptau response imported.ptau --name=imported`.

use proofmill_ceremony::{CeremonyError, Randomness, powers};
use proofmill_circom::{Beacon, BinFile, Ptau, PtauPoints};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2},
};
use proofmill_field::{Algebra, Field, SquareRoot, bn254::Fq2};
use proofmill_files::Target;
use proofmill_run::Progress;
use proofmill_testing::{for_each_level, for_each_pool};
use std::{fs, ops::Range, path::PathBuf};

/// The hashes of responses that snarkjs printed.
const HASHES: [&str; 2] = [
    "0306ff05b187ecb0fbb3b52fe6b175a2821b4b881f3c8583941d6cd79146ad7d00da99194aff860a5fc06aa67f006c8197da29a5b39f2b6156abc8ef2ea58c6c",
    "36ba716c967281227b0a46076048a753ae810808287a68b5250481d9e9e5eb1df86d3c44d2ba04db19a3e052b21334556fdd8521b90b28ebadedad085a902704",
];
const IMPORTED: &str = "a914f6293f8e0d75632bb8be318899dd624670282af649ebd032f12a04dedfc9a808e127e5677b1dcbf61c5c3ac408c8f4e09cf55106b640a9fda91317b10613";
/// The hash of the first challenge.
const FIRST: &str = "45f580c564b26059f533418e8c0cbdbcdd73543f221bfa741c1a5eeb71b0c2cd4ab44f2f0600f3d7ba93203f9b04e2de3f325a88d0cdfcd902b08b85e071a471";
const POWER: u32 = 3;

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/data", name].iter().collect()
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(path(name)).expect("a file")
}

fn of_bytes(bytes: Vec<u8>) -> Result<Ptau, CeremonyError> {
    Ok(Ptau::read(BinFile::from_bytes("powers", bytes)?)?)
}

fn file(name: &str) -> Ptau {
    of_bytes(bytes(name)).expect("powers")
}

fn contributed(
    level: Level,
    before: &Ptau,
    name: Option<&str>,
    randomness: Randomness<'_>,
) -> Result<(Vec<u8>, [u8; 64]), CeremonyError> {
    let mut made = Vec::new();
    let target = Target::Memory(&mut made);
    let hash = powers::contribute(level.into(), before, target, name, randomness)?;
    Ok((made, hash))
}

fn verified(bytes: Vec<u8>) -> Result<Vec<[u8; 64]>, CeremonyError> {
    powers::verify(Level::best().into(), &of_bytes(bytes)?)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn beacon() -> Beacon {
    Beacon { seed: (1..32).collect(), log_iterations: 10 }
}

fn range_of(powers: &Ptau, id: u32) -> Range<usize> {
    powers.file().sections().iter().find(|section| section.id == id).expect("a section").range.clone()
}

#[test]
fn new_powers_and_a_beacon_are_snarkjss_bytes() {
    let mut made = Vec::new();
    let hash = powers::new::<G1>(Target::Memory(&mut made), POWER, Progress::NONE).expect("written");
    assert!(made == bytes("new.ptau") && hex(&hash) == FIRST);
    let (before, expected) = (file("contributed.ptau"), bytes("beacon.ptau"));
    for_each_pool(&[1, 2, 5], |threads| {
        for_each_level(|level| {
            let beacon = beacon();
            let made = contributed(level, &before, Some("Final beacon"), Randomness::Beacon(&beacon));
            let (made, hash) = made.expect("a contribution");
            assert!(made == expected, "{level}, {threads} threads");
            assert_eq!(hex(&hash), HASHES[1]);
        });
    });
}

#[test]
fn prepared_powers_are_snarkjss_bytes() {
    let (before, expected, folder) = (file("beacon.ptau"), bytes("prepared.ptau"), std::env::temp_dir());
    for_each_pool(&[1, 2, 5], |threads| {
        for_each_level(|level| {
            for source in [&before, &file("prepared.ptau")] {
                let mut made = Vec::new();
                let target = Target::Memory(&mut made);
                powers::prepare(level.into(), source, target, &folder).expect("prepared");
                assert!(made == expected, "{level}, {threads} threads");
            }
        });
    });
}

#[test]
fn snarkjss_powers_are_valid() {
    for name in ["beacon.ptau", "prepared.ptau"] {
        let powers = file(name);
        for_each_level(|level| {
            let hashes = powers::verify(level.into(), &powers).expect("valid");
            assert_eq!(hashes.iter().map(|hash| hex(hash)).collect::<Vec<_>>(), HASHES, "{level}");
        });
        // What is decoded is encoded as it was.
        let list = powers.decoded_contributions().expect("a list");
        let encoded: Vec<u8> = list.iter().flat_map(|each| each.to_bytes().expect("short names")).collect();
        assert!(encoded == powers.encoded_contributions().expect("a list"));
        assert_eq!(list[0].name.as_deref(), Some("Alice \u{c5}ngstr\u{f6}m"));
        assert_eq!((&list[0].beacon, &list[1].beacon), (&None, &Some(beacon())));
    }
    let none = powers::verify(Level::best().into(), &file("new.ptau"));
    assert!(matches!(none, Err(CeremonyError::NoContributions)), "{none:?}");
}

#[test]
fn own_contributions_are_valid_and_differ() {
    let level = Level::best();
    let mut last = file("new.ptau");
    let mut hashes = Vec::new();
    for name in [None, Some("Bob"), Some("")] {
        let (made, hash) = contributed(level, &last, name, Randomness::System(b"typed")).expect("made");
        let (other, _) = contributed(level, &last, name, Randomness::System(b"typed")).expect("made");
        assert!(made != other, "the system's randomness is in it");
        hashes.push(hash);
        assert_eq!(verified(made.clone()).expect("valid"), hashes);
        last = of_bytes(made).expect("powers");
    }
    let names: Vec<_> =
        last.decoded_contributions().expect("a list").into_iter().map(|each| each.name).collect();
    assert_eq!(names, [None, Some("Bob".to_owned()), None]);
}

#[test]
fn powers_of_beacons_only_are_refused() {
    let (level, beacon) = (Level::best(), beacon());
    let (first, _) =
        contributed(level, &file("new.ptau"), None, Randomness::Beacon(&beacon)).expect("a contribution");
    let first = of_bytes(first).expect("powers");
    let (second, _) = contributed(level, &first, None, Randomness::Beacon(&beacon)).expect("a contribution");
    for powers in [&first, &of_bytes(second).expect("powers")] {
        let refused = powers::verify(level.into(), powers).expect_err("everyone can compute tau");
        assert!(matches!(refused, CeremonyError::OnlyBeacons), "{refused}");
        assert!(powers.insecurity().expect("it is found").contains("only beacons contributed"));
    }
    let (third, _) = contributed(level, &first, None, Randomness::System(b"typed")).expect("a contribution");
    assert_eq!(verified(third.clone()).expect("valid").len(), 2);
    assert_eq!(of_bytes(third).expect("powers").insecurity(), None);
    assert_eq!(file("beacon.ptau").insecurity(), None);
    assert!(file("new.ptau").insecurity().expect("it is found").contains("nobody contributed"));
}

#[test]
fn challenges_and_responses_are_snarkjss_bytes() {
    let (level, folder) = (Level::best(), tempfile::tempdir().expect("a folder"));
    let contributed = file("contributed.ptau");
    let mut made = Vec::new();
    powers::export_challenge(level.into(), &contributed, Target::Memory(&mut made)).expect("written");
    assert!(made == bytes("challenge"));
    let import = |response: &PathBuf| {
        let mut made = Vec::new();
        let target = Target::Memory(&mut made);
        let hash = powers::import_response(level.into(), &contributed, response, target, Some("imported"));
        hash.map(|hash| (made, hash))
    };
    let (imported, hash) = import(&path("response")).expect("valid");
    assert!(imported == bytes("imported.ptau") && hex(&hash) == IMPORTED);
    // A beacon's response is the same contribution as the beacon's, but for its type.
    let (response, beacon) = (folder.path().join("response"), beacon());
    let hash = powers::contribute_to_challenge::<G1>(
        level.into(),
        &path("challenge"),
        &response,
        Randomness::Beacon(&beacon),
    );
    assert_eq!(hex(&hash.expect("written")), HASHES[1]);
    let imported = of_bytes(import(&response).expect("valid").0).expect("powers");
    let mut own = imported.decoded_contributions().expect("a list")[1].clone();
    let theirs = file("beacon.ptau").decoded_contributions().expect("a list")[1].clone();
    (own.name, own.beacon) = (theirs.name.clone(), theirs.beacon.clone());
    // What was in the buffer of the hash before depends on the pieces that were hashed.
    own.partial_hash[96..128].copy_from_slice(&theirs.partial_hash[96..128]);
    assert_eq!(own, theirs);
    // To another challenge.
    let other = powers::import_response(
        level.into(),
        &file("new.ptau"),
        &response,
        Target::Memory(&mut Vec::new()),
        None,
    );
    assert!(matches!(other, Err(CeremonyError::OtherChallenge)), "{other:?}");
}

#[test]
fn a_change_anywhere_in_a_response_is_noticed() {
    let (level, folder) = (Level::best(), tempfile::tempdir().expect("a folder"));
    let (before, right) = (file("contributed.ptau"), bytes("response"));
    let changed = folder.path().join("response");
    for (place, bit) in (0..right.len()).step_by(7).zip((0..8).cycle()) {
        let mut response = right.clone();
        response[place] ^= 1 << bit;
        fs::write(&changed, response).expect("written");
        let mut made = Vec::new();
        let target = Target::Memory(&mut made);
        let verdict = powers::import_response(level.into(), &before, &changed, target, None);
        let verdict = verdict.and_then(|_| verified(made.clone()));
        assert!(verdict.is_err(), "byte {place}");
    }
    for length in [0, 1, 64, 2399] {
        fs::write(&changed, &right[..length]).expect("written");
        let target = &mut Vec::new();
        let error = powers::import_response(level.into(), &before, &changed, Target::Memory(target), None);
        let error = error.expect_err("too short").to_string();
        assert!(error.contains("expected a response of 2^3 powers, 2400 bytes"), "{error}");
        let randomness = Randomness::System(b"");
        let error =
            powers::contribute_to_challenge::<G1>(level.into(), &changed, Target::Memory(target), randomness);
        let error = error.expect_err("no challenge").to_string();
        assert!(error.contains("expected a challenge"), "{error}");
    }
}

#[test]
fn a_change_anywhere_is_noticed() {
    let valid = bytes("beacon.ptau");
    let list = range_of(&file("beacon.ptau"), 7);
    // Of each contribution: 448 bytes of powers, 768 of proofs, the state of a hash.
    let find = |name: &str| {
        let at = valid.windows(name.len()).position(|window| window == name.as_bytes()).expect("there");
        at..at + name.len()
    };
    let names = ["Alice \u{c5}ngstr\u{f6}m", "Final beacon"].map(find);
    let second = list.end
        - file("beacon.ptau").decoded_contributions().expect("a list")[1].to_bytes().expect("short").len();
    let state = |contribution: usize| contribution + 448 + 768..contribution + 448 + 768 + 216;
    let (first, second) = (state(list.start + 4), state(second));
    let is_free = |place: usize| {
        names.iter().any(|name| name.contains(&place))
            // Nothing follows from the response of a contribution before the last one, but its length.
            || (first.start..first.end - 24).contains(&place)
            // Behind the buffer.
            || (second.start + 96..second.start + 128).contains(&place)
    };
    for (place, bit) in (0..valid.len()).step_by(11).zip((0..8).cycle()) {
        let mut changed = valid.clone();
        changed[place] ^= 1 << bit;
        assert_eq!(verified(changed).is_ok(), is_free(place), "byte {place}, {list:?}");
    }
    for length in (0..valid.len()).step_by(97) {
        assert!(verified(valid[..length].to_vec()).is_err(), "{length} bytes");
    }
}

#[test]
fn a_change_anywhere_in_lagrange_polynomials_is_noticed() {
    let valid = bytes("prepared.ptau");
    let ranges = [12, 13, 14, 15].map(|id| range_of(&file("prepared.ptau"), id));
    for (place, bit) in ranges.into_iter().flatten().step_by(37).zip((0..8).cycle()) {
        let mut changed = valid.clone();
        changed[place] ^= 1 << bit;
        assert!(verified(changed).is_err(), "byte {place}");
    }
}

/// Bytes of a point in the file.
fn in_g1(point: &Affine<G1>) -> Vec<u8> {
    [point.x, point.y].into_iter().flat_map(|coordinate| coordinate.to_montgomery_le()).collect()
}

fn in_g2(point: &Affine<G2>) -> Vec<u8> {
    let Affine { x, y } = point;
    [x.c0, x.c1, y.c0, y.c1].into_iter().flat_map(|coordinate| coordinate.to_montgomery_le()).collect()
}

#[test]
fn wrong_points_are_named() {
    let (valid, powers) = (bytes("prepared.ptau"), file("prepared.ptau"));
    let refused = |id: u32, index: usize, point: &[u8]| {
        let mut changed = valid.clone();
        let at = range_of(&powers, id).start + index * point.len();
        changed[at..at + point.len()].copy_from_slice(point);
        verified(changed).expect_err("wrong").to_string()
    };
    let (one, two) = (in_g1(&G1::GENERATOR), in_g2(&G2::GENERATOR));
    for (id, index, words) in [
        (2, 0, "section 2 (tau in G1): point 1 is not tau times point 0"),
        (2, 1, "section 2 (tau in G1): its first power is not that of the last contribution"),
        (2, 2, "section 2 (tau in G1): point 2 is not tau times point 1"),
        (2, 9, "section 2 (tau in G1): point 9 is not tau times point 8"),
        (2, 14, "section 2 (tau in G1): point 14 is not tau times point 13"),
        (4, 7, "section 4 (alpha tau in G1): point 7 is not tau times point 6"),
        (5, 0, "section 5 (beta tau in G1): its first power"),
        (12, 4, "section 12 (lagrange tau in G1): the domain of 2^2 points"),
        (12, 30, "section 12 (lagrange tau in G1): the domain of 2^4 points"),
        (14, 0, "section 14 (lagrange alpha tau in G1): the domain of 2^0 points"),
    ] {
        // The first point of section 2 is the generator, so that it is changed to another one.
        let point = if (id, index) == (2, 0) { in_g1(&-G1::GENERATOR) } else { one.clone() };
        let error = refused(id, index, &point);
        let expected = if (id, index) == (2, 0) { "point 0 is not the generator" } else { words };
        assert!(error.contains(expected), "{id}, {index}: {error}");
    }
    for (id, index, words) in [
        (3, 7, "section 3 (tau in G2): point 7 is not tau times point 6"),
        (6, 0, "section 6 (beta in G2): its first power"),
        (13, 14, "section 13 (lagrange tau in G2): the domain of 2^3 points"),
    ] {
        let error = refused(id, index, &two);
        assert!(error.contains(words), "{id}, {index}: {error}");
    }
    // On the curve, outside the subgroup.
    let outside = (1_u64..)
        .map(|x| Fq2 { c0: x.into(), c1: Fq2::ONE.c0 })
        .find_map(|x| Some(Affine::<G2> { x, y: (x.square() * x + G2::B).sqrt_vartime()? }))
        .expect("half of all x");
    assert!(outside.is_on_curve() && !outside.is_in_subgroup());
    let error = refused(3, 5, &in_g2(&outside));
    assert!(
        error.contains("tau in G2") && error.contains("element 5: point is not in the subgroup"),
        "{error}"
    );
    let error = refused(4, 6, &[0; 64]);
    assert!(error.contains("section 4 (alpha tau in G1): element 6: point is infinity"), "{error}");
    let error = refused(4, 6, &[1; 64]);
    assert!(
        error.contains("alpha tau in G1") && error.contains("element 6: point is not on the curve"),
        "{error}"
    );
}

#[test]
fn a_truncated_file_is_valid_and_takes_no_contributions() {
    let (level, prepared) = (Level::best(), file("prepared.ptau"));
    assert_eq!(powers::truncated_powers(&prepared), 1..POWER);
    for power in powers::truncated_powers(&prepared) {
        let mut made = Vec::new();
        powers::truncate(&prepared, power, Target::Memory(&mut made)).expect("written");
        let part = of_bytes(made.clone()).expect("powers");
        assert_eq!((part.header().power, part.header().ceremony_power), (power, POWER));
        assert_eq!(part.points::<G1>(PtauPoints::TauG1).expect("points").len(), (2 << power) - 1);
        assert_eq!(verified(made).expect("valid").len(), 2);
        let refused = contributed(level, &part, None, Randomness::System(b""));
        assert!(matches!(refused, Err(CeremonyError::Reduced { .. })), "{refused:?}");
    }
    let unprepared = powers::truncate(&file("beacon.ptau"), 1, Target::Memory(&mut Vec::new()));
    assert!(matches!(unprepared, Err(CeremonyError::Unprepared)), "{unprepared:?}");
}

#[test]
fn what_cannot_be_contributed_to_is_refused_at_once() {
    let level = Level::best();
    let before = file("new.ptau");
    let refused = |name: Option<&str>, randomness: Randomness<'_>| {
        contributed(level, &before, name, randomness).expect_err("refused").to_string()
    };
    assert!(refused(Some(&"n".repeat(256)), Randomness::System(b"")).contains("255 bytes"));
    let long = Beacon { seed: vec![1; 256], log_iterations: 10 };
    assert!(refused(None, Randomness::Beacon(&long)).contains("255 bytes"));
    for log_iterations in [0, 9, 64, 255] {
        let beacon = Beacon { log_iterations, ..beacon() };
        assert!(refused(None, Randomness::Beacon(&beacon)).contains("expected 2^10 to 2^63"));
    }
    // Powers and counts that the file has no room for.
    let header = range_of(&before, 1).start + 36;
    for (at, value) in
        [(header, 0), (header, 4), (header, 28), (header, 29), (header + 4, 2), (header + 4, 99)]
    {
        let mut changed = bytes("new.ptau");
        changed[at] = value;
        let made =
            of_bytes(changed).and_then(|powers| contributed(level, &powers, None, Randomness::System(b"")));
        let error = made.expect_err("refused").to_string();
        assert!(!error.contains('\n'), "{error}");
    }
    let mut changed = bytes("contributed.ptau");
    let count = range_of(&file("contributed.ptau"), 7).start;
    changed[count..count + 4].fill(0xff);
    assert!(verified(changed).is_err());
}
