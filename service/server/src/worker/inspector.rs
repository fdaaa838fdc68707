//! Inspects key files in a process: a file that is made to crash its reader ends that process, not the
//! service.

use super::{
    memory::MachineMemory,
    prover::{ProverError, ProverProcess, ProverProgram, StartError},
};
use crate::service::{Inspector, ServiceError};
use async_trait::async_trait;
use proofmill_job::{KeyFacts, Reply, Request};
use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};

/// The longest time for a file.
const LONGEST: Duration = Duration::from_secs(60);
/// The most memory for a file, in bytes: only headers are read, but programs are parsed.
const MOST_MEMORY: u64 = 1 << 30;
/// How often the memory is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// The most processes at the same time, in all.
static PROCESSES: Semaphore = Semaphore::const_new(4);

/// Inspects key files by the program `proofmill`: a new process for each file.
#[derive(Debug)]
pub struct ProcessInspector {
    /// The program.
    pub program: PathBuf,
}

#[async_trait]
impl Inspector for ProcessInspector {
    async fn inspect(&self, path: &Path) -> Result<KeyFacts, ServiceError> {
        let _permit = PROCESSES.acquire().await.map_err(io::Error::other)?;
        let mut prover = ProverProcess::start(
            &ProverProgram { path: self.program.clone(), arguments: Vec::new(), sees_ray: false },
            None,
        )
        .await?;
        let (process, request) = (prover.process(), Request::Inspect { path: std::path::absolute(path)? });
        let answer = tokio::select! {
            answer = timeout(LONGEST, prover.ask(&request, drop)) => answer,
            () = too_much_memory(process) => {
                let most = MOST_MEMORY >> 20;
                return Err(invalid(format!("reading this file takes more than {most} MiB of memory")));
            }
        };
        let reply = match answer {
            Ok(reply) => reply,
            Err(_) => {
                return Err(invalid(format!("reading this file takes more than {} s", LONGEST.as_secs())));
            }
        };
        match reply {
            Ok(Reply::Key(facts)) => {
                prover.end().await;
                Ok(facts)
            }
            Ok(Reply::Failed(failure)) if failure.transient => {
                Err(io::Error::other(format!("the key cannot be read: {}", failure.message)).into())
            }
            Ok(Reply::Failed(failure)) => Err(ServiceError::Invalid(failure.message)),
            Ok(_) => Err(io::Error::other("the prover answered another question").into()),
            Err(ProverError::Ended(how)) => Err(invalid(format!("the process that read this file {how}"))),
            Err(error) => Err(invalid(error.to_string())),
        }
    }
}

impl From<StartError> for ServiceError {
    fn from(error: StartError) -> Self {
        Self::Io(io::Error::other(error))
    }
}

fn invalid(problem: String) -> ServiceError {
    ServiceError::Invalid(format!("the file is no key that can be read: {problem}"))
}

async fn too_much_memory(process: u32) {
    let machine = MachineMemory::this();
    loop {
        sleep(LOOK).await;
        if machine.private(process).is_some_and(|bytes| bytes > MOST_MEMORY) {
            return;
        }
    }
}
