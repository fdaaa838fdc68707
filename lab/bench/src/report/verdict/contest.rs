//! Finds the leader and the confidence in its lead.

use super::GeometricMean;
use crate::statistics::{Ratio, Verdict, median};

/// Rows that all contestants measured: by row, then by contestant, the cost of a unit of work in each sample.
pub(super) type CostRows = Vec<Vec<Vec<f64>>>;

/// The leader and its competitors.
#[derive(Debug)]
pub(super) struct Standing {
    /// Indices of contestants: the leader, then those over which its lead is not sure.
    pub(super) best: Vec<usize>,
    /// The closest competitor, and the leader's lead over it.
    pub(super) next: Option<(usize, Lead)>,
}

/// How many times lower the cost of one contestant is than another's.
#[derive(Clone, Debug)]
pub(super) struct Lead {
    /// The geometric mean of the families' means.
    pub(super) mean: GeometricMean,
    /// The ratio of each row.
    pub(super) rows: Vec<Ratio>,
}

impl Lead {
    /// The lead's verdict: see [`Ratio::verdict`].
    pub(super) fn verdict(&self, threshold: f64) -> Verdict {
        self.mean.ratio.verdict(threshold)
    }
}

/// The lead of `leader` over `other`, over the rows of several families. `None` without rows, or if a sample
/// is not positive.
pub(super) fn lead(families: &[&CostRows], leader: usize, other: usize) -> Option<Lead> {
    let ratios = |rows: &&CostRows| -> Option<Vec<Ratio>> {
        rows.iter().map(|row| Ratio::of(&row[other], &row[leader])).collect()
    };
    let families: Vec<Vec<Ratio>> = families.iter().map(ratios).collect::<Option<_>>()?;
    let means: Option<Vec<Ratio>> =
        families.iter().map(|ratios| GeometricMean::of(ratios).map(|mean| mean.ratio)).collect();
    Some(Lead { mean: GeometricMean::of(&means?)?, rows: families.concat() })
}

/// The contestant with the lowest geometric mean of medians; the first one if there are several. `None`
/// without rows.
pub(super) fn first(families: &[&CostRows], contestants: &[usize]) -> Option<usize> {
    let logarithm = |contestant: usize| -> Option<f64> {
        let of_family = |rows: &&CostRows| -> Option<f64> {
            let medians: Option<Vec<f64>> = rows.iter().map(|row| median(&row[contestant])).collect();
            let logarithms = medians?.iter().map(|median| median.ln()).sum::<f64>();
            (!rows.is_empty()).then(|| logarithms / rows.len() as f64)
        };
        families.iter().map(of_family).sum()
    };
    let known = contestants.iter().filter_map(|&contestant| Some((contestant, logarithm(contestant)?)));
    let known = known.filter(|(_, logarithm)| !families.is_empty() && logarithm.is_finite());
    known.min_by(|left, right| left.1.total_cmp(&right.1)).map(|(contestant, _)| contestant)
}

/// The leader among the `judged`. `None` without rows.
pub(super) fn standing(families: &[&CostRows], judged: &[usize], threshold: f64) -> Option<Standing> {
    let leader = first(families, judged)?;
    let mut others: Vec<(usize, Lead)> = Vec::new();
    for &other in judged.iter().filter(|&&other| other != leader) {
        others.push((other, lead(families, leader, other)?));
    }
    others.sort_by(|left, right| left.1.mean.ratio.ratio.total_cmp(&right.1.mean.ratio.ratio));
    let close = others.iter().filter(|(_, lead)| lead.verdict(threshold) != Verdict::Faster);
    let best = [leader].into_iter().chain(close.map(|(other, _)| *other)).collect();
    // If the lead is not sure, `next` is the closest of the contestants that cause the doubt.
    let doubted = others.iter().position(|(_, lead)| lead.verdict(threshold) != Verdict::Faster).unwrap_or(0);
    let next = (!others.is_empty()).then(|| others.swap_remove(doubted));
    Some(Standing { best, next })
}
