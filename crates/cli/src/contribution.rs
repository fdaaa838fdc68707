//! Contributions to ceremonies, for people and scripts.

use proofmill::circom::{Beacon, Contribution, Contributions};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// In JSON.
pub(crate) fn object(contribution: &Contribution) -> Value {
    let beacon = |Beacon { seed, log_iterations }: &Beacon| json!({ "seed": hex::encode(seed), "log_iterations": log_iterations });
    json!({
        "name": contribution.name,
        "hash": hex::encode(contribution.hash),
        "beacon": contribution.beacon.as_ref().map(beacon),
    })
}

/// In a line, with `bytes` of the hash. Control characters in a name are escaped.
pub(crate) fn line(contribution: &Contribution, bytes: usize) -> String {
    let name = contribution.name.as_deref().unwrap_or("without a name");
    let kind = match &contribution.beacon {
        Some(Beacon { log_iterations, .. }) => format!(", a beacon of 2^{log_iterations} iterations"),
        None => String::new(),
    };
    let hash = hex::encode(contribution.hash.get(..bytes).unwrap_or(&contribution.hash));
    let rest = if bytes < contribution.hash.len() { "..." } else { "" };
    format!("{}{kind}, {hash}{rest}", name.escape_debug())
}

/// Those of a key in JSON.
pub(crate) fn list(contributions: &Contributions) -> Value {
    json!({
        "circuit_hash": hex::encode(contributions.circuit_hash),
        "contributions": contributions.list.iter().map(object).collect::<Vec<_>>(),
    })
}

/// Those of a key, for people.
pub(crate) fn table(contributions: &Contributions) -> String {
    let mut text = format!("\ncircuit hash     {}\n", hex::encode(contributions.circuit_hash));
    if contributions.list.is_empty() {
        text += "contributions    none: anyone can forge proofs for this key\n";
    } else if contributions.list.iter().all(|contribution| contribution.beacon.is_some()) {
        text += "contributions    only beacons: anyone can forge proofs for this key\n";
    }
    for (index, contribution) in contributions.list.iter().enumerate() {
        let name = contribution.name.as_deref().unwrap_or_default();
        let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        let beacon = match &contribution.beacon {
            Some(beacon) => {
                let (seed, log_iterations) = (hex::encode(&beacon.seed), beacon.log_iterations);
                format!(" beacon {seed}, 2^{log_iterations} iterations")
            }
            None => String::new(),
        };
        let hash = hex::encode(contribution.hash);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "contribution {:3} {hash} {name}{beacon}", index + 1);
    }
    text
}
