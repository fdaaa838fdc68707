//! The prover behind the service, which starts it as `proofmill prover`: it executes jobs. Requests come on standard input, replies go to
//! standard output, one JSON object a line. The service itself contains no prover.

mod execute;
mod fault;
mod inner;
mod inspect;
mod keys;
mod lru_cache;
mod machines;
mod memory_bounds;
mod replies;
mod requests;
mod signatures;

use clap::Args;
use execute::{Execution, RequestFiles};
use fault::{FileNames, TaskFault};
use keys::OpenKeys;
use lru_cache::CacheBounds;
use machines::Machines;
use proofmill_console::{Failure, Options, Outcome};
use proofmill_cpu::facts::Description;
use proofmill_job::{Finished, Reply, Request, Task};
use proofmill_memory::{keep_freed_memory, process_memory, release_kept_memory};
use replies::Replies;
use requests::{LONGEST, RequestLine, read_line};
use serde_json::Value;
use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    process,
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

/// The part of the machine's memory that open keys may take between tasks, unless an option says another: one in this many bytes.
const KEPT_PART: u64 = 8;

/// The most bytes of the heap that are kept for the next task.
const KEPT_HEAP: i32 = 64 << 20;

/// How long freed blocks beyond [`KEPT_HEAP`] are kept.
const PATIENCE: Duration = Duration::from_millis(50);

/// Arguments of `prover`.
#[derive(Args, Debug)]
pub struct ProverArguments {
    /// The most keys and programs that stay open between tasks
    #[arg(long, value_name = "COUNT", default_value_t = 32)]
    most_keys: usize,
    /// The most memory that open keys and programs take between tasks, in bytes [default: an eighth of the machine's]
    #[arg(long, value_name = "BYTES")]
    key_memory: Option<u64>,
}

impl ProverArguments {
    /// Answers requests until the input ends; then the process ends, also within a task.
    ///
    /// # Errors
    /// For options that this machine cannot satisfy.
    pub fn run(&self, options: &Options) -> Result<Outcome, Failure> {
        quiet_panics();
        keep_freed_memory(KEPT_HEAP);
        let replies = Replies::new();
        let machines = Machines::new(options, replies.clone())?;
        let memory = process_memory::of_the_machine();
        let bytes = self.key_memory.unwrap_or(memory.unwrap_or_default() / KEPT_PART);
        let keys = OpenKeys::new(CacheBounds { count: self.most_keys, bytes });
        replies.send(&Reply::Ready {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            level: machines.level.name().to_owned(),
            cpu: Description::of_this_cpu().model(),
            threads: machines.most,
            memory: memory.unwrap_or_default(),
        });
        Session { machines, keys, replies, last: Vec::new() }.serve(&lines());
        Ok(Outcome::done(Value::Null))
    }
}

/// Lines of standard input. At its end the process ends: nobody waits for the task that runs.
fn lines() -> Receiver<RequestLine> {
    let (sender, lines) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(Some(line)) = read_line(&mut input) {
            if sender.send(line).is_err() {
                break;
            }
        }
        process::exit(0);
    });
    lines
}

/// Panics print where they happened, not their message, which could have secret values.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| match panic.location() {
        Some(place) => eprintln!("error: a panic at {place}: report it as a bug of proofmill"),
        None => eprintln!("error: a panic: report it as a bug of proofmill"),
    }));
}

/// The state that stays between requests.
struct Session {
    machines: Machines,
    keys: OpenKeys,
    replies: Replies,
    /// The keys of the last task.
    last: Vec<String>,
}

impl Session {
    fn serve(&mut self, lines: &Receiver<RequestLine>) {
        loop {
            let line = match lines.recv_timeout(PATIENCE) {
                Err(RecvTimeoutError::Timeout) => {
                    // Other processes can use the memory while this one waits.
                    release_kept_memory();
                    match lines.recv() {
                        Ok(line) => line,
                        Err(_) => return,
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
                Ok(line) => line,
            };
            let reply = self.answer(&line);
            self.replies.send(&reply);
        }
    }

    fn answer(&mut self, line: &RequestLine) -> Reply {
        let refused = |message| Reply::Failed(proofmill_job::TaskFailure { message, transient: false });
        let line = match line {
            RequestLine::Whole(line) => line,
            RequestLine::TooLong => {
                return refused(format!("request: expected at most {LONGEST} bytes in a line"));
            }
        };
        let mut names = FileNames::default();
        let result = match serde_json::from_slice(line) {
            Err(error) => return refused(format!("request: {error}")),
            Ok(Request::Inspect { path }) => {
                names.call(&path, inspect::NAME);
                self.caught(1, |_, _| inspect::inspect(&path)).map(|found| Reply::Key(found.into()))
            }
            Ok(Request::Execute { task, keys, inputs, outputs, threads }) => {
                let files = RequestFiles { keys, inputs, outputs };
                self.execute(&task, &files, threads, &mut names).map(Reply::Finished)
            }
        };
        result.unwrap_or_else(|fault| Reply::Failed(fault.failure(&names)))
    }

    fn execute(
        &mut self,
        task: &Task,
        files: &RequestFiles,
        threads: usize,
        names: &mut FileNames,
    ) -> Result<Finished, TaskFault> {
        self.replies.start();
        if self.last != task.keys() {
            // This task may take less memory than the task before.
            release_kept_memory();
            self.last = task.keys().into_iter().map(str::to_owned).collect();
        }
        self.caught(threads, |keys, replies| Execution { files, keys, names, replies }.run(task))?;
        Ok(Finished { phases: self.replies.phases(), peak_memory: process_memory::peak() })
    }

    /// Runs `work` on `threads` threads. After a panic no key stays open.
    fn caught<T: Send>(
        &mut self,
        threads: usize,
        work: impl FnOnce(&mut OpenKeys, &Replies) -> Result<T, TaskFault> + Send,
    ) -> Result<T, TaskFault> {
        let machine = self.machines.with(threads)?;
        let (keys, replies) = (&mut self.keys, &self.replies);
        let result = catch_unwind(AssertUnwindSafe(|| machine.run(|| work(keys, replies))));
        result.unwrap_or_else(|_| {
            self.keys.clear();
            Err(TaskFault::Panic)
        })
    }
}
