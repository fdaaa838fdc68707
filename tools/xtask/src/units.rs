//! `cargo xtask units`: what cargo's report of timings says of the dearest units.

use serde::Deserialize;
use std::{fmt::Write, fs};

/// The units that are listed.
const LISTED: usize = 20;

/// The report that the last `cargo --timings` wrote.
const REPORT: &str = "target/cargo-timings/cargo-timing.html";

/// A crate, as one of its targets, that was compiled.
#[derive(Deserialize)]
struct Unit {
    name: String,
    /// Empty for a library, else such as ` it "test" (test)`.
    target: String,
    start: f64,
    duration: f64,
}

/// Prints a table of the units that took longest.
pub(crate) fn run(report: Option<&str>) -> Result<(), String> {
    let path = report.unwrap_or(REPORT);
    let page = fs::read_to_string(path)
        .map_err(|error| format!("{path}: {error}; cargo build --timings writes it"))?;
    print!("{}", table(&page).ok_or_else(|| format!("{path}: not a report of this cargo's timings"))?);
    Ok(())
}

fn table(page: &str) -> Option<String> {
    let (_, rest) = page.split_once("const UNIT_DATA = ")?;
    let (data, _) = rest.split_once(";\n")?;
    let mut units: Vec<Unit> = serde_json::from_str(data).ok()?;
    let wall = units.iter().map(|unit| unit.start + unit.duration).fold(0.0, f64::max);
    let total: f64 = units.iter().map(|unit| unit.duration).sum();
    units.sort_by(|a, b| b.duration.total_cmp(&a.duration));
    let mut table = "| unit | s |\n|---|---:|\n".to_owned();
    for unit in units.iter().take(LISTED) {
        writeln!(table, "| {}{} | {:.0} |", unit.name, unit.target, unit.duration).ok()?;
    }
    writeln!(table, "| all {} | {total:.0}, in {wall:.0} of wall time |", units.len()).ok()?;
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn the_dearest_come_first() {
        let page = r#"const CONCURRENCY_DATA = [];
const UNIT_DATA = [{"i": 0, "name": "a", "target": "", "start": 0.0, "duration": 1.5, "rmeta_time": null},
{"i": 1, "name": "b", "target": " it \"test\" (test)", "start": 1.0, "duration": 20.25}];
"#;
        let expected = "| unit | s |\n|---|---:|\n| b it \"test\" (test) | 20 |\n| a | 2 |\n| all 2 | 22, in 21 of wall time |\n";
        assert_eq!(table(page).as_deref(), Some(expected));
        assert_eq!(table("<html>"), None);
    }
}
