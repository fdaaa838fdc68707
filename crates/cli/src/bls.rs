//! `bls`: keys, signatures, verification, test vectors.

use crate::{programs::Passed, task::MachineWork};
use clap::{Args, Subcommand};
use proofmill::bls::{PublicKey, SecretKey, Signature, fast_aggregate_verify};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_files::{most_of_a_pipe, read_at_most, read_file_at_most};
use proofmill_run::Run;
use serde_json::json;
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};
use zeroize::Zeroizing;

/// The largest file of a key or a seed, in bytes.
const MOST_SECRET: u64 = 1 << 12;

/// The least length of a seed in bytes (EIP-2333).
const LEAST_SEED: usize = 32;

#[derive(Debug, Subcommand)]
pub(crate) enum BlsCommand {
    #[command(flatten)]
    Here(BlsWork),
    /// Run test cases: JSON and YAML files in folders named after the tested function
    #[command(after_help = "Examples:
  proofmill bls vectors bls12-381-tests/
  proofmill bls vectors crates/bls/tests/vectors --level portable

The program proofmill-bench does this: `proofmill bls vectors --help` prints its help.")]
    Vectors(Passed),
}

/// The commands of this program.
#[derive(Debug, Subcommand)]
pub(crate) enum BlsWork {
    /// Make a secret key, from randomness or from a seed (EIP-2333), and print its public key
    #[command(after_help = "Examples:
  proofmill bls keygen --out validator.key
  proofmill bls keygen --out validator.key --seed seed.bin --path m/12381/3600/0/0/0

The key file holds 64 hexadecimal digits; only its owner can read it; a file that exists is not replaced.")]
    Keygen(Keygen),
    /// Sign a file, or prove possession of a key
    #[command(after_help = "Examples:
  proofmill bls sign --key validator.key message.bin
  proofmill bls sign --key validator.key --possession")]
    Sign(Sign),
    /// Check a signature of a file by one key, or an aggregate by many
    #[command(after_help = "Examples:
  proofmill bls verify --public-key HEX --signature HEX message.bin
  proofmill bls verify --public-key HEX --public-key HEX --signature HEX message.bin
  proofmill bls verify --public-key HEX --signature HEX --possession")]
    Verify(Verify),
    /// Add signatures, or public keys
    #[command(after_help = "Examples:
  proofmill bls aggregate SIGNATURE SIGNATURE
  proofmill bls aggregate --public-keys PUBLIC_KEY PUBLIC_KEY")]
    Aggregate(Aggregate),
}

#[derive(Args, Debug)]
pub(crate) struct Keygen {
    /// The key to write
    #[arg(long, value_name = "KEY")]
    out: PathBuf,
    /// A file of at least 32 secret bytes [default: the operating system's randomness]
    #[arg(long, value_name = "FILE")]
    seed: Option<PathBuf>,
    /// Path of the key in the seed's tree (EIP-2334)
    #[arg(long, default_value = "m", value_name = "PATH", requires = "seed")]
    path: String,
}

#[derive(Args, Debug)]
pub(crate) struct Sign {
    /// A key that `bls keygen` wrote
    #[arg(long, value_name = "KEY")]
    key: PathBuf,
    /// Prove possession of the key: sign its public key with the tag for proofs of possession
    #[arg(long, conflicts_with = "message")]
    possession: bool,
    /// Message to sign; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "possession")]
    message: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// Public key of the signer; several for an aggregate of signatures of one message
    #[arg(long, value_name = "HEX", required = true)]
    public_key: Vec<String>,
    /// Signature or aggregate
    #[arg(long, value_name = "HEX")]
    signature: String,
    /// Check a proof of possession
    #[arg(long, conflicts_with = "message")]
    possession: bool,
    /// Signed message; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "possession")]
    message: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Aggregate {
    /// Add public keys
    #[arg(long)]
    public_keys: bool,
    /// Signatures or public keys to add
    #[arg(value_name = "HEX", required = true)]
    encodings: Vec<String>,
}

impl MachineWork for BlsWork {
    fn name(&self) -> &'static str {
        match self {
            Self::Keygen(_) => "bls keygen",
            Self::Sign(_) => "bls sign",
            Self::Verify(_) => "bls verify",
            Self::Aggregate(_) => "bls aggregate",
        }
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        let command = *self;
        machine.clock().expect(1);
        let quiet = machine.quiet();
        machine.run(|Run { progress, .. }| match command {
            BlsWork::Keygen(files) => {
                progress.begin("derive key");
                files.run()
            }
            BlsWork::Sign(files) => {
                progress.begin("sign");
                files.run(quiet)
            }
            BlsWork::Verify(files) => {
                progress.begin("verify");
                files.run()
            }
            BlsWork::Aggregate(encodings) => {
                progress.begin("aggregate");
                encodings.run()
            }
        })
    }
}

impl Keygen {
    fn run(&self) -> Result<Outcome, Failure> {
        let key = match &self.seed {
            None => SecretKey::generate()?,
            Some(path) => {
                let seed = read_secret(path)?;
                SecretKey::derive(&seed, &self.path).map_err(|error| match seed.len() {
                    0..LEAST_SEED => Failure::about(path, error),
                    _ => Failure::Input(format!("--path: {error}")),
                })?
            }
        };
        write_secret(&self.out, &key)?;
        let public = hex(&key.public_key().to_bytes());
        Ok(printed(&public, json!({ "key": self.out, "public_key": public })))
    }
}

impl Sign {
    fn run(&self, quiet: bool) -> Result<Outcome, Failure> {
        let key = read_key(&self.key)?;
        if !quiet && others_can_read(&self.key) {
            let path = self.key.display();
            eprintln!("warning: {path}: other users can read this secret key: run chmod 600");
        }
        let signature = match &self.message {
            Some(path) => key.sign(&read(path)?),
            None => key.prove_possession(),
        };
        let signature = hex(&signature.to_bytes());
        let public = hex(&key.public_key().to_bytes());
        Ok(printed(&signature, json!({ "signature": signature, "public_key": public })))
    }
}

impl Verify {
    fn run(&self) -> Result<Outcome, Failure> {
        let signature = signature("--signature", &self.signature)?;
        let keys = keys("--public-key", &self.public_key)?;
        match (&self.message, &keys[..]) {
            (Some(path), keys) => fast_aggregate_verify(keys, &read(path)?, &signature)?,
            (None, [key]) => key.verify_possession(&signature)?,
            (None, keys) => {
                let count = keys.len();
                return Err(Failure::Input(format!(
                    "expected one --public-key for a proof of possession, found {count}"
                )));
            }
        }
        let result = json!({ "valid": true, "public_keys": self.public_key.len() });
        Ok(Outcome { text: "valid\n".to_owned(), ..Outcome::done(result) })
    }
}

impl Aggregate {
    fn run(&self) -> Result<Outcome, Failure> {
        if self.public_keys {
            let keys = keys("public key", &self.encodings)?;
            let sum = hex(&PublicKey::aggregate(&keys)?.to_bytes());
            return Ok(printed(&sum, json!({ "public_key": sum, "count": keys.len() })));
        }
        let signatures = (1..).zip(&self.encodings);
        let signatures = signatures.map(|(i, text)| signature(&format!("signature {i}"), text));
        let signatures: Vec<_> = signatures.collect::<Result<_, _>>()?;
        let sum = hex(&Signature::aggregate(&signatures)?.to_bytes());
        Ok(printed(&sum, json!({ "signature": sum, "count": signatures.len() })))
    }
}

/// An outcome whose text is one line.
fn printed(line: &str, result: serde_json::Value) -> Outcome {
    Outcome { text: format!("{line}\n"), ..Outcome::done(result) }
}

fn keys(name: &str, texts: &[String]) -> Result<Vec<PublicKey>, Failure> {
    let name = |i: usize| if texts.len() == 1 { name.to_owned() } else { format!("{name} {}", i + 1) };
    let parse = |(i, text): (usize, &String)| {
        let bytes = bytes(&name(i), text)?;
        PublicKey::from_bytes(&bytes).map_err(|error| Failure::Input(format!("{}: {error}", name(i))))
    };
    texts.iter().enumerate().map(parse).collect()
}

fn signature(name: &str, text: &str) -> Result<Signature, Failure> {
    let bytes = bytes(name, text)?;
    Signature::from_bytes(&bytes).map_err(|error| Failure::Input(format!("{name}: {error}")))
}

/// Decodes hexadecimal digits with an optional prefix `0x`.
fn bytes(name: &str, text: &str) -> Result<Vec<u8>, Failure> {
    hex::decode(text.strip_prefix("0x").unwrap_or(text))
        .map_err(|_| Failure::Input(format!("{name}: expected pairs of hexadecimal digits")))
}

fn hex(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

/// Reads a message.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let most = most_of_a_pipe();
    let bytes = match path == Path::new("-") {
        true => read_at_most(io::stdin().lock(), most),
        false => read_file_at_most(path, most),
    };
    bytes.map_err(|source| Failure::io(path, source))
}

/// Reads a short file into memory that is wiped when dropped.
fn read_secret(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    // Allocate the largest size at once: a growing vector leaves copies in freed memory.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MOST_SECRET as usize + 1));
    let file = File::open(path).map_err(|source| Failure::io(path, source))?;
    file.take(MOST_SECRET + 1).read_to_end(&mut bytes).map_err(|source| Failure::io(path, source))?;
    if bytes.len() as u64 > MOST_SECRET {
        return Err(Failure::about(path, format!("expected at most {MOST_SECRET} bytes of a secret")));
    }
    Ok(bytes)
}

/// Whether users other than its owner can read or write a file.
fn others_can_read(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o066 != 0)
    }
    #[cfg(not(unix))]
    {
        _ = path;
        false
    }
}

fn read_key(path: &Path) -> Result<SecretKey, Failure> {
    let text = read_secret(path)?;
    let digits = text.trim_ascii();
    // A vector that grows would leave copies behind.
    let mut bytes = Zeroizing::new([0; SecretKey::BYTES]);
    hex::decode_to_slice(digits.strip_prefix(b"0x").unwrap_or(digits), &mut *bytes)
        .map_err(|_| Failure::about(path, "expected a secret key of 64 hexadecimal digits"))?;
    SecretKey::from_bytes(&*bytes).map_err(|error| Failure::about(path, error))
}

/// Writes a key to a new file that only its owner can read.
fn write_secret(path: &Path, key: &SecretKey) -> Result<(), Failure> {
    let mut line = Zeroizing::new([b'\n'; 65]);
    for (digits, byte) in line.as_chunks_mut::<2>().0.iter_mut().zip(key.to_bytes().iter()) {
        for (digit, value) in digits.iter_mut().zip([byte >> 4, byte & 15]) {
            // Without a table, whose addresses would depend on the key.
            *digit = b'0' + value + (b'a' - b'0' - 10) * ((value + 6) >> 4);
        }
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(|source| Failure::io(path, source))?;
    file.write_all(&*line).and_then(|()| file.sync_all()).map_err(|source| {
        // Leave no partial key.
        drop(fs::remove_file(path));
        Failure::io(path, source)
    })
}
