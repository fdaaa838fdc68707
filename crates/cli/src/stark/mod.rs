//! `stark`: proofs of AIRs, and the proven security of their configuration.

mod memory;
mod parameters;
mod prove;
mod security;
mod workload;
mod wrap;

use crate::{files::CommandFiles, task::MachineWork};
use clap::Subcommand;
use proofmill_console::{Failure, Machine, Outcome, StorageOptions};
use prove::{Prove, Verify};
use security::Security;
use workload::Workload;
use wrap::WrapCommand;

#[derive(Debug, Subcommand)]
pub(crate) enum StarkCommand {
    /// Prove that a trace satisfies an AIR
    #[command(after_help = "Examples:
  proofmill stark prove air.json trace.bin public.json proof.bin
  proofmill stark prove air.json trace.bin public.json proof.bin --hash poseidon2 --security 128
  proofmill stark prove air.json trace.bin public.json proof.bin --log-blowup 1 --memory low --json

Without --zero-knowledge the proof hides nothing of the trace. It is verified before it is written. A verifier needs the same options. docs/stark.md has the formats.")]
    Prove(Box<Prove>),
    /// Verify a proof of an AIR
    #[command(after_help = "Examples:
  proofmill stark verify air.json public.json proof.bin && echo valid
  proofmill stark verify air.json public.json proof.bin --log-rows 20 --security 128

AIR, public values and options are the verifier's own. The number of rows is the prover's unless --log-rows is given.")]
    Verify(Box<Verify>),
    /// Prove and verify an example of an AIR, and print times and the size of the proof
    #[command(after_help = "Examples:
  proofmill stark workload fibonacci --log-rows 20
  proofmill stark workload keccak-f --log-rows 14 --hash poseidon2 --json
  proofmill stark workload merkle-tree --log-rows 10 --out example

With --out, `stark prove` and `stark verify` can be tried on the files.")]
    Workload(Box<Workload>),
    /// Verify proofs inside of a PLONK circuit, so that one short proof, which a chain can verify, takes their place
    #[command(
        subcommand,
        after_help = "Examples:
  proofmill stark prove air.json trace.bin public.json proof.bin --hash poseidon-bn254
  proofmill stark wrap setup air.json pot.ptau wrap.key --log-rows 18
  proofmill stark wrap prove air.json wrap.key wrapped.json signals.json --inner proof.bin public.json
  proofmill zkey export verificationkey wrap.key vk.json
  proofmill plonk verify vk.json signals.json wrapped.json
  proofmill zkey export solidityverifier wrap.key verifier.sol"
    )]
    Wrap(WrapCommand),
    /// Show how many bits of security are proven for a configuration, round by round, or find the fewest queries for it
    #[command(after_help = "Examples:
  proofmill stark security
  proofmill stark security --security 128
  proofmill stark security --log-rows 22 --columns 2633 --constraints 3000 --queries 60
  proofmill stark security --extension 2 --log-blowup 1 --grinding 20 --json

A DEEP-ALI STARK over Goldilocks whose openings are batched by powers of one challenge and tested by FRI. Each column of the table has the bits that one bound proves: its least row is its total, and the better column counts. Only theorems are used, not the conjecture up to capacity, which is refuted. docs/stark.md has every formula.")]
    Security(Box<Security>),
}

impl MachineWork for StarkCommand {
    fn name(&self) -> &'static str {
        match self {
            Self::Prove(_) => "stark prove",
            Self::Verify(_) => "stark verify",
            Self::Workload(_) => "stark workload",
            Self::Wrap(command) => command.name(),
            Self::Security(_) => "stark security",
        }
    }

    fn storage(&self) -> Option<StorageOptions> {
        match self {
            Self::Prove(prove) => Some(prove.memory.storage()),
            Self::Workload(workload) => Some(workload.memory.storage()),
            Self::Wrap(command) => command.storage(),
            Self::Verify(_) | Self::Security(_) => None,
        }
    }

    fn files(&self) -> CommandFiles<'_> {
        match self {
            Self::Prove(prove) => prove.files(),
            Self::Wrap(command) => command.files(),
            Self::Verify(_) | Self::Workload(_) | Self::Security(_) => CommandFiles::default(),
        }
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        match *self {
            StarkCommand::Prove(prove) => prove.run(machine),
            StarkCommand::Verify(verify) => verify.run(machine),
            StarkCommand::Workload(workload) => workload.run(machine),
            StarkCommand::Wrap(command) => command.run(machine),
            StarkCommand::Security(security) => security.run(),
        }
    }
}
