//! `srs`: structured reference strings.

use crate::{files::CommandFiles, task::MachineWork};
use clap::{Args, Subcommand};
use proofmill::srs::Srs;
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_run::Run;
use serde_json::json;
use std::{fmt::Write as _, path::PathBuf};

/// The warning for users of such a string.
const WARNING: &str = "warning: unsafe for production. The user who runs this command can learn tau, and with tau can prove false statements. In production, use the powers of a ceremony.";

#[derive(Debug, Subcommand)]
pub(crate) enum SrsCommand {
    /// Write powers of a random tau: UNSAFE for production, for tests and benchmarks only
    #[command(after_help = "Examples:
  proofmill srs new --size 2^20 test.ptau
  proofmill srs new --size 2^12 test.ptau --prepared
  proofmill srs new --size 300000 test.ptau --threads 1

UNSAFE for production: tau is random and wiped from memory, but the user who runs this command can learn it nevertheless, and with tau can prove false statements. In production, use the powers of a ceremony: a snarkjs ptau file or Aztec's Ignition transcripts.")]
    New(New),
    /// Show the number of powers in a file and their source
    #[command(after_help = "Examples:
  proofmill srs info pot20.ptau
  proofmill srs info transcript00.dat transcript01.dat
  proofmill srs info ignition/ --json")]
    Info(Source),
    /// Check that a file's powers are those of one tau
    #[command(after_help = "Examples:
  proofmill srs check pot20.ptau
  proofmill srs check ignition/ && echo valid

Checks every power in G1 against the one before, tau in G2, and the checksums of Ignition's transcripts. No check can show that tau is unknown: that is the purpose of a ceremony.")]
    Check(Source),
}

#[derive(Args, Debug)]
pub(crate) struct New {
    /// The ptau file to write: powers in G1, two in G2
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write all sections, prepared for phase 2, as the setup of Groth16 and of standard PLONK need them
    #[arg(long)]
    prepared: bool,
    /// Gates of the largest circuit, a number or 2^k; the file has 64 more powers, for the blinding of polynomials
    #[arg(long, value_name = "2^K", value_parser = size)]
    size: usize,
}

#[derive(Args, Debug)]
pub(crate) struct Source {
    /// A ptau file, a folder of Ignition transcripts transcript00.dat and so on, or some of these files, from the first one on
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// The logarithm of the largest size: some counts have 32 bits, and the scalar field has no larger domain.
const LARGEST: u32 = 28;

/// Parses a number, or `2^k`.
fn size(text: &str) -> Result<usize, String> {
    let size = match text.split_once('^') {
        Some(("2", exponent)) => exponent.parse().ok().and_then(|exponent| 1usize.checked_shl(exponent)),
        Some(_) => None,
        None => text.parse().ok(),
    };
    size.filter(|size| (1..=1 << LARGEST).contains(size))
        .ok_or_else(|| format!("expected a number from 1 to 2^{LARGEST}, such as 1000000 or 2^20"))
}

impl MachineWork for SrsCommand {
    fn name(&self) -> &'static str {
        match self {
            Self::New(_) => "srs new",
            Self::Info(_) => "srs info",
            Self::Check(_) => "srs check",
        }
    }

    fn files(&self) -> CommandFiles<'_> {
        match self {
            Self::New(new) => CommandFiles { outputs: vec![&new.file], ..CommandFiles::default() },
            Self::Info(_) | Self::Check(_) => CommandFiles::default(),
        }
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        let command = *self;
        machine.clock().expect(1);
        if matches!(command, SrsCommand::New(_)) && !machine.quiet() {
            eprintln!("{WARNING}");
        }
        machine.run(|Run { progress, .. }| match command {
            SrsCommand::New(new) => {
                progress.begin("compute and write powers");
                new.write()
            }
            SrsCommand::Info(files) => files.info(),
            SrsCommand::Check(files) => {
                progress.begin("check powers");
                files.check()
            }
        })
    }
}

impl New {
    fn write(&self) -> Result<Outcome, Failure> {
        let srs = if self.prepared {
            let power = self.size.next_power_of_two().ilog2().max(1);
            if power == LARGEST {
                let problem = format!("expected a size of at most 2^{} with --prepared", LARGEST - 1);
                return Err(Failure::Input(problem));
            }
            Srs::write_insecure_prepared(&self.file, power)?;
            Srs::open(&self.file)?
        } else {
            Srs::insecure_to(&self.file, self.size)?
        };
        Ok(Outcome::done(json!({
            "file": self.file,
            "powers": srs.len(),
            "bytes": srs.bytes(),
            "identity": hex::encode(srs.identity()),
            "insecure": true,
        })))
    }
}

impl Source {
    fn open(&self) -> proofmill::Result<Srs> {
        match self.files.as_slice() {
            [file] => Srs::open(file),
            files => Srs::open_transcripts(files),
        }
    }

    fn info(&self) -> Result<Outcome, Failure> {
        // `info` does not check, so it does not reject: an inconsistent string is bad input.
        let srs = self.open().map_err(|error| Failure::Input(error.to_string()))?;
        let contributions = srs.contributions()?;
        let (kind, powers, bytes) = (srs.kind().to_string(), srs.len(), srs.bytes());
        let identity = hex::encode(srs.identity());
        let mut text = String::new();
        let mut row = |name: &str, value: &dyn std::fmt::Display| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:16} {value}");
        };
        row("kind", &kind);
        row("curve", &"bn254");
        row("powers", &powers);
        match (contributions, srs.insecurity()) {
            (Some(0), _) => row("contributions", &"0: the author of the file may know tau"),
            (Some(count), Some(reason)) => row("contributions", &format!("{count}: {reason}")),
            (Some(count), None) => row("contributions", &count),
            (None, _) => row("files", &srs.files()),
        }
        row("bytes", &bytes);
        row("identity", &identity);
        let result = json!({
            "kind": kind, "curve": "bn254", "powers": powers, "contributions": contributions,
            "files": srs.files(), "bytes": bytes, "identity": identity,
        });
        Ok(Outcome { text, ..Outcome::done(result) })
    }

    fn check(&self) -> Result<Outcome, Failure> {
        let srs = self.open()?;
        srs.verify()?;
        let (powers, identity) = (srs.len(), hex::encode(srs.identity()));
        let result = json!({
            "valid": true, "kind": srs.kind().to_string(), "powers": powers, "identity": identity,
        });
        Ok(Outcome { text: format!("valid: {powers} powers of one tau\n"), ..Outcome::done(result) })
    }
}
