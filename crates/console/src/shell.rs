//! Completions and man pages, generated from the definition of the command line.

use crate::{Failure, Outcome};
use clap::{Args, Command};
use clap_complete::Shell;
use serde_json::json;
use std::path::PathBuf;

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// Arguments of `man`.
#[derive(Args, Debug)]
pub struct Man {
    /// Folder for one page per command [default: print the main page]
    folder: Option<PathBuf>,
}

impl Completions {
    /// The completion script.
    pub fn run(&self, mut command: Command) -> Outcome {
        let name = command.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, name, &mut script);
        let text = String::from_utf8_lossy(&script).into_owned();
        Outcome { text: text.clone(), ..Outcome::done(json!({ "script": text })) }
    }
}

impl Man {
    /// Prints the main page, or writes all pages to the folder.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn run(&self, command: Command) -> Result<Outcome, Failure> {
        if let Some(folder) = &self.folder {
            clap_mangen::generate_to(command, folder).map_err(|error| Failure::io(folder, error))?;
            return Ok(Outcome::done(json!({ "folder": folder })));
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(command)
            .render(&mut page)
            .map_err(|error| Failure::Input(format!("cannot write the man page: {error}")))?;
        let text = String::from_utf8_lossy(&page).into_owned();
        Ok(Outcome { text: text.clone(), ..Outcome::done(json!({ "page": text })) })
    }
}
