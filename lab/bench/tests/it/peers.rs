//! The runners' protocol, tested with programs that follow it and programs that break it.

use proofmill_bench::{
    BenchError,
    definition::Family,
    peers::{Assignment, Build, Peers, Runner, RunnerLimits},
};
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// A runner that follows the protocol.
const GOOD: &str = r#"
echo "ready 0123456789abcdef 1.2.3"
while read -r word count; do
    sleep 0.01
    echo "done $((count * 1000)) $((count * 900))"
done
"#;

const ASSIGNMENT: Assignment<'_> =
    Assignment { kernel: "msm/bn254-g1", size: 1024, threads: 2, input: b"points and scalars" };

const LIMITS: RunnerLimits = RunnerLimits { ready: Duration::from_secs(10), run: Duration::from_secs(10) };

/// A folder with one peer whose runner is `script`.
fn peers(script: &str) -> (TempDir, Peers) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("runner.sh"), script).expect("a script");
    let list = r#"
        [[peer]]
        name = "fake"
        folder = "."
        needs = "sh"
        remedy = "apt-get install dash"
        build = ["sh", "-c", "test -f runner.sh"]
        run = ["sh", "runner.sh"]
        parallel = ["msm/bn254-g1"]
        serial = ["pairing/bn254"]
    "#;
    fs::write(folder.path().join("peers.toml"), list).expect("a list");
    let peers = Peers::read(folder.path()).expect("a list of peers");
    (folder, peers)
}

fn start(script: &str, limits: RunnerLimits) -> Result<Runner, BenchError> {
    let (_folder, peers) = peers(script);
    Runner::start(&peers.all()[0], &ASSIGNMENT, limits)
}

/// The error of starting a runner with this script.
fn refusal(script: &str) -> String {
    start(script, LIMITS).expect_err("a runner that breaks the protocol").to_string()
}

/// The error of a runner that replies `reply` to a request of three iterations.
fn failure(reply: &str) -> String {
    let script = format!("echo 'ready 0123456789abcdef 1'\nread -r line\n{reply}");
    let mut runner = start(&script, LIMITS).expect("a runner that is ready");
    runner.run(3).expect_err("a runner that breaks the protocol").to_string()
}

/// Whether a process with this number exists.
fn lives(process: &str) -> bool {
    Path::new("/proc").join(process).exists()
}

#[test]
fn a_good_runner_accepts_repeated_requests() {
    let mut runner = start(GOOD, LIMITS).expect("a runner");
    assert_eq!((runner.answer(), runner.version()), ("0123456789abcdef", "1.2.3"));
    for iterations in [1, 1, 1000] {
        let times = runner.run(iterations).expect("times");
        assert_eq!(times.wall, Duration::from_nanos(iterations * 1000));
        assert_eq!(times.cpu, Duration::from_nanos(iterations * 900));
    }
}

#[test]
fn a_runner_receives_its_assignment() {
    let script = r#"
        words="$1,$2,$3,$(cat "$4")"
        echo "ready 0123456789abcdef $words"
    "#;
    let runner = start(script, LIMITS).expect("a runner");
    assert_eq!(runner.version(), "msm/bn254-g1,1024,2,points and scalars");
}

#[test]
fn invalid_ready_lines_are_refused() {
    let beginning = "msm/bn254-g1 of 1024 by fake: expected its runner to say ready DIGEST VERSION, found ";
    for line in
        ["hello", "ready", "ready 0123", "ready 0123456789ABCDEF 1", "ready 0123456789abcdef", "done 1 1"]
    {
        assert_eq!(refusal(&format!("echo '{line}'; sleep 60")), format!("{beginning}\"{line}\""));
    }
    assert_eq!(refusal(r"printf '\033[2Jx\n'"), format!(r#"{beginning}"\u{{1b}}[2Jx""#));
    assert!(
        refusal("while :; do printf xxxxxxxxxxxxxxxx; done")
            .ends_with("its runner wrote a line of more than 1024 bytes")
    );
}

#[test]
fn invalid_done_lines_are_refused() {
    for reply in [
        "ready 0123456789abcdef 1",
        "done",
        "done 5",
        "done -5 5",
        "done 5 5 5",
        "done 1.5 1",
        "done 99999999999999999999 1",
    ] {
        let error = failure(&format!("echo '{reply}'; sleep 60"));
        assert!(error.ends_with(&format!("to say done WALL CPU, found \"{reply}\"")), "{error}");
    }
    for impossible in ["done 0 0", "done 10000000000 5"] {
        let error = failure(&format!("echo '{impossible}'; sleep 60"));
        assert!(error.contains("a wall time from 1 to"), "{error}");
    }
}

#[test]
fn a_reply_without_a_request_is_refused() {
    let mut runner =
        start("echo 'ready 0123456789abcdef 1'; echo 'done 5 5'; sleep 60", LIMITS).expect("a runner");
    // Waits for the line: if it arrived after the request, it would count as the reply.
    std::thread::sleep(Duration::from_millis(300));
    let error = runner.run(1).expect_err("a reply too early").to_string();
    assert!(
        error.ends_with("expected its runner to say nothing before it is asked, found \"done 5 5\""),
        "{error}"
    );
}

#[test]
fn errors_and_exits_are_reported() {
    let name = "msm/bn254-g1 of 1024 by fake: ";
    assert_eq!(refusal("echo 'error no such kernel'; sleep 60"), format!("{name}no such kernel"));
    let death = "echo 'some warning' >&2; echo 'error: no memory' >&2; echo 'the end' >&2; exit 3";
    let expected = "its runner ended with exit status: 3: error: no memory";
    assert_eq!(refusal(death), format!("{name}{expected}"));
    assert!(failure(death).ends_with(expected));
    assert!(failure("kill -9 $$").ends_with("its runner ended with signal: 9 (SIGKILL)"));
    // A line without its end is incomplete.
    assert!(failure("printf 'done 5 5'").ends_with("its runner ended with exit status: 0"));
}

#[test]
fn silent_runners_time_out() {
    let short = RunnerLimits { ready: Duration::from_millis(300), run: Duration::from_millis(300) };
    let began = Instant::now();
    let error = start("sleep 60", short).expect_err("silence").to_string();
    assert!(error.ends_with("its runner did not answer within 0.3 s"), "{error}");
    let mut runner =
        start("echo 'ready 0123456789abcdef 1'; sleep 60", RunnerLimits { run: short.run, ..LIMITS });
    assert!(runner.as_mut().expect("a runner").run(1).is_err());
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_runner_that_closes_its_output_and_goes_on_is_ended() {
    let error = refusal("echo $$ >&2; exec >&-; sleep 60");
    assert!(error.contains("its runner closed its output and went on: "), "{error}");
    let process = error.rsplit(": ").next().expect("its number");
    assert!(!lives(process), "{error}");
}

#[test]
fn a_dropped_runner_is_dead() {
    let runner =
        start("echo \"ready 0123456789abcdef $$\"; while :; do sleep 1; done", LIMITS).expect("a runner");
    let process = runner.version().to_owned();
    assert!(lives(&process));
    drop(runner);
    assert!(!lives(&process));
}

#[test]
fn peers_are_found_by_kernel_and_threads() {
    let (_folder, peers) = peers(GOOD);
    let of = |kernel, threads| peers.of(kernel, threads).map(|peer| peer.name.as_str()).collect::<Vec<_>>();
    assert_eq!(of("msm/bn254-g1", 8), ["fake"]);
    assert_eq!(of("pairing/bn254", 1), ["fake"]);
    assert!(of("pairing/bn254", 2).is_empty() && of("ntt/bn254", 1).is_empty());
    assert_eq!(
        peers.named("fake").expect("a peer").kernels().collect::<Vec<_>>(),
        ["msm/bn254-g1", "pairing/bn254"]
    );
}

#[test]
fn invalid_lists_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = Peers::read(folder.path()).expect_err("no list").to_string();
    assert!(missing.contains("peers.toml"), "{missing}");
    let peer = |name: &str, folder: &str, run: &str| {
        format!(
            "[[peer]]\nname = '{name}'\nfolder = '{folder}'\nneeds = 'sh'\nremedy = ''\nbuild = ['true']\nrun = [{run}]\nparallel = ['a/b']\n"
        )
    };
    for (list, problem) in [
        ("peer = 1".to_owned(), "invalid type"),
        (peer("a", "../a", "'x'"), "expected a folder within the list's, found ../a"),
        (peer("a", "/a", "'x'"), "expected a folder within the list's, found /a"),
        (peer("a", "a", ""), "expected the words of two commands"),
        (
            peer("a", "a", "'x'") + "serial = ['a/b']",
            "expected a/b in parallel or in serial, found it in both",
        ),
        (peer("a", "a", "'x'") + "colour = 1", "unknown field `colour`"),
        (peer("a", "a", "'x'") + &peer("a", "b", "'x'"), "found a again"),
    ] {
        fs::write(folder.path().join("peers.toml"), &list).expect("a list");
        let error = Peers::read(folder.path()).expect_err("no list").to_string();
        assert!(error.contains(problem) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn builds_are_done_skipped_or_failed() {
    let (folder, _) = peers(GOOD);
    let built = |old: &str, new: &str| {
        let path = folder.path().join("peers.toml");
        let list = fs::read_to_string(&path).expect("a list");
        assert!(list.contains(old));
        fs::write(&path, list.replace(old, new)).expect("a list");
        let built = Peers::read(folder.path()).expect("a list of peers").all()[0].build();
        fs::write(&path, list).expect("a list");
        built
    };
    assert_eq!(built("test -f", "test -f").expect("a build"), Build::Done);
    let absent = built(r#"needs = "sh""#, r#"needs = "no-such-compiler""#).expect("an answer");
    assert_eq!(absent, Build::Absent { remedy: "apt-get install dash".to_owned() });
    let script = "echo 'compiling' >&2; echo 'error: no such module' >&2; echo >&2; exit 1; test";
    let error = built("test", script).expect_err("a failure").to_string();
    assert!(
        error.starts_with("peer fake: sh -c ") && error.ends_with("exit status: 1: error: no such module"),
        "{error}"
    );
}

/// The repository's list names only benchmarks that are defined.
#[test]
fn the_list_names_benchmarks_that_are_defined() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab");
    let mut defined = Vec::new();
    for file in fs::read_dir(folder.join("definitions")).expect("definitions") {
        let path = file.expect("a definition").path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let family = Family::parse(name, &fs::read_to_string(&path).expect("a text")).expect("a definition");
        defined.extend(family.benchmarks.iter().map(|benchmark| format!("{name}/{}", benchmark.name)));
    }
    let peers = Peers::read(&folder.join("peers")).expect("the repository's list");
    assert!(peers.all().len() > 4);
    for peer in peers.all() {
        let unknown: Vec<&str> =
            peer.kernels().filter(|kernel| !defined.iter().any(|name| name == kernel)).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", peer.name);
    }
}
