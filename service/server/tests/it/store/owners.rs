//! Tokens, and the keys of their owners.

use crate::store::open::{add_key, claimed, key, new_job, stores, submit, submitted, token};
use proofmill_job::Task;
use proofmill_server::store::{NewJob, StoreError, TokenRecord, Worked};
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test]
async fn a_key_has_one_name_and_a_name_one_key() {
    for (store, _place) in stores().await {
        let find = async |owner: &str, name: &str| {
            let key = store.key(owner.to_owned(), name.to_owned()).await;
            key.map(|key| (key.digest, key.name)).ok()
        };
        let found = |digest: &str, name: Option<&str>| Some((digest.to_owned(), name.map(str::to_owned)));
        add_key(&store, key("a", "d1", Some("n"))).await.expect("added");
        add_key(&store, key("a", "d2", None)).await.expect("added");
        add_key(&store, key("b", "d1", Some("m"))).await.expect("added");
        assert_eq!(find("a", "n").await, found("d1", Some("n")));
        assert_eq!(find("a", "d2").await, found("d2", None));
        assert_eq!((find("a", "m").await, find("b", "n").await, find("b", "d2").await), (None, None, None));
        // Without a name, the one that it has stays.
        add_key(&store, key("a", "d1", None)).await.expect("added");
        assert_eq!(find("a", "d1").await, found("d1", Some("n")));
        // The name moves.
        for _ in 0..2 {
            add_key(&store, key("a", "d2", Some("n"))).await.expect("also twice");
            assert_eq!(find("a", "n").await, found("d2", Some("n")));
            assert_eq!(find("a", "d1").await, found("d1", None));
        }
        assert_eq!(find("b", "d1").await, found("d1", Some("m")));
        let digests = store.keys("a".to_owned()).await.expect("keys").into_iter().map(|key| key.digest);
        assert_eq!(digests.collect::<Vec<_>>(), ["d1", "d2"]);
        let removed = store.remove_key("a".to_owned(), "n".to_owned()).await.expect("it is there");
        assert_eq!((removed.digest.as_str(), &removed.facts), ("d2", &key("a", "d2", None).facts));
        let twice = store.remove_key("a".to_owned(), "n".to_owned()).await;
        assert!(matches!(twice, Err(StoreError::NotFound(_))));
        assert!(add_key(&store, key("nobody", "d", None)).await.is_err());
    }
}

#[tokio::test]
async fn a_key_is_needed_by_owners_and_jobs() {
    for (store, _place) in stores().await {
        let digest = "5".repeat(64);
        let is_needed = async || store.is_key_needed(digest.clone()).await.expect("an answer");
        assert!(!is_needed().await);
        for owner in ["a", "b"] {
            add_key(&store, key(owner, &digest, None)).await.expect("added");
        }
        let task = Task::Prove { key: digest.clone(), program: None };
        let job = submitted(&store, NewJob { task: task.clone(), ..new_job("a") }).await;
        let other = submitted(&store, NewJob { task, ..new_job("a") }).await;
        for owner in ["a", "b"] {
            assert!(is_needed().await);
            store.remove_key(owner.to_owned(), digest.clone()).await.expect("it is there");
        }
        assert!(is_needed().await);
        assert!(!store.is_key_needed("6".repeat(64)).await.expect("an answer"));
        claimed(&store, 10_000).await;
        assert!(is_needed().await);
        store.report(job.id.clone(), 1, crate::store::open::finished()).await.expect("it has the job");
        assert!(is_needed().await);
        // Also by a dead one, which may be retried.
        for fence in [1, 2] {
            claimed(&store, 10_000).await;
            let lost = Worked::Lost { message: "killed".to_owned(), pause_ms: 0 };
            store.report(other.id.clone(), fence, lost).await.expect("it has the job");
        }
        assert!(is_needed().await);
        store.retry(other.id.clone(), None).await.expect("its inputs are there");
    }
}

#[tokio::test]
async fn tokens_expire_and_are_revoked() {
    for (store, _place) in stores().await {
        let valid = async |id: &str| store.valid_token(format!("hash of {id}")).await.expect("an answer");
        store.add_token(token("short"), Some(30)).await.expect("added");
        store.add_token(token("long"), Some(60_000)).await.expect("added");
        store.add_token(token("endless"), Some(u64::MAX)).await.expect("added");
        let found = valid("long").await.expect("it is valid");
        assert_eq!((found.name.as_str(), found.scopes.as_str()), ("token long", "submit"));
        assert_eq!(found.expires_at, Some(found.created_at + 60_000));
        assert!(
            valid("endless").await.is_some() && valid("a").await.is_some() && valid("nobody").await.is_none()
        );
        sleep(Duration::from_millis(50)).await;
        assert!(valid("short").await.is_none());
        store.revoke_token("token long".to_owned()).await.expect("it is there");
        assert!(valid("long").await.is_none());
        for name in ["token long", "token nobody", "long"] {
            let twice = store.revoke_token(name.to_owned()).await;
            assert!(matches!(twice, Err(StoreError::NotFound(_))));
        }
        let all = store.tokens().await.expect("tokens");
        assert_eq!(all.len(), 6);
        assert!(all.iter().all(|token| token.revoked_at.is_some() == (token.id == "long")));
        // A name stays taken, so that nobody takes a new token for an old one.
        let again = TokenRecord { id: "other".to_owned(), hash: "other".to_owned(), ..token("long") };
        assert!(matches!(store.add_token(again, None).await, Err(StoreError::Taken(_))));
        // Jobs of a token that was revoked go on, and the face refuses new ones.
        submit(&store, new_job("long")).await.expect("the store does not ask");
    }
}
