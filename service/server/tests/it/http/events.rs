//! Server-sent events.

use crate::http::server::{finish, server};
use proofmill_server::{coordinator::Coordinator, store::Worked};
use std::time::Duration;
use tokio::time::timeout;

#[tokio::test]
async fn events_tell_states_and_phases_until_the_end() {
    let server = server().await;
    let id = server.empty_job(&server.admin).await;
    let path = format!("/v1/jobs/{id}/events");
    let mut events = server.get(&server.admin, &path).send().await.expect("events");
    assert_eq!(events.headers()["content-type"], "text/event-stream");
    let mut text = String::new();
    let mut seen = async |word: &str| {
        while !text.contains(word) {
            let chunk =
                timeout(Duration::from_secs(5), events.chunk()).await.expect("in time").expect("a chunk");
            text.push_str(std::str::from_utf8(&chunk.expect("not the end")).expect("text"));
        }
    };
    seen("\"state\":\"queued\"").await;
    let job = server.claim().await;
    seen("\"state\":\"running\"").await;
    for phase in ["witness", "sums"] {
        let beat = Worked::Beat { lease_ms: 10_000, phase: Some(phase.to_owned()) };
        server.service.report(&id, 1, beat).await.expect("noted");
        seen(&format!("\"phase\":\"{phase}\"")).await;
    }
    finish(&server.service, &job).await;
    seen("\"state\":\"done\"").await;
    let end = timeout(Duration::from_secs(5), events.chunk()).await.expect("in time").expect("the end");
    assert!(end.is_none());
    assert!(text.lines().filter(|line| line.starts_with("event: ")).all(|line| line == "event: state"));

    let again =
        server.get(&server.admin, &path).header("last-event-id", "1-done").send().await.expect("events");
    let text = timeout(Duration::from_secs(5), again.text()).await.expect("it ends").expect("text");
    assert_eq!(text.matches("event: state").count(), 1, "{text}");
}
