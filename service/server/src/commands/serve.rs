//! `serve`: the server and its worker.

use super::{
    data::{DataFolder, OwnStaging, write_private},
    failure::CommandFailure,
    machine::{MachineOptions, bytes, duration, raise_open_files},
    open, signals,
};
use clap::{Args, ValueEnum};
use proofmill_server::{
    access::{Scope, hash, identify, new_token},
    http::{self, Face, HttpOptions, Stage, Tls},
    objects::{Encrypted, FileKeys, Objects, Staging},
    service::{Rules, Service},
    store::{Store, StoreError, StoreLimits},
    traces::Traces,
    worker::{self, ProcessInspector},
};
use std::{
    fs,
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};
use tokio::{runtime::Runtime, signal::unix::Signal, sync::watch, task::JoinHandle};

/// The most threads that serve HTTP: the others are for provers.
const MOST_THREADS: usize = 8;
/// How long a worker may take to give back its jobs once the time for them is over.
pub(super) const RELEASE: Duration = Duration::from_secs(10);
/// The shortest lease: workers renew it three times.
pub(super) const SHORTEST_LEASE: Duration = Duration::from_secs(1);
/// How long requests may take once the server closes.
const CLOSING: Duration = Duration::from_secs(10);
/// The space for keys of the worker in this process, in bytes, if the objects are not files on this machine.
const KEYS: u64 = 64 << 30;

/// Options of `serve`.
#[derive(Args)]
pub(super) struct Serve {
    /// Address and port; port 0 takes a free one and prints it
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6400", env = "PROOFMILL_LISTEN")]
    listen: SocketAddr,
    /// A folder for everything that the server keeps [default: proofmill/server in the user's data folder]
    #[arg(long, value_name = "DIR", env = "PROOFMILL_DATA")]
    data: Option<PathBuf>,
    /// The store: sqlite:PATH, or postgres://USER@HOST/DATABASE [default: a file in the data folder]
    #[arg(long, value_name = "URL", env = "PROOFMILL_STORE", hide_env_values = true)]
    store: Option<String>,
    /// The objects: file:PATH, or s3://BUCKET/PREFIX [default: a folder in the data folder]
    #[arg(long, value_name = "URL", env = "PROOFMILL_OBJECTS", hide_env_values = true)]
    objects: Option<String>,
    /// Encrypt the inputs and results of jobs at rest; the file has the key, `openssl rand -hex 32` makes one
    #[arg(long, value_name = "FILE", env = "PROOFMILL_ENCRYPT_INPUTS")]
    encrypt_inputs: Option<PathBuf>,
    /// The server's certificate and those above it (PEM); read again at SIGHUP
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The certificate's private key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Listen beyond the loopback without TLS, behind a proxy that has it
    #[arg(long)]
    insecure_http: bool,
    /// A host name that requests may carry, besides the loopback's, if the server listens on the loopback
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Requests without a token from this machine have the rights of this token
    #[arg(long, value_name = "TOKEN_NAME")]
    anonymous_loopback: Option<String>,
    /// Take no jobs: other workers do
    #[arg(long)]
    no_worker: bool,
    #[command(flatten)]
    machine: MachineOptions,
    /// How long a worker keeps a job without renewing its lease
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = duration)]
    lease: Duration,
    /// The longest time of an attempt
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    timeout: Duration,
    /// The attempts of a job
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    attempts: u32,
    /// How long ended jobs and their results are kept
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = duration)]
    keep: Duration,
    /// How long the inputs of dead jobs are kept, for retries
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = duration)]
    keep_dead: Duration,
    /// The most jobs that wait
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    max_queued: u64,
    /// The most jobs of one token that wait
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_queued_per_token: u64,
    /// The most bytes of one token that are stored: its keys, and the inputs of its jobs [default: half of the objects' disk]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    max_stored_per_token: Option<u64>,
    /// The most keys of one token
    #[arg(long, value_name = "N", default_value_t = 1000)]
    max_keys_per_token: u64,
    /// The most bytes of a job's inputs
    #[arg(long, value_name = "BYTES", default_value = "4G", value_parser = bytes)]
    max_input: u64,
    /// The most bytes of a key
    #[arg(long, value_name = "BYTES", default_value = "256G", value_parser = bytes)]
    max_key: u64,
    /// The most bytes that the requests of one token are uploading
    #[arg(long, value_name = "BYTES", default_value = "512G", value_parser = bytes)]
    max_staged: u64,
    /// The longest time that a request waits for a job; less than what proxies allow
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    max_wait: Duration,
    /// The most connections
    #[arg(long, value_name = "N", default_value_t = 4096)]
    max_connections: usize,
    /// How long running jobs may go on after SIGTERM; then they are given back
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    drain_timeout: Duration,
    /// Send traces of jobs by OTLP over gRPC to this collector, such as http://127.0.0.1:4317
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    otlp: Option<String>,
    #[command(flatten)]
    log: LogOptions,
}

/// Options of logs.
#[derive(Args)]
pub(super) struct LogOptions {
    /// The log's format, on standard error
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl LogOptions {
    /// Starts to log; `PROOFMILL_LOG` filters, such as `warn` or `proofmill_server=debug`.
    pub(super) fn start(&self) {
        let filter = tracing_subscriber::EnvFilter::try_from_env("PROOFMILL_LOG");
        let filter = filter.unwrap_or_else(|_| "info".into());
        let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
        // If the log cannot be written, an error about it cannot be written either.
        let log = log.log_internal_errors(false);
        match self.log {
            Format::Text => log.with_ansi(false).init(),
            Format::Json => log.json().init(),
        }
    }
}

/// A runtime that leaves most threads to provers.
pub(super) fn runtime() -> Result<Runtime, CommandFailure> {
    raise_open_files();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    // A process has one provider; a second call changes nothing.
    drop(rustls::crypto::ring::default_provider().install_default());
    Ok(tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .thread_name("proofmill-server")
        .build()?)
}

impl Serve {
    /// Serves until a signal.
    pub(super) fn run(self) -> Result<(), CommandFailure> {
        self.log.start();
        if !self.listen.ip().is_loopback() && self.tls_cert.is_none() && !self.insecure_http {
            return Err(CommandFailure::Input(format!(
                "{}: other machines could read along: --tls-cert and --tls-key, or --insecure-http behind a proxy with TLS",
                self.listen
            )));
        }
        if self.anonymous_loopback.is_some() && !self.listen.ip().is_loopback() {
            return Err(CommandFailure::Input(
                "--anonymous-loopback: only for a server that listens on the loopback".to_owned(),
            ));
        }
        if self.lease < SHORTEST_LEASE {
            return Err(CommandFailure::Input("--lease: expected at least 1s".to_owned()));
        }
        let runtime = runtime()?;
        let served = runtime.block_on(self.serve());
        // Tasks that wait for a disk without an answer do not keep the process alive.
        runtime.shutdown_timeout(CLOSING);
        served
    }

    async fn serve(self) -> Result<(), CommandFailure> {
        let draining = signals::draining()?;
        let hang_up = signals::hang_up()?;
        let data = DataFolder::new(self.data.as_deref())?;
        data.create()?;
        let turn = data.lock()?;
        let store = open::store(self.store.as_deref(), &data)?;
        let (objects, staging) = open::objects(self.objects.as_deref(), &data)?;
        let staging = OwnStaging::new(&staging)?;
        let objects = self.encrypted(objects, &staging.staging)?;
        ensure_administrator(&store, &data).await?;
        drop(turn);
        let inspector = Arc::new(ProcessInspector { program: self.program()? });
        let rules = self.rules(&*objects, &staging.staging)?;
        let service = Service::new(store, objects, staging.staging.clone(), inspector, rules);
        service.own_objects().await?;
        let tls = self.tls().await?;
        follow_hang_ups(hang_up, tls.clone());
        let listener = TcpListener::bind(self.listen).map_err(|error| {
            CommandFailure::Input(format!(
                "{}: {error}: --listen names another address and port",
                self.listen
            ))
        })?;
        let address = listener.local_addr()?;
        let url = url(address, tls.is_some());
        write_private(&data.address(), &format!("{url}\n"))?;
        println!("{url}");
        tracing::info!(url, data = %data.place("").display(), "listening");

        let house = service.clone();
        let mut house = tokio::spawn(async move { house.maintain().await });
        let mut worker = self.start_worker(&service, &data, draining.clone())?;
        let watchdog = start_watchdog();
        let traces = self.traces(&service)?;
        let (stage, stages) = watch::channel(Stage::Serving);
        let face = Face::new(service, self.face(address), stages);
        let mut served = tokio::spawn(http::serve(face, listener, tls, CLOSING));
        drop(sd_notify::notify(&[sd_notify::NotifyState::Ready]));

        let ended = tokio::select! {
            () = until_true(draining) => Ok(()),
            ended = failure_of(&mut worker) => ended,
            ended = &mut house => return Err(CommandFailure::Input(match ended {
                Ok(error) => error.to_string(),
                Err(error) => format!("housekeeping ended: {error}"),
            })),
            ended = &mut served => {
                return Err(CommandFailure::Input(format!("the listener ended: {ended:?}")));
            }
        };
        stage.send_replace(Stage::Draining);
        let worked = finish(worker, self.drain_timeout + RELEASE).await;
        stage.send_replace(Stage::Closing);
        let closed = served.await.map_err(|error| CommandFailure::Input(error.to_string()));
        house.abort();
        watchdog.into_iter().for_each(|watchdog| watchdog.abort());
        drop(staging);
        if let Some(traces) = traces {
            drop(tokio::task::spawn_blocking(move || traces.end()).await);
        }
        closed??;
        ended.and(worked)?;
        tracing::info!("ended");
        Ok(())
    }

    /// Objects that encrypt, if there is a key.
    fn encrypted(
        &self,
        objects: Arc<dyn Objects>,
        staging: &Staging,
    ) -> Result<Arc<dyn Objects>, CommandFailure> {
        let Some(path) = &self.encrypt_inputs else { return Ok(objects) };
        let keys = FileKeys::open(path).map_err(|error| CommandFailure::about(path, error))?;
        Ok(Arc::new(Encrypted::new(objects, staging.clone(), keys)))
    }

    /// Sends traces, if there is a collector.
    fn traces(&self, service: &Service) -> Result<Option<Arc<Traces>>, CommandFailure> {
        let Some(collector) = &self.otlp else { return Ok(None) };
        let traces =
            Traces::new(collector).map_err(|problem| CommandFailure::Input(format!("--otlp: {problem}")))?;
        let traces = Arc::new(traces);
        service.observe(traces.clone());
        Ok(Some(traces))
    }

    fn program(&self) -> Result<PathBuf, CommandFailure> {
        match self.machine.program() {
            // Without the program, other workers can still use stored keys; only new keys cannot be inspected.
            Err(failure) if self.no_worker => {
                tracing::warn!(%failure, "no keys can be added");
                Ok(PathBuf::from("proofmill"))
            }
            program => program,
        }
    }

    fn rules(&self, objects: &dyn Objects, staging: &Staging) -> Result<Rules, CommandFailure> {
        let rules = Rules::default();
        let bytes_of_owner = match self.max_stored_per_token {
            Some(bytes) => bytes,
            // Objects that are files are on the same disk as the staging.
            None if objects.path("keys").is_some() => staging.disk_bytes()? / 2,
            None => rules.limits.bytes_of_owner,
        };
        Ok(Rules {
            lease: self.lease,
            limits: StoreLimits {
                of_owner: self.max_queued_per_token,
                of_all: self.max_queued,
                bytes_of_owner,
                keys_of_owner: self.max_keys_per_token,
            },
            keep: self.keep,
            keep_dead: self.keep_dead,
            timeout: self.timeout,
            attempts: self.attempts,
            ..rules
        })
    }

    fn face(&self, address: SocketAddr) -> HttpOptions {
        let mut options = HttpOptions {
            anonymous: self.anonymous_loopback.clone(),
            most_connections: self.max_connections,
            longest_wait: self.max_wait,
            ..HttpOptions::default()
        };
        options.bodies.most_inputs = self.max_input;
        options.bodies.most_key = self.max_key;
        options.bodies.most_staged = self.max_staged;
        if address.ip().is_loopback() {
            let own = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
            options.hosts =
                own.into_iter().chain([address.ip().to_string()]).chain(self.allow_host.clone()).collect();
        } else if self.tls_cert.is_none() {
            tracing::warn!(
                "secrets travel without encryption up to the proxy: nobody else may reach this port"
            );
        }
        options
    }

    async fn tls(&self) -> Result<Option<Tls>, CommandFailure> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else { return Ok(None) };
        Ok(Some(Tls::open(certificate, key).await?))
    }

    fn start_worker(
        &self,
        service: &Service,
        data: &DataFolder,
        draining: watch::Receiver<bool>,
    ) -> Result<Option<JoinHandle<Result<(), CommandFailure>>>, CommandFailure> {
        if self.no_worker {
            return Ok(None);
        }
        let options = self.machine.worker(data.place("keys"), KEYS, (self.lease, self.drain_timeout))?;
        let service = Arc::new(service.clone());
        Ok(Some(tokio::spawn(async move { Ok(worker::run(service, options, draining).await?) })))
    }
}

/// Reads the certificate again at each SIGHUP. A server without one goes on: log rotation may send the signal to every service.
fn follow_hang_ups(mut hang_up: Signal, tls: Option<Tls>) {
    tokio::spawn(async move {
        while hang_up.recv().await.is_some() {
            match &tls {
                None => tracing::info!("SIGHUP: there is no certificate to read again"),
                Some(tls) => match tls.reload().await {
                    Ok(()) => tracing::info!("the certificate was read again"),
                    Err(error) => tracing::error!(%error, "the old certificate stays"),
                },
            }
        }
    });
}

/// Completes when the value is true.
async fn until_true(mut value: watch::Receiver<bool>) {
    if value.wait_for(|value| *value).await.is_err() {
        std::future::pending().await
    }
}

/// Completes when the worker fails: a server whose worker cannot start would only collect jobs.
async fn failure_of(
    worker: &mut Option<JoinHandle<Result<(), CommandFailure>>>,
) -> Result<(), CommandFailure> {
    if let Some(running) = worker {
        let ended = running.await;
        *worker = None;
        ended.map_err(|error| CommandFailure::Input(format!("the worker: {error}")))??;
    }
    std::future::pending().await
}

/// Waits for the worker to end its jobs.
async fn finish(
    worker: Option<JoinHandle<Result<(), CommandFailure>>>,
    patience: Duration,
) -> Result<(), CommandFailure> {
    let Some(mut worker) = worker else { return Ok(()) };
    match tokio::time::timeout(patience, &mut worker).await {
        Ok(ended) => ended.map_err(|error| CommandFailure::Input(format!("the worker: {error}")))?,
        Err(_) => {
            tracing::warn!(
                "the worker's jobs take longer than the drain may: others get them when the leases end"
            );
            worker.abort();
            Ok(())
        }
    }
}

/// Tells systemd again and again that the process lives, if it wants to know.
fn start_watchdog() -> Option<JoinHandle<()>> {
    let period = sd_notify::watchdog_enabled()?;
    Some(tokio::spawn(async move {
        loop {
            drop(sd_notify::notify(&[sd_notify::NotifyState::Watchdog]));
            tokio::time::sleep(period / 3).await;
        }
    }))
}

/// The URL at which clients on this machine reach the server.
fn url(address: SocketAddr, has_tls: bool) -> String {
    let port = address.port();
    match (has_tls, address.ip().is_unspecified()) {
        (true, _) if address.ip().is_loopback() || address.ip().is_unspecified() => {
            format!("https://localhost:{port}")
        }
        (true, _) => format!("https://{address}"),
        (false, true) => format!("http://127.0.0.1:{port}"),
        (false, false) => format!("http://{address}"),
    }
}

/// Makes an administrator's token for the commands on this machine, if there is none.
async fn ensure_administrator(store: &Store, data: &DataFolder) -> Result<(), CommandFailure> {
    let path = data.token();
    match fs::read_to_string(&path) {
        Ok(secret) if identify(store, secret.trim()).await?.is_some() => return Ok(()),
        Ok(secret) if !is_known(store, secret.trim()).await? && has_administrator(store).await? => {
            tracing::warn!(path = %path.display(), "the store does not know this token");
            return Ok(());
        }
        Ok(_) => tracing::warn!(path = %path.display(), "this token is not valid any more: making a new one"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(CommandFailure::about(&path, error)),
    }
    let unique = format!("admin-{}", &uuid::Uuid::new_v4().simple().to_string()[..8]);
    let mut made = new_token(store, "admin", &[Scope::Admin], None).await;
    if matches!(made, Err(proofmill_server::service::ServiceError::Store(StoreError::Taken(_)))) {
        made = new_token(store, &unique, &[Scope::Admin], None).await;
    }
    write_private(&path, &format!("{}\n", made?.expose()))
}

/// Whether the secret is that of a token of this store, which may have expired or been revoked.
async fn is_known(store: &Store, secret: &str) -> Result<bool, CommandFailure> {
    let hash = hash(secret);
    Ok(store.tokens().await?.into_iter().any(|token| Some(token.hash) == hash))
}

async fn has_administrator(store: &Store) -> Result<bool, CommandFailure> {
    let (tokens, now) = (store.tokens().await?, store.now().await?);
    let is_administrator = |token: &proofmill_server::store::TokenRecord| {
        let is_valid = token.revoked_at.is_none() && token.expires_at.is_none_or(|time| time > now);
        is_valid && token.scopes.split(' ').any(|scope| scope == Scope::Admin.name())
    };
    Ok(tokens.iter().any(is_administrator))
}
