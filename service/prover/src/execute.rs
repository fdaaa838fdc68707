//! Executes tasks.

use super::{
    fault::{FileNames, TaskFault},
    inner,
    keys::{KeyContent, OpenKey, OpenKeys, Use},
    replies::Replies,
    signatures::Sets,
};
use proofmill::{
    AnyProof, AnyProvingKey,
    circom::{PublicSignals, Witness},
    merkle::{Hash, Rows},
    stark::{Config, Constraints, Parameters, digest_bits, read_public_values},
};
use proofmill_job::{StarkHash, Task, TaskInput, TaskOutput};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The files of a request.
pub(super) struct RequestFiles {
    /// The files of keys, by digest.
    pub(super) keys: BTreeMap<String, PathBuf>,
    pub(super) inputs: BTreeMap<TaskInput, PathBuf>,
    pub(super) outputs: PathBuf,
}

impl RequestFiles {
    fn input(&self, input: TaskInput) -> Result<&Path, TaskFault> {
        let path = self.inputs.get(&input).map(PathBuf::as_path);
        path.ok_or_else(|| TaskFault::Input(format!("{input}: its file is not in the request")))
    }

    fn write(&self, output: TaskOutput, content: impl AsRef<[u8]>) -> Result<(), TaskFault> {
        let written = fs::write(self.outputs.join(output.name()), content);
        written.map_err(|error| TaskFault::Io(output.name(), error))
    }
}

/// A task as it is executed.
pub(super) struct Execution<'a> {
    pub(super) files: &'a RequestFiles,
    pub(super) keys: &'a mut OpenKeys,
    pub(super) names: &'a mut FileNames,
    pub(super) replies: &'a Replies,
}

impl Execution<'_> {
    /// Executes a task, on the threads of the machine that runs it.
    pub(super) fn run(&mut self, task: &Task) -> Result<(), TaskFault> {
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

    fn open(&mut self, digest: &str, usage: Use, name: &'static str) -> Result<Arc<OpenKey>, TaskFault> {
        self.keys.open(digest, (usage, name), &self.files.keys, (self.names, self.replies))
    }

    fn prove(&mut self, key: &str, program: Option<&str>) -> Result<(), TaskFault> {
        let open = self.open(key, Use::Prove, "key")?;
        let KeyContent::Proving(key) = &open.key else { return Err(TaskFault::Panic) };
        let witness = self.witness(program)?;
        let proof = key.prove(&witness)?;
        drop(witness);
        self.replies.begin("write proof");
        self.files.write(TaskOutput::Proof, proof.to_json())?;
        self.files.write(TaskOutput::Public, proof.public().to_json())
    }

    /// Reads the witness, or calculates it by the program.
    fn witness(&mut self, program: Option<&str>) -> Result<Witness, TaskFault> {
        let Some(program) = program else {
            self.replies.begin("read witness");
            return Ok(Witness::open(self.files.input(TaskInput::Witness)?)?);
        };
        let open = self.open(program, Use::Calculate, "program")?;
        let KeyContent::Program(calculator) = &open.key else { return Err(TaskFault::Panic) };
        self.replies.begin("calculate witness");
        Ok(calculator.calculate_file(self.files.input(TaskInput::Signals)?)?)
    }

    fn prove_stark(&mut self, key: &str, hash: StarkHash, bits: u32) -> Result<(), TaskFault> {
        let open = self.open(key, Use::Air, "key")?;
        let KeyContent::Air(constraints) = &open.key else { return Err(TaskFault::Panic) };
        let public = read_public_values(self.files.input(TaskInput::Public)?)?;
        let trace = Rows::open(self.files.input(TaskInput::Trace)?, constraints.columns())?;
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
        self.files.write(TaskOutput::Proof, proof.as_bytes())
    }

    fn aggregate(&mut self, key: &str, air: &str, bits: u32) -> Result<(), TaskFault> {
        let (air, open) = (self.open(air, Use::Air, "air")?, self.open(key, Use::Prove, "key")?);
        let KeyContent::Air(constraints) = &air.key else { return Err(TaskFault::Panic) };
        let KeyContent::Proving(AnyProvingKey::Plonk(key)) = &open.key else {
            return Err(TaskFault::Input("key: expected a key of `proofmill stark wrap setup`".to_owned()));
        };
        self.replies.begin("read inner proofs");
        let inner = inner::open(self.files.input(TaskInput::Inner)?)?;
        let rows = inner.first().map_or(1, |(proof, _)| proof.rows());
        let config = default_config(constraints, rows, Hash::PoseidonBn254, bits)?;
        let wrap = constraints.wrap(&config, rows, inner.len())?;
        let inner: Vec<_> = inner.iter().map(|(proof, values)| (proof, &values[..])).collect();
        let proof = wrap.prove(key, &inner)?;
        self.replies.begin("write proof");
        self.files.write(TaskOutput::Proof, proof.to_json())?;
        self.files.write(TaskOutput::Public, proof.public().to_json())
    }

    fn verify(&mut self, key: &str) -> Result<(), TaskFault> {
        let open = self.open(key, Use::Verify, "key")?;
        let KeyContent::Verifying(key) = &open.key else { return Err(TaskFault::Panic) };
        self.replies.begin("read proof");
        let public = PublicSignals::open(self.files.input(TaskInput::Public)?)?;
        let proof = AnyProof::open(self.files.input(TaskInput::Proof)?, public)?;
        self.replies.begin("verify");
        Ok(proof.verify(key)?)
    }

    fn verify_bls(&mut self) -> Result<(), TaskFault> {
        self.replies.begin("read sets");
        let sets = Sets::open(self.files.input(TaskInput::Sets)?)?;
        self.replies.begin("verify");
        sets.verify()
    }
}

/// The configuration of `stark prove` without options but the hash and the least proven security.
///
/// # Errors
/// For security that no number of queries reaches.
fn default_config(constraints: &Constraints, rows: u64, hash: Hash, bits: u32) -> Result<Config, TaskFault> {
    let parameters = Parameters { digest_bits: digest_bits(hash), ..Parameters::PROVEN_100 };
    let queries = parameters.fewest_queries(&constraints.shape(rows), bits);
    let queries = queries.map_err(|error| TaskFault::Input(error.to_string()))?;
    Ok(Config { hash, parameters: Parameters { queries, ..parameters }, bits, ..Config::default() })
}
