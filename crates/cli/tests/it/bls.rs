//! `bls`: keys, signatures and verification from the shell; test cases in folders.

use crate::process::Folder;
use serde_json::Value;
use std::fs;

/// EIP-2333's second case: a seed, and its child 3141592653.
const SEED: [u8; 32] = [
    0x31, 0x41, 0x59, 0x26, 0x53, 0x58, 0x97, 0x93, 0x23, 0x84, 0x62, 0x64, 0x33, 0x83, 0x27, 0x95, 0x02,
    0x88, 0x41, 0x97, 0x16, 0x93, 0x99, 0x37, 0x51, 0x05, 0x82, 0x09, 0x74, 0x94, 0x45, 0x92,
];

/// The levels of this CPU with kernels for the big prime fields.
fn levels(folder: &Folder) -> Vec<&'static str> {
    // Parsed, not searched: the report also names features that the CPU lacks.
    let report: Value = serde_json::from_str(&line(folder, "cpu --json")).unwrap();
    let available = report["result"]["levels"].as_array().unwrap();
    ["portable", "adx", "avx512ifma"]
        .into_iter()
        .filter(|level| available.contains(&(*level).into()))
        .collect()
}

/// A folder with a message and a key derived from the seed, and its public key.
fn with_key() -> (Folder, String) {
    let folder = Folder::new();
    folder.write("seed", SEED);
    folder.write("message", "message");
    let line = folder.run("bls keygen --seed seed --path m/3141592653 --out key").succeeded().stdout;
    let public = line.trim().to_owned();
    assert!(public.starts_with("0x") && public.len() == 98, "{public}");
    (folder, public)
}

fn line(folder: &Folder, arguments: &str) -> String {
    folder.run(arguments).succeeded().stdout.trim().to_owned()
}

#[test]
fn a_key_signs_and_its_signature_verifies() {
    let (folder, public) = with_key();
    // 25457201688850691947727629385191704516744796114925897962676248250929345014287, as in EIP-2333.
    assert_eq!(folder.text("key"), "384843fad5f3d777ea39de3e47a8f999ae91f89e42bffa993d91d9782d152a0f\n");
    let signature = line(&folder, "bls sign --key key message");
    for level in levels(&folder) {
        assert_eq!(line(&folder, &format!("bls sign --key key message --level {level}")), signature);
        let arguments = format!("bls verify --public-key {public} --signature {signature} --level {level}");
        assert_eq!(line(&folder, &format!("{arguments} message")), "valid");
        let error = folder.run(&format!("{arguments} key")).failed(1);
        assert!(error.contains("not valid"), "{error}");
    }
    let report: Value = serde_json::from_str(&line(&folder, "bls sign --key key message --json")).unwrap();
    assert_eq!(report["result"]["signature"], *signature);
    assert_eq!(report["result"]["public_key"], *public);
    let proof = line(&folder, "bls sign --key key --possession");
    let checked = format!("bls verify --public-key {public} --signature {proof}");
    assert_eq!(line(&folder, &format!("{checked} --possession")), "valid");
    folder.run(&format!("{checked} message")).failed(1);
}

#[test]
fn aggregates_verify_by_all_keys() {
    let (folder, first) = with_key();
    let second = line(&folder, "bls keygen --out second");
    let signatures = ["key", "second"].map(|key| line(&folder, &format!("bls sign --key {key} message")));
    let sum = line(&folder, &format!("bls aggregate {} {}", signatures[0], signatures[1]));
    let check = format!("bls verify --public-key {first} --public-key {second} --signature {sum} message");
    assert_eq!(line(&folder, &check), "valid");
    let key = line(&folder, &format!("bls aggregate --public-keys {first} {second}"));
    assert_eq!(line(&folder, &format!("bls verify --public-key {key} --signature {sum} message")), "valid");
    folder.run(&format!("bls verify --public-key {first} --signature {sum} message")).failed(1);
    let error = folder.run(&format!("bls aggregate {sum} 0x00")).failed(2);
    assert!(error.contains("signature 2: expected 96 bytes"), "{error}");
    let infinity = format!("0xc0{}", "0".repeat(94));
    let error = folder.run(&format!("bls aggregate --public-keys {first} {infinity}")).failed(2);
    assert!(error.contains("public key 2: public key: the point is infinity"), "{error}");
}

#[test]
fn keys_are_private_and_never_replaced() {
    let (folder, _) = with_key();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(folder.path("key")).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let before = folder.text("key");
    let error = folder.run("bls keygen --out key").failed(2);
    assert!(error.contains("key"), "{error}");
    assert_eq!(folder.text("key"), before);
    for (name, content) in
        [("short", "abcd"), ("words", "no key at all"), ("zero", &"0".repeat(64)), ("empty", "")]
    {
        folder.write(name, content);
        let error = folder.run(&format!("bls sign --key {name} message")).failed(2);
        assert!(error.contains(name) && error.contains("secret key"), "{error}");
    }
    folder.write("large", vec![b'0'; 5000]);
    let error = folder.run("bls sign --key large message").failed(2);
    assert!(error.contains("at most 4096 bytes"), "{error}");
    let error = folder.run("bls keygen --out other --seed short").failed(2);
    assert!(error.contains("short: expected a seed of at least 32 bytes, found 4"), "{error}");
    let error = folder.run("bls keygen --out other --seed seed --path 0/1").failed(2);
    assert!(error.contains("--path: expected a path such as m/12381"), "{error}");
    assert!(!folder.names().contains(&"other".to_owned()));
}

#[test]
#[cfg(unix)]
fn a_key_that_others_can_read_gives_a_warning() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, _) = with_key();
    let signature = line(&folder, "bls sign --key key message");
    fs::set_permissions(folder.path("key"), fs::Permissions::from_mode(0o640)).unwrap();
    let run = folder.run("bls sign --key key message");
    assert_eq!(run.stdout.trim(), signature);
    assert!(run.warned().contains("key: other users can read this secret key"));
    assert_eq!(folder.run("bls sign --key key message --quiet").succeeded().stdout, "");
}
