//! The life of a job.

use crate::store::open::{claim, claimed, end_due, job_with_inputs, new_job, stores, submit, submitted};
use proofmill_server::{
    state::{JobState, Refused},
    store::{ClaimOutcome, InputState, StoreError, Worked},
};
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test]
async fn a_job_is_queued_claimed_and_done() {
    for (store, _folder) in stores().await {
        let (job, is_new) = submit(&store, new_job("a")).await.expect("accepted");
        assert!(is_new);
        assert_eq!(job.progress.state, JobState::Queued);
        let running = claimed(&store, 10_000).await;
        assert_eq!(
            (running.id.as_str(), running.progress.fence, running.progress.attempts),
            (job.id.as_str(), 1, 1)
        );
        assert_eq!(claim(&store, "w", 1).await, ClaimOutcome::Empty);
        let beat = Worked::Beat { lease_ms: 20_000, phase: Some("sums".to_owned()) };
        store.report(job.id.clone(), 1, beat).await.expect("it has the job");
        assert_eq!(store.job(job.id.clone(), None).await.expect("there").phase.as_deref(), Some("sums"));
        let stale = store.report(job.id.clone(), 2, crate::store::open::finished()).await;
        assert_eq!(stale, Err(StoreError::Refused(Refused::Fence)));
        for _ in 0..2 {
            let done = store.report(job.id.clone(), 1, crate::store::open::finished()).await;
            assert_eq!(done.expect("also when it is said twice").progress.state, JobState::Done);
        }
        let late = store.report(job.id.clone(), 1, Worked::Failed("late".to_owned())).await;
        assert_eq!(late, Err(StoreError::Refused(Refused::State(JobState::Done))));
        assert!(matches!(
            store.job(job.id.clone(), Some("b".to_owned())).await,
            Err(StoreError::NotFound(_))
        ));
    }
}

/// Every report of a claim is refused when another one has followed, or none is there.
fn reports() -> Vec<Worked> {
    vec![
        Worked::Beat { lease_ms: 1000, phase: None },
        crate::store::open::finished(),
        Worked::Failed("wrong witness".to_owned()),
        Worked::Lost { message: "killed".to_owned(), pause_ms: 0 },
        Worked::Released,
    ]
}

#[tokio::test]
async fn stale_fences_are_refused() {
    for (store, _place) in stores().await {
        let job = submitted(&store, new_job("a")).await;
        for report in reports() {
            let refused = store.report(job.id.clone(), 0, report).await;
            assert_eq!(refused, Err(StoreError::Refused(Refused::State(JobState::Queued))));
        }
        claimed(&store, 10_000).await;
        let lost = Worked::Lost { message: "killed".to_owned(), pause_ms: 0 };
        for _ in 0..2 {
            let progress = store.report(job.id.clone(), 1, lost.clone()).await.expect("also twice").progress;
            assert_eq!((progress.state, progress.attempts), (JobState::Queued, 1));
        }
        let second = claimed(&store, 10_000).await;
        assert_eq!((second.progress.fence, second.progress.attempts), (2, 2));
        for report in reports() {
            for fence in [0, 1, 3, u64::MAX] {
                let refused = store.report(job.id.clone(), fence, report.clone()).await;
                assert_eq!(refused, Err(StoreError::Refused(Refused::Fence)), "{report:?} {fence}");
            }
        }
        let before = store.job(job.id.clone(), None).await.expect("there");
        assert_eq!((before.progress, before.error.as_deref()), (second.progress, Some("killed")));
        store.report(job.id.clone(), 2, Worked::Failed("wrong".to_owned())).await.expect("it has the job");
        let failed = store.job(job.id.clone(), None).await.expect("there");
        assert_eq!((failed.progress.state, failed.error.as_deref()), (JobState::Failed, Some("wrong")));
        for report in reports() {
            let is_same = matches!(report, Worked::Failed(_));
            assert_eq!(store.report(job.id.clone(), 2, report).await.is_ok(), is_same);
        }
        let unknown = store.report("0".repeat(32), 1, Worked::Released).await;
        assert!(matches!(unknown, Err(StoreError::NotFound(_))));
    }
}

#[tokio::test]
async fn a_released_attempt_does_not_count() {
    for (store, _place) in stores().await {
        let job = submitted(&store, new_job("a")).await;
        for fence in 1..=5 {
            assert_eq!(claimed(&store, 10_000).await.progress.fence, fence);
            for _ in 0..2 {
                let progress =
                    store.report(job.id.clone(), fence, Worked::Released).await.expect("also twice").progress;
                assert_eq!((progress.state, progress.attempts), (JobState::Queued, 0));
            }
        }
    }
}

#[tokio::test]
async fn a_lost_attempt_is_followed_by_a_pause() {
    for (store, _place) in stores().await {
        let job = submitted(&store, new_job("a")).await;
        claimed(&store, 10_000).await;
        let lost = Worked::Lost { message: "killed".to_owned(), pause_ms: 300 };
        store.report(job.id.clone(), 1, lost).await.expect("it has the job");
        assert_eq!(claim(&store, "w", 1).await, ClaimOutcome::Empty);
        sleep(Duration::from_millis(350)).await;
        claimed(&store, 10_000).await;
        // A pause without end is cut.
        let lost = Worked::Lost { message: "killed".to_owned(), pause_ms: u64::MAX };
        assert_eq!(
            store.report(job.id.clone(), 2, lost).await.expect("it has the job").progress.state,
            JobState::Dead
        );
        assert_eq!(store.job(job.id, None).await.expect("readable").progress.state, JobState::Dead);
    }
}

#[tokio::test]
async fn leases_end() {
    for (store, _place) in stores().await {
        let (first, second) = (submitted(&store, new_job("a")).await, submitted(&store, new_job("b")).await);
        claimed(&store, 10_000).await;
        claimed(&store, 800).await;
        assert_eq!(end_due(&store, 60_000).await, []);
        sleep(Duration::from_millis(850)).await;
        let ended = end_due(&store, 60_000).await;
        assert_eq!(ended.iter().map(|job| job.id.as_str()).collect::<Vec<_>>(), [second.id.as_str()]);
        assert_eq!((ended[0].progress.state, ended[0].progress.attempts), (JobState::Queued, 1));
        assert!(ended[0].error.is_some());
        // The last attempt.
        assert_eq!(claimed(&store, 30).await.progress.attempts, 2);
        sleep(Duration::from_millis(50)).await;
        let ended = end_due(&store, 60_000).await;
        assert_eq!((ended.len(), ended[0].progress.state), (1, JobState::Dead));
        assert!(ended[0].ended_at.is_some());
        assert_eq!(claim(&store, "w", 1).await, ClaimOutcome::Empty);
        // A beat prolongs.
        let beat = |lease_ms| Worked::Beat { lease_ms, phase: None };
        let progress = store.report(first.id.clone(), 1, beat(20_000)).await.expect("it has the job");
        let shorter = store.report(first.id.clone(), 1, beat(1)).await.expect("it has the job");
        assert_eq!(progress.progress.lease_until, shorter.progress.lease_until);
    }
}

#[tokio::test]
async fn leases_from_before_a_clock_jumped_back_end() {
    for (store, place) in stores().await {
        let job = submitted(&store, new_job("a")).await;
        claimed(&store, 1000).await;
        place.sql("UPDATE jobs SET lease_until = lease_until + 3600000").await;
        assert_eq!(end_due(&store, 7_200_000).await, []);
        let ended = end_due(&store, 1000).await;
        assert_eq!(ended.into_iter().map(|job| job.id).collect::<Vec<_>>(), [job.id]);
        // A lease without end.
        let endless = claimed(&store, u64::MAX).await;
        assert_eq!(end_due(&store, 1000).await[0].id, endless.id);
    }
}

#[tokio::test]
async fn dead_jobs_are_retried_while_their_inputs_are_there() {
    for (store, _place) in stores().await {
        for new in [new_job("a"), job_with_inputs("a")] {
            let has_inputs = !new.task.inputs().is_empty();
            let job = submitted(&store, new).await;
            assert_eq!(job.inputs, if has_inputs { InputState::Stored } else { InputState::None });
            let early = store.retry(job.id.clone(), None).await;
            assert_eq!(early, Err(StoreError::Refused(Refused::State(JobState::Queued))));
            for round in 0..2 {
                for attempt in 1..=2 {
                    let fence = 2 * round + attempt;
                    assert_eq!(claimed(&store, 10_000).await.progress.fence, fence);
                    let lost = Worked::Lost { message: "killed".to_owned(), pause_ms: 0 };
                    store.report(job.id.clone(), fence, lost).await.expect("it has the job");
                }
                let dead = store.job(job.id.clone(), None).await.expect("there");
                assert_eq!((dead.progress.state, dead.progress.attempts), (JobState::Dead, 2));
                if round == 0 {
                    let other = store.retry(job.id.clone(), Some("b".to_owned())).await;
                    assert!(matches!(other, Err(StoreError::NotFound(_))));
                    let again = store.retry(job.id.clone(), Some("a".to_owned())).await.expect("it is dead");
                    assert_eq!((again.progress.state, again.progress.attempts), (JobState::Queued, 0));
                    assert_eq!(again.ended_at, None);
                }
            }
            assert_eq!(store.give_up_inputs(job.id.clone()).await, Ok(has_inputs));
            store.inputs_deleted(job.id.clone()).await.expect("noted");
            match store.retry(job.id.clone(), None).await {
                Err(StoreError::NotFound(problem)) => {
                    assert!(has_inputs && problem.contains("submit it again"))
                }
                retried => assert!(!has_inputs && retried.is_ok()),
            }
            if !has_inputs {
                store.cancel(job.id, None).await.expect("it is queued");
            }
        }
    }
}

#[tokio::test]
async fn jobs_expire_while_they_wait() {
    for (store, _place) in stores().await {
        let mut ids = Vec::new();
        for expires_in_ms in [Some(20), Some(60_000), None, Some(u64::MAX)] {
            let mut job = new_job("a");
            job.expires_in_ms = expires_in_ms;
            ids.push(submitted(&store, job).await.id);
        }
        sleep(Duration::from_millis(40)).await;
        let ended = end_due(&store, 60_000).await;
        assert_eq!(ended.iter().map(|job| &job.id).collect::<Vec<_>>(), [&ids[0]]);
        assert_eq!(ended[0].progress.state, JobState::Expired);
        // One that runs does not expire.
        let mut job = new_job("b");
        job.expires_in_ms = Some(800);
        job.priority = 9;
        let running = submitted(&store, job).await;
        assert_eq!(claimed(&store, 10_000).await.id, running.id);
        sleep(Duration::from_millis(850)).await;
        assert_eq!(end_due(&store, 60_000).await, []);
    }
}

#[tokio::test]
async fn queued_and_running_jobs_are_cancelled() {
    for (store, _place) in stores().await {
        let queued = submitted(&store, new_job("a")).await;
        let other = store.cancel(queued.id.clone(), Some("b".to_owned())).await;
        assert!(matches!(other, Err(StoreError::NotFound(_))));
        let cancelled = store.cancel(queued.id.clone(), Some("a".to_owned())).await.expect("it is queued");
        assert_eq!(cancelled.progress.state, JobState::Cancelled);
        assert!(cancelled.ended_at.is_some());
        assert_eq!(claim(&store, "w", 1).await, ClaimOutcome::Empty);
        let twice = store.cancel(queued.id, None).await;
        assert_eq!(twice, Err(StoreError::Refused(Refused::State(JobState::Cancelled))));
        let running = submitted(&store, new_job("a")).await;
        claimed(&store, 10_000).await;
        store.cancel(running.id.clone(), None).await.expect("it is running");
        for report in reports() {
            let refused = store.report(running.id.clone(), 1, report).await;
            assert_eq!(refused, Err(StoreError::Refused(Refused::State(JobState::Cancelled))));
        }
        assert!(matches!(submit(&store, new_job("nobody")).await, Err(StoreError::NotFound(_))));
    }
}
