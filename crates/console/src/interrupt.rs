//! Signals such as Ctrl-C leave no partial output.

use crate::Failure;
use proofmill_files::{end_when_a_map_is_truncated, map_was_truncated, remove_unfinished};
use std::path::{Path, PathBuf};

/// The exit status that shells report for a program ended by Ctrl-C.
const INTERRUPTED: i32 = 130;
/// The exit status for an input file that was truncated while it was read, as for other bad input.
const BAD_INPUT: i32 = 2;

/// On SIGINT, SIGTERM and SIGHUP, and when a mapped input file is truncated, removes the unfinished files next to `outputs` and
/// ends the process.
///
/// # Errors
/// If no signal handler can be installed.
pub fn remove_unfinished_at_a_signal(outputs: Vec<&Path>) -> Result<(), Failure> {
    clean_up_at_a_signal(outputs, || ())
}

/// [`remove_unfinished_at_a_signal`] that also calls `also` before the process ends.
///
/// # Errors
/// If no signal handler can be installed.
pub fn clean_up_at_a_signal(outputs: Vec<&Path>, also: fn()) -> Result<(), Failure> {
    let folders: Vec<PathBuf> = outputs.into_iter().map(folder_of).collect();
    ctrlc::set_handler(move || {
        also();
        folders.iter().for_each(|folder| remove_unfinished(folder));
        std::process::exit(if map_was_truncated() { BAD_INPUT } else { INTERRUPTED });
    })
    .map_err(|error| Failure::Input(format!("cannot listen for signals: {error}")))?;
    end_when_a_map_is_truncated();
    Ok(())
}

/// The folder in which the file will be created, after following links.
fn folder_of(path: &Path) -> PathBuf {
    proofmill_files::folder_of(&path.canonicalize().unwrap_or_else(|_| path.to_owned())).to_owned()
}
