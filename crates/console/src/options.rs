//! The options that every command takes.

use clap::Args;
use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

/// What every command takes.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// CPU features to use, a name from `proofmill cpu` [default: the best that this CPU has]
    #[arg(long, global = true, env = "PROOFMILL_LEVEL", value_name = "NAME", hide_env_values = true)]
    pub level: Option<String>,
    /// Threads to compute with [default: as many as the CPU runs]
    #[arg(long, global = true, value_name = "COUNT")]
    pub threads: Option<ThreadCounts>,
    /// Print nothing but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Print one JSON object: phases, seconds, peak memory and the result
    #[arg(long, global = true, num_args = 0, default_missing_value = "-")]
    pub json: Option<PathBuf>,
}

impl Options {
    /// Whether the one JSON object is to be printed.
    pub fn print_json(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }

    /// The same options as words of a command line.
    pub fn words(&self) -> Vec<OsString> {
        let mut words = Vec::new();
        if let Some(level) = &self.level {
            words.extend(["--level".into(), level.into()]);
        }
        if let Some(threads) = &self.threads {
            words.extend(["--threads".into(), threads.to_string().into()]);
        }
        if self.quiet {
            words.push("--quiet".into());
        }
        if self.json.is_some() {
            words.push("--json".into());
        }
        words
    }
}

/// A number of threads, or all that the machine runs at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// So many.
    Count(u32),
    /// `all`.
    All,
}

impl Threads {
    /// How many, on a machine that runs `all` at once.
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

/// Most threads that are taken for what the user meant.
const MOST_THREADS: u32 = 1024;

/// Numbers of threads, with commas between them.
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
        let words = ["--level", "portable", "--threads", "1,2,all", "--quiet", "--json"];
        let parse = |words: &[&str]| Arguments::parse_from([&["program"], words].concat()).options;
        assert_eq!(parse(&words).words(), words);
        let again = parse(&["--json", "-q", "--threads=1,2,all", "--level=portable"]);
        assert_eq!(again.words(), words);
    }
}
