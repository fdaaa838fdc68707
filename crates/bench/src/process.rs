//! Other people's programs: found, run, timed out and, whatever happens to us, ended.
#![allow(unsafe_code)]

use proofmill_memory::process_memory;
use std::{
    borrow::Cow,
    ffi::OsStr,
    fmt,
    io::{self, BufRead, BufReader, Read, Write as _},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    thread,
    time::{Duration, Instant},
};

/// Between two looks at whether a program has ended.
const LOOK: Duration = Duration::from_millis(3);
/// A program that was asked to end gets so long before it is killed.
const GRACE: Duration = Duration::from_millis(500);
/// No program here has more to say; what is beyond is cut off.
const LONGEST_OUTPUT: u64 = 16 << 20;
/// The longest line of a program that answers line by line.
const LONGEST_LINE: u64 = 1024;
/// How much is kept, from the end, of what such a program says on its standard error.
const STDERR_KEPT: usize = 4096;
/// How long a program that closed its output may take to end, and its last words to arrive.
const FAREWELL: Duration = Duration::from_secs(2);

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
#[derive(Debug)]
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

    /// Waits for its end, which nothing delays, and tells what it used.
    fn wait(&mut self) -> io::Result<(ExitStatus, libc::rusage)> {
        let process = libc::pid_t::try_from(self.child.id()).map_err(io::Error::other)?;
        let mut status = 0;
        // SAFETY: numbers only, for which zero bytes are valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        loop {
            // SAFETY: the process is a child of ours that has not been waited for; status and usage are places for results.
            if unsafe { libc::wait4(process, &raw mut status, 0, &raw mut usage) } == process {
                break;
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        let status = ExitStatus::from_raw(status);
        self.ended = Some(status);
        Ok((status, usage))
    }

    /// Sends a signal to it and all that it started.
    fn signal(&self, number: libc::c_int) {
        signal(self.child.id(), number);
    }
}

/// Sends a signal to the group of a child of ours.
fn signal(child: u32, signal: libc::c_int) {
    if let Ok(group) = libc::pid_t::try_from(child) {
        // SAFETY: `kill` reads no memory of ours. The group is the child's own, and its number is not given to others
        // while the child has not been waited for or a member lives; an empty group is an error that changes nothing.
        _ = unsafe { libc::kill(-group, signal) };
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
        if self.ended.is_none() {
            _ = self.child.wait();
        }
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
    /// It ended so, with these last words.
    Ended(ExitStatus, String),
    /// It did not answer in this time.
    Silent(Duration),
    /// It closed its output, did not end, and said this last.
    Closed(String),
    /// It wrote a line that is too long.
    LongLine,
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
            Self::Ended(status, words) if words.is_empty() => write!(f, "ended with {status}"),
            Self::Ended(status, words) => write!(f, "ended with {status}: {words}"),
            Self::Silent(patience) => write!(f, "did not answer within {} s", patience.as_secs_f64()),
            Self::Closed(words) if words.is_empty() => write!(f, "closed its output and went on"),
            Self::Closed(words) => write!(f, "closed its output and went on: {words}"),
            Self::LongLine => write!(f, "wrote a line of more than {LONGEST_LINE} bytes"),
        }
    }
}

/// Runs a program to its end.
pub(crate) fn output(command: Command, patience: Duration) -> Result<Output, Failure> {
    talk(command, patience, |_| ())
}

/// What a program used from its start to its end.
pub(crate) struct Usage {
    /// Time that passed.
    pub(crate) wall: Duration,
    /// CPU time of it and of all that it started and waited for.
    pub(crate) cpu: Duration,
    /// The most bytes of memory that it, or a program that it started, had resident at once. Linux counts what this process
    /// had when it started the program into that: nothing is known of a program that needs less.
    pub(crate) peak_memory: Option<u64>,
}

/// Runs a program to its end and tells what it used.
pub(crate) fn usage(mut command: Command, patience: Duration) -> Result<Usage, Failure> {
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let own = process_memory::resident();
    let began = Instant::now();
    let mut running = Running::start(command).map_err(Failure::Start)?;
    let said = running.child.stderr.take().map(|stderr| thread::spawn(move || tail(stderr)));
    // The end is waited for without a limit, to the microsecond: what takes too long is killed.
    let (end, ended) = mpsc::channel::<()>();
    let process = running.child.id();
    let watch = thread::spawn(move || {
        let late = ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
        if late {
            signal(process, libc::SIGKILL);
        }
        late
    });
    let waited = running.wait();
    let wall = began.elapsed();
    drop(end);
    let late = watch.join().unwrap_or_default();
    // What it left behind would hold the pipe open.
    drop(running);
    let words = last_words(&said.and_then(|thread| thread.join().ok()).unwrap_or_default());
    let (status, usage) = waited.map_err(Failure::Start)?;
    if late {
        return Err(Failure::Hung(patience));
    }
    if !status.success() {
        return Err(Failure::Ended(status, words));
    }
    let peak_memory = u64::try_from(usage.ru_maxrss).ok().map(|kibibytes| 1024 * kibibytes);
    let peak_memory = peak_memory.filter(|peak| own.is_some_and(|own| *peak > own + (1 << 20)));
    Ok(Usage { wall, cpu: time(usage.ru_utime) + time(usage.ru_stime), peak_memory })
}

fn time(time: libc::timeval) -> Duration {
    let part = |number: i64| u64::try_from(number).unwrap_or_default();
    Duration::from_secs(part(time.tv_sec)) + Duration::from_micros(part(time.tv_usec))
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
        false => Err(Failure::Ended(status, last_words(&stderr))),
    }
}

fn read(pipe: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    _ = pipe.take(LONGEST_OUTPUT).read_to_end(&mut bytes);
    bytes
}

/// Reads to the end and gives the last few thousand bytes.
fn tail(mut from: impl Read) -> String {
    let (mut kept, mut buffer) = (Vec::new(), [0; STDERR_KEPT]);
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        kept.extend_from_slice(&buffer[..count]);
        kept.drain(..kept.len().saturating_sub(STDERR_KEPT));
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// The line that tells best what went wrong: the first that begins with `error`, or the last; empty if there is none.
fn last_words(said: &str) -> String {
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.clone().next_back();
    lines.find(|line| line.starts_with("error")).or(last).map(shown).unwrap_or_default()
}

/// Another program's line, fit for a terminal: short and without control characters.
pub(crate) fn shown(line: &str) -> String {
    const MOST: usize = 200;
    let mut shown: String = line.chars().take(MOST).flat_map(char::escape_debug).collect();
    if line.chars().nth(MOST).is_some() {
        shown.push_str("...");
    }
    shown
}

/// A program that answers a line by a line.
#[derive(Debug)]
pub(crate) struct Partner {
    /// Dropped first: a program that reads on sees the end of its input and ends.
    stdin: ChildStdin,
    lines: Receiver<Line>,
    said: Receiver<String>,
    running: Running,
    patience: Duration,
}

/// What came from a program's standard output; after its end nothing comes.
#[derive(Debug)]
enum Line {
    Text(String),
    TooLong,
}

impl Partner {
    /// Starts it; it may be silent for so long.
    pub(crate) fn start(mut command: Command, patience: Duration) -> Result<Self, Failure> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = Running::start(command).map_err(Failure::Start)?;
        let Child { stdin, stdout, stderr, .. } = &mut running.child;
        let pipes = stdin.take().zip(stdout.take()).zip(stderr.take());
        let ((stdin, stdout), stderr) = pipes.ok_or_else(|| Failure::Start(io::Error::other("no pipes")))?;
        let (sender, lines) = mpsc::sync_channel(1);
        thread::spawn(move || send_lines(BufReader::new(stdout), &sender));
        let (sender, said) = mpsc::sync_channel(1);
        thread::spawn(move || _ = sender.send(tail(stderr)));
        Ok(Self { stdin, lines, said, running, patience })
    }

    /// Sends it a line. A program that has ended is noticed when it does not answer.
    pub(crate) fn say(&mut self, line: &str) {
        _ = writeln!(self.stdin, "{line}").and_then(|()| self.stdin.flush());
    }

    /// A line that it wrote already, where it should not have.
    pub(crate) fn unasked(&mut self) -> Option<String> {
        self.lines.try_recv().ok().map(|line| match line {
            Line::Text(text) => text,
            Line::TooLong => "a line without end".to_owned(),
        })
    }

    /// Its next line.
    pub(crate) fn hear(&mut self) -> Result<String, Failure> {
        self.hear_within(self.patience)
    }

    /// Its next line, if it comes in time.
    pub(crate) fn hear_within(&mut self, patience: Duration) -> Result<String, Failure> {
        match self.lines.recv_timeout(patience) {
            Ok(Line::Text(line)) => Ok(line),
            Ok(Line::TooLong) => Err(Failure::LongLine),
            Err(RecvTimeoutError::Timeout) => Err(Failure::Silent(patience)),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.running.wait_until(Instant::now() + FAREWELL).map_err(Failure::Start)?;
                self.running.signal(libc::SIGKILL);
                let words = last_words(&self.said.recv_timeout(FAREWELL).unwrap_or_default());
                Err(match status {
                    Some(status) => Failure::Ended(status, words),
                    None => Failure::Closed(words),
                })
            }
        }
    }
}

/// Hands over what a program writes, line by line, until it closes its output or nobody listens.
fn send_lines(mut output: impl BufRead, sender: &SyncSender<Line>) {
    loop {
        let mut line = Vec::new();
        match output.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line) {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        if line.len() as u64 > LONGEST_LINE {
            _ = sender.send(Line::TooLong);
            return;
        }
        // A line that its end is missing from may lack more, such as the last digits of a number.
        if line.last() != Some(&b'\n') {
            return;
        }
        let line = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
        if sender.send(Line::Text(line)).is_err() {
            return;
        }
    }
}

/// The cores that the calling thread, and what it starts, may use.
#[cfg(target_os = "linux")]
pub(crate) fn cores() -> io::Result<Vec<usize>> {
    // SAFETY: bits only, for which zero bytes are valid.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is a place for as many bytes as are named; 0 is the calling thread.
    match unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } {
        // SAFETY: the numbers are those of bits of `set`.
        0 => Ok((0..8 * size_of_val(&set)).filter(|core| unsafe { libc::CPU_ISSET(*core, &set) }).collect()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Holds the calling thread, and what it starts, to `cores`.
#[cfg(target_os = "linux")]
pub(crate) fn restrict_to(cores: &[usize]) -> io::Result<()> {
    // SAFETY: bits only, for which zero bytes are valid.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let bits = 8 * size_of_val(&set);
    for core in cores.iter().filter(|core| **core < bits) {
        // SAFETY: the number is that of a bit of `set`.
        unsafe { libc::CPU_SET(*core, &mut set) };
    }
    // SAFETY: `set` has as many bytes as are named; 0 is the calling thread.
    match unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Other systems do not tell, and do not hold.
#[cfg(not(target_os = "linux"))]
pub(crate) fn cores() -> io::Result<Vec<usize>> {
    Ok((0..thread::available_parallelism().map_or(1, usize::from)).collect())
}

/// Other systems do not hold a program to cores.
#[cfg(not(target_os = "linux"))]
pub(crate) fn restrict_to(_: &[usize]) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
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
    fn what_a_program_uses_is_told() {
        let patience = Duration::from_secs(20);
        let used = usage(shell("i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done"), patience).unwrap();
        assert!(
            used.cpu > Duration::from_millis(10) && used.cpu <= 2 * used.wall,
            "{:?} {:?}",
            used.cpu,
            used.wall
        );
        let sleep = usage(shell("exec sleep 0.2"), patience).unwrap();
        assert!(sleep.wall >= Duration::from_millis(200) && sleep.cpu < Duration::from_millis(100));
        let failure =
            |script, patience| usage(shell(script), patience).err().map(|failure| failure.to_string());
        assert_eq!(
            failure("echo 'error: no memory' >&2; echo bye >&2; exit 3", patience).as_deref(),
            Some("ended with exit status: 3: error: no memory")
        );
        assert_eq!(
            failure("sleep 1000", Duration::from_millis(200)).as_deref(),
            Some("had not ended after 0.2 s and was stopped")
        );
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
        partner.say("hello");
        assert_eq!(partner.hear().unwrap(), "heard hello");
        thread::sleep(Duration::from_millis(200));
        assert_eq!(partner.hear().unwrap_err().to_string(), "ended with exit status: 4");
        let mut partner = Partner::start(shell("sleep 1000"), Duration::from_millis(100)).unwrap();
        assert!(matches!(partner.hear().unwrap_err(), Failure::Silent(_)));
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
