//! Definitions of benchmarks: `lab/definitions/*.toml`.

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
    /// The heading of its chart.
    pub title: String,
    /// Kernels or whole proofs.
    pub suite: Suite,
    /// A description of the input.
    pub input: String,
    /// The target, and the implementation that it refers to.
    #[serde(default)]
    pub target: Option<String>,
    /// The command that makes the record in `lab/records`, if there is one.
    #[serde(default)]
    pub record: Option<String>,
    /// The peers of the record, with versions.
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
    /// The unit of work: `points`, `pairs`, `constraints`.
    pub unit: String,
    /// Numbers of units in an iteration.
    pub sizes: Vec<Size>,
    /// Names of levels. If `None`, all levels at which the kernel differs.
    #[serde(default)]
    pub levels: Option<Vec<String>>,
    /// Numbers of threads. Default: 1 and all.
    #[serde(default = "one_and_all", deserialize_with = "threads")]
    pub threads: Vec<Threads>,
    /// Digests of the outputs by size, as the file has it: the first 16 hexadecimal digits of the output's
    /// SHA-256.
    #[serde(default)]
    pub answers: BTreeMap<String, String>,
}

/// A number of units, written `1000` or `2^10`.
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
    /// Reads a definition. `name` is the file's name without its ending.
    ///
    /// # Errors
    /// Text that is not a definition, or a `name` in it that differs from the file's name.
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
    /// Powers of two from 2^10 on as `2^k`, other sizes in digits.
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
