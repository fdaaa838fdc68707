//! `zkey contribute`, `beacon`, `verify`: the second phase of a ceremony.

use crate::{
    audit::{contribution_object, described},
    files::{Files, Input, Output},
};
use clap::{Args, Subcommand};
use proofmill::{
    audit::{Beacon, Contribution},
    ceremony::{self, Randomness},
    circom::{Ptau, R1cs},
    groth16::ProvingKey,
};
use proofmill_console::{Failure, Machine, Outcome};
use serde_json::json;
use zeroize::Zeroizing;

/// The phases of a contribution.
const PHASES: usize = 4;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey contribute circuit_0000.zkey circuit_0001.zkey --name \"Alice\"

The secret is made of the operating system's randomness and of --entropy, and forgotten. Publish the hash that is printed: with it, you can
find your contribution in the last key.")]
pub(crate) struct Contribute {
    /// The key so far
    #[arg(value_name = "OLD_ZKEY")]
    old: Input,
    /// The key to write
    #[arg(value_name = "NEW_ZKEY")]
    new: Output,
    /// Your name, which everybody sees: at most 255 bytes
    #[arg(long, short, value_name = "NAME")]
    name: Option<String>,
    /// Text that is mixed into the secret, in addition to the operating system's randomness
    #[arg(long, short, value_name = "TEXT", default_value = "", hide_default_value = true)]
    entropy: String,
}

#[derive(Args, Debug)]
#[command(
    name = "beacon",
    after_help = "Examples:
  proofmill zkey beacon circuit_0003.zkey circuit.zkey 0102030405060708090a0b0c0d0e0f10 10 --name \"Final beacon\"

It is the last contribution, by a value that nobody could know before the others were made, such as the hash of a later block. It is no secret."
)]
pub(crate) struct ApplyBeacon {
    /// The key so far
    #[arg(value_name = "OLD_ZKEY")]
    old: Input,
    /// The key to write
    #[arg(value_name = "NEW_ZKEY")]
    new: Output,
    /// The beacon's value: up to 255 bytes in hexadecimal digits
    #[arg(value_name = "HEX", value_parser = seed)]
    seed: Seed,
    /// SHA-256 is applied 2^N times
    #[arg(value_name = "N", value_parser = clap::value_parser!(u8).range(10..=63))]
    log_iterations: u8,
    /// The contribution's name: at most 255 bytes
    #[arg(long, short, value_name = "NAME")]
    name: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum VerifyCommand {
    /// Verify that a key is a circuit's and all contributions to it
    #[command(after_help = "Examples:
  proofmill zkey verify r1cs circuit.r1cs powers.ptau circuit.zkey")]
    R1cs {
        /// The circuit
        #[arg(value_name = "R1CS", default_value = "circuit.r1cs")]
        r1cs: Input,
        /// Powers of tau, prepared for phase 2
        #[arg(value_name = "PTAU", default_value = "powersOfTau28_hez_final.ptau")]
        ptau: Input,
        /// The key
        #[arg(value_name = "ZKEY", default_value = "circuit_final.zkey")]
        zkey: Input,
    },
    /// Verify all contributions to a key that began as another one, which is taken for the circuit's
    #[command(after_help = "Examples:
  proofmill zkey verify init circuit_0000.zkey powers.ptau circuit.zkey")]
    Init {
        /// The key that setup has made
        #[arg(value_name = "INITIAL_ZKEY", default_value = "circuit_0000.zkey")]
        initial: Input,
        /// Powers of tau, prepared for phase 2
        #[arg(value_name = "PTAU", default_value = "powersOfTau28_hez_final.ptau")]
        ptau: Input,
        /// The key
        #[arg(value_name = "ZKEY", default_value = "circuit_final.zkey")]
        zkey: Input,
    },
}

/// The value of a beacon.
#[derive(Clone, Debug)]
struct Seed(Vec<u8>);

/// Bytes from hexadecimal digits, also behind `0x`.
fn seed(text: &str) -> Result<Seed, String> {
    let bytes = hex::decode(text.strip_prefix("0x").unwrap_or(text)).map_err(|error| error.to_string())?;
    if (1..=255).contains(&bytes.len()) { Ok(Seed(bytes)) } else { Err("expected 1 to 255 bytes".to_owned()) }
}

impl Contribute {
    pub(crate) fn files(&self) -> Files<'_> {
        Files { inputs: vec![&self.old], outputs: vec![&self.new] }
    }

    pub(crate) fn run(self, machine: &mut Machine) -> Result<Outcome, Failure> {
        let entropy = Zeroizing::new(self.entropy.into_bytes());
        write(&self.old, &self.new, self.name.as_deref(), Randomness::System(&entropy), machine)
    }
}

impl ApplyBeacon {
    pub(crate) fn files(&self) -> Files<'_> {
        Files { inputs: vec![&self.old], outputs: vec![&self.new] }
    }

    pub(crate) fn run(self, machine: &mut Machine) -> Result<Outcome, Failure> {
        let beacon = Beacon { seed: self.seed.0, log_iterations: self.log_iterations };
        write(&self.old, &self.new, self.name.as_deref(), Randomness::Beacon(&beacon), machine)
    }
}

fn write(
    old: &Input,
    new: &Output,
    name: Option<&str>,
    randomness: Randomness<'_>,
    machine: &mut Machine,
) -> Result<Outcome, Failure> {
    machine.clock().expect(PHASES);
    let hash = machine.run(|_, _| ceremony::contribute(&ProvingKey::open(old)?, new, name, randomness))?;
    let hash = hex::encode(hash);
    Ok(Outcome {
        text: format!("contribution hash {hash}\n"),
        ..Outcome::done(json!({ "zkey": &**new, "contribution_hash": hash }))
    })
}

impl VerifyCommand {
    pub(crate) fn run(self, machine: &mut Machine) -> Result<Outcome, Failure> {
        let quiet = machine.quiet();
        let list = machine.run(|_, progress| match &self {
            Self::R1cs { r1cs, ptau, zkey } => {
                progress.begin("read r1cs");
                let (key, circuit) = (ProvingKey::open(zkey)?, R1cs::open(r1cs)?);
                ceremony::verify_for_circuit(&key, &circuit, &Ptau::open(ptau)?)
            }
            Self::Init { initial, ptau, zkey } => {
                let (key, initial) = (ProvingKey::open(zkey)?, ProvingKey::open(initial)?);
                progress.begin("verify powers");
                ceremony::verify_powers(&initial, &Ptau::open(ptau)?)?;
                progress.begin("verify contributions");
                ceremony::verify(&key, &initial)
            }
        })?;
        if list.is_empty() && !quiet {
            eprintln!("warning: nobody contributed to this key: anyone can forge proofs for it");
        }
        let line = |(index, contribution): (usize, &Contribution)| {
            format!("contribution {}: {}\n", index + 1, described(contribution))
        };
        let text = list.iter().enumerate().map(line).collect();
        let contributions: Vec<_> = list.iter().map(contribution_object).collect();
        Ok(Outcome { text, ..Outcome::done(json!({ "valid": true, "contributions": contributions })) })
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::R1cs { .. } => "zkey verify r1cs",
            Self::Init { .. } => "zkey verify init",
        }
    }
}
