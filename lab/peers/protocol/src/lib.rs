//! The bench's protocol for runners written in Rust (`lab/peers/README.md`), and the parsing of
//! inputs.

#![forbid(unsafe_code)]

mod bytes;
pub mod goldilocks;

pub use bytes::Bytes;

use cpu_time::ProcessTime;
use sha2::{Digest, Sha256};
use std::{
    env, fs,
    io::{self, BufRead, Write},
    process::{self, ExitCode},
    sync::mpsc::{self, Receiver},
    thread,
    time::Instant,
};

/// A runner's assignment.
#[derive(Clone, Debug)]
pub struct Task {
    /// `family/benchmark`.
    pub kernel: String,
    /// Number of units in an iteration.
    pub size: usize,
    /// Number of threads of the rayon pool that the work runs on.
    pub threads: usize,
    /// The input.
    pub input: Vec<u8>,
}

/// Prepared work.
pub trait Work {
    /// Does the work once.
    fn run(&mut self);

    /// The output of the last run, in the encoding that the kernel's digest is defined on.
    fn output(&self) -> Vec<u8>;
}

/// Work that consists of a function, which is timed, and an encoding of its result, which is not.
pub fn work<T: 'static>(
    compute: impl FnMut() -> T + 'static,
    encode: impl Fn(&T) -> Vec<u8> + 'static,
) -> Box<dyn Work> {
    Box::new(Computation { compute, encode, result: None })
}

struct Computation<T, C, E> {
    compute: C,
    encode: E,
    result: Option<T>,
}

impl<T, C: FnMut() -> T, E: Fn(&T) -> Vec<u8>> Work for Computation<T, C, E> {
    fn run(&mut self) {
        self.result = Some((self.compute)());
    }

    fn output(&self) -> Vec<u8> {
        self.result.as_ref().map(&self.encode).unwrap_or_default()
    }
}

/// A runner's `main`: prepares the work that the command line names, does it once, and then repeats it as
/// requested on standard input. `version` is the library's version.
pub fn serve(version: &str, prepare: impl FnOnce(&Task) -> Result<Box<dyn Work>, String> + Send) -> ExitCode {
    let served = task().and_then(|task| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(task.threads).build();
        let pool = pool.map_err(|error| format!("{} threads: {error}", task.threads))?;
        pool.install(|| answer(version, &task, prepare))
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            say(&format!("error {problem}"));
            ExitCode::FAILURE
        }
    }
}

/// The version of a package in the text of a `Cargo.lock`; of several, the newest, which is the last.
///
/// # Panics
/// If the package is not in it.
#[must_use]
pub fn locked_version<'a>(lock: &'a str, package: &str) -> &'a str {
    let entry = format!("name = \"{package}\"\nversion = \"");
    let newest = lock.rsplit_once(&entry).and_then(|(_, rest)| rest.split('"').next());
    newest.unwrap_or_else(|| panic!("expected {package} in Cargo.lock"))
}

fn task() -> Result<Task, String> {
    let words: Vec<String> = env::args().skip(1).collect();
    // A runner may have words of its own before these.
    let Some((_, [kernel, size, threads, path])) = words.split_last_chunk() else {
        return Err(format!("expected KERNEL SIZE THREADS INPUT_FILE, found {} words", words.len()));
    };
    let number = |word: &str| word.parse().map_err(|_| format!("expected a number, found {word}"));
    let input = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(Task { kernel: kernel.clone(), size: number(size)?, threads: number(threads)?, input })
}

/// The lines of standard input. When it ends, the bench is gone, and the process exits immediately.
fn requests() -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
        process::exit(0);
    });
    receiver
}

fn answer(
    version: &str,
    task: &Task,
    prepare: impl FnOnce(&Task) -> Result<Box<dyn Work>, String>,
) -> Result<(), String> {
    let requests = requests();
    let mut work = prepare(task)?;
    work.run();
    say(&format!("ready {} {version}", digest(&work.output())));
    for request in requests {
        let iterations = request.strip_prefix("run ").and_then(|count| count.parse::<u64>().ok());
        let iterations = iterations.ok_or_else(|| format!("expected run N, found {request}"))?;
        let (wall, cpu) = (Instant::now(), ProcessTime::now());
        for _ in 0..iterations {
            work.run();
        }
        let (cpu, wall) = (cpu.elapsed(), wall.elapsed());
        say(&format!("done {} {}", wall.as_nanos(), cpu.as_nanos()));
    }
    Ok(())
}

/// The first 16 hexadecimal digits of SHA-256.
fn digest(output: &[u8]) -> String {
    Sha256::digest(output)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn say(line: &str) {
    let mut output = io::stdout().lock();
    // Errors are ignored: if the bench is gone, standard input ends too.
    _ = writeln!(output, "{line}").and_then(|()| output.flush());
}
