//! Submitting, seeing, waiting, cancelling, retrying; results.

use crate::http::server::{answer, content, read, server, start};
use proofmill_job::{TaskInput, TaskOutput};
use proofmill_server::{
    access::Scope,
    coordinator::Coordinator,
    http::HttpOptions,
    service::Rules,
    store::{StoreLimits, Worked},
};
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_proof_from_a_form_to_its_result() {
    let server = server().await;
    let alice = server.token("alice", &[Scope::Submit, Scope::Keys]).await;
    let digest = server.key(&alice, "circuit", "groth16 a").await;
    let form = Form::new()
        .part("witness", Part::bytes(vec![7; 3 << 20]))
        .part("job", Part::text(json!({"type": "prove", "key": "circuit"}).to_string()));
    let response = server.post(&alice, "/v1/jobs").multipart(form).send().await.expect("an answer");
    let location = response.headers()["location"].to_str().expect("text").to_owned();
    let (status, job) = read(response).await;
    assert_eq!(status, 202, "{job}");
    assert_eq!(job["task"]["key"], digest.as_str());
    let id = job["id"].as_str().expect("an id");
    assert_eq!(location, format!("/v1/jobs/{id}"));
    assert_eq!(answer(server.get(&alice, &format!("{location}/proof"))).await.0, 409);

    let claimed = server.claim().await;
    let folder = server.service.staging().folder().expect("a folder");
    let witness = server.service.input(id, 1, TaskInput::Witness, folder.path()).await.expect("the witness");
    assert_eq!(std::fs::read(witness).expect("a file"), vec![7; 3 << 20]);
    crate::http::server::finish(&server.service, &claimed).await;
    for output in [TaskOutput::Proof, TaskOutput::Public] {
        let path = format!("{location}/{}", output.name());
        let response = server.get(&alice, &path).send().await.expect("an answer");
        assert_eq!(response.headers()["content-type"], "application/json");
        assert_eq!(response.text().await.expect("text"), content(output, &claimed));
    }
    let (_, job) = answer(server.get(&alice, &location)).await;
    assert_eq!((job["state"].as_str(), job["attempts"].as_u64()), (Some("done"), Some(1)));
    assert_eq!(job["finished"]["phases"][0]["name"], "sums");
    assert_eq!(job["outputs"], json!({"public": {"public": id}}), "what the report had, and no object");
    let (_, list) = answer(server.get(&alice, "/v1/jobs")).await;
    assert_eq!(list["jobs"][0]["outputs"], Value::Null);
    let (_, metrics) = answer(server.get(&server.admin, "/metrics")).await;
    let metrics = metrics.as_str().expect("text");
    assert!(metrics.contains("proofmill_jobs_ended_total{type=\"prove\",state=\"done\"} 1"), "{metrics}");
    assert!(metrics.contains("proofmill_phase_duration_seconds_sum{phase=\"sums\"} 0.5"), "{metrics}");
    assert!(metrics.contains("proofmill_queue_jobs 0"), "{metrics}");
}

#[tokio::test]
async fn large_integers_in_json_arrive_as_they_were_sent() {
    let server = server().await;
    let alice = server.token("alice", &[Scope::Submit, Scope::Keys]).await;
    server.key(&alice, "circuit", "plonk a").await;
    server.key(&alice, "circuit.wasm", "program a").await;
    let signals =
        r#"{"a": 21888242871839275222246405745257275088548364400416034343698204186575808495617, "b": [1.0]}"#;
    let body = format!(
        r#"{{"inputs": {{"signals": {signals}}}, "type": "prove", "key": "circuit", "program": "circuit.wasm"}}"#
    );
    let request = server.post(&alice, "/v1/jobs").header("content-type", "application/json; charset=utf-8");
    let (status, job) = answer(request.body(body)).await;
    assert_eq!(status, 202, "{job}");
    let claimed = server.claim().await;
    let folder = server.service.staging().folder().expect("a folder");
    let place =
        server.service.input(&claimed.id, 1, TaskInput::Signals, folder.path()).await.expect("the input");
    assert_eq!(std::fs::read_to_string(place).expect("a file"), signals);
}

#[tokio::test]
async fn a_repeated_submission_is_the_same_job() {
    let server = server().await;
    let alice = server.token("alice", &[Scope::Submit, Scope::Keys]).await;
    let bob = server.token("bob", &[Scope::Submit, Scope::Keys]).await;
    let submit = |token: &str, key: &str, job: Value| {
        answer(server.post(token, "/v1/jobs").header("idempotency-key", key).json(&job))
    };
    let first = submit(&alice, "k1", json!({"type": "empty"})).await;
    let second = submit(&alice, "k1", json!({"type": "empty", "priority": 0})).await;
    let other = submit(&alice, "k1", json!({"type": "empty", "attempts": 2})).await;
    assert_eq!((first.0, second.0, other.0), (202, 200, 422), "{first:?} {second:?} {other:?}");
    assert_eq!(first.1["id"], second.1["id"]);
    assert_eq!(submit(&bob, "k1", json!({"type": "empty"})).await.0, 202, "names are each token's own");
    for (key, inside) in [("a b", None), ("k2", Some("k3")), ("é", None)] {
        let job = json!({"type": "empty", "idempotency_key": inside});
        let response = server.post(&alice, "/v1/jobs").header("idempotency-key", key.as_bytes()).json(&job);
        assert_eq!(answer(response).await.0, 400, "{key}");
    }
    // The same inputs as JSON or as a form, in any order, are the same submission.
    server.key(&alice, "vk", "verification a").await;
    let job = json!({"type": "verify", "key": "vk", "inputs": {"proof": {"a": 1}, "public": ["1"]}});
    let inline = submit(&alice, "k4", job).await;
    let form = Form::new()
        .part("public", Part::text("[\"1\"]"))
        .part("proof", Part::text("{\"a\":1}"))
        .part("job", Part::text("{\"type\": \"verify\", \"key\": \"vk\"}"));
    let request = server.post(&alice, "/v1/jobs").header("idempotency-key", "k4").multipart(form);
    let repeated = answer(request).await;
    assert_eq!((inline.0, repeated.0), (202, 200), "{inline:?} {repeated:?}");
    let racing: Vec<_> = (0..20).map(|_| submit(&alice, "k5", json!({"type": "empty"}))).collect();
    let answers = futures::future::join_all(racing).await;
    assert_eq!(answers.iter().filter(|answer| answer.0 == 202).count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| answer.0 == 200).count(), 19, "{answers:?}");
}

#[tokio::test]
async fn a_preferred_wait_answers_with_the_end() {
    let server = server().await;
    let submit = |prefer: &'static str| {
        server.post(&server.admin, "/v1/jobs").header("prefer", prefer).json(&json!({"type": "empty"})).send()
    };
    let late = submit("respond-async, wait=0").await.expect("an answer");
    assert_eq!(
        (late.status().as_u16(), late.headers()["preference-applied"].as_bytes()),
        (202, &b"wait=0"[..])
    );
    let waiting = tokio::spawn(submit("wait=30"));
    server.work().await;
    server.work().await;
    let response = waiting.await.expect("no panic").expect("an answer");
    assert_eq!(response.headers()["preference-applied"], "wait=30");
    let (status, job) = read(response).await;
    assert_eq!((status, job["state"].as_str()), (200, Some("done")));
}

#[tokio::test]
async fn a_wait_is_bounded() {
    let options = HttpOptions { longest_wait: Duration::from_secs(1), ..HttpOptions::default() };
    let server = start(options, Rules::default(), None).await;
    let request = server.post(&server.admin, "/v1/jobs").header("prefer", "wait=100000");
    let response = request.json(&json!({"type": "empty"})).send().await.expect("an answer");
    assert_eq!(
        (response.status().as_u16(), response.headers()["preference-applied"].as_bytes()),
        (202, &b"wait=1"[..])
    );
}

#[tokio::test]
async fn waiting_ends_with_the_job_or_the_time() {
    let server = server().await;
    let job = server.empty_job(&server.admin).await;
    let began = Instant::now();
    let (_, view) = answer(server.get(&server.admin, &format!("/v1/jobs/{job}?wait=1"))).await;
    assert_eq!(view["state"], "queued");
    assert!(began.elapsed() >= Duration::from_secs(1));
    let waiting = tokio::spawn(server.get(&server.admin, &format!("/v1/jobs/{job}?wait=30")).send());
    tokio::time::sleep(Duration::from_millis(100)).await;
    let (status, cancelled) = answer(server.delete(&server.admin, &format!("/v1/jobs/{job}"))).await;
    assert_eq!((status, cancelled["state"].as_str()), (200, Some("cancelled")));
    let (_, view) = read(waiting.await.expect("no panic").expect("an answer")).await;
    assert_eq!(view["state"], "cancelled");
    assert_eq!(answer(server.delete(&server.admin, &format!("/v1/jobs/{job}"))).await.0, 409);
    assert_eq!(answer(server.post(&server.admin, &format!("/v1/jobs/{job}/retry"))).await.0, 409);
    for wrong in ["wait=x", "wait=-1", "other=1"] {
        let path = format!("/v1/jobs/{job}?{wrong}");
        assert_eq!(answer(server.get(&server.admin, &path)).await.0, 400, "{wrong}");
    }
}

#[tokio::test]
async fn a_dead_job_is_retried() {
    let server = server().await;
    let request = server.post(&server.admin, "/v1/jobs").json(&json!({"type": "empty", "attempts": 1}));
    let id = answer(request).await.1["id"].as_str().expect("an id").to_owned();
    server.claim().await;
    let lost = Worked::Lost { message: "killed".to_owned(), pause_ms: 0 };
    server.service.report(&id, 1, lost).await.expect("noted");
    let (_, view) = answer(server.get(&server.admin, &format!("/v1/jobs/{id}"))).await;
    assert_eq!((view["state"].as_str(), view["error"].as_str()), (Some("dead"), Some("killed")));
    let (status, view) = answer(server.post(&server.admin, &format!("/v1/jobs/{id}/retry"))).await;
    assert_eq!((status, view["state"].as_str()), (200, Some("queued")));
    server.work().await;
    let (_, view) = answer(server.get(&server.admin, &format!("/v1/jobs/{id}"))).await;
    assert_eq!(view["state"], "done");
}

#[tokio::test]
async fn jobs_are_listed_by_pages() {
    let server = server().await;
    let alice = server.token("alice", &[Scope::Submit]).await;
    let mut ids = Vec::new();
    for _ in 0..7 {
        ids.push(server.empty_job(&alice).await);
    }
    server.work().await;
    ids.reverse();
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let (status, page) = answer(server.get(&alice, &format!("/v1/jobs?limit=3{cursor}"))).await;
        assert_eq!(status, 200, "{page}");
        let jobs = page["jobs"].as_array().expect("jobs");
        assert!(jobs.len() <= 3);
        found.extend(jobs.iter().map(|job| job["id"].as_str().expect("an id").to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(found, ids);
    let (_, done) = answer(server.get(&alice, "/v1/jobs?state=done")).await;
    assert_eq!(done["jobs"].as_array().expect("jobs").len(), 1);
    for wrong in ["limit=0", "limit=1001", "limit=x", "state=nothing", "x=1", "limit=-1"] {
        assert_eq!(answer(server.get(&alice, &format!("/v1/jobs?{wrong}"))).await.0, 400, "{wrong}");
    }
    assert_eq!(answer(server.get(&alice, "/v1/jobs?cursor=x")).await.0, 400);
}

#[tokio::test]
async fn each_job_of_a_batch_is_answered_on_its_own() {
    let server = server().await;
    let alice = server.token("alice", &[Scope::Submit]).await;
    let jobs = json!([
        {"type": "empty", "idempotency_key": "b1"},
        {"type": "nothing"},
        {"type": "empty", "idempotency_key": "b1"},
        {"type": "empty", "idempotency_key": "b1", "attempts": 9},
        {"type": "verify-bls", "inputs": {"sets": []}},
        {"type": "verify-bls"},
        {"type": "verify", "key": "none", "inputs": {"proof": 1, "public": 2}},
        {"type": "empty", "priority": 5},
        7,
    ]);
    let (status, answers) = answer(server.post(&alice, "/v1/jobs/batch").json(&jobs)).await;
    assert_eq!(status, 200, "{answers}");
    let statuses: Vec<_> =
        answers.as_array().expect("answers").iter().map(|answer| answer["status"].as_u64()).collect();
    let expected = [202, 400, 200, 422, 202, 400, 404, 403, 400].map(Some);
    assert_eq!(statuses, expected, "{answers}");
    assert_eq!(answers[0]["job"]["id"], answers[2]["job"]["id"]);
    assert!(answers[5]["problem"]["detail"].as_str().expect("text").contains("sets"));
    assert_eq!(answer(server.post(&alice, "/v1/jobs/batch").json(&json!([]))).await, (200, json!([])));
    let batch = || {
        let jobs = json!([{"type": "empty"}, {"type": "empty"}, {"type": "empty", "idempotency_key": "own"}]);
        answer(server.post(&alice, "/v1/jobs/batch").header("idempotency-key", "name").json(&jobs))
    };
    let (first, second) = (batch().await.1, batch().await.1);
    for place in 0..3 {
        assert_eq!(
            (first[place]["status"].as_u64(), second[place]["status"].as_u64()),
            (Some(202), Some(200))
        );
        assert_eq!(first[place]["job"]["id"], second[place]["job"]["id"]);
    }
    assert_ne!(first[0]["job"]["id"], first[1]["job"]["id"]);
    let many = vec![json!({"type": "empty"}); 1001];
    assert_eq!(answer(server.post(&alice, "/v1/jobs/batch").json(&many)).await.0, 413);
    assert_eq!(answer(server.post(&alice, "/v1/jobs/batch").json(&json!({}))).await.0, 400);
}

#[tokio::test]
async fn a_full_queue_says_when_to_come_again() {
    let rules =
        Rules { limits: StoreLimits { of_owner: 2, of_all: 3, ..StoreLimits::NONE }, ..Rules::default() };
    let server = start(Default::default(), rules, None).await;
    let alice = server.token("alice", &[Scope::Submit]).await;
    server.empty_job(&alice).await;
    server.empty_job(&alice).await;
    let request = server.post(&alice, "/v1/jobs").json(&json!({"type": "empty"}));
    let response = request.send().await.expect("an answer");
    assert_eq!(response.headers()["retry-after"], "1");
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    assert_eq!(read(response).await.0, 429);
    let (_, queue) = answer(server.get(&server.admin, "/v1/queue")).await;
    assert_eq!(queue["waiting"][0]["jobs"], 2, "{queue}");
}

#[tokio::test]
async fn wrong_submissions_say_what_is_wrong() {
    let server = server().await;
    let alice = server.token("alice", &[Scope::Submit, Scope::Keys]).await;
    server.key(&alice, "vk", "verification a").await;
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let cases = [
        ("{}", 400, "type"),
        ("", 400, "EOF"),
        ("[]", 400, "job"),
        ("\u{0}", 400, "job"),
        (r#"{"type":"empty","x":1}"#, 400, "x"),
        (r#"{"type":"verify","key":"vk","typo":1}"#, 400, "typo"),
        (r#"{"type":"empty","type":"empty"}"#, 400, "type"),
        (r#"{"type":"prove","key":"vk","inputs":{"witness":1}}"#, 400, "multipart"),
        (r#"{"type":"verify","key":"vk","inputs":{"proof":1}}"#, 400, "public"),
        (r#"{"type":"verify","key":"vk","inputs":{"proof":1,"public":2,"sets":3}}"#, 400, "sets"),
        (r#"{"type":"verify","key":"vk","inputs":{"other":1}}"#, 400, "other"),
        (r#"{"type":"verify","key":"no\u0000ne","inputs":{"proof":1,"public":2}}"#, 404, "no"),
        (r#"{"type":"prove-stark","key":"vk","bits":-1,"inputs":{}}"#, 400, "-1"),
        (r#"{"type":"empty","timeout_s":1e99}"#, 400, "job"),
        (r#"{"type":"empty","expires_in_s":18446744073709551615}"#, 400, "expires_in_s"),
        (r#"{"type":"empty","expires_in_s":31622401}"#, 400, "expires_in_s"),
        (r#"{"type":"empty","expires_in_s":31622400}"#, 202, ""),
        (r#"{"type":"empty","priority":-9223372036854775808}"#, 202, ""),
        (r#"{"type":"empty","priority":1}"#, 403, "priority"),
    ];
    for (body, expected, word) in cases {
        let request = server.post(&alice, "/v1/jobs").header("content-type", "application/json").body(body);
        let (status, answer) = answer(request).await;
        assert_eq!(status, expected, "{body}: {answer}");
        if status >= 400 {
            let detail = answer["detail"].as_str().expect("a detail");
            assert!(detail.contains(word) && !detail.contains('\n'), "{body}: {detail}");
        }
    }
    for body in [nested.clone(), format!(r#"{{"type":"empty","inputs":{nested}}}"#)] {
        let request = server.post(&alice, "/v1/jobs").header("content-type", "application/json").body(body);
        assert_eq!(answer(request).await.0, 400);
    }
    let request = server.post(&alice, "/v1/jobs").body("x");
    assert_eq!(answer(request).await.0, 415);
    assert_eq!(answer(server.request(reqwest::Method::PATCH, "/v1/jobs").bearer_auth(&alice)).await.0, 405);
    assert_eq!(answer(server.get(&alice, "/v1/nothing")).await.0, 404);
    assert_eq!(answer(server.get(&alice, "/v1/jobs/%ff%fe")).await.0, 400);
    assert_eq!(answer(server.get(&alice, "/v1/jobs/..%2f..%2fkeys")).await.0, 404);
    assert_eq!(server.staged(), 0);
}
