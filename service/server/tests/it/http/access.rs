//! Each route of the OpenAPI document, without, with a wrong, with another's and with a weak token.

use crate::http::server::{Server, answer, read, server, start};
use proofmill_server::{
    access::Scope,
    http::{HttpOptions, openapi},
    service::Rules,
};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use std::collections::BTreeSet;

struct Route {
    method: Method,
    path: String,
    tag: String,
}

/// All routes of the document.
fn routes() -> Vec<Route> {
    let document: Value = serde_json::from_str(&openapi()).expect("JSON");
    let (mut routes, mut ids) = (Vec::new(), BTreeSet::new());
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let tag = operation["tags"][0].as_str().expect("a tag").to_owned();
            let id = operation["operationId"].as_str().expect("an id");
            assert!(id.starts_with(&tag) && ids.insert(id.to_owned()), "{id} is another operation's id");
            let method = method.to_ascii_uppercase().parse().expect("a method");
            routes.push(Route { method, path: path.clone(), tag });
        }
    }
    assert!(routes.len() > 25, "{}", routes.len());
    routes
}

/// The scope that routes with this tag need; `None` for those that are open.
fn scope(tag: &str) -> Option<Scope> {
    match tag {
        "health" => None,
        "jobs" | "proverServer" => Some(Scope::Submit),
        "keys" => Some(Scope::Keys),
        "queue" => Some(Scope::Observe),
        "tokens" => Some(Scope::Admin),
        "work" => Some(Scope::Work),
        tag => panic!("say which scope {tag} needs"),
    }
}

fn filled(path: &str, job: &str, key: &str) -> String {
    let names = [
        ("{id}", job),
        ("{key}", key),
        ("{digest}", key),
        ("{fence}", "1"),
        ("{input}", "signals"),
        ("{output}", "proof"),
        ("{name}", "nobody"),
        ("{circuit}", key),
    ];
    let path = names.iter().fold(path.to_owned(), |path, (name, value)| path.replace(name, value));
    assert!(!path.contains('{'), "fill {path}");
    path
}

async fn status_and_text(request: RequestBuilder) -> (u16, String) {
    let response = request.send().await.expect("an answer");
    (response.status().as_u16(), response.text().await.expect("a body"))
}

#[tokio::test]
async fn strangers_learn_nothing() {
    let server = server().await;
    let alice = server.token("alice", &[Scope::Submit, Scope::Keys]).await;
    let (job, key) = (server.empty_job(&alice).await, server.key(&alice, "circuit", "groth16 a").await);
    let wrong = [
        "proofmill_".to_owned() + &"0".repeat(64),
        "proofmill_".to_owned(),
        "x".to_owned(),
        alice[..alice.len() - 1].to_owned(),
    ];
    let mut bodies = std::collections::HashSet::new();
    for route in routes().iter().filter(|route| scope(&route.tag).is_some()) {
        let request = || server.request(route.method.clone(), &filled(&route.path, &job, &key));
        let mut requests = vec![request(), request().header("authorization", format!("Basic {alice}"))];
        requests.extend(wrong.iter().map(|secret| request().bearer_auth(secret)));
        requests.push(request().header("authorization", alice.as_str()));
        for request in requests {
            let response = request.send().await.expect("an answer");
            assert_eq!(response.status(), 401, "{} {}", route.method, route.path);
            assert_eq!(response.headers()["www-authenticate"], "Bearer");
            bodies.insert(response.text().await.expect("a body"));
        }
    }
    for path in ["/nothing", "/v1", "/v1/jobs/x/y/z", "/docs/x"] {
        let (status, body) = status_and_text(server.request(Method::GET, path)).await;
        assert_eq!(status, 401, "{path}");
        bodies.insert(body);
    }
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    for path in ["/", "/docs", "/docs/docs.js", "/docs/docs.css", "/healthz", "/readyz", "/openapi.json"] {
        assert_eq!(status_and_text(server.request(Method::GET, path)).await.0, 200, "{path}");
    }
}

#[tokio::test]
async fn each_route_needs_its_scope() {
    let server = server().await;
    let mut tokens = Vec::new();
    for scope in Scope::ALL {
        tokens.push((scope, server.token(&format!("only-{}", scope.name()), &[scope]).await));
    }
    let (job, key) = ("0".repeat(32), "0".repeat(64));
    for route in routes() {
        let Some(needed) = scope(&route.tag) else { continue };
        for (scope, token) in &tokens {
            let path = filled(&route.path, &job, &key);
            let request = server.request(route.method.clone(), &path).bearer_auth(token);
            let (status, body) = answer(request).await;
            let may = *scope == needed || *scope == Scope::Admin;
            assert_eq!(status != 403, may, "{} {path} with {}: {status} {body}", route.method, scope.name());
        }
    }
}

#[tokio::test]
async fn what_is_anothers_is_not_there() {
    let server = server().await;
    let alice = server.token("alice", &[Scope::Submit, Scope::Keys]).await;
    let bob = server.token("bob", &[Scope::Submit, Scope::Keys]).await;
    let (job, key) = (server.empty_job(&alice).await, server.key(&alice, "circuit", "groth16 a").await);
    let (no_job, no_key) = ("0".repeat(32), "0".repeat(64));
    for route in
        routes().iter().filter(|route| matches!(route.tag.as_str(), "jobs" | "keys" | "proverServer"))
    {
        if !route.path.contains('{') {
            continue;
        }
        for (job, key, no_key) in [(&job, key.as_str(), no_key.as_str()), (&job, "circuit", "nothing")] {
            let request = |path: String| server.request(route.method.clone(), &path).bearer_auth(&bob);
            let theirs = status_and_text(request(filled(&route.path, job, key))).await;
            let missing = status_and_text(request(filled(&route.path, &no_job, no_key))).await;
            let theirs = (theirs.0, theirs.1.replace(job.as_str(), &no_job).replace(key, no_key));
            assert_eq!(theirs, missing, "{} {}", route.method, route.path);
            assert!(theirs.0 >= 400, "{} {}: {}", route.method, route.path, theirs.0);
        }
    }
    for path in ["/v1/jobs", "/v1/keys"] {
        let (_, body) = answer(server.get(&bob, path)).await;
        assert!(!body.to_string().contains(&job) && !body.to_string().contains(&key), "{body}");
    }
    let (status, body) = answer(server.get(&server.admin, &format!("/v1/jobs/{job}"))).await;
    assert_eq!(status, 200, "administrators see all: {body}");
}

#[tokio::test]
async fn a_revoked_token_is_refused_within_a_second() {
    let server = server().await;
    let new = serde_json::json!({"name": "carol", "scopes": ["submit"], "expires_in_s": 3600});
    let (status, made) = answer(server.post(&server.admin, "/v1/tokens").json(&new)).await;
    assert_eq!(status, 201, "{made}");
    let carol = made["secret"].as_str().expect("a secret");
    let job = server.empty_job(carol).await;
    assert_eq!(answer(server.post(&server.admin, "/v1/tokens").json(&new)).await.0, 409);
    let (_, list) = answer(server.get(&server.admin, "/v1/tokens")).await;
    assert!(list.to_string().contains("carol") && !list.to_string().contains(&carol[10..]), "{list}");

    let events = server.get(carol, &format!("/v1/jobs/{job}/events")).send().await.expect("events");
    let waiting = tokio::spawn(server.get(carol, &format!("/v1/jobs/{job}?wait=2")).send());
    assert_eq!(answer(server.delete(&server.admin, "/v1/tokens/carol")).await.0, 204);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(answer(server.get(carol, "/v1/jobs")).await.0, 401);
    let waited = waiting.await.expect("no panic").expect("an answer");
    assert_eq!(read(waited).await.0, 401, "also if it waited since before");
    let rest = tokio::time::timeout(std::time::Duration::from_secs(5), events.text()).await;
    assert!(rest.expect("the events end").expect("text").contains("queued"));
    assert_eq!(answer(server.delete(&server.admin, "/v1/tokens/carol")).await.0, 404);
}

#[tokio::test]
async fn other_hosts_and_origins_are_refused() {
    let options =
        HttpOptions { hosts: vec!["localhost".to_owned(), "127.0.0.1".to_owned()], ..HttpOptions::default() };
    let server = start(options, Rules::default(), None).await;
    for (host, expected) in
        [("localhost:1", 200), ("127.0.0.1", 200), ("evil.example", 421), ("localhost.evil.example:80", 421)]
    {
        let request = server.request(Method::GET, "/healthz").header("host", host);
        assert_eq!(status_and_text(request).await.0, expected, "{host}");
    }
    let own = format!("http://{}", server.address);
    for (origin, expected) in [(own.as_str(), 202), ("http://evil.example", 403), ("null", 403)] {
        let request = server.post(&server.admin, "/v1/jobs").header("origin", origin);
        let request = request.json(&serde_json::json!({"type": "empty"}));
        assert_eq!(answer(request).await.0, expected, "{origin}");
    }
    let read = server.get(&server.admin, "/v1/jobs").header("origin", "http://evil.example");
    assert_eq!(answer(read).await.0, 200);
}

#[tokio::test]
async fn who_is_near_may_act_as_a_token_if_the_server_says_so() {
    let options = HttpOptions { anonymous: Some("local".to_owned()), ..HttpOptions::default() };
    let server = start(options, Rules::default(), None).await;
    let status = |server: &Server, path: &'static str| answer(server.request(Method::GET, path));
    assert_eq!(status(&server, "/v1/jobs").await.0, 401, "before there is such a token");
    server.token("local", &[Scope::Submit]).await;
    assert_eq!(status(&server, "/v1/jobs").await.0, 200);
    assert_eq!(status(&server, "/v1/keys").await.0, 403);
    let wrong = server.request(Method::GET, "/v1/jobs").bearer_auth("x");
    assert_eq!(answer(wrong).await.0, 401);
}

#[tokio::test]
async fn the_number_of_requests_is_bounded() {
    let options = HttpOptions { most_requests: 1, ..HttpOptions::default() };
    let server = start(options, Rules::default(), None).await;
    let job = server.empty_job(&server.admin).await;
    let waiting = tokio::spawn(server.get(&server.admin, &format!("/v1/jobs/{job}?wait=3")).send());
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    let refused = server.get(&server.admin, "/v1/jobs").send().await.expect("an answer");
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].as_bytes()), (503, &b"1"[..]));
    assert_eq!(answer(server.request(Method::GET, "/healthz")).await.0, 200);
    server.work().await;
    assert_eq!(waiting.await.expect("no panic").expect("an answer").status(), 200);
    assert_eq!(answer(server.get(&server.admin, "/v1/jobs")).await.0, 200);
}

#[tokio::test]
async fn one_token_does_not_keep_others_out() {
    let options = HttpOptions { most_requests: 8, ..HttpOptions::default() };
    let server = start(options, Rules::default(), None).await;
    let (a, b) = (server.token("a", &[Scope::Submit]).await, server.token("b", &[Scope::Submit]).await);
    let job = server.empty_job(&a).await;
    let path = format!("/v1/jobs/{job}?wait=3");
    let waiting = [0, 1].map(|_| tokio::spawn(server.get(&a, &path).send()));
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(answer(server.get(&a, "/v1/jobs")).await.0, 429, "a quarter of all is its share");
    assert_eq!(answer(server.get(&b, "/v1/jobs")).await.0, 200);
    server.work().await;
    for waiting in waiting {
        assert_eq!(waiting.await.expect("no panic").expect("an answer").status(), 200);
    }
    assert_eq!(answer(server.get(&a, "/v1/jobs")).await.0, 200);
}
