//! `info`: describes a file.

use crate::{
    artefact,
    contribution::{self, Listing},
    files::InputFile,
    task::MachineWork,
};
use clap::Args;
use proofmill::circom::{Description, describe};
use proofmill_console::{Failure, Machine, Outcome};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill info circuit.zkey
  proofmill info proof.json
  proofmill info pot.ptau --json")]
pub(crate) struct Info {
    /// A circuit, witness, key, proof, reference string, tree or any other file that Proofmill reads
    #[arg(value_name = "FILE")]
    file: InputFile,
    #[command(flatten)]
    listing: Listing,
}

impl MachineWork for Info {
    fn name(&self) -> &'static str {
        "info"
    }

    fn run(self: Box<Self>, _machine: &mut Machine) -> Result<Outcome, Failure> {
        run(&self)
    }
}

fn run(arguments: &Info) -> Result<Outcome, Failure> {
    match artefact::describe(&arguments.file)? {
        Some(facts) => Ok(facts.outcome()),
        None => Ok(outcome(&describe(&arguments.file)?, arguments.listing)),
    }
}

/// The header and sections of a binary file, and the contributions to a key.
pub(crate) fn outcome(description: &Description, listing: Listing) -> Outcome {
    let mut outcome = Outcome { text: table(description), ..Outcome::done(object(description)) };
    if let Some(contributions) = &description.contributions {
        outcome.result["contributions"] = contribution::list(contributions);
        outcome.text += &contribution::table(contributions, listing);
    }
    outcome
}

fn object(description: &Description) -> Value {
    let Description { kind, version, bytes, curve, protocol, counts, sections, .. } = description;
    let counts: Map<_, _> =
        counts.iter().map(|(name, value)| (name.replace(' ', "_"), (*value).into())).collect();
    json!({
        "kind": kind, "version": version, "bytes": bytes, "curve": curve, "protocol": protocol,
        "counts": counts, "sections": sections,
    })
}

fn table(description: &Description) -> String {
    let Description { kind, version, bytes, curve, protocol, counts, sections, .. } = description;
    let mut table = String::new();
    let mut row = |name: &str, value: &dyn std::fmt::Display| {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{name:16} {value}");
    };
    row("kind", &format!("{kind}, version {version}"));
    if let Some(protocol) = protocol {
        row("protocol", protocol);
    }
    row("curve", curve);
    for (name, value) in counts {
        row(name, value);
    }
    row("bytes", bytes);
    let _ = writeln!(table, "\nsection  {:26} {:>12} {:>12}", "content", "offset", "bytes");
    for section in sections {
        let (id, content, offset, bytes) = (section.id, section.content, section.offset, section.bytes);
        let _ = writeln!(table, "{id:7}  {content:26} {offset:12} {bytes:12}");
    }
    table
}
