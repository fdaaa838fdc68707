//! `zkey contribute`, `beacon`, `verify`: the second phase of a ceremony, and what it shares with the first.

use crate::{
    contribution::{self, Listing},
    curve,
    files::{CommandFiles, InputFile, OutputFile},
};
use clap::{Args, Subcommand};
use proofmill::{
    Error, ProvingKey,
    audit::Beacon,
    ceremony::CeremonyCurve,
    ceremony::{self, Randomness},
    circom::{Contribution, Ptau, R1cs, over_curve},
    groth16::Groth16,
};
use proofmill_console::{Failure, Machine, Outcome, PERMIT};
use proofmill_run::Run;
use serde_json::json;
use std::path::Path;
use zeroize::{Zeroize, Zeroizing};

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
    old: InputFile,
    /// The key to write
    #[arg(value_name = "NEW_ZKEY")]
    new: OutputFile,
    #[command(flatten)]
    name: ContributionName,
    #[command(flatten)]
    entropy: Entropy,
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
    old: InputFile,
    /// The key to write
    #[arg(value_name = "NEW_ZKEY")]
    new: OutputFile,
    #[command(flatten)]
    beacon: BeaconValue,
    #[command(flatten)]
    name: ContributionName,
}

/// The name of a contribution.
#[derive(Args, Debug)]
pub(crate) struct ContributionName {
    /// The contribution's name, which everybody sees: at most 255 bytes
    #[arg(long, short, value_name = "NAME")]
    name: Option<String>,
}

impl ContributionName {
    pub(crate) fn get(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

/// The user's part of a contribution's randomness.
#[derive(Args, Debug)]
pub(crate) struct Entropy {
    /// Text that is mixed into the secret, in addition to the operating system's randomness
    #[arg(long, short, value_name = "TEXT", default_value = "", hide_default_value = true)]
    entropy: String,
}

impl Entropy {
    pub(crate) fn bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.entropy.clone().into_bytes())
    }
}

impl Drop for Entropy {
    fn drop(&mut self) {
        self.entropy.zeroize();
    }
}

/// The parameters of a beacon.
#[derive(Args, Debug)]
pub(crate) struct BeaconValue {
    /// The beacon's value: up to 255 bytes in hexadecimal digits
    #[arg(value_name = "HEX", value_parser = seed)]
    seed: Seed,
    /// SHA-256 is applied 2^N times
    #[arg(value_name = "N", value_parser = clap::value_parser!(u8).range(10..=63))]
    log_iterations: u8,
}

impl From<BeaconValue> for Beacon {
    fn from(BeaconValue { seed: Seed(seed), log_iterations }: BeaconValue) -> Self {
        Self { seed, log_iterations }
    }
}

/// Arguments of `zkey verify`: without a subcommand, those of `zkey verify r1cs`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey verify circuit.r1cs powers.ptau circuit.zkey
  proofmill zkey verify init circuit_0000.zkey powers.ptau circuit.zkey")]
pub(crate) struct Verify {
    #[command(subcommand)]
    command: Option<VerifyCommand>,
    #[command(flatten)]
    circuit: VerifyCircuit,
}

#[derive(Debug, Subcommand)]
enum VerifyCommand {
    /// Verify that a key is a circuit's and all contributions to it
    #[command(after_help = "Examples:
  proofmill zkey verify r1cs circuit.r1cs powers.ptau circuit.zkey")]
    R1cs(VerifyCircuit),
    /// Verify all contributions to a key that began as another one, which is taken for the circuit's
    #[command(after_help = "Examples:
  proofmill zkey verify init circuit_0000.zkey powers.ptau circuit.zkey")]
    Init(VerifyInitial),
}

/// Arguments of `zkey verify r1cs`.
#[derive(Args, Debug)]
struct VerifyCircuit {
    /// The circuit
    #[arg(value_name = "R1CS", default_value = "circuit.r1cs")]
    r1cs: InputFile,
    #[command(flatten)]
    key: VerifiedKey,
}

/// Arguments of `zkey verify init`.
#[derive(Args, Debug)]
struct VerifyInitial {
    /// The key that setup has made
    #[arg(value_name = "INITIAL_ZKEY", default_value = "circuit_0000.zkey")]
    initial: InputFile,
    #[command(flatten)]
    key: VerifiedKey,
}

/// A key that is verified.
#[derive(Args, Debug)]
struct VerifiedKey {
    /// Powers of tau, prepared for phase 2
    #[arg(value_name = "PTAU", default_value = "powersOfTau28_hez_final.ptau")]
    ptau: InputFile,
    /// The key
    #[arg(value_name = "ZKEY", default_value = "circuit_final.zkey")]
    zkey: InputFile,
    #[command(flatten)]
    listing: Listing,
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
    pub(crate) fn files(&self) -> CommandFiles<'_> {
        CommandFiles { inputs: vec![&self.old], outputs: vec![&self.new] }
    }

    pub(crate) fn run(self, machine: &mut Machine) -> Result<Outcome, Failure> {
        write(&self.old, &self.new, &self.name, Randomness::System(&self.entropy.bytes()), machine)
    }
}

impl ApplyBeacon {
    pub(crate) fn files(&self) -> CommandFiles<'_> {
        CommandFiles { inputs: vec![&self.old], outputs: vec![&self.new] }
    }

    pub(crate) fn run(self, machine: &mut Machine) -> Result<Outcome, Failure> {
        write(&self.old, &self.new, &self.name, Randomness::Beacon(&self.beacon.into()), machine)
    }
}

fn write(
    old: &InputFile,
    new: &OutputFile,
    name: &ContributionName,
    randomness: Randomness<'_>,
    machine: &mut Machine,
) -> Result<Outcome, Failure> {
    machine.clock().expect(PHASES);
    let hash = machine.run(|_| {
        over_curve!(curve::of(old)?, C => {
            ceremony::contribute(&ProvingKey::<Groth16<C>>::open(old)?, new, name.get(), randomness)
        })
    })?;
    Ok(hash_outcome("contribution", hash, "zkey", new))
}

/// The outcome of a command that writes a file and prints a hash, whose names in JSON are `kind` and `{of}_hash`.
pub(crate) fn hash_outcome(of: &str, hash: [u8; 64], kind: &str, file: &Path) -> Outcome {
    let hash = hex::encode(hash);
    let text = format!("{of} hash {hash}\n");
    Outcome { text, ..Outcome::done(json!({ (kind): file, (format!("{of}_hash")): hash })) }
}

/// The outcome of a verification, with `bytes` of each hash.
pub(crate) fn list_outcome(list: &[Contribution], bytes: usize, listing: Listing) -> Outcome {
    let text = listing.lines(list, bytes).into_iter().map(|line| line + "\n").collect();
    let contributions: Vec<_> = list.iter().map(contribution::object).collect();
    Outcome { text, ..Outcome::done(json!({ "valid": true, "contributions": contributions })) }
}

impl Verify {
    pub(crate) fn name(&self) -> &'static str {
        match self.command {
            Some(VerifyCommand::Init(_)) => "zkey verify init",
            Some(VerifyCommand::R1cs(_)) | None => "zkey verify r1cs",
        }
    }

    pub(crate) fn run(self, machine: &mut Machine) -> Result<Outcome, Failure> {
        self.command.unwrap_or(VerifyCommand::R1cs(self.circuit)).run(machine)
    }
}

impl VerifyCommand {
    fn run(&self, machine: &mut Machine) -> Result<Outcome, Failure> {
        let (Self::R1cs(VerifyCircuit { key, .. }) | Self::Init(VerifyInitial { key, .. })) = self;
        over_curve!(curve::of(&key.zkey)?, C => self.run_over::<C>(key, machine))
    }

    fn run_over<C: CeremonyCurve>(
        &self,
        VerifiedKey { ptau, zkey, listing }: &VerifiedKey,
        machine: &mut Machine,
    ) -> Result<Outcome, Failure> {
        let (verified, insecurity) = machine.run(|Run { progress, .. }| {
            let (key, powers) = (ProvingKey::<Groth16<C>>::open(zkey)?, Ptau::open_over(ptau)?);
            let insecurity = key.verifying_key().insecurity().or(powers.insecurity());
            let verified = match self {
                Self::R1cs(VerifyCircuit { r1cs, .. }) => {
                    progress.begin("read r1cs");
                    R1cs::open_over(r1cs)
                        .and_then(|circuit| ceremony::verify_for_circuit(&key, &circuit, &powers))
                }
                Self::Init(VerifyInitial { initial, .. }) => {
                    let initial = ProvingKey::<Groth16<C>>::open(initial)?;
                    progress.begin("verify contributions");
                    let verified = ceremony::verify(&key, &initial);
                    progress.begin("verify powers");
                    verified.and_then(|list| ceremony::verify_powers(&initial, &powers).map(|()| list))
                }
            };
            Ok::<_, Error>((verified, insecurity))
        })?;
        let mut outcome = match verified {
            // The key is right, but anyone can forge proofs for it.
            Err(Error::InsecureSetup(cause)) => Outcome {
                failure: Some(Failure::Rejected(format!("{cause}; {PERMIT}"))),
                ..Outcome::done(json!({ "valid": false }))
            },
            list => list_outcome(&list?, 8, *listing),
        };
        outcome.result["insecure"] = insecurity.is_some().into();
        outcome.result["insecurity"] = insecurity.into();
        Ok(outcome)
    }
}
