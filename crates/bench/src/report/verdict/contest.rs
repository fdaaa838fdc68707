//! Who leads whom, and how surely: arithmetic alone.

use super::GeometricMean;
use crate::statistics::{Ratio, Verdict, median};

/// Rows that all contestants measured: by row, by contestant, what a unit of the work costs in each sample.
pub(super) type Rows = Vec<Vec<Vec<f64>>>;

/// Who may be the best.
#[derive(Debug)]
pub(super) struct Standing {
    /// The leader, then those that it does not lead surely.
    pub(super) best: Vec<usize>,
    /// The one that comes closest to the leader, and how far it is behind.
    pub(super) next: Option<(usize, Lead)>,
}

/// How many times less one contestant costs than another.
#[derive(Clone, Debug)]
pub(super) struct Lead {
    /// The geometric mean of the families' means.
    pub(super) mean: GeometricMean,
    /// Each row's.
    pub(super) rows: Vec<Ratio>,
}

impl Lead {
    /// Its verdict: see [`Ratio::verdict`].
    pub(super) fn verdict(&self, threshold: f64) -> Verdict {
        self.mean.ratio.verdict(threshold)
    }
}

/// The lead of `leader` over `other` over the rows of several families. `None` without rows, or if a sample is not positive.
pub(super) fn lead(families: &[&Rows], leader: usize, other: usize) -> Option<Lead> {
    let ratios = |rows: &&Rows| -> Option<Vec<Ratio>> {
        rows.iter().map(|row| Ratio::of(&row[other], &row[leader])).collect()
    };
    let families: Vec<Vec<Ratio>> = families.iter().map(ratios).collect::<Option<_>>()?;
    let means: Option<Vec<Ratio>> =
        families.iter().map(|ratios| GeometricMean::of(ratios).map(|mean| mean.ratio)).collect();
    Some(Lead { mean: GeometricMean::of(&means?)?, rows: families.concat() })
}

/// The contestant whose medians are least by their geometric mean; of equal ones the first. `None` without rows.
pub(super) fn first(families: &[&Rows], contestants: &[usize]) -> Option<usize> {
    let logarithm = |contestant: usize| -> Option<f64> {
        let of_family = |rows: &&Rows| -> Option<f64> {
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

/// Who of the `judged` leads. `None` without rows.
pub(super) fn standing(families: &[&Rows], judged: &[usize], threshold: f64) -> Option<Standing> {
    let leader = first(families, judged)?;
    let mut others: Vec<(usize, Lead)> = Vec::new();
    for &other in judged.iter().filter(|&&other| other != leader) {
        others.push((other, lead(families, leader, other)?));
    }
    others.sort_by(|left, right| left.1.mean.ratio.ratio.total_cmp(&right.1.mean.ratio.ratio));
    let close = others.iter().filter(|(_, lead)| lead.verdict(threshold) != Verdict::Faster);
    let best = [leader].into_iter().chain(close.map(|(other, _)| *other)).collect();
    // The reason for doubt is the closest of those that are not led surely.
    let doubted = others.iter().position(|(_, lead)| lead.verdict(threshold) != Verdict::Faster).unwrap_or(0);
    let next = (!others.is_empty()).then(|| others.swap_remove(doubted));
    Some(Standing { best, next })
}
