//! Records of figures, for the documentation: a line for each measured row.
//!
//! | column | |
//! |---|---|
//! | `family` ... `threads` | the row; of a name such as `circuit.zkey` what comes before the dot, of a size above 2^10 its power of two |
//! | `run` | the run's number among those of the record, from 1 |
//! | `samples`, `median_s`, `min_s` | of as many samples as the implementation with the fewest has in the row: those were taken in alternation |
//! | `peak_mb` | peak memory in megabytes; empty if unknown |
//! | `others_share` | the share of CPU time that went to other processes |

use crate::{
    record::{BenchRun, Figures, RowKey, RowOutcome},
    statistics,
};

/// The columns.
const COLUMNS: &str =
    "family,benchmark,implementation,size,threads,run,samples,median_s,min_s,peak_mb,others_share\n";

/// The record of these runs.
pub fn write(runs: &[BenchRun]) -> String {
    let mut text = COLUMNS.to_owned();
    for (index, run) in runs.iter().enumerate() {
        let measured = run.measurements.iter().filter_map(|measurement| match &measurement.outcome {
            RowOutcome::Measured(figures) => Some((&measurement.row, figures)),
            RowOutcome::Checked { .. } | RowOutcome::Absent { .. } | RowOutcome::Failed { .. } => None,
        });
        let measured: Vec<_> = measured.collect();
        for (row, figures) in &measured {
            let alternating = measured.iter().filter(|(other, _)| is_beside(row, other));
            let samples = alternating.map(|(_, figures)| figures.seconds.len()).min().unwrap_or_default();
            text.push_str(&line(run, index + 1, row, figures, samples));
        }
    }
    text
}

/// Whether two rows differ in the implementation alone.
fn is_beside(row: &RowKey, other: &RowKey) -> bool {
    let key = |row: &RowKey| (row.family.clone(), row.benchmark.clone(), row.size, row.threads);
    key(row) == key(other)
}

fn line(run: &BenchRun, number: usize, row: &RowKey, figures: &Figures, samples: usize) -> String {
    let RowKey { family, benchmark, implementation, threads, .. } = row;
    let benchmark = benchmark.split('.').next().unwrap_or_default();
    let size = row.size.map(size).unwrap_or_default();
    let seconds = figures.seconds.get(..samples).unwrap_or_default();
    let median = digits(statistics::median(seconds).unwrap_or_default());
    let least = digits(seconds.iter().copied().reduce(f64::min).unwrap_or_default());
    let peak = figures.peak_memory.map(|bytes| format!("{:.0}", bytes as f64 / 1e6)).unwrap_or_default();
    let others = run.noise.others.map(|share| format!("{share:.2}")).unwrap_or_default();
    format!(
        "{family},{benchmark},{implementation},{size},{threads},{number},{samples},{median},{least},{peak},{others}\n"
    )
}

fn size(size: u64) -> String {
    if size > 1 << 10 && size.is_power_of_two() { format!("2^{}", size.ilog2()) } else { size.to_string() }
}

/// Four significant digits.
fn digits(value: f64) -> String {
    let magnitude = if value > 0.0 { value.log10().floor() as i32 } else { 0 };
    format!("{value:.*}", usize::try_from(3 - magnitude).unwrap_or_default())
}
