//! Options of a worker, for `serve` and `worker`.

use super::failure::CommandFailure;
use clap::Args;
use proofmill_cost::price::{self, Price};
use proofmill_server::worker::{MachineMemory, Policy, WorkerOptions};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Options of a worker.
#[derive(Args)]
pub(super) struct MachineOptions {
    /// Threads for all jobs [default: one per hardware thread]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    threads: Option<u64>,
    /// The most memory for all jobs, such as 16G [default: what the machine has, but for a reserve]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    memory: Option<u64>,
    /// One job on all threads (latency), one on each thread (throughput), or what suits queue and memory (auto)
    #[arg(long, value_name = "POLICY", default_value = "auto", value_parser = policy)]
    policy: Policy,
    /// The machine's price, for proofs per dollar: dollars an hour, or a cloud's instance such as c7a.48xlarge
    #[arg(long, value_name = "PRICE", value_parser = price::parse)]
    price: Option<Price>,
    /// The program that proves [default: proofmill next to this one, or in PATH]
    #[arg(long, value_name = "PATH", env = "PROOFMILL_PROGRAM")]
    program: Option<PathBuf>,
    /// Arguments for the program, such as --program-argument=--level=avx2
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    program_argument: Vec<std::ffi::OsString>,
}

impl MachineOptions {
    /// The worker's options.
    pub(super) fn worker(
        &self,
        keys: PathBuf,
        most_key_bytes: u64,
        (lease, drain_timeout): (Duration, Duration),
    ) -> Result<WorkerOptions, CommandFailure> {
        Ok(WorkerOptions {
            id: uuid::Uuid::now_v7().simple().to_string(),
            program: self.program()?,
            arguments: self.program_argument.clone(),
            threads: self.threads.map(|threads| usize::try_from(threads).unwrap_or(usize::MAX)),
            memory: self.memory,
            machine: MachineMemory::this(),
            policy: self.policy,
            divides: false,
            keys,
            most_key_bytes,
            lease,
            drain_timeout,
            dollars_per_hour: self.price.as_ref().map(|price| price.dollars_per_hour),
        })
    }

    /// The program that proves.
    pub(super) fn program(&self) -> Result<PathBuf, CommandFailure> {
        if let Some(program) = &self.program {
            let is_file = program.is_file();
            return is_file
                .then(|| program.clone())
                .ok_or_else(|| CommandFailure::about(program, "there is no such program"));
        }
        let name = Path::new("proofmill");
        let own = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.join(name)));
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let others = std::env::split_paths(&paths).map(|folder| folder.join(name));
        let found = own.into_iter().chain(others).find(|path| path.is_file());
        found.ok_or_else(|| {
            CommandFailure::Input(
                "the program proofmill is neither next to this one nor in PATH: --program names it"
                    .to_owned(),
            )
        })
    }
}

/// Raises the limit of open files to what the system allows: each connection, prover and job takes some.
pub(super) fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::debug!(%error, "cannot raise the limit of open files");
    }
}

fn policy(text: &str) -> Result<Policy, String> {
    match text {
        "auto" => Ok(Policy::Auto),
        "latency" => Ok(Policy::Latency),
        "throughput" => Ok(Policy::Throughput),
        _ => Err("expected auto, latency or throughput".to_owned()),
    }
}

/// A number of bytes: a number, or one with K, M, G or T (powers of 1024).
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.char_indices().next_back() {
        Some((end, unit)) if !unit.is_ascii_digit() => {
            let shift = match unit.to_ascii_uppercase() {
                'K' => 10,
                'M' => 20,
                'G' => 30,
                'T' => 40,
                _ => return Err("expected bytes, such as 4096, 512M or 16G".to_owned()),
            };
            (&text[..end], shift)
        }
        _ => (text, 0),
    };
    let number: u64 = digits.parse().map_err(|_| "expected bytes, such as 4096, 512M or 16G".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "too many bytes".to_owned())
}

/// A duration: a number of seconds, or one with s, m, h or d.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let problem = || "expected a duration, such as 15s, 10m, 2h or 7d".to_owned();
    let (digits, unit) = match text.char_indices().next_back() {
        Some((end, 's')) => (&text[..end], 1),
        Some((end, 'm')) => (&text[..end], 60),
        Some((end, 'h')) => (&text[..end], 3600),
        Some((end, 'd')) => (&text[..end], 24 * 3600),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|_| problem())?;
    // Longer than anyone waits, and can be added to a time.
    let most = 100 * 365 * 24 * 3600;
    number.checked_mul(unit).filter(|seconds| *seconds <= most).map(Duration::from_secs).ok_or_else(problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn open_files_are_limited_by_the_system_alone() {
        let limit = getrlimit(Resource::Nofile);
        let lower = limit.maximum.map_or(256, |most| most.min(256));
        setrlimit(Resource::Nofile, Rlimit { current: Some(lower), ..limit }).expect("lowered");
        raise_open_files();
        assert_eq!(getrlimit(Resource::Nofile), Rlimit { current: limit.maximum, ..limit });
        setrlimit(Resource::Nofile, limit).expect("as before");
    }

    #[test]
    fn units_are_read() {
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("16G"), Ok(16 << 30));
        assert_eq!(bytes("3k"), Ok(3 << 10));
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("7d"), Ok(Duration::from_secs(7 * 24 * 3600)));
        for wrong in ["", "G", "-1", "1.5G", "1é", "99999999999T"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "s", "-1s", "1é", "99999999999999999d"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
