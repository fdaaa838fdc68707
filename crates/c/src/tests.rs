//! Functions called as from C. `tests/calls.c` calls all of them.

use super::*;
use boundary::{CallFailure, guarded};
use proofmill::{
    circom::{R1cs, Witness},
    plonk::{Arithmetisation, ProvingKey},
    srs::Srs,
};
use std::{ffi::CStr, path::Path, ptr};

fn example(name: &str) -> std::path::PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small")).join(name)
}

fn read(name: &str) -> Vec<u8> {
    std::fs::read(example(name)).expect("a file of the example")
}

/// The code and the message of a body, in a buffer of this size.
fn outcome(size: usize, body: impl FnOnce() -> Result<(), CallFailure>) -> (c_int, Vec<u8>) {
    let mut buffer = vec![b'#'; size + 1];
    // SAFETY: the buffer has `size` bytes.
    let code = unsafe { guarded(7, buffer.as_mut_ptr().cast(), size as c_ulonglong, body) };
    (code, buffer)
}

#[test]
fn panics_become_errors() {
    let (code, message) = outcome(64, || panic!("on purpose"));
    assert_eq!(code, 7);
    assert!(message.starts_with(b"internal error: on purpose\0#"));
    let (_, message) = outcome(64, || panic!("number {}", 5));
    assert!(message.starts_with(b"internal error: number 5\0"));
    let (code, message) = outcome(64, || std::panic::panic_any(5));
    assert!(code == 7 && message.starts_with(b"internal error: a panic without a message\0"));
}

#[test]
fn messages_are_cut_between_characters() {
    let fails = || Err(CallFailure::new("äöü"));
    for (size, expected) in
        [(0, "#"), (1, "\0#"), (2, "\0##"), (3, "ä\0#"), (4, "ä\0##"), (7, "äöü\0#"), (8, "äöü\0##")]
    {
        assert_eq!(outcome(size, fails), (7, expected.into()), "{size}");
    }
    // SAFETY: null is no buffer, whatever its size.
    assert_eq!(unsafe { guarded(7, ptr::null_mut(), 5, fails) }, 7);
}

#[test]
fn success_writes_no_message() {
    assert_eq!(outcome(4, || Ok(())), (0, b"#####".to_vec()));
}

/// Proves and returns proof and public signals.
fn proof(
    function: impl FnOnce(&mut [u8], &mut c_ulonglong, &mut [u8], &mut c_ulonglong) -> c_int,
) -> [String; 2] {
    let (mut proof, mut public) = ([b'#'; 1 << 13], [b'#'; 512]);
    let (mut proof_size, mut public_size) = (proof.len() as c_ulonglong, public.len() as c_ulonglong);
    assert_eq!(function(&mut proof, &mut proof_size, &mut public, &mut public_size), PROVER_OK);
    [(&proof[..], proof_size), (&public[..], public_size)].map(|(buffer, size)| {
        let text = CStr::from_bytes_until_nul(buffer).expect("a zero byte").to_str().expect("JSON");
        assert_eq!(text.len() as c_ulonglong, size);
        text.to_owned()
    })
}

#[test]
fn proofs_are_those_of_the_library() {
    let (zkey, wtns) = (read("groth16.zkey"), read("witness.wtns"));
    let [proof, public] = proof(|proof, proof_size, public, public_size| {
        // SAFETY: all pointers are those of slices, with their sizes.
        unsafe {
            groth16_prover(
                zkey.as_ptr().cast(),
                zkey.len() as c_ulonglong,
                wtns.as_ptr().cast(),
                wtns.len() as c_ulonglong,
                proof.as_mut_ptr().cast(),
                proof_size,
                public.as_mut_ptr().cast(),
                public_size,
                ptr::null_mut(),
                0,
            )
        }
    });
    let expected: String = String::from_utf8(read("public.json")).expect("JSON").split_whitespace().collect();
    assert_eq!(public, expected);
    assert!(proof.starts_with(r#"{"pi_a":["#), "{proof}");
    let public = proofmill::circom::PublicSignals::from_json(public).expect("public signals");
    let key = proofmill::groth16::VerifyingKey::open(example("groth16.vk.json")).expect("a key");
    proofmill::groth16::Proof::from_json(proof, public)
        .expect("a proof")
        .verify(&key)
        .expect("a valid proof");
}

/// The bytes of this proof with the most digits in each number but the constants 0 and 1, and a zero byte.
fn longest(json: &str) -> usize {
    let compact = system::compact(json);
    let strings = compact.split('"').skip(1).step_by(2);
    let numbers = strings.filter(|text| text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_digit()));
    compact.len() + numbers.map(|number| 77 - number.len()).sum::<usize>() + 1
}

#[test]
fn every_proof_fits_into_the_stated_size() {
    let size = |function: unsafe extern "C" fn(*mut c_ulonglong)| {
        let mut size = 0;
        // SAFETY: a reference.
        unsafe { function(&mut size) };
        size as usize
    };
    let text = |name| String::from_utf8(read(name)).expect("JSON");
    assert!(longest(&text("groth16.proof.json")) <= size(groth16_proof_size));
    assert!(longest(&text("plonk.proof.json")) <= size(plonk_proof_size));
    assert!(longest(&text("fflonk.proof.json")) <= size(fflonk_proof_size));

    let circuit = R1cs::open(example("circuit.r1cs")).expect("a circuit");
    let (srs, witness) =
        (Srs::open(example("pot8.ptau")).expect("powers"), Witness::open(example("witness.wtns")));
    let witness = witness.expect("a witness");
    for arithmetisation in [Arithmetisation::Turbo, Arithmetisation::Ultra] {
        let key = ProvingKey::setup_in(&circuit, &srs, arithmetisation).expect("a key");
        let proof = key.prove(&witness).expect("a proof").to_json();
        assert!(longest(&proof) <= size(plonk_proof_size), "{} bytes", longest(&proof));
    }
}
