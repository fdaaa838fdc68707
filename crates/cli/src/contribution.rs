//! Contributions to ceremonies, for people and scripts.

use clap::Args;
use proofmill::circom::{Beacon, Contribution, Contributions};
use proofmill_circom::shown_name;
use serde_json::{Value, json};

/// The number of contributions that are printed. JSON has all of them.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Listing {
    /// Print all contributions: of more than three, only the first and the last are printed otherwise
    #[arg(long = "contributions")]
    all: bool,
}

/// The longest list that is printed whole.
const MOST: usize = 3;

impl Listing {
    /// The first and the last of many.
    pub(crate) const FOLDED: Self = Self { all: false };

    /// A line for each contribution that is printed, with `bytes` of its hash, and one for those that are not.
    pub(crate) fn lines(self, list: &[Contribution], bytes: usize) -> Vec<String> {
        let line = |(number, each)| format!("contribution {number}: {}", line(each, bytes));
        match list {
            [first, rest @ .., last] if !self.all && list.len() > MOST => vec![
                line((1, first)),
                format!("{} more contributions, which --contributions prints", rest.len()),
                line((list.len(), last)),
            ],
            list => (1..).zip(list).map(line).collect(),
        }
    }
}

/// A contribution in JSON.
pub(crate) fn object(contribution: &Contribution) -> Value {
    let beacon = |Beacon { seed, log_iterations }: &Beacon| json!({ "seed": hex::encode(seed), "log_iterations": log_iterations });
    json!({
        "name": contribution.name,
        "hash": hex::encode(contribution.hash),
        "beacon": contribution.beacon.as_ref().map(beacon),
    })
}

/// The line for a contribution.
fn line(contribution: &Contribution, bytes: usize) -> String {
    let name = contribution.name.as_deref().map_or_else(|| "without a name".to_owned(), shown_name);
    let kind = match &contribution.beacon {
        Some(Beacon { log_iterations, .. }) => format!(", a beacon of 2^{log_iterations} iterations"),
        None => String::new(),
    };
    let hash = hex::encode(contribution.hash.get(..bytes).unwrap_or(&contribution.hash));
    let rest = if bytes < contribution.hash.len() { "..." } else { "" };
    format!("{name}{kind}, {hash}{rest}")
}

/// The contributions to a key in JSON.
pub(crate) fn list(contributions: &Contributions) -> Value {
    json!({
        "circuit_hash": hex::encode(contributions.circuit_hash),
        "contributions": contributions.list.iter().map(object).collect::<Vec<_>>(),
    })
}

/// The contributions to a key, for people.
pub(crate) fn table(contributions: &Contributions, listing: Listing) -> String {
    let mut text = format!("\ncircuit hash     {}\n", hex::encode(contributions.circuit_hash));
    if contributions.list.is_empty() {
        text += "contributions    none: anyone can forge proofs for this key\n";
    } else if contributions.list.iter().all(|contribution| contribution.beacon.is_some()) {
        text += "contributions    only beacons: anyone can forge proofs for this key\n";
    }
    for line in listing.lines(&contributions.list, usize::MAX) {
        text += &line;
        text.push('\n');
    }
    text
}
