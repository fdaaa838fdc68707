//! `cpu`: this CPU's features, and the gain from each: the ratio of two kernels for the same operation, one
//! that uses the feature and the best one that does not.

use super::{
    features::{self, Feature},
    measure::{KernelTime, Measurements},
};
use proofmill_console::{Failure, Machine, Outcome, cpu};
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) fn run(machine: &Machine) -> Result<Outcome, Failure> {
    let mut outcome = cpu::list(machine);
    let (features, measurements) = (features::features(), Measurements::new()?);
    outcome.text += &format!("\n{}", text(&measurements, &features));
    outcome.result["measured"] = json(&measurements, &features);
    Ok(outcome)
}

/// The measured rows with and without a feature, if both exist.
fn gain<'a>(measurements: &'a Measurements, feature: &Feature) -> Option<[&'a KernelTime; 2]> {
    let gain = feature.gain.as_ref()?;
    Some([measurements.row(gain.operation, gain.with)?, measurements.row(gain.operation, gain.without)?])
}

/// The result as text.
fn text(measurements: &Measurements, features: &[Feature]) -> String {
    let mut text = format!("{:<14} {:<5} {:<60} used by\n", "feature", "here", "came with");
    // Writing to a string cannot fail.
    for Feature { name, present, came_with, kernels, .. } in features {
        let here = if *present { "yes" } else { "no" };
        let _ = writeln!(text, "{name:<14} {here:<5} {came_with:<60} {kernels}");
    }
    let _ = match measurements.cycles_per_second {
        Some(rate) => {
            writeln!(
                text,
                "\nOne core, CPU time; cycles are the time-stamp counter's, {:.2} GHz.",
                rate / 1e9
            )
        }
        None => writeln!(text, "\nOne core, CPU time; cycles are unavailable here."),
    };
    let _ = writeln!(text, "\n{:<14} {:>7}   operation, with and without", "feature", "gain");
    for feature in features {
        let Some([with, without]) = gain(measurements, feature) else { continue };
        let ratio = without.seconds / with.seconds;
        let sides =
            format!("{} {}, {} {}", with.kernel, nanoseconds(with), without.kernel, nanoseconds(without));
        let _ = writeln!(text, "{:<14} {ratio:>5.2} x   {}: {sides}", feature.name, with.operation);
    }
    let mut operation = "";
    for row in &measurements.rows {
        if row.operation != operation {
            operation = row.operation;
            let _ = writeln!(text, "\n{operation}");
        }
        let rate = grouped(1.0 / row.seconds);
        let cycles = measurements
            .cycles(row)
            .map_or_else(String::new, |cycles| format!("{:>16} cycles", grouped(cycles)));
        let (time, ratio) = (nanoseconds(row), measurements.ratio(row));
        let _ = writeln!(text, "  {:<12} {rate:>14} ops/s {time:>18}/op {cycles} {ratio:>8.2} x", row.kernel);
    }
    text
}

/// The result as JSON.
fn json(measurements: &Measurements, features: &[Feature]) -> Value {
    let feature = |feature: &Feature| {
        let gain = gain(measurements, feature).map(|[with, without]| {
            json!({
                "operation": with.operation,
                "with": with.kernel,
                "without": without.kernel,
                "ratio": without.seconds / with.seconds,
            })
        });
        json!({
            "name": feature.name,
            "present": feature.present,
            "came_with": feature.came_with,
            "used_by": feature.kernels,
            "gain": gain,
        })
    };
    let row = |row: &KernelTime| {
        json!({
            "operation": row.operation,
            "kernel": row.kernel,
            "ops_per_second": 1.0 / row.seconds,
            "nanoseconds": row.seconds * 1e9,
            "cycles": measurements.cycles(row),
            "ratio": measurements.ratio(row),
        })
    };
    json!({
        "time_stamps_per_second": measurements.cycles_per_second,
        "features": features.iter().map(feature).collect::<Vec<_>>(),
        "operations": measurements.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn nanoseconds(row: &KernelTime) -> String {
    format!("{} ns", grouped(row.seconds * 1e9))
}

/// A number with its digits in groups of three, with one decimal below 100.
fn grouped(number: f64) -> String {
    if number < 100.0 {
        return format!("{number:.1}");
    }
    let digits = format!("{number:.0}");
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        let cases =
            [(0.25, "0.2"), (99.94, "99.9"), (100.4, "100"), (1234.0, "1,234"), (41_000_000.0, "41,000,000")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }
}
