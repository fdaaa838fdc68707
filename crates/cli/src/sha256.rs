//! `sha256`: digests of files in sha256sum's formats, and roots of SSZ trees.

use crate::task::MachineWork;
use clap::Args;
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_cpu::Level;
use proofmill_files::{MappedFile, most_of_a_pipe, read_at_most};
use proofmill_merkle::ssz::{Chunk, hash_tree_root};
use proofmill_run::{Run, parallel};
use proofmill_sha256::{Kernels, Sha256};
use serde_json::{Value, json};
use std::{
    fmt::Write as _,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Bytes per read.
const PIECE: usize = 1 << 18;

/// The longest list of digests that `--check` reads, in bytes: a few million lines.
const MOST_LIST: u64 = 1 << 28;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill sha256 circuit.zkey witness.wtns > sums
  proofmill sha256 --check sums
  proofmill sha256 --tree chunks.bin --limit 2^40")]
pub(crate) struct Sha256Command {
    /// Files to hash; `-`, or no file, is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Read digests and file names from the files, and check them
    #[arg(long, short)]
    check: bool,
    /// Print the root of the SSZ Merkle tree over the file's chunks of 32 bytes
    #[arg(long, conflicts_with = "check")]
    tree: bool,
    /// The maximum number of chunks of the tree, which sets its depth [default: the number in the file]
    #[arg(long, value_name = "COUNT", requires = "tree", value_parser = limit)]
    limit: Option<u64>,
    /// portable, ssse3, avx2, avx512, sha-ni, neon or arm-sha2 [default: the best of the level]
    #[arg(long, env = "PROOFMILL_SHA256", value_name = "NAME", hide_env_values = true)]
    kernel: Option<String>,
}

impl MachineWork for Sha256Command {
    fn name(&self) -> &'static str {
        "sha256"
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        run(&self, machine)
    }
}

fn run(command: &Sha256Command, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.clock().expect(1);
    machine.run(|Run { level, progress, .. }| {
        let kernels = command.kernels(level)?;
        let standard_input = [PathBuf::from("-")];
        let files = if command.files.is_empty() { &standard_input[..] } else { &command.files };
        let of = |path: &Path| {
            if command.tree { root(kernels, path, command.limit) } else { digest(kernels, path) }
        };
        if command.check {
            progress.begin("check");
            return check(kernels, files);
        }
        progress.begin("hash");
        let digests = parallel::map(files, |path| of(path));
        Ok(print(kernels, files, digests))
    })
}

/// A number of chunks, or 2^K.
fn limit(text: &str) -> Result<u64, String> {
    let limit = match text.strip_prefix("2^") {
        Some(exponent) => exponent.parse().ok().and_then(|exponent| 1u64.checked_shl(exponent)),
        None => text.parse().ok(),
    };
    limit.ok_or_else(|| "expected a number below 2^64, such as 1000 or 2^40".to_owned())
}

impl Sha256Command {
    fn kernels(&self, level: Level) -> Result<Kernels, Failure> {
        let named = |name: &String| name.parse().map_err(|error| Failure::Input(format!("{error}")));
        self.kernel.as_ref().map_or(Ok(Kernels::at(level)), named)
    }
}

/// Prints a line for each file that can be read; the first one that cannot makes the command fail.
fn print(kernels: Kernels, files: &[PathBuf], digests: Vec<Result<Chunk, Failure>>) -> Outcome {
    let (mut text, mut list, mut failure) = (String::new(), Vec::new(), None);
    for (path, digest) in files.iter().zip(digests) {
        match digest {
            Ok(digest) => {
                let (digest, name) = (hex::encode(digest), path.to_string_lossy());
                let (mark, escaped) = escape(&name);
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{mark}{digest}  {escaped}");
                list.push(json!({ "file": name, "digest": digest }));
            }
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Outcome { text, failure, ..Outcome::done(json!({ "kernel": kernels.name(), "files": list })) }
}

/// Checks the lines of lists of digests.
fn check(kernels: Kernels, lists: &[PathBuf]) -> Result<Outcome, Failure> {
    let mut lines = Vec::new();
    for list in lists {
        let mut text = String::new();
        let mut input = open(list)?.take(MOST_LIST + 1);
        input.read_to_string(&mut text).map_err(|source| Failure::io(list, source))?;
        if text.len() as u64 > MOST_LIST {
            return Err(Failure::about(list, format!("expected a list of at most {MOST_LIST} bytes")));
        }
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty()) {
            lines.push(parse(line).ok_or_else(|| {
                let found: String = line.escape_default().take(80).collect();
                let expected = "expected 64 hexadecimal digits, two spaces and a name";
                Failure::about(list, format!("line {number}: {expected}, found `{found}`"))
            })?);
        }
        if lines.is_empty() {
            return Err(Failure::about(list, "expected lines of digests and names, found none"));
        }
    }
    let digests = parallel::map(&lines, |(_, name)| digest(kernels, name.as_ref()));
    let (mut text, mut list, mut wrong, mut unread) = (String::new(), Vec::new(), 0, None);
    for ((expected, name), digest) in lines.iter().zip(digests) {
        let verdict = match digest {
            Ok(digest) if hex::encode(digest) == *expected => "OK",
            Ok(_) => {
                wrong += 1;
                "FAILED"
            }
            Err(error) => {
                unread = unread.or(Some(error));
                "FAILED open or read"
            }
        };
        let (mark, escaped) = escape(name);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{mark}{escaped}: {verdict}");
        list.push(json!({ "file": name, "verdict": verdict }));
    }
    let count = lines.len();
    let rejected = || Failure::Rejected(format!("{wrong} of {count} digests are not those of the files"));
    let failure = unread.or_else(|| (wrong > 0).then(rejected));
    let result: Value = json!({ "kernel": kernels.name(), "files": list });
    Ok(Outcome { text, failure, ..Outcome::done(result) })
}

/// The digest in lower case and the file name of a line.
fn parse(line: &str) -> Option<(String, String)> {
    let (line, is_escaped) = line.strip_prefix('\\').map_or((line, false), |line| (line, true));
    let (digits, name) = match line.strip_prefix("SHA256 (") {
        // The format of the BSDs.
        Some(tagged) => {
            let (name, digits) = tagged.rsplit_once(") = ")?;
            (digits, name)
        }
        None => {
            let (digits, name) = line.split_at_checked(64)?;
            (digits, name.strip_prefix("  ").or(name.strip_prefix(" *"))?)
        }
    };
    let is_digest = digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let name = if is_escaped { unescape(name)? } else { name.to_owned() };
    (is_digest && !name.is_empty()).then(|| (digits.to_ascii_lowercase(), name))
}

/// A name on one line, and the mark for the beginning of the line if the name was escaped.
fn escape(name: &str) -> (&'static str, String) {
    let escaped = name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    (if escaped == name { "" } else { "\\" }, escaped)
}

fn unescape(name: &str) -> Option<String> {
    let (mut plain, mut letters) = (String::new(), name.chars());
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            '\\' => match letters.next()? {
                'n' => '\n',
                'r' => '\r',
                '\\' => '\\',
                _ => return None,
            },
            letter => letter,
        });
    }
    Some(plain)
}

/// Opens a file, or standard input.
fn open(path: &Path) -> Result<Box<dyn Read>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(Box::new(File::open(path).map_err(|source| Failure::io(path, source))?))
}

fn digest(kernels: Kernels, path: &Path) -> Result<Chunk, Failure> {
    let (mut input, mut hash) = (open(path)?, Sha256::with(kernels));
    let mut piece = vec![0; PIECE];
    loop {
        match input.read(&mut piece) {
            Ok(0) => return Ok(hash.finish()),
            Ok(count) => hash.update(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(Failure::io(path, source)),
        }
    }
}

/// The root of the tree over a file's chunks.
fn root(kernels: Kernels, path: &Path, limit: Option<u64>) -> Result<Chunk, Failure> {
    if path == Path::new("-") {
        let bytes =
            read_at_most(open(path)?, most_of_a_pipe()).map_err(|source| Failure::io(path, source))?;
        return root_of_bytes(kernels, path, &bytes, limit);
    }
    let file = MappedFile::open(path).map_err(|source| Failure::io(path, source))?;
    root_of_bytes(kernels, path, file.bytes(), limit)
}

fn root_of_bytes(kernels: Kernels, path: &Path, bytes: &[u8], limit: Option<u64>) -> Result<Chunk, Failure> {
    let (chunks, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        let (found, over) = (bytes.len(), rest.len());
        return Err(Failure::about(
            path,
            format!("expected chunks of 32 bytes, found {found} bytes, which leaves {over} over"),
        ));
    }
    hash_tree_root(kernels, chunks, limit).map_err(|error| Failure::about(path, error))
}
