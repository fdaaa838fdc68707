//! The work that a server does by itself: it ends leases, and deletes rows and objects that are not needed.

use super::{Service, ServiceError, ServiceParts, is_digest, is_id, key_name};
use crate::{
    state::Contact,
    store::{Activity, InputState, JobRecord, StoreError},
    time::milliseconds,
};
use std::{collections::HashMap, time::Duration};
use tokio::time::{Instant, sleep, sleep_until};

/// How long objects that no job or key names are kept: they may be on their way, to another server.
const ORPHANS_AFTER: Duration = Duration::from_secs(3600);
/// How often rows and objects that are not needed are deleted.
const CLEANING: Duration = Duration::from_secs(30);
/// How often a server looks for objects that no job or key names.
const SEARCH: Duration = Duration::from_secs(1800);
/// After how long without a word a worker is forgotten.
const SILENT: Duration = Duration::from_secs(24 * 3600);

/// Whether the service gives such names to objects.
fn is_ours(name: &str) -> bool {
    match name.strip_prefix("keys/") {
        Some(digest) => is_digest(digest),
        None => is_id(name.trim_start_matches("jobs/").trim_end_matches('/')),
    }
}

impl Service {
    /// Ends leases and waiting, and deletes rows and objects that are not needed, again and again. Each server runs it in one task.
    /// Returns when the store will not answer any more: the process has to be started again.
    pub async fn maintain(&self) -> ServiceError {
        // Leases do not wait for an object storage.
        tokio::select! {
            error = self.watch_store() => error.into(),
            never = self.end_leases() => never,
            never = self.clean_up() => never,
        }
    }

    /// Returns when a thread of the store has ended, or does one piece of work for too long. How much waits does not matter: clients
    /// decide that. That the database is out of reach is an answer.
    async fn watch_store(&self) -> StoreError {
        let patience = self.0.rules.store_patience.as_secs();
        let mut last = Vec::new();
        // For how many looks each thread has done what it does. A process that is stopped for a while does not look meanwhile.
        let mut looks = Vec::new();
        loop {
            let now = self.0.store.activities();
            looks.resize(now.len(), 0);
            for (thread, activity) in now.iter().enumerate() {
                looks[thread] = match activity {
                    Activity::Ended => return StoreError::Ended,
                    Activity::Works(_) if last.get(thread) == Some(activity) => looks[thread] + 1,
                    _ => 0,
                };
                if looks[thread] >= patience {
                    return StoreError::unavailable(format!("the store has not answered for {patience} s"));
                }
            }
            last = now;
            sleep(Duration::from_secs(1)).await;
        }
    }

    async fn end_leases(&self) -> ! {
        let mut contact = Contact::default();
        loop {
            let began = Instant::now();
            match self.0.store.end_due(milliseconds(self.0.rules.lease), contact).await {
                Ok((jobs, now)) => {
                    contact = now;
                    for job in &jobs {
                        let (job_id, state) = (&job.id, job.progress.state.name());
                        tracing::warn!(job = job_id, state, error = job.error, "time is over");
                        self.changed(job);
                    }
                    if !jobs.is_empty() {
                        self.0.changes.queued();
                    }
                }
                Err(error) => tracing::error!(%error, "cannot end leases"),
            }
            sleep_until(began + Duration::from_secs(1)).await;
        }
    }

    async fn clean_up(&self) -> ! {
        let (mut next_search, mut orphans) = (Instant::now() + SEARCH, HashMap::new());
        loop {
            let began = Instant::now();
            if let Err(error) = self.delete_leftovers().await {
                tracing::error!(%error, "cannot delete what is not needed");
            }
            if began >= next_search {
                next_search = began + SEARCH;
                if let Err(error) = self.delete_orphans(&mut orphans).await {
                    tracing::error!(%error, "cannot look for files that nothing names");
                }
            }
            sleep_until(began + CLEANING).await;
        }
    }

    async fn delete_leftovers(&self) -> Result<(), ServiceError> {
        let ServiceParts { store, objects, rules, .. } = &*self.0;
        for job in store.leftovers(milliseconds(rules.keep_dead)).await? {
            self.clean(&job).await;
        }
        let began = Instant::now();
        // The rest is left for the next time, since the inputs of jobs that end meanwhile have to be deleted.
        while began.elapsed() < rules.lease / 4 {
            let jobs = store.ended_before(milliseconds(rules.keep)).await?;
            let mut ids = Vec::with_capacity(jobs.len());
            for job in jobs {
                // The row goes last: without it, only the search for orphans finds the objects.
                match objects.delete(&format!("jobs/{}/", job.id)).await {
                    Ok(()) => ids.push(job.id),
                    Err(error) => tracing::error!(job = job.id, %error, "cannot delete its outputs"),
                }
            }
            if ids.is_empty() {
                break;
            }
            store.forget(ids).await?;
        }
        Ok(store.forget_silent_workers(milliseconds(SILENT)).await?)
    }

    /// Deletes objects that no job or key has named for a while. `orphans` is when they were first seen so: the objects' own times are
    /// those of a clock that may jump.
    async fn delete_orphans(&self, orphans: &mut HashMap<String, Instant>) -> Result<(), ServiceError> {
        let (now, mut seen) = (Instant::now(), HashMap::new());
        let jobs = self.0.objects.list("jobs/").await?.into_iter().map(|id| format!("jobs/{id}/"));
        let keys = self.0.objects.list("keys/").await?.into_iter().map(|digest| key_name(&digest));
        for name in jobs.chain(keys) {
            if !is_ours(&name) || self.is_named(&name).await? {
                continue;
            }
            let since = orphans.get(&name).copied().unwrap_or(now);
            // The object may have been named since. While another object is on its way, the deletion waits for the next search.
            match self.0.arrivals.try_write() {
                Ok(_alone) if now >= since + ORPHANS_AFTER && !self.is_named(&name).await? => {
                    self.0.objects.delete(&name).await?;
                }
                _ => drop(seen.insert(name, since)),
            }
        }
        *orphans = seen;
        Ok(())
    }

    /// Whether a job or key has this object.
    async fn is_named(&self, name: &str) -> Result<bool, ServiceError> {
        if let Some(digest) = name.strip_prefix("keys/") {
            return Ok(self.0.store.is_key_needed(digest.to_owned()).await?);
        }
        let id = name.trim_start_matches("jobs/").trim_end_matches('/');
        match self.0.store.job(id.to_owned(), None).await {
            Ok(_) => Ok(true),
            Err(StoreError::NotFound(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes the inputs of a job that has ended. What fails is tried again later.
    pub(super) async fn clean(&self, job: &JobRecord) {
        let clean = async {
            // The job gives up its inputs first: a retry must not find them half deleted.
            let are_given_up = match job.inputs {
                InputState::None => false,
                InputState::Stored => self.0.store.give_up_inputs(job.id.clone()).await?,
                InputState::Leftover => true,
            };
            if !are_given_up {
                return Ok(());
            }
            self.0.objects.delete(&format!("jobs/{}/inputs/", job.id)).await?;
            self.0.store.inputs_deleted(job.id.clone()).await?;
            Ok::<_, ServiceError>(())
        };
        if let Err(error) = clean.await {
            tracing::error!(job = job.id, %error, "cannot delete its inputs");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ORPHANS_AFTER;
    use crate::{
        objects::{FolderObjects, Objects, Staging},
        service::{Inspector, Rules, Service, ServiceError, input_name, key_name},
        store::{Sqlite, Store},
    };
    use async_trait::async_trait;
    use proofmill_job::{KeyFacts, TaskInput};
    use std::{collections::HashMap, path::Path, sync::Arc};

    struct NoInspector;

    #[async_trait]
    impl Inspector for NoInspector {
        async fn inspect(&self, _: &Path) -> Result<KeyFacts, ServiceError> {
            Err(ServiceError::Invalid("no key".to_owned()))
        }
    }

    #[tokio::test]
    async fn files_that_nothing_names_are_deleted_after_a_while() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(Sqlite::open(&folder.path().join("store.sqlite")).expect("a store"));
        let objects = Arc::new(FolderObjects::new(&folder.path().join("objects")).expect("objects"));
        let staging = Staging::new(&folder.path().join("staging")).expect("staging");
        let service = Service::new(store, objects.clone(), staging, Arc::new(NoInspector), Rules::default());
        let (job, key) = (input_name(&"0".repeat(32), TaskInput::Witness), key_name(&"1".repeat(64)));
        for name in [&job, &key, "jobs/other"] {
            objects.put(name, service.staging().file_with(b"x").expect("a file")).await.expect("stored");
        }
        let is_there = async |name: &str| objects.get(name).await.is_ok();
        let mut orphans = HashMap::new();
        for _ in 0..2 {
            service.delete_orphans(&mut orphans).await.expect("looked");
            assert!(is_there(&job).await && is_there(&key).await, "they may be on their way");
        }
        assert_eq!(orphans.len(), 2);
        orphans.values_mut().for_each(|since| *since -= ORPHANS_AFTER);
        let arrives = service.0.arrivals.read().await;
        service.delete_orphans(&mut orphans).await.expect("looked");
        assert!(is_there(&job).await && is_there(&key).await, "one may arrive now");
        drop(arrives);
        service.delete_orphans(&mut orphans).await.expect("looked");
        assert!(!is_there(&job).await && !is_there(&key).await);
        assert!(orphans.is_empty() && is_there("jobs/other").await, "not the service's file");
    }
}
