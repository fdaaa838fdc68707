//! Runs other programs: finds them, limits their time, and ends them when this process ends, in whatever way.
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

/// Time between two checks whether a program has ended.
const LOOK: Duration = Duration::from_millis(3);
/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);
/// The most output that is kept of a program, in bytes; the rest is ignored.
const LONGEST_OUTPUT: u64 = 16 << 20;
/// The longest line, in bytes, of a program that speaks a line protocol.
const LONGEST_LINE: u64 = 1024;
/// Bytes kept from the end of the standard error of such a program.
const STDERR_KEPT: usize = 4096;
/// Time limit for a program to end after it has closed its output, and for the rest of its standard error to
/// arrive.
const END_LIMIT: Duration = Duration::from_secs(2);

/// Searches the folders of `path`, which has the format of the variable `PATH`, for `program`.
pub(crate) fn find(program: &str, path: &OsStr) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    // An empty entry would mean the current folder, which may contain untrusted files.
    let folders = std::env::split_paths(path).filter(|folder| !folder.as_os_str().is_empty());
    folders.map(|folder| folder.join(program)).find(|file| {
        file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    })
}

/// A running program. When this is dropped, or this process ends in any way, the program and its children are
/// ended.
#[derive(Debug)]
pub(crate) struct RunningProcess {
    /// The process; its pipes belong to the caller.
    pub(crate) child: Child,
    ended: Option<ExitStatus>,
}

impl RunningProcess {
    /// Starts `command` in a process group of its own, with the standard streams that the command specifies.
    pub(crate) fn start(mut command: Command) -> io::Result<Self> {
        command.process_group(0);
        end_with_this_process(&mut command);
        Ok(Self { child: command.spawn()?, ended: None })
    }

    /// The exit status, if the program has ended.
    pub(crate) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
        }
        Ok(self.ended)
    }

    /// Waits until the program ends, or until `deadline`.
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

    /// Waits without polling until the program ends; returns its status and resource usage.
    fn wait(&mut self) -> io::Result<(ExitStatus, libc::rusage)> {
        let process = libc::pid_t::try_from(self.child.id()).map_err(io::Error::other)?;
        let mut status = 0;
        // SAFETY: `rusage` consists of integers only, for which zero bytes are valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        loop {
            // SAFETY: the process is an unreaped child of this process; status and usage are valid places for
            // the results.
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

    /// Sends a signal to the program and its children.
    fn signal(&self, number: libc::c_int) {
        signal(self.child.id(), number);
    }
}

/// Sends a signal to the process group of a child.
fn signal(child: u32, signal: libc::c_int) {
    if let Ok(group) = libc::pid_t::try_from(child) {
        // SAFETY: `kill` accesses no memory of this process. The group is the child's own, and its number is
        // not reused while the child is unreaped or a member lives; an empty group is an error without
        // effect.
        _ = unsafe { libc::kill(-group, signal) };
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        // SIGTERM first, so that a server's master can end its workers.
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

/// Makes the kernel send SIGTERM to the program when this process ends without having ended it. On SIGTERM, a
/// server's master ends its workers too.
#[cfg(target_os = "linux")]
fn end_with_this_process(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: between fork and exec only `prctl`, `getppid` and `_exit` are called, which are
    // async-signal-safe; nothing is allocated and no lock is taken.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM as libc::c_ulong) != 0 {
                return Err(io::Error::last_os_error());
            }
            // The parent may have ended before the call.
            if u32::try_from(libc::getppid()) != Ok(parent) {
                libc::_exit(1);
            }
            Ok(())
        });
    }
}

#[cfg(not(target_os = "linux"))]
fn end_with_this_process(_command: &mut Command) {}

/// A program's output.
#[derive(Debug)]
pub(crate) struct ProcessOutput {
    /// Standard output.
    pub(crate) bytes: Vec<u8>,
    /// Standard error.
    pub(crate) stderr: String,
}

impl ProcessOutput {
    /// Standard output, as text.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// The reason why a program did not do its work.
#[derive(Debug)]
pub(crate) enum ProcessFailure {
    /// The program cannot be started.
    Start(io::Error),
    /// The program did not end within this time.
    Hung(Duration),
    /// The program ended with this status, and this line of its standard error.
    Ended(ExitStatus, String),
    /// The program did not reply within this time.
    Silent(Duration),
    /// The program closed its output without ending; with a line of its standard error.
    Closed(String),
    /// The program wrote a line that is too long.
    LongLine,
}

impl ProcessFailure {
    /// Whether the program does not exist.
    pub(crate) fn not_found(&self) -> bool {
        matches!(self, Self::Start(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for ProcessFailure {
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
pub(crate) fn output(command: Command, patience: Duration) -> Result<ProcessOutput, ProcessFailure> {
    output_with_lines(command, patience, |_| ())
}

/// Resources that a program used from its start to its end.
pub(crate) struct Usage {
    /// Wall time.
    pub(crate) wall: Duration,
    /// CPU time of the program and of all children that it waited for.
    pub(crate) cpu: Duration,
    /// The greatest resident memory, in bytes, of the program or one of its children. Linux includes this
    /// process's memory at the time of the start; so the value is `None` if it is not above that.
    pub(crate) peak_memory: Option<u64>,
}

/// Runs a program to its end and returns the resources that it used.
pub(crate) fn usage(mut command: Command, patience: Duration) -> Result<Usage, ProcessFailure> {
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let own = process_memory::resident();
    let began = Instant::now();
    let mut running = RunningProcess::start(command).map_err(ProcessFailure::Start)?;
    let stderr_tail = running.child.stderr.take().map(|stderr| thread::spawn(move || tail(stderr)));
    // The end is awaited without polling, so that the wall time is exact; another thread kills the program at
    // the limit.
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
    // Children that are still running would hold the pipe open.
    drop(running);
    let words = last_words(&stderr_tail.and_then(|thread| thread.join().ok()).unwrap_or_default());
    let (status, usage) = waited.map_err(ProcessFailure::Start)?;
    if late {
        return Err(ProcessFailure::Hung(patience));
    }
    if !status.success() {
        return Err(ProcessFailure::Ended(status, words));
    }
    let peak_memory = u64::try_from(usage.ru_maxrss).ok().map(|kibibytes| 1024 * kibibytes);
    let peak_memory = peak_memory.filter(|peak| own.is_some_and(|own| *peak > own + (1 << 20)));
    Ok(Usage { wall, cpu: time(usage.ru_utime) + time(usage.ru_stime), peak_memory })
}

fn time(time: libc::timeval) -> Duration {
    let part = |number: i64| u64::try_from(number).unwrap_or_default();
    Duration::from_secs(part(time.tv_sec)) + Duration::from_micros(part(time.tv_usec))
}

/// Like [`output`], and passes each line of standard error to `each_line` as it arrives.
pub(crate) fn output_with_lines(
    mut command: Command,
    patience: Duration,
    mut each_line: impl FnMut(&str),
) -> Result<ProcessOutput, ProcessFailure> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let deadline = Instant::now() + patience;
    let mut running = RunningProcess::start(command).map_err(ProcessFailure::Start)?;
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
        each_line(&line);
        stderr.push_str(&line);
        stderr.push('\n');
    }
    let Some(status) = running.wait_until(deadline).map_err(ProcessFailure::Start)? else {
        return Err(ProcessFailure::Hung(patience));
    };
    // Children that are still running would hold the pipe open.
    drop(running);
    let bytes = stdout.and_then(|thread| thread.join().ok()).unwrap_or_default();
    match status.success() {
        true => Ok(ProcessOutput { bytes, stderr }),
        false => Err(ProcessFailure::Ended(status, last_words(&stderr))),
    }
}

fn read(pipe: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    _ = pipe.take(LONGEST_OUTPUT).read_to_end(&mut bytes);
    bytes
}

/// Reads to the end; returns the last [`STDERR_KEPT`] bytes.
fn tail(mut from: impl Read) -> String {
    let (mut kept, mut buffer) = (Vec::new(), [0; STDERR_KEPT]);
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        kept.extend_from_slice(&buffer[..count]);
        kept.drain(..kept.len().saturating_sub(STDERR_KEPT));
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// The most informative line of an output: the first that begins with `error`, or else the last; empty if
/// there is none.
fn last_words(stderr: &str) -> String {
    let mut lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.clone().next_back();
    lines.find(|line| line.starts_with("error")).or(last).map(shown).unwrap_or_default()
}

/// Makes another program's line safe for a terminal: short and without control characters.
pub(crate) fn shown(line: &str) -> String {
    const MOST: usize = 200;
    let mut shown: String = line.chars().take(MOST).flat_map(char::escape_debug).collect();
    if line.chars().nth(MOST).is_some() {
        shown.push_str("...");
    }
    shown
}

/// A program that replies to each line with a line.
#[derive(Debug)]
pub(crate) struct Partner {
    /// Declared first, so that it is dropped first: the program then sees the end of its input and ends.
    stdin: ChildStdin,
    lines: Receiver<Line>,
    stderr_tail: Receiver<String>,
    running: RunningProcess,
    patience: Duration,
}

/// A line of a program's standard output, or an error after which no line follows.
#[derive(Debug)]
enum Line {
    Text(String),
    TooLong,
}

impl Partner {
    /// Starts the program. `patience` is the time limit for each reply.
    pub(crate) fn start(mut command: Command, patience: Duration) -> Result<Self, ProcessFailure> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = RunningProcess::start(command).map_err(ProcessFailure::Start)?;
        let Child { stdin, stdout, stderr, .. } = &mut running.child;
        let pipes = stdin.take().zip(stdout.take()).zip(stderr.take());
        let ((stdin, stdout), stderr) =
            pipes.ok_or_else(|| ProcessFailure::Start(io::Error::other("no pipes")))?;
        let (sender, lines) = mpsc::sync_channel(1);
        thread::spawn(move || send_lines(BufReader::new(stdout), &sender));
        let (sender, stderr_tail) = mpsc::sync_channel(1);
        thread::spawn(move || _ = sender.send(tail(stderr)));
        Ok(Self { stdin, lines, stderr_tail, running, patience })
    }

    /// Sends a line. Errors are ignored: a program that has ended is noticed when no reply arrives.
    pub(crate) fn send(&mut self, line: &str) {
        _ = writeln!(self.stdin, "{line}").and_then(|()| self.stdin.flush());
    }

    /// A line that the program has written without a request, if any.
    pub(crate) fn unexpected_line(&mut self) -> Option<String> {
        self.lines.try_recv().ok().map(|line| match line {
            Line::Text(text) => text,
            Line::TooLong => "a line without end".to_owned(),
        })
    }

    /// The program's next line.
    pub(crate) fn receive(&mut self) -> Result<String, ProcessFailure> {
        self.receive_within(self.patience)
    }

    /// The program's next line, if it arrives within `patience`.
    pub(crate) fn receive_within(&mut self, patience: Duration) -> Result<String, ProcessFailure> {
        match self.lines.recv_timeout(patience) {
            Ok(Line::Text(line)) => Ok(line),
            Ok(Line::TooLong) => Err(ProcessFailure::LongLine),
            Err(RecvTimeoutError::Timeout) => Err(ProcessFailure::Silent(patience)),
            Err(RecvTimeoutError::Disconnected) => {
                let status =
                    self.running.wait_until(Instant::now() + END_LIMIT).map_err(ProcessFailure::Start)?;
                self.running.signal(libc::SIGKILL);
                let words = last_words(&self.stderr_tail.recv_timeout(END_LIMIT).unwrap_or_default());
                Err(match status {
                    Some(status) => ProcessFailure::Ended(status, words),
                    None => ProcessFailure::Closed(words),
                })
            }
        }
    }
}

/// Sends a program's output line by line to `sender`, until the output or the channel is closed.
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
        // A line without its end may be incomplete, for example lack the last digits of a number.
        if line.last() != Some(&b'\n') {
            return;
        }
        let line = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
        if sender.send(Line::Text(line)).is_err() {
            return;
        }
    }
}

/// The cores that the calling thread and its children may use.
#[cfg(target_os = "linux")]
pub(crate) fn cores() -> io::Result<Vec<usize>> {
    // SAFETY: a bit set, for which zero bytes are valid.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is valid for as many bytes as are given; 0 is the calling thread.
    match unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } {
        // SAFETY: the numbers are below the number of bits of `set`.
        0 => Ok((0..8 * size_of_val(&set)).filter(|core| unsafe { libc::CPU_ISSET(*core, &set) }).collect()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Restricts the calling thread and its children to `cores`.
#[cfg(target_os = "linux")]
pub(crate) fn restrict_to(cores: &[usize]) -> io::Result<()> {
    // SAFETY: a bit set, for which zero bytes are valid.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let bits = 8 * size_of_val(&set);
    for core in cores.iter().filter(|core| **core < bits) {
        // SAFETY: the number is below the number of bits of `set`.
        unsafe { libc::CPU_SET(*core, &mut set) };
    }
    // SAFETY: `set` is valid for as many bytes as are given; 0 is the calling thread.
    match unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// On other systems, cores are numbered from 0 to the available parallelism.
#[cfg(not(target_os = "linux"))]
pub(crate) fn cores() -> io::Result<Vec<usize>> {
    Ok((0..thread::available_parallelism().map_or(1, usize::from)).collect())
}

/// Not supported on other systems.
#[cfg(not(target_os = "linux"))]
pub(crate) fn restrict_to(_: &[usize]) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// A command with empty standard input and the locale `C`.
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
    fn output_and_lines_are_returned() {
        let mut lines = Vec::new();
        let output = output_with_lines(
            shell("echo out; echo one >&2; echo two >&2"),
            Duration::from_secs(10),
            |line| {
                lines.push(line.to_owned());
            },
        );
        assert_eq!(output.unwrap().text(), "out\n");
        assert_eq!(lines, ["one", "two"]);
    }

    #[test]
    fn failures_are_distinguished() {
        let failure = output(shell("echo why >&2; exit 3"), Duration::from_secs(10)).unwrap_err();
        assert_eq!(failure.to_string(), "ended with exit status: 3: why");
        let failure = output(Command::new("/nonexistent/program"), Duration::from_secs(10)).unwrap_err();
        assert!(failure.not_found(), "{failure}");
    }

    #[test]
    fn resources_are_measured() {
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
    fn a_hanging_program_is_ended_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let began = Instant::now();
        let script = format!("trap '' TERM; sleep 1000 & echo $! > {}; wait", pid.display());
        let failure = output(shell(&script), Duration::from_millis(300)).unwrap_err();
        assert!(matches!(failure, ProcessFailure::Hung(_)), "{failure}");
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
        partner.send("hello");
        assert_eq!(partner.receive().unwrap(), "heard hello");
        thread::sleep(Duration::from_millis(200));
        assert_eq!(partner.receive().unwrap_err().to_string(), "ended with exit status: 4");
        let mut partner = Partner::start(shell("sleep 1000"), Duration::from_millis(100)).unwrap();
        assert!(matches!(partner.receive().unwrap_err(), ProcessFailure::Silent(_)));
    }

    /// Waits in a process of its own, which the next test kills.
    #[test]
    #[ignore = "waits to be killed"]
    fn waits_to_be_killed() {
        let mut sleep = command(Path::new("/bin/sh"));
        sleep.args(["-c", "echo $$ >&2; exec sleep 1000"]).stderr(Stdio::inherit());
        let _running = RunningProcess::start(sleep).unwrap();
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
    fn only_executable_files_are_found() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sh"), "no program").unwrap();
        assert_eq!(find("sh", folder.path().as_os_str()), None);
        assert_eq!(find("sh", OsStr::new("/nonexistent:/bin")), Some(PathBuf::from("/bin/sh")));
        assert_eq!(find("sh", OsStr::new("")), None);
    }
}
