//! `powersoftau`: the first phase of a ceremony.

use crate::{
    ceremony::{BeaconValue, ContributionName, Entropy, hash_outcome, list_outcome},
    contribution::Listing,
    curve,
    files::{CommandFiles, InputFile, OutputFile},
    task::MachineWork,
};
use clap::{Args, Subcommand};
use proofmill::{
    ceremony::{CeremonyCurve, Randomness, powers},
    circom::{PairingCurve, Ptau, over_curve},
};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_run::Run;
use serde_json::json;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::OnceLock,
};

#[derive(Debug, Subcommand)]
pub(crate) enum PowersCommand {
    /// Begin a ceremony: write powers of tau = 1
    New(New),
    /// Contribute: multiply tau, alpha and beta by secrets that are forgotten
    Contribute(Contribute),
    /// Export the challenge to the next contributor, or all points as JSON
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill powersoftau export challenge pot14_0003.ptau challenge_0003\n  proofmill powersoftau export json pot4.ptau pot4.json"
    )]
    Export(PowersExport),
    /// Work on a challenge
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill powersoftau challenge contribute bn128 challenge_0003 response_0003"
    )]
    Challenge(ChallengeCommand),
    /// Import a contribution
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill powersoftau import response pot14_0003.ptau response_0003 pot14_0004.ptau --name \"Alice\""
    )]
    Import(ImportCommand),
    /// Apply a beacon, as the last contribution
    Beacon(ApplyBeacon),
    /// Prepare powers for setups
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill powersoftau prepare phase2 pot14_beacon.ptau pot14_final.ptau"
    )]
    Prepare(PrepareCommand),
    /// Add to powers that snarkjs prepared before version 0.3 what PLONK needs
    #[command(after_help = "Examples:\n  proofmill powersoftau convert old.ptau new.ptau")]
    Convert(Prepare),
    /// Write the parts for all smaller powers
    Truncate(Truncate),
    /// Verify powers and all contributions to them
    Verify(Verify),
}

#[derive(Debug, Subcommand)]
pub(crate) enum PowersExport {
    /// Write the challenge to the next contributor, in the format of the Perpetual Powers of Tau
    Challenge(ExportChallenge),
    /// Write all points and contributions as JSON
    Json(ExportJson),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChallengeCommand {
    /// Contribute to a challenge: write a response
    Contribute(Respond),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Write the powers of a response to the challenge of a file
    Response(ImportResponse),
}

#[derive(Debug, Subcommand)]
pub(crate) enum PrepareCommand {
    /// Compute the Lagrange polynomials of all domains, which setups need
    #[command(after_help = "Examples:
  proofmill powersoftau prepare phase2 pot14_beacon.ptau pot14_final.ptau

Verify the powers first. Domains of more than 2^21 points are in temporary files next to the new one.")]
    Phase2(Prepare),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill powersoftau new bn128 14 pot14_0000.ptau

The file has 384 bytes (576 on bls12381) for each of 2^POWER powers, the most rows that a circuit may have. Anyone knows tau until someone contributes.")]
pub(crate) struct New {
    /// bn128 or bls12381
    #[arg(value_name = "CURVE", value_parser = curve::parse)]
    curve: PairingCurve,
    /// The logarithm of the most rows
    #[arg(value_name = "POWER", value_parser = clap::value_parser!(u32).range(1..=28))]
    power: u32,
    /// The file to write [default: powersOfTauPOWER_0000.ptau]
    #[arg(value_name = "PTAU")]
    ptau: Option<OutputFile>,
    #[arg(skip)]
    default: OnceLock<OutputFile>,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill powersoftau contribute pot14_0000.ptau pot14_0001.ptau --name \"Alice\"

The secrets are made of the operating system's randomness and of --entropy, and forgotten. Publish the hash that is printed: with it, you can
find your contribution in the last file.")]
pub(crate) struct Contribute {
    /// The powers so far
    #[arg(value_name = "OLD_PTAU")]
    old: InputFile,
    /// The powers to write
    #[arg(value_name = "NEW_PTAU")]
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
  proofmill powersoftau beacon pot14_0003.ptau pot14_beacon.ptau 0102030405060708090a0b0c0d0e0f10 10 --name \"Final beacon\"

It is the last contribution, by a value that nobody could know before the others were made, such as the hash of a later block. It is no secret."
)]
pub(crate) struct ApplyBeacon {
    /// The powers so far
    #[arg(value_name = "OLD_PTAU")]
    old: InputFile,
    /// The powers to write
    #[arg(value_name = "NEW_PTAU")]
    new: OutputFile,
    #[command(flatten)]
    beacon: BeaconValue,
    #[command(flatten)]
    name: ContributionName,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill powersoftau export challenge pot14_0003.ptau challenge_0003")]
pub(crate) struct ExportChallenge {
    /// The powers so far
    #[arg(value_name = "PTAU")]
    ptau: InputFile,
    /// The challenge to write
    #[arg(value_name = "CHALLENGE", default_value = "challenge")]
    challenge: OutputFile,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill powersoftau export json pot4.ptau pot4.json")]
pub(crate) struct ExportJson {
    /// The powers
    #[arg(value_name = "PTAU")]
    ptau: InputFile,
    /// The file to write
    #[arg(value_name = "JSON")]
    output: OutputFile,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill powersoftau challenge contribute bn128 challenge_0003 response_0003

The secrets are made of the operating system's randomness and of --entropy, and forgotten. Publish the hash that is printed.")]
pub(crate) struct Respond {
    /// bn128 or bls12381
    #[arg(value_name = "CURVE", value_parser = curve::parse)]
    curve: PairingCurve,
    /// The challenge
    #[arg(value_name = "CHALLENGE")]
    challenge: InputFile,
    /// The response to write [default: the challenge's name with the extension response]
    #[arg(value_name = "RESPONSE")]
    response: Option<OutputFile>,
    #[arg(skip)]
    default: OnceLock<OutputFile>,
    #[command(flatten)]
    entropy: Entropy,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill powersoftau import response pot14_0003.ptau response_0003 pot14_0004.ptau --name \"Alice\"

The proofs of knowledge are verified, the powers are not: `powersoftau verify` does that.")]
pub(crate) struct ImportResponse {
    /// The powers that the challenge was exported from
    #[arg(value_name = "OLD_PTAU")]
    old: InputFile,
    /// The response
    #[arg(value_name = "RESPONSE")]
    response: InputFile,
    /// The powers to write
    #[arg(value_name = "NEW_PTAU")]
    new: OutputFile,
    #[command(flatten)]
    name: ContributionName,
}

#[derive(Args, Debug)]
pub(crate) struct Prepare {
    /// The powers
    #[arg(value_name = "OLD_PTAU")]
    old: InputFile,
    /// The powers to write
    #[arg(value_name = "NEW_PTAU")]
    new: OutputFile,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill powersoftau truncate pot14.ptau

writes pot14_01.ptau to pot14_13.ptau, next to the file. It must be prepared for phase 2.")]
pub(crate) struct Truncate {
    /// The powers
    #[arg(value_name = "PTAU")]
    ptau: InputFile,
    /// The first of the files to write, which tells where they are.
    #[arg(skip)]
    first: OnceLock<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill powersoftau verify pot14.ptau")]
pub(crate) struct Verify {
    /// The powers
    #[arg(value_name = "PTAU")]
    ptau: InputFile,
    #[command(flatten)]
    listing: Listing,
}

impl New {
    fn ptau(&self) -> &OutputFile {
        let default = || OsString::from(format!("powersOfTau{}_0000.ptau", self.power)).into();
        self.ptau.as_ref().unwrap_or_else(|| self.default.get_or_init(default))
    }
}

impl Respond {
    fn response(&self) -> &OutputFile {
        let default = || self.challenge.with_extension("response").into_os_string().into();
        self.response.as_ref().unwrap_or_else(|| self.default.get_or_init(default))
    }
}

impl Truncate {
    /// The file of a power.
    fn part(&self, power: u32) -> PathBuf {
        let mut name = self.ptau.with_extension("").into_os_string();
        name.push(format!("_{power:02}.ptau"));
        name.into()
    }

    fn run<C: CeremonyCurve>(&self, machine: &mut Machine) -> Result<Outcome, Failure> {
        let files = machine.run(|Run { progress, .. }| {
            let powers = Ptau::<C>::open_over(&self.ptau)?;
            progress.begin("write powers");
            let mut files = Vec::new();
            for power in powers::truncated_powers(&powers) {
                let file = self.part(power);
                powers::truncate(&powers, power, &file)?;
                files.push(file);
            }
            Ok::<_, Failure>(files)
        })?;
        Ok(Outcome::done(json!({ "files": files })))
    }
}

impl PowersCommand {
    /// The file of the powers.
    fn curve(&self) -> proofmill::Result<PairingCurve> {
        match self {
            Self::New(new) => Ok(new.curve),
            Self::Challenge(ChallengeCommand::Contribute(respond)) => Ok(respond.curve),
            Self::Contribute(Contribute { old: ptau, .. })
            | Self::Export(PowersExport::Challenge(ExportChallenge { ptau, .. }))
            | Self::Export(PowersExport::Json(ExportJson { ptau, .. }))
            | Self::Import(ImportCommand::Response(ImportResponse { old: ptau, .. }))
            | Self::Beacon(ApplyBeacon { old: ptau, .. })
            | Self::Prepare(PrepareCommand::Phase2(Prepare { old: ptau, .. }))
            | Self::Convert(Prepare { old: ptau, .. })
            | Self::Truncate(Truncate { ptau, .. })
            | Self::Verify(Verify { ptau, .. }) => curve::of(ptau),
        }
    }

    /// The phases that it reports.
    fn phases(&self) -> usize {
        match self {
            Self::New(_) => 2,
            Self::Contribute(_) | Self::Beacon(_) => 8,
            Self::Export(PowersExport::Challenge(_)) => 6,
            Self::Export(PowersExport::Json(_)) | Self::Truncate(_) => 1,
            Self::Challenge(_) | Self::Import(_) => 7,
            Self::Prepare(_) => 5,
            Self::Convert(_) => 2,
            Self::Verify(_) => 7 + 4,
        }
    }
}
impl MachineWork for PowersCommand {
    fn name(&self) -> &'static str {
        match self {
            Self::New(_) => "powersoftau new",
            Self::Contribute(_) => "powersoftau contribute",
            Self::Export(PowersExport::Challenge(_)) => "powersoftau export challenge",
            Self::Export(PowersExport::Json(_)) => "powersoftau export json",
            Self::Challenge(ChallengeCommand::Contribute(_)) => "powersoftau challenge contribute",
            Self::Import(ImportCommand::Response(_)) => "powersoftau import response",
            Self::Beacon(_) => "powersoftau beacon",
            Self::Prepare(_) => "powersoftau prepare phase2",
            Self::Convert(_) => "powersoftau convert",
            Self::Truncate(_) => "powersoftau truncate",
            Self::Verify(_) => "powersoftau verify",
        }
    }

    fn files(&self) -> CommandFiles<'_> {
        let (inputs, output): (Vec<&Path>, &Path) = match self {
            Self::New(new) => (vec![], new.ptau()),
            Self::Contribute(files) => (vec![&files.old], &files.new),
            Self::Export(PowersExport::Challenge(files)) => (vec![&files.ptau], &files.challenge),
            Self::Export(PowersExport::Json(files)) => (vec![&files.ptau], &files.output),
            Self::Challenge(ChallengeCommand::Contribute(files)) => {
                (vec![&files.challenge], files.response())
            }
            Self::Import(ImportCommand::Response(files)) => (vec![&files.old, &files.response], &files.new),
            Self::Beacon(files) => (vec![&files.old], &files.new),
            Self::Prepare(PrepareCommand::Phase2(files)) | Self::Convert(files) => {
                (vec![&files.old], &files.new)
            }
            Self::Truncate(files) => (vec![&files.ptau], files.first.get_or_init(|| files.part(1))),
            Self::Verify(_) => return CommandFiles::default(),
        };
        CommandFiles { inputs, outputs: vec![output] }
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        let command = *self;
        machine.clock().expect(command.phases());
        over_curve!(command.curve()?, C => run_over::<C>(command, machine))
    }
}

fn run_over<C: CeremonyCurve>(command: PowersCommand, machine: &mut Machine) -> Result<Outcome, Failure> {
    match command {
        PowersCommand::New(new) => {
            let hash = machine.run(|_| powers::new::<C>(new.ptau(), new.power))?;
            Ok(hash_outcome("challenge", hash, "ptau", new.ptau()))
        }
        PowersCommand::Contribute(Contribute { old, new, name, entropy }) => {
            let randomness = Randomness::System(&entropy.bytes());
            contribute::<C>(&old, &new, &name, randomness, machine)
        }
        PowersCommand::Beacon(ApplyBeacon { old, new, beacon, name }) => {
            contribute::<C>(&old, &new, &name, Randomness::Beacon(&beacon.into()), machine)
        }
        PowersCommand::Export(PowersExport::Challenge(ExportChallenge { ptau, challenge })) => {
            let hash =
                machine.run(|_| powers::export_challenge(&Ptau::<C>::open_over(&ptau)?, &challenge))?;
            Ok(hash_outcome("challenge", hash, "challenge", &challenge))
        }
        PowersCommand::Export(PowersExport::Json(ExportJson { ptau, output })) => {
            machine.run(|Run { progress, .. }| {
                progress.begin("write json");
                Ptau::<C>::open_over(&ptau)?.write_json(&output)
            })?;
            Ok(Outcome::done(json!({ "json": &*output })))
        }
        PowersCommand::Challenge(ChallengeCommand::Contribute(files)) => {
            let (entropy, response) = (files.entropy.bytes(), files.response());
            let randomness = Randomness::System(&entropy);
            let hash = machine
                .run(|_| powers::contribute_to_challenge::<C>(&files.challenge, response, randomness))?;
            Ok(hash_outcome("contribution", hash, "response", response))
        }
        PowersCommand::Import(ImportCommand::Response(ImportResponse { old, response, new, name })) => {
            let hash = machine.run(|_| {
                powers::import_response(&Ptau::<C>::open_over(&old)?, &response, &new, name.get())
            })?;
            Ok(hash_outcome("contribution", hash, "ptau", &new))
        }
        PowersCommand::Prepare(PrepareCommand::Phase2(Prepare { old, new })) => {
            machine.run(|_| powers::prepare(&Ptau::<C>::open_over(&old)?, &new))?;
            Ok(Outcome::done(json!({ "ptau": &*new })))
        }
        PowersCommand::Convert(Prepare { old, new }) => {
            machine.run(|_| powers::convert(&Ptau::<C>::open_over(&old)?, &new))?;
            Ok(Outcome::done(json!({ "ptau": &*new })))
        }
        PowersCommand::Truncate(truncate) => truncate.run::<C>(machine),
        PowersCommand::Verify(Verify { ptau, listing }) => {
            let list = machine.run(|_| powers::verify(&Ptau::<C>::open_over(&ptau)?))?;
            Ok(list_outcome(&list, 64, listing))
        }
    }
}

fn contribute<C: CeremonyCurve>(
    old: &InputFile,
    new: &OutputFile,
    name: &ContributionName,
    randomness: Randomness<'_>,
    machine: &mut Machine,
) -> Result<Outcome, Failure> {
    let hash =
        machine.run(|_| powers::contribute(&Ptau::<C>::open_over(old)?, new, name.get(), randomness))?;
    Ok(hash_outcome("contribution", hash, "ptau", new))
}
