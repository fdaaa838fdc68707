//! The options of every command.

use clap::{Args, builder::FalseyValueParser};
use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

/// The options of every command.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Level (CPU features) to use, a name from `proofmill cpu` [default: the best of this CPU]
    #[arg(long, global = true, env = "PROOFMILL_LEVEL", value_name = "NAME", hide_env_values = true)]
    pub level: Option<String>,
    /// Number of threads [default: one per CPU thread]
    #[arg(long, global = true, value_name = "COUNT")]
    pub threads: Option<ThreadCounts>,
    /// Permit keys for which anyone can forge proofs, for tests: a warning is printed also with --quiet
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        env = "PROOFMILL_ALLOW_INSECURE_SETUP",
        hide_env_values = true,
        value_parser = FalseyValueParser::new(),
    )]
    pub allow_insecure_setup: bool,
    /// Print secret values of a witness that does not satisfy its circuit, where they explain the error
    #[arg(long, global = true, hide_short_help = true)]
    pub show_values: bool,
    /// Print nothing but errors
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print each phase of the work to standard error when it begins, and at the end the time that it took
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// Print one JSON object: phases, seconds, peak memory and the result
    #[arg(long, global = true, num_args = 0, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Permit such keys silently: the command has warned itself.
    #[arg(skip)]
    pub has_warned_of_insecure_setup: bool,
}

impl Options {
    /// Whether to print the JSON object.
    pub fn print_json(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }

    /// These options as words of a command line.
    pub fn words(&self) -> Vec<OsString> {
        let mut words = Vec::new();
        if let Some(level) = &self.level {
            words.extend(["--level".into(), level.into()]);
        }
        if let Some(threads) = &self.threads {
            words.extend(["--threads".into(), threads.to_string().into()]);
        }
        if self.allow_insecure_setup {
            words.push("--allow-insecure-setup".into());
        }
        if self.show_values {
            words.push("--show-values".into());
        }
        if self.quiet {
            words.push("--quiet".into());
        }
        if self.verbose {
            words.push("--verbose".into());
        }
        if self.json.is_some() {
            words.push("--json".into());
        }
        words
    }
}

/// A number of threads, or one per hardware thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// This number.
    Count(u32),
    /// `all`.
    All,
}

impl Threads {
    /// The number on a machine with `all` hardware threads.
    pub fn count(self, all: u32) -> u32 {
        match self {
            Self::Count(count) => count,
            Self::All => all,
        }
    }
}

impl FromStr for Threads {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("all", _) => Ok(Self::All),
            (_, Ok(count)) if count > 0 => Ok(Self::Count(count)),
            _ => Err(format!("expected a number of threads or all, found {text}")),
        }
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::All => f.write_str("all"),
        }
    }
}

/// The most threads; a larger number is taken for a mistake.
const MOST_THREADS: u32 = 1024;

/// Numbers of threads, separated by commas.
#[derive(Clone, Debug)]
pub struct ThreadCounts(pub Vec<Threads>);

impl FromStr for ThreadCounts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count = |text: &str| match text.parse()? {
            Threads::Count(count) if count > MOST_THREADS => {
                Err(format!("expected {MOST_THREADS} threads at most, found {count}"))
            }
            threads => Ok(threads),
        };
        text.split(',').map(count).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for ThreadCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<String> = self.0.iter().map(Threads::to_string).collect();
        f.write_str(&counts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn options_become_the_words_that_they_came_from() {
        let words = [
            "--level",
            "portable",
            "--threads",
            "1,2,all",
            "--allow-insecure-setup",
            "--show-values",
            "--quiet",
            "--json",
        ];
        let parse = |words: &[&str]| Arguments::parse_from([&["program"], words].concat()).options;
        assert_eq!(parse(&words).words(), words);
        let again = parse(&[
            "--json",
            "-q",
            "--threads=1,2,all",
            "--show-values",
            "--allow-insecure-setup",
            "--level=portable",
        ]);
        assert_eq!(again.words(), words);
        assert_eq!(parse(&["-v"]).words(), ["--verbose"]);
    }
}
