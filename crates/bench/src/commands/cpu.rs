//! `cpu`: what this CPU can do, and what each of its features gains.

use super::{features, measure::Measurements};
use proofmill_console::{Failure, Machine, Outcome, cpu};

pub(super) fn run(machine: &Machine) -> Result<Outcome, Failure> {
    let mut outcome = cpu::list(machine);
    let (features, measurements) = (features::features(), Measurements::new()?);
    outcome.text += &format!("\n{}", measurements.text(&features));
    outcome.result["measured"] = measurements.json(&features);
    Ok(outcome)
}
