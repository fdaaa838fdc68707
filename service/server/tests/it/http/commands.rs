//! The commands, as processes.

use crate::http::server::{Server, claim, server};
use proofmill_job::{Finished, TaskInput};
use proofmill_server::{
    access::Scope,
    coordinator::Coordinator,
    objects::{Encrypted, FileKeys, FolderObjects, Staging},
    service::{Rules, Service},
    store::{Sqlite, Store, Worked},
    worker::ProcessInspector,
};
use serde_json::{Value, value::RawValue};
use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_proofmill-server");

fn command(data: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).current_dir(data).env("PROOFMILL_DATA", data);
    for name in
        ["PROOFMILL_SERVER", "PROOFMILL_TOKEN", "PROOFMILL_STORE", "PROOFMILL_OBJECTS", "NOTIFY_SOCKET"]
    {
        command.env_remove(name);
    }
    command
}

async fn output(mut command: Command) -> Output {
    tokio::task::spawn_blocking(move || command.output()).await.expect("no panic").expect("a process")
}

fn text(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Runs a command against a server in this process.
async fn client(server: &Server, token: &str, folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = command(folder, arguments);
    command.env("PROOFMILL_SERVER", &server.url).env("PROOFMILL_TOKEN", token);
    text(&output(command).await)
}

#[tokio::test]
async fn keys_and_jobs_by_commands() {
    let server = server().await;
    let token = server.token("alice", &[Scope::Submit, Scope::Keys]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let run = async |arguments: &[&str]| client(&server, &token, folder.path(), arguments).await;
    let write =
        |name: &str, content: &str| std::fs::write(folder.path().join(name), content).expect("a file");
    write("a.zkey", "groth16 a");
    write("a.wtns", "wtns");
    std::fs::write(folder.path().join("bytes"), [0xff; 16]).expect("a file");
    for _ in 0..2 {
        let (code, out, error) = run(&["keys", "add", "a.zkey", "--name", "circuit"]).await;
        assert_eq!((code, error.as_str()), (0, ""), "{out}");
        assert!(out.contains("groth16") && out.ends_with("circuit\n"), "{out}");
    }
    let (code, out, _) = run(&["keys", "list", "--json"]).await;
    let keys: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, keys[0]["name"].as_str()), (0, Some("circuit")));

    let working = async {
        let first = server.work().await;
        let job = server.claim().await;
        let failed = proofmill_server::store::Worked::Failed("the witness is wrong".to_owned());
        proofmill_server::coordinator::Coordinator::report(&server.service, &job.id, 1, failed)
            .await
            .expect("noted");
        first
    };
    let submitting = async {
        let arguments = ["jobs", "submit", "--key", "circuit", "--witness", "a.wtns", "--wait"];
        let done = run(&arguments).await;
        (done, run(&arguments).await)
    };
    let (first, (done, failed)) = tokio::join!(working, submitting);
    assert_eq!((done.0, done.2.as_str()), (0, ""), "{}", done.1);
    assert!(done.1.starts_with(&first.id) && done.1.contains("done"), "{}", done.1);
    for name in ["proof", "public"] {
        let written = std::fs::read_to_string(folder.path().join(format!("{name}.json"))).expect("a file");
        assert_eq!(written, format!("{{\"{name}\":\"{}\"}}", first.id));
    }
    assert_eq!(failed.0, 1, "{failed:?}");
    assert_eq!(failed.2, "error: the job is failed: the witness is wrong\n");

    let (code, out, _) = run(&["jobs", "submit", "--empty"]).await;
    let id = out.split(' ').next().expect("an id").to_owned();
    assert_eq!(code, 0);
    assert!(run(&["jobs", "show", &id]).await.1.contains("queued"));
    assert_eq!(run(&["jobs", "cancel", &id]).await.0, 0);
    assert_eq!(run(&["jobs", "cancel", &id]).await.0, 2);
    assert_eq!(run(&["jobs", "retry", &id]).await.0, 2);
    assert_eq!(run(&["jobs", "wait", &id]).await.0, 1);
    let listed = run(&["jobs", "list", "--limit", "2"]).await.1;
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert_eq!(run(&["jobs", "list", "--state", "done"]).await.1.lines().count(), 1);
    assert_eq!(run(&["keys", "remove", "circuit"]).await.0, 0);
    for wrong in [
        &["jobs", "submit"][..],
        &["jobs", "submit", "--key", "none", "--witness", "a.wtns"],
        &["jobs", "submit", "--key", "circuit", "--witness", "missing"],
        &["jobs", "submit", "--witness", "a.wtns", "--sets", "a.wtns"],
        &["jobs", "submit", "--key", "circuit", "--witness", "."],
        &["jobs", "submit", "--key", "circuit", "--witness", "a.wtns", "--wait", "--out", "missing"],
        &["jobs", "wait", &id, "--out", "missing"],
        &["jobs", "list", "--server", "localhost:6400"],
        &["jobs", "list", "--ca-cert", "a.wtns"],
        &["jobs", "list", "--token-file", "bytes"],
        &["jobs", "show", "x"],
        &["keys", "add", "missing"],
        &["keys", "add", "a.wtns"],
        &["token", "list"],
        &["token", "new", "x", "--scope", "everything"],
    ] {
        let (code, _, error) = run(wrong).await;
        assert_eq!(code, 2, "{wrong:?}: {error}");
        assert!(error.starts_with("error: ") && !error.contains(&token), "{wrong:?}: {error}");
    }
    let plain = server.url.replace("http:", "https:");
    for (wrong, word) in [
        (&["jobs", "submit", "--key", "circuit", "--witness", "."][..], "expected a file"),
        (&["keys", "add", "a.wtns"], "a.wtns: "),
        (&["jobs", "list", "--server", "localhost:6400"], "expected http://"),
        (&["jobs", "list", "--server", &plain], "http://"),
        (
            &["jobs", "list", "--server", "http://127.0.0.1:1"],
            "refused (os error 111): is `proofmill serve` running",
        ),
    ] {
        let (code, _, error) = run(wrong).await;
        assert!(code == 2 && error.contains(word) && error.lines().count() == 1, "{wrong:?}: {error}");
    }
    let (code, _, error) = client(&server, "proofmill_wrong", folder.path(), &["jobs", "list"]).await;
    assert_eq!(code, 2);
    assert!(error.contains("--token-file"), "{error}");
}

struct Served {
    child: Child,
    url: String,
    data: TempDir,
}

impl Drop for Served {
    fn drop(&mut self) {
        // Nothing is left of a test that failed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn serve(data: TempDir, arguments: &[&str]) -> Served {
    let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--no-worker"];
    all.extend(arguments);
    let mut child =
        command(data.path(), &all).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a server");
    let mut url = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut url).expect("its address");
    Served { child, url: url.trim().to_owned(), data }
}

/// Sends SIGTERM, and returns the exit status.
fn terminate(served: &mut Served) -> Option<i32> {
    let pid = served.child.id().to_string();
    assert!(Command::new("kill").arg(pid).status().expect("kill").success());
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(15) {
        if let Some(status) = served.child.try_wait().expect("its status") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}

#[test]
fn a_server_needs_no_set_up_and_keeps_what_it_has() {
    let run = |data: &Path, arguments: &[&str]| text(&command(data, arguments).output().expect("a process"));
    let mut served = serve(tempfile::tempdir().expect("a folder"), &[]);
    assert!(served.url.starts_with("http://127.0.0.1:"), "{}", served.url);
    let data = served.data.path().to_owned();
    for name in ["token", "store.sqlite", "address"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(data.join(name)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
    let (code, out, error) = run(&data, &["jobs", "submit", "--empty"]);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    let id = out.split(' ').next().expect("an id").to_owned();
    let (code, secret, error) =
        run(&data, &["token", "new", "alice", "--scope", "submit,keys", "--expires", "1h"]);
    assert_eq!((code, error.as_str()), (0, ""));
    std::fs::write(data.join("alice"), &secret).expect("a file");
    let of_alice = ["jobs", "show", &id, "--token-file", "alice"];
    assert_eq!(run(&data, &of_alice).0, 2, "another token does not see the job");
    assert_eq!(terminate(&mut served), Some(0));
    let staging = data.join("objects").join("staging");
    assert_eq!(std::fs::read_dir(&staging).expect("staging").count(), 1, "only the lock is left");
    // What a killed process leaves.
    std::fs::create_dir_all(staging.join("12345").join("files")).expect("a folder");
    std::fs::write(staging.join("12345").join("lock"), "").expect("a file");

    let folder = std::mem::replace(&mut served.data, tempfile::tempdir().expect("a folder"));
    let mut served = serve(folder, &["--log", "json"]);
    assert!(!staging.join("12345").exists());
    assert!(run(&data, &["jobs", "show", &id]).1.contains("queued"));
    assert_eq!(run(&data, &["token", "revoke", "alice"]).0, 0);
    assert!(run(&data, &["token", "list"]).1.contains("revoked"));
    std::thread::sleep(Duration::from_secs(1));
    let (code, _, error) = run(&data, &of_alice);
    assert!(code == 2 && error.contains("does not know the token"), "{error}");
    assert_eq!(terminate(&mut served), Some(0));
    let (code, _, error) = run(&data, &["jobs", "list"]);
    assert!(code == 2 && error.contains("--server"), "{error}");
}

#[test]
fn a_hang_up_does_not_end_a_server() {
    let mut served = serve(tempfile::tempdir().expect("a folder"), &[]);
    let pid = served.child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &pid]).status().expect("kill").success());
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(text(&command(served.data.path(), &["jobs", "list"]).output().expect("a process")).0, 0);
    assert_eq!(terminate(&mut served), Some(0));
}

#[test]
fn tokens_do_not_go_to_other_servers() {
    let mut served = serve(tempfile::tempdir().expect("a folder"), &[]);
    let data = served.data.path().to_owned();
    let own = served.url.replace("127.0.0.1", "localhost");
    assert_eq!(text(&command(&data, &["jobs", "list", "--server", &own]).output().expect("a process")).0, 0);
    let (secret, file) = (std::fs::read_to_string(data.join("token")).expect("a token"), data.join("token"));
    for (server, with_file, words) in [
        ("http://127.0.0.1:1", false, "not the token of http://127.0.0.1:1"),
        ("https://prover.example", false, "not the token of https://prover.example"),
        ("http://prover.example:6400", true, "--insecure-http"),
        ("http://192.0.2.1", true, "--insecure-http"),
    ] {
        let mut run = command(&data, &["jobs", "list", "--server", server]);
        if with_file {
            run.arg("--token-file").arg(&file);
        }
        let (code, _, error) = text(&run.output().expect("a process"));
        assert!(code == 2 && error.contains(words) && !error.contains(secret.trim()), "{error}");
    }
    assert_eq!(terminate(&mut served), Some(0));
}

#[test]
fn a_token_that_is_not_valid_any_more_is_made_again() {
    let mut folder = tempfile::tempdir().expect("a folder");
    let secret = |folder: &Path| std::fs::read_to_string(folder.join("token")).expect("a token");
    let mut served = serve(folder, &[]);
    let first = secret(served.data.path());
    let runs = |data: &Path| text(&command(data, &["token", "revoke", "admin"]).output().expect("a process"));
    assert_eq!(runs(served.data.path()).0, 0);
    assert_eq!(terminate(&mut served), Some(0));
    folder = std::mem::replace(&mut served.data, tempfile::tempdir().expect("a folder"));
    let mut served = serve(folder, &[]);
    let second = secret(served.data.path());
    assert_ne!(first, second, "the first was revoked");
    let listed = text(&command(served.data.path(), &["token", "list"]).output().expect("a process"));
    assert!(listed.0 == 0 && listed.1.contains("admin-"), "{listed:?}");
    // Somebody else's token is left alone while the store has an administrator.
    std::fs::write(served.data.path().join("token"), "pm_of_another_store").expect("a file");
    assert_eq!(terminate(&mut served), Some(0));
    folder = std::mem::replace(&mut served.data, tempfile::tempdir().expect("a folder"));
    let mut served = serve(folder, &[]);
    assert_eq!(secret(served.data.path()), "pm_of_another_store");
    assert_eq!(terminate(&mut served), Some(0));
}

/// The files below a folder that have these bytes.
fn files_with(folder: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, bytes));
        } else if std::fs::read(&path).expect("a file").windows(bytes.len()).any(|window| window == bytes) {
            found.push(path);
        }
    }
    found
}

#[tokio::test]
async fn inputs_are_encrypted_at_rest() {
    const SECRET: &str = "a secret that only provers may read";
    let own = tempfile::tempdir().expect("a folder");
    let file = |name: &str, content: &str| {
        use std::os::unix::fs::PermissionsExt;
        let path = own.path().join(name);
        std::fs::write(&path, content).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("its mode");
        path.display().to_string()
    };
    let (key, other) = (file("key", &hex::encode([1; 32])), file("other", &hex::encode([2; 32])));
    let sets = file("sets.json", &format!("[{}]", SECRET.repeat(10_000)));
    let with_key = ["--encrypt-inputs", &key];
    for arguments in [&[][..], &with_key] {
        let mut served = serve(tempfile::tempdir().expect("a folder"), arguments);
        let data = served.data.path();
        let (code, _, error) =
            text(&command(data, &["jobs", "submit", "--sets", &sets]).output().expect("a process"));
        assert_eq!((code, error.as_str()), (0, ""));
        let found = files_with(data, SECRET.as_bytes());
        assert_eq!(found.len(), usize::from(arguments.is_empty()), "{found:?}");
        assert_eq!(terminate(&mut served), Some(0));
        // Nobody serves these objects as if they were others.
        let wrong: [&[&str]; 2] =
            [if arguments.is_empty() { &with_key } else { &[] }, &["--encrypt-inputs", &other]];
        for arguments in wrong {
            let all = [&["serve", "--listen", "127.0.0.1:0", "--no-worker"], arguments].concat();
            let (code, _, error) = text(&command(served.data.path(), &all).output().expect("a process"));
            let last = error.lines().last().unwrap_or_default();
            assert!(code == 2 && last.starts_with("error: ") && last.contains("--encrypt-inputs"), "{error}");
        }
        // A worker on this machine gets the input in its own folder.
        if !arguments.is_empty() {
            let data = served.data.path();
            let store = Store::new(Sqlite::open(&data.join("store.sqlite")).expect("the store"));
            let staging = Staging::new(&data.join("objects/staging/test")).expect("a folder");
            let files = Arc::new(FolderObjects::new(&data.join("objects")).expect("the objects"));
            let objects =
                Encrypted::new(files, staging.clone(), FileKeys::open(Path::new(&key)).expect("a key"));
            let inspector = Arc::new(ProcessInspector { program: "none".into() });
            let service = Service::new(store, Arc::new(objects), staging, inspector, Rules::default());
            let job = claim(&service).await;
            let folder = service.staging().folder().expect("a folder");
            let input = service
                .input(&job.id, job.progress.fence, TaskInput::Sets, folder.path())
                .await
                .expect("there");
            assert!(input.starts_with(folder.path()));
            assert!(std::fs::read(&input).expect("a file") == std::fs::read(&sets).expect("a file"));
            drop(folder);
            let output = RawValue::from_string(format!("\"{SECRET}\"")).expect("JSON");
            let outputs = [(proofmill_job::TaskOutput::Proof, output)].into();
            let finished = Worked::Finished { finished: Finished::default(), outputs };
            service.report(&job.id, job.progress.fence, finished).await.expect("it has the job");
            assert!(data.join(format!("objects/jobs/{}/1/proof", job.id)).is_file());
            assert_eq!(files_with(data, SECRET.as_bytes()), [""; 0].map(PathBuf::from));
        }
    }
}

#[test]
fn systemd_is_told_what_the_server_does() {
    let data = tempfile::tempdir().expect("a folder");
    let socket = data.path().join("notify");
    let listener = std::os::unix::net::UnixDatagram::bind(&socket).expect("a socket");
    listener.set_read_timeout(Some(Duration::from_secs(10))).expect("a time");
    let next = || {
        let mut text = [0; 100];
        let length = listener.recv(&mut text).expect("a word in time");
        String::from_utf8_lossy(&text[..length]).trim().to_owned()
    };
    let mut server = command(data.path(), &["serve", "--listen", "127.0.0.1:0", "--no-worker"])
        .env("NOTIFY_SOCKET", &socket)
        .env("WATCHDOG_USEC", "300000")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a server");
    let mut words = vec![next(), next(), next()];
    assert!(words.contains(&"READY=1".to_owned()) && words.contains(&"WATCHDOG=1".to_owned()), "{words:?}");
    assert!(Command::new("kill").arg(server.id().to_string()).status().expect("kill").success());
    while words.last().is_some_and(|word| word != "STOPPING=1") {
        words.push(next());
    }
    assert!(server.wait().expect("its end").success());
}

#[test]
fn dangerous_or_wrong_options_are_refused() {
    let data = tempfile::tempdir().expect("a folder");
    for (arguments, word) in [
        (&["--listen", "0.0.0.0:0"][..], "--tls-cert"),
        (&["--listen", "[::]:0"], "--tls-cert"),
        (&["--tls-cert", "x"], "--tls-key"),
        (&["--tls-cert", "x", "--tls-key", "y"], "x"),
        (&["--store", "redis://user:secret@host"], "sqlite"),
        (&["--objects", "ftp://user:secret@host"], "folder"),
        (&["--program", "/nowhere/proofmill"], "/nowhere/proofmill"),
        (&["--lease", "soon"], "duration"),
        (&["--price", "c9z.mega"], "c7a.48xlarge"),
        (&["--encrypt-inputs", "/nowhere/key"], "openssl"),
        (&["--data", "/dev/null"], "--data"),
        (&["--objects", "file:/dev/null/objects"], "/dev/null/objects"),
        (&["--listen", "192.0.2.1:1", "--insecure-http"], "--listen"),
    ] {
        let mut all = vec!["serve"];
        if !arguments.contains(&"--listen") {
            all.extend(["--listen", "127.0.0.1:0"]);
        }
        all.extend(arguments);
        let (code, _, error) = text(&command(data.path(), &all).output().expect("a process"));
        assert_eq!(code, 2, "{arguments:?}: {error}");
        assert!(error.contains(word) && !error.contains("secret"), "{arguments:?}: {error}");
    }
}
