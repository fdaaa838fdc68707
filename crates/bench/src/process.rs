//! Other people's programs: found, run, timed out and, whatever happens to us, ended.
#![allow(unsafe_code)]

use std::{
    borrow::Cow,
    ffi::OsStr,
    fmt,
    io::{self, BufRead as _, BufReader, Read, Write as _},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// Between two looks at whether a program has ended.
const LOOK: Duration = Duration::from_millis(3);
/// A program that was asked to end gets so long before it is killed.
const GRACE: Duration = Duration::from_millis(500);
/// No program here has more to say; what is beyond is cut off.
const LONGEST_OUTPUT: u64 = 16 << 20;

/// Where `program` is in the folders of `path`, which is written as the variable `PATH` is.
pub(crate) fn find(program: &str, path: &OsStr) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    // An empty word would mean the current folder, in which anybody may have put anything.
    let folders = std::env::split_paths(path).filter(|folder| !folder.as_os_str().is_empty());
    folders.map(|folder| folder.join(program)).find(|file| {
        file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    })
}

/// A program that runs. When this is dropped, or this process ends in any way, it and what it started are ended.
pub(crate) struct Running {
    /// Its pipes are the caller's.
    pub(crate) child: Child,
    ended: Option<ExitStatus>,
}

impl Running {
    /// Starts `command` in a process group of its own, with the standard streams that it was given.
    pub(crate) fn start(mut command: Command) -> io::Result<Self> {
        command.process_group(0);
        end_with_this_process(&mut command);
        Ok(Self { child: command.spawn()?, ended: None })
    }

    /// Whether and how it has ended.
    pub(crate) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
        }
        Ok(self.ended)
    }

    /// Waits for its end until `deadline`.
    pub(crate) fn wait_until(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        loop {
            if let Some(status) = self.ended()? {
                return Ok(Some(status));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            thread::sleep(LOOK);
        }
    }

    /// Sends a signal to it and all that it started.
    fn signal(&self, signal: libc::c_int) {
        if let Ok(group) = libc::pid_t::try_from(self.child.id()) {
            // SAFETY: `kill` reads no memory of ours. The group is the child's own, and its number is not given to others
            // while the child has not been waited for or a member lives; an empty group is an error that changes nothing.
            _ = unsafe { libc::kill(-group, signal) };
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Asked first: a server's master then ends its workers in order.
        if matches!(self.ended(), Ok(None)) {
            self.signal(libc::SIGTERM);
            _ = self.wait_until(Instant::now() + GRACE);
        }
        self.signal(libc::SIGKILL);
        _ = self.child.wait();
    }
}

/// Asks the kernel to end the program when this process ends without having done so itself: by SIGTERM, on which a server's
/// master ends its workers too.
#[cfg(target_os = "linux")]
fn end_with_this_process(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: between fork and exec only `prctl`, `getppid` and `_exit` are called, which are async-signal-safe; nothing
    // is allocated and no lock is taken.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM as libc::c_ulong) != 0 {
                return Err(io::Error::last_os_error());
            }
            // It may have ended before the call.
            if u32::try_from(libc::getppid()) != Ok(parent) {
                libc::_exit(1);
            }
            Ok(())
        });
    }
}

#[cfg(not(target_os = "linux"))]
fn end_with_this_process(_command: &mut Command) {}

/// What a program said.
#[derive(Debug)]
pub(crate) struct Output {
    /// On standard output.
    pub(crate) bytes: Vec<u8>,
    /// On standard error.
    pub(crate) stderr: String,
}

impl Output {
    /// Standard output, as text.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// Why a program did not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It cannot be started.
    Start(io::Error),
    /// It did not end in this time.
    Hung(Duration),
    /// It ended so, with this as its last word.
    Ended(ExitStatus, String),
}

impl Failure {
    /// Whether there is no such program.
    pub(crate) fn not_found(&self) -> bool {
        matches!(self, Self::Start(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => write!(f, "cannot be started: {error}"),
            Self::Hung(patience) => {
                write!(f, "had not ended after {} s and was stopped", patience.as_secs_f64())
            }
            Self::Ended(status, word) if word.is_empty() => write!(f, "ended with {status}"),
            Self::Ended(status, word) => write!(f, "ended with {status}: {word}"),
        }
    }
}

/// Runs a program to its end.
pub(crate) fn output(command: Command, patience: Duration) -> Result<Output, Failure> {
    talk(command, patience, |_| ())
}

/// As [`output`], and calls `heard` with each line of standard error as it comes.
pub(crate) fn talk(
    mut command: Command,
    patience: Duration,
    mut heard: impl FnMut(&str),
) -> Result<Output, Failure> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let deadline = Instant::now() + patience;
    let mut running = Running::start(command).map_err(Failure::Start)?;
    let stdout = running.child.stdout.take().map(|pipe| thread::spawn(move || read(pipe)));
    let (line, lines) = mpsc::channel();
    if let Some(pipe) = running.child.stderr.take() {
        thread::spawn(move || {
            let mut reader = BufReader::new(pipe.take(LONGEST_OUTPUT));
            let mut bytes = Vec::new();
            while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
                if line.send(String::from_utf8_lossy(&bytes).trim_end().to_owned()).is_err() {
                    return;
                }
                bytes.clear();
            }
        });
    }
    let mut stderr = String::new();
    while let Ok(line) = lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        heard(&line);
        stderr.push_str(&line);
        stderr.push('\n');
    }
    let Some(status) = running.wait_until(deadline).map_err(Failure::Start)? else {
        return Err(Failure::Hung(patience));
    };
    // Whatever it left behind would hold the pipe open.
    drop(running);
    let bytes = stdout.and_then(|thread| thread.join().ok()).unwrap_or_default();
    match status.success() {
        true => Ok(Output { bytes, stderr }),
        false => {
            let word = stderr.lines().rev().find(|line| !line.trim().is_empty());
            Err(Failure::Ended(status, word.unwrap_or_default().trim().to_owned()))
        }
    }
}

fn read(pipe: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    _ = pipe.take(LONGEST_OUTPUT).read_to_end(&mut bytes);
    bytes
}

/// A program that answers a line by a line.
pub(crate) struct Partner {
    /// Dropped first: a program that reads on sees the end of its input and ends.
    stdin: ChildStdin,
    lines: mpsc::Receiver<String>,
    running: Running,
    patience: Duration,
}

impl Partner {
    /// Starts it; what it says on standard error is not read.
    pub(crate) fn start(mut command: Command, patience: Duration) -> Result<Self, Failure> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut running = Running::start(command).map_err(Failure::Start)?;
        let (stdin, stdout) = running
            .child
            .stdin
            .take()
            .zip(running.child.stdout.take())
            .ok_or_else(|| Failure::Start(io::Error::other("no pipes")))?;
        let (line, lines) = mpsc::channel();
        thread::spawn(move || {
            for text in BufReader::new(stdout.take(LONGEST_OUTPUT)).lines().map_while(Result::ok) {
                if line.send(text).is_err() {
                    return;
                }
            }
        });
        Ok(Self { stdin, lines, running, patience })
    }

    /// Sends it a line.
    pub(crate) fn say(&mut self, line: &str) -> Result<(), Failure> {
        let sent = writeln!(self.stdin, "{line}").and_then(|()| self.stdin.flush());
        sent.map_err(|_| self.silence())
    }

    /// Its next line.
    pub(crate) fn hear(&mut self) -> Result<String, Failure> {
        self.lines.recv_timeout(self.patience).map_err(|_| self.silence())
    }

    /// Why it does not speak.
    fn silence(&mut self) -> Failure {
        match self.running.wait_until(Instant::now() + LOOK) {
            Ok(Some(status)) => Failure::Ended(status, String::new()),
            Ok(None) => Failure::Hung(self.patience),
            Err(error) => Failure::Start(error),
        }
    }
}

/// A command whose program has nothing to read and does not depend on the user's language.
pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LC_ALL", "C").stdin(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut shell = command(Path::new("/bin/sh"));
        shell.args(["-c", script]);
        shell
    }

    #[test]
    fn what_a_program_says_comes_back() {
        let mut lines = Vec::new();
        let output = talk(shell("echo out; echo one >&2; echo two >&2"), Duration::from_secs(10), |line| {
            lines.push(line.to_owned());
        });
        assert_eq!(output.unwrap().text(), "out\n");
        assert_eq!(lines, ["one", "two"]);
    }

    #[test]
    fn failures_are_told_apart() {
        let failure = output(shell("echo why >&2; exit 3"), Duration::from_secs(10)).unwrap_err();
        assert_eq!(failure.to_string(), "ended with exit status: 3: why");
        let failure = output(Command::new("/nonexistent/program"), Duration::from_secs(10)).unwrap_err();
        assert!(failure.not_found(), "{failure}");
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let began = Instant::now();
        let script = format!("trap '' TERM; sleep 1000 & echo $! > {}; wait", pid.display());
        let failure = output(shell(&script), Duration::from_millis(300)).unwrap_err();
        assert!(matches!(failure, Failure::Hung(_)), "{failure}");
        assert!(began.elapsed() < Duration::from_secs(10));
        let pid = std::fs::read_to_string(pid).unwrap();
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        let ended = |_: &u32| {
            thread::sleep(Duration::from_millis(50));
            state().is_empty() || state().contains(") Z ")
        };
        assert!((0..100).any(|round| ended(&round)), "still there: {}", state());
    }

    #[test]
    fn partners_answer_until_they_end() {
        let mut partner =
            Partner::start(shell("read a; echo heard $a; exit 4"), Duration::from_secs(10)).unwrap();
        partner.say("hello").unwrap();
        assert_eq!(partner.hear().unwrap(), "heard hello");
        thread::sleep(Duration::from_millis(200));
        assert_eq!(partner.hear().unwrap_err().to_string(), "ended with exit status: 4");
        let mut partner = Partner::start(shell("sleep 1000"), Duration::from_millis(100)).unwrap();
        assert!(matches!(partner.hear().unwrap_err(), Failure::Hung(_)));
    }

    /// Runs in a process of its own, which the test after it kills.
    #[test]
    #[ignore = "waits to be killed"]
    fn waits_to_be_killed() {
        let mut sleep = command(Path::new("/bin/sh"));
        sleep.args(["-c", "echo $$ >&2; exec sleep 1000"]).stderr(Stdio::inherit());
        let _running = Running::start(sleep).unwrap();
        thread::sleep(Duration::from_secs(60));
    }

    #[test]
    fn a_killed_process_leaves_no_program() {
        let mut this = command(&std::env::current_exe().unwrap());
        this.args(["--ignored", "--exact", "--nocapture", "process::tests::waits_to_be_killed"]);
        let mut this = this.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pid = String::new();
        BufReader::new(this.stderr.take().unwrap()).read_line(&mut pid).unwrap();
        let alive = || {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            !state.is_empty() && !state.contains(") Z ")
        };
        assert!(alive(), "{pid:?} is no process");
        this.kill().unwrap();
        this.wait().unwrap();
        let ended = (0..100).any(|_| {
            thread::sleep(Duration::from_millis(50));
            !alive()
        });
        assert!(ended, "{pid} is still there");
    }

    #[test]
    fn only_programs_are_found() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sh"), "no program").unwrap();
        assert_eq!(find("sh", folder.path().as_os_str()), None);
        assert_eq!(find("sh", OsStr::new("/nonexistent:/bin")), Some(PathBuf::from("/bin/sh")));
        assert_eq!(find("sh", OsStr::new("")), None);
    }
}
