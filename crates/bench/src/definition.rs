//! What is to be measured: `benchmarks/definitions/*.toml`.

use crate::{BenchError, record::Suite};
pub use proofmill_console::Threads;
use serde::{Deserialize, Deserializer, de::Error as _};
use std::collections::BTreeMap;

/// A family of benchmarks: one file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// The file's name without its ending.
    pub name: String,
    /// A chart's heading.
    pub title: String,
    /// Whether kernels or whole proofs.
    pub suite: Suite,
    /// What the input is.
    pub input: String,
    /// What is to be reached, beside whom.
    #[serde(default)]
    pub target: Option<String>,
    /// The command that measures what `benchmarks/records` has, where a record is kept.
    #[serde(default)]
    pub record: Option<String>,
    /// The record's peers, with versions.
    #[serde(default)]
    pub peers_in_turn: Vec<String>,
    /// The benchmarks.
    #[serde(default, rename = "benchmark")]
    pub benchmarks: Vec<Benchmark>,
}

/// A benchmark, at all its sizes, levels and numbers of threads.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Benchmark {
    /// Its name within the family.
    pub name: String,
    /// What one iteration works on: `points`, `pairs`, `constraints`.
    pub unit: String,
    /// How many of them.
    pub sizes: Vec<Size>,
    /// Names of levels; without, all at which the kernel differs.
    #[serde(default)]
    pub levels: Option<Vec<String>>,
    /// Numbers of threads; without, 1 and all.
    #[serde(default = "one_and_all", deserialize_with = "threads")]
    pub threads: Vec<Threads>,
    /// Digests of the results by size, as written there: the first 16 hexadecimal digits of SHA-256 of the output.
    #[serde(default)]
    pub answers: BTreeMap<String, String>,
}

/// A number of things, written `1000` or `2^10`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "NumberOrText")]
pub struct Size(pub u64);

#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrText {
    Number(u64),
    Text(String),
}

impl NumberOrText {
    fn text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

fn threads<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Threads>, D::Error> {
    let counts = Vec::<NumberOrText>::deserialize(deserializer)?;
    counts.into_iter().map(|count| count.text().parse().map_err(D::Error::custom)).collect()
}

fn one_and_all() -> Vec<Threads> {
    vec![Threads::Count(1), Threads::All]
}

impl Family {
    /// Reads a definition; `name` is the file's, for errors.
    ///
    /// # Errors
    /// Text that is no definition, or whose name is not the file's.
    pub fn parse(name: &str, text: &str) -> Result<Self, BenchError> {
        let wrong = |problem: String| BenchError::Definition { name: name.to_owned(), problem };
        let family: Self = toml::from_str(text)
            .map_err(|error| wrong(error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")))?;
        if family.name != name {
            return Err(wrong(format!("expected its name to be the file's, found {}", family.name)));
        }
        Ok(family)
    }
}

impl std::str::FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<u64>().ok();
        let size = match text.split_once('^') {
            Some((base, exponent)) => number(base)
                .zip(exponent.parse().ok())
                .and_then(|(base, exponent)| base.checked_pow(exponent)),
            None => number(text),
        };
        match size {
            Some(size) if size > 0 => Ok(Self(size)),
            _ => Err(format!("expected a size such as 1000 or 2^10, found {text}")),
        }
    }
}

impl std::fmt::Display for Size {
    /// A power of two from 2^10 on as such, others in digits.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 >= 1 << 10 && self.0.is_power_of_two() {
            write!(f, "2^{}", self.0.ilog2())
        } else {
            write!(f, "{}", self.0)
        }
    }
}

impl TryFrom<NumberOrText> for Size {
    type Error = String;

    fn try_from(value: NumberOrText) -> Result<Self, String> {
        value.text().parse()
    }
}
