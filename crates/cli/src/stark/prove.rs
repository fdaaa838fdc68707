//! `stark prove` and `stark verify`.

use super::{
    memory::MemoryOption,
    parameters::{ParameterOptions, invalid},
    security::rounded,
};
use crate::files::{CommandFiles, InputFile, OutputFile};
use clap::{Args, builder::PossibleValuesParser};
use proofmill::{
    merkle::{Hash, Rows},
    stark::{Config, Constraints, Proof, digest_bits, read_public_values},
};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_run::Run;
use serde_json::{Value, json};

/// The settings that prover and verifier share, in addition to the AIR.
#[derive(Args, Debug)]
pub(super) struct ProtocolOptions {
    /// Hash of trees and transcript
    #[arg(long, value_name = "NAME", default_value = "keccak", value_parser = PossibleValuesParser::new(Hash::ALL.map(Hash::name)))]
    hash: String,
    #[command(flatten)]
    parameters: ParameterOptions,
}

impl ProtocolOptions {
    /// The configuration for a trace of this many rows, and the bits that are proven.
    pub(super) fn config(&self, constraints: &Constraints, rows: u64) -> Result<(Config, f64), Failure> {
        let hash: Hash = self.hash.parse().map_err(|error| Failure::Input(format!("--hash: {error}")))?;
        let shape = constraints.shape(rows);
        let parameters = self.parameters.parameters(digest_bits(hash), &shape)?;
        let bits = parameters.security(&shape).map_err(invalid)?.bits();
        let demanded = self.parameters.demanded();
        Ok((Config { hash, parameters, bits: demanded, ..Config::default() }, bits))
    }
}

/// Arguments of `stark prove`.
#[derive(Args, Debug)]
pub(crate) struct Prove {
    /// The AIR: constraints as JSON
    #[arg(value_name = "AIR")]
    air: InputFile,
    /// The trace: rows of little-endian 64-bit integers below 2^64 - 2^32 + 1, a power of two of them
    #[arg(value_name = "TRACE")]
    trace: InputFile,
    /// The public values: a JSON array of integers, as strings or numbers
    #[arg(value_name = "PUBLIC")]
    public: InputFile,
    /// The proof to write
    #[arg(value_name = "PROOF")]
    proof: OutputFile,
    #[command(flatten)]
    pub(super) memory: MemoryOption,
    #[command(flatten)]
    protocol: ProtocolOptions,
}

/// The phases of [`Prove`].
const PHASES: usize = 11;

impl Prove {
    pub(super) fn files(&self) -> CommandFiles<'_> {
        CommandFiles { inputs: vec![&self.air, &self.trace, &self.public], outputs: vec![&self.proof] }
    }

    pub(super) fn run(&self, machine: &mut Machine) -> Result<Outcome, Failure> {
        machine.clock().expect(PHASES);
        machine.run(|Run { progress, .. }| {
            progress.begin("read air");
            let constraints = Constraints::open(&self.air)?;
            let public_values = read_public_values(&self.public)?;
            let trace = Rows::open(&self.trace, constraints.columns())?;
            let (config, bits) = self.protocol.config(&constraints, trace.rows() as u64)?;
            let proof = constraints.prove(&config, &trace, &public_values)?;
            progress.begin("write proof");
            proof.save(&self.proof)?;
            let mut result = description(&config, &proof, bits);
            result["proof"] = json!(&*self.proof);
            Ok(Outcome::done(result))
        })
    }
}

/// Arguments of `stark verify`.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The AIR: constraints as JSON
    #[arg(value_name = "AIR")]
    air: InputFile,
    /// The public values: a JSON array of integers, as strings or numbers
    #[arg(value_name = "PUBLIC")]
    public: InputFile,
    /// The proof
    #[arg(value_name = "PROOF")]
    proof: InputFile,
    /// Accept only a proof of a trace of so many rows, as a power of two [default: as many as the prover chose]
    #[arg(long, value_name = "LOG")]
    log_rows: Option<u32>,
    #[command(flatten)]
    protocol: ProtocolOptions,
}

impl Verify {
    pub(super) fn run(&self, machine: &mut Machine) -> Result<Outcome, Failure> {
        machine.run(|Run { progress, .. }| {
            progress.begin("read proof");
            let constraints = Constraints::open(&self.air)?;
            let public_values = read_public_values(&self.public)?;
            let proof = Proof::open(&self.proof)?;
            let log_rows = proof.rows().ilog2();
            if let Some(expected) = self.log_rows.filter(|expected| *expected != log_rows) {
                let problem = format!("expected a trace of 2^{expected} rows, found 2^{log_rows}");
                return Err(Failure::Rejected(format!("{}: {problem}", self.proof.display())));
            }
            let (config, bits) = self.protocol.config(&constraints, proof.rows())?;
            progress.begin("verify");
            proof.verify(&constraints, &config, &public_values)?;
            let mut result = description(&config, &proof, bits);
            result["valid"] = true.into();
            Ok(Outcome {
                text: format!("valid: a trace of 2^{log_rows} rows; {} bits are proven\n", rounded(bits)),
                ..Outcome::done(result)
            })
        })
    }
}

pub(super) fn description(config: &Config, proof: &Proof, bits: f64) -> Value {
    json!({
        "hash": config.hash.name(),
        "queries": config.parameters.queries,
        "bits": bits,
        "rows": proof.rows(),
        "bytes": proof.as_bytes().len(),
    })
}
