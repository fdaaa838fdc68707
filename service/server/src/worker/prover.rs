//! The process that proves: its start, its requests, its end.

use proofmill_job::{Reply, Request};
use rustix::process::{Pid, Signal, kill_process_group};
use std::{
    ffi::OsString,
    fs, io,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    time::Duration,
};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    time::{Instant, timeout},
};

/// How long a process may take until it is ready.
const START: Duration = Duration::from_secs(30);
/// How long an idle process may take to end once its input has ended.
const END: Duration = Duration::from_secs(2);
/// How long a killed process may take to end; only one that waits for a device takes long.
const DEATH: Duration = Duration::from_secs(10);
/// The most bytes of a reply.
const MOST_OF_REPLY: usize = 64 << 10;
/// The most bytes of a line that is logged.
const MOST_OF_LINE: usize = 2 << 10;
/// The most lines that are logged in a minute, of one process.
const MOST_LINES: u32 = 100;
/// The most phases of a task.
const MOST_PHASES: u32 = 10_000;
/// The most characters of a phase's name.
const MOST_OF_PHASE: usize = 100;
/// The most characters of a failure's message.
const MOST_OF_MESSAGE: usize = 1000;
/// The environment variables that a prover sees; the others may hold secrets.
const ENVIRONMENT: [&str; 14] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "PATH",
    "PROOFMILL_ALLOW_INSECURE_SETUP",
    "PROOFMILL_LEVEL",
    "PROOFMILL_SHA",
    "RUST_BACKTRACE",
    "RUST_MIN_STACK",
    "TEMP",
    "TMP",
    "TMPDIR",
    "TZ",
];

/// A process that proves. It is killed with the value.
#[derive(Debug)]
pub(super) struct ProverProcess {
    child: Child,
    /// The process and its group.
    pid: Pid,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The facts that it reported when it was ready.
    pub(super) ready: Ready,
    /// Whether it has a request that is not answered.
    is_busy: bool,
    /// The digest of the key that it used last.
    pub(super) last_key: Option<String>,
    /// When it was last used.
    pub(super) used_at: Instant,
    /// The memory that it kept after its last task, in bytes, but for what any process needs.
    pub(super) kept_memory: u64,
}

/// A program that executes jobs.
#[derive(Clone, Debug)]
pub(super) struct ProverProgram {
    pub(super) path: PathBuf,
    /// Arguments before `prover`.
    pub(super) arguments: Vec<OsString>,
    /// Whether it gets the variables that say how a cluster of Ray is reached.
    pub(super) sees_ray: bool,
}

/// The facts that a process reports when it is ready.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    /// Level (CPU features) that it uses.
    pub(super) level: String,
    /// The CPU's name.
    pub(super) cpu: String,
    /// Hardware threads.
    pub(super) threads: usize,
}

/// The reason why a prover could not be started.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    /// It could not be started.
    #[error("{}: cannot be started: {error}", program.display())]
    Spawn { program: PathBuf, error: io::Error },
    /// It is another version.
    #[error("{}: version {found}, but the worker is version {}: install the same version of both", program.display(), env!("CARGO_PKG_VERSION"))]
    Version { program: PathBuf, found: String },
    /// It was not ready.
    #[error("{} prover: {problem}", program.display())]
    NotReady { program: PathBuf, problem: String },
}

/// Why a process did not answer. It is of no use any more.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProverError {
    /// It ended.
    #[error("the prover {0}")]
    Ended(String),
    /// It wrote a line that is no reply.
    #[error("the prover's answer cannot be read: {0}")]
    Garbage(String),
}

impl ProverProcess {
    /// Starts `PROGRAM ARGUMENTS prover` in a process group of its own, and waits until it is ready. It keeps open keys of at most
    /// `key_memory` bytes.
    pub(super) async fn start(program: &ProverProgram, key_memory: Option<u64>) -> Result<Self, StartError> {
        let ProverProgram { path: program, arguments, sees_ray } = program;
        let spawn_error = |error| StartError::Spawn { program: program.to_owned(), error };
        let mut command = Command::new(program);
        command.args(arguments).arg("prover").env_clear();
        if let Some(bytes) = key_memory {
            command.arg("--key-memory").arg(bytes.to_string());
        }
        if *sees_ray {
            command
                .envs(std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"RAY_")));
        }
        command.envs(ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: a kill also ends the processes that the prover has started.
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn().map_err(spawn_error)?;
        let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let (Some(pid), Some(output), Some(errors)) = (pid, child.stdout.take(), child.stderr.take()) else {
            return Err(spawn_error(io::Error::other("it has no process id or no output")));
        };
        restrict(pid);
        tokio::spawn(log(errors, pid.as_raw_nonzero().get()));
        let input = child.stdin.take();
        let ready = Ready { level: String::new(), cpu: String::new(), threads: 1 };
        let mut prover = Self {
            child,
            pid,
            input,
            output: BufReader::new(output),
            ready,
            is_busy: true,
            last_key: None,
            used_at: Instant::now(),
            kept_memory: 0,
        };
        let not_ready = |problem: String| StartError::NotReady { program: program.to_owned(), problem };
        let first = timeout(START, prover.reply()).await;
        match first.map_err(|_| not_ready(format!("not ready after {} s", START.as_secs())))? {
            Ok(Reply::Ready { version, .. }) if version != env!("CARGO_PKG_VERSION") => {
                Err(StartError::Version {
                    program: program.to_owned(),
                    found: clean(&version, MOST_OF_PHASE),
                })
            }
            Ok(Reply::Ready { level, cpu, threads, .. }) => {
                prover.ready = Ready { level, cpu, threads: threads.max(1) };
                prover.is_busy = false;
                Ok(prover)
            }
            Ok(_) => Err(not_ready("its first line does not say that it is ready".to_owned())),
            Err(error) => Err(not_ready(error.to_string())),
        }
    }

    /// The process's id.
    pub(super) fn process(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Whether it has a request that is not answered.
    pub(super) fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// The prover if it waits for a request: it is alive and has written nothing without a request. Otherwise it is killed.
    pub(super) async fn if_fit(mut self) -> Option<Self> {
        use futures::FutureExt;
        // Output without a request would be taken for the answer to the next one.
        let is_silent = self.output.fill_buf().now_or_never().is_none();
        if !self.is_busy && is_silent && matches!(self.child.try_wait(), Ok(None)) {
            return Some(self);
        }
        tracing::warn!(process = self.process(), "a prover ended that had nothing to do");
        self.kill().await;
        None
    }

    /// Sends a request and returns the reply that ends it; phases go to `phase`. After an error, or if this is cancelled, the process is
    /// [busy](Self::is_busy) for ever.
    pub(super) async fn ask(
        &mut self,
        request: &Request,
        mut phase: impl FnMut(String),
    ) -> Result<Reply, ProverError> {
        self.is_busy = true;
        let mut line =
            serde_json::to_vec(request).map_err(|error| ProverError::Garbage(error.to_string()))?;
        line.push(b'\n');
        let written = match &mut self.input {
            Some(input) => input.write_all(&line).await.is_ok(),
            None => false,
        };
        if !written {
            return Err(self.ended().await);
        }
        let mut phases = 0;
        loop {
            match self.reply().await? {
                Reply::Phase { name } => phase(clean(&name, MOST_OF_PHASE)),
                Reply::Ready { .. } => return Err(ProverError::Garbage("a second start".to_owned())),
                Reply::Failed(mut failure) => {
                    self.is_busy = false;
                    failure.message = clean(&failure.message, MOST_OF_MESSAGE);
                    return Ok(Reply::Failed(failure));
                }
                reply => {
                    self.is_busy = false;
                    return Ok(reply);
                }
            }
            phases += 1;
            if phases > MOST_PHASES {
                return Err(ProverError::Garbage(format!("more than {MOST_PHASES} phases")));
            }
        }
    }

    async fn reply(&mut self) -> Result<Reply, ProverError> {
        let mut line = Vec::new();
        match next_line(&mut self.output, &mut line, MOST_OF_REPLY).await {
            Ok(Line::Whole) => {}
            Ok(Line::Cut) => {
                return Err(ProverError::Garbage(format!("a line of more than {MOST_OF_REPLY} bytes")));
            }
            Ok(Line::None) | Err(_) => return Err(self.ended().await),
        }
        // The line itself is not shown: it could hold anything.
        serde_json::from_slice(&line)
            .map_err(|_| ProverError::Garbage(format!("a line of {} bytes is no reply", line.len())))
    }

    /// Why nothing can be read or written any more.
    async fn ended(&mut self) -> ProverError {
        match timeout(END, self.child.wait()).await {
            Ok(Ok(status)) => ProverError::Ended(describe(status)),
            Ok(Err(error)) => ProverError::Ended(format!("ended: {error}")),
            Err(_) => ProverError::Ended("closed its output and went on".to_owned()),
        }
    }

    /// Kills the process and its group, and waits until it has ended.
    pub(super) async fn kill(mut self) {
        self.kill_group();
        if timeout(DEATH, self.child.wait()).await.is_err() {
            tracing::error!(process = self.process(), "a killed prover does not end");
        }
    }

    /// Lets an idle process end by itself, or kills it after a moment.
    pub(super) async fn end(mut self) {
        // The end of its input tells the prover to end.
        self.input = None;
        if timeout(END, self.child.wait()).await.is_err() {
            tracing::warn!(process = self.process(), "the prover does not end with its input: killed");
            self.kill().await;
        }
    }

    fn kill_group(&self) {
        // Once the process was waited for, its number may be another one's.
        if self.child.id().is_some() {
            // It may have ended by itself.
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
    }
}

impl Drop for ProverProcess {
    fn drop(&mut self) {
        self.kill_group();
    }
}

/// Makes the kernel end a prover before the worker if there is too little memory, and keeps secrets out of core files.
fn restrict(pid: Pid) {
    let path = format!("/proc/{}/oom_score_adj", pid.as_raw_nonzero());
    if let Err(error) = fs::write(path, "800") {
        tracing::debug!(%error, "cannot raise a prover's score for the kernel's choice when memory ends");
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, prlimit};
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        if let Err(error) = prlimit(Some(pid), Resource::Core, none) {
            tracing::debug!(%error, "cannot forbid core files of a prover");
        }
    }
}

/// Logs what a process writes to its standard error.
async fn log(errors: ChildStderr, process: i32) {
    let mut errors = BufReader::new(errors);
    let (mut line, mut since, mut lines) = (Vec::new(), Instant::now(), 0_u32);
    while let Ok(Line::Whole | Line::Cut) = next_line(&mut errors, &mut line, MOST_OF_LINE).await {
        if since.elapsed() >= Duration::from_secs(60) {
            (since, lines) = (Instant::now(), 0);
        }
        lines = lines.saturating_add(1);
        if lines < MOST_LINES {
            let line = clean(&String::from_utf8_lossy(&line), MOST_OF_LINE);
            tracing::info!(process, line, "the prover says");
        } else if lines == MOST_LINES {
            tracing::warn!(process, "the prover says more than is logged");
        }
    }
}

/// How much of a line was read.
enum Line {
    /// All of it.
    Whole,
    /// The first bytes; the others are skipped by the next call.
    Cut,
    /// Nothing, since the output has ended.
    None,
}

/// Reads a line without its end. Of a longer line, only the first `most` bytes are kept. Its rest is skipped if it ends within the next
/// `most` bytes; otherwise by the next call, with `line` as it was left.
async fn next_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    most: usize,
) -> io::Result<Line> {
    // Left by the last call: the rest of that line is skipped.
    let mut skip = line.len() > most;
    line.clear();
    loop {
        let bytes = reader.fill_buf().await?;
        if bytes.is_empty() {
            return Ok(if line.is_empty() { Line::None } else { Line::Whole });
        }
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let part = &bytes[..end.unwrap_or(bytes.len())];
        if !skip {
            // One more than allowed tells that it was cut.
            line.extend_from_slice(&part[..part.len().min(most + 1 - line.len())]);
        }
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if skip {
            skip = end.is_none();
        } else if line.len() > most {
            if end.is_some() {
                line.truncate(most);
            }
            return Ok(Line::Cut);
        } else if end.is_some() {
            return Ok(Line::Whole);
        }
    }
}

/// One line of at most so many characters.
fn clean(text: &str, most: usize) -> String {
    text.chars().take(most).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// How a process ended.
fn describe(status: ExitStatus) -> String {
    let Some(signal) = status.signal() else {
        return format!("ended with exit code {}", status.code().unwrap_or_default());
    };
    let name = match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL, perhaps by the kernel because memory ended)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        _ => "",
    };
    format!("was ended by signal {signal}{name}")
}

#[cfg(test)]
mod tests {
    use super::{Line, next_line};

    #[tokio::test]
    async fn lines_have_a_greatest_length() {
        let text = b"ab\n\n123456789012345\nlast";
        for capacity in [1, 2, 3, 64] {
            let mut reader = tokio::io::BufReader::with_capacity(capacity, text.as_slice());
            let (mut line, mut found) = (Vec::new(), Vec::new());
            loop {
                let read = next_line(&mut reader, &mut line, 4).await.expect("bytes");
                let text = String::from_utf8_lossy(&line).into_owned();
                match read {
                    Line::Whole => found.push(text),
                    Line::Cut => found.push(format!("{}...", &text[..4])),
                    Line::None => break,
                }
            }
            assert_eq!(found, ["ab", "", "1234...", "last"], "{capacity}");
        }
    }
}
