//! Connections: their number, and those that nobody uses.

use crate::http::server::{answer, eventually, start};
use proofmill_server::{http::HttpOptions, service::Rules};
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// Whether the server has closed the connection, on which it sends nothing.
fn is_closed(stream: &TcpStream) -> bool {
    match stream.try_read(&mut [0; 16]) {
        Ok(length) => length == 0,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    }
}

#[tokio::test]
async fn connections_are_bounded() {
    let options = HttpOptions { most_connections: 40, ..HttpOptions::default() };
    let server = start(options, Rules::default(), None).await;
    let mut idle = Vec::new();
    for _ in 0..60 {
        idle.push(TcpStream::connect(server.address).await.expect("a connection"));
    }
    let closed = |idle: &[TcpStream]| idle.iter().filter(|stream| is_closed(stream)).count();
    eventually("what is too many is closed", || closed(&idle) >= 20).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(closed(&idle), 20, "the others stay");
    drop(idle);
    let mut served = false;
    for _ in 0..500 {
        // The server may not have seen yet that they are closed.
        served = server.request(reqwest::Method::GET, "/healthz").send().await.is_ok();
        if served {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(served, "closed connections count no more");
}

#[tokio::test]
async fn connections_that_ask_nothing_make_place_for_others() {
    let longest_headers = Duration::from_millis(300);
    let options = HttpOptions { most_connections: 40, longest_headers, ..HttpOptions::default() };
    let server = start(options, Rules::default(), None).await;
    let mut idle = Vec::new();
    for _ in 0..60 {
        idle.push(TcpStream::connect(server.address).await.expect("a connection"));
    }
    eventually("all are closed", || idle.iter().all(is_closed)).await;
    assert_eq!(answer(server.request(reqwest::Method::GET, "/healthz")).await.0, 200);
}

#[tokio::test]
async fn an_idle_connection_of_http_2_is_closed() {
    // Pings that nobody answers would end it, too, but later.
    let longest_headers = Duration::from_secs(3600);
    let options =
        HttpOptions { longest_idle: Duration::from_millis(300), longest_headers, ..HttpOptions::default() };
    let server = start(options, Rules::default(), None).await;
    let mut stream = TcpStream::connect(server.address).await.expect("a connection");
    // The preface, no settings, and one request: `GET /` of `localhost` over `http`, in HPACK.
    let mut request = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    let fields = b"\x82\x86\x84\x41\x09localhost";
    request.extend([0, 0, fields.len() as u8, 1, 5, 0, 0, 0, 1]);
    request.extend(fields);
    stream.write_all(&request).await.expect("sent");
    let mut answer = Vec::new();
    let ended = timeout(Duration::from_secs(60), stream.read_to_end(&mut answer)).await;
    assert!(ended.is_ok(), "the server closes the connection");
    let page = b"<!doctype html";
    let mut places = answer.windows(page.len());
    assert!(places.any(|place| place.eq_ignore_ascii_case(page)), "{}", String::from_utf8_lossy(&answer));
}
