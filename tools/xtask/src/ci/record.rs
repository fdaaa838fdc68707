//! Records of checks: that one passed, and on which sources.

use super::checks::Covered;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// The folder of records.
const FOLDER: &str = ".ci/records";

/// What decides about every check's result, whatever it covers.
const ALWAYS: [&str; 3] = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml"];

/// That a check passed.
#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    /// SHA-256 of the files that the check covers, in hexadecimal.
    sources: String,
    machine: String,
    /// UTC, such as `2026-11-29`.
    date: String,
    seconds: u64,
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "passed on these sources on {} in {} s, {}", self.date, self.seconds, self.machine)
    }
}

fn path(root: &Path, name: &str) -> PathBuf {
    root.join(FOLDER).join(format!("{name}.json"))
}

/// The record of a check, if there is one of the sources as they are that counts on this machine.
pub(super) fn read(root: &Path, name: &str, covered: &Covered) -> Result<Option<Record>, String> {
    let path = path(root, name);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    let record: Record =
        serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let counts = !covered.levels || level(&record.machine) >= level(&machine());
    Ok((counts && record.sources == digest(root, covered)?).then_some(record))
}

/// Records that a check passed on sources with this digest, which must still be theirs.
pub(super) fn write(
    root: &Path,
    name: &str,
    covered: &Covered,
    sources: &str,
    took: Duration,
) -> Result<(), String> {
    if digest(root, covered)? != sources {
        return Err(format!("{name}: not recorded, files were changed while it was executed"));
    }
    let record = Record {
        sources: sources.to_owned(),
        machine: machine(),
        date: output(root, "date", &["-u", "+%F"])?.trim().to_owned(),
        seconds: took.as_secs(),
    };
    let path = path(root, name);
    let text = serde_json::to_string_pretty(&record).map_err(|error| error.to_string())? + "\n";
    fs::create_dir_all(root.join(FOLDER))
        .and_then(|()| fs::write(&path, text))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// SHA-256 of the files that are covered, in hexadecimal: of the paths and contents of those that git does not ignore.
pub(super) fn digest(root: &Path, covered: &Covered) -> Result<String, String> {
    let mut paths = folders(root, covered.packages)?;
    paths.extend(ALWAYS.into_iter().chain(covered.paths.split_whitespace()).map(str::to_owned));
    if let Some(missing) = paths.iter().find(|path| !root.join(path).exists()) {
        return Err(format!("{missing}: no such file or folder"));
    }
    let mut arguments =
        vec!["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--"];
    arguments.extend(paths.iter().map(String::as_str));
    let list = output(root, "git", &arguments)?;
    let files: BTreeSet<&str> = list.split_terminator('\0').collect();
    let mut digest = Sha256::new();
    for file in files {
        let content = match fs::read(root.join(file)) {
            Ok(content) => content,
            // A deleted file that git still lists.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("{file}: {error}")),
        };
        digest.update(format!("{file}\0{}\0", content.len()));
        digest.update(content);
    }
    Ok(digest.finalize().iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// What this module reads of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// Of packages here.
    path: Option<PathBuf>,
}

/// The folders of these packages and of all packages here that they or their tests depend on.
fn folders(root: &Path, packages: &str) -> Result<BTreeSet<String>, String> {
    let text = output(root, "cargo", &["metadata", "--format-version", "1", "--no-deps", "--locked"])?;
    let metadata: Metadata =
        serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
    let short = |name| str::strip_prefix(name, "proofmill-").unwrap_or(name);
    let known: BTreeMap<&str, &Package> =
        metadata.packages.iter().map(|package| (short(&package.name), package)).collect();
    let mut left: Vec<&str> = packages.split_whitespace().collect();
    let mut seen = BTreeSet::new();
    let mut folders = BTreeSet::new();
    let root = fs::canonicalize(root).map_err(|error| format!("{}: {error}", root.display()))?;
    while let Some(name) = left.pop() {
        if !seen.insert(name) {
            continue;
        }
        let package = known.get(name).ok_or_else(|| format!("{name}: no package of the workspace"))?;
        let folder = package.manifest_path.parent().unwrap_or(&root);
        let folder = folder.strip_prefix(&root).unwrap_or(folder);
        folders.insert(folder.display().to_string());
        let here = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
        left.extend(here.map(|dependency| short(&dependency.name)));
    }
    Ok(folders)
}

/// Features that tell CPUs apart, the most telling last.
const LEVELS: [&str; 3] = ["avx2", "avx512f", "avx512ifma"];

/// The place of a machine's most telling feature among [`LEVELS`]; `None` is the least.
fn level(machine: &str) -> Option<usize> {
    LEVELS.iter().rposition(|level| machine.split(", ").any(|word| word == *level))
}

/// The CPU with its most telling feature, and the number of CPUs.
fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let of = |key: &str| {
        let line = info.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim())
    };
    let model = of("model name").unwrap_or("unknown CPU");
    let family = of("cpu family").map_or(String::new(), |family| format!(" family {family}"));
    let flags = of("flags").unwrap_or_default();
    let level =
        LEVELS.iter().rfind(|level| flags.split(' ').any(|flag| flag == **level)).unwrap_or(&"no AVX2");
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}{family}, {level}, {cpus} CPUs")
}

/// What a program prints.
fn output(root: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{program} {}: {}", arguments[0], said.trim()));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{program}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{Covered, digest, folders, level, machine, read, write};
    use std::{fs, path::Path, process::Command, time::Duration};

    /// A repository with one package that depends on another.
    fn repository(root: &Path) {
        let run = |program: &str, arguments: &[&str]| {
            let status = Command::new(program).args(arguments).current_dir(root).status();
            assert!(status.is_ok_and(|status| status.success()), "{program} {arguments:?}");
        };
        let file = |name: &str, text: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        file("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"a\", \"b\", \"c\"]\n");
        file("rust-toolchain.toml", include_str!("../../../../rust-toolchain.toml"));
        for (name, dependencies) in [("a", "b = { path = \"../b\" }\n"), ("b", ""), ("c", "")] {
            file(
                &format!("{name}/Cargo.toml"),
                &format!("[package]\nname = \"{name}\"\n[dependencies]\n{dependencies}"),
            );
            file(&format!("{name}/src/lib.rs"), "");
        }
        file(".gitignore", "ignored\n");
        run("git", &["init", "--quiet"]);
        run("cargo", &["generate-lockfile", "--quiet", "--offline"]);
    }

    #[test]
    fn records_hold_for_the_sources_that_they_were_made_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        repository(root);
        let covered = Covered { packages: "a", paths: "", levels: false };
        assert_eq!(
            folders(root, covered.packages).expect("packages").into_iter().collect::<Vec<_>>(),
            ["a", "b"]
        );
        assert!(read(root, "check", &covered).expect("no record").is_none());

        let sources = digest(root, &covered).expect("a digest");
        write(root, "check", &covered, &sources, Duration::from_secs(7)).expect("a record");
        let is_valid = || read(root, "check", &covered).expect("a record").is_some();
        assert!(is_valid());

        // What is not covered does not matter.
        fs::write(root.join("c/src/lib.rs"), "// new").expect("a file");
        fs::write(root.join("a/ignored"), "new").expect("a file");
        assert!(is_valid());
        // Files of packages below, names, new files and the lock file do.
        for file in ["b/src/lib.rs", "a/new.rs", "Cargo.lock"] {
            let path = root.join(file);
            let old = fs::read(&path).ok();
            fs::write(&path, [old.as_deref().unwrap_or_default(), b"\n# new\n"].concat()).expect("a file");
            assert!(!is_valid(), "{file}");
            match old {
                Some(old) => fs::write(&path, old).expect("a file"),
                None => fs::remove_file(&path).expect("a file"),
            }
            assert!(is_valid(), "{file}");
        }
        // A record of a CPU without this one's features.
        let path = root.join(".ci/records/check.json");
        let text =
            fs::read_to_string(&path).expect("a record").replace(&machine(), "another CPU, no AVX2, 2 CPUs");
        fs::write(&path, text).expect("a file");
        assert!(is_valid());
        let with_levels = Covered { packages: "a", paths: "", levels: true };
        let counts = read(root, "check", &with_levels).expect("a record").is_some();
        assert_eq!(counts, level(&machine()).is_none());
        assert!(level("X, avx512ifma, 2 CPUs") > level("X, avx512f, 2 CPUs"));
        assert!(level("X, avx2, 2 CPUs") > level("X avx2, no AVX2, 2 CPUs"));

        fs::write(root.join("b/src/new.rs"), "").expect("a file");
        let error = write(root, "check", &covered, &sources, Duration::ZERO);
        assert!(error.is_err_and(|error| error.contains("changed while")));
    }
}
