//! PostgreSQL: lost connections, lost answers, several servers of ours.

use crate::store::open::{
    add_key, claim, claimed, connect, end_due, key, new_job, new_schema, postgres_url, submit, submitted,
    token,
};
use proofmill_server::{
    state::JobState,
    store::{ClaimOutcome, JobQuery, Store, StoreError, Worked},
};
use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};

/// What a [`Proxy`] does.
const PASS: u8 = 0;
/// It refuses connections and cuts those that it has.
const CUT: u8 = 1;
/// It takes everything and passes nothing on.
const HOLD: u8 = 2;
/// It passes a commit on, cuts the connection before the answer, and passes again.
const LOSE_COMMIT: u8 = 3;

/// A connection between the store and its database that fails on command.
#[derive(Clone)]
struct Proxy {
    mode: Arc<AtomicU8>,
    commits_lost: Arc<AtomicUsize>,
    url: String,
}

impl Proxy {
    async fn to(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (head, rest) = url.split_once('@').expect("a URL with a user");
        let (server, rest) = rest.split_once('/').expect("a URL with a database");
        let proxy = Self {
            mode: Arc::new(AtomicU8::new(PASS)),
            commits_lost: Arc::default(),
            url: format!("{head}@127.0.0.1:{port}/{rest}"),
        };
        let (server, serving) = (server.to_owned(), proxy.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (server, serving) = (server.clone(), serving.clone());
                tokio::spawn(async move {
                    if serving.mode.load(Ordering::SeqCst) != CUT {
                        drop(
                            serving.pass(client, TcpStream::connect(server).await.expect("the server")).await,
                        );
                    }
                });
            }
        });
        proxy
    }

    async fn pass(&self, mut client: TcpStream, mut server: TcpStream) -> std::io::Result<()> {
        let (mut from_client, mut from_server) = (vec![0; 1 << 16], vec![0; 1 << 16]);
        loop {
            let mode = || self.mode.load(Ordering::SeqCst);
            tokio::select! {
                read = client.read(&mut from_client) => {
                    let sent = &from_client[..read?];
                    if mode() == CUT || sent.is_empty() {
                        return Ok(());
                    }
                    let is_commit = sent.windows(6).any(|word| word == b"COMMIT");
                    let is_lost = is_commit
                        && self.mode.compare_exchange(LOSE_COMMIT, PASS, Ordering::SeqCst, Ordering::SeqCst).is_ok();
                    if mode() != HOLD {
                        server.write_all(sent).await?;
                    }
                    if is_lost {
                        // The server's answer shows that it has done it.
                        assert!(server.read(&mut from_server).await? > 0);
                        self.commits_lost.fetch_add(1, Ordering::SeqCst);
                        return Ok(());
                    }
                }
                read = server.read(&mut from_server) => {
                    let sent = &from_server[..read?];
                    if mode() == CUT || sent.is_empty() {
                        return Ok(());
                    }
                    if mode() != HOLD {
                        client.write_all(sent).await?;
                    }
                }
                () = sleep(Duration::from_millis(20)) => {
                    if mode() == CUT {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn set(&self, mode: u8) {
        self.mode.store(mode, Ordering::SeqCst);
    }
}

/// A store behind a proxy, with the token `a`.
async fn behind_proxy() -> Option<(Store, Proxy)> {
    let proxy = Proxy::to(&new_schema().await?).await;
    let url = proxy.url.clone();
    // It waits for the proxy.
    let store = tokio::task::spawn_blocking(move || Store::open(&url)).await.expect("it ends");
    let store = store.expect("a new store");
    store.add_token(token("a"), None).await.expect("a new token");
    Some((store, proxy))
}

#[tokio::test]
async fn work_whose_answer_was_lost_is_done_once() {
    let Some((store, proxy)) = behind_proxy().await else { return };
    let lose = || proxy.set(LOSE_COMMIT);
    lose();
    store.add_token(token("b"), None).await.expect("it is this one");
    lose();
    let (job, is_new) = submit(&store, new_job("a")).await.expect("accepted");
    assert!(is_new);
    let all = JobQuery { owner: None, state: None, before: None, limit: 10 };
    assert_eq!(store.jobs(all.clone()).await.expect("jobs").len(), 1);
    // The claim whose answer was lost holds the job until its lease ends.
    lose();
    assert_eq!(claim(&store, "w", 50).await, ClaimOutcome::Empty);
    sleep(Duration::from_millis(60)).await;
    assert_eq!(end_due(&store, 1000).await.len(), 1);
    let running = claimed(&store, 60_000).await;
    assert_eq!((running.progress.fence, running.progress.attempts), (2, 2));
    lose();
    let beat = Worked::Beat { lease_ms: 60_000, phase: None };
    store.report(job.id.clone(), 2, beat).await.expect("it has the job");
    lose();
    store.report(job.id.clone(), 2, Worked::Released).await.expect("it had the job");
    assert_eq!(claimed(&store, 60_000).await.progress.attempts, 2);
    lose();
    let lost = Worked::Lost { message: "killed".to_owned(), pause_ms: 0 };
    assert_eq!(
        store.report(job.id.clone(), 3, lost).await.expect("it had the job").progress.state,
        JobState::Dead
    );
    lose();
    assert_eq!(
        store.retry(job.id.clone(), None).await.expect("it was dead").progress.state,
        JobState::Queued
    );
    claimed(&store, 60_000).await;
    lose();
    let finished = crate::store::open::finished();
    assert_eq!(
        store.report(job.id.clone(), 4, finished).await.expect("it had the job").progress.state,
        JobState::Done
    );
    let second = submitted(&store, new_job("a")).await;
    lose();
    assert_eq!(
        store.cancel(second.id, None).await.expect("it was queued").progress.state,
        JobState::Cancelled
    );
    lose();
    add_key(&store, key("a", "d", Some("n"))).await.expect("added");
    lose();
    assert!(matches!(store.remove_key("a".to_owned(), "n".to_owned()).await, Err(StoreError::NotFound(_))));
    lose();
    store.revoke_token("token b".to_owned()).await.expect("it was valid");
    lose();
    store.inputs_deleted(job.id.clone()).await.expect("noted");
    lose();
    store.forget(vec![job.id.clone()]).await.expect("forgotten");
    lose();
    store.see_worker("w".to_owned(), "{}".to_owned()).await.expect("seen");
    lose();
    store.forget_worker("w".to_owned()).await.expect("forgotten");
    assert_eq!(proxy.commits_lost.load(Ordering::SeqCst), 16);
    assert_eq!(store.jobs(all).await.expect("jobs").len(), 1);
}

#[tokio::test]
async fn a_database_out_of_reach_is_an_error_in_time() {
    let Some((store, proxy)) = behind_proxy().await else { return };
    for (mode, seconds) in [(CUT, 8), (HOLD, 20)] {
        proxy.set(mode);
        let began = Instant::now();
        let many = (0..40).map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.submit(vec![new_job("a")], crate::store::open::LIMITS).await })
        });
        for answer in many.collect::<Vec<_>>() {
            let answer =
                timeout(Duration::from_secs(60), answer).await.expect("nothing hangs").expect("it ends");
            match answer {
                Err(StoreError::Unavailable(problem)) => {
                    assert!(problem.starts_with("PostgreSQL at 127.0.0.1:"), "{problem}");
                    assert!(!problem.contains('\n') && !problem.contains("proofmill:"), "{problem}");
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(began.elapsed() < Duration::from_secs(seconds), "{:?}", began.elapsed());
        assert!(matches!(store.now().await, Err(StoreError::Unavailable(_))));
        proxy.set(PASS);
        sleep(Duration::from_millis(50)).await;
        submitted(&store, new_job("a")).await;
        store.now().await.expect("the time");
    }
}

#[tokio::test]
async fn a_database_that_comes_back_soon_is_waited_for() {
    let Some((store, proxy)) = behind_proxy().await else { return };
    proxy.set(CUT);
    let submitting = tokio::spawn({
        let store = store.clone();
        async move { submitted(&store, new_job("a")).await }
    });
    sleep(Duration::from_secs(1)).await;
    proxy.set(PASS);
    let job = submitting.await.expect("accepted");
    assert_eq!(store.job(job.id.clone(), None).await, Ok(job));
}

#[tokio::test]
async fn connections_that_the_server_ends_lose_nothing() {
    let Some(url) = new_schema().await else { return };
    let stores = [Store::open(&url).expect("a new store"), Store::open(&url).expect("the same store")];
    stores[0].add_token(token("a"), None).await.expect("a new token");
    let name = url.rsplit_once('=').expect("the application's name").1.to_owned();
    // Connections are ended whenever some work has been done since, so that work goes on on slow machines, too.
    let done = Arc::new(AtomicUsize::new(0));
    let ending = tokio::spawn({
        let done = done.clone();
        async move {
            let client = connect(&postgres_url().expect("a server")).await;
            let sql =
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1";
            let (mut ended, mut seen) = (0, 0);
            while seen < 8 * 60 {
                sleep(Duration::from_millis(30)).await;
                let now = done.load(Ordering::Relaxed);
                if now >= seen + 4 || now == 8 * 60 {
                    seen = now;
                    ended += client.query_one(sql, &[&name]).await.expect("a count").get::<_, i64>(0);
                }
            }
            ended
        }
    });
    let mut tasks = Vec::new();
    for number in 0..8 {
        let (store, done) = (stores[number % 2].clone(), done.clone());
        tasks.push(tokio::spawn(async move {
            let mut ids = Vec::new();
            for _ in 0..60 {
                ids.push(submitted(&store, new_job("a")).await.id);
                if let ClaimOutcome::Jobs(mut jobs, _) = claim(&store, "w", 500).await {
                    let job = jobs.remove(0);
                    let finished = crate::store::open::finished();
                    match store.report(job.id, job.progress.fence, finished).await {
                        Ok(job) => assert_eq!(job.progress.state, JobState::Done),
                        // Its lease has ended.
                        Err(StoreError::Refused(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                end_due(&store, 60_000).await;
                done.fetch_add(1, Ordering::Relaxed);
            }
            ids
        }));
    }
    let mut ids = Vec::new();
    for task in tasks {
        ids.extend(task.await.expect("nothing fails"));
    }
    let ended = ending.await.expect("it ends");
    assert!(ended > 50, "only {ended} connections were ended");
    for id in ids {
        let job = stores[0].job(id, None).await.expect("no accepted job is lost");
        assert!(matches!(
            job.progress.state,
            JobState::Done | JobState::Queued | JobState::Running | JobState::Dead
        ));
        assert!(job.progress.attempts <= 2);
    }
}

#[tokio::test]
async fn servers_that_start_together_make_one_store() {
    let Some(url) = new_schema().await else { return };
    let starting = (0..6).map(|_| {
        let url = url.clone();
        tokio::task::spawn_blocking(move || Store::open(&url).map(drop))
    });
    for start in starting.collect::<Vec<_>>() {
        start.await.expect("it ends").expect("it opens");
    }
}

#[tokio::test]
async fn wrong_passwords_and_databases_are_named_without_secrets() {
    let Some(url) = postgres_url() else { return };
    let password = url.split([':', '@']).nth(2).expect("a password").to_owned();
    let wrong = url.replace(&password, "wrongsecret");
    for (url, expected) in [(wrong, "password"), (url.replace("/postgres", "/nowhere"), "nowhere")] {
        let began = Instant::now();
        let problem = Store::open(&url).map(drop).expect_err("refused").to_string();
        assert!(problem.contains(expected) && problem.starts_with("PostgreSQL at "), "{problem}");
        assert!(!problem.contains("wrongsecret") && !problem.contains(&password), "{problem}");
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn tls_is_verified() {
    let (Some(url), Ok(certificate)) = (new_schema().await, env::var("PROOFMILL_TEST_POSTGRES_CERTIFICATE"))
    else {
        return;
    };
    let store =
        Store::open(&format!("{url}&sslmode=require&sslrootcert={certificate}")).expect("it is trusted");
    store.now().await.expect("the time");
    let client = connect(&url).await;
    let name = url.rsplit_once('=').expect("the application's name").1;
    let sql = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = $1 AND pid <> pg_backend_pid()";
    let rows = client.query(sql, &[&name]).await.expect("rows");
    assert!(!rows.is_empty() && rows.iter().all(|row| row.get::<_, bool>(0)));
    // The system does not trust it.
    let problem =
        Store::open(&format!("{url}&sslmode=require")).map(drop).expect_err("not trusted").to_string();
    assert!(problem.contains("certificate"), "{problem}");
}
