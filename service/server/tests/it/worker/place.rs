//! A service in a folder, and workers for it.

use async_trait::async_trait;
use proofmill_job::{KeyFacts, KeyKind, Task, TaskInput, TaskOutput};
use proofmill_server::{
    access::{Identity, Scope, identify, new_token},
    coordinator::Coordinator,
    objects::{FolderObjects, Staging},
    service::{Inspector, Received, Rules, Service, ServiceError, Submission, digest},
    store::{JobRecord, Sqlite, Store},
    worker::{self, MachineMemory, Policy, WorkerOptions},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tempfile::TempDir;
use tokio::{
    io::AsyncReadExt,
    sync::watch,
    task::{AbortHandle, JoinHandle},
    time::timeout,
};

/// The longest time that a test waits for anything.
const PATIENCE: Duration = Duration::from_secs(30);

/// A service, and what tests need of it.
pub(crate) struct Place {
    pub(crate) service: Service,
    pub(crate) identity: Identity,
    /// Where everything lies.
    pub(crate) folder: PathBuf,
    house: AbortHandle,
    _owned: Option<TempDir>,
}

/// A worker at work.
pub(crate) struct Working {
    drain: watch::Sender<bool>,
    task: JoinHandle<Result<(), ServiceError>>,
}

/// Believes that a key takes the memory that it says itself.
struct FakeInspector;

#[async_trait]
impl Inspector for FakeInspector {
    async fn inspect(&self, path: &Path) -> Result<KeyFacts, ServiceError> {
        let key: serde_json::Value = serde_json::from_slice(&fs::read(path)?).expect("a key of a test");
        let memory = key["memory"].as_u64().unwrap_or(1 << 20);
        Ok(KeyFacts {
            kind: KeyKind::Groth16,
            domain: None,
            public: None,
            memory,
            memory_per_thread: 0,
            memory_per_input_byte: 0,
        })
    }
}

impl Place {
    /// A service with this lease.
    pub(crate) async fn new(lease: Duration) -> Self {
        Self::with_inspector(lease, Arc::new(FakeInspector)).await
    }

    /// A service whose keys are inspected by another one.
    pub(crate) async fn with_inspector(lease: Duration, inspector: Arc<dyn Inspector>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("state")).expect("a folder");
        Self::in_folder(folder.path().to_owned(), "tester", lease, inspector, Some(folder)).await
    }

    /// A second server, as a test of this name, of a service in a folder.
    pub(crate) async fn join(folder: PathBuf, name: &str, lease: Duration) -> Self {
        Self::in_folder(folder, name, lease, Arc::new(FakeInspector), None).await
    }

    async fn in_folder(
        root: PathBuf,
        name: &str,
        lease: Duration,
        inspector: Arc<dyn Inspector>,
        owned: Option<TempDir>,
    ) -> Self {
        let store = Store::new(Sqlite::open(&root.join("jobs.sqlite")).expect("a store"));
        let secret = new_token(&store, name, &Scope::ALL, None).await.expect("a new token");
        let identity = identify(&store, secret.expose()).await.expect("a store").expect("its token");
        let objects = Arc::new(FolderObjects::new(&root.join("objects")).expect("a folder"));
        let staging = Staging::new(&root.join("staging")).expect("a folder");
        let rules = Rules { lease, threads: 64, ..Rules::default() };
        let service = Service::new(store, objects, staging, inspector, rules);
        let keeper = service.clone();
        let house = tokio::spawn(async move { keeper.maintain().await }).abort_handle();
        Self { service, identity, folder: root, house, _owned: owned }
    }

    /// The fake prover's folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    /// The folder for keys that are brought.
    pub(crate) fn keys(&self) -> PathBuf {
        self.folder.join("keys")
    }

    /// Options for the fake prover.
    pub(crate) fn options(&self) -> WorkerOptions {
        let fake = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/worker/fake.py");
        WorkerOptions {
            id: uuid::Uuid::now_v7().to_string(),
            program: python().to_owned(),
            arguments: vec![fake.into(), self.state().into()],
            threads: Some(4),
            memory: Some(1 << 30),
            machine: MachineMemory::this(),
            divides: false,
            policy: Policy::Throughput,
            keys: self.keys(),
            most_key_bytes: 1 << 20,
            lease: self.service.rules().lease,
            drain_timeout: Duration::from_secs(20),
            dollars_per_hour: Some(2.5),
        }
    }

    /// Starts a worker.
    pub(crate) fn work(&self, options: WorkerOptions) -> Working {
        self.work_with(Arc::new(self.service.clone()), options)
    }

    /// Starts a worker that reaches the service in another way.
    pub(crate) fn work_with(&self, coordinator: Arc<dyn Coordinator>, options: WorkerOptions) -> Working {
        let (drain, drained) = watch::channel(false);
        let work = async move {
            let result = worker::run(coordinator, options, drained).await;
            if let Err(error) = &result {
                eprintln!("the worker ends: {error}");
            }
            result
        };
        Working { drain, task: tokio::spawn(work) }
    }

    /// Adds a key that tells the fake prover what to do; returns its digest.
    pub(crate) async fn key(&self, behaviour: serde_json::Value) -> String {
        let content = behaviour.to_string();
        self.add_key(content.as_bytes()).await.expect("a key")
    }

    /// Adds a key.
    pub(crate) async fn add_key(&self, content: &[u8]) -> Result<String, ServiceError> {
        let file = self.service.staging().file_with(content).expect("a file");
        let key = self.service.add_key(&self.identity, digest(content), None, file).await?;
        Ok(key.digest)
    }

    /// Submits a proof for the fake prover.
    pub(crate) async fn submit(&self, key: &str, witness: &str) -> String {
        self.submit_with(key, witness, |_| {}).await
    }

    /// Submits a proof with other rules.
    pub(crate) async fn submit_with(
        &self,
        key: &str,
        witness: &str,
        change: impl FnOnce(&mut Submission),
    ) -> String {
        let task = Task::Prove { key: key.to_owned(), program: None };
        self.submit_task(task, &[(TaskInput::Witness, witness.as_bytes())], change).await
    }

    /// Submits a task.
    pub(crate) async fn submit_task(
        &self,
        task: Task,
        inputs: &[(TaskInput, &[u8])],
        change: impl FnOnce(&mut Submission),
    ) -> String {
        let mut submission =
            Submission { task, priority: 0, expires_in_s: None, timeout_s: None, attempts: None };
        change(&mut submission);
        let file = |content: &[u8]| self.service.staging().file_with(content).expect("a file");
        let inputs = inputs.iter().map(|&(input, content)| (input, file(content))).collect();
        let received =
            Received { submission, inputs, idempotency_key: None, request: String::new(), trace: None };
        let mut answers = self.service.submit(&self.identity, vec![received], ()).await.expect("a service");
        answers.remove(0).expect("accepted").0.id
    }

    /// The job once it has ended.
    pub(crate) async fn ended(&self, id: &str) -> JobRecord {
        self.when(id, |job| job.progress.state.has_ended()).await
    }

    /// The job once this holds of it.
    pub(crate) async fn when(&self, id: &str, holds: impl Fn(&JobRecord) -> bool) -> JobRecord {
        let job = self.service.wait_until(&self.identity, id, PATIENCE, &holds).await.expect("a service");
        assert!(holds(&job), "still {job:?}");
        job
    }

    /// An output of a job that is done.
    pub(crate) async fn output(&self, id: &str, output: TaskOutput) -> String {
        let (_, _, mut reader) = self.service.output(&self.identity, id, output).await.expect("an output");
        let mut text = String::new();
        reader.read_to_string(&mut text).await.expect("text");
        text
    }

    /// The lines that fake provers wrote, in words.
    pub(crate) fn log(&self) -> Vec<Vec<String>> {
        let log = fs::read_to_string(self.state().join("log")).unwrap_or_default();
        log.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
    }

    /// The lines of the log that begin with this word.
    pub(crate) fn logged(&self, word: &str) -> Vec<Vec<String>> {
        self.log().into_iter().filter(|line| line[0] == word).collect()
    }

    /// The process that the last line with this word names.
    pub(crate) fn process(&self, word: &str) -> u32 {
        let lines = self.logged(word);
        lines.last().expect("a line")[1].parse().expect("a process")
    }

    /// What lies in the staging.
    pub(crate) fn staged(&self) -> Vec<String> {
        let entries = fs::read_dir(self.service.staging().path()).expect("the staging").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.house.abort();
    }
}

impl Working {
    /// Tells the worker to end.
    pub(crate) fn drain(&self) {
        self.drain.send_replace(true);
    }

    /// What the worker ends with.
    pub(crate) async fn result(&mut self) -> Result<(), ServiceError> {
        timeout(PATIENCE, &mut self.task).await.expect("the worker ends").expect("no panic")
    }

    /// Ends the worker.
    pub(crate) async fn end(&mut self) {
        self.drain();
        self.result().await.expect("a worker that ends well");
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Whether there is a process of this number that has not ended.
pub(crate) fn is_alive(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    !status.is_empty() && !status.contains("State:\tZ")
}

/// Waits until this holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("{what}: waited too long"));
}

/// The interpreter itself: what is found in PATH may be a script that starts another one.
fn python() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
        let output = output.expect("python3 is installed").stdout;
        String::from_utf8(output).expect("a path").trim().into()
    })
}
