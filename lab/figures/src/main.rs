//! Writes the figures of README.md and docs/ from `lab/records`: `cargo run -p figures`.
//!
//! `cargo run -p figures -- --check` writes nothing and exits 1, naming file and line, if a page differs from the records.
//! `lab/records/README.md` has the syntax of the markers.

#![forbid(unsafe_code)]

mod expression;
mod page;
mod records;

use page::Figure;
use records::Records;
use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let check = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--check"] => true,
        _ => {
            eprintln!("usage: figures [--check]");
            return ExitCode::from(2);
        }
    };
    match run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), check) {
        Ok(problems) if problems.is_empty() => ExitCode::SUCCESS,
        Ok(problems) => {
            problems.iter().for_each(|problem| eprintln!("{problem}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Rewrites or checks all pages under `root`; returns one line per problem, `file:line: problem`.
fn run(root: &Path, check: bool) -> io::Result<Vec<String>> {
    let records = Records::new(root.join("lab/records"));
    let mut places = BTreeMap::new();
    let mut problems = Vec::new();
    for path in pages(root)? {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let text = fs::read_to_string(&path)?;
        let page = match page::render(&text, &records) {
            Ok(page) => page,
            Err((line, problem)) => {
                problems.push(format!("{name}:{line}: {problem}"));
                continue;
            }
        };
        if name != "README.md" {
            problems.extend(repeated(&mut places, &name, page.figures));
        }
        if page.text == text {
            continue;
        }
        if check {
            problems.extend(differences(&text, &page.text).map(|(line, is, should)| {
                format!("{name}:{line}: not what the records say (`cargo run -p figures` rewrites it)\n  is:     {is}\n  should: {should}")
            }));
        } else {
            fs::write(&path, page.text)?;
        }
    }
    Ok(problems)
}

/// README.md and all Markdown files under docs/, sorted by name.
fn pages(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut pages = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// The figures that another page already shows: pages link to a figure instead of repeating it.
fn repeated(places: &mut BTreeMap<String, (String, usize)>, page: &str, figures: Vec<Figure>) -> Vec<String> {
    let mut problems = Vec::new();
    for Figure { expression, line } in figures {
        let (first, at) =
            places.entry(expression.clone()).or_insert_with(|| (page.to_string(), line)).clone();
        if first != page {
            problems.push(format!("{page}:{line}: {expression} stands at {first}:{at}; link to it"));
        }
    }
    problems
}

/// The numbers of the lines in which two texts differ; only the first such line if their numbers of lines differ.
fn differences<'a>(is: &'a str, should: &'a str) -> impl Iterator<Item = (usize, &'a str, &'a str)> {
    let same_length = is.lines().count() == should.lines().count();
    let longest = is.lines().count().max(should.lines().count());
    let lines = is.lines().chain(std::iter::repeat("")).zip(should.lines().chain(std::iter::repeat("")));
    let differing = (1..=longest).zip(lines).filter(|(_, (is, should))| is != should);
    differing.map(|(line, (is, should))| (line, is, should)).take(if same_length { usize::MAX } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with one record and the given pages, in a separate folder.
    fn repository(name: &str, record: &str, pages: &[(&str, &str)]) -> PathBuf {
        let root = env::temp_dir().join(format!("proofmill-figures-{}-{name}", std::process::id()));
        fs::create_dir_all(root.join("docs/deeper")).unwrap();
        fs::create_dir_all(root.join("lab/records")).unwrap();
        fs::write(root.join("lab/records/plonk.csv"), record).unwrap();
        fs::write(root.join("README.md"), "no figures\n").unwrap();
        for (name, text) in pages {
            fs::write(root.join(name), text).unwrap();
        }
        root
    }

    #[test]
    fn a_changed_figure_fails_the_check_with_file_and_line() {
        let page =
            "# PLONK\n\nIt is <!-- figure plonk[2^14, snarkjs].ratio:2 -->53<!-- / --> times faster.\n";
        let root = repository(
            "changed",
            "gates,prover,ratio\n2^14,snarkjs,58.672\n",
            &[("docs/deeper/plonk.md", page)],
        );
        let problems = run(&root, true).unwrap();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("docs/deeper/plonk.md:3: "), "{problems:?}");
        assert_eq!(
            fs::read_to_string(root.join("docs/deeper/plonk.md")).unwrap(),
            page,
            "--check writes nothing"
        );

        assert_eq!(run(&root, false).unwrap(), [""; 0]);
        let written = fs::read_to_string(root.join("docs/deeper/plonk.md")).unwrap();
        assert_eq!(written, page.replace("53", "59"));
        assert_eq!(run(&root, true).unwrap(), [""; 0]);

        // The record changes, so the page is wrong again.
        fs::write(root.join("lab/records/plonk.csv"), "gates,prover,ratio\n2^14,snarkjs,61\n").unwrap();
        assert_eq!(run(&root, true).unwrap().len(), 1);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_figure_stands_on_one_page() {
        let page = "It is <!-- figure plonk[2^14, snarkjs].ratio:2 -->59<!-- / -->.\n";
        let again = "As  <!-- figure plonk[2^14,snarkjs].ratio -->58.7<!-- / -->.\n";
        let record = "gates,prover,ratio\n2^14,snarkjs,58.672\n";
        let root =
            repository("twice", record, &[("docs/a.md", page), ("docs/b.md", again), ("README.md", page)]);
        let problems = run(&root, true).unwrap();
        assert_eq!(problems, ["docs/b.md:1: plonk[2^14,snarkjs].ratio stands at docs/a.md:1; link to it"]);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_broken_marker_is_named_by_file_and_line() {
        let record = "gates,prover,ratio\n2^14,snarkjs,58.672\n";
        let root = repository(
            "broken",
            record,
            &[("docs/a.md", "1\n2 <!-- figure plonk[2^99, snarkjs].ratio -->1<!-- / -->\n")],
        );
        let problems = run(&root, false).unwrap();
        assert_eq!(problems, ["docs/a.md:2: plonk.csv has no row [2^99, snarkjs]"]);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn differing_lines_are_numbered() {
        assert_eq!(differences("a\nb\nc\n", "a\nx\ny\n").collect::<Vec<_>>(), [(2, "b", "x"), (3, "c", "y")]);
        assert_eq!(differences("a\nb\n", "a\nx\nb\n").collect::<Vec<_>>(), [(2, "b", "x")]);
        assert_eq!(differences("a\n", "a\nx\n").collect::<Vec<_>>(), [(2, "", "x")]);
    }
}
