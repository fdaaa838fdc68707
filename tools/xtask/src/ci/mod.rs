//! `cargo xtask ci`: the checks that a change must pass, and `cargo xtask record`: records of those that need not be executed every time.

mod checks;
mod record;

use checks::{CHECKS, Check};
use std::{
    env,
    ffi::OsString,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// The checks that are executed at a time, of those that leave cores idle.
const AT_A_TIME: usize = 2;

/// The folder of what checks install and build.
const TOOLS: &str = "target/ci";

/// The longest that a check may take.
const LIMIT: Duration = Duration::from_secs(45 * 60);

/// The limit of a run that makes no records: what has not been checked by then has failed.
const RUN_LIMIT: Duration = Duration::from_secs(86 * 60);

/// Lines of the output that say what failed, at most so many of each check.
const MOST_FAILURES: usize = 20;

/// Where checks are executed, and what they have found.
struct Run {
    root: PathBuf,
    began: Instant,
    /// Whether a check with a record of these sources is left out.
    takes_records: bool,
    /// Whether checks that pass are recorded.
    makes_records: bool,
    /// Held while tools are installed, which all checks share.
    installing: Mutex<()>,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    /// Tests that test runners counted, and checks.
    passed: u64,
    failed: u64,
    failures: Vec<String>,
}

/// Executes the checks of these lanes, or with these names. If none are named, all that have no record of these sources.
pub(crate) fn run(selected: &[&str]) -> Result<(), String> {
    Run::new(selected.is_empty(), false).all(&selection(selected)?)
}

/// Executes checks and records those that pass: the named ones, or all that may have a record and have none of these sources.
pub(crate) fn record(selected: &[&str]) -> Result<(), String> {
    let mut checks = selection(selected)?;
    if selected.is_empty() {
        checks.retain(|check| check.covered.is_some());
    } else if let Some(check) = checks.iter().find(|check| check.covered.is_none()) {
        return Err(format!("{}: it is executed every time and has no record", check.name));
    }
    Run::new(selected.is_empty(), true).all(&checks)
}

/// Prints which checks have a record of these sources.
pub(crate) fn records() -> Result<(), String> {
    for check in CHECKS {
        if let Some(covered) = &check.covered {
            match record::read(&crate::root(), check.name, covered)? {
                Some(record) => println!("{}: {record}", check.name),
                None => println!("{}: no record of these sources", check.name),
            }
        }
    }
    Ok(())
}

/// The list for users.
pub(crate) fn list() -> String {
    let mut lanes: Vec<(&str, Vec<&str>)> = Vec::new();
    for check in CHECKS {
        match lanes.iter_mut().find(|(lane, _)| *lane == check.lane) {
            Some((_, names)) => names.push(check.name),
            None => lanes.push((check.lane, vec![check.name])),
        }
    }
    lanes.iter().map(|(lane, names)| format!("    {lane}: {}\n", names.join(", "))).collect()
}

/// The checks that are named, or whose lane is; all if nothing is.
fn selection(selected: &[&str]) -> Result<Vec<&'static Check>, String> {
    let matches = |check: &Check, name: &str| check.lane == name || check.name == name;
    if let Some(unknown) = selected.iter().find(|name| !CHECKS.iter().any(|check| matches(check, name))) {
        return Err(format!("no lane or check is named {unknown}; expected one of\n{}", list()));
    }
    let is_selected =
        |check: &&Check| selected.is_empty() || selected.iter().any(|name| matches(check, name));
    Ok(CHECKS.iter().filter(is_selected).collect())
}

impl Run {
    fn new(takes_records: bool, makes_records: bool) -> Self {
        Self {
            root: crate::root(),
            began: Instant::now(),
            takes_records,
            makes_records,
            installing: Mutex::default(),
            found: Mutex::default(),
        }
    }

    /// Executes these checks, several at a time where they leave cores idle.
    fn all(self, checks: &[&Check]) -> Result<(), String> {
        for group in checks.chunk_by(|a, b| a.shares && b.shares) {
            match group {
                [check] => self.execute(check, &print_line),
                _ => self.execute_sharing(group),
            }
        }
        self.end()
    }

    /// Executes checks [`AT_A_TIME`], and prints each one's output when it has ended.
    fn execute_sharing(&self, checks: &[&Check]) {
        let left = Mutex::new(checks.iter());
        thread::scope(|scope| {
            for _ in 0..AT_A_TIME {
                scope.spawn(|| {
                    loop {
                        let Some(check) = lock(&left).next() else { break };
                        let output = Mutex::new(String::new());
                        self.execute(check, &|line| *lock(&output) += &format!("{line}\n"));
                        print!("{}", lock(&output));
                    }
                });
            }
        });
    }

    /// Executes a check, unless there is a record of it that counts.
    fn execute(&self, check: &Check, print: &dyn Fn(&str)) {
        let began = Instant::now();
        let result = match self.recorded(check) {
            Ok(Some(record)) => return print(&format!("== {}: {record}", check.name)),
            Ok(None) => {
                print(&format!("== {}: {}", check.name, check.script));
                self.checked(check, print)
            }
            Err(problem) => Err(problem),
        };
        let seconds = began.elapsed().as_secs();
        let mut found = lock(&self.found);
        match result {
            Ok(()) => {
                found.passed += 1;
                print(&format!("== {}: passed in {seconds} s", check.name));
            }
            Err(problem) => {
                found.failed += 1;
                print(&format!("== {}: FAILED after {seconds} s: {problem}", check.name));
                let instead = match check.covered {
                    None => String::new(),
                    Some(_) => {
                        format!("; `cargo xtask record {}` executes it and makes its record", check.name)
                    }
                };
                found.failures.push(format!("{}: {problem}{instead}", check.name));
            }
        }
    }

    /// The record of a check, if records count and there is one of these sources.
    fn recorded(&self, check: &Check) -> Result<Option<record::Record>, String> {
        match &check.covered {
            Some(covered) if self.takes_records => record::read(&self.root, check.name, covered),
            _ => Ok(None),
        }
    }

    /// Installs what a check needs, executes it, and makes its record if that is wanted.
    fn checked(&self, check: &Check, print: &dyn Fn(&str)) -> Result<(), String> {
        if !check.needs.is_empty() {
            let _installing = lock(&self.installing);
            self.script(&format!(".ci/install.sh {TOOLS} {}", check.needs), print)?;
        }
        match &check.covered {
            Some(covered) if self.makes_records => {
                let sources = record::digest(&self.root, covered)?;
                let began = Instant::now();
                self.script(check.script, print)?;
                record::write(&self.root, check.name, covered, &sources, began.elapsed())
            }
            _ => self.script(check.script, print),
        }
    }

    /// Executes a script, prints what it prints, and counts the tests in it.
    fn script(&self, script: &str, print: &dyn Fn(&str)) -> Result<(), String> {
        let left = RUN_LIMIT.saturating_sub(self.began.elapsed());
        let limit = if self.makes_records { LIMIT } else { LIMIT.min(left) };
        if limit.is_zero() {
            return Err(format!("not begun, the run has taken {} minutes", RUN_LIMIT.as_secs() / 60));
        }
        let tools = self.root.join(TOOLS);
        fs::create_dir_all(&tools).map_err(|error| format!("{}: {error}", tools.display()))?;
        let mut child = Command::new("timeout")
            .args(["--kill-after=10", &limit.as_secs().max(1).to_string()])
            .args(["bash", "-euo", "pipefail", "-c", &format!("exec 2>&1; {script}")])
            .current_dir(&self.root)
            .envs(environment(&tools))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("timeout: {error}"))?;
        let mut named = Vec::new();
        for line in BufReader::new(child.stdout.take().expect("a pipe")).split(b'\n') {
            let line = line.map_err(|error| error.to_string())?;
            let line = String::from_utf8_lossy(&line);
            print(&line);
            if let Some((passed, failed)) = counts(&line) {
                let mut found = lock(&self.found);
                found.passed += passed;
                found.failed += failed;
            }
            if named.len() < MOST_FAILURES && says_failure(&line) {
                named.push(line.into_owned());
            }
        }
        let status = child.wait().map_err(|error| error.to_string())?;
        match status.code() {
            Some(0) => Ok(()),
            Some(124 | 137) => Err(format!("not done after {} s", limit.as_secs())),
            _ if named.is_empty() => Err(status.to_string()),
            _ => Err(named.join("; ")),
        }
    }

    fn end(self) -> Result<(), String> {
        let Found { passed, failed, failures } = &*lock(&self.found);
        failures.iter().for_each(|failure| println!("{failure}"));
        let counts = format!("{passed} passed, {failed} failed");
        if *failed > 0 {
            return Err(counts);
        }
        println!("{counts}");
        Ok(())
    }
}

fn print_line(line: &str) {
    println!("{line}");
}

/// What another thread left half-done by a panic is only printed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The variables of a check: installed tools are found, and nothing that a check requires may be missing.
fn environment(tools: &Path) -> Vec<(&'static str, OsString)> {
    let path = env::var_os("PATH").unwrap_or_default();
    let own = [tools.join("bin"), tools.join("node_modules/.bin")];
    let path = own.into_iter().chain(env::split_paths(&path));
    vec![
        ("PATH", env::join_paths(path).unwrap_or_default()),
        ("NODE_PATH", tools.join("node_modules").into()),
        ("CARGO_TERM_COLOR", "never".into()),
        ("CARGO_INCREMENTAL", "0".into()),
        ("PROOFMILL_REQUIRE_PROGRAMS", "1".into()),
        ("PROOFMILL_REQUIRE_STORES", "postgres,s3".into()),
    ]
}

/// The tests that passed and failed, of a line in which a test runner of Rust counts them.
fn counts(line: &str) -> Option<(u64, u64)> {
    let counts = line.strip_prefix("test result: ")?;
    let of = |what: &str| {
        let (before, _) = counts.split_once(what)?;
        before.rsplit([' ', '.']).next()?.parse().ok()
    };
    Some((of(" passed")?, of(" failed")?))
}

/// Whether a line names what failed.
fn says_failure(line: &str) -> bool {
    line.starts_with("error")
        || line.starts_with("FAILED")
        || line.starts_with("test ") && line.ends_with("FAILED")
}

#[cfg(test)]
mod tests {
    use super::{CHECKS, counts, record, says_failure, selection};

    #[test]
    fn tests_are_counted() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.17s";
        assert_eq!(counts(line), Some((12, 3)));
        assert_eq!(counts("running 3 tests"), None);
        assert!(says_failure("test store::open::closed ... FAILED"));
        assert!(!says_failure("test store::open::closed ... ok"));
    }

    #[test]
    fn lanes_and_checks_are_selected() {
        let names = |selected: &[&str]| -> Vec<&str> {
            selection(selected).expect("known names").iter().map(|check| check.name).collect()
        };
        assert_eq!(names(&[]).len(), CHECKS.len());
        assert_eq!(names(&["fmt", "security"]), ["fmt", "constant-time", "fuzz-address"]);
        assert!(
            selection(&["fmt", "fnt"]).is_err_and(|error| error.starts_with("no lane or check is named fnt"))
        );
        for check in CHECKS {
            assert_eq!(names(&[check.name]), [check.name], "its name is no other's, and no lane's");
        }
    }

    #[test]
    fn what_checks_cover_exists() {
        let root = crate::root();
        for check in CHECKS {
            if let Some(covered) = &check.covered {
                record::digest(&root, covered).expect(check.name);
            }
        }
    }
}
