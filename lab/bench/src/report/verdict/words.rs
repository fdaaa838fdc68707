//! The answer's sentences.

use super::{
    Certainty, FamilyVerdict, JudgedWork, Metric, ReportPage, ReportQuestion, Sheet, Standing, THRESHOLD,
    contest::Lead,
};
use crate::{
    record::{BenchRun, Suite},
    statistics::{Ratio, Verdict},
};
use std::{collections::BTreeMap, fmt};

impl Metric {
    /// A question's heading, for several machines or for one.
    pub(super) fn title(self, machines: bool) -> &'static str {
        match (self, machines) {
            (Self::Machine, true) => "Fastest machine",
            (Self::Dollar, true) => "Cheapest per dollar",
            (Self::Watt, true) => "Cheapest per watt",
            (Self::Core, true) => "Fastest on one thread",
            (Self::Watt, false) => "Least energy",
            (_, false) => "Fastest level and number of threads",
        }
    }

    /// The description of the best.
    fn superlative(self) -> &'static str {
        match self {
            Self::Machine => "the fastest",
            Self::Dollar => "the cheapest",
            Self::Watt => "the most efficient",
            Self::Core => "the fastest on one thread",
        }
    }

    /// A ratio as `1.31 times as fast as`.
    fn times(self, ratio: f64) -> String {
        let digits = digits(ratio);
        match self {
            Self::Machine | Self::Core => format!("{digits} times as fast as"),
            Self::Dollar => format!("{digits} times the work for a dollar of"),
            Self::Watt => format!("{digits} times the work for a joule of"),
        }
    }

    fn on(self) -> &'static str {
        if self == Self::Core { "on one thread" } else { "with all their threads" }
    }
}

/// A ratio with three digits, or with all digits before the point; with more decimals near 1.
fn digits(ratio: f64) -> String {
    let decimals = match ratio {
        ratio if ratio >= 99.95 => 0,
        ratio if ratio >= 9.995 => 1,
        ratio if (0.98..1.02).contains(&ratio) => 3,
        _ => 2,
    };
    format!("{ratio:.decimals$}")
}

fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// A list of names: `A, B and C`.
fn listed<T: AsRef<str>>(names: &[T], and: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [some @ .., last] => {
            let some: Vec<&str> = some.iter().map(AsRef::as_ref).collect();
            format!("{} {and} {}", some.join(", "), last.as_ref())
        }
    }
}

/// A contestant: `avx512ifma with 96 threads`.
pub(super) fn level((level, threads): (&str, u32)) -> String {
    format!("{level} with {}", counted(threads as usize, "thread"))
}

fn interval(ratio: &Ratio) -> String {
    match ratio.interval {
        Some((low, high)) => format!("95 % interval {} to {}", digits(low), digits(high)),
        None => "too few samples for an interval".to_owned(),
    }
}

/// The reason why a lead is not sure.
fn doubt(lead: &Lead) -> &'static str {
    match lead.mean.ratio.interval {
        None => "too few samples",
        Some((low, _)) if low <= 1.0 => "the interval includes 1",
        Some(_) => "a difference of less than 2 % is none: as much changes from one boot to the next",
    }
}

/// The sentence about the lead.
pub(super) fn lead<'a>(metric: Metric, standing: &Standing, name: impl Fn(usize) -> &'a str) -> String {
    let leader = name(standing.best[0]);
    let Some((next, lead)) = &standing.next else { return format!("Only {leader} was measured.") };
    let (times, interval) = (metric.times(lead.mean.ratio.ratio), interval(&lead.mean.ratio));
    let next = name(*next);
    match standing.best.len() {
        1 => format!("{leader} is surely {}: {times} {next}, the next ({interval}).", metric.superlative()),
        _ => {
            let names: Vec<&str> = standing.best.iter().map(|&at| name(at)).collect();
            let names = listed(&names, "and");
            format!(
                "Not decided between {names}: {leader} seems {times} {next} ({interval}; {}).",
                doubt(lead)
            )
        }
    }
}

/// The lead for a cell of the table.
pub(super) fn family_lead<'a>(
    metric: Metric,
    standing: &Standing,
    name: impl Fn(usize) -> &'a str,
) -> String {
    let Some((next, lead)) = &standing.next else { return "nothing else was measured".to_owned() };
    let (times, interval) = (metric.times(lead.mean.ratio.ratio), interval(&lead.mean.ratio));
    let doubt = if standing.best.len() == 1 { String::new() } else { format!("; {}", doubt(lead)) };
    format!("{times} {} ({interval}{doubt})", name(*next))
}

/// The range of single rows, if there are several.
pub(super) fn by_row<'a>(standing: &Standing, name: impl Fn(usize) -> &'a str) -> Option<String> {
    let (next, lead) = standing.next.as_ref().filter(|(_, lead)| lead.rows.len() > 1)?;
    let values = || lead.rows.iter().map(|row| row.ratio);
    let (least, greatest) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let behind = lead.rows.iter().filter(|row| row.verdict(THRESHOLD) == Verdict::Slower).count();
    let but = match behind {
        0 => String::new(),
        _ => format!("; in {} of {} rows {} is surely ahead", behind, lead.rows.len(), name(*next)),
    };
    Some(format!("Row by row {} to {} times{but}.", digits(least), digits(greatest)))
}

fn kind(suite: Suite) -> &'static str {
    if suite == Suite::Prover { "proofs" } else { "kernels" }
}

/// The families and rows that the answer is based on.
pub(super) fn basis(page: &ReportPage<'_>, metric: Metric, sheet: &Sheet<'_>) -> String {
    let titles: Vec<&str> = sheet.families.iter().map(|(family, _)| page.title(family)).collect();
    let rows: usize = sheet.families.iter().map(|(_, rows)| rows.len()).sum();
    let families = match titles.len() {
        1 => format!("{} of {}", kind(sheet.suite), titles[0]),
        count if count <= 4 => {
            format!("{count} families of {} ({})", kind(sheet.suite), listed(&titles, "and"))
        }
        count => format!("{count} families of {}", kind(sheet.suite)),
    };
    let machines = match sheet.entrants.len() {
        2 => "both machines".to_owned(),
        count => format!("all {count} machines"),
    };
    let what = if rows == 1 { "One row of" } else { "Geometric mean of" };
    let rows = if rows == 1 { String::new() } else { format!(", {}", counted(rows, "row")) };
    format!("{what} {families}{rows} that {machines} measured {}.", metric.on())
}

/// The machines, families and rows that are not part of the answer, with reasons.
pub(super) fn left_out(
    page: &ReportPage<'_>,
    names: &[String],
    metric: Metric,
    sheet: &Sheet<'_>,
    works: &[JudgedWork<'_>],
) -> Vec<String> {
    let mut sentences = Vec::new();
    let noisy: Vec<&str> = sheet
        .entrants
        .iter()
        .filter(|&&run| !page.runs[run].doubts().is_empty())
        .map(|&run| &names[run][..])
        .collect();
    if !noisy.is_empty() && sheet.entrants.len() - noisy.len() > 1 {
        let (were, they) = if noisy.len() == 1 { ("its run was", "it") } else { ("their runs were", "they") };
        sentences.push(format!(
            "Not judged: {}: {were} noisy, and {they} may be better or worse than {they} seem{}.",
            listed(&noisy, "and"),
            if noisy.len() == 1 { "s" } else { "" }
        ));
    }
    let absent: Vec<String> = (0..names.len())
        .filter(|run| !sheet.entrants.contains(run))
        .map(|run| format!("{} ({})", names[run], lack(page, metric, sheet.suite, works, run)))
        .collect();
    if !absent.is_empty() {
        sentences.push(format!("Not compared: {}.", listed(&absent, "and")));
    }
    if !sheet.apart.is_empty() {
        let titles: Vec<&str> = sheet.apart.iter().map(|family| page.title(family)).collect();
        sentences.push(format!("Not measured on all of them: {}.", listed(&titles, "and")));
    }
    if sheet.incomparable > 0 {
        let rows = counted(sheet.incomparable, "row");
        sentences.push(format!("Left out: {rows} with other answers, units or clocks on one of them."));
    }
    sentences
}

/// The reason why a machine has no costs of this kind.
fn lack(page: &ReportPage<'_>, metric: Metric, suite: Suite, works: &[JudgedWork<'_>], run: usize) -> String {
    let mut figures = works.iter().filter(|work| work.suite == suite).filter_map(|work| work.by[run]);
    match figures.next() {
        None => format!("no {} measured {}", kind(suite), metric.on().replace("their", "its")),
        Some(figures) => metric.costs(&page.runs[run], figures).err().unwrap_or("not measured").to_owned(),
    }
}

/// The reason why no machines can be compared.
pub(super) fn nothing_in_common(
    page: &ReportPage<'_>,
    names: &[String],
    metric: Metric,
    sheets: &[Sheet<'_>],
    works: &[JudgedWork<'_>],
) -> Vec<String> {
    if let Some(sheet) = sheets.iter().find(|sheet| sheet.entrants.len() > 1) {
        let names: Vec<&str> = sheet.entrants.iter().map(|&run| &names[run][..]).collect();
        let row = if sheet.incomparable > 0 { "with the same answer, unit and clock " } else { "" };
        return vec![format!(
            "No row {row}was measured {} on all of {}.",
            metric.on(),
            listed(&names, "and")
        )];
    }
    // The suite with the most machines.
    let sheet = sheets.iter().max_by_key(|sheet| (sheet.entrants.len(), sheet.suite == Suite::Prover));
    let Some(sheet) = sheet else { return Vec::new() };
    let known: Vec<&str> = sheet.entrants.iter().map(|&run| &names[run][..]).collect();
    let lacks: Vec<String> = (0..names.len())
        .filter(|run| !sheet.entrants.contains(run))
        .map(|run| format!("{}: {}", names[run], lack(page, metric, sheet.suite, works, run)))
        .collect();
    let only = if known.is_empty() { String::new() } else { format!("Only {} has figures. ", known[0]) };
    vec![format!("{only}{}.", lacks.join("; "))]
}

/// An error if the runs differ in more than their machines.
pub(super) fn different(page: &ReportPage<'_>, metric: Metric, entrants: &[usize]) -> Result<(), String> {
    let distinct = |values: &mut dyn Iterator<Item = String>| {
        let counted: BTreeMap<String, ()> = values.map(|value| (value, ())).collect();
        counted.into_keys().collect::<Vec<_>>()
    };
    let runs = || entrants.iter().map(|&run| &page.runs[run]);
    let versions = distinct(&mut runs().map(|run| run.version.clone()));
    if versions.len() > 1 {
        return Err(format!(
            "No verdict: the runs are of different versions of Proofmill ({}).",
            versions.join(", ")
        ));
    }
    let source = |run: &BenchRun| {
        let source = run.power_source.as_deref().unwrap_or("unknown");
        source.split(' ').next().unwrap_or_default().to_owned()
    };
    let sources = distinct(&mut runs().map(source));
    if metric == Metric::Watt && sources.len() > 1 {
        let sources = sources.join(", ");
        return Err(format!(
            "No verdict: the watts come from different sources ({sources}), which do not count the same."
        ));
    }
    Ok(())
}

/// The sentence if fewer than two machines are without noise.
pub(super) fn noisy(names: &[&str]) -> String {
    match names {
        [one] => format!("No verdict: the run of {one} was noisy. Run it again on a quiet machine."),
        _ => format!(
            "No verdict: the runs of {} were noisy. Run them again on quiet machines.",
            listed(names, "and")
        ),
    }
}

/// The sentence if a noisy machine is ahead.
pub(super) fn noisy_first(name: &str) -> String {
    format!("No verdict: {name} seems ahead, but its run was noisy. Run it again on a quiet machine.")
}

/// The sentences about a single run.
pub(super) fn levels(
    metric: Metric,
    run: &BenchRun,
    suite: Suite,
    families: &[&FamilyVerdict],
) -> Vec<String> {
    if !run.doubts().is_empty() {
        return vec![noisy(&[&run.label])];
    }
    let sentence = |family: &&FamilyVerdict| {
        let FamilyVerdict { title, best, lead, rows, .. } = family;
        let sure = match family.certainty {
            Certainty::Sure if lead.starts_with("nothing") => "",
            Certainty::Sure => " surely",
            _ => " perhaps",
        };
        let best = if family.certainty == Certainty::Sure { best[0].clone() } else { listed(best, "or") };
        format!("{title}:{sure} {best}, {lead}, {}.", counted(*rows, "row"))
    };
    let mut sentences: Vec<String> = families.iter().take(4).map(sentence).collect();
    if families.len() > 4 {
        sentences.push(format!("The table has all {} families of {}.", families.len(), kind(suite)));
    }
    if metric == Metric::Machine && families.iter().all(|family| family.lead.starts_with("nothing")) {
        sentences.push("To compare others: proofmill bench run --level all --threads 1,all".to_owned());
    }
    sentences
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Sure => "sure",
            Self::Undecided => "not decided",
            Self::None => "no verdict",
        })
    }
}

/// As `Fastest machine: EPYC 9R14 (sure)`.
impl fmt::Display for ReportQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.best[..] {
            [] => write!(f, "{}: {}", self.title, self.certainty),
            best => write!(f, "{}: {} ({})", self.title, listed(best, "or"), self.certainty),
        }
    }
}
