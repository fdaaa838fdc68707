//! Stores of earlier versions are brought up to date.

use crate::store::open::{
    Place, add_key, claimed, connect, finished, key, new_job, new_schema, submitted, token,
};
use proofmill_server::{
    state::JobState,
    store::{JobQuery, Store},
};
use rusqlite::Connection;
use std::path::Path;

/// The changes that made the tables of each version, the last one excepted.
const RELEASED: [(i64, &[&str]); 1] = [(3, &[include_str!("../../../src/store/schema/3.sql")])];

/// A job that waits, as version 3 stored it.
const OLD_ROWS: &str = "INSERT INTO identity (id) VALUES ('the store');
    INSERT INTO tokens (id, name, hash, scopes, created_at, last_turn) VALUES ('a', 'a', 'hash of a', 'submit', 1, 1);
    INSERT INTO jobs (id, owner, task, state, attempts, most_attempts, fence, lease_until, not_before, timeout_ms, priority, turn, memory,
        threads, divides, request, inputs, input_bytes, created_at)
    VALUES ('01a2260a000000000000000000000000', 'a', '{\"type\":\"empty\"}', 'queued', 0, 3, 0, 0, 0, 1000, 0, 1, 5, 1, 0, 'r', 0, 0, 1);";

fn statements(version: i64, changes: &[&str]) -> String {
    format!(
        "CREATE TABLE versions (version BIGINT NOT NULL); INSERT INTO versions (version) VALUES ({version}); {} {OLD_ROWS}",
        changes.concat()
    )
}

fn version(path: &Path) -> i64 {
    let connection = Connection::open(path).expect("a store's file");
    connection.query_row("SELECT version FROM versions", [], |row| row.get(0)).expect("its version")
}

/// The definitions in an SQLite file, but for spaces.
fn definitions(path: &Path) -> Vec<String> {
    let connection = Connection::open(path).expect("a store's file");
    let sql = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name";
    let mut statement = connection.prepare(sql).expect("a query");
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).expect("definitions");
    rows.map(|row| row.expect("text").split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[tokio::test]
async fn stores_of_every_released_version_are_brought_up_to_date() {
    for (old, changes) in RELEASED {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("jobs.sqlite");
        Connection::open(&path)
            .expect("a file")
            .execute_batch(&statements(old, changes))
            .expect("old tables");
        let mut places = vec![Place::Sqlite(folder)];
        if let Some(url) = new_schema().await {
            connect(&url).await.batch_execute(&statements(old, changes)).await.expect("old tables");
            places.push(Place::Postgres(url));
        }
        for place in &places {
            for _ in 0..2 {
                let store = Store::open(&place.url()).expect("an old store");
                assert_eq!(store.id().await.expect("its id"), "the store");
            }
            let store = Store::open(&place.url()).expect("a store");
            assert_eq!(
                store.valid_token("hash of a".to_owned()).await.expect("a store").expect("a token").name,
                "a"
            );
            let job = claimed(&store, 10_000).await;
            assert_eq!(job.id, "01a2260a000000000000000000000000");
            store.report(job.id.clone(), 1, finished()).await.expect("it has the job");
            let done =
                JobQuery { owner: Some("a".to_owned()), state: Some(JobState::Done), before: None, limit: 9 };
            assert_eq!(store.jobs(done).await.expect("jobs").len(), 1);
            add_key(&store, key("a", "d", None)).await.expect("added");
            submitted(&store, new_job("a")).await;
        }
        // The copy from before has what was there then.
        use std::os::unix::fs::PermissionsExt;
        let copy = path.with_added_extension(format!("version-{old}"));
        assert_eq!((version(&copy), version(&path)), (old, 4));
        assert_eq!(std::fs::metadata(&copy).expect("a copy").permissions().mode() & 0o077, 0);
        let queued: i64 = Connection::open(&copy)
            .expect("a copy")
            .query_row("SELECT count(*) FROM jobs WHERE state = 'queued'", [], |row| row.get(0))
            .expect("a count");
        assert_eq!(queued, 1);
        let files = |path: &Path| std::fs::read_dir(path.parent().expect("a folder")).expect("files").count();
        assert!(files(&path) <= 4, "the store, its journal, and one copy");
        // An upgraded store has the tables of a new one.
        let new = tempfile::tempdir().expect("a folder");
        let new_path = new.path().join("jobs.sqlite");
        let store = Store::open(new_path.to_str().expect("a path")).expect("a new store");
        store.add_token(token("a"), None).await.expect("a new token");
        assert_eq!(definitions(&path), definitions(&new_path));
        assert!(!new_path.with_added_extension("version-3").exists(), "nothing to copy");
    }
}
