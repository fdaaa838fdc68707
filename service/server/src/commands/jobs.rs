//! `jobs`: submits jobs, waits for them, takes their results.

use super::{
    connection::{ClientOptions, print, print_json},
    failure::CommandFailure,
    machine::duration,
};
use clap::{Args, Subcommand};
use proofmill_job::{ContentKind, StarkHash, Task, TaskInput, TaskOutput};
use proofmill_server::{
    client::{Client, ClientError, encoded},
    http::JobsPage,
    service::{JobView, Submission},
    state::JobState,
};
use reqwest::{
    Body, Method,
    multipart::{Form, Part},
};
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tokio_util::io::ReaderStream;

/// How long one request waits for a job.
const WAIT: u64 = 30;

/// The commands.
#[derive(Subcommand)]
pub(super) enum JobsCommand {
    /// Submit a job: a proof from a witness or a circuit's inputs, a STARK, a verification
    Submit(Box<Submit>),
    /// Wait for a job, and write its results
    Wait {
        /// The job's id
        id: String,
        #[command(flatten)]
        results: Results,
        #[command(flatten)]
        client: ClientOptions,
    },
    /// List jobs, the last submitted first
    List(JobsListArguments),
    /// Show a job
    Show(One),
    /// Cancel a job
    Cancel(One),
    /// Queue a dead job again
    Retry(One),
}

/// Options of commands for one job.
#[derive(Args)]
pub(super) struct One {
    /// The job's id
    id: String,
    #[command(flatten)]
    client: ClientOptions,
}

/// Options of `jobs list`.
#[derive(Args)]
pub(super) struct JobsListArguments {
    /// Only jobs in this state
    #[arg(long, value_parser = state)]
    state: Option<JobState>,
    /// The most jobs
    #[arg(long, default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    client: ClientOptions,
}

/// Where results are written.
#[derive(Args)]
pub(super) struct Results {
    /// The folder for proof.json and public.json, or proof.bin for a STARK
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

/// Options of `jobs submit`.
#[derive(Args)]
pub(super) struct Submit {
    /// The key's name or digest
    #[arg(long)]
    key: Option<String>,
    /// The name or digest of the circuit's WASM or graph
    #[arg(long, requires = "signals")]
    program: Option<String>,
    /// A witness (.wtns)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["signals", "trace", "public", "proof", "sets"])]
    witness: Option<PathBuf>,
    /// The circuit's inputs (input.json)
    #[arg(long, value_name = "FILE", requires = "program", conflicts_with_all = ["trace", "public", "proof", "sets"])]
    signals: Option<PathBuf>,
    /// A trace for a STARK, rows of little-endian 64-bit integers
    #[arg(long, value_name = "FILE", requires = "public", conflicts_with_all = ["proof", "sets"])]
    trace: Option<PathBuf>,
    /// Public values for a STARK, or public signals for a verification (JSON)
    #[arg(long, value_name = "FILE")]
    public: Option<PathBuf>,
    /// A proof to verify
    #[arg(long, value_name = "FILE", requires = "public", conflicts_with = "sets")]
    proof: Option<PathBuf>,
    /// Sets of BLS signatures to verify (JSON)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["public", "key"])]
    sets: Option<PathBuf>,
    /// The name or digest of the AIR of the STARKs to aggregate
    #[arg(long, requires = "inner")]
    air: Option<String>,
    /// STARKs to aggregate, with their public values (JSON)
    #[arg(long, value_name = "FILE", requires = "air", conflicts_with_all = ["witness", "signals", "trace", "public", "proof", "sets"])]
    inner: Option<PathBuf>,
    /// Nothing: for measuring the service
    #[arg(long, hide = true, conflicts_with_all = ["key", "witness", "signals", "trace", "public", "proof", "sets"])]
    empty: bool,
    /// The hash of a STARK: keccak, sha256, poseidon or poseidon2
    #[arg(long, default_value = "keccak", value_parser = hash)]
    hash: StarkHash,
    /// The least proven security of a STARK, in bits
    #[arg(long, default_value_t = 100)]
    bits: u32,
    /// Jobs with greater priorities go first; above 0 needs the scope priority
    #[arg(long, default_value_t = 0, allow_hyphen_values = true)]
    priority: i64,
    /// How long the job may wait
    #[arg(long, value_name = "TIME", value_parser = duration)]
    expires: Option<Duration>,
    /// The longest time of an attempt
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
    /// The most attempts
    #[arg(long, value_name = "N")]
    attempts: Option<u32>,
    /// Your name of this submission: a repetition finds the first one's job [default: a random one]
    #[arg(long, value_name = "NAME")]
    idempotency_key: Option<String>,
    /// How long to try again while the service is busy or cannot be reached
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    retry_for: Duration,
    /// Wait for the job's end, and write its results
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    results: Results,
    #[command(flatten)]
    client: ClientOptions,
}

fn state(name: &str) -> Result<JobState, String> {
    let names = JobState::ALL.map(JobState::name).join(", ");
    JobState::of_name(name).ok_or_else(|| format!("expected one of {names}"))
}

fn hash(name: &str) -> Result<StarkHash, String> {
    serde_json::from_value(name.into())
        .map_err(|_| "expected keccak, sha256, poseidon or poseidon2".to_owned())
}

impl JobsCommand {
    /// Runs the command.
    pub(super) async fn run(self) -> Result<(), CommandFailure> {
        match self {
            Self::Submit(submit) => submit.run().await,
            Self::Wait { id, results, client } => finish(&client, &client.client()?, &id, &results).await,
            Self::List(list) => list.run().await,
            Self::Show(one) => one.run(Method::GET, "").await,
            Self::Cancel(one) => one.run(Method::DELETE, "").await,
            Self::Retry(one) => one.run(Method::POST, "/retry").await,
        }
    }
}

impl One {
    async fn run(self, method: Method, rest: &str) -> Result<(), CommandFailure> {
        let service = self.client.client()?;
        let path = format!("/v1/jobs/{}{rest}", encoded(&self.id));
        show(&self.client, &service.json(service.request(method, &path)).await?)
    }
}

impl JobsListArguments {
    async fn run(self) -> Result<(), CommandFailure> {
        let service = self.client.client()?;
        let (mut jobs, mut cursor) = (Vec::new(), String::new());
        while jobs.len() < self.limit {
            let limit = (self.limit - jobs.len()).min(1000);
            let state = self.state.map(|state| format!("&state={}", state.name())).unwrap_or_default();
            let path = format!("/v1/jobs?limit={limit}{state}{cursor}");
            let mut page: JobsPage = service.json(service.request(Method::GET, &path)).await?;
            jobs.append(&mut page.jobs);
            let Some(next) = page.next else { break };
            cursor = format!("&cursor={}", encoded(&next));
        }
        if self.client.json {
            return print_json(&jobs);
        }
        jobs.iter().try_for_each(|job| show(&self.client, job))
    }
}

impl Submit {
    async fn run(self) -> Result<(), CommandFailure> {
        let service = self.client.client()?;
        let task = self.task()?;
        if self.wait {
            self.results.check()?;
        }
        let submission = Submission {
            task,
            priority: self.priority,
            expires_in_s: self.expires.map(|time| time.as_secs()),
            timeout_s: self.timeout.map(|time| time.as_secs()),
            attempts: self.attempts,
        };
        let key = self.idempotency_key.clone().unwrap_or_else(|| uuid::Uuid::now_v7().simple().to_string());
        let began = Instant::now();
        let job = loop {
            match self.submit(&service, &submission, &key).await? {
                Ok(job) => break job,
                Err(error) if error.is_temporary() && began.elapsed() < self.retry_for => {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                Err(error) => return Err(error.into()),
            }
        };
        if self.wait {
            finish(&self.client, &service, &job.id, &self.results).await
        } else {
            show(&self.client, &job)
        }
    }

    async fn submit(
        &self,
        service: &Client,
        submission: &Submission,
        key: &str,
    ) -> Result<Result<JobView, ClientError>, CommandFailure> {
        let json =
            serde_json::to_vec(submission).map_err(|error| CommandFailure::Input(error.to_string()))?;
        let mut form = Form::new().part("job", Part::bytes(json));
        for input in submission.task.inputs() {
            let path =
                self.file(*input).ok_or_else(|| CommandFailure::Input(format!("--{input} is missing")))?;
            let (file, bytes) = content(path).await?;
            let body = Body::wrap_stream(ReaderStream::with_capacity(file, 256 << 10));
            form = form.part(input.name(), Part::stream_with_length(body, bytes));
        }
        let request = service.request(Method::POST, "/v1/jobs").header("idempotency-key", key);
        Ok(service.json(request.multipart(form)).await)
    }

    fn file(&self, input: TaskInput) -> Option<&Path> {
        let file = match input {
            TaskInput::Witness => &self.witness,
            TaskInput::Signals => &self.signals,
            TaskInput::Trace => &self.trace,
            TaskInput::Public => &self.public,
            TaskInput::Proof => &self.proof,
            TaskInput::Sets => &self.sets,
            TaskInput::Inner => &self.inner,
        };
        file.as_deref()
    }

    /// What the options ask for.
    fn task(&self) -> Result<Task, CommandFailure> {
        if self.empty {
            return Ok(Task::Empty);
        }
        if self.sets.is_some() {
            return Ok(Task::VerifyBls);
        }
        let key = self.key.clone().ok_or_else(|| CommandFailure::Input("--key is missing".to_owned()))?;
        if let Some(air) = self.air.clone() {
            return Ok(Task::Aggregate { key, air, bits: self.bits });
        }
        if self.trace.is_some() {
            return Ok(Task::ProveStark { key, hash: self.hash, bits: self.bits });
        }
        if self.proof.is_some() {
            return Ok(Task::Verify { key });
        }
        if self.witness.is_some() || self.signals.is_some() {
            return Ok(Task::Prove { key, program: self.program.clone() });
        }
        Err(CommandFailure::Input(
            "expected --witness, --program and --signals, --trace and --public, --proof and --public, or --sets"
                .to_owned(),
        ))
    }
}

impl Results {
    /// Refuses a folder that is not there, before a job is waited for.
    fn check(&self) -> Result<(), CommandFailure> {
        let problem =
            || CommandFailure::about(&self.out, "there is no such folder: --out names one for the results");
        self.out.is_dir().then_some(()).ok_or_else(problem)
    }
}

/// A file to send, and its length in bytes.
pub(super) async fn content(path: &Path) -> Result<(tokio::fs::File, u64), CommandFailure> {
    let about = |error| CommandFailure::about(path, error);
    let file = tokio::fs::File::open(path).await.map_err(about)?;
    let data = file.metadata().await.map_err(about)?;
    if data.is_file() { Ok((file, data.len())) } else { Err(CommandFailure::about(path, "expected a file")) }
}

/// Waits for a job's end, and writes its results.
async fn finish(
    client: &ClientOptions,
    service: &Client,
    id: &str,
    results: &Results,
) -> Result<(), CommandFailure> {
    results.check()?;
    let path = format!("/v1/jobs/{}?wait={WAIT}", encoded(id));
    let mut failed_since = None;
    let job: JobView = loop {
        match service.json::<JobView>(service.request(Method::GET, &path)).await {
            Ok(job) if job.state.has_ended() => break job,
            Ok(_) => failed_since = None,
            // The server may be starting again.
            Err(error) if error.is_temporary() => {
                let since = *failed_since.get_or_insert_with(Instant::now);
                if since.elapsed() > Duration::from_secs(WAIT) {
                    return Err(error.into());
                }
            }
            Err(error) => return Err(error.into()),
        }
        // A server that drains answers at once.
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    show(client, &job)?;
    if job.state != JobState::Done {
        let why = job.error.map(|error| format!(": {error}")).unwrap_or_default();
        return Err(CommandFailure::Rejected(format!("the job is {}{why}", job.state.name())));
    }
    for output in job.task.outputs() {
        let name = match job.task.content(*output) {
            ContentKind::Json => format!("{}.json", output.name()),
            ContentKind::Binary => format!("{}.bin", output.name()),
        };
        write(service, id, *output, &results.out.join(name)).await?;
    }
    Ok(())
}

async fn write(service: &Client, id: &str, output: TaskOutput, path: &Path) -> Result<(), CommandFailure> {
    let about = |error| CommandFailure::about(path, error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(folder).map_err(about)?;
    let content = tokio::fs::File::from_std(file.as_file().try_clone().map_err(about)?);
    let request = service.request(Method::GET, &format!("/v1/jobs/{}/{}", encoded(id), output.name()));
    service.download(request, content).await?;
    file.persist(path).map_err(|error| about(error.error))?;
    Ok(())
}

fn show(client: &ClientOptions, job: &JobView) -> Result<(), CommandFailure> {
    if client.json {
        return print_json(job);
    }
    let what = job.error.as_deref().or(job.phase.as_deref()).or(job.obstacle.as_deref()).unwrap_or_default();
    let (state, task, label) = (job.state.name(), job.task.name(), job.label.as_deref().unwrap_or_default());
    print(format!("{} {state:9} {task:12} {label:12} {what}", job.id).trim_end())
}
