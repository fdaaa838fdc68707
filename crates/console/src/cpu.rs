//! `cpu`: this CPU's features, and the levels that kernels use.

use crate::{Machine, Outcome};
use proofmill_cpu::{Level, facts};
use proofmill_sha256::Kernels;
use serde_json::json;
use std::fmt::Write as _;

/// A kernel's name, and a function from the chosen level to the level at which the kernel runs.
type Kernel = (&'static str, fn(Level) -> Level);

/// The kernels.
const KERNELS: [Kernel; 7] = [
    ("field arithmetic of single elements", of_scalars),
    ("number-theoretic transform", proofmill_field::prime_field_level),
    ("multi-scalar multiplication in G1", proofmill_field::prime_field_level),
    ("multi-scalar multiplication in G2", proofmill_field::prime_field_level),
    ("pairing", proofmill_field::prime_field_level),
    ("transform over Goldilocks", proofmill_field::goldilocks_level),
    ("Poseidon and Merkle trees", proofmill_field::goldilocks_level),
];

/// Lists the CPU's name, features and levels, and the level that each kernel uses.
pub fn list(machine: &Machine) -> Outcome {
    let model = facts::Description::of_this_cpu().model();
    let features = facts::features();
    let levels: Vec<&str> = Level::available().iter().map(|level| level.name()).collect();
    let kernels = KERNELS.map(|(kernel, level_of)| (kernel, level_of(machine.level()).name()));

    let mut text = format!("CPU       {model}\n");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "threads   {}", machine.threads());
    let (yes, no): (Vec<_>, Vec<_>) = features.iter().partition(|(_, has)| *has);
    let names = |list: &[&(&str, bool)]| list.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ");
    let _ = writeln!(text, "features  {}", names(&yes));
    if !no.is_empty() {
        let _ = writeln!(text, "lacks     {}", names(&no));
    }
    let _ = writeln!(text, "levels    {}", levels.join(" "));
    let _ = writeln!(text, "in use    {}\n", machine.level());
    for (kernel, level) in &kernels {
        let _ = writeln!(text, "{kernel:36} {level}");
    }
    let sha256 = Kernels::at(machine.level());
    let named: Vec<_> = Kernels::available().into_iter().map(Kernels::name).collect();
    let _ = writeln!(text, "{:36} {}", "SHA-256 of one message", sha256.single_name());
    let _ = writeln!(text, "{:36} {}", "SHA-256 of many", sha256.name());
    let _ = writeln!(text, "{:36} {}", "SHA-256 by `--kernel`", named.join(" "));
    let result = json!({
        "cpu": model,
        "features": features.iter().map(|(name, has)| ((*name).to_owned(), (*has).into()))
            .collect::<serde_json::Map<_, _>>(),
        "levels": levels,
        "kernels": kernels.iter().map(|(kernel, level)| json!({ "kernel": kernel, "level": level }))
            .collect::<Vec<_>>(),
        "sha256": { "one": sha256.single_name(), "many": sha256.name(), "kernels": named },
    });
    Outcome { text, ..Outcome::done(result) }
}

/// The level of scalar arithmetic of the big prime fields.
pub fn of_scalars(level: Level) -> Level {
    match proofmill_field::prime_field_level(level) {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(token) => Level::Adx(token.adx()),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512Ifma(token) => Level::Adx(token.adx()),
        level => level,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_kernel_runs_above_the_chosen_level() {
        let levels: Vec<_> = Level::available().iter().map(|level| level.name()).collect();
        for chosen in Level::available() {
            for (kernel, level_of) in KERNELS {
                let rank = |name| levels.iter().position(|level| *level == name).unwrap();
                let level = level_of(chosen).name();
                assert!(rank(level) <= rank(chosen.name()), "{kernel}: {level} at {chosen}");
            }
        }
    }
}
