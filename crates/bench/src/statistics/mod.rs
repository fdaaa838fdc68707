//! Statistics of times: no distribution is assumed, since times have a floor and long tails.

use serde::{Deserialize, Serialize};

/// How sure intervals are.
pub const CONFIDENCE: f64 = 0.95;

/// What samples say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Samples.
    pub count: usize,
    /// Half of the samples are below.
    pub median: f64,
    /// Median of the distances to the median, not scaled to a normal distribution's deviation.
    pub mad: f64,
    /// The least.
    pub min: f64,
    /// Where the median of all possible samples lies with [`CONFIDENCE`], by the sign test's order statistics: exact, and
    /// none below six samples, which cannot tell.
    pub interval: Option<(f64, f64)>,
}

impl Summary {
    /// Of samples in any order; `None` without any, or if one is not finite.
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

/// How many times faster one is than the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The median of all quotients of two samples (the Hodges-Lehmann estimate on logarithms).
    pub ratio: f64,
    /// Where the true one lies with [`CONFIDENCE`], by inverting the rank-sum test; none if there are too few samples.
    pub interval: Option<(f64, f64)>,
}

/// A ratio in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Above 1, surely and by more than the threshold.
    Faster,
    /// Below 1, likewise.
    Slower,
    /// 1 is within the interval, or the difference is too small to notice.
    NoDifference,
    /// Too few samples.
    Unsure,
    /// It would be faster or slower, but one of the runs was disturbed.
    Noisy,
}

/// The geometric mean of several rows' ratios.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeometricMean {
    /// The mean, and the geometric means of the rows' lower and upper ends as its interval: as wide as if the errors of all
    /// rows went in one direction. Rows of one run share what disturbs it, so their errors are not independent, and more
    /// rows do not make the interval narrower. None if a row has none.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// How many rows.
    pub rows: usize,
    /// The least of the rows' ratios.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
}

impl GeometricMean {
    /// Of ratios in any order; `None` without any.
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
    /// Base's seconds by the other's: how many times faster the other is. `None` without samples, or if one is not positive.
    ///
    /// Source: Hodges and Lehmann, Estimates of Location Based on Rank Tests, 1963; the interval is that of R's
    /// `wilcox.test(conf.int = TRUE)`.
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

    /// In a word; ratios that differ from 1 by less than `threshold` are no difference.
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

/// The median of values in any order; `None` without any, or if one is not finite.
pub fn median(values: &[f64]) -> Option<f64> {
    sorted(values).map(|sorted| middle(&sorted))
}

/// `None` for nothing, or something that is not finite.
/// The most samples of a side that make up a ratio.
const PAIRED: usize = 200;

/// At most 200 of the samples, evenly spaced in time: a ratio is of all pairs, and files may hold a great many.
pub fn thinned(samples: &[f64]) -> Vec<f64> {
    let step = samples.len().div_ceil(PAIRED).max(1);
    samples.iter().copied().step_by(step).collect()
}

fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (!sorted.is_empty() && sorted.iter().all(|value| value.is_finite())).then_some(sorted)
}

fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) { (sorted[half - 1] + sorted[half]) / 2.0 } else { sorted[half] }
}

/// The greatest rank, from 0, of which and of whose mirror image the median lies between with [`CONFIDENCE`].
fn outer_order_statistic(count: usize) -> Option<usize> {
    // Of `count` samples, as many lie below the median as heads come up.
    let tail = (1.0 - CONFIDENCE) / 2.0;
    if count > 1000 {
        // The binomial distribution is a normal one, and 2^-count soon no number.
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

/// Up to so many samples on each side the rank sum's distribution is counted, beyond it is nearly normal.
const COUNTED: usize = 50;

/// The greatest rank, from 0, among the pairs of which and of whose mirror image the true ratio lies between.
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

/// Probabilities of the rank sum's statistic U, from 0 to `first * second`, if both sides are alike.
///
/// Source: Mann and Whitney, On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other, 1947:
/// the recursion on the side to which the largest sample belongs.
fn rank_sum_distribution(first: usize, second: usize) -> Vec<f64> {
    // of[n][u], for the m of the round.
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
