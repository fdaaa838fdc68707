//! How a server ends.

use crate::http::server::{answer, read, server};
use proofmill_server::http::Stage;
use reqwest::Method;
use std::time::Duration;
use tokio::{net::TcpStream, time::timeout};

#[tokio::test]
async fn a_server_drains_then_closes() {
    let server = server().await;
    let id = server.empty_job(&server.admin).await;
    let path = format!("/v1/jobs/{id}");
    let waiting = tokio::spawn(server.get(&server.admin, &format!("{path}?wait=60")).send());
    let events = server.get(&server.admin, &format!("{path}/events")).send().await.expect("events");
    let ready = || async { answer(server.request(Method::GET, "/readyz")).await };
    assert_eq!(ready().await.0, 200);

    server.stage.send_replace(Stage::Draining);
    let (status, body) = ready().await;
    assert_eq!((status, body["detail"].as_str()), (503, Some("not ready")));
    assert_eq!(
        answer(server.get(&server.admin, &path)).await.1["state"],
        "queued",
        "owners are still answered"
    );
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!waiting.is_finished());

    server.stage.send_replace(Stage::Closing);
    let waited = timeout(Duration::from_secs(3), waiting).await.expect("at once").expect("no panic");
    let (status, view) = read(waited.expect("an answer")).await;
    assert_eq!((status, view["state"].as_str()), (200, Some("queued")));
    timeout(Duration::from_secs(3), events.text()).await.expect("at once").expect("the end");
    timeout(Duration::from_secs(3), server.served)
        .await
        .expect("at once")
        .expect("no panic")
        .expect("no error");
    assert!(TcpStream::connect(server.address).await.is_err());
}
