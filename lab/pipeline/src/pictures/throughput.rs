//! Rates by the number of pipelines.

use super::lines::{Series, lines};
use crate::explore::Exploration;

/// Draws a line for each supply of elements, and published rates.
pub fn throughput(exploration: &Exploration, published: &[Series]) -> String {
    let series = exploration.throughput().map(|(supply, points)| Series {
        name: format!("from the {}", supply.name()),
        points,
        measured: false,
    });
    let all: Vec<_> = series.iter().chain(published).cloned().collect();
    let title = format!("{} on {}", exploration.formula, exploration.device);
    lines(&title, ["pipelines", "results a second"], &all, [false, false])
}
