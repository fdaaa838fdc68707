//! `zkey audit`: examines the setup that a key or a contract shows.

use crate::{
    contribution::{self, Listing},
    files::InputFile,
};
use clap::Args;
use proofmill::{
    audit::{Audit, Ceremony, Circuit, audit},
    groth16::ProvingKey,
};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_run::Run;
use serde_json::json;
use std::fmt::Write as _;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey audit circuit.zkey
  proofmill zkey audit verifier.sol --r1cs circuit.r1cs --ptau pot.ptau
  proofmill zkey audit verifier.sol --zkey circuit.zkey
  proofmill zkey audit verification_key.json --json

In a source, every contract that has a key is judged.

Exit status 1: anyone can forge proofs, or the key is not the circuit's or the proving key's. Status 2: parts of a key were not found, or no key. Status 0 does not prove that a setup is secure: whether its secrets were destroyed leaves no trace.")]
pub(crate) struct ZkeyAudit {
    /// A proving key, a verification key, or the source of a Solidity verifier
    #[arg(value_name = "KEY")]
    key: InputFile,
    /// Compare the key with that of this circuit
    #[arg(long, value_name = "R1CS", requires = "ptau")]
    r1cs: Option<InputFile>,
    /// The powers of tau of the circuit's key, prepared for phase 2
    #[arg(long, value_name = "PTAU", requires = "r1cs")]
    ptau: Option<InputFile>,
    /// Compare a key or a contract of Groth16, and its delta, with this proving key, which `zkey verify` has accepted
    #[arg(long, value_name = "ZKEY")]
    zkey: Option<InputFile>,
    #[command(flatten)]
    listing: Listing,
}

impl ZkeyAudit {
    pub(crate) fn run(&self, machine: &mut Machine) -> Result<Outcome, Failure> {
        let found = machine.run(|Run { progress, .. }| {
            progress.begin("audit");
            let circuit = match (&self.r1cs, &self.ptau) {
                (Some(r1cs), Some(ptau)) => Some(Circuit::open(r1cs, ptau)?),
                _ => None,
            };
            let key = self.zkey.as_ref().map(ProvingKey::open).transpose()?;
            audit(&self.key, circuit.as_ref(), key.as_ref())
        })?;
        let tables: Vec<_> = found.iter().map(|audit| self.table(audit)).collect();
        let failures: Vec<_> = found.iter().map(|audit| self.failure(audit)).collect();
        // A contract that is rejected comes before one of which nothing is known.
        let rank = |failure: &Option<Failure>| match failure {
            Some(Failure::Rejected(_)) => 0,
            Some(_) => 1,
            None => 2,
        };
        let worst = failures.into_iter().zip(&found).min_by_key(|(failure, _)| rank(failure));
        let (failure, mut result) = match worst {
            Some((failure, audit)) => (failure, self.object(audit)),
            None => (None, json!({})),
        };
        if found.iter().any(|audit| audit.contract.is_some()) {
            result["contracts"] = found.iter().map(|audit| self.object(audit)).collect();
        }
        Ok(Outcome { text: tables.join("\n"), failure, ..Outcome::done(result) })
    }

    /// The faults of a key; the reason why its proofs can be forged comes first.
    fn failure(&self, found: &Audit) -> Option<Failure> {
        let key = match found.contract.as_deref() {
            None | Some("") => self.key.display().to_string(),
            Some(name) => format!("{}: contract {name}", self.key.display()),
        };
        let rejected = match (&found.insecurity, &found.differs, &found.differs_from_key) {
            (Some(reason), ..) => format!("{key}: anyone can forge proofs: {reason}"),
            (None, Some(part), _) => {
                format!("{key}: it is not the circuit's key: its setup differs in {part}")
            }
            (None, None, Some(part)) => format!("{key}: it is not the proving key's: it differs in {part}"),
            (None, None, None) if found.missing.is_empty() => return None,
            (None, None, None) => {
                let missing = found.missing.join(", ");
                return Some(Failure::Input(format!(
                    "{key}: not found: {missing}: nothing is known of its security; if they are in a library, append its source to the file"
                )));
            }
        };
        Some(Failure::Rejected(rejected))
    }

    fn object(&self, found: &Audit) -> serde_json::Value {
        let contributions = found.contributions.as_ref();
        let is_whole = found.missing.is_empty();
        json!({
            "protocol": found.protocol,
            "contract": found.contract,
            "missing": found.missing,
            "deltas": found.deltas,
            "insecure": found.insecurity.is_some(),
            "insecurity": found.insecurity,
            "ceremony": found.ceremony.map(|ceremony| ceremony.name),
            "ceremony_shown_by": found.ceremony.map(|ceremony| ceremony.shown_by),
            "contributions": contributions.map(|list| list.iter().map(contribution::object).collect::<Vec<_>>()),
            "contributions_match": contributions.map(|_| found.contributions_match),
            "ignored_signals": found.ignored_signals,
            "belongs_to_circuit": self.r1cs.as_ref().filter(|_| is_whole).map(|_| found.differs.is_none()),
            "differs": found.differs,
            "belongs_to_key": self.zkey.as_ref().filter(|_| is_whole).map(|_| found.differs_from_key.is_none()),
            "differs_from_key": found.differs_from_key,
            "delta_compared": found.delta_is_compared,
            "other_points": found.other_points,
        })
    }

    fn table(&self, found: &Audit) -> String {
        let mut table = String::new();
        let mut row = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(table, "{name:16} {value}");
        };
        row("kind", if found.protocol == "solidity" { "a verifier in Solidity" } else { &found.protocol });
        if let Some(name) = found.contract.as_deref().filter(|name| !name.is_empty()) {
            row("contract", name);
        }
        let is_whole = found.missing.is_empty();
        match found.insecurity {
            Some(reason) => row("setup", &format!("INSECURE: {reason}")),
            None if is_whole => row("setup", "no sign of an insecure one"),
            None => row("setup", "not known"),
        }
        if !is_whole {
            row("not found", &found.missing.join(", "));
        }
        if let Some(count @ 2..) = found.deltas {
            row("keys", &format!("{count}, each with a delta"));
        }
        match found.ceremony {
            Some(Ceremony { name, shown_by: "tau" }) => row("powers of tau", name),
            Some(Ceremony { name, shown_by }) => {
                row("powers of tau", &format!("{shown_by} is that of {name}"))
            }
            None => row("powers of tau", "of no ceremony that is known here"),
        }
        if let Some(list) = &found.contributions {
            row("contributions", &list.len().to_string());
            for line in self.listing.lines(list, 8) {
                row("", &line);
            }
            if !list.is_empty() && !found.contributions_match {
                row("", "delta is not that of the last contribution");
            }
        }
        for signal in &found.ignored_signals {
            row(
                "public signals",
                &format!("the value of signal {signal} does not matter: proofs hold for any"),
            );
        }
        self.compare(found, &mut row);
        table
    }

    /// The rows for the files that the key was compared with.
    fn compare(&self, found: &Audit, row: &mut dyn FnMut(&str, &str)) {
        let is_whole = found.missing.is_empty();
        match (&self.r1cs, found.differs) {
            (Some(_), _) if !is_whole => row("circuit", "not compared: parts of the key were not found"),
            (Some(r1cs), None) => row("circuit", &format!("{}", r1cs.display())),
            (Some(r1cs), Some(part)) => row("circuit", &format!("not {}: {part}", r1cs.display())),
            (None, _) => row("circuit", "not compared: give --r1cs and --ptau"),
        }
        match (&self.zkey, found.differs_from_key) {
            (Some(_), _) if !is_whole => row("proving key", "not compared: parts of the key were not found"),
            (Some(zkey), None) => row("proving key", &format!("{}", zkey.display())),
            (Some(zkey), Some(part)) => row("proving key", &format!("not {}: {part}", zkey.display())),
            (None, _) => {}
        }
        if found.delta_is_compared == Some(false) && is_whole {
            row("delta", "not compared: give --zkey, a proving key that `zkey verify` accepted");
        }
        if let Some(count @ 1..) = found.other_points {
            row("other points", &format!("{count}, which were compared with nothing"));
        }
    }
}
