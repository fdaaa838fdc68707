//! `prover`: sessions with the process that executes jobs.

use crate::process::{Folder, SYSTEMS, examples};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    ops::Deref,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

/// A value that no message may contain.
const SECRET: &str = "918273645546372819";

/// A process and its folder.
pub(crate) struct Session {
    folder: Folder,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    ready: Value,
    jobs: usize,
}

impl Session {
    fn new(options: &str) -> Self {
        Self::of(Folder::new(), options)
    }

    pub(crate) fn of(folder: Folder, options: &str) -> Self {
        let mut command = folder.command(&format!("prover {options}"));
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut session = Self { folder, child, input, output, ready: Value::Null, jobs: 0 };
        session.ready = session.receive();
        assert_eq!(session.ready["reply"], "ready");
        session
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The phases and the last reply to a line.
    fn line(&mut self, line: &[u8]) -> (Vec<String>, Value) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
        let mut phases = Vec::new();
        loop {
            let reply = self.receive();
            if reply["reply"] != "phase" {
                return (phases, reply);
            }
            phases.push(reply["name"].as_str().unwrap().to_owned());
        }
    }

    pub(crate) fn inspect(&mut self, file: &str) -> Value {
        let path = self.folder.path(file);
        self.line(json!({ "request": "inspect", "path": path }).to_string().as_bytes()).1
    }

    /// The phases and the last reply to a task with these files of the folder. A key's digest is `digest of` and its file.
    pub(crate) fn execute(&mut self, task: &Value, inputs: &Value, threads: usize) -> (Vec<String>, Value) {
        self.jobs += 1;
        let outputs = self.folder.path(&format!("job{}", self.jobs));
        fs::create_dir_all(&outputs).unwrap();
        let path = |file: &Value| self.folder.path(file.as_str().unwrap());
        let (mut task, mut keys) = (task.clone(), serde_json::Map::new());
        for name in ["key", "program"] {
            if let Some(file) = task.get(name).cloned() {
                let digest = format!("digest of {}", file.as_str().unwrap());
                keys.insert(digest.clone(), json!(path(&file)));
                task[name] = digest.into();
            }
        }
        let inputs: serde_json::Map<_, _> = inputs
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, file)| (name.clone(), json!(path(file))))
            .collect();
        let request = json!({
            "request": "execute", "task": task, "keys": keys, "inputs": inputs, "outputs": outputs, "threads": threads,
        });
        self.line(request.to_string().as_bytes())
    }

    /// The phases of a task that succeeds.
    #[track_caller]
    fn done(&mut self, task: Value, inputs: Value, threads: usize) -> Vec<String> {
        let (phases, reply) = self.execute(&task, &inputs, threads);
        assert_eq!(reply["reply"], "finished", "{reply}");
        assert!(!cfg!(target_os = "linux") || reply["peak_memory"].as_u64().unwrap() > 1 << 20);
        let timed: Vec<_> = reply["phases"].as_array().unwrap().iter().map(|phase| &phase["name"]).collect();
        let mut distinct: Vec<&String> = Vec::new();
        for phase in &phases {
            if !distinct.contains(&phase) {
                distinct.push(phase);
            }
        }
        assert_eq!(timed, distinct);
        phases
    }

    /// The message of a task that fails.
    #[track_caller]
    fn fails(&mut self, task: Value, inputs: Value, transient: bool) -> String {
        let (_, reply) = self.execute(&task, &inputs, 2);
        self.failed(&reply, transient)
    }

    /// The message of a failure: one line without secret values and paths.
    #[track_caller]
    fn failed(&self, reply: &Value, transient: bool) -> String {
        assert_eq!((&reply["reply"], &reply["transient"]), (&json!("failed"), &json!(transient)), "{reply}");
        let message = reply["message"].as_str().unwrap();
        assert!(message.lines().count() == 1 && message.len() < 1100, "{message}");
        assert!(!message.contains(SECRET), "{message}");
        let folder = self.folder.path("").parent().unwrap().to_str().unwrap().to_owned();
        assert!(!message.contains(&folder), "{message}");
        message.to_owned()
    }

    /// Runs a command on the files of the last job.
    fn verified(&self, system: &str, key: &str) {
        let job = format!("job{}", self.jobs);
        let command = format!("{system} verify {key} {job}/public {job}/proof");
        self.folder.run(&command).succeeded();
    }

    /// The peak of the process's resident memory in bytes.
    pub(crate) fn peak(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
    }

    /// Ends the process and returns its folder.
    pub(crate) fn into_folder(mut self) -> Folder {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
        self.folder
    }

    /// Ends the input and returns what the process wrote to standard error.
    #[track_caller]
    fn end(mut self) -> String {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.read_line(&mut rest).unwrap();
        assert_eq!(rest, "");
        let output = self.child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).unwrap()
    }
}

impl Deref for Session {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

fn prove(key: &str) -> Value {
    json!({ "type": "prove", "key": key })
}

fn witness() -> Value {
    json!({ "witness": "witness.wtns" })
}

#[test]
fn every_task_on_one_process() {
    let mut session = Session::new("");
    for field in ["version", "level", "cpu"] {
        assert!(!session.ready[field].as_str().unwrap().is_empty(), "{}", session.ready);
    }
    assert!(session.ready["threads"].as_u64().unwrap() > 0);
    let public = session.text("public.json");
    for arithmetisation in ["turbo", "ultra"] {
        session
            .run(&format!(
                "plonk setup --arithmetisation {arithmetisation} circuit.r1cs pot8.ptau {arithmetisation}"
            ))
            .succeeded();
        session
            .run(&format!("zkey export verificationkey {arithmetisation} {arithmetisation}.vk"))
            .succeeded();
    }
    session.run("wtns compile circuit.wasm input.json circuit.wcd").succeeded();
    let keys = SYSTEMS.map(|system| (system, format!("{system}.zkey"), format!("{system}.vk.json")));
    let wide = ["turbo", "ultra"].map(|key| ("plonk", key.to_owned(), format!("{key}.vk")));
    for (system, key, verification) in keys.into_iter().chain(wide) {
        let full = |program: &str| json!({ "type": "prove", "key": key, "program": program });
        let signals = || json!({ "signals": "input.json" });
        let tasks =
            [(prove(&key), witness()), (full("circuit.wasm"), signals()), (full("circuit.wcd"), signals())];
        for (task, inputs) in tasks {
            session.done(task, inputs, 2);
            session.verified(system, &verification);
            let job = format!("job{}", session.jobs);
            assert_eq!(session.text(&format!("{job}/public")).trim(), public.trim());
            for key in [&key, &verification] {
                let inputs = json!({ "proof": format!("{job}/proof"), "public": format!("{job}/public") });
                assert_eq!(
                    session.done(json!({ "type": "verify", "key": key }), inputs, 1).last().unwrap(),
                    "verify"
                );
            }
        }
    }
    assert!(session.done(json!({ "type": "empty" }), json!({}), 1).is_empty());
    assert_eq!(session.end(), "");
}

#[test]
fn starks_are_proven() {
    let mut session = Session::new("");
    session.run("stark workload fibonacci --log-rows 6 --out .").succeeded();
    let names = session.names();
    let find = |word: &str| names.iter().find(|name| name.contains(word)).unwrap().clone();
    let (air, trace, public) = (find("air"), find("trace"), find("public.json"));
    assert_eq!(session.inspect(&air)["kind"], "air");
    let inputs = json!({ "trace": trace, "public": public });
    for (hash, bits) in [("keccak", 100), ("sha256", 100), ("poseidon", 80), ("poseidon2", 120)] {
        let task = json!({ "type": "prove-stark", "key": air, "hash": hash, "bits": bits });
        session.done(task, inputs.clone(), 2);
        let job = format!("job{}", session.jobs);
        let command = format!("stark verify {air} {public} {job}/proof --hash {hash} --security {bits}");
        session.run(&command).succeeded();
    }
    let task = json!({ "type": "prove-stark", "key": air, "bits": 1000 });
    assert!(session.fails(task, inputs.clone(), false).contains("cannot be proven"));
    let mut wrong = session.read(&trace);
    wrong[8] ^= 1;
    session.write("wrong", &wrong);
    let task = json!({ "type": "prove-stark", "key": air });
    let message = session.fails(task.clone(), json!({ "trace": "wrong", "public": public }), false);
    assert!(message.starts_with("trace: "), "{message}");
    // No value of the trace is in a message, not even a wrong one.
    wrong[8..16].fill(0xff);
    session.write("wrong", &wrong);
    let message = session.fails(task, json!({ "trace": "wrong", "public": public }), false);
    assert!(message.contains("column 1") && !message.contains(&u64::MAX.to_string()), "{message}");
    session.end();
}

/// Public key, message and signature of a set, and a wrong set.
fn sets(session: &Session) -> (Value, Value) {
    let mut sets = Vec::new();
    for name in ["one", "two"] {
        session.write(name, name);
        let public = session.run(&format!("bls keygen --out {name}.key")).succeeded().stdout;
        let signature = session.run(&format!("bls sign --key {name}.key {name}")).succeeded().stdout;
        sets.push((public.trim().to_owned(), name, signature.trim().to_owned()));
    }
    let set = |key: &str, message: &str, signature: &str| {
        let message: String = message.bytes().map(|byte| format!("{byte:02x}")).collect();
        json!({ "public_keys": [key], "message": message, "signature": signature })
    };
    let [(key, message, signature), (other, ..)] = sets.as_slice() else { unreachable!() };
    (set(key, message, signature), set(other, message, signature))
}

#[test]
fn batches_of_signatures() {
    let mut session = Session::new("");
    let (right, wrong) = sets(&session);
    let mut verify = |sets: Value, problem: Option<&str>| {
        session.write("sets", sets.to_string());
        let (task, inputs) = (json!({ "type": "verify-bls" }), json!({ "sets": "sets" }));
        match problem {
            None => _ = session.done(task, inputs, 2),
            Some(problem) => {
                let message = session.fails(task, inputs, false);
                assert!(message.starts_with("sets: ") && message.contains(problem), "{message}");
            }
        }
    };
    verify(json!([right]), None);
    verify(json!([right, right, right]), None);
    verify(json!([right, wrong, right, wrong]), Some("invalid, counted from 0: 1, 3"));
    verify(json!(vec![wrong.clone(); 25]), Some("8, 9 and 15 more"));
    verify(json!([]), Some("sets: "));
    for (field, value) in [
        ("public_keys", json!([SECRET])),
        ("public_keys", json!([918_273_645_546_372_819_u64])),
        ("message", json!(format!("{SECRET}0x"))),
        ("signature", json!("00")),
        ("other", json!(SECRET)),
    ] {
        let mut set = right.clone();
        set[field] = value;
        verify(json!([right, set]), Some("expected a JSON array of objects"));
    }
    let mut set = right.clone();
    set["public_keys"] = json!(["00".repeat(48)]);
    verify(json!([right, set]), Some("set 1: public key 0: "));
    set = right.clone();
    set["signature"] = json!("00".repeat(96));
    verify(json!([set]), Some("set 0: signature: "));
    set = right.clone();
    set["public_keys"] = json!([]);
    verify(json!([right, set]), Some("sets: "));
    session.end();
}

#[test]
fn lines_that_are_no_requests() {
    let mut session = Session::new("");
    let long = vec![b' '; (1 << 20) + 1];
    let nested = "[".repeat(100_000);
    for line in [
        &b""[..],
        b"x",
        b"{}",
        b"[]",
        b"\xff\xfe",
        br#"{"request": "inspect"}"#,
        br#"{"request": "inspect", "path": "a", "other": 1}"#,
        br#"{"request": "execute", "task": {"type": "other"}}"#,
        br#"{"request": "execute", "task": {"type": "empty"}, "keys": {}, "inputs": {}, "outputs": "", "threads": -1}"#,
        nested.as_bytes(),
        &long,
    ] {
        let (phases, reply) = session.line(line);
        assert!(phases.is_empty());
        let message = session.failed(&reply, false);
        assert!(message.starts_with("request: "), "{message}");
    }
    assert!(session.done(json!({ "type": "empty" }), json!({}), 1).is_empty());
    session.end();
}

#[test]
fn files_that_are_missing_or_wrong() {
    let mut session = Session::new("");
    session.write("input.txt", SECRET);
    session.write("empty", "");
    let mut other = session.read("witness.wtns");
    let last = other.len() - 1;
    other[last - 60] ^= 1;
    session.write("other.wtns", &other);
    let elsewhere = examples().join("membership/witness.wtns");
    fs::copy(elsewhere, session.path("elsewhere.wtns")).unwrap();
    for system in SYSTEMS {
        let key = format!("{system}.zkey");
        // The machine's faults.
        assert!(session.fails(prove("none"), witness(), true).starts_with("key: "));
        let message = session.fails(prove(&key), json!({ "witness": "none" }), true);
        assert!(message.starts_with("witness: No such file"), "{message}");
        // The job's faults.
        for (file, problem) in [
            ("input.txt", "witness: expected"),
            ("empty", "witness: expected"),
            ("other.wtns", "witness: "),
            ("elsewhere.wtns", "witness: "),
        ] {
            let message = session.fails(prove(&key), json!({ "witness": file }), false);
            assert!(message.starts_with(problem), "{message}");
        }
        assert!(session.fails(prove(&key), json!({}), false).contains("witness: its file is not"));
        for file in ["witness.wtns", "pot8.ptau", "input.json", "circuit.wasm"] {
            assert!(session.fails(prove(file), witness(), false).contains(": "));
        }
        let verify = json!({ "type": "verify", "key": key });
        let proof = format!("{system}.proof.json");
        let inputs = |proof: &str, public: &str| json!({ "proof": proof, "public": public });
        let message = session.fails(verify.clone(), inputs(&proof, "input.json"), false);
        assert!(message.starts_with("public: "), "{message}");
        let message = session.fails(verify.clone(), inputs("public.json", "public.json"), false);
        assert!(message.starts_with("proof: ") || message.starts_with("public: "), "{message}");
        session.write("wrong.json", session.text("public.json").replacen("[\n \"", "[\n \"1", 1));
        session.fails(verify, inputs(&proof, "wrong.json"), false);
    }
    // Outputs that cannot be written are the machine's fault.
    let request = json!({
        "request": "execute", "task": prove("k"), "keys": { "k": session.path("groth16.zkey") },
        "inputs": { "witness": session.path("witness.wtns") }, "outputs": session.path("no/folder"), "threads": 1,
    });
    let (_, reply) = session.line(request.to_string().as_bytes());
    assert!(session.failed(&reply, true).starts_with("proof: "));
    session.verified_again();
    session.end();
}

impl Session {
    /// A proof with Groth16, after other tasks have failed.
    fn verified_again(&mut self) {
        self.done(prove("groth16.zkey"), witness(), 2);
        self.verified("groth16", "groth16.vk.json");
    }
}

#[test]
fn secret_values_stay_secret() {
    let folder = Folder::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../witness/tests/data");
    for file in ["inputs.wasm", "components.wasm", "small.json"] {
        fs::copy(data.join(file), folder.path(file)).unwrap();
    }
    let mut session = Session::of(folder, "");
    let task = json!({ "type": "prove", "key": "groth16.zkey", "program": "inputs.wasm" });
    for (inputs, problem) in [
        (format!(r#"{{"a": "{SECRET}", "b": [1, 2, 3, 4, 5, 6]}}"#), "witness"),
        (format!(r#"{{"a": {SECRET}}}"#), "signals: only 1"),
        (format!(r#"{{"a": "{SECRET}?", "b": []}}"#), "signals: signal a: expected"),
        (format!(r#"{{"a": {SECRET}x}}"#), "signals: not JSON"),
        (SECRET.to_owned(), "signals: expected an object"),
    ] {
        session.write("x.json", &inputs);
        let message = session.fails(task.clone(), json!({ "signals": "x.json" }), false);
        assert!(message.contains(problem), "{message}");
    }
    let input = session.text("input.json");
    let mut signals: Value = serde_json::from_str(&input).unwrap();
    let first = signals.as_object().unwrap().keys().next().unwrap().clone();
    signals[&first] = json!(SECRET);
    session.write("x.json", signals.to_string());
    let task = json!({ "type": "prove", "key": "groth16.zkey", "program": "circuit.wasm" });
    session.fails(task.clone(), json!({ "signals": "x.json" }), false);
    let program = json!({ "type": "prove", "key": "groth16.zkey", "program": "witness.wtns" });
    let message = session.fails(program, json!({ "signals": "input.json" }), false);
    assert!(message.starts_with("program: "), "{message}");
    // What circuits print is nowhere.
    assert_eq!(session.end(), "");
}

#[test]
fn insecure_keys_are_refused_unless_permitted() {
    for (options, permitted) in [("", false), ("--allow-insecure-setup", true)] {
        let folder = Folder::new();
        folder.run("groth16 setup circuit.r1cs pot8.ptau new.zkey --quiet").succeeded();
        let mut session = Session::of(folder, options);
        if permitted {
            session.done(prove("new.zkey"), witness(), 1);
            assert!(session.end().starts_with("warning: "));
        } else {
            let message = session.fails(prove("new.zkey"), witness(), false);
            assert!(message.contains("key: anyone can forge proofs"), "{message}");
            assert_eq!(session.end(), "");
        }
    }
}

#[test]
fn numbers_of_threads_and_levels() {
    let mut session = Session::new("--threads 3 --level portable");
    assert_eq!((&session.ready["threads"], &session.ready["level"]), (&json!(3), &json!("portable")));
    for threads in [1, 2, 5, 0, 3, 1, 1_000_000] {
        for system in SYSTEMS {
            session.done(prove(&format!("{system}.zkey")), witness(), threads);
            session.verified(system, &format!("{system}.vk.json"));
        }
    }
    session.end();
    let folder = Folder::new();
    folder.run("prover --threads 1,2").failed(2);
    folder.run("prover --level none").failed(2);
}

#[test]
fn keys_stay_open_within_bounds() {
    let opens = |phases: &[String]| phases.iter().filter(|phase| phase.starts_with("open ")).count();
    let sequence = |session: &mut Session, keys: &[&str]| -> Vec<usize> {
        keys.iter().map(|key| opens(&session.done(prove(&format!("{key}.zkey")), witness(), 1))).collect()
    };
    let mut session = Session::new("");
    assert_eq!(sequence(&mut session, &["groth16", "groth16", "plonk", "fflonk", "plonk"]), [1, 0, 1, 1, 0]);
    // Also when the file has gone: the digest names the content.
    fs::remove_file(session.path("groth16.zkey")).unwrap();
    assert_eq!(sequence(&mut session, &["groth16"]), [0]);
    let full = json!({ "type": "prove", "key": "plonk.zkey", "program": "circuit.wasm" });
    for expected in [1, 0] {
        assert_eq!(opens(&session.done(full.clone(), json!({ "signals": "input.json" }), 1)), expected);
    }
    session.end();

    let mut session = Session::new("--most-keys 2");
    let keys = ["groth16", "plonk", "groth16", "fflonk", "groth16", "plonk", "fflonk"];
    assert_eq!(sequence(&mut session, &keys), [1, 1, 0, 1, 0, 1, 1]);
    session.end();

    for options in ["--most-keys 0", "--key-memory 0"] {
        let mut session = Session::new(options);
        assert_eq!(sequence(&mut session, &["groth16", "groth16"]), [1, 1]);
        session.end();
    }
}

#[test]
fn what_keys_are() {
    let mut session = Session::new("");
    session.run("plonk setup --arithmetisation ultra circuit.r1cs pot8.ptau ultra").succeeded();
    for (file, kind, domain) in [
        ("groth16.zkey", "groth16", json!(256)),
        ("plonk.zkey", "plonk", json!(256)),
        ("fflonk.zkey", "fflonk", json!(256)),
        ("groth16.vk.json", "verification", Value::Null),
        ("plonk.vk.json", "verification", Value::Null),
        ("fflonk.vk.json", "verification", Value::Null),
    ] {
        let facts = session.inspect(file);
        let found = (&facts["reply"], &facts["kind"], &facts["domain"], &facts["public"]);
        assert_eq!(found, (&json!("key"), &json!(kind), &domain, &json!(3)), "{file}");
        assert!((1 << 20..1 << 28).contains(&facts["memory"].as_u64().unwrap()), "{facts}");
    }
    assert_eq!(session.inspect("ultra")["kind"], "plonk");
    assert_eq!(session.inspect("circuit.wasm")["kind"], "program");
    session.write("deep.json", "[".repeat(1 << 20));
    session.write("deep.wasm", [&b"\0asm\x01\0\0\0"[..], &[0xff; 1000]].concat());
    fs::create_dir(session.path("folder")).unwrap();
    for file in [
        "circuit.r1cs",
        "witness.wtns",
        "pot8.ptau",
        "input.json",
        "public.json",
        "README.md",
        "circuit.sym",
        "groth16.proof.json",
        "plonk.proof.json",
        "deep.json",
        "deep.wasm",
        "folder",
    ] {
        let reply = session.inspect(file);
        assert!(session.failed(&reply, false).starts_with("key: "), "{file}: {reply}");
    }
    let reply = session.inspect("none");
    session.failed(&reply, true);
    session.end();
}

/// Every byte of the headers changed, and files cut: an answer, never a crash.
#[test]
fn hostile_keys() {
    let mut session = Session::new("");
    session.run("plonk setup --arithmetisation ultra circuit.r1cs pot8.ptau ultra").succeeded();
    for file in ["groth16.zkey", "plonk.zkey", "fflonk.zkey", "ultra", "circuit.wasm", "plonk.vk.json"] {
        let whole = session.read(file);
        let places = (0..whole.len().min(700)).chain((700..whole.len()).step_by(whole.len() / 32));
        for place in places {
            for change in [0x5a, 0xff] {
                let mut bytes = whole.clone();
                bytes[place] ^= change;
                session.write("bad", &bytes);
                let reply = session.inspect("bad");
                if reply["reply"] != "key" {
                    session.failed(&reply, false);
                }
            }
        }
        for length in [0, 3, 11, 12, 100, whole.len() / 2, whole.len() - 1] {
            session.write("bad", &whole[..length]);
            let reply = session.inspect("bad");
            session.failed(&reply, false);
            if file.ends_with("zkey") {
                // Each with a digest of its own.
                session.write(&format!("cut{length}"), &whole[..length]);
                session.fails(prove(&format!("cut{length}")), witness(), false);
            }
        }
    }
    session.verified_again();
    assert_eq!(session.end(), "");
}

/// The input's end ends the process also within a task.
#[test]
fn the_end_of_the_input_is_the_end() {
    let mut session = Session::new("");
    let input = session.input.as_mut().unwrap();
    let request = json!({
        "request": "execute", "task": prove("k"), "keys": { "k": session.folder.path("groth16.zkey") },
        "inputs": { "witness": session.folder.path("witness.wtns") }, "outputs": session.folder.path(""), "threads": 1,
    });
    input.write_all(request.to_string().as_bytes()).unwrap();
    input.write_all(b"\n{\"request\"").unwrap();
    drop(session.input.take());
    assert_eq!(session.child.wait().unwrap().code(), Some(0));
}
