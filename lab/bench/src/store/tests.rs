use super::*;
use crate::testing::{any_run, measurement, moment, run};
use proptest::prelude::*;
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStdout, Command, Stdio},
    sync::Barrier,
    thread,
};

/// A store in its own folder.
fn store() -> (tempfile::TempDir, PathBuf, RunStore) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bench.db");
    let store = RunStore::open(&path).unwrap();
    (folder, path, store)
}

fn refusal(path: &Path) -> String {
    let problem = RunStore::open(path).map(drop).unwrap_err().to_string();
    assert!(problem.starts_with(&path.display().to_string()), "{problem}");
    assert!(!problem.contains('\n'), "{problem}");
    problem
}

#[test]
fn runs_persist_when_the_store_is_reopened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/bench.db");
    let mut expected = run(1, "first");
    let store = RunStore::open(&path).unwrap();
    store.begin(&expected).unwrap();
    for i in 1..4 {
        let measurement = measurement(&format!("b{i}"), &[0.1 * f64::from(i), 1.0 / 3.0]);
        store.add(&expected.id, &measurement).unwrap();
        expected.measurements.push(measurement);
    }
    drop(store);
    let store = RunStore::open(&path).unwrap();
    assert_eq!(store.run("first").unwrap(), expected);
    expected.ended = Some(moment(1_700_001_000));
    expected.noise = Noise { steal: Some(0.25), warnings: vec!["a warning".to_owned()], ..Noise::default() };
    store.finish(&expected.id, moment(1_700_001_000), &expected.noise).unwrap();
    assert_eq!(store.run("latest").unwrap(), expected);
    assert_eq!(store.counts().unwrap(), BTreeMap::from([(expected.id.clone(), 3)]));
    expected.measurements.clear();
    assert_eq!(store.runs().unwrap(), [expected.clone()]);
    assert_eq!(store.remove("first").unwrap(), expected);
    assert_eq!(store.counts().unwrap(), BTreeMap::new());
    let left: i64 =
        store.connection.query_row("SELECT count(*) FROM measurements", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_run_is_stored_without_rounding(expected in any_run()) {
        let (_folder, _, store) = store();
        prop_assert_eq!(store.import(std::slice::from_ref(&expected)).unwrap(), [Imported::Added]);
        prop_assert_eq!(&store.run(&expected.id).unwrap(), &expected);
        prop_assert_eq!(store.import(&[expected]).unwrap(), [Imported::Present]);
    }
}

#[test]
fn runs_are_named_by_id_label_and_latest() {
    let (_folder, _, store) = store();
    assert!(store.run("latest").unwrap_err().to_string().ends_with("there are no runs yet"));
    let runs = [run(0xabc << 116, "one"), run(0xabd << 116, "twin"), run(0x123 << 116, "twin")];
    let runs = [(3, &runs[0]), (2, &runs[1]), (1, &runs[2])].map(|(began, run)| {
        let run = BenchRun { began: moment(began), ..run.clone() };
        store.begin(&run).unwrap();
        run
    });
    for (name, expected) in [("latest", 0), ("one", 0), ("abc", 0), ("abd", 1), ("1", 2), (&runs[1].id, 1)] {
        assert_eq!(store.run(name).unwrap(), runs[expected], "{name}");
    }
    for (name, expected) in [
        ("ab", "2 runs are called ab"),
        ("twin", "2 runs are called twin: name one by its id (the newest is abd0"),
        ("", "no run is called"),
        ("tw", "no run is called tw: `proofmill bench runs` lists them"),
    ] {
        let problem = store.run(name).unwrap_err().to_string();
        assert!(problem.contains(expected), "{problem}");
    }
}

#[test]
fn invalid_runs_and_measurements_are_refused() {
    let (_folder, _, store) = store();
    let known = run(1, "known");
    store.begin(&known).unwrap();
    for seconds in [&[][..], &[f64::NAN], &[-1.0], &[1.0, f64::INFINITY]] {
        let problem = store.add(&known.id, &measurement("b", seconds)).unwrap_err().to_string();
        assert!(problem.contains("this row cannot be stored: seconds: "), "{problem}");
    }
    let problem = store.add(&run(2, "").id, &measurement("b", &[1.0])).unwrap_err().to_string();
    assert!(problem.contains("the run has been removed"), "{problem}");
    assert!(store.begin(&known).unwrap_err().to_string().contains("exists already"));
    assert!(store.begin(&run(2, "a\u{1b}b")).unwrap_err().to_string().contains("control character"));
    let failed = Measurement {
        outcome: RowOutcome::Failed { reason: "\u{1b}[31mtwo\nlines\n".to_owned() },
        version: Some("\n".to_owned()),
        ..measurement("b", &[])
    };
    store.add(&known.id, &failed).unwrap();
    let stored = store.run("known").unwrap().measurements.pop().unwrap();
    assert_eq!(stored.outcome, RowOutcome::Failed { reason: "[31mtwo lines".to_owned() });
    assert_eq!(stored.version, None);
}

#[test]
fn imports_are_all_or_nothing_and_never_overwrite() {
    let (_folder, _, store) = store();
    let mut mine = run(1, "mine");
    mine.measurements = vec![measurement("b", &[1.0])];
    assert_eq!(store.import(&[mine.clone(), run(2, "2")]).unwrap(), [Imported::Added; 2]);
    assert_eq!(store.import(&[run(3, "3"), mine.clone()]).unwrap(), [Imported::Added, Imported::Present]);
    let mut other = mine.clone();
    other.measurements[0] = measurement("b", &[1.0 + f64::EPSILON]);
    let problem = store.import(&[run(4, "4"), other.clone()]).unwrap_err().to_string();
    assert!(problem.contains(&format!("run {} is stored with other contents", mine.id)), "{problem}");
    assert_eq!(store.runs().unwrap().len(), 3);
    assert_eq!(store.run("mine").unwrap(), mine);
    store.remove("mine").unwrap();
    assert_eq!(store.import(&[other.clone()]).unwrap(), [Imported::Added]);
    assert_eq!(store.run("mine").unwrap(), other);
}

/// A database with the first schema.
fn first_schema(path: &Path, run: &BenchRun) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(MIGRATIONS[0]).unwrap();
    connection.pragma_update(None, "application_id", APPLICATION).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    let facts = serde_json::to_string(&BenchRun { measurements: Vec::new(), ..run.clone() }).unwrap();
    connection.execute("INSERT INTO runs (id, facts) VALUES (?, ?)", params![run.id, facts]).unwrap();
    for (i, measurement) in run.measurements.iter().enumerate() {
        let sql = "INSERT INTO measurements (run, number, median, measurement) VALUES (?, ?, 1.0, ?)";
        let json = serde_json::to_string(measurement).unwrap();
        connection.execute(sql, params![run.id, i as i64 + 1, json]).unwrap();
    }
}

#[test]
fn an_older_schema_is_updated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bench.db");
    let mut expected = run(1, "old");
    expected.measurements = vec![measurement("b1", &[1.0]), measurement("b2", &[0.1, 0.3])];
    first_schema(&path, &expected);
    let store = RunStore::open(&path).unwrap();
    assert_eq!(store.run("old").unwrap(), expected);
    assert_eq!(store.version().unwrap(), MIGRATIONS.len());
    let new = measurement("b3", &[0.5]);
    store.add(&expected.id, &new).unwrap();
    expected.measurements.push(new);
    drop(store);
    assert_eq!(RunStore::open(&path).unwrap().run("old").unwrap(), expected);
}

/// A migration is applied entirely or not at all.
#[test]
fn a_migration_that_fails_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bench.db");
    first_schema(&path, &run(1, "old"));
    let connection = Connection::open(&path).unwrap();
    // The column that the second step adds exists already.
    connection.execute_batch("ALTER TABLE measurements ADD COLUMN digest TEXT").unwrap();
    drop(connection);
    assert!(refusal(&path).contains("duplicate column name"), "{}", refusal(&path));
    let connection = Connection::open(&path).unwrap();
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 1);
    assert!(connection.prepare("SELECT digest FROM runs").is_err());
}

#[test]
fn foreign_and_newer_files_are_refused_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (_newer_folder, newer_path, newer) = store();
    newer.connection.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    fs::copy(newer_path, path("newer.db")).unwrap();
    Connection::open(path("foreign.db")).unwrap().execute_batch("CREATE TABLE cats (name)").unwrap();
    fs::write(path("random.db"), (0..9999_u32).map(|i| ((i * i) >> 3) as u8).collect::<Vec<_>>()).unwrap();
    fs::write(path("text.db"), "hello\n".repeat(1000)).unwrap();
    for (name, expected) in [
        ("newer.db", "expected schema 2 or older, found 99: a newer Proofmill made it"),
        ("foreign.db", "not one of Proofmill's"),
        ("random.db", "not a SQLite database"),
        ("text.db", "not a SQLite database"),
    ] {
        let before = fs::read(path(name)).unwrap();
        let problem = refusal(&path(name));
        assert!(problem.contains(expected), "{problem}");
        assert_eq!(fs::read(path(name)).unwrap(), before, "{name}");
    }
    assert!(refusal(folder.path()).contains("must be writable"), "{}", refusal(folder.path()));
}

/// The bytes of a store with one run of many rows.
fn bytes() -> (BenchRun, Vec<u8>) {
    let (_folder, path, store) = store();
    let mut run = run(1, "precious");
    run.measurements =
        (0..40).map(|i| measurement(&format!("b{i}"), &[0.1, 0.2, f64::from(i + 1)])).collect();
    store.import(&[run.clone()]).unwrap();
    drop(store);
    (run, fs::read(path).unwrap())
}

/// Reading a damaged file gives the stored run or an error, and does not change the file. Returns whether
/// there was an error.
fn check_damaged(bytes: &[u8], run: &BenchRun) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.db");
    fs::write(&path, bytes).unwrap();
    let Ok(store) = RunStore::open(&path) else {
        refusal(&path);
        assert!(fs::read(&path).unwrap() == bytes, "a damaged file was changed");
        return true;
    };
    match store.run("precious") {
        Ok(found) => {
            assert_eq!(&found, run);
            false
        }
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            true
        }
    }
}

#[test]
fn damage_is_noticed_wherever_it_is() {
    let (run, bytes) = bytes();
    assert!(!check_damaged(&bytes, &run));
    let mut noticed = 0;
    let places: Vec<usize> = (0..100).chain((100..bytes.len()).step_by(61)).collect();
    for place in &places {
        let mut damaged = bytes.clone();
        damaged[*place] ^= 1 << (place % 8);
        noticed += usize::from(check_damaged(&damaged, &run));
    }
    // The other bytes are free space, and columns that are not read.
    assert!(noticed * 2 > places.len(), "{noticed} of {}", places.len());
    for page in 0..bytes.len() / 4096 {
        let mut damaged = bytes.clone();
        damaged[page * 4096..][..4096].fill(0x5a);
        check_damaged(&damaged, &run);
    }
    for length in [1, 15, 16, 99, 100, 4095, 4096, 8192, bytes.len() / 2, bytes.len() - 4096, bytes.len() - 1]
    {
        assert!(check_damaged(&bytes[..length], &run), "cut to {length} bytes");
    }
}

#[test]
fn a_digit_changed_by_the_disk_is_noticed() {
    let (run, mut bytes) = bytes();
    let text = b"\"seconds\":[0.1,0.2,7.0]";
    // The row, and old copies of it in pages' free space.
    for place in 0..bytes.len() - text.len() {
        if bytes[place..].starts_with(text) {
            bytes[place + 11] = b'3';
        }
    }
    assert!(check_damaged(&bytes, &run));
}

#[test]
fn concurrent_creation_gives_one_store() {
    for _ in 0..30 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x/bench.db");
        let barrier = Barrier::new(6);
        thread::scope(|scope| {
            for i in 0..6 {
                let (path, barrier) = (&path, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    RunStore::open(path).unwrap().begin(&run(i, "a run")).unwrap();
                });
            }
        });
        assert_eq!(RunStore::open(&path).unwrap().runs().unwrap().len(), 6);
    }
}

/// Not a test: a process for other tests that adds rows to a run and prints which are done.
#[test]
#[ignore = "started by other tests"]
fn writer() {
    let Ok(words) = std::env::var("PROOFMILL_TEST_WRITER") else { return };
    let words: Vec<&str> = words.split(' ').collect();
    let [path, id, count] = words[..] else { panic!("{words:?}") };
    let store = match RunStore::open(Path::new(path)) {
        Ok(store) => store,
        Err(error) => return println!("\nrefused {error}"),
    };
    for i in 0..count.parse().unwrap() {
        match store.add(id, &measurement(&format!("b{i}"), &[0.1; 50])) {
            Ok(()) => println!("\ndone"),
            Err(error) => return println!("\nrefused {error}"),
        }
    }
}

/// Starts the writer through the shell script `shell`, which gets its command as arguments.
fn start_writer(shell: &str, path: &Path, run: &BenchRun, count: usize) -> (Child, BufReader<ChildStdout>) {
    let program = std::env::current_exe().unwrap();
    let mut child = Command::new("sh")
        .args(["-c", shell, "sh"])
        .arg(program)
        .args(["store::tests::writer", "--exact", "--ignored", "--nocapture"])
        .env("PROOFMILL_TEST_WRITER", format!("{} {} {count}", path.display(), run.id))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

/// The number of rows that a writer has finished, and its error.
fn report(mut output: BufReader<ChildStdout>) -> (usize, Option<String>) {
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    let refused = text.lines().find_map(|line| line.strip_prefix("refused ").map(str::to_owned));
    (text.lines().filter(|line| *line == "done").count(), refused)
}

#[test]
fn processes_add_rows_concurrently() {
    let (_folder, path, store) = store();
    let runs = [run(1, "one"), run(2, "other")];
    runs.iter().for_each(|run| store.begin(run).unwrap());
    let writers = [0, 1, 0, 1].map(|i| start_writer("exec \"$@\"", &path, &runs[i], 25));
    for (mut child, output) in writers {
        assert_eq!(report(output), (25, None));
        assert!(child.wait().unwrap().success());
    }
    for run in &runs {
        assert_eq!(store.run(&run.id).unwrap().measurements.len(), 50);
    }
}

#[test]
fn a_kill_loses_no_finished_row() {
    let (_folder, path, store) = store();
    let mut finished = 0;
    for i in 0..8 {
        let run = run(i, &format!("run {i}"));
        store.begin(&run).unwrap();
        let (mut child, mut output) = start_writer("exec \"$@\"", &path, &run, 1_000_000);
        let mut line = String::new();
        let mut done = 0;
        while done < 3 * i + 1 {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0);
            done += u128::from(line == "done\n");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let done = done as usize + report(output).0;
        let there = store.run(&run.id).unwrap().measurements.len();
        // The writer may have been killed after storing the last row and before reporting it.
        assert!(there == done || there == done + 1, "{there} rows, {done} finished");
        finished += done;
    }
    assert!(finished >= 92, "{finished}");
    drop(store);
    RunStore::open(&path).unwrap();
}

/// Checks the rows that a writer stored before its disk was full.
fn check_full(path: &Path, run: &BenchRun, output: BufReader<ChildStdout>) {
    let (done, refused) = report(output);
    let refused = refused.expect("the disk is full");
    assert!(done > 0 && refused.starts_with(&path.display().to_string()), "{done} {refused}");
    assert!(refused.contains("room on its disk? What was finished before is kept"), "{refused}");
    assert_eq!(RunStore::open(path).unwrap().run(&run.id).unwrap().measurements.len(), done);
}

#[test]
fn a_full_disk_keeps_finished_rows() {
    let (_folder, path, store) = store();
    let run = run(1, "a run");
    store.begin(&run).unwrap();
    drop(store);
    // A limit on the file's length: 100 kB.
    let shell = "trap '' XFSZ; ulimit -f 200; exec \"$@\"";
    let (mut child, output) = start_writer(shell, &path, &run, 10_000);
    check_full(&path, &run, output);
    child.wait().unwrap();
}

/// A file system that is really full, if the user may mount one.
#[test]
fn a_full_file_system_keeps_finished_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (disk, kept) = (folder.path().join("disk"), folder.path().join("kept"));
    fs::create_dir(&disk).unwrap();
    fs::create_dir(&kept).unwrap();
    let mount = format!("mount -t tmpfs -o size=300k tmpfs {}", disk.display());
    let permitted = Command::new("unshare").args(["-rm", "sh", "-c", &mount]).stderr(Stdio::null()).status();
    if !permitted.is_ok_and(|status| status.success()) {
        eprintln!("mounting is not permitted: the test is skipped");
        return;
    }
    let run = run(1, "a run");
    let path = disk.join("bench.db");
    let copy = kept.join("bench.db");
    let store = RunStore::open(&copy).unwrap();
    store.begin(&run).unwrap();
    drop(store);
    let (copy_name, disk_name) = (copy.display(), path.display());
    // The file system disappears when the shell ends.
    let shell = format!(
        "unshare -rm sh -c '{mount} && cp {copy_name} {disk_name} && \"$@\"; cp {disk_name}* {}' sh \"$@\"",
        kept.display()
    );
    let (mut child, output) = start_writer(&shell, &path, &run, 10_000);
    let (done, refused) = report(output);
    child.wait().unwrap();
    let refused = refused.expect("the disk is full");
    assert!(done > 0 && refused.contains("disk is full: is there room on its disk?"), "{done} {refused}");
    assert_eq!(RunStore::open(&copy).unwrap().run(&run.id).unwrap().measurements.len(), done);
}

/// Reads a store through Python's SQLite module.
#[test]
fn python_reads_a_store() {
    let (_folder, path, store) = store();
    let mut run = run(1, "mine");
    run.measurements = vec![measurement("b1", &[0.5, 0.25, 1.0]), measurement("b2", &[2.0])];
    store.import(&[run]).unwrap();
    let script = "
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
rows = connection.execute('''SELECT label, cpu, family, benchmark, size, implementation, measurements.threads, median,
    per_second, unit, status FROM measurements JOIN runs ON runs.id = run ORDER BY number''').fetchall()
assert rows == [('mine', 'a CPU', 'msm', 'b1', 1024, 'portable', 1, 0.5, 2048.0, 'points', 'measured'),
    ('mine', 'a CPU', 'msm', 'b2', 1024, 'portable', 1, 2.0, 512.0, 'points', 'measured')], rows
samples = connection.execute('''SELECT number, value FROM measurements,
    json_each(measurement, '$.outcome.seconds') WHERE benchmark = 'b1' ''').fetchall()
assert samples == [(1, 0.5), (1, 0.25), (1, 1.0)], samples
assert connection.execute('PRAGMA integrity_check').fetchone() == ('ok',)
";
    let output = Command::new("python3").args(["-c", script]).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
