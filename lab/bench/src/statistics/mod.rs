//! Statistics of times. No distribution is assumed: times have a lower bound and long tails.

use serde::{Deserialize, Serialize};

/// The confidence level of intervals.
pub const CONFIDENCE: f64 = 0.95;

/// Summary statistics of samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of samples.
    pub count: usize,
    /// The median.
    pub median: f64,
    /// Median absolute deviation from the median, not scaled to a normal distribution's standard deviation.
    pub mad: f64,
    /// The smallest sample.
    pub min: f64,
    /// Confidence interval of the distribution's median at the level [`CONFIDENCE`], by the sign test's order
    /// statistics: exact. `None` below six samples.
    pub interval: Option<(f64, f64)>,
}

impl Summary {
    /// Summarises samples in any order; `None` without samples, or if one is not finite.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let sorted = sorted(samples)?;
        let median = middle(&sorted);
        let mut distances: Vec<f64> = sorted.iter().map(|sample| (sample - median).abs()).collect();
        distances.sort_by(f64::total_cmp);
        let interval =
            outer_order_statistic(sorted.len()).map(|rank| (sorted[rank], sorted[sorted.len() - 1 - rank]));
        Some(Self { count: sorted.len(), median, mad: middle(&distances), min: sorted[0], interval })
    }

    /// Half of the interval's width as a share of the median.
    pub fn precision(&self) -> Option<f64> {
        self.interval.map(|(low, high)| (high - low) / (2.0 * self.median))
    }
}

/// How many times faster one implementation is than another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The median of all quotients of two samples (the Hodges-Lehmann estimate on logarithms).
    pub ratio: f64,
    /// Confidence interval at the level [`CONFIDENCE`], by inverting the rank-sum test; `None` if there are
    /// too few samples.
    pub interval: Option<(f64, f64)>,
}

/// The interpretation of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The interval is above 1, and the ratio by more than the threshold.
    Faster,
    /// The interval is below 1, and the ratio by more than the threshold.
    Slower,
    /// The interval contains 1, or the difference is below the threshold.
    NoDifference,
    /// There are too few samples for an interval.
    Unsure,
    /// Faster or slower, but one of the runs was disturbed.
    Noisy,
}

/// The geometric mean of several rows' ratios.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeometricMean {
    /// The mean. Its interval consists of the geometric means of the rows' lower and upper ends, as if the
    /// errors of all rows had the same direction. Rows of one run share its disturbances, so their errors are
    /// not independent, and more rows do not narrow the interval. `None` if a row has no interval.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// Number of rows.
    pub rows: usize,
    /// The smallest of the rows' ratios.
    pub least: f64,
    /// The greatest of the rows' ratios.
    pub greatest: f64,
}

impl GeometricMean {
    /// The mean of ratios in any order; `None` without ratios.
    pub fn of(ratios: &[Ratio]) -> Option<Self> {
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            (values.map(f64::ln).sum::<f64>() / ratios.len() as f64).exp()
        };
        let intervals: Option<Vec<(f64, f64)>> = ratios.iter().map(|ratio| ratio.interval).collect();
        let interval = intervals.map(|intervals| {
            let ends = |end: fn(&(f64, f64)) -> f64| mean(&mut intervals.iter().map(end));
            (ends(|interval| interval.0), ends(|interval| interval.1))
        });
        let values = || ratios.iter().map(|ratio| ratio.ratio);
        (!ratios.is_empty()).then(|| Self {
            ratio: Ratio { ratio: mean(&mut values()), interval },
            rows: ratios.len(),
            least: values().fold(f64::INFINITY, f64::min),
            greatest: values().fold(0.0, f64::max),
        })
    }
}

impl Ratio {
    /// The base's seconds divided by the other's: above 1, the other is faster. `None` without samples, or if
    /// one is not positive.
    ///
    /// Source: Hodges and Lehmann, Estimates of Location Based on Rank Tests, 1963; the interval is that of
    /// R's `wilcox.test(conf.int = TRUE)`.
    pub fn of(base: &[f64], other: &[f64]) -> Option<Self> {
        let positive = |samples: &[f64]| samples.iter().all(|sample| *sample > 0.0);
        if !positive(base) || !positive(other) {
            return None;
        }
        let quotients: Vec<f64> =
            base.iter().flat_map(|base| other.iter().map(move |other| base / other)).collect();
        let quotients = sorted(&quotients)?;
        let interval = outer_rank_sum(base.len(), other.len())
            .map(|rank| (quotients[rank], quotients[quotients.len() - 1 - rank]));
        Some(Self { ratio: middle(&quotients), interval })
    }

    /// The verdict; a ratio that differs from 1 by less than `threshold` counts as no difference.
    pub fn verdict(&self, threshold: f64) -> Verdict {
        match self.interval {
            None => Verdict::Unsure,
            Some((low, _)) if low > 1.0 && self.ratio >= 1.0 + threshold => Verdict::Faster,
            Some((_, high)) if high < 1.0 && self.ratio <= 1.0 / (1.0 + threshold) => Verdict::Slower,
            Some(_) => Verdict::NoDifference,
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifference => "no difference",
            Self::Unsure => "too few samples",
            Self::Noisy => "no verdict (noise)",
        })
    }
}

/// The median of values in any order; `None` without values, or if one is not finite.
pub fn median(values: &[f64]) -> Option<f64> {
    sorted(values).map(|sorted| middle(&sorted))
}

/// The most samples of a side that enter a ratio.
const PAIRED: usize = 200;

/// At most 200 of the samples, evenly spaced in time: a ratio uses all pairs, and files may contain many
/// samples.
pub fn thinned(samples: &[f64]) -> Vec<f64> {
    let step = samples.len().div_ceil(PAIRED).max(1);
    samples.iter().copied().step_by(step).collect()
}

/// The values in ascending order; `None` without values, or if one is not finite.
fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (!sorted.is_empty() && sorted.iter().all(|value| value.is_finite())).then_some(sorted)
}

fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) { (sorted[half - 1] + sorted[half]) / 2.0 } else { sorted[half] }
}

/// The greatest rank, from 0, such that the median lies between this rank and its mirror image at the level
/// [`CONFIDENCE`].
fn outer_order_statistic(count: usize) -> Option<usize> {
    // The number of samples below the median has a binomial distribution.
    let tail = (1.0 - CONFIDENCE) / 2.0;
    if count > 1000 {
        // The distribution is close to a normal one, and 2^-count would underflow.
        let (mean, deviation) = (count as f64 / 2.0, (count as f64).sqrt() / 2.0);
        return Some((mean - 0.5 - NORMAL_QUANTILE * deviation).floor() as usize);
    }
    let (mut probability, mut below) = (0.5_f64.powi(count as i32), 0.0);
    for heads in 0..count {
        below += probability;
        if below > tail {
            return heads.checked_sub(1);
        }
        probability *= (count - heads) as f64 / (heads + 1) as f64;
    }
    None
}

/// The normal distribution's quantile for [`CONFIDENCE`].
const NORMAL_QUANTILE: f64 = 1.959963984540054;

/// Up to this many samples on each side, the rank sum's distribution is computed exactly; beyond, it is close
/// to normal.
const COUNTED: usize = 50;

/// The greatest rank, from 0, such that the true ratio lies between this rank and its mirror image among the
/// sorted quotients, at the level [`CONFIDENCE`].
fn outer_rank_sum(first: usize, second: usize) -> Option<usize> {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    if first.max(second) > COUNTED {
        let pairs = first as f64 * second as f64;
        let deviation = (pairs * (first + second + 1) as f64 / 12.0).sqrt();
        let rank = (pairs / 2.0 - NORMAL_QUANTILE * deviation).floor();
        return (rank >= 1.0).then_some(rank as usize - 1);
    }
    let below = rank_sum_distribution(first, second).into_iter().scan(0.0, |sum, probability| {
        *sum += probability;
        Some(*sum)
    });
    below.take_while(|below| *below <= tail).count().checked_sub(1)
}

/// Probabilities of the rank-sum statistic U, from 0 to `first * second`, if both sides have the same
/// distribution.
///
/// Source: Mann and Whitney, On a Test of Whether one of Two Random Variables is Stochastically Larger than
/// the Other, 1947. The recursion is on the side to which the largest sample belongs.
fn rank_sum_distribution(first: usize, second: usize) -> Vec<f64> {
    // of[n][u], for the current m.
    let mut of = vec![vec![1.0]; second + 1];
    for m in 1..=first {
        let mut next = vec![vec![1.0]];
        for n in 1..=second {
            let largest_is_first = m as f64 / (m + n) as f64;
            let at = |row: &[f64], u: Option<usize>| u.and_then(|u| row.get(u)).copied().unwrap_or(0.0);
            let probability = |u: usize| {
                largest_is_first * at(&of[n], u.checked_sub(n))
                    + (1.0 - largest_is_first) * at(&next[n - 1], Some(u))
            };
            let row = (0..=m * n).map(probability).collect();
            next.push(row);
        }
        of = next;
    }
    of.swap_remove(second)
}

#[cfg(test)]
mod tests;
