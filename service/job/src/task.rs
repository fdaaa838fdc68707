//! Tasks: the work that jobs ask for.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The work that a job asks for. Keys are named by the digest of their file or by the name that their owner gave them; the service replaces
/// names by digests when it accepts a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Task {
    /// A proof for a circuit of circom, in the proof system of its key: Groth16, PLONK in any arithmetisation, or fflonk. It is made from a
    /// witness, or from the circuit's inputs if a program calculates the witness.
    Prove {
        /// The proving key.
        key: String,
        /// The circuit's WASM or graph; without it, the input is a witness.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        program: Option<String>,
    },
    /// A STARK over Goldilocks.
    ProveStark {
        /// The AIR, as JSON.
        key: String,
        /// The hash of trees and transcript.
        #[serde(default)]
        hash: StarkHash,
        /// The least proven security in bits.
        #[serde(default = "default_bits")]
        bits: u32,
    },
    /// One PLONK proof that there are valid STARKs of one AIR for these public values, for a chain.
    Aggregate {
        /// The proving key of the circuit that verifies them: `proofmill stark wrap setup` makes it for a number of proofs.
        key: String,
        /// The AIR, as JSON.
        air: String,
        /// The proven security that the STARKs were made for, in bits.
        #[serde(default = "default_bits")]
        bits: u32,
    },
    /// Verification of a proof of any proof system of circom's circuits.
    Verify {
        /// The proving key or the verification key.
        key: String,
    },
    /// Verification of BLS signatures as one batch, with Ethereum's ciphersuite.
    VerifyBls,
    /// Nothing: for measuring the service itself.
    Empty,
}

fn default_bits() -> u32 {
    Task::DEFAULT_BITS
}

/// The hash of a STARK's trees and transcript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StarkHash {
    /// Keccak-256.
    #[default]
    Keccak,
    /// SHA-256.
    Sha256,
    /// Poseidon over Goldilocks.
    Poseidon,
    /// Poseidon2 over Goldilocks.
    Poseidon2,
    /// Poseidon over BN254's scalar field, for proofs that are aggregated.
    PoseidonBn254,
}

/// An input of a job: secret, and deleted when the job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Input))]
#[serde(rename_all = "kebab-case")]
pub enum TaskInput {
    /// The value of every wire: a `.wtns` file.
    Witness,
    /// The values of a circuit's input signals: an `input.json`.
    Signals,
    /// Rows of little-endian 64-bit integers.
    Trace,
    /// Public signals or public values: a JSON array.
    Public,
    /// A `proof.json`.
    Proof,
    /// Signature sets: a JSON array of objects with `public_keys`, `message` and `signature` in hexadecimal digits.
    Sets,
    /// STARKs to aggregate: a JSON array of objects with `proof` in base64 and `public`, an array of integers.
    Inner,
}

/// A result of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Output))]
#[serde(rename_all = "kebab-case")]
pub enum TaskOutput {
    /// The proof: JSON in snarkjs's format, or the bytes of a STARK.
    Proof,
    /// The public signals, as JSON.
    Public,
}

/// The format of an input's or an output's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// JSON.
    Json,
    /// Anything else.
    Binary,
}

/// The kind of a key file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    /// A proving key of Groth16.
    Groth16,
    /// A proving key of PLONK, in any arithmetisation.
    Plonk,
    /// A proving key of fflonk.
    Fflonk,
    /// A verification key of one of these, as JSON.
    Verification,
    /// A program that calculates witnesses: circom's WASM or a graph.
    Program,
    /// An AIR, as JSON.
    Air,
}

impl Task {
    /// The security of STARKs in bits, unless the task says another.
    pub const DEFAULT_BITS: u32 = 100;

    /// The names of the keys: first the one that decides how much memory the task takes.
    pub fn keys(&self) -> Vec<&str> {
        match self {
            Self::Prove { key, program } => {
                [Some(key), program.as_ref()].into_iter().flatten().map(String::as_str).collect()
            }
            Self::Aggregate { key, air, .. } => vec![key, air],
            Self::ProveStark { key, .. } | Self::Verify { key } => vec![key],
            Self::VerifyBls | Self::Empty => vec![],
        }
    }

    /// The names of the keys, to be replaced by digests.
    pub fn keys_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Prove { key, program } => [Some(key), program.as_mut()].into_iter().flatten().collect(),
            Self::Aggregate { key, air, .. } => vec![key, air],
            Self::ProveStark { key, .. } | Self::Verify { key } => vec![key],
            Self::VerifyBls | Self::Empty => vec![],
        }
    }

    /// The kinds that each key may have, in the order of [`Self::keys`].
    pub fn kinds(&self) -> Vec<&'static [KeyKind]> {
        use KeyKind::{Air, Fflonk, Groth16, Plonk, Program, Verification};
        const PROVING: &[KeyKind] = &[Groth16, Plonk, Fflonk];
        match self {
            Self::Prove { program: None, .. } => vec![PROVING],
            Self::Prove { program: Some(_), .. } => vec![PROVING, &[Program]],
            Self::ProveStark { .. } => vec![&[Air]],
            Self::Aggregate { .. } => vec![&[Plonk], &[Air]],
            Self::Verify { .. } => vec![&[Groth16, Plonk, Fflonk, Verification]],
            Self::VerifyBls | Self::Empty => vec![],
        }
    }

    /// The inputs, all of them necessary.
    pub fn inputs(&self) -> &'static [TaskInput] {
        match self {
            Self::Prove { program: None, .. } => &[TaskInput::Witness],
            Self::Prove { program: Some(_), .. } => &[TaskInput::Signals],
            Self::ProveStark { .. } => &[TaskInput::Trace, TaskInput::Public],
            Self::Aggregate { .. } => &[TaskInput::Inner],
            Self::Verify { .. } => &[TaskInput::Proof, TaskInput::Public],
            Self::VerifyBls => &[TaskInput::Sets],
            Self::Empty => &[],
        }
    }

    /// The results of a task that is done.
    pub fn outputs(&self) -> &'static [TaskOutput] {
        match self {
            Self::Prove { .. } | Self::Aggregate { .. } => &[TaskOutput::Proof, TaskOutput::Public],
            Self::ProveStark { .. } => &[TaskOutput::Proof],
            Self::Verify { .. } | Self::VerifyBls | Self::Empty => &[],
        }
    }

    /// The format of a result's bytes.
    pub fn content(&self, output: TaskOutput) -> ContentKind {
        match (self, output) {
            (Self::ProveStark { .. }, TaskOutput::Proof) => ContentKind::Binary,
            _ => ContentKind::Json,
        }
    }

    /// A bound, in bytes, on the memory of a task without keys, `threads` threads and `input_bytes` bytes of inputs. The bound of a task
    /// with keys is the sum of its keys' [`KeyFacts::bound`](crate::KeyFacts::bound).
    pub fn bound_without_keys(&self, threads: usize, input_bytes: u64) -> u64 {
        // The process and its threads; then signature sets as text, as points, and as equations: together up to 11 bytes for each byte of
        // input.
        let threads = (threads as u64).saturating_mul(1 << 20);
        (16_u64 << 20).saturating_add(threads).saturating_add(input_bytes.saturating_mul(16))
    }

    /// Its name in the field `type`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Prove { .. } => "prove",
            Self::ProveStark { .. } => "prove-stark",
            Self::Aggregate { .. } => "aggregate",
            Self::Verify { .. } => "verify",
            Self::VerifyBls => "verify-bls",
            Self::Empty => "empty",
        }
    }
}

impl TaskInput {
    /// All inputs.
    pub const ALL: [Self; 7] =
        [Self::Witness, Self::Signals, Self::Trace, Self::Public, Self::Proof, Self::Sets, Self::Inner];

    /// Its name in JSON and in names of files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Witness => "witness",
            Self::Signals => "signals",
            Self::Trace => "trace",
            Self::Public => "public",
            Self::Proof => "proof",
            Self::Sets => "sets",
            Self::Inner => "inner",
        }
    }

    /// The input of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|input| input.name() == name)
    }

    /// The format of its bytes.
    pub fn content(self) -> ContentKind {
        match self {
            Self::Witness | Self::Trace => ContentKind::Binary,
            _ => ContentKind::Json,
        }
    }
}

impl TaskOutput {
    /// Its name in JSON and in names of files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proof => "proof",
            Self::Public => "public",
        }
    }
}

impl KeyKind {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Groth16 => "groth16",
            Self::Plonk => "plonk",
            Self::Fflonk => "fflonk",
            Self::Verification => "verification",
            Self::Program => "program",
            Self::Air => "air",
        }
    }
}

impl fmt::Display for TaskInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
