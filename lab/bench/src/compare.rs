//! Compares two runs, or two implementations of one run, row by row: which is faster, and with what
//! confidence.

use crate::{
    record::{BenchRun, Figures, RowKey, RowOutcome},
    statistics::{GeometricMean, Ratio, Verdict},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A run, or only its rows of one implementation.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The run.
    pub run: &'a BenchRun,
    /// A level, a peer or a program. If `None`, all of them, and each is compared with the one of the same
    /// name.
    pub implementation: Option<&'a str>,
}

/// The cost that is compared, per unit of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// Seconds.
    Second,
    /// Joules: seconds multiplied by the measured watts.
    Watt,
    /// Dollars: seconds multiplied by the run's price.
    Dollar,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Rows that both sides have, sorted.
    pub rows: Vec<Compared>,
    /// Geometric means of the rows' ratios.
    pub families: Vec<Mean>,
    /// Number of timed rows that only the first side has.
    pub only_first: usize,
    /// Number of timed rows that only the second side has.
    pub only_second: usize,
    /// Number of rows that both sides have but that cannot be compared, by reason.
    pub incomparable: BTreeMap<String, usize>,
    /// Reasons to doubt the times of a side. If there are any, no row is called faster or slower.
    pub doubts: Vec<Doubt>,
}

/// A reason to doubt a run's times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// The run's label.
    pub run: String,
    /// The disturbance.
    pub warning: String,
}

/// A row that both sides have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The second side's row.
    pub row: RowKey,
    /// Median cost of a unit on the first side: seconds, joules or dollars.
    pub first: f64,
    /// The same for the second side.
    pub second: f64,
    /// The first side's cost divided by the second side's: above 1, the second side is cheaper.
    pub ratio: Ratio,
    /// The verdict on `ratio`.
    pub verdict: Verdict,
}

/// The geometric mean of a family's rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The family's name.
    pub family: String,
    /// The rows' geometric mean.
    #[serde(flatten)]
    pub mean: GeometricMean,
    /// The verdict on the mean.
    pub verdict: Verdict,
}

/// The most samples of a row that enter a ratio, evenly spaced: a ratio needs every pair of samples.
const SAMPLES: usize = 1000;

/// Compares the second side with the first. A ratio that differs from 1 by less than `threshold` counts as no
/// difference.
pub fn compare(first: Side<'_>, second: Side<'_>, per: Per, threshold: f64) -> Comparison {
    let doubts = doubts(first.run, second.run);
    let judged = |ratio: &Ratio| match ratio.verdict(threshold) {
        Verdict::Faster | Verdict::Slower if !doubts.is_empty() => Verdict::Noisy,
        verdict => verdict,
    };
    let anonymous = first.implementation.is_some() && second.implementation.is_some();
    let (firsts, mut seconds) = (timed(first, anonymous), timed(second, anonymous));
    let only_second = seconds.keys().filter(|row| !firsts.contains_key(row)).count();
    let (mut rows, mut only_first, mut incomparable) = (Vec::new(), 0, BTreeMap::new());
    for (key, (_, base)) in firsts {
        let Some((row, other)) = seconds.remove(&key) else {
            only_first += 1;
            continue;
        };
        match costs(first.run, base, second.run, other, per) {
            Ok((base, other)) => match Ratio::of(&base, &other).zip(medians(&base, &other)) {
                Some((ratio, (first, second))) => {
                    let verdict = judged(&ratio);
                    rows.push(Compared { row: row.clone(), first, second, ratio, verdict });
                }
                None => *incomparable.entry("no positive samples".to_owned()).or_default() += 1,
            },
            Err(reason) => *incomparable.entry(reason.to_owned()).or_default() += 1,
        }
    }
    let families = means(&rows, judged);
    Comparison { rows, families, only_first, only_second, incomparable, doubts }
}

/// The doubts of both runs; if both are the same run, its doubts once.
fn doubts(first: &BenchRun, second: &BenchRun) -> Vec<Doubt> {
    let second = (first.id != second.id).then_some(second);
    let of = |run: &BenchRun| {
        let doubt = |warning| Doubt { run: run.label.clone(), warning };
        run.doubts().into_iter().map(doubt).collect::<Vec<_>>()
    };
    [first].into_iter().chain(second).flat_map(of).collect()
}

/// A side's timed rows by the key that must be equal on both sides; of repeated rows, the last one.
fn timed<'a>(side: Side<'a>, anonymous: bool) -> BTreeMap<RowKey, (&'a RowKey, &'a Figures)> {
    let wanted =
        |row: &RowKey| side.implementation.is_none_or(|implementation| row.implementation == implementation);
    let timed = side.run.measurements.iter().filter(|measurement| wanted(&measurement.row)).filter_map(
        |measurement| {
            let RowOutcome::Measured(figures) = &measurement.outcome else { return None };
            let mut key = measurement.row.clone();
            if anonymous {
                key.implementation.clear();
            }
            Some((key, (&measurement.row, figures)))
        },
    );
    timed.collect()
}

/// The cost of a unit in each sample of both sides, or the reason why they cannot be compared.
fn costs(
    first: &BenchRun,
    base: &Figures,
    second: &BenchRun,
    other: &Figures,
    per: Per,
) -> Result<(Vec<f64>, Vec<f64>), &'static str> {
    comparable(base, other)?;
    let rate = |run: &BenchRun, figures: &Figures| match per {
        Per::Second => Ok(1.0),
        Per::Watt => figures.watts.filter(|watts| *watts > 0.0).ok_or("without watts"),
        Per::Dollar => {
            // A machine is paid for wall time. On one thread, CPU time is the wall time on an idle machine.
            run.price.as_ref().map(|price| price.dollars_per_hour / 3600.0).ok_or("without a price")
        }
    };
    let costs = |run: &BenchRun, figures: &Figures| {
        let rate = rate(run, figures)?;
        let step = figures.seconds.len().div_ceil(SAMPLES).max(1);
        let seconds = figures.seconds.iter().step_by(step);
        Ok::<Vec<f64>, &str>(seconds.map(|seconds| seconds / figures.amount * rate).collect())
    };
    Ok((costs(first, base)?, costs(second, other)?))
}

/// Whether both sides did the same work and used the same clock, or the reason why not.
pub(crate) fn comparable(base: &Figures, other: &Figures) -> Result<(), &'static str> {
    let answers = [&base.answer, &other.answer];
    if base.unit != other.unit {
        Err("of different units")
    } else if base.clock != other.clock {
        Err("by different clocks")
    } else if answers.iter().all(|answer| answer.is_some()) && base.answer != other.answer {
        Err("with different answers")
    } else {
        Ok(())
    }
}

fn medians(first: &[f64], second: &[f64]) -> Option<(f64, f64)> {
    crate::statistics::median(first).zip(crate::statistics::median(second))
}

/// Geometric means by family, in the rows' order.
fn means(rows: &[Compared], judged: impl Fn(&Ratio) -> Verdict) -> Vec<Mean> {
    let families = rows.chunk_by(|a, b| a.row.family == b.row.family);
    let mean = |rows: &[Compared]| {
        let ratios: Vec<Ratio> = rows.iter().map(|row| row.ratio).collect();
        let mean = GeometricMean::of(&ratios)?;
        Some(Mean { family: rows[0].row.family.clone(), mean, verdict: judged(&mean.ratio) })
    };
    families.filter_map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        record::{Measurement, Price},
        testing::{self, measurement},
    };

    /// A run that ended without disturbance.
    fn run(id: u128, label: &str) -> BenchRun {
        BenchRun { ended: Some(testing::moment(1_800_000_000)), ..testing::run(id, label) }
    }

    const FAST: [f64; 8] = [1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07];

    fn slowed(by: f64) -> Vec<f64> {
        FAST.iter().map(|seconds| seconds * by).collect()
    }

    fn by(implementation: &str, mut measurement: Measurement) -> Measurement {
        measurement.row.implementation = implementation.to_owned();
        measurement
    }

    fn figures(measurement: &mut Measurement) -> &mut Figures {
        let RowOutcome::Measured(figures) = &mut measurement.outcome else { panic!("it was measured") };
        figures
    }

    fn whole(run: &BenchRun) -> Side<'_> {
        Side { run, implementation: None }
    }

    #[test]
    fn rows_of_both_are_compared_and_others_counted() {
        let (mut a, mut b) = (run(1, "a"), run(2, "b"));
        a.measurements = vec![
            measurement("same", &FAST),
            measurement("faster", &FAST),
            measurement("slower", &FAST),
            measurement("few", &[1.0]),
            measurement("gone", &FAST),
            measurement("other unit", &FAST),
            measurement("other answer", &FAST),
        ];
        b.measurements = vec![
            measurement("same", &slowed(1.001)),
            measurement("faster", &slowed(0.25)),
            measurement("slower", &slowed(3.0)),
            measurement("slower", &slowed(2.0)),
            measurement("few", &[2.0]),
            measurement("new", &FAST),
            measurement("newer", &FAST),
            measurement("other unit", &FAST),
            measurement("other answer", &FAST),
        ];
        figures(&mut b.measurements[7]).unit = "pairs".to_owned();
        figures(&mut b.measurements[8]).answer = Some("f".repeat(16));
        let comparison = compare(whole(&a), whole(&b), Per::Second, 0.01);
        let verdicts: Vec<(&str, Verdict)> =
            comparison.rows.iter().map(|row| (&row.row.benchmark[..], row.verdict)).collect();
        let expected = [
            ("faster", Verdict::Faster),
            ("few", Verdict::Unsure),
            ("same", Verdict::NoDifference),
            ("slower", Verdict::Slower),
        ];
        assert_eq!(verdicts, expected);
        assert_eq!((comparison.only_first, comparison.only_second), (1, 2));
        let incomparable = [("of different units".to_owned(), 1), ("with different answers".to_owned(), 1)];
        assert_eq!(comparison.incomparable, incomparable.into());
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 0.01, "{a} {b}");
        // Of repeated rows, the last one is compared.
        close(comparison.rows[3].ratio.ratio, 0.5);
        close(comparison.rows[3].first, 1.035 / 1024.0);
        let [mean] = &comparison.families[..] else { panic!("{:?}", comparison.families) };
        assert_eq!((mean.family.as_str(), mean.mean.rows), ("msm", 4));
        close(mean.mean.ratio.ratio, (4.0_f64 * 0.5 * 1.0 * 0.5).powf(0.25));
        // One of the rows has too few samples.
        assert_eq!((mean.mean.ratio.interval, mean.verdict), (None, Verdict::Unsure));
        assert_eq!(comparison.doubts, []);
    }

    #[test]
    fn a_familys_mean_has_a_verdict() {
        let (mut a, mut b) = (run(1, "a"), run(2, "b"));
        a.measurements = vec![measurement("g1", &FAST), measurement("g2", &FAST)];
        b.measurements = vec![measurement("g1", &slowed(0.5)), measurement("g2", &slowed(1.2))];
        let [mean] = &compare(whole(&a), whole(&b), Per::Second, 0.01).families[..] else { panic!() };
        assert_eq!(mean.verdict, Verdict::Faster);
        let (low, high) = mean.mean.ratio.interval.unwrap();
        assert!(1.2 < low && low < mean.mean.ratio.ratio && mean.mean.ratio.ratio < high && high < 1.4);
        assert!((mean.mean.least - 1.0 / 1.2).abs() < 0.01 && (mean.mean.greatest - 2.0).abs() < 0.01);
    }

    #[test]
    fn nothing_is_faster_or_slower_on_a_noisy_run() {
        let (mut a, mut b) = (run(1, "a"), run(2, "b"));
        a.measurements = vec![
            measurement("faster", &FAST),
            measurement("few", &[1.0]),
            measurement("same", &FAST),
            measurement("slower", &FAST),
        ];
        b.measurements = vec![
            measurement("faster", &slowed(0.25)),
            measurement("few", &[2.0]),
            measurement("same", &FAST),
            measurement("slower", &slowed(2.0)),
        ];
        b.noise.warnings = vec!["7 % of the CPU time went to other processes".to_owned()];
        let comparison = compare(whole(&a), whole(&b), Per::Second, 0.01);
        let verdicts: Vec<Verdict> = comparison.rows.iter().map(|row| row.verdict).collect();
        assert_eq!(verdicts, [Verdict::Noisy, Verdict::Unsure, Verdict::NoDifference, Verdict::Noisy]);
        let [doubt] = &comparison.doubts[..] else { panic!("{:?}", comparison.doubts) };
        assert_eq!((&doubt.run[..], &doubt.warning), ("b", &b.noise.warnings[0]));
        // The noise of an unfinished run is unknown.
        (b.noise.warnings, a.ended) = (Vec::new(), None);
        let comparison = compare(whole(&a), whole(&b), Per::Second, 0.01);
        assert_eq!(comparison.rows[0].verdict, Verdict::Noisy);
        assert!(comparison.doubts[0].run == "a" && comparison.doubts[0].warning.contains("did not end"));
        // A run that is compared with itself: each doubt is listed once.
        assert_eq!(compare(whole(&a), whole(&a), Per::Second, 0.01).doubts.len(), 1);
    }

    #[test]
    fn implementations_of_one_run_are_compared() {
        let mut run = run(1, "a");
        run.measurements = vec![
            by("adx", measurement("g1", &slowed(2.0))),
            by("ifma", measurement("g1", &FAST)),
            by("adx", measurement("g2", &FAST)),
            by("portable", measurement("g1", &FAST)),
        ];
        let side = |implementation| Side { run: &run, implementation: Some(implementation) };
        let comparison = compare(side("adx"), side("ifma"), Per::Second, 0.01);
        assert_eq!((comparison.rows.len(), comparison.only_first, comparison.only_second), (1, 1, 0));
        assert_eq!(comparison.rows[0].verdict, Verdict::Faster);
        assert_eq!(comparison.rows[0].row.implementation, "ifma");
    }

    #[test]
    fn watts_and_dollars_are_only_used_where_known() {
        let (mut a, mut b) = (run(1, "a"), run(2, "b"));
        a.measurements = vec![measurement("g1", &FAST), measurement("g2", &FAST)];
        b.measurements = a.measurements.clone();
        figures(&mut a.measurements[0]).watts = Some(300.0);
        figures(&mut b.measurements[0]).watts = Some(100.0);
        figures(&mut b.measurements[1]).watts = None;
        let comparison = compare(whole(&a), whole(&b), Per::Watt, 0.01);
        assert_eq!(comparison.incomparable, [("without watts".to_owned(), 1)].into());
        assert!((comparison.rows[0].ratio.ratio - 3.0).abs() < 0.1);
        assert!((comparison.rows[0].second - 103.5 / 1024.0).abs() < 1e-9);

        let comparison = compare(whole(&a), whole(&b), Per::Dollar, 0.01);
        assert_eq!(comparison.incomparable, [("without a price".to_owned(), 2)].into());
        let price = |dollars_per_hour| Some(Price { dollars_per_hour, source: "given".to_owned() });
        (a.price, b.price) = (price(1.0), price(4.0));
        let comparison = compare(whole(&a), whole(&b), Per::Dollar, 0.01);
        assert_eq!(comparison.rows.len(), 2);
        assert!((comparison.rows[0].ratio.ratio - 0.25).abs() < 0.01);
        assert_eq!(comparison.rows[0].verdict, Verdict::Slower);
    }

    #[test]
    fn comparisons_of_many_samples_use_some() {
        let mut run = run(1, "a");
        run.measurements = vec![measurement("g1", &vec![1.0; 100_000])];
        let comparison = compare(whole(&run), whole(&run), Per::Second, 0.0);
        assert_eq!(comparison.rows[0].verdict, Verdict::NoDifference);
    }
}
