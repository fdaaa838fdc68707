//! With the program `proofmill`: of the environment variable `PROOFMILL_PROGRAM`, or built in the same folder as this test. Without it,
//! these tests do nothing, or fail if `PROOFMILL_REQUIRE_PROGRAMS` is set.

use crate::worker::place::Place;
use proofmill_job::{Task, TaskInput, TaskOutput};
use proofmill_server::{
    service::ServiceError,
    state::JobState,
    worker::{Policy, ProcessInspector, WorkerOptions},
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

const LEASE: Duration = Duration::from_secs(5);

fn program() -> Option<PathBuf> {
    let built_here = || {
        let test = std::env::current_exe().ok()?;
        Some(test.parent()?.parent()?.join("proofmill")).filter(|path| path.exists())
    };
    let program = std::env::var_os("PROOFMILL_PROGRAM").map(PathBuf::from).or_else(built_here);
    if program.is_none() {
        assert!(std::env::var_os("PROOFMILL_REQUIRE_PROGRAMS").is_none(), "no program proofmill");
        eprintln!("no program proofmill: not tested");
    }
    program
}

fn example(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/membership-small");
    fs::read(folder.join(name)).expect("an example")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proofs_are_made_and_verified() {
    let Some(program) = program() else { return };
    let place = Place::with_inspector(LEASE, Arc::new(ProcessInspector { program: program.clone() })).await;
    // Random keys of the example are refused otherwise.
    let options = WorkerOptions { program, arguments: vec![], memory: Some(8 << 30), ..place.options() };
    let mut worker = place.work(options);
    let calculator = place.add_key(&example("circuit.wasm")).await.expect("a program");
    for system in ["groth16", "plonk", "fflonk"] {
        let key = place.add_key(&example(&format!("{system}.zkey"))).await.expect("a key");
        let verifying = place.add_key(&example(&format!("{system}.vk.json"))).await.expect("a key");
        for (program, input, content) in [
            (None, TaskInput::Witness, example("witness.wtns")),
            (Some(calculator.clone()), TaskInput::Signals, example("input.json")),
        ] {
            let task = Task::Prove { key: key.clone(), program };
            let id = place.submit_task(task, &[(input, &content)], |_| {}).await;
            let job = place.ended(&id).await;
            assert_eq!(job.progress.state, JobState::Done, "{system}: {job:?}");
            let proof = place.output(&id, TaskOutput::Proof).await;
            let public = place.output(&id, TaskOutput::Public).await;
            let verify = |public: &str| {
                let inputs = [(TaskInput::Proof, proof.clone()), (TaskInput::Public, public.to_owned())];
                let task = Task::Verify { key: verifying.clone() };
                let place = &place;
                async move {
                    let inputs = inputs.each_ref().map(|(input, text)| (*input, text.as_bytes()));
                    let id = place.submit_task(task, &inputs, |_| {}).await;
                    place.ended(&id).await.progress.state
                }
            };
            assert_eq!(verify(&public).await, JobState::Done);
            assert_eq!(verify(&public.replacen(['1', '2', '3'], "4", 1)).await, JobState::Failed);
        }
        let bad = place.submit_task(
            Task::Prove { key, program: None },
            &[(TaskInput::Witness, b"wtns, but no more")],
            |_| {},
        );
        let bad = place.ended(&bad.await).await;
        assert_eq!((bad.progress.state, bad.progress.attempts), (JobState::Failed, 1), "{bad:?}");
    }
    worker.end().await;
    assert_eq!(place.staged(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_key_is_refused() {
    let Some(program) = program() else { return };
    let place = Place::with_inspector(LEASE, Arc::new(ProcessInspector { program })).await;
    for content in ["", "{}", "zkey", "\0asm"] {
        let refused = place.add_key(content.as_bytes()).await;
        assert!(matches!(refused, Err(ServiceError::Invalid(_))), "{content:?}: {refused:?}");
    }
}

/// Prints the time between the submission and the end of empty jobs, one after the other, and the rate of many.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn overhead_of_a_job() {
    let place = Place::new(Duration::from_secs(15)).await;
    let mut options = WorkerOptions { threads: Some(2), policy: Policy::Auto, ..place.options() };
    if let Some(program) = program() {
        (options.program, options.arguments) = (program, vec![]);
    }
    let mut worker = place.work(options);
    let mut times = Vec::new();
    for _ in 0..500 {
        let began = Instant::now();
        let id = place.submit_task(Task::Empty, &[], |_| {}).await;
        assert_eq!(place.ended(&id).await.progress.state, JobState::Done);
        times.push(began.elapsed().as_micros());
    }
    times.sort();
    println!("median {} us, 99 % {} us", times[times.len() / 2], times[times.len() * 99 / 100]);
    let began = Instant::now();
    let mut jobs = Vec::new();
    for _ in 0..1000 {
        jobs.push(place.submit_task(Task::Empty, &[], |_| {}).await);
    }
    let submitted = began.elapsed();
    for id in &jobs {
        assert_eq!(place.ended(id).await.progress.state, JobState::Done);
    }
    println!("1000 jobs: submitted in {submitted:?}, done in {:?}", began.elapsed());
    worker.end().await;
}
