//! The routes of proverServer.

use crate::http::server::{answer, content, server};
use proofmill_job::TaskOutput;
use proofmill_server::{access::Scope, coordinator::Coordinator, store::Worked};
use serde_json::json;

#[tokio::test]
async fn prover_server_clients_are_served() {
    let server = server().await;
    let scopes = [Scope::Submit, Scope::Keys];
    let (alice, bob) = (server.token("alice", &scopes).await, server.token("bob", &scopes).await);
    for token in [&alice, &bob] {
        // Both have the same files.
        for (name, file) in [("circuit", "groth16 a"), ("circuit.wasm", "program a")] {
            let digest = proofmill_server::service::digest(file.as_bytes());
            let path = format!("/v1/keys/{digest}?name={name}");
            assert_eq!(answer(server.put(token, &path, file)).await.0, 201);
        }
    }
    let status = |token: &str| answer(server.get(token, "/status"));
    assert_eq!(status(&alice).await, (200, json!({"status": "ready"})));
    assert_eq!(answer(server.post(&alice, "/cancel")).await.0, 200);
    let input = |token: &str| server.post(token, "/input/circuit").body("{\"a\": \"1\"}");
    assert_eq!(answer(input(&alice)).await, (200, json!("")));
    assert_eq!(answer(input(&bob)).await.0, 200);
    assert_eq!(status(&alice).await.1, json!({"status": "busy"}));

    let job = server.work().await;
    let (proof, public) = (content(TaskOutput::Proof, &job), content(TaskOutput::Public, &job));
    assert_eq!(status(&alice).await.1, json!({"status": "success", "proof": proof, "pubData": public}));
    assert_eq!(status(&bob).await.1, json!({"status": "busy"}), "another's proof is not seen");
    assert_eq!(answer(server.post(&bob, "/cancel")).await.0, 200);
    assert_eq!(status(&bob).await.1, json!({"status": "aborted"}));
    assert_eq!(answer(server.post(&alice, "/cancel")).await.0, 200);
    assert_eq!(status(&alice).await.1["status"], "success");

    assert_eq!(answer(input(&alice)).await.0, 200);
    let job = server.claim().await;
    server.service.report(&job.id, 1, Worked::Failed("wrong signals".to_owned())).await.expect("noted");
    assert_eq!(status(&alice).await.1, json!({"status": "failed", "error": "wrong signals"}));
    assert_eq!(answer(server.post(&alice, "/input/other").body("{}")).await.0, 404);
}
