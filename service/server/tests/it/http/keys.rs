//! Adding, listing and removing keys.

use crate::http::server::{answer, server, start};
use proofmill_server::{
    access::Scope,
    http::HttpOptions,
    service::{Rules, digest},
    store::StoreLimits,
};

#[tokio::test]
async fn keys_are_added_named_and_removed() {
    let server = server().await;
    let alice = server.token("alice", &[Scope::Keys]).await;
    let first = server.key(&alice, "main", "groth16 a").await;
    let (status, key) = answer(server.put(&alice, &format!("/v1/keys/{first}"), "groth16 a")).await;
    assert_eq!((status, key["name"].as_str()), (200, Some("main")));
    let (status, key) = answer(server.put(&alice, &format!("/v1/keys/{first}?name=renamed"), "")).await;
    assert_eq!((status, key["name"].as_str()), (200, Some("renamed")), "{key}");
    let second = server.key(&alice, "renamed", "plonk b").await;
    let (_, keys) = answer(server.get(&alice, "/v1/keys")).await;
    let named: Vec<_> = keys
        .as_array()
        .expect("keys")
        .iter()
        .map(|key| (key["digest"].as_str(), key["name"].as_str()))
        .collect();
    assert_eq!(named.len(), 2);
    assert!(
        named.contains(&(Some(first.as_str()), None))
            && named.contains(&(Some(second.as_str()), Some("renamed")))
    );
    for name in ["renamed", second.as_str()] {
        let (status, key) = answer(server.get(&alice, &format!("/v1/keys/{name}"))).await;
        assert_eq!((status, key["facts"]["kind"].as_str()), (200, Some("plonk")));
    }
    assert_eq!(answer(server.delete(&alice, "/v1/keys/renamed")).await.0, 200);
    assert_eq!(answer(server.delete(&alice, "/v1/keys/renamed")).await.0, 404);
}

#[tokio::test]
async fn wrong_keys_are_refused() {
    let server = server().await;
    let alice = server.token("alice", &[Scope::Keys]).await;
    let right = digest(b"groth16 a");
    let cases = [
        (format!("/v1/keys/{}", digest(b"other")), "groth16 a", "digest"),
        (format!("/v1/keys/{}", right.to_uppercase()), "groth16 a", "SHA-256"),
        ("/v1/keys/main".to_owned(), "groth16 a", "SHA-256"),
        (format!("/v1/keys/{}", digest(b"nothing")), "nothing", "no key"),
        (format!("/v1/keys/{}", digest(b"")), "", "no key"),
        (format!("/v1/keys/{right}?name=a%2Fb"), "groth16 a", "name"),
        (format!("/v1/keys/{right}?name={right}"), "groth16 a", "name"),
        (format!("/v1/keys/{right}?name="), "groth16 a", "name"),
        (format!("/v1/keys/{right}?other=1"), "groth16 a", "other"),
    ];
    for (path, content, word) in cases {
        let (status, body) = answer(server.put(&alice, &path, content)).await;
        assert_eq!(status, 400, "{path}: {body}");
        assert!(body["detail"].as_str().expect("a detail").contains(word), "{path}: {body}");
    }
    assert_eq!(answer(server.get(&alice, "/v1/keys")).await.1, serde_json::json!([]));
    assert_eq!(server.staged(), 0);
}

#[tokio::test]
async fn keys_without_room_leave_nothing() {
    let limits = StoreLimits { bytes_of_owner: 20, ..Rules::default().limits };
    let server = start(HttpOptions::default(), Rules { limits, ..Rules::default() }, None).await;
    let alice = server.token("alice", &[Scope::Keys]).await;
    server.key(&alice, "first", "groth16 0123").await;
    for number in 0..5 {
        let content = format!("groth16 {number}123");
        let path = format!("/v1/keys/{}", digest(content.as_bytes()));
        let (status, problem) = answer(server.put(&alice, &path, content)).await;
        assert_eq!(status, if number == 0 { 200 } else { 507 }, "{problem}");
    }
    let stored = std::fs::read_dir(server.folder.path().join("objects/keys")).expect("keys").count();
    assert_eq!((stored, server.staged()), (1, 0));
}
