//! The data for the page's script: runs without samples, rows with statistics, and comparisons.

use super::{
    ReportPage,
    verdict::{self, FamilyLevels, JudgedWork, ReportAnswer},
};
use crate::{
    compare::comparable,
    model::Projection,
    record::{
        BenchRun, Clock, Figures, MachineFacts, Measurement, Noise, PhaseTime, Price, RowKey, RowOutcome,
        Suite,
    },
    statistics::{CONFIDENCE, Ratio, Summary, thinned},
};
use jiff::Timestamp;
use proofmill_cpu::Level;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// The data of a page.
#[derive(Serialize)]
pub(super) struct PageData<'a> {
    confidence: f64,
    levels: &'static [&'static str],
    baseline: usize,
    runs: Vec<RunHead<'a>>,
    families: Vec<FamilyHead<'a>>,
    rows: Vec<RowData<'a>>,
    comparisons: Vec<Comparison<'a>>,
    projections: &'a [Projection],
    answer: ReportAnswer,
}

/// A run without its measurements.
#[derive(Serialize)]
struct RunHead<'a> {
    id: &'a str,
    /// The run's label; with a number if other runs have the same label.
    name: String,
    began: Timestamp,
    ended: Option<Timestamp>,
    command: String,
    version: &'a str,
    machine: &'a MachineFacts,
    noise: &'a Noise,
    power_source: &'a Option<String>,
    price: &'a Option<Price>,
}

/// A family's heading and input, from its definition.
#[derive(Serialize)]
struct FamilyHead<'a> {
    name: &'a str,
    title: &'a str,
    input: &'a str,
}

/// A row of one run.
#[derive(Serialize)]
struct RowData<'a> {
    run: usize,
    #[serde(flatten)]
    row: &'a RowKey,
    /// Whether the implementation is one of Proofmill's levels.
    ours: bool,
    version: &'a Option<String>,
    status: &'static str,
    /// The remedy, the reason of a failure, or the answer.
    note: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    figures: Option<FiguresData<'a>>,
}

/// A row's figures with statistics instead of samples.
#[derive(Serialize)]
struct FiguresData<'a> {
    seconds: Summary,
    clock: Clock,
    amount: f64,
    unit: &'a str,
    cycles: Option<f64>,
    instructions: Option<f64>,
    phases: &'a [PhaseTime],
    peak_memory: Option<u64>,
    bytes_out: Option<u64>,
    watts: Option<f64>,
    /// Speed-up over the slowest of Proofmill's levels in the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    over_level: Option<Against<'a>>,
    /// Speed-up over the same implementation on one thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    over_one_thread: Option<Ratio>,
    /// For a peer's row: speed-up of the fastest of Proofmill's levels over it.
    #[serde(skip_serializing_if = "Option::is_none")]
    ours_over_it: Option<Against<'a>>,
}

/// A ratio, and the implementation that it refers to.
#[derive(Serialize)]
struct Against<'a> {
    implementation: &'a str,
    #[serde(flatten)]
    ratio: Ratio,
}

/// Rows of the same work on several machines.
#[derive(Serialize)]
struct Comparison<'a> {
    suite: Suite,
    family: &'a str,
    benchmark: &'a str,
    size: Option<u64>,
    /// A program. `None` if each machine is represented by its fastest level.
    implementation: Option<&'a str>,
    /// `one` thread, or `all` of the machine.
    threads: &'static str,
    /// By run: the index of a row.
    rows: Vec<Option<usize>>,
    /// By base run, then by run: the speed-up over the base; `None` if the rows are not of the same work.
    ratios: Vec<Vec<Option<Ratio>>>,
}

/// A row's figures with a summary of its samples. Rows without usable samples have none and are shown as
/// failed.
struct Measured<'a> {
    figures: &'a Figures,
    summary: Summary,
}

impl<'a> PageData<'a> {
    pub(super) fn new(page: &ReportPage<'a>) -> Self {
        let measurements = measurements(page);
        let measured: Vec<_> =
            measurements.iter().map(|(_, measurement)| Measured::of(measurement)).collect();
        let groups = Groups::new(&measurements, &measured);
        let comparisons = groups.comparisons(page.runs);
        let answer = groups.answer(page, &comparisons);
        let rows = (0..measurements.len()).map(|at| groups.row(at)).collect();
        Self {
            confidence: CONFIDENCE,
            levels: Level::NAMES,
            baseline: if page.baseline < page.runs.len() { page.baseline } else { 0 },
            runs: heads(page.runs),
            families: families(page, &measurements),
            rows,
            comparisons,
            projections: page.projections,
            answer,
        }
    }
}

/// The page's answer alone.
pub(super) fn answer(page: &ReportPage<'_>) -> ReportAnswer {
    let measurements = measurements(page);
    let measured: Vec<_> = measurements.iter().map(|(_, measurement)| Measured::of(measurement)).collect();
    let groups = Groups::new(&measurements, &measured);
    groups.answer(page, &groups.comparisons(page.runs))
}

/// All runs' rows, each with the index of its run.
fn measurements<'a>(page: &ReportPage<'a>) -> Vec<(usize, &'a Measurement)> {
    let of_run = |(index, run)| latest(run).into_iter().map(move |measurement| (index, measurement));
    page.runs.iter().enumerate().flat_map(of_run).collect()
}

impl<'a> Measured<'a> {
    fn of(measurement: &'a Measurement) -> Option<Self> {
        let RowOutcome::Measured(figures) = &measurement.outcome else { return None };
        let summary = Summary::of(&figures.seconds)?;
        (summary.min > 0.0 && figures.amount > 0.0).then_some(Self { figures, summary })
    }
}

/// A run's rows in the order of their first measurement, each with its last measurement.
fn latest(run: &BenchRun) -> Vec<&Measurement> {
    let mut rows: Vec<&Measurement> = Vec::new();
    let mut at: HashMap<&RowKey, usize> = HashMap::new();
    for measurement in &run.measurements {
        match at.get(&measurement.row) {
            Some(&index) => rows[index] = measurement,
            None => {
                at.insert(&measurement.row, rows.len());
                rows.push(measurement);
            }
        }
    }
    rows
}

fn heads(runs: &[BenchRun]) -> Vec<RunHead<'_>> {
    let alike = |wanted: &str| runs.iter().filter(|run| run.label == wanted).count() > 1;
    runs.iter()
        .enumerate()
        .map(|(index, run)| RunHead {
            id: &run.id,
            name: match (run.label.trim(), alike(&run.label)) {
                ("", _) => format!("run {}", index + 1),
                (label, true) => format!("{label} ({})", index + 1),
                (label, false) => label.to_owned(),
            },
            began: run.began,
            ended: run.ended,
            command: run.command.join(" "),
            version: &run.version,
            machine: &run.machine,
            noise: &run.noise,
            power_source: &run.power_source,
            price: &run.price,
        })
        .collect()
}

/// The measured families in their definitions' order; then those without a definition, by name.
fn families<'a>(page: &ReportPage<'a>, measurements: &[(usize, &'a Measurement)]) -> Vec<FamilyHead<'a>> {
    let mut names: Vec<&str> =
        measurements.iter().map(|(_, measurement)| measurement.row.family.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let defined = page.families.iter().filter(|family| names.contains(&family.name.as_str()));
    let mut heads: Vec<FamilyHead<'_>> = defined
        .map(|family| FamilyHead { name: &family.name, title: &family.title, input: &family.input })
        .collect();
    for name in names {
        if heads.iter().all(|head| head.name != name) {
            heads.push(FamilyHead { name, title: name, input: "" });
        }
    }
    heads
}

/// The key of work that several implementations, numbers of threads and machines do.
type Work<'a> = (Suite, &'a str, &'a str, Option<u64>);

/// Rows, grouped for comparisons.
struct Groups<'m, 'a> {
    measurements: &'m [(usize, &'a Measurement)],
    measured: &'m [Option<Measured<'a>>],
    /// Rows of the same run, work and number of threads.
    alike: HashMap<(usize, Work<'a>, u32), Vec<usize>>,
}

fn work(row: &RowKey) -> Work<'_> {
    (row.suite, &row.family, &row.benchmark, row.size)
}

/// The index of a level among all levels; `None` for other implementations, which are peers.
fn level(implementation: &str) -> Option<usize> {
    Level::NAMES.iter().position(|level| *level == implementation)
}

impl<'m, 'a> Groups<'m, 'a> {
    fn new(measurements: &'m [(usize, &'a Measurement)], measured: &'m [Option<Measured<'a>>]) -> Self {
        let mut alike: HashMap<_, Vec<usize>> = HashMap::new();
        for (at, (run, measurement)) in measurements.iter().enumerate() {
            alike.entry((*run, work(&measurement.row), measurement.row.threads)).or_default().push(at);
        }
        Self { measurements, measured, alike }
    }

    /// The speed-up of `other` over `base`, two indices of measured rows.
    fn ratio(&self, base: usize, other: usize) -> Option<Ratio> {
        let seconds = |at: usize| self.measured[at].as_ref().map(|row| thinned(&row.figures.seconds));
        Ratio::of(&seconds(base)?, &seconds(other)?)
    }

    /// Whether measured rows of two runs are comparable.
    fn same_work(&self, base: usize, other: usize) -> bool {
        let figures = |at: usize| self.measured[at].as_ref().map(|row| row.figures);
        figures(base).zip(figures(other)).is_some_and(|(base, other)| comparable(base, other).is_ok())
    }

    fn implementation(&self, at: usize) -> &'a str {
        &self.measurements[at].1.row.implementation
    }

    /// Measured rows of Proofmill's levels for the same work and number of threads.
    fn levels(&self, at: usize) -> impl Iterator<Item = usize> {
        let (run, measurement) = self.measurements[at];
        let rows = self.alike.get(&(run, work(&measurement.row), measurement.row.threads));
        let rows = rows.map_or(&[][..], Vec::as_slice).iter().copied();
        rows.filter(|&at| level(self.implementation(at)).is_some() && self.measured[at].is_some())
    }

    fn fastest_level(&self, at: usize) -> Option<usize> {
        let median = |at: &usize| self.measured[*at].as_ref().map_or(f64::INFINITY, |row| row.summary.median);
        self.levels(at).min_by(|left, right| median(left).total_cmp(&median(right)))
    }

    fn against(&self, base: usize, other: usize, named: usize) -> Option<Against<'a>> {
        Some(Against { implementation: self.implementation(named), ratio: self.ratio(base, other)? })
    }

    fn row(&self, at: usize) -> RowData<'a> {
        let (run, measurement) = self.measurements[at];
        let figures = self.measured[at].as_ref().map(|row| self.figures(at, row));
        let (status, note) = match &measurement.outcome {
            RowOutcome::Measured(_) if figures.is_some() => ("measured", ""),
            RowOutcome::Measured(_) => ("failed", "the run holds no usable samples of it"),
            RowOutcome::Checked { answer } => ("checked", answer.as_str()),
            RowOutcome::Absent { remedy } => ("absent", remedy.as_str()),
            RowOutcome::Failed { reason } => ("failed", reason.as_str()),
        };
        let ours =
            measurement.row.suite != Suite::Platform && level(&measurement.row.implementation).is_some();
        RowData { run, row: &measurement.row, ours, version: &measurement.version, status, note, figures }
    }

    fn figures(&self, at: usize, row: &Measured<'a>) -> FiguresData<'a> {
        let (run, measurement) = self.measurements[at];
        let ours = level(self.implementation(at));
        let slowest = self.levels(at).min_by_key(|&other| level(self.implementation(other)));
        let over_level = slowest.filter(|&base| base != at).and_then(|base| self.against(base, at, base));
        let alone =
            self.alike.get(&(run, work(&measurement.row), 1)).filter(|_| measurement.row.threads != 1);
        let alone =
            alone.into_iter().flatten().find(|&&other| self.implementation(other) == self.implementation(at));
        let fastest = self.fastest_level(at).filter(|_| ours.is_none());
        let figures = row.figures;
        FiguresData {
            seconds: row.summary,
            clock: figures.clock,
            amount: figures.amount,
            unit: &figures.unit,
            cycles: figures.cycles,
            instructions: figures.instructions,
            phases: &figures.phases,
            peak_memory: figures.peak_memory,
            bytes_out: figures.bytes_out,
            watts: figures.watts,
            over_level,
            over_one_thread: alone.and_then(|&base| self.ratio(base, at)),
            ours_over_it: fastest.and_then(|fastest| self.against(at, fastest, fastest)),
        }
    }

    /// Work for which at least one machine has figures, in the order of the first run that has it.
    fn comparisons(&self, runs: &[BenchRun]) -> Vec<Comparison<'a>> {
        let mut order: Vec<(Work<'a>, Option<&'a str>, &'static str)> = Vec::new();
        let mut found: HashMap<(Work<'a>, Option<&'a str>, &'static str), BTreeMap<usize, usize>> =
            HashMap::new();
        for (at, (run, measurement)) in self.measurements.iter().enumerate() {
            let row = &measurement.row;
            let implementation = match row.suite {
                Suite::Platform => Some(row.implementation.as_str()),
                // Each machine is represented by its fastest level.
                _ if self.fastest_level(at) == Some(at) => None,
                _ => continue,
            };
            if self.measured[at].is_none() {
                continue;
            }
            let whole = row.threads == runs[*run].machine.threads;
            for (threads, is) in [("one", row.threads == 1), ("all", whole)] {
                if is {
                    let key = (work(row), implementation, threads);
                    let rows = found.entry(key).or_insert_with(|| {
                        order.push(key);
                        BTreeMap::new()
                    });
                    rows.insert(*run, at);
                }
            }
        }
        let comparison = |key: (Work<'a>, Option<&'a str>, &'static str)| {
            let ((suite, family, benchmark, size), implementation, threads) = key;
            let rows: Vec<_> = (0..runs.len()).map(|run| found[&key].get(&run).copied()).collect();
            let ratio = |base: Option<usize>, other: Option<usize>| match (base?, other?) {
                (base, other) if base == other => Some(Ratio { ratio: 1.0, interval: None }),
                (base, other) => self.same_work(base, other).then(|| self.ratio(base, other))?,
            };
            let ratios = |base: &Option<usize>| rows.iter().map(|other| ratio(*base, *other)).collect();
            let ratios = rows.iter().map(ratios).collect();
            Comparison { suite, family, benchmark, size, implementation, threads, rows, ratios }
        };
        order.into_iter().map(comparison).collect()
    }

    /// The answer at the top of the page.
    fn answer(&self, page: &ReportPage<'a>, comparisons: &[Comparison<'a>]) -> ReportAnswer {
        if let [run] = page.runs {
            return verdict::of_levels(page, run, &self.levels_by_family());
        }
        let names: Vec<String> = heads(page.runs).into_iter().map(|head| head.name).collect();
        let works = |threads: &str| -> Vec<JudgedWork<'a>> {
            let ours =
                comparisons.iter().filter(|one| one.suite != Suite::Platform && one.threads == threads);
            ours.map(|one| self.judged(one.suite, one.family, one.benchmark, one.size, &one.rows)).collect()
        };
        verdict::of_machines(page, &names, &works("one"), &works("all"))
    }

    /// Each contestant's figures for the same work.
    fn judged(
        &self,
        suite: Suite,
        family: &'a str,
        benchmark: &'a str,
        size: Option<u64>,
        rows: &[Option<usize>],
    ) -> JudgedWork<'a> {
        let figures = |row: &Option<usize>| self.measured[(*row)?].as_ref().map(|row| row.figures);
        JudgedWork { suite, family, benchmark, size, by: rows.iter().map(figures).collect() }
    }

    /// The rows of a single run by Proofmill's levels, grouped by family: the levels with their numbers of
    /// threads, in order, and the rows of each work.
    fn levels_by_family(&self) -> Vec<FamilyLevels<'a>> {
        let mut families: BTreeMap<(Suite, &'a str), Vec<usize>> = BTreeMap::new();
        for (at, (_, Measurement { row, .. })) in self.measurements.iter().enumerate() {
            let ours = row.suite != Suite::Platform && level(&row.implementation).is_some();
            if ours && self.measured[at].is_some() {
                families.entry((row.suite, &row.family)).or_default().push(at);
            }
        }
        let family = |((suite, family), rows): ((Suite, &'a str), Vec<usize>)| {
            let row = |at: usize| &self.measurements[at].1.row;
            let contestant = |at: usize| (level(&row(at).implementation), row(at).threads);
            let mut works: BTreeMap<_, BTreeMap<_, usize>> = BTreeMap::new();
            let mut all: Vec<(Option<usize>, u32)> = Vec::new();
            for &at in &rows {
                all.push(contestant(at));
                works
                    .entry((row(at).benchmark.as_str(), row(at).size))
                    .or_default()
                    .insert(contestant(at), at);
            }
            all.sort_unstable();
            all.dedup();
            let work = |((benchmark, size), by): (_, BTreeMap<_, usize>)| {
                let rows: Vec<Option<usize>> =
                    all.iter().map(|contestant| by.get(contestant).copied()).collect();
                self.judged(suite, family, benchmark, size, &rows)
            };
            let works = works.into_iter().map(work).collect();
            let named = |(level, threads): &(Option<usize>, u32)| Some((Level::NAMES[(*level)?], *threads));
            FamilyLevels { suite, family, contestants: all.iter().filter_map(named).collect(), works }
        };
        families.into_iter().map(family).collect()
    }
}
