//! `merkle`: trees over the rows of a file, openings, their verification.

use crate::{files::CommandFiles, task::MachineWork};
use clap::{Args, Subcommand, builder::PossibleValuesParser};
use proofmill::merkle::{Digest, Hash, Opening, Rows, TreeFile, root};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_run::Run;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum MerkleCommand {
    /// Print the root of the tree over a file's rows
    #[command(after_help = "Examples:
  proofmill merkle root trace.bin --columns 8
  proofmill merkle root trace.bin --columns 8 --hash sha256 --threads 1")]
    Root(RowFile),
    /// Write a file's rows and the tree over them, and print the root
    #[command(after_help = "Examples:
  proofmill merkle build trace.bin --columns 8 --out trace.tree")]
    Build(Build),
    /// Write an opening of rows: the rows with the digests that lead to the root
    #[command(after_help = "Examples:
  proofmill merkle open trace.tree 5 --out opening.json
  proofmill merkle open trace.tree 5 77 1023 --out opening.json")]
    Open(Open),
    /// Check that an opening's rows are in the tree of a root
    #[command(after_help = "Examples:
  proofmill merkle check opening.json --hash poseidon --rows 1048576 --columns 8 --root HEX && echo valid
  proofmill merkle check opening.json --trust-opening --root HEX

With another hash, or other numbers of rows and columns, other bytes can pass for rows of the tree.")]
    Check(Check),
}

/// A file of rows.
#[derive(Args, Debug)]
pub(crate) struct RowFile {
    /// The rows, stored contiguously: little-endian 64-bit integers, below 2^64 - 2^32 + 1 unless the hash is keccak or sha256
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Integers of a row; the number of rows must be a power of two
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    columns: u64,
    /// Hash of rows and nodes
    #[arg(long, value_name = "NAME", default_value = "poseidon", value_parser = PossibleValuesParser::new(Hash::ALL.map(Hash::name)))]
    hash: String,
}

#[derive(Args, Debug)]
pub(crate) struct Build {
    #[command(flatten)]
    rows: RowFile,
    /// The tree to write
    #[arg(long, value_name = "TREE")]
    out: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct Open {
    /// A tree that `merkle build` wrote
    #[arg(value_name = "TREE")]
    tree: PathBuf,
    /// Rows to open, counted from 0
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
    /// The tree's hash, from a trusted source
    #[arg(long, value_name = "NAME", required_unless_present = TRUST, value_parser = PossibleValuesParser::new(Hash::ALL.map(Hash::name)))]
    hash: Option<String>,
    /// The tree's number of rows, from a trusted source
    #[arg(long, value_name = "COUNT", required_unless_present = TRUST)]
    rows: Option<u64>,
    /// The tree's number of columns, from a trusted source
    #[arg(long, value_name = "COUNT", required_unless_present = TRUST)]
    columns: Option<u64>,
    /// Take hash, rows and columns from the opening where they are not given. Only for openings that you made: an attacker can
    /// choose these so that rows pass that are not in the tree
    #[arg(long)]
    trust_opening: bool,
}

/// The argument of [`Check`] that makes others optional.
const TRUST: &str = "trust_opening";

impl MachineWork for MerkleCommand {
    fn name(&self) -> &'static str {
        match self {
            Self::Root(_) => "merkle root",
            Self::Build(_) => "merkle build",
            Self::Open(_) => "merkle open",
            Self::Check(_) => "merkle check",
        }
    }

    fn files(&self) -> CommandFiles<'_> {
        match self {
            Self::Root(_) | Self::Check(_) => CommandFiles::default(),
            Self::Build(build) => CommandFiles { inputs: vec![&build.rows.file], outputs: vec![&build.out] },
            Self::Open(open) => CommandFiles { inputs: vec![&open.tree], outputs: vec![&open.out] },
        }
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        let command = *self;
        machine.clock().expect(1);
        machine.run(|Run { progress, .. }| match command {
            MerkleCommand::Root(files) => {
                progress.begin("hash rows");
                let rows = files.open()?;
                Ok(files.outcome(&root(hash(&files.hash)?, &rows)?, &rows))
            }
            MerkleCommand::Build(files) => {
                progress.begin("hash and write rows");
                files.build()
            }
            MerkleCommand::Open(files) => {
                progress.begin("open rows");
                files.open()
            }
            MerkleCommand::Check(files) => {
                progress.begin("check");
                files.check()
            }
        })
    }
}

/// Parses a hash's name.
fn hash(name: &str) -> Result<Hash, Failure> {
    name.parse().map_err(|error| Failure::Input(format!("--hash: {error}")))
}

impl RowFile {
    fn open(&self) -> Result<Rows<'static>, Failure> {
        // A row longer than the address space is longer than any file.
        Ok(Rows::open(&self.file, usize::try_from(self.columns).unwrap_or(usize::MAX))?)
    }

    /// An outcome with the root.
    fn outcome(&self, root: &Digest, rows: &Rows<'_>) -> Outcome {
        let (hash, root) = (root.hash().name(), root.to_string());
        let result = json!({ "hash": hash, "rows": rows.rows(), "columns": self.columns, "root": root });
        Outcome { text: root + "\n", ..Outcome::done(result) }
    }
}

impl Build {
    fn build(&self) -> Result<Outcome, Failure> {
        let rows = self.rows.open()?;
        let tree = TreeFile::build(&self.out, hash(&self.rows.hash)?, &rows)?;
        let mut outcome = self.rows.outcome(&tree.root()?, &rows);
        outcome.result["tree"] = json!(self.out);
        Ok(outcome)
    }
}

impl Open {
    fn open(&self) -> Result<Outcome, Failure> {
        let tree = TreeFile::open(&self.tree)?;
        let mut indices = self.indices.clone();
        indices.sort_unstable();
        indices.dedup();
        let (root, opening) = (tree.root()?, tree.open_rows(&indices)?);
        opening.save(&self.out)?;
        Ok(Outcome::done(json!({
            "opening": self.out,
            "hash": tree.hash().name(),
            "rows": opening.rows(),
            "columns": opening.columns(),
            "indices": indices,
            "siblings": opening.siblings(),
            "root": root.to_string(),
        })))
    }
}

impl Check {
    fn check(&self) -> Result<Outcome, Failure> {
        let opening = Opening::open(&self.opening)?;
        let hash = self.hash.as_deref().map_or(Ok(opening.hash()), hash)?;
        let root =
            Digest::from_hex(hash, &self.root).map_err(|error| Failure::Input(format!("--root: {error}")))?;
        let (rows, columns) =
            (self.rows.unwrap_or(opening.rows()), self.columns.unwrap_or(opening.columns()));
        opening.verify(rows, columns, &root)?;
        let count = opening.indices().len();
        let noun = if count == 1 { "row" } else { "rows" };
        Ok(Outcome {
            text: format!("valid: {count} {noun} of a tree of {rows} rows with {columns} columns\n"),
            ..Outcome::done(json!({
                "valid": true,
                "hash": opening.hash().name(),
                "rows": rows,
                "columns": columns,
                "indices": opening.indices(),
            }))
        })
    }
}
