use crate::worker::place::Place;
use proofmill_job::KeyKind;
use proofmill_server::{
    service::{Inspector, ServiceError},
    worker::ProcessInspector,
};
use std::{fs, path::Path};

fn fake() -> ProcessInspector {
    ProcessInspector { program: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/worker/fake.py") }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_crashes_its_reader_is_invalid() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("key");
    let inspector = fake();
    for (content, expected) in [
        (r#"{"inspect": "ok"}"#, None),
        (r#"{"inspect": "crash"}"#, Some("signal 11")),
        (r#"{"inspect": "fail"}"#, Some("no key")),
        ("what makes the fake exit", Some("exit code 1")),
        (r#"{"inspect": "ok"}"#, None),
    ] {
        fs::write(&file, content).expect("written");
        match (inspector.inspect(&file).await, expected) {
            (Ok(facts), None) => {
                assert_eq!((facts.kind, facts.domain, facts.memory), (KeyKind::Groth16, Some(4), 1000));
            }
            (Err(ServiceError::Invalid(message)), Some(expected)) => {
                assert!(message.contains(expected), "{message}");
            }
            (other, _) => panic!("{content}: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_program_is_no_fault_of_the_file() {
    let inspector = ProcessInspector { program: "/nowhere/proofmill".into() };
    let error = inspector.inspect(Path::new("/dev/null")).await.expect_err("no program");
    assert!(matches!(error, ServiceError::Io(_)), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_asks_the_inspector() {
    let place = Place::with_inspector(std::time::Duration::from_secs(1), std::sync::Arc::new(fake())).await;
    place.add_key(br#"{"inspect": "ok"}"#).await.expect("a key");
    assert!(matches!(place.add_key(br#"{"inspect": "crash"}"#).await, Err(ServiceError::Invalid(_))));
    assert_eq!(place.staged(), [""; 0]);
}
