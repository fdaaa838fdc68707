//! `merkle`: trees over rows of a file, openings, their check.

use crate::rows::RowFile;
use clap::{Args, Subcommand, builder::PossibleValuesParser};
use proofmill_circom::{OutputFile, write_text};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_merkle::{
    Hash, Leaves, MerkleError, OpeningDocument, RowMajor, TreeFile, TreeHash, digest_from_hex, digest_to_hex,
    dispatch_hash, root, write_tree,
};
use proofmill_simd::Level;
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
};

#[derive(Debug, Subcommand)]
pub(crate) enum MerkleCommand {
    /// Print the root of the tree over a file's rows
    #[command(after_help = "Examples:
  proofmill merkle root trace.bin --columns 8
  proofmill merkle root trace.bin --columns 8 --hash sha256 --threads 1")]
    Root(Rows),
    /// Write a file's rows and the tree over them, and print the root
    #[command(after_help = "Examples:
  proofmill merkle build trace.bin --columns 8 --out trace.tree")]
    Build(Build),
    /// Show rows of a tree with what leads from them to the root
    #[command(after_help = "Examples:
  proofmill merkle open trace.tree 5 --out opening.json
  proofmill merkle open trace.tree 5 77 1023 --out opening.json")]
    Open(Open),
    /// Check that an opening's rows are in the tree of a root
    #[command(after_help = "Examples:
  proofmill merkle check opening.json --root $(proofmill merkle root trace.bin --columns 8)
  proofmill merkle check opening.json --rows 1048576 --columns 8 --root HEX && echo valid

With other numbers of rows and columns, nodes can pass for rows: give both if the opening is not yours.")]
    Check(Check),
}

/// Rows in a file.
#[derive(Args, Debug)]
pub(crate) struct Rows {
    /// The rows, one behind the other: little-endian 64-bit integers, below 2^64 - 2^32 + 1 unless the hash is sha256
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Integers of a row; there must be a power of two of rows
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    columns: u64,
    /// Hash of rows and nodes
    #[arg(long, value_name = "NAME", default_value = "poseidon", value_parser = PossibleValuesParser::new(Hash::ALL.map(Hash::name)))]
    hash: String,
}

#[derive(Args, Debug)]
pub(crate) struct Build {
    #[command(flatten)]
    rows: Rows,
    /// The tree to write
    #[arg(long, value_name = "TREE")]
    out: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct Open {
    /// A tree that `merkle build` wrote
    #[arg(value_name = "TREE")]
    tree: PathBuf,
    /// Rows to show, counted from 0
    #[arg(value_name = "INDEX", required = true)]
    indices: Vec<u64>,
    /// The opening to write
    #[arg(long, value_name = "OPENING")]
    out: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct Check {
    /// An opening that `merkle open` wrote
    #[arg(value_name = "OPENING")]
    opening: PathBuf,
    /// The tree's root: 64 hexadecimal digits
    #[arg(long, value_name = "HEX")]
    root: String,
    /// Rows that the tree is known to have [default: what the opening says]
    #[arg(long, value_name = "COUNT")]
    rows: Option<u64>,
    /// Columns that the tree is known to have [default: what the opening says]
    #[arg(long, value_name = "COUNT")]
    columns: Option<u64>,
}

impl MerkleCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Root(_) => "merkle root",
            Self::Build(_) => "merkle build",
            Self::Open(_) => "merkle open",
            Self::Check(_) => "merkle check",
        }
    }

    pub(crate) fn outputs(&self) -> Vec<&Path> {
        match self {
            Self::Root(_) | Self::Check(_) => Vec::new(),
            Self::Build(files) => vec![&files.out],
            Self::Open(files) => vec![&files.out],
        }
    }
}

pub(crate) fn run(command: MerkleCommand, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.clock.expect(1);
    machine.run(|level, observer| match command {
        MerkleCommand::Root(files) => {
            observer("hash rows");
            dispatch_hash!(files.hash()?, H => files.root::<H>(level))
        }
        MerkleCommand::Build(files) => {
            observer("hash and write rows");
            dispatch_hash!(files.rows.hash()?, H => files.build::<H>(level))
        }
        MerkleCommand::Open(files) => {
            observer("open rows");
            let tree = TreeFile::open(&files.tree).map_err(failure(&files.tree))?;
            dispatch_hash!(tree.hash(), H => files.open::<H>(level, &tree))
        }
        MerkleCommand::Check(files) => {
            observer("check");
            let name = failure(&files.opening);
            let text = fs::read(&files.opening).map_err(|source| Failure::io(&files.opening, source))?;
            let document = OpeningDocument::parse(&text).map_err(&name)?;
            dispatch_hash!(document.hash().map_err(&name)?, H => files.check::<H>(level, &document))
        }
    })
}

impl Rows {
    fn hash(&self) -> Result<Hash, Failure> {
        self.hash.parse().map_err(|error| Failure::Input(format!("--hash: {error}")))
    }

    fn open(&self) -> Result<RowFile<'_>, Failure> {
        RowFile::open(&self.file, self.columns)
    }

    fn root<H: TreeHash>(&self, level: Level) -> Result<Outcome, Failure> {
        let file = self.open()?;
        let rows = file.rows()?;
        let root = root::<H>(level, &rows).map_err(failure(&self.file))?;
        Ok(self.outcome::<H>(&root, &rows))
    }

    /// The root to read.
    fn outcome<H: TreeHash>(&self, root: &H::Digest, rows: &RowMajor<'_>) -> Outcome {
        let root = digest_to_hex::<H>(root);
        let result = json!({ "hash": H::NAME, "rows": rows.rows(), "columns": self.columns, "root": root });
        Outcome { text: root + "\n", ..Outcome::done(result) }
    }
}

impl Build {
    fn build<H: TreeHash>(&self, level: Level) -> Result<Outcome, Failure> {
        let file = self.rows.open()?;
        let rows = file.rows()?;
        let mut output = OutputFile::create(&self.out).map_err(|source| Failure::io(&self.out, source))?;
        let root = write_tree::<H>(level, &rows, &mut output).map_err(|error| match error {
            MerkleError::Io(source) => Failure::io(&self.out, source),
            error => failure(&self.rows.file)(error),
        })?;
        output.finish().map_err(|source| Failure::io(&self.out, source))?;
        let mut outcome = self.rows.outcome::<H>(&root, &rows);
        outcome.result["tree"] = json!(self.out);
        Ok(outcome)
    }
}

impl Open {
    fn open<H: TreeHash>(&self, level: Level, tree: &TreeFile) -> Result<Outcome, Failure> {
        let name = failure(&self.tree);
        let root = tree.root::<H>().map_err(&name)?;
        let mut indices = self.indices.clone();
        indices.sort_unstable();
        indices.dedup();
        let opening = tree.open_rows::<H>(level, &indices).map_err(&name)?;
        write_text(&self.out, &OpeningDocument::from(&opening).text())?;
        Ok(Outcome::done(json!({
            "opening": self.out,
            "hash": H::NAME,
            "rows": opening.rows,
            "columns": opening.columns,
            "indices": indices,
            "siblings": opening.siblings.len(),
            "root": digest_to_hex::<H>(&root),
        })))
    }
}

impl Check {
    fn check<H: TreeHash>(&self, level: Level, document: &OpeningDocument) -> Result<Outcome, Failure> {
        let digits = self.root.to_ascii_lowercase();
        let digits = digits.strip_prefix("0x").unwrap_or(&digits);
        let root =
            digest_from_hex::<H>(digits, "--root").map_err(|error| Failure::Input(error.to_string()))?;
        let name = failure(&self.opening);
        let opening = document.opening::<H>().map_err(&name)?;
        let (rows, columns) = (self.rows.unwrap_or(opening.rows), self.columns.unwrap_or(opening.columns));
        opening.check(level, rows, columns, &[root]).map_err(&name)?;
        let count = opening.indices.len();
        let noun = if count == 1 { "row" } else { "rows" };
        Ok(Outcome {
            text: format!("valid: {count} {noun} of a tree of {rows} rows with {columns} columns\n"),
            ..Outcome::done(json!({
                "valid": true,
                "hash": H::NAME,
                "rows": rows,
                "columns": columns,
                "indices": opening.indices,
            }))
        })
    }
}

/// What is wrong with the file of a path.
fn failure(path: &Path) -> impl Fn(MerkleError) -> Failure {
    move |error| match error {
        MerkleError::Rejected => Failure::Rejected(format!("{}: {error}", path.display())),
        error => Failure::about(path, error),
    }
}
