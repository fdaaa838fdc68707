//! `stark wrap`: proofs verified inside of a PLONK circuit.

use super::{
    parameters::{ParameterOptions, invalid},
    security::rounded,
};
use crate::{
    files::{CommandFiles, InputFile, OutputFile},
    proving::{ProofOutputs, warn_of_powers},
};
use clap::{Args, Subcommand};
use proofmill::{
    ProofSystem,
    merkle::Hash,
    plonk::{Plonk, ProvingKey, write_circuit_key},
    srs::Srs,
    stark::{Config, Constraints, Proof, Wrap, digest_bits, read_public_values},
};
use proofmill_console::{Failure, Machine, Outcome, StorageOptions};
use proofmill_run::Run;
use serde_json::json;
use std::path::PathBuf;

/// The hash of proofs that can be wrapped.
const HASH: Hash = Hash::PoseidonBn254;

#[derive(Debug, Subcommand)]
pub(crate) enum WrapCommand {
    /// Make the proving key for a number of proofs of an AIR
    #[command(after_help = "Examples:
  proofmill stark wrap setup air.json pot.ptau wrap.key --log-rows 18
  proofmill stark wrap setup air.json pot.ptau wrap.key --log-rows 18 --proofs 4 --log-blowup 4")]
    Setup(Box<Setup>),
    /// Prove that there are valid proofs for public values
    #[command(after_help = "Examples:
  proofmill stark wrap prove air.json wrap.key --inner proof.bin public.json
  proofmill stark wrap prove air.json wrap.key wrapped.json signals.json --inner a.bin a.json --inner b.bin b.json

AIR and options are those of `stark wrap setup`, and of `stark prove --hash poseidon-bn254`. The signals are the public values of the first proof, then those of the next.")]
    Prove(Box<Prove>),
}

impl WrapCommand {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Setup(_) => "stark wrap setup",
            Self::Prove(_) => "stark wrap prove",
        }
    }

    pub(super) fn storage(&self) -> Option<StorageOptions> {
        match self {
            Self::Setup(_) => None,
            Self::Prove(prove) => Some(prove.storage.clone()),
        }
    }

    pub(super) fn files(&self) -> CommandFiles<'_> {
        match self {
            Self::Setup(setup) => {
                CommandFiles { inputs: vec![&setup.air, &setup.powers], outputs: vec![&setup.key] }
            }
            Self::Prove(prove) => CommandFiles {
                inputs: [&*prove.air, &*prove.key]
                    .into_iter()
                    .chain(prove.inner.iter().map(PathBuf::as_path))
                    .collect(),
                outputs: prove.outputs.paths(),
            },
        }
    }

    pub(super) fn run(self, machine: &mut Machine) -> Result<Outcome, Failure> {
        match self {
            Self::Setup(setup) => setup.run(machine),
            Self::Prove(prove) => prove.run(machine),
        }
    }
}

/// The wrap of this many proofs, and the proven bits of each.
fn wrap(
    constraints: &Constraints,
    parameters: &ParameterOptions,
    rows: u64,
    proofs: usize,
) -> Result<(Wrap, f64), Failure> {
    let (shape, demanded) = (constraints.shape(rows), parameters.demanded());
    let parameters = parameters.parameters(digest_bits(HASH), &shape)?;
    let bits = parameters.security(&shape).map_err(invalid)?.bits();
    let config = Config { hash: HASH, parameters, bits: demanded, ..Config::default() };
    Ok((constraints.wrap(&config, rows, proofs)?, bits))
}

/// Arguments of `stark wrap setup`.
#[derive(Args, Debug)]
pub(crate) struct Setup {
    /// The AIR: constraints as JSON
    #[arg(value_name = "AIR")]
    air: InputFile,
    /// Powers of tau, in any format that `srs info` reads
    #[arg(value_name = "POWERS")]
    powers: InputFile,
    /// The proving key to write
    #[arg(value_name = "KEY")]
    key: OutputFile,
    /// Rows of every trace, as a power of two
    #[arg(long, value_name = "LOG", value_parser = clap::value_parser!(u32).range(..=32))]
    log_rows: u32,
    /// Proofs that are wrapped at once
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    proofs: usize,
    #[command(flatten)]
    parameters: ParameterOptions,
}

impl Setup {
    fn run(&self, machine: &mut Machine) -> Result<Outcome, Failure> {
        let quiet = machine.quiet();
        machine.run(|Run { progress, .. }| {
            progress.begin("read air");
            let constraints = Constraints::open(&self.air)?;
            let (wrap, bits) = wrap(&constraints, &self.parameters, 1 << self.log_rows, self.proofs)?;
            // Here an inconsistent string is bad input, not a rejected one.
            let powers = Srs::open(&self.powers).map_err(|error| Failure::Input(error.to_string()))?;
            progress.begin("build circuit");
            let circuit = wrap.circuit();
            let (rows, signals) = (circuit.rows(), self.proofs * constraints.public_values());
            write_circuit_key(&self.key, circuit, &powers)?;
            warn_of_powers(&self.powers, powers.insecurity(), quiet);
            let text = format!(
                "circuit  {rows} rows, {signals} public signals\nproofs   {}, of 2^{} rows; {} bits are proven of each\n",
                self.proofs,
                self.log_rows,
                rounded(bits)
            );
            let result = json!({ "key": &*self.key, "rows": rows, "signals": signals, "bits": bits });
            Ok(Outcome { text, ..Outcome::done(result) })
        })
    }
}

/// Arguments of `stark wrap prove`.
#[derive(Args, Debug)]
pub(crate) struct Prove {
    /// The AIR: constraints as JSON
    #[arg(value_name = "AIR")]
    air: InputFile,
    /// The proving key of `stark wrap setup`
    #[arg(value_name = "KEY")]
    key: InputFile,
    #[command(flatten)]
    outputs: ProofOutputs,
    /// A proof and its public values; once for each proof of the key
    #[arg(long, num_args = 2, value_names = ["PROOF", "VALUES"], required = true)]
    inner: Vec<PathBuf>,
    #[command(flatten)]
    parameters: ParameterOptions,
    #[command(flatten)]
    storage: StorageOptions,
}

impl Prove {
    fn run(&self, machine: &mut Machine) -> Result<Outcome, Failure> {
        machine.clock().expect(Plonk::PROVE_PHASES + 3);
        machine.run(|Run { progress, .. }| {
            progress.begin("read air");
            let constraints = Constraints::open(&self.air)?;
            let mut inner = Vec::new();
            for pair in self.inner.chunks_exact(2) {
                inner.push((Proof::open(&pair[0])?, read_public_values(&pair[1])?));
            }
            let rows = inner.first().map_or(1, |(proof, _)| proof.rows());
            let (wrap, _) = wrap(&constraints, &self.parameters, rows, inner.len())?;
            progress.begin("read key");
            let key = ProvingKey::open(&self.key)?;
            let inner: Vec<_> = inner.iter().map(|(proof, values)| (proof, &values[..])).collect();
            let proof = wrap.prove(&key, &inner)?;
            progress.begin("write proof");
            proof.save(&self.outputs.proof, &self.outputs.public)?;
            Ok(self.outputs.outcome(proof.public()))
        })
    }
}
