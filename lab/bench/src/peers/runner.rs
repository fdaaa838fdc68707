//! A peer's running program: starts it, requests iterations, ends it.

use super::Peer;
use crate::{
    BenchError,
    process::{Partner, shown},
};
use std::{
    io::Write,
    time::{Duration, Instant},
};
use tempfile::NamedTempFile;

/// The work of a runner.
#[derive(Clone, Copy, Debug)]
pub struct Assignment<'a> {
    /// `family/benchmark`.
    pub kernel: &'a str,
    /// Number of units in an iteration.
    pub size: u64,
    /// The greatest number of threads to use.
    pub threads: u32,
    /// The input, as [`crate::catalogue::Catalogue::input`] returns it.
    pub input: &'a [u8],
}

/// Time limits on a runner's replies.
#[derive(Clone, Copy, Debug)]
pub struct RunnerLimits {
    /// From the start until it is ready: it reads the input, prepares and does the work once.
    pub ready: Duration,
    /// For a request of iterations, in addition to ten times the time that they are expected to take.
    pub run: Duration,
}

impl Default for RunnerLimits {
    /// Five minutes and one minute.
    fn default() -> Self {
        Self { ready: Duration::from_secs(300), run: Duration::from_secs(60) }
    }
}

/// A peer's program that has done its work once and waits for requests. Dropping it kills the process. If
/// this process dies, the runner's input ends, and the runner exits.
#[derive(Debug)]
pub struct Runner {
    name: String,
    partner: Partner,
    limits: RunnerLimits,
    /// Time of an iteration in the last request, by our clock; before the first request, the time until it
    /// was ready, which is longer.
    iteration: Duration,
    answer: String,
    version: String,
}

/// Times of iterations, measured by the runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Wall time.
    pub wall: Duration,
    /// CPU time of the runner's process with all its threads.
    pub cpu: Duration,
}

impl Runner {
    /// Starts the program of `peer`, which has been built, and waits until it has done the work once.
    ///
    /// # Errors
    /// A program that cannot be started, reports an error, breaks the protocol, exceeds the time limit or
    /// dies.
    pub fn start(peer: &Peer, assignment: &Assignment<'_>, limits: RunnerLimits) -> Result<Self, BenchError> {
        let Assignment { kernel, size, threads, input } = *assignment;
        let name = format!("{kernel} of {size} by {}", peer.name);
        let failed = |problem: String| BenchError::Workload { name: name.clone(), problem };
        // The file is removed on return: the runner has read it when it is ready.
        let mut file = NamedTempFile::with_prefix("proofmill-peer-")
            .map_err(|error| failed(format!("a file for its input: {error}")))?;
        file.write_all(input)
            .map_err(|error| failed(format!("writing its input to {}: {error}", file.path().display())))?;
        let mut command = peer.command(&peer.run);
        command.args([kernel, &size.to_string(), &threads.to_string()]).arg(file.path());
        let partner = Partner::start(command, limits.ready)
            .map_err(|failure| failed(format!("its runner {} {failure}", peer.run.join(" "))))?;
        let (answer, version) = Default::default();
        let mut runner = Self { name, partner, limits, iteration: Duration::ZERO, answer, version };
        let began = Instant::now();
        let line = runner.receive(limits.ready)?;
        runner.iteration = began.elapsed();
        let ready = line.strip_prefix("ready ").and_then(|rest| rest.split_once(' '));
        match ready {
            Some((answer, version)) if is_digest(answer) && !version.trim().is_empty() => {
                answer.clone_into(&mut runner.answer);
                runner.version = shown(version.trim());
                Ok(runner)
            }
            _ => Err(runner.unexpected("ready DIGEST VERSION", &line)),
        }
    }

    /// The digest of its output.
    #[must_use]
    pub fn answer(&self) -> &str {
        &self.answer
    }

    /// The peer's version, as reported by the runner.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Runs `iterations` iterations.
    ///
    /// # Errors
    /// The errors of [`Runner::start`]; also a wall time of zero, or longer than the time measured here.
    pub fn run(&mut self, iterations: u64) -> Result<Times, BenchError> {
        if let Some(line) = self.partner.unexpected_line() {
            return Err(self.unexpected("nothing before it is asked", &line));
        }
        let began = Instant::now();
        self.partner.send(&format!("run {iterations}"));
        let expected = self.iteration.saturating_mul(u32::try_from(iterations).unwrap_or(u32::MAX));
        let line = self.receive(self.limits.run.saturating_add(expected.saturating_mul(10)))?;
        let passed = began.elapsed();
        let nanoseconds = |word: &str| word.parse().map(Duration::from_nanos).ok();
        let times = line.strip_prefix("done ").and_then(|rest| rest.split_once(' '));
        let times = times.and_then(|(wall, cpu)| nanoseconds(wall).zip(nanoseconds(cpu)));
        match times {
            Some((wall, cpu)) if !wall.is_zero() && wall <= passed => {
                self.iteration = passed.div_f64(iterations.max(1) as f64);
                Ok(Times { wall, cpu })
            }
            Some(_) => {
                let most = format!("done WALL CPU with a wall time from 1 to {} ns", passed.as_nanos());
                Err(self.unexpected(&most, &line))
            }
            None => Err(self.unexpected("done WALL CPU", &line)),
        }
    }

    /// The next line, if it arrives within `limit` and is not an error.
    fn receive(&mut self, limit: Duration) -> Result<String, BenchError> {
        let line = self
            .partner
            .receive_within(limit)
            .map_err(|failure| self.error(format!("its runner {failure}")))?;
        match line.strip_prefix("error ") {
            Some(sentence) => Err(self.error(shown(sentence))),
            None => Ok(line),
        }
    }

    fn unexpected(&self, expected: &str, found: &str) -> BenchError {
        self.error(format!("expected its runner to say {expected}, found \"{}\"", shown(found)))
    }

    fn error(&self, problem: String) -> BenchError {
        BenchError::Workload { name: self.name.clone(), problem }
    }
}

/// Whether `word` has the form of an answer in definitions: 16 hexadecimal digits in lower case.
fn is_digest(word: &str) -> bool {
    word.len() == 16 && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
