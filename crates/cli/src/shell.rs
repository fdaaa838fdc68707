//! Completions and man pages, from the definitions of the command line.

use crate::{arguments::Arguments, failure::Failure, report::Outcome};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill completions bash > ~/.local/share/bash-completion/completions/proofmill
  proofmill completions zsh > ~/.zfunc/_proofmill")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill man | man -l -
  proofmill man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Folder for one page per command [default: print the main page]
    folder: Option<PathBuf>,
}

pub(crate) fn completions(arguments: &Completions) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "proofmill", &mut script);
    let text = String::from_utf8_lossy(&script).into_owned();
    Ok(Outcome { text: text.clone(), ..Outcome::done(json!({ "script": text })) })
}

pub(crate) fn man(arguments: &Man) -> Result<Outcome, Failure> {
    if let Some(folder) = &arguments.folder {
        clap_mangen::generate_to(Arguments::command(), folder).map_err(|error| Failure::io(folder, error))?;
        return Ok(Outcome::done(json!({ "folder": folder })));
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(Arguments::command())
        .render(&mut page)
        .map_err(|error| Failure::Input(format!("cannot write the man page: {error}")))?;
    let text = String::from_utf8_lossy(&page).into_owned();
    Ok(Outcome { text: text.clone(), ..Outcome::done(json!({ "page": text })) })
}
