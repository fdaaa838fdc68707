//! The runner of SHA-256 of three libraries; the first argument is the library's name.

#![forbid(unsafe_code)]

use peer_protocol::{Bytes, Task, Work, locked_version, serve, work};
use std::{env, process::ExitCode};

/// Writes the digests of messages of 64 bytes.
type Pairs = fn(&[[u8; 64]], &mut [[u8; 32]]);

fn main() -> ExitCode {
    let library = env::args().nth(1).unwrap_or_default();
    let package = if library == "hashtree" { "hashtree-rs" } else { &library };
    serve(locked_version(include_str!("../../Cargo.lock"), package), |task| prepare(&library, task))
}

fn prepare(library: &str, task: &Task) -> Result<Box<dyn Work>, String> {
    match (task.kernel.as_str(), library) {
        ("sha256/message", "ring") => message(task, ring),
        ("sha256/message", "sha2") => message(task, sha2),
        ("sha256/pairs", "hashtree") => {
            // Selects the kernel for this CPU.
            hashtree_rs::init();
            pairs(task, |pairs, digests| {
                hashtree_rs::hash(digests.as_flattened_mut(), pairs.as_flattened(), pairs.len());
            })
        }
        ("sha256/pairs", "ring") => pairs(task, |pairs, digests| one_by_one(pairs, digests, ring)),
        ("sha256/pairs", "sha2") => pairs(task, |pairs, digests| one_by_one(pairs, digests, sha2)),
        (kernel, _) => Err(format!("no kernel {kernel}")),
    }
}

fn ring(message: &[u8]) -> [u8; 32] {
    ring::digest::digest(&ring::digest::SHA256, message).as_ref().try_into().expect("32 bytes")
}

fn sha2(message: &[u8]) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    Sha256::digest(message).into()
}

fn message(task: &Task, digest: fn(&[u8]) -> [u8; 32]) -> Result<Box<dyn Work>, String> {
    let message = task.input.clone();
    Ok(work(move || digest(&message), |digest| digest.to_vec()))
}

fn one_by_one(pairs: &[[u8; 64]], digests: &mut [[u8; 32]], digest: impl Fn(&[u8]) -> [u8; 32]) {
    pairs.iter().zip(digests).for_each(|(pair, written)| *written = digest(pair));
}

fn pairs(task: &Task, hash: Pairs) -> Result<Box<dyn Work>, String> {
    let mut input = Bytes::new(&task.input);
    let pairs = input.take(task.size, 64, |bytes| bytes.try_into().expect("64 bytes"))?;
    input.end()?;
    let digests = vec![[0; 32]; task.size];
    Ok(Box::new(Digests { hash, pairs, digests }))
}

struct Digests {
    hash: Pairs,
    pairs: Vec<[u8; 64]>,
    digests: Vec<[u8; 32]>,
}

impl Work for Digests {
    fn run(&mut self) {
        (self.hash)(&self.pairs, &mut self.digests);
    }

    fn output(&self) -> Vec<u8> {
        self.digests.as_flattened().to_vec()
    }
}
