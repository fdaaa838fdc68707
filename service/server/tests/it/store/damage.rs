//! Stores that this program did not write, or not so.

use crate::store::open::{Place, add_key, claim, claimed, end_due, key, new_job, stores, submitted};
use proofmill_server::store::{ClaimOutcome, JobQuery, Store, StoreError, Worked};
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test]
async fn a_store_is_opened_again() {
    for (store, place) in stores().await {
        let job = submitted(&store, new_job("a")).await;
        let again = Store::open(&place.url()).expect("the same store");
        assert_eq!(again.job(job.id.clone(), None).await, Ok(job));
        let (here, there) = (store.now().await.expect("time"), again.now().await.expect("time"));
        assert!(here.abs_diff(there) < 1000);
    }
}

#[tokio::test]
async fn another_version_is_refused() {
    for (_store, place) in stores().await {
        for version in [0, 2, 5, 1000] {
            place.sql(&format!("UPDATE versions SET version = {version}")).await;
            let refused = Store::open(&place.url()).map(drop).expect_err("not a version of this program");
            assert_eq!(refused, StoreError::Version(version));
            assert!(refused.to_string().contains("last opened with"), "{refused}");
        }
    }
}

#[tokio::test]
async fn places_that_are_no_stores_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("text");
    std::fs::write(&path, "no database, but a text that is longer than a page's header. ".repeat(100))
        .expect("written");
    for place in
        [path.to_str().expect("a path"), "mysql://u:secret@host/db", folder.path().to_str().expect("a path")]
    {
        match Store::open(place).map(drop) {
            Err(StoreError::Unavailable(problem)) => assert!(!problem.contains("secret"), "{problem}"),
            other => panic!("{place}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn damaged_rows_are_reported_and_others_served() {
    for (store, place) in stores().await {
        let is_corrupt = async |id: &str| {
            let found = store.job(id.to_owned(), None).await;
            assert!(matches!(found, Err(StoreError::Corrupt(_))), "{found:?}");
        };
        let damages = [
            "task = '{\"type\":\"unheard-of\"}'",
            "task = '{'",
            "attempts = -1",
            "fence = -1",
            "timeout_ms = -5",
            "inputs = 3",
        ];
        for damage in damages {
            let job = submitted(&store, new_job("a")).await;
            place.sql(&format!("UPDATE jobs SET {damage} WHERE id = '{}'", job.id)).await;
            is_corrupt(&job.id).await;
            for _ in 0..2 {
                assert!(matches!(store.cancel(job.id.clone(), None).await, Err(StoreError::Corrupt(_))));
            }
            let report = store.report(job.id.clone(), 0, Worked::Released).await;
            assert!(matches!(report, Err(StoreError::Corrupt(_))));
        }
        let all = JobQuery { owner: None, state: None, before: None, limit: 10 };
        assert_eq!(store.jobs(all.clone()).await, Ok(Vec::new()));
        // Those behind them in the queue are served.
        let good = submitted(&store, new_job("a")).await;
        assert_eq!(store.jobs(all).await.expect("those that can be read").len(), 1);
        assert_eq!(claimed(&store, 20).await.id, good.id);
        assert_eq!(claim(&store, "w", 20).await, ClaimOutcome::Empty);
        // So are those whose time is over.
        place.sql("UPDATE jobs SET state = 'running', lease_until = 1 WHERE attempts = -1").await;
        sleep(Duration::from_millis(40)).await;
        let ended = end_due(&store, 1000).await;
        assert_eq!(ended.iter().map(|job| &job.id).collect::<Vec<_>>(), [&good.id]);
        // A state that no version knows.
        claimed(&store, 10_000).await;
        place.sql(&format!("UPDATE jobs SET state = 'nonsense' WHERE id = '{}'", good.id)).await;
        is_corrupt(&good.id).await;
        // Facts of a key.
        add_key(&store, key("a", "d", Some("name"))).await.expect("added");
        place.sql("UPDATE keys SET facts = '[]'").await;
        let found = store.key("a".to_owned(), "name".to_owned()).await;
        assert!(matches!(found, Err(StoreError::Corrupt(_))), "{found:?}");
    }
}

#[tokio::test]
async fn sqlite_values_of_other_types_are_reported() {
    for (store, place) in stores().await {
        if let Place::Postgres(_) = place {
            continue;
        }
        for damage in ["memory = 'many'", "memory = 1.5", "owner = x'00'", "fence = 1e30"] {
            let job = submitted(&store, new_job("a")).await;
            let sql = format!("PRAGMA foreign_keys = OFF; UPDATE jobs SET {damage} WHERE id = '{}'", job.id);
            place.sql(&sql).await;
            let found = store.job(job.id, None).await;
            assert!(matches!(found, Err(StoreError::Corrupt(_))), "{damage}: {found:?}");
        }
        // Such a row, in any column, keeps no other from being listed or served.
        let submitted_in = async |column: &str| {
            let job = submitted(&store, new_job("a")).await;
            let sql = format!("UPDATE jobs SET {column} = 9.3e18 WHERE id = '{}'", job.id);
            place.sql(&sql).await;
        };
        for column in ["expires_at", "turn", "memory", "created_at", "threads"] {
            submitted_in(column).await;
        }
        let good = submitted(&store, new_job("a")).await;
        let all = JobQuery { owner: Some("a".to_owned()), state: None, before: None, limit: 100 };
        let listed = store.jobs(all).await.expect("those that can be read");
        assert!(listed.iter().any(|job| job.id == good.id));
        assert_eq!(claimed(&store, 10_000).await.id, good.id);
        end_due(&store, 1000).await;
    }
}
