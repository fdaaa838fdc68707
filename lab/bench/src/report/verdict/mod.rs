//! The page's answer: the machine, or the level of a single machine, that proves fastest and at the lowest
//! cost, and how sure that is.
//!
//! Contestants are the runs' machines, each with its fastest level in each row; for a single run, its levels
//! with their numbers of threads. Within a family, the lead of one contestant over another is the geometric
//! mean of the ratios of the rows that all contestants measured. Over several families, it is the geometric
//! mean of the families' means, so that all families have the same weight. [`GeometricMean`] defines the
//! intervals. The lead is sure if its interval lies above 1 and the mean is more than [`THRESHOLD`] above 1.
//! Disturbed runs are never judged.

mod contest;
mod words;

use super::ReportPage;
use crate::{
    compare::comparable,
    record::{BenchRun, Figures, Suite},
    statistics::{GeometricMean, Ratio, median, thinned},
};
use contest::{CostRows, Standing};
use serde::Serialize;

/// Differences up to this share occur between runs on the same machine after a reboot. Smaller leads do not
/// count.
const THRESHOLD: f64 = 0.02;

/// Work, with each contestant's figures for it.
pub(super) struct JudgedWork<'a> {
    pub(super) suite: Suite,
    pub(super) family: &'a str,
    pub(super) benchmark: &'a str,
    pub(super) size: Option<u64>,
    pub(super) by: Vec<Option<&'a Figures>>,
}

/// The levels and numbers of threads at which a family was measured.
pub(super) struct FamilyLevels<'a> {
    pub(super) suite: Suite,
    pub(super) family: &'a str,
    /// Level and threads.
    pub(super) contestants: Vec<(&'a str, u32)>,
    pub(super) works: Vec<JudgedWork<'a>>,
}

/// The answer at the top of the page.
#[derive(Debug, Serialize)]
pub struct ReportAnswer {
    /// Questions, the most important first; empty if nothing was measured.
    pub questions: Vec<ReportQuestion>,
    /// Costs of single works.
    pub(super) costs: Vec<Cost>,
}

/// One question and its answer.
#[derive(Debug, Serialize)]
pub struct ReportQuestion {
    /// The metric that is compared.
    pub metric: Metric,
    /// The heading: `Fastest machine`.
    pub title: &'static str,
    /// Names of the best: several if their order is not decided, none without a verdict.
    pub best: Vec<String>,
    /// Confidence in the answer.
    pub certainty: Certainty,
    /// Sentences: the lead, the rows that it is based on, contestants that are not judged, and why.
    pub reasons: Vec<String>,
    /// Verdicts by family.
    pub(super) families: Vec<FamilyVerdict>,
}

/// A family's part of an answer.
#[derive(Debug, Serialize)]
pub(super) struct FamilyVerdict {
    pub(super) title: String,
    pub(super) suite: Suite,
    /// Number of rows that all contestants measured.
    pub(super) rows: usize,
    pub(super) best: Vec<String>,
    pub(super) certainty: Certainty,
    /// The lead of the best, in words.
    pub(super) lead: String,
    /// Index of the run that `means` are relative to.
    pub(super) base: Option<usize>,
    /// By run: how many times as good as the base.
    pub(super) means: Vec<Option<Ratio>>,
}

/// The cost of a work.
#[derive(Debug, Serialize)]
pub(super) struct Cost {
    title: String,
    benchmark: String,
    size: Option<u64>,
    /// The price for each run; `None` if it is unknown.
    by: Vec<Option<Price>>,
}

/// The cost of an iteration on one machine.
#[derive(Debug, Serialize)]
struct Price {
    /// Level and threads; empty if there are several machines.
    by: String,
    seconds: f64,
    joules: Option<f64>,
    dollars: Option<f64>,
}

/// The metric of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Time on all threads.
    Machine,
    /// Dollars, on all threads.
    Dollar,
    /// Joules, on all threads.
    Watt,
    /// Time on one thread.
    Core,
}

/// Confidence in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// The best leads all others surely.
    Sure,
    /// Several contestants may be the best.
    Undecided,
    /// There is no verdict.
    None,
}

impl Metric {
    /// The cost of a unit of work in each sample, or the reason why it is unknown.
    fn costs(self, run: &BenchRun, figures: &Figures) -> Result<Vec<f64>, &'static str> {
        let rate = match self {
            Self::Machine | Self::Core => 1.0,
            Self::Dollar => {
                run.price.as_ref().map(|price| price.dollars_per_hour / 3600.0).ok_or("no price")?
            }
            Self::Watt => figures.watts.ok_or("watts not measured")?,
        };
        if rate.is_nan() || rate <= 0.0 {
            return Err(if self == Self::Dollar { "no price" } else { "watts not measured" });
        }
        let cost = |seconds| seconds / figures.amount * rate;
        Ok(thinned(&figures.seconds).into_iter().map(cost).collect())
    }
}

/// The answer for several machines. `one` and `all` are works on one thread and on all threads, with columns
/// in the order of the page's runs.
pub(super) fn of_machines(
    page: &ReportPage<'_>,
    names: &[String],
    one: &[JudgedWork<'_>],
    all: &[JudgedWork<'_>],
) -> ReportAnswer {
    let question = |metric| {
        let works = if metric == Metric::Core { one } else { all };
        machines_question(page, names, metric, works)
    };
    let questions = [Metric::Machine, Metric::Dollar, Metric::Watt, Metric::Core].map(question).into();
    ReportAnswer { questions, costs: machine_costs(page, all) }
}

/// Works of a suite, for a comparison of machines.
struct Sheet<'a> {
    suite: Suite,
    /// Indices of the runs that have any of the works.
    entrants: Vec<usize>,
    /// Rows by family, with columns in the entrants' order.
    families: Vec<(&'a str, CostRows)>,
    /// Families without a row that all entrants measured.
    apart: Vec<&'a str>,
    /// Number of rows whose answers, units or clocks differ.
    incomparable: usize,
}

impl<'a> Sheet<'a> {
    fn new(page: &ReportPage<'_>, metric: Metric, suite: Suite, works: &[JudgedWork<'a>]) -> Self {
        let works = || works.iter().filter(|work| work.suite == suite);
        let costs = |work: &JudgedWork<'_>, run: usize| metric.costs(&page.runs[run], work.by[run]?).ok();
        let entrants: Vec<usize> =
            (0..page.runs.len()).filter(|&run| works().any(|work| costs(work, run).is_some())).collect();
        let mut sheet = Self { suite, entrants, families: Vec::new(), apart: Vec::new(), incomparable: 0 };
        let mut names: Vec<&str> = Vec::new();
        for work in works() {
            if !names.contains(&work.family) {
                names.push(work.family);
            }
        }
        for family in names {
            let mut rows = CostRows::new();
            for work in works().filter(|work| work.family == family) {
                let row: Option<Vec<_>> = sheet.entrants.iter().map(|&run| costs(work, run)).collect();
                let mut figures = sheet.entrants.iter().filter_map(|&run| work.by[run]);
                let first = figures.next();
                let alike = first.is_some_and(|first| figures.all(|other| comparable(first, other).is_ok()));
                match row {
                    Some(row) if alike => rows.push(row),
                    Some(_) => sheet.incomparable += 1,
                    None => {}
                }
            }
            if rows.is_empty() { sheet.apart.push(family) } else { sheet.families.push((family, rows)) }
        }
        sheet
    }
}

fn machines_question(
    page: &ReportPage<'_>,
    names: &[String],
    metric: Metric,
    works: &[JudgedWork<'_>],
) -> ReportQuestion {
    let sheets = [Suite::Prover, Suite::Kernel].map(|suite| Sheet::new(page, metric, suite, works));
    let decides = |sheet: &&Sheet<'_>| sheet.entrants.len() > 1 && !sheet.families.is_empty();
    let decisive = sheets.iter().find(decides);
    let families =
        sheets.iter().filter(decides).flat_map(|sheet| machine_families(page, names, metric, sheet));
    let families = families.collect();
    let mut question = ReportQuestion {
        metric,
        title: metric.title(true),
        best: Vec::new(),
        certainty: Certainty::None,
        reasons: Vec::new(),
        families,
    };
    let Some(sheet) = decisive else {
        question.reasons = words::nothing_in_common(page, names, metric, &sheets, works);
        return question;
    };
    match machines_standing(page, names, metric, sheet) {
        Ok(standing) => {
            (question.best, question.certainty) = named(&standing, |at| names[sheet.entrants[at]].clone());
            let name = |at: usize| names[sheet.entrants[at]].as_str();
            question.reasons.push(words::lead(metric, &standing, name));
            question.reasons.extend(words::by_row(&standing, name));
        }
        Err(reason) => question.reasons.push(reason),
    }
    question.reasons.push(words::basis(page, metric, sheet));
    question.reasons.extend(words::left_out(page, names, metric, sheet, works));
    question
}

/// The standing of the machines that can be judged, or the reason why there is no verdict.
fn machines_standing(
    page: &ReportPage<'_>,
    names: &[String],
    metric: Metric,
    sheet: &Sheet<'_>,
) -> Result<Standing, String> {
    words::different(page, metric, &sheet.entrants)?;
    let families: Vec<&CostRows> = sheet.families.iter().map(|(_, rows)| rows).collect();
    standing(page, names, sheet, &families)
}

/// The standing of the machines without noise. There is no verdict if a noisy machine is ahead, or if fewer
/// than two can be judged.
fn standing(
    page: &ReportPage<'_>,
    names: &[String],
    sheet: &Sheet<'_>,
    families: &[&CostRows],
) -> Result<Standing, String> {
    let everyone: Vec<usize> = (0..sheet.entrants.len()).collect();
    let quiet = |at: &usize| page.runs[sheet.entrants[*at]].doubts().is_empty();
    let (judged, noisy): (Vec<usize>, Vec<usize>) = everyone.iter().copied().partition(quiet);
    let name = |at: usize| names[sheet.entrants[at]].as_str();
    let first = contest::first(families, &everyone).ok_or("Nothing was measured.")?;
    if judged.len() < 2 {
        return Err(words::noisy(&noisy.into_iter().map(name).collect::<Vec<_>>()));
    }
    if !judged.contains(&first) {
        return Err(words::noisy_first(name(first)));
    }
    contest::standing(families, &judged, THRESHOLD).ok_or_else(|| "Nothing was measured.".to_owned())
}

fn machine_families(
    page: &ReportPage<'_>,
    names: &[String],
    metric: Metric,
    sheet: &Sheet<'_>,
) -> Vec<FamilyVerdict> {
    let different = words::different(page, metric, &sheet.entrants).err();
    let base = sheet.entrants.iter().position(|&run| run == page.baseline).unwrap_or(0);
    let verdict = |(family, rows): &(&str, CostRows)| {
        let standing = match &different {
            Some(reason) => Err(reason.clone()),
            None => standing(page, names, sheet, &[rows]),
        };
        let name = |at: usize| names[sheet.entrants[at]].as_str();
        let (best, certainty) = match &standing {
            Ok(standing) => named(standing, |at| name(at).to_owned()),
            Err(_) => (Vec::new(), Certainty::None),
        };
        let mut means = vec![None; names.len()];
        for (at, &run) in sheet.entrants.iter().enumerate() {
            means[run] = match at == base {
                true => Some(Ratio { ratio: 1.0, interval: None }),
                false => contest::lead(&[rows], at, base).map(|lead| lead.mean.ratio),
            };
        }
        FamilyVerdict {
            title: page.title(family).to_owned(),
            suite: sheet.suite,
            rows: rows.len(),
            best,
            certainty,
            lead: standing
                .map_or_else(|reason| reason, |standing| words::family_lead(metric, &standing, name)),
            base: Some(sheet.entrants[base]),
            means,
        }
    };
    sheet.families.iter().map(verdict).collect()
}

/// The names of those that may be the best, and the certainty.
fn named(standing: &Standing, name: impl Fn(usize) -> String) -> (Vec<String>, Certainty) {
    let certainty = if standing.best.len() == 1 { Certainty::Sure } else { Certainty::Undecided };
    (standing.best.iter().map(|&at| name(at)).collect(), certainty)
}

/// Costs of each family's largest work that the most machines measured on all their threads: of proofs, or of
/// kernels if there are no proofs.
fn machine_costs(page: &ReportPage<'_>, works: &[JudgedWork<'_>]) -> Vec<Cost> {
    let suite =
        if works.iter().any(|work| work.suite == Suite::Prover) { Suite::Prover } else { Suite::Kernel };
    let mut chosen: Vec<&JudgedWork<'_>> = Vec::new();
    let measured = |work: &JudgedWork<'_>| work.by.iter().flatten().count();
    for work in works.iter().filter(|work| work.suite == suite) {
        match chosen.iter_mut().find(|known| known.family == work.family) {
            None => chosen.push(work),
            // Works are ordered by size.
            Some(known) if measured(work) >= measured(known) && amount(work) > amount(known) => *known = work,
            Some(_) => {}
        }
    }
    let cost = |work: &&JudgedWork<'_>| {
        let by = work.by.iter().zip(page.runs).map(|(figures, run)| price(run, (*figures)?, String::new()));
        Cost::new(page, work, by.collect())
    };
    chosen.iter().map(cost).collect()
}

impl Cost {
    fn new(page: &ReportPage<'_>, work: &JudgedWork<'_>, by: Vec<Option<Price>>) -> Self {
        let title = page.title(work.family).to_owned();
        Self { title, benchmark: work.benchmark.to_owned(), size: work.size, by }
    }
}

fn amount(work: &JudgedWork<'_>) -> f64 {
    work.by.iter().flatten().map(|figures| figures.amount).fold(0.0, f64::max)
}

fn price(run: &BenchRun, figures: &Figures, by: String) -> Option<Price> {
    let seconds = median(&figures.seconds)?;
    let joules = figures.watts.filter(|watts| *watts > 0.0).map(|watts| watts * seconds);
    let dollars = run.price.as_ref().map(|price| price.dollars_per_hour / 3600.0 * seconds);
    Some(Price { by, seconds, joules, dollars: dollars.filter(|dollars| *dollars > 0.0) })
}

/// The answer for a single run: in each family, the fastest level with its number of threads.
pub(super) fn of_levels(
    page: &ReportPage<'_>,
    run: &BenchRun,
    families: &[FamilyLevels<'_>],
) -> ReportAnswer {
    let metrics = [Metric::Machine, Metric::Watt];
    let questions: Vec<ReportQuestion> =
        metrics.into_iter().filter_map(|metric| levels_question(page, run, metric, families)).collect();
    let proofs = families.iter().any(|family| family.suite == Suite::Prover);
    let suite = if proofs { Suite::Prover } else { Suite::Kernel };
    let decisive = families.iter().filter(|family| family.suite == suite);
    ReportAnswer { questions, costs: decisive.filter_map(|family| level_cost(page, run, family)).collect() }
}

/// The rows of the contestant with the most rows, and the contestants that have all of these rows.
fn complete(metric: Metric, run: &BenchRun, family: &FamilyLevels<'_>) -> (Vec<usize>, CostRows) {
    let costs: Vec<Vec<Option<Vec<f64>>>> = (family.works.iter())
        .map(|work| work.by.iter().map(|figures| metric.costs(run, (*figures)?).ok()).collect())
        .collect();
    let rows_of =
        |at: usize| costs.iter().enumerate().filter_map(move |(row, by)| by[at].is_some().then_some(row));
    let all = 0..family.contestants.len();
    // Of several contestants with the same number of rows, the first one.
    let most = all.clone().rev().max_by_key(|&at| rows_of(at).count());
    let rows: Vec<usize> = most.map(|at| rows_of(at).collect()).unwrap_or_default();
    let has_all = |at: &usize| rows.iter().all(|&row| costs[row][*at].is_some());
    let entrants: Vec<usize> = all.filter(has_all).collect();
    let of_row = |row: &usize| entrants.iter().filter_map(|&at| costs[*row][at].clone()).collect();
    let rows = if rows.is_empty() { CostRows::new() } else { rows.iter().map(of_row).collect() };
    (entrants, rows)
}

fn levels_question(
    page: &ReportPage<'_>,
    run: &BenchRun,
    metric: Metric,
    families: &[FamilyLevels<'_>],
) -> Option<ReportQuestion> {
    let noisy = !run.doubts().is_empty();
    let mut verdicts = Vec::new();
    for family in families {
        let (entrants, rows) = complete(metric, run, family);
        let everyone: Vec<usize> = (0..entrants.len()).collect();
        let Some(standing) = contest::standing(&[&rows], &everyone, THRESHOLD) else { continue };
        let names: Vec<String> = entrants.iter().map(|&at| words::level(family.contestants[at])).collect();
        let (best, certainty) = named(&standing, |at| names[at].clone());
        let lead = match entrants.len() {
            1 => "nothing else was measured".to_owned(),
            _ if noisy => "no verdict: the run was noisy".to_owned(),
            _ => words::family_lead(metric, &standing, |at| &names[at]),
        };
        verdicts.push(FamilyVerdict {
            title: page.title(family.family).to_owned(),
            suite: family.suite,
            rows: rows.len(),
            best: if noisy { Vec::new() } else { best },
            certainty: if noisy { Certainty::None } else { certainty },
            lead,
            base: None,
            means: Vec::new(),
        });
    }
    // Proofs come first.
    verdicts.sort_by_key(|verdict| verdict.suite != Suite::Prover);
    let suite = verdicts.first()?.suite;
    let decisive: Vec<&FamilyVerdict> = verdicts.iter().filter(|verdict| verdict.suite == suite).collect();
    let mut best: Vec<String> = Vec::new();
    for name in decisive.iter().flat_map(|verdict| &verdict.best) {
        if !best.contains(name) {
            best.push(name.clone());
        }
    }
    let certainty = match () {
        () if noisy => Certainty::None,
        () if decisive.iter().all(|verdict| verdict.certainty == Certainty::Sure) => Certainty::Sure,
        () => Certainty::Undecided,
    };
    let reasons = words::levels(metric, run, suite, &decisive);
    Some(ReportQuestion { metric, title: metric.title(false), best, certainty, reasons, families: verdicts })
}

/// The cost of the family's largest work with the fastest contestant.
fn level_cost(page: &ReportPage<'_>, run: &BenchRun, family: &FamilyLevels<'_>) -> Option<Cost> {
    let largest = |works: &mut dyn Iterator<Item = &JudgedWork<'_>>| works.map(amount).fold(0.0, f64::max);
    let most = largest(&mut family.works.iter());
    let work = family.works.iter().find(|work| amount(work) >= most)?;
    let seconds = |figures: &Option<&Figures>| median(&figures.as_ref()?.seconds);
    let measured = work.by.iter().enumerate().filter_map(|(at, figures)| Some((at, seconds(figures)?)));
    let (fastest, _) = measured.min_by(|left, right| left.1.total_cmp(&right.1))?;
    let price = price(run, work.by[fastest]?, words::level(family.contestants[fastest]))?;
    Some(Cost::new(page, work, vec![Some(price)]))
}

#[cfg(test)]
mod tests;
