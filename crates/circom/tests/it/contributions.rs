//! ZkeyContributions that snarkjs 0.7.6 wrote, with the hashes that it showed; changed bytes are refused or seen.
//!
//! `contributions.bin` is section 10 of `groth16.zkey` after `zkey contribute -n="Žofie 2"`, `zkey beacon ... 10 -n="the beacon"`
//! and `zkey contribute` without a name.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proofmill_circom::{Beacon, BinFile, CircomError, Groth16Zkey, SectionName, ZkeyContributions};
use std::path::Path;

const SECTION: &[u8] = include_bytes!("../data/contributions.bin");

fn decode(section: &[u8]) -> Result<ZkeyContributions, CircomError> {
    let mut file = b"zkey\x01\0\0\0\x01\0\0\0\x0a\0\0\0".to_vec();
    file.extend((section.len() as u64).to_le_bytes());
    file.extend(section);
    let file = BinFile::from_bytes("key", file).unwrap();
    ZkeyContributions::decode(file.section(SectionName { id: 10, content: "contributions" }).unwrap())
}

#[test]
fn contributions_are_those_that_snarkjs_showed() {
    let contributions = decode(SECTION).unwrap();
    assert!(hex::encode(contributions.circuit_hash).starts_with("ca633f8cbe9e280313229096e4cba8ae"));
    let shown: Vec<_> =
        contributions.list.iter().map(|c| (c.name.as_deref(), hex::encode(c.hash()))).collect();
    let names = [Some("c"), Some("Žofie 2"), Some("the beacon"), None];
    let hashes = [
        "096ff2e6148c587b8fef885b5b1de9589df7ef4a3f385fb6d7d83ce1754fdba2\
         002406d50292779fff8176b32022f4b47e5179cef2b496d6d09cdeedd7492cc4",
        "b504b651426616c8ac664b767620abd130e0823e46efbbf851ff652cd059620c\
         9406f49442e790db098359e98fdbe1b0d010fbaf8b1924936623cc135d15f4bc",
        "8a97f32fa55612e94503122bb1f20c73accbd0f1e79c992b9c7a650e83683cb3\
         c13abb2945553660a6f32949516ec1239626538c337615d3899331ce2b1a832f",
        "22f4ccb6ad7b74a7bc2d160581c3f833d2ac5a45a250af965171218a0bbe3ddc\
         6c41608f50f4e0803c7a9cbf4d99c8bb5cf4c1d32769cf145190e6f58c4c184f",
    ];
    let expected: Vec<_> = names.into_iter().zip(hashes.map(str::to_owned)).collect();
    assert_eq!(shown, expected);
    let beacons: Vec<_> = contributions.list.iter().map(|c| c.beacon.clone()).collect();
    let beacon = Beacon { seed: (1..32).collect(), log_iterations: 10 };
    assert_eq!(beacons, [None, None, Some(beacon), None]);
}

#[test]
fn a_keys_contributions_end_at_its_delta() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/groth16.zkey");
    let key = <Groth16Zkey>::open(&path).unwrap();
    let contributions = key.decoded_contributions().unwrap().unwrap();
    assert_eq!(contributions.list.len(), 1);
    assert_eq!(contributions.list[0].delta_after, key.header().delta_1);
}

#[test]
fn every_changed_byte_is_refused_or_seen() {
    let right = decode(SECTION).unwrap();
    for at in 0..SECTION.len() {
        let mut changed = SECTION.to_vec();
        changed[at] ^= 1;
        assert!(decode(&changed).map_or(true, |changed| changed != right), "byte {at}");
    }
    for length in 0..SECTION.len() {
        decode(&SECTION[..length]).unwrap_err();
    }
    decode(&[SECTION, &[0]].concat()).unwrap_err();
}

#[test]
fn refusals_say_what_is_wrong() {
    // The first contribution begins at byte 68; its type is 384 bytes later, its parameters are "\x01\x01c".
    let refusal = |at: usize, byte: u8| {
        let mut changed = SECTION.to_vec();
        changed[at] = byte;
        decode(&changed).unwrap_err().to_string()
    };
    let cases = [
        (452, 1, "contribution of type 1 without a beacon's seed and without its iterations"),
        (452, 2, "contribution of type 2, expected 0 or 1"),
        (457, 0xff, "bytes of a contribution's parameters, found"),
        (460, 0, "parameter 0 after parameter 0, expected ascending ones"),
        (460, 4, "parameter 4, expected 1 to 3"),
        (461, 9, "expected 9 bytes of a contribution's name, found 1"),
        (64, 5, "expected 64 bytes of delta after a contribution, found 0"),
    ];
    for (at, byte, problem) in cases {
        let refusal = refusal(at, byte);
        assert!(
            refusal.starts_with("key: section 10 (contributions), offset ") && refusal.contains(problem),
            "{refusal}"
        );
    }
}
