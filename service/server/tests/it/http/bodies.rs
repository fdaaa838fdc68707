//! Bodies that are too large, too slow, cut off or malformed.

use crate::http::server::{Server, answer, eventually, start};
use proofmill_server::{
    access::Scope,
    http::{BodyLimits, HttpOptions},
    service::Rules,
};
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};

async fn small() -> Server {
    let bodies = BodyLimits {
        most_json: 1000,
        most_batch: 4000,
        most_inputs: 4 << 20,
        most_key: 100_000,
        most_staged: 5 << 20,
        most_memory: 16_000,
        longest_pause: Duration::from_millis(400),
        least_rate: 1000,
    };
    let options = HttpOptions {
        bodies,
        longest_headers: Duration::from_millis(500),
        longest_unread: Duration::from_millis(500),
        ..HttpOptions::default()
    };
    start(options, Rules::default(), None).await
}

/// Sends the head of a request.
async fn open(server: &Server, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.expect("a connection");
    let head = format!("{head}\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n", server.admin);
    stream.write_all(head.as_bytes()).await.expect("sent");
    stream
}

/// What comes until the server closes, or nothing more for two seconds.
async fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(Ok(length @ 1..)) = timeout(Duration::from_secs(2), stream.read(&mut piece)).await {
        text.extend_from_slice(&piece[..length]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[tokio::test]
async fn too_large_is_413() {
    let server = small().await;
    let json = |size: usize| format!("{{\"type\":\"empty\"{}}}", " ".repeat(size));
    for (path, size) in [("/v1/jobs", 1000), ("/v1/jobs/batch", 4000), ("/v1/tokens", 1000)] {
        let request = server.post(&server.admin, path).header("content-type", "application/json");
        assert_eq!(answer(request.body(json(size))).await.0, 413, "{path}");
    }
    let path = format!("/v1/keys/{}", "0".repeat(64));
    for length in ["content-length: 100001", "transfer-encoding: chunked"] {
        let mut stream = open(&server, &format!("PUT {path} HTTP/1.1\r\n{length}")).await;
        let chunked = length.starts_with("transfer");
        if chunked {
            stream.write_all(b"186a1\r\n").await.expect("sent");
        }
        stream.write_all(&vec![0; 100_001]).await.expect("sent");
        assert!(rest(&mut stream).await.starts_with("HTTP/1.1 413"), "{length}");
    }
    assert_eq!(server.staged(), 0);
}

#[tokio::test]
async fn a_tokens_uploads_are_bounded_together() {
    let server = small().await;
    let form = |size: usize| {
        let job =
            "--b\r\ncontent-disposition: form-data; name=\"witness\"\r\n\r\n".to_owned() + &"x".repeat(size);
        let head = format!(
            "POST /v1/jobs HTTP/1.1\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: {}",
            size + 1000
        );
        (head, job)
    };
    let (head, body) = form(3 << 20);
    let mut first = open(&server, &head).await;
    first.write_all(body.as_bytes()).await.expect("sent");
    sleep(Duration::from_millis(150)).await;
    let mut second = open(&server, &head).await;
    drop(second.write_all(body.as_bytes()).await);
    let answer = rest(&mut second).await;
    assert!(answer.starts_with("HTTP/1.1 429") && answer.contains("retry-after: 1"), "{answer}");
    drop(first);
    eventually("the first upload's file is deleted", || server.staged() == 0).await;
}

#[tokio::test]
async fn bodies_in_memory_are_bounded_together() {
    let server = small().await;
    let alice = server.token("alice", &[Scope::Submit]).await;
    let head = "POST /v1/jobs/batch HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 4000";
    // The pauses of bodies end this one.
    let mut first = open(&server, head).await;
    first.write_all(&[b' '; 3500]).await.expect("sent");
    let large = format!("[{}]", " ".repeat(3000));
    let submit = |token: &str| {
        let request = server.post(token, "/v1/jobs/batch").header("content-type", "application/json");
        request.body(large.clone())
    };
    let mut refused = false;
    for _ in 0..100 {
        let response = submit(&server.admin).send().await.expect("an answer");
        refused = response.status() == 429 && response.headers()["retry-after"] == "1";
        if refused {
            break;
        }
        first = open(&server, head).await;
        first.write_all(&[b' '; 3500]).await.expect("sent");
    }
    assert!(refused, "a quarter of all is the token's");
    assert_eq!(answer(submit(&alice)).await.0, 200, "others have theirs");
    drop(first);
    let mut freed = false;
    for _ in 0..100 {
        freed = answer(submit(&server.admin)).await.0 == 200;
        if freed {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    assert!(freed, "what has ended counts no more");
}

#[tokio::test]
async fn a_job_of_a_batch_is_bounded_as_one_alone() {
    let server = small().await;
    let large = format!("{{\"type\":\"empty\"{}}}", " ".repeat(1000));
    let batch = format!("[{{\"type\":\"empty\"}},{large}]");
    let request = server.post(&server.admin, "/v1/jobs/batch").header("content-type", "application/json");
    let (status, answers) = answer(request.body(batch)).await;
    assert_eq!((status, &answers[0]["status"], &answers[1]["status"]), (200, &202.into(), &413.into()));
    let numbers = format!("[{}1]", "1,".repeat(1500));
    let request = server.post(&server.admin, "/v1/jobs/batch").header("content-type", "application/json");
    let (status, problem) = answer(request.body(numbers)).await;
    assert_eq!(status, 413, "{problem}");
    for malformed in ["[1,]", "[1", "{}", "[] 1", ""] {
        let request = server.post(&server.admin, "/v1/jobs/batch").header("content-type", "application/json");
        assert_eq!(answer(request.body(malformed)).await.0, 400, "{malformed}");
    }
}

#[tokio::test]
async fn a_body_that_stops_or_drips_is_cut_off() {
    let server = small().await;
    let head = format!("PUT /v1/keys/{} HTTP/1.1\r\ncontent-length: 5000", "0".repeat(64));
    let mut stopped = open(&server, &head).await;
    stopped.write_all(b"some").await.expect("sent");
    assert!(rest(&mut stopped).await.starts_with("HTTP/1.1 408"));

    let (mut dripping, mut writer) = open(&server, &head).await.into_split();
    let drip = tokio::spawn(async move {
        while writer.write_all(b"x").await.is_ok() {
            sleep(Duration::from_millis(100)).await;
        }
    });
    let mut text = vec![0; 4096];
    let length =
        timeout(Duration::from_secs(5), dripping.read(&mut text)).await.expect("an answer").expect("text");
    assert!(text[..length].starts_with(b"HTTP/1.1 408"));
    drip.abort();
    eventually("files are deleted", || server.staged() == 0).await;
}

#[tokio::test]
async fn headers_that_do_not_end_are_cut_off() {
    let server = small().await;
    let mut streams = Vec::new();
    for start in ["", "GET / HT", "GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: "] {
        let mut stream = TcpStream::connect(server.address).await.expect("a connection");
        stream.write_all(start.as_bytes()).await.expect("sent");
        streams.push(stream);
    }
    for mut stream in streams {
        let mut text = Vec::new();
        let ended = timeout(Duration::from_secs(5), stream.read_to_end(&mut text)).await;
        assert!(ended.is_ok(), "the connection is closed");
    }
    let mut large = TcpStream::connect(server.address).await.expect("a connection");
    let head = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "x".repeat(200_000));
    drop(large.write_all(head.as_bytes()).await);
    assert!(!rest(&mut large).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_cut_off() {
    let server = small().await;
    // Answers that nobody reads fill the buffers of both sides.
    let mut stream = TcpStream::connect(server.address).await.expect("a connection");
    let request = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let flood = async {
        loop {
            stream.write_all(request).await?;
        }
        #[allow(unreachable_code, reason = "says the type")]
        Ok::<(), std::io::Error>(())
    };
    let ended = timeout(Duration::from_secs(20), flood).await;
    assert!(ended.expect("the server closes the connection").is_err());
}

#[tokio::test]
async fn uploads_that_break_off_leave_nothing() {
    let server = small().await;
    let key = format!("PUT /v1/keys/{} HTTP/1.1\r\ncontent-length: 90000", "0".repeat(64));
    let form =
        "POST /v1/jobs HTTP/1.1\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 90000"
            .to_owned();
    let part = "--b\r\ncontent-disposition: form-data; name=\"witness\"\r\n\r\n";
    for (head, start) in [(key, ""), (form, part)] {
        let mut stream = open(&server, &head).await;
        stream.write_all(start.as_bytes()).await.expect("sent");
        stream.write_all(&[1; 50_000]).await.expect("sent");
        eventually("a file is being written", || server.staged() == 1).await;
        drop(stream);
        eventually("it is deleted", || server.staged() == 0).await;
    }
    let (_, jobs) = answer(server.get(&server.admin, "/v1/jobs")).await;
    assert_eq!(jobs["jobs"], serde_json::json!([]));
    assert!(!server.folder.path().join("objects").join("jobs").exists());
}

#[tokio::test]
async fn malformed_forms_are_refused() {
    let server = small().await;
    let alice = server.token("alice", &[Scope::Submit]).await;
    let part = |name: &str, content: &str| {
        format!("--b\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{content}\r\n")
    };
    let job = part("job", "{\"type\":\"verify-bls\"}");
    let cases = [
        (String::new(), "form"),
        ("--b--\r\n".to_owned(), "job"),
        ("garbage".to_owned(), "form"),
        ("x".repeat(2 << 20), "outside"),
        (format!("{job}--b--"), "sets"),
        (format!("{job}{job}--b--"), "twice"),
        (format!("{job}{}--b--", part("other", "1")), "other"),
        (format!("{job}{}{}--b--", part("sets", "1"), part("sets", "1")), "twice"),
        (format!("{job}{}--b--", part("", "1")), "name"),
        (format!("{job}--b\r\n\r\nno disposition\r\n--b--"), ""),
        (format!("{}--b--", part("job", &" ".repeat(1001))), "1000"),
        (format!("{}--b--", part("job", "{\"type\":\"empty\",\"inputs\":{}}")), "inputs"),
        (format!("{job}{}", part("sets", "[]")), "form"),
        (format!("--b\r\nx: {}\r\n\r\n1\r\n--b--", "y".repeat(3 << 20)), ""),
        (format!("--b\r\n{}\r\n1\r\n--b--", "x: y\r\n".repeat(1000)), ""),
    ];
    for (body, word) in cases {
        let request =
            server.post(&alice, "/v1/jobs").header("content-type", "multipart/form-data; boundary=b");
        let shown = body.chars().take(120).collect::<String>();
        let (status, answer) = answer(request.body(body)).await;
        assert!((400..=413).contains(&status), "{shown}: {status} {answer}");
        assert!(answer["detail"].as_str().expect("a detail").contains(word), "{shown}: {answer}");
    }
    let request = server.post(&alice, "/v1/jobs").header("content-type", "multipart/form-data");
    assert_eq!(answer(request.body(job)).await.0, 400);
    assert_eq!(server.staged(), 0);
}
