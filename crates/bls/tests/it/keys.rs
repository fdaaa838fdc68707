//! Secret keys: the cases of EIP-2333, ranges, paths; public keys against blst.

use proofmill_bls::{BlsError, SecretKey};
use proofmill_field::bls12_381::Fr;
use proofmill_testing::{for_each_level, rng};
use rand::RngCore;

/// Seed, master key, index of a child, child: the test cases of EIP-2333, in its decimal or hexadecimal form.
const CASES: [(&str, &str, u32, &str); 4] = [
    (
        "c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04",
        "6083874454709270928345386274498605044986640685124978867557563392430687146096",
        0,
        "20397789859736650942317412262472558107875392172444076792671091975210932703118",
    ),
    (
        "3141592653589793238462643383279502884197169399375105820974944592",
        "29757020647961307431480504535336562678282505419141012933316116377660817309383",
        3_141_592_653,
        "25457201688850691947727629385191704516744796114925897962676248250929345014287",
    ),
    (
        "0099ff991111002299dd7744ee3355bbdd8844115566cc55663355668888cc00",
        "27580842291869792442942448775674722299803720648445448686099262467207037398656",
        4_294_967_295,
        "29358610794459428860402234341874281240803786294062035874021252734817515685787",
    ),
    (
        "d4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
        "19022158461524446591288038168518313374041767046816487870552872741050760015818",
        42,
        "31372231650479070279774297061823572166496564838472787488249775572789064611981",
    ),
];

fn bytes(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect()
}

fn decimal(key: &SecretKey) -> String {
    let value: Fr = Fr::from_bytes_be(&*key.to_bytes()).unwrap();
    value.to_string()
}

/// Replaces `unwrap_err`, which needs `Debug`: the secret key has none.
fn error<T>(result: Result<T, BlsError>) -> BlsError {
    result.err().expect("a refusal")
}

#[test]
fn eip_2333s_cases_pass() {
    for (seed, master, index, child) in CASES {
        let key = SecretKey::derive_master(&bytes(seed)).unwrap();
        assert_eq!(decimal(&key), master);
        assert_eq!(decimal(&key.derive_child(index)), child);
        assert_eq!(decimal(&SecretKey::derive_path(&bytes(seed), &format!("m/{index}")).unwrap()), child);
    }
}

#[test]
fn keys_and_children_are_blsts() {
    let mut rng = rng(2);
    for length in [32, 33, 48, 64, 100] {
        let mut seed = vec![0; length];
        rng.fill_bytes(&mut seed);
        let (ours, theirs) = (
            SecretKey::derive_master(&seed).unwrap(),
            blst::min_pk::SecretKey::derive_master_eip2333(&seed).unwrap(),
        );
        assert_eq!(*ours.to_bytes(), theirs.to_bytes());
        let index = length as u32 * 0x0101_0101;
        let child = theirs.derive_child_eip2333(index);
        assert_eq!(*ours.derive_child(index).to_bytes(), child.to_bytes());
        let path = SecretKey::derive_path(&seed, &format!("m/{index}/0/7")).unwrap();
        assert_eq!(*path.to_bytes(), child.derive_child_eip2333(0).derive_child_eip2333(7).to_bytes());
    }
}

#[test]
fn seeds_and_paths_are_refused_by_name() {
    let seed = [1; 32];
    assert_eq!(error(SecretKey::derive_master(&seed[1..])), BlsError::SeedLength { found: 31 });
    assert_eq!(error(SecretKey::derive_master(&[])), BlsError::SeedLength { found: 0 });
    for path in ["", "n/0", "m/", "m//0", "m/-1", "m/+1", "m/4294967296", "m/0/x", "m/0/"] {
        assert_eq!(error(SecretKey::derive_path(&seed, path)), BlsError::Path(path.to_owned()));
    }
    assert_eq!(
        *SecretKey::derive_path(&seed, "m").unwrap().to_bytes(),
        *SecretKey::derive_master(&seed).unwrap().to_bytes()
    );
}

#[test]
fn secret_keys_are_from_1_to_r_minus_1() {
    let modulus = bytes("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001");
    let change = |delta: i16| {
        let mut bytes = modulus.clone();
        bytes[31] = (i16::from(bytes[31]) + delta) as u8;
        bytes
    };
    for refused in [vec![0; 32], vec![0xff; 32], modulus.clone(), change(1)] {
        assert_eq!(error(SecretKey::from_bytes(&refused)), BlsError::SecretKeyRange);
        assert!(blst::min_pk::SecretKey::from_bytes(&refused).is_err());
    }
    let one: Vec<u8> = (0..32).map(|i| u8::from(i == 31)).collect();
    for accepted in [one, change(-1)] {
        assert_eq!(SecretKey::from_bytes(&accepted).unwrap().to_bytes()[..], accepted);
    }
    for length in [0, 31, 33] {
        assert_eq!(
            error(SecretKey::from_bytes(&vec![1; length])),
            BlsError::Length { what: "a secret key", expected: 32, found: length }
        );
    }
}

#[test]
fn public_keys_and_signatures_are_blsts() {
    let mut rng = rng(3);
    for i in 0..20usize {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let key = SecretKey::derive_master(&seed).unwrap();
        let theirs = blst::min_pk::SecretKey::from_bytes(&*key.to_bytes()).unwrap();
        let message = vec![i as u8; i * i];
        let public = theirs.sk_to_pk().to_bytes();
        let signature = theirs.sign(&message, proofmill_bls::DST, &[]).to_bytes();
        let proof = theirs.sign(&public, proofmill_bls::POSSESSION_DST, &[]).to_bytes();
        for_each_level(|level| {
            assert_eq!(key.public_key(level).to_bytes(), public, "{level}");
            assert_eq!(key.sign(level, &message).to_bytes(), signature, "{level}");
            assert_eq!(key.prove_possession(level).to_bytes(), proof, "{level}");
        });
    }
}

#[test]
fn generated_keys_differ() {
    assert!(*SecretKey::generate().unwrap().to_bytes() != *SecretKey::generate().unwrap().to_bytes());
}
