//! The kinds of files that commands' arguments take. A file that is plainly of another kind is refused before any work, with the order
//! of the arguments if that explains it.

use crate::files::InputFile;
use clap::{ArgMatches, Command};
use proofmill_circom::{Content, FileKind};
use proofmill_console::Failure;
use std::{fs::File, io::Read, path::Path};

/// Checks the first bytes of all files that the command reads, by the names of its arguments.
///
/// # Errors
/// [`Failure::Input`] for one that is plainly of another kind. Empty files, unreadable files and pipes are left to the command.
pub(crate) fn check(mut command: &Command, mut matches: &ArgMatches) -> Result<(), Failure> {
    while let Some((name, inner)) = matches.subcommand() {
        let Some(subcommand) = command.find_subcommand(name) else { return Ok(()) };
        (command, matches) = (subcommand, inner);
    }
    let name =
        |argument: &clap::Arg| argument.get_value_names().and_then(<[_]>::first).map(ToString::to_string);
    let order: Vec<_> = command.get_positionals().filter_map(name).collect();
    for argument in command.get_arguments() {
        let Some(kind) = name(argument).and_then(|name| Kind::of(&name)) else { continue };
        // Files that are written have another type.
        let Ok(Some(files)) = matches.try_get_many::<InputFile>(argument.get_id().as_str()) else { continue };
        for file in files {
            let Some(found) = content(file) else { continue };
            if matches!(found, Content::Empty | Content::Other(_)) || kind.takes(&found) {
                continue;
            }
            let is_of_another = order.iter().filter_map(|name| Kind::of(name)).any(|kind| kind.takes(&found));
            let order =
                if is_of_another { format!(": the order is {}", order.join(" ")) } else { String::new() };
            return Err(Failure::about(file, format!("expected {}, found {found}{order}", kind.name())));
        }
    }
    Ok(())
}

/// The kind of a file; `None` if it cannot be read, or only once.
fn content(path: &Path) -> Option<Content> {
    if !path.is_file() {
        return None;
    }
    let mut first = Vec::new();
    File::open(path).ok()?.take(Content::LONGEST as u64).read_to_end(&mut first).ok()?;
    Some(Content::of(&first))
}

/// The kind of file that an argument takes.
#[derive(Clone, Copy)]
enum Kind {
    Container(FileKind),
    Program,
    Json,
    VerifyingKey,
    Proof,
}

impl Kind {
    /// The kind for the name of an argument in the help; `None` for arguments that take several kinds.
    fn of(argument: &str) -> Option<Self> {
        let kind = argument.trim_start_matches("OLD_").trim_start_matches("INITIAL_");
        Some(match kind {
            "R1CS" => Self::Container(FileKind::R1cs),
            "WTNS" => Self::Container(FileKind::Wtns),
            "ZKEY" => Self::Container(FileKind::Zkey),
            "PTAU" => Self::Container(FileKind::Ptau),
            "WASM" => Self::Program,
            "INPUT" | "PUBLIC" => Self::Json,
            "VERIFICATION_KEY" => Self::VerifyingKey,
            "PROOF" => Self::Proof,
            _ => return None,
        })
    }

    fn takes(self, content: &Content) -> bool {
        match (self, content) {
            // A proving key contains the verification key.
            (Self::Container(FileKind::Zkey) | Self::VerifyingKey, Content::Container(found)) => {
                matches!(found, FileKind::Zkey | FileKind::Pmpk)
            }
            (Self::Container(kind), Content::Container(found)) => kind == *found,
            (Self::Program, Content::Wasm | Content::CompiledCircuit | Content::WitnessGraph) => true,
            (Self::Json | Self::VerifyingKey | Self::Proof, Content::Json) => true,
            (Self::Proof, Content::StarkProof) => true,
            _ => false,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Container(kind) => kind.magic(),
            Self::Program => "WASM",
            Self::Json => "JSON",
            Self::VerifyingKey => "a verification key",
            Self::Proof => "a proof",
        }
    }
}
