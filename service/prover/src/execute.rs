//! Tasks.

use super::{
    fault::{Fault, FileNames},
    inner,
    keys::{Key, Keys, OpenKey, Use},
    replies::Replies,
    signatures::Sets,
};
use proofmill::{
    AnyProof, AnyProvingKey,
    circom::{PublicSignals, Witness},
    merkle::{Hash, Rows},
    stark::{Config, Constraints, Parameters, digest_bits, read_public_values},
};
use proofmill_job::{Input, Output, StarkHash, Task};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The files of a request.
pub(super) struct Files {
    /// By digest.
    pub(super) keys: BTreeMap<String, PathBuf>,
    pub(super) inputs: BTreeMap<Input, PathBuf>,
    pub(super) outputs: PathBuf,
}

impl Files {
    fn input(&self, input: Input) -> Result<&Path, Fault> {
        let path = self.inputs.get(&input).map(PathBuf::as_path);
        path.ok_or_else(|| Fault::Input(format!("{input}: its file is not in the request")))
    }

    fn write(&self, output: Output, content: impl AsRef<[u8]>) -> Result<(), Fault> {
        let written = fs::write(self.outputs.join(output.name()), content);
        written.map_err(|error| Fault::Io(output.name(), error))
    }
}

/// A task as it is executed.
pub(super) struct Execution<'a> {
    pub(super) files: &'a Files,
    pub(super) keys: &'a mut Keys,
    pub(super) names: &'a mut FileNames,
    pub(super) replies: &'a Replies,
}

impl Execution<'_> {
    /// Executes a task, on the threads of the machine that runs it.
    pub(super) fn run(&mut self, task: &Task) -> Result<(), Fault> {
        for (input, path) in &self.files.inputs {
            self.names.call(path, input.name());
        }
        self.names.call(&self.files.outputs, "outputs");
        match task {
            Task::Prove { key, program } => self.prove(key, program.as_deref()),
            Task::ProveStark { key, hash, bits } => self.prove_stark(key, *hash, *bits),
            Task::Aggregate { key, air, bits } => self.aggregate(key, air, *bits),
            Task::Verify { key } => self.verify(key),
            Task::VerifyBls => self.verify_bls(),
            Task::Empty => Ok(()),
        }
    }

    fn open(&mut self, digest: &str, usage: Use, name: &'static str) -> Result<Arc<OpenKey>, Fault> {
        self.keys.open(digest, (usage, name), &self.files.keys, (self.names, self.replies))
    }

    fn prove(&mut self, key: &str, program: Option<&str>) -> Result<(), Fault> {
        let open = self.open(key, Use::Prove, "key")?;
        let Key::Proving(key) = &open.key else { return Err(Fault::Panic) };
        let witness = self.witness(program)?;
        let proof = key.prove(&witness)?;
        drop(witness);
        self.replies.begin("write proof");
        self.files.write(Output::Proof, proof.to_json())?;
        self.files.write(Output::Public, proof.public().to_json())
    }

    /// Reads the witness, or calculates it by the program.
    fn witness(&mut self, program: Option<&str>) -> Result<Witness, Fault> {
        let Some(program) = program else {
            self.replies.begin("read witness");
            return Ok(Witness::open(self.files.input(Input::Witness)?)?);
        };
        let open = self.open(program, Use::Calculate, "program")?;
        let Key::Program(calculator) = &open.key else { return Err(Fault::Panic) };
        self.replies.begin("calculate witness");
        Ok(calculator.calculate_file(self.files.input(Input::Signals)?)?)
    }

    fn prove_stark(&mut self, key: &str, hash: StarkHash, bits: u32) -> Result<(), Fault> {
        let open = self.open(key, Use::Air, "key")?;
        let Key::Air(constraints) = &open.key else { return Err(Fault::Panic) };
        let public = read_public_values(self.files.input(Input::Public)?)?;
        let trace = Rows::open(self.files.input(Input::Trace)?, constraints.columns())?;
        let hash = match hash {
            StarkHash::Keccak => Hash::Keccak,
            StarkHash::Sha256 => Hash::Sha256,
            StarkHash::Poseidon => Hash::Poseidon,
            StarkHash::Poseidon2 => Hash::Poseidon2,
            StarkHash::PoseidonBn254 => Hash::PoseidonBn254,
        };
        let config = default_config(constraints, trace.rows() as u64, hash, bits)?;
        let proof = constraints.prove(&config, &trace, &public)?;
        self.replies.begin("write proof");
        self.files.write(Output::Proof, proof.as_bytes())
    }

    fn aggregate(&mut self, key: &str, air: &str, bits: u32) -> Result<(), Fault> {
        let (air, open) = (self.open(air, Use::Air, "air")?, self.open(key, Use::Prove, "key")?);
        let Key::Air(constraints) = &air.key else { return Err(Fault::Panic) };
        let Key::Proving(AnyProvingKey::Plonk(key)) = &open.key else {
            return Err(Fault::Input("key: expected a key of `proofmill stark wrap setup`".to_owned()));
        };
        self.replies.begin("read inner proofs");
        let inner = inner::open(self.files.input(Input::Inner)?)?;
        let rows = inner.first().map_or(1, |(proof, _)| proof.rows());
        let config = default_config(constraints, rows, Hash::PoseidonBn254, bits)?;
        let wrap = constraints.wrap(&config, rows, inner.len())?;
        let inner: Vec<_> = inner.iter().map(|(proof, values)| (proof, &values[..])).collect();
        let proof = wrap.prove(key, &inner)?;
        self.replies.begin("write proof");
        self.files.write(Output::Proof, proof.to_json())?;
        self.files.write(Output::Public, proof.public().to_json())
    }

    fn verify(&mut self, key: &str) -> Result<(), Fault> {
        let open = self.open(key, Use::Verify, "key")?;
        let Key::Verifying(key) = &open.key else { return Err(Fault::Panic) };
        self.replies.begin("read proof");
        let public = PublicSignals::open(self.files.input(Input::Public)?)?;
        let proof = AnyProof::open(self.files.input(Input::Proof)?, public)?;
        self.replies.begin("verify");
        Ok(proof.verify(key)?)
    }

    fn verify_bls(&mut self) -> Result<(), Fault> {
        self.replies.begin("read sets");
        let sets = Sets::open(self.files.input(Input::Sets)?)?;
        self.replies.begin("verify");
        sets.verify()
    }
}

/// The configuration of `stark prove` without options but the hash and the least proven security.
///
/// # Errors
/// For security that no number of queries reaches.
fn default_config(constraints: &Constraints, rows: u64, hash: Hash, bits: u32) -> Result<Config, Fault> {
    let parameters = Parameters { digest_bits: digest_bits(hash), ..Parameters::PROVEN_100 };
    let queries = parameters.fewest_queries(&constraints.shape(rows), bits);
    let queries = queries.map_err(|error| Fault::Input(error.to_string()))?;
    Ok(Config { hash, parameters: Parameters { queries, ..parameters }, bits, ..Config::default() })
}
