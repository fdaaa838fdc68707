//! Runs the operations on secret keys under valgrind with the keys marked as undefined, so that memcheck reports every branch
//! and address that depends on a key (Langley's ctgrind). Used by `.ci/constant_time.sh`.
//!
//! `constant_time portable|adx` signs, derives keys and public keys; `constant_time leak` branches on a secret bit which
//! memcheck must report.

use proofmill_bls::SecretKey;
use proofmill_cpu::{Level, Portable};
use proofmill_sha256::Hmac;
use std::{env, hint::black_box, mem::size_of_val, process::ExitCode};

/// Client requests of memcheck, from its `memcheck.h`.
const MAKE_UNDEFINED: u64 = 0x4d43_0001;
const MAKE_DEFINED: u64 = 0x4d43_0002;
/// The client request for the number of valgrinds that this process runs under, from `valgrind.h`.
const RUNNING: u64 = 0x1001;

/// Sends a client request about memory to valgrind; without valgrind the result is 0.
#[cfg(target_arch = "x86_64")]
fn request(code: u64, start: *const u8, length: usize) -> u64 {
    let arguments = [code, start as u64, length as u64, 0, 0, 0];
    let mut answer = 0u64;
    // SAFETY: the rotations by 128 bits in total only clobber `rdi` and flags, which are declared as outputs, and the exchange
    // of a register with itself changes nothing. Valgrind recognises the sequence, reads the arguments, and changes only its
    // records of which bytes are defined.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            inout("rdx") answer,
            in("rax") &arguments,
            out("rdi") _,
        );
    }
    answer
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_: u64, _: *const u8, _: usize) -> u64 {
    0
}

/// Marks the bytes as secret from here on.
fn hide<T: ?Sized>(value: &T) {
    request(MAKE_UNDEFINED, std::ptr::from_ref(value).cast(), size_of_val(value));
}

/// Marks the bytes as public from here on.
fn reveal<T: ?Sized>(value: &T) {
    request(MAKE_DEFINED, std::ptr::from_ref(value).cast(), size_of_val(value));
}

fn use_keys(level: Level) {
    let seed = [7; 32];
    hide(&seed);
    let Ok(master) = SecretKey::derive_master(&seed) else { unreachable!("a seed of 32 bytes") };
    let child = master.derive_child(12_381);
    let bytes = child.to_bytes();
    let Ok(key) = SecretKey::from_bytes(&*bytes) else { unreachable!("a key's bytes") };
    let public = key.public_key(level);
    reveal(&public);
    println!("{:02x?}", public.to_bytes());
    // A proof of possession uses the same function, with a message that is only marked as secret: the public key.
    let signature = key.sign(level, b"message");
    reveal(&signature);
    println!("{:02x?}", signature.to_bytes());

    let hmac = Hmac::new(&seed);
    let code = hmac.finish();
    reveal(&code);
    println!("{code:02x?}");
}

/// A branch that must be reported.
fn leak() {
    let secret = [1u8];
    hide(&secret);
    if black_box(&secret)[0] & 1 == 1 {
        println!("odd");
    }
}

fn main() -> ExitCode {
    if request(RUNNING, std::ptr::null(), 0) == 0 {
        eprintln!("error: expected to run under valgrind");
        return ExitCode::from(2);
    }
    match env::args().nth(1).as_deref() {
        Some("leak") => leak(),
        Some("portable") => use_keys(Level::Portable(Portable)),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: this runs under valgrind, by the check of `RUNNING` above. Valgrind emulates BMI2 and ADX, but does not
        // report ADX in CPUID.
        Some("adx") => use_keys(Level::Adx(unsafe { proofmill_cpu::Adx::assume() })),
        _ => {
            eprintln!("error: expected portable, adx or leak");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
