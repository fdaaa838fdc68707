//! `worker`: works on the jobs of a service on another machine.

use super::{
    connection::ConnectionOptions,
    data::{DataFolder, OwnStaging},
    failure::CommandFailure,
    machine::{MachineOptions, bytes, duration},
    serve::{LogOptions, runtime},
    signals,
};
use clap::Args;
use proofmill_server::{client::Remote, objects::create_private, worker};
use std::{path::PathBuf, sync::Arc, time::Duration};

/// Options of `worker`.
#[derive(Args)]
pub(super) struct WorkerArguments {
    #[command(flatten)]
    connection: ConnectionOptions,
    #[command(flatten)]
    machine: MachineOptions,
    /// A folder for keys that were downloaded [default: worker/keys in the data folder]
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// The most bytes in that folder
    #[arg(long, value_name = "BYTES", default_value = "256G", value_parser = bytes)]
    most_key_bytes: u64,
    /// The lease that the worker asks for; that of the service is the longest
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = duration)]
    lease: Duration,
    /// How long the jobs that are there may take when the worker ends
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    drain_timeout: Duration,
    /// Take only Groth16 proofs that no other worker has memory for, for a program that divides them among machines, such as proofmill-ray;
    /// --memory is that of all machines
    #[arg(long, requires = "memory", conflicts_with = "policy")]
    cluster: bool,
    #[command(flatten)]
    log: LogOptions,
}

impl WorkerArguments {
    /// Works until a signal.
    pub(super) fn run(self) -> Result<(), CommandFailure> {
        self.log.start();
        if self.lease < super::serve::SHORTEST_LEASE {
            return Err(CommandFailure::Input("--lease: expected at least 1s".to_owned()));
        }
        runtime()?.block_on(self.work())
    }

    async fn work(self) -> Result<(), CommandFailure> {
        let draining = signals::draining()?;
        let client = self.connection.client()?;
        let data = DataFolder::new(self.connection.data())?;
        data.create()?;
        let keys = self.keys.unwrap_or_else(|| data.place("worker").join("keys"));
        create_private(&keys).map_err(|error| CommandFailure::about(&keys, error))?;
        let staging = OwnStaging::new(&data.place("worker").join("staging"))?;
        let mut options = self.machine.worker(keys, self.most_key_bytes, (self.lease, self.drain_timeout))?;
        if self.cluster {
            (options.divides, options.policy) = (true, worker::Policy::Latency);
        }
        let remote = Arc::new(Remote::new(client, staging.staging.clone()));
        drop(sd_notify::notify(&[sd_notify::NotifyState::Ready]));
        let mut over = draining.clone();
        let work = worker::run(remote, options, draining);
        let over = async move {
            if over.wait_for(|draining| *draining).await.is_err() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(self.drain_timeout + super::serve::RELEASE).await;
        };
        tokio::select! {
            worked = work => Ok(worked?),
            () = over => {
                tracing::warn!("the jobs take longer than the drain may: others get them when the leases end");
                Ok(())
            }
        }
    }
}
