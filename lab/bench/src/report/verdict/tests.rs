//! Answers calculated by hand.

use super::{
    super::{Certainty, Metric, ReportAnswer, ReportPage, ReportQuestion},
    FamilyVerdict,
};
use crate::{
    record::{BenchRun, Clock, Figures, Measurement, Price, RowOutcome, Suite},
    testing,
};

/// A row: family, size, level, threads, seconds per iteration in each sample.
type Row<'a> = (&'a str, u64, &'a str, u32, &'a [f64]);

/// Six equal samples, the fewest with an interval: ratios and intervals are exact.
const fn exactly(seconds: f64) -> [f64; 6] {
    [seconds; 6]
}

/// One row.
fn alone<'a>(family: &'a str, seconds: &'a [f64]) -> [Row<'a>; 1] {
    [(family, 1024, "avx2", 4, seconds)]
}

/// A proof and a kernel that take the same time.
fn proof_and_msm(seconds: &[f64]) -> [Row<'_>; 2] {
    [("proof", 1024, "avx2", 4, seconds), ("msm", 1024, "avx2", 4, seconds)]
}

/// A run without noise on a machine with four threads. Families whose names begin with `proof` are proofs.
fn run(id: u128, label: &str, rows: &[Row<'_>]) -> BenchRun {
    let mut run = testing::run(id, label);
    run.ended = Some(testing::moment(1_800_000_000));
    run.machine.threads = 4;
    run.measurements = rows.iter().map(measurement).collect();
    run
}

fn measurement(&(family, size, level, threads, seconds): &Row<'_>) -> Measurement {
    let mut measurement = testing::measurement("work", seconds);
    let row = &mut measurement.row;
    row.suite = if family.starts_with("proof") { Suite::Prover } else { Suite::Kernel };
    (row.family, row.size, row.implementation, row.threads) =
        (family.to_owned(), Some(size), level.to_owned(), threads);
    let figures = figures(&mut measurement);
    figures.clock = if threads == 1 { Clock::Cpu } else { Clock::Wall };
    figures.watts = None;
    measurement
}

fn figures(measurement: &mut Measurement) -> &mut Figures {
    let RowOutcome::Measured(figures) = &mut measurement.outcome else { panic!("it was measured") };
    figures
}

fn price(run: &mut BenchRun, dollars_per_hour: f64) {
    run.price = Some(Price { dollars_per_hour, source: "given".to_owned() });
}

fn watts(run: &mut BenchRun, source: &str, watts: f64) {
    run.power_source = Some(source.to_owned());
    for measurement in &mut run.measurements {
        figures(measurement).watts = Some(watts);
    }
}

fn answer(runs: &[BenchRun]) -> ReportAnswer {
    ReportPage { runs, families: &[], baseline: 0, projections: &[], pipelines: &[] }.answer()
}

fn question(runs: &[BenchRun], metric: Metric) -> ReportQuestion {
    let questions = answer(runs).questions.into_iter();
    questions.into_iter().find(|question| question.metric == metric).expect("it is asked")
}

/// The best, the certainty, and all sentences.
fn verdict_of(question: &ReportQuestion) -> (Vec<String>, Certainty, String) {
    (question.best.clone(), question.certainty, question.reasons.join(" "))
}

fn family<'q>(question: &'q ReportQuestion, title: &str) -> &'q FamilyVerdict {
    question.families.iter().find(|family| family.title == title).expect("it was compared")
}

fn ratio(family: &FamilyVerdict, run: usize) -> f64 {
    family.means[run].expect("a mean").ratio
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn the_leader_is_ahead_by_the_geometric_mean_of_the_families_means() {
    // proof-a: 2 and 8 times, so 4. proof-b: 9 times. Together 6, since both families have the same weight.
    let slow = [
        ("proof-a", 1024, "adx", 4, &exactly(2.0)[..]),
        ("proof-a", 2048, "adx", 4, &exactly(8.0)),
        ("proof-b", 1024, "adx", 4, &exactly(9.0)),
        // Kernels are ignored if there are proofs.
        ("msm", 1024, "adx", 4, &exactly(1.0)),
    ];
    let fast = [
        ("proof-a", 1024, "avx512", 4, &exactly(1.0)[..]),
        ("proof-a", 2048, "avx512", 4, &exactly(1.0)),
        ("proof-b", 1024, "avx512", 4, &exactly(1.0)),
        ("proof-b", 4096, "avx512", 4, &exactly(1000.0)),
        ("msm", 1024, "avx512", 4, &exactly(5.0)),
    ];
    let runs = [run(1, "slow", &slow), run(2, "fast", &fast)];
    let question = question(&runs, Metric::Machine);
    let (best, certainty, reasons) = verdict_of(&question);
    assert_eq!((best, certainty), (vec!["fast".to_owned()], Certainty::Sure));
    assert!(
        reasons.starts_with(
            "fast is surely the fastest: 6.00 times as fast as slow, the next (95 % interval 6.00 to 6.00). \
             Row by row 2.00 to 9.00 times. \
             Geometric mean of 2 families of proofs (proof-a and proof-b), 3 rows that both machines measured"
        ),
        "{reasons}"
    );
    // Relative to the page's baseline, the first run.
    close(ratio(family(&question, "proof-a"), 1), 4.0);
    close(ratio(family(&question, "proof-b"), 1), 9.0);
    close(ratio(family(&question, "proof-b"), 0), 1.0);
    assert_eq!(family(&question, "proof-b").rows, 1);
    let msm = family(&question, "msm");
    close(ratio(msm, 1), 0.2);
    assert_eq!((&msm.best[..], msm.certainty), (&["slow".to_owned()][..], Certainty::Sure));
}

#[test]
fn machines_are_represented_by_their_fastest_levels() {
    let a = [("msm", 1024, "portable", 1, &exactly(1.0)[..]), ("msm", 1024, "avx2", 1, &exactly(0.5))];
    let b = [("msm", 1024, "sve2", 1, &exactly(0.75)[..]), ("msm", 1024, "arkworks", 1, &exactly(0.1))];
    let question = question(&[run(1, "a", &a), run(2, "b", &b)], Metric::Core);
    assert_eq!(question.best, ["a"]);
    close(ratio(family(&question, "msm"), 1), 0.5 / 0.75);
    assert!(question.reasons[0].contains("1.50 times as fast as b"), "{:?}", question.reasons);
}

#[test]
fn one_common_row_is_enough() {
    let scattered = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5];
    let slower = scattered.map(|seconds| seconds * 3.0);
    let runs = [run(1, "a", &alone("msm", &scattered)), run(2, "b", &alone("msm", &slower))];
    let question = question(&runs, Metric::Machine);
    let (best, certainty, reasons) = verdict_of(&question);
    assert_eq!((best, certainty), (vec!["a".to_owned()], Certainty::Sure));
    assert!(reasons.contains("One row of kernels of msm that both machines measured"), "{reasons}");
    assert!(!reasons.contains("Row by row"), "{reasons}");
    // The mean's interval is the row's interval.
    let expected = crate::statistics::Ratio::of(&slower, &scattered).unwrap();
    let lead = super::contest::lead(&[&vec![vec![scattered.to_vec(), slower.to_vec()]]], 0, 1).unwrap();
    close(lead.mean.ratio.interval.unwrap().0, expected.interval.unwrap().0);
}

#[test]
fn overlapping_samples_decide_nothing() {
    let (one, other) = ([1.0, 1.1, 1.2, 1.3, 1.4, 1.5], [1.05, 1.15, 1.25, 1.35, 1.45, 1.55]);
    let runs = [
        run(1, "a", &alone("msm", &one)),
        run(2, "b", &alone("msm", &other)),
        run(3, "c", &alone("msm", &exactly(9.0))),
    ];
    let undecided = question(&runs, Metric::Machine);
    let (best, certainty, reasons) = verdict_of(&undecided);
    assert_eq!((best, certainty), (vec!["a".to_owned(), "b".to_owned()], Certainty::Undecided));
    assert!(reasons.starts_with("Not decided between a and b: a seems 1.04 times as fast as b"), "{reasons}");
    assert!(reasons.contains("the interval includes 1"), "{reasons}");
    assert_eq!(undecided.to_string(), "Fastest machine: a or b (not decided)");
    // Sure, but within the differences between reboots.
    let runs = [run(1, "a", &alone("msm", &exactly(1.0))), run(2, "b", &alone("msm", &exactly(1.015)))];
    let (best, certainty, reasons) = verdict_of(&question(&runs, Metric::Machine));
    assert_eq!((best.len(), certainty), (2, Certainty::Undecided));
    assert!(reasons.contains("1.015 times") && reasons.contains("less than 2 %"), "{reasons}");
    let runs = [run(1, "a", &alone("msm", &exactly(1.0))), run(2, "b", &alone("msm", &exactly(1.025)))];
    assert_eq!(question(&runs, Metric::Machine).certainty, Certainty::Sure);
}

#[test]
fn few_samples_decide_nothing() {
    let runs = [run(1, "a", &alone("msm", &[1.0, 1.0])), run(2, "b", &alone("msm", &[5.0, 5.0]))];
    let question = question(&runs, Metric::Machine);
    let (best, certainty, reasons) = verdict_of(&question);
    assert_eq!((best, certainty), (vec!["a".to_owned(), "b".to_owned()], Certainty::Undecided));
    assert!(reasons.contains("a seems 5.00 times as fast as b (too few samples"), "{reasons}");
}

#[test]
fn contrary_rows_are_reported() {
    let a = [("msm", 1024, "avx2", 4, &exactly(1.0)[..]), ("msm", 2048, "avx2", 4, &exactly(2.0))];
    let b = [("msm", 1024, "avx2", 4, &exactly(9.0)[..]), ("msm", 2048, "avx2", 4, &exactly(1.0))];
    let question = question(&[run(1, "a", &a), run(2, "b", &b)], Metric::Machine);
    let (best, _, reasons) = verdict_of(&question);
    assert_eq!(best, ["a"]);
    assert!(
        reasons.contains("Row by row 0.50 to 9.00 times; in 1 of 2 rows b is surely ahead."),
        "{reasons}"
    );
}

#[test]
fn without_common_rows_there_is_no_verdict() {
    let a = run(1, "a", &[("msm", 1024, "avx2", 4, &exactly(1.0))]);
    let b = run(2, "b", &[("msm", 2048, "avx2", 4, &exactly(1.0))]);
    let mut c = run(3, "c", &[("msm", 1024, "avx2", 4, &exactly(1.0))]);
    let both = question(&[a.clone(), b], Metric::Machine);
    let (best, certainty, reasons) = verdict_of(&both);
    assert_eq!((best.len(), certainty), (0, Certainty::None));
    assert_eq!(reasons, "No row was measured with all their threads on all of a and b.");
    assert_eq!(both.to_string(), "Fastest machine: no verdict");
    // Rows with different answers are not the same work.
    figures(&mut c.measurements[0]).answer = Some("f".repeat(16));
    let both = question(&[a.clone(), c], Metric::Machine);
    assert!(verdict_of(&both).2.starts_with("No row with the same answer"), "{both:?}");
    // Machines without figures are not compared.
    let core = question(&[a, run(4, "d", &[])], Metric::Machine);
    assert_eq!(verdict_of(&core).2, "Only a has figures. d: no kernels measured with all its threads.");
}

#[test]
fn a_machine_without_proofs_does_not_prevent_an_answer() {
    let (one, two) = (exactly(1.0), exactly(2.0));
    let only = run(3, "c", &[("msm", 1024, "avx2", 4, &one)]);
    let question = question(
        &[run(1, "a", &proof_and_msm(&two)), run(2, "b", &proof_and_msm(&one)), only],
        Metric::Machine,
    );
    let (best, certainty, reasons) = verdict_of(&question);
    assert_eq!((best, certainty), (vec!["b".to_owned()], Certainty::Sure));
    assert!(reasons.contains("Not compared: c (no proofs measured with all its threads)."), "{reasons}");
    // Kernels were measured on three machines.
    assert_eq!(family(&question, "msm").best, ["b", "c"]);
    assert_eq!(family(&question, "proof").means[2], None);
}

#[test]
fn noisy_runs_are_not_judged() {
    let (one, two, three) = (exactly(1.0), exactly(2.0), exactly(3.0));
    let quiet = [
        run(1, "a", &alone("msm", &one)),
        run(2, "b", &alone("msm", &two)),
        run(3, "c", &alone("msm", &three)),
    ];
    let noisy = |at: usize, count: usize| {
        let mut runs = quiet[..count].to_vec();
        runs[at].noise.warnings = vec!["9 % of the CPU time went to other processes".to_owned()];
        question(&runs, Metric::Machine)
    };
    let (best, certainty, reasons) = verdict_of(&noisy(1, 2));
    assert_eq!((best.len(), certainty), (0, Certainty::None));
    assert!(reasons.starts_with("No verdict: the run of b was noisy."), "{reasons}");
    // The two quiet runs are compared, and the table has the third run's mean.
    let third = noisy(2, 3);
    let (best, certainty, reasons) = verdict_of(&third);
    assert_eq!((best, certainty), (vec!["a".to_owned()], Certainty::Sure));
    assert!(reasons.contains("2.00 times as fast as b") && reasons.contains("Not judged: c:"), "{reasons}");
    close(ratio(family(&third, "msm"), 2), 1.0 / 3.0);
    // No verdict if the noisy run is ahead.
    let first = noisy(0, 3);
    assert!(
        verdict_of(&first).2.starts_with("No verdict: a seems ahead, but its run was noisy."),
        "{first:?}"
    );
    assert_eq!((first.best.len(), family(&first, "msm").certainty), (0, Certainty::None));
    // The noise of an unfinished run is unknown.
    let mut runs = quiet[..2].to_vec();
    runs[0].ended = None;
    assert_eq!(question(&runs, Metric::Machine).certainty, Certainty::None);
}

#[test]
fn dollars_and_joules_are_compared_where_they_are_known() {
    let (one, two) = (exactly(1.0), exactly(2.0));
    let mut runs = [
        run(1, "a", &alone("proof", &one)),
        run(2, "b", &alone("proof", &two)),
        run(3, "c", &alone("proof", &two)),
    ];
    let none = question(&runs, Metric::Dollar);
    assert_eq!(verdict_of(&none).2, "a: no price; b: no price; c: no price.");
    price(&mut runs[0], 4.0);
    let one = question(&runs, Metric::Dollar);
    assert_eq!(verdict_of(&one).2, "Only a has figures. b: no price; c: no price.");
    // b takes twice the time at an eighth of the price: four times the work per dollar.
    price(&mut runs[1], 0.5);
    let two = question(&runs, Metric::Dollar);
    let (best, certainty, reasons) = verdict_of(&two);
    assert_eq!((best, certainty), (vec!["b".to_owned()], Certainty::Sure));
    assert!(
        reasons.starts_with("b is surely the cheapest: 4.00 times the work for a dollar of a"),
        "{reasons}"
    );
    assert!(reasons.contains("Not compared: c (no price)."), "{reasons}");
    assert_eq!(question(&runs, Metric::Machine).best, ["a"]);

    // Half the speed at a tenth of the watts: five times the work per joule.
    watts(&mut runs[0], "rapl", 100.0);
    watts(&mut runs[1], "rapl", 10.0);
    let joules = question(&runs, Metric::Watt);
    let (best, certainty, reasons) = verdict_of(&joules);
    assert_eq!((best, certainty), (vec!["b".to_owned()], Certainty::Sure));
    assert!(reasons.contains("5.00 times the work for a joule of a"), "{reasons}");
    assert!(reasons.contains("c (watts not measured)"), "{reasons}");
    // A meter and the CPU's own counters measure different things.
    runs[1].power_source = Some("csv meter.csv".to_owned());
    let joules = question(&runs, Metric::Watt);
    let (best, certainty, reasons) = verdict_of(&joules);
    assert_eq!((best.len(), certainty), (0, Certainty::None));
    assert!(reasons.contains("different sources (csv, rapl)"), "{reasons}");
    // The cost of a work: two seconds at ten watts and half a dollar per hour.
    let costs = &answer(&runs).costs;
    let cost = costs[0].by[1].as_ref().unwrap();
    assert_eq!((cost.seconds, cost.joules), (2.0, Some(20.0)));
    close(cost.dollars.unwrap(), 1.0 / 3600.0);
    assert_eq!((costs[0].by[2].as_ref().unwrap().dollars, costs.len()), (None, 1));
}

#[test]
fn runs_of_different_versions_are_not_judged() {
    let mut runs = [run(1, "a", &alone("proof", &exactly(1.0))), run(2, "b", &alone("proof", &exactly(2.0)))];
    runs[1].version = "0.2.0".to_owned();
    let question = question(&runs, Metric::Machine);
    let (best, certainty, reasons) = verdict_of(&question);
    assert_eq!((best.len(), certainty), (0, Certainty::None));
    assert!(reasons.contains("different versions of Proofmill (0.1.0, 0.2.0)"), "{reasons}");
    assert_eq!(family(&question, "proof").certainty, Certainty::None);
    close(ratio(family(&question, "proof"), 1), 0.5);
}

#[test]
fn a_single_machine_has_a_fastest_level_and_its_cost() {
    let rows = [
        ("proof", 1024, "adx", 1, &exactly(8.0)[..]),
        ("proof", 1024, "adx", 4, &exactly(4.0)),
        ("proof", 1024, "avx512", 1, &exactly(4.0)),
        ("proof", 1024, "avx512", 4, &exactly(1.0)),
        ("proof", 2048, "adx", 1, &exactly(18.0)),
        ("proof", 2048, "adx", 4, &exactly(9.0)),
        ("proof", 2048, "avx512", 1, &exactly(8.0)),
        ("proof", 2048, "avx512", 4, &exactly(1.0)),
        // This contestant lacks a row of the others.
        ("proof", 1024, "portable", 4, &exactly(0.1)),
    ];
    let mut one = run(1, "a", &rows);
    price(&mut one, 1.8);
    for measurement in &mut one.measurements {
        figures(measurement).amount = measurement.row.size.unwrap() as f64;
    }
    let runs = [one];
    let fastest = question(&runs, Metric::Machine);
    let (best, certainty, reasons) = verdict_of(&fastest);
    assert_eq!((best, certainty), (vec!["avx512 with 4 threads".to_owned()], Certainty::Sure));
    // The next ones: avx512 with 1 thread, 4 and 8 times slower, and adx with 4 threads, 4 and 9 times
    // slower.
    let expected = "proof: surely avx512 with 4 threads, 5.66 times as fast as avx512 with 1 thread (95 % interval 5.66 to 5.66), 2 rows.";
    assert_eq!(reasons, expected);
    let answer = answer(&runs);
    assert_eq!(answer.questions.len(), 1, "no watts were measured");
    let cost = answer.costs[0].by[0].as_ref().unwrap();
    assert_eq!((answer.costs[0].size, &cost.by[..]), (Some(2048), "avx512 with 4 threads"));
    assert_eq!((cost.seconds, cost.dollars, cost.joules), (1.0, Some(0.0005), None));

    let mut noisy = runs;
    noisy[0].noise.warnings = vec!["9 % of the CPU time went to other processes".to_owned()];
    let fastest = question(&noisy, Metric::Machine);
    let (best, certainty, reasons) = verdict_of(&fastest);
    assert_eq!((best.len(), certainty), (0, Certainty::None));
    assert!(reasons.starts_with("No verdict: the run of a was noisy."), "{reasons}");
}

#[test]
fn a_single_row_is_no_contest() {
    let runs = [run(1, "a", &[("msm", 1024, "avx2", 4, &exactly(1.0))])];
    let (best, certainty, reasons) = verdict_of(&question(&runs, Metric::Machine));
    assert_eq!((best, certainty), (vec!["avx2 with 4 threads".to_owned()], Certainty::Sure));
    assert!(reasons.starts_with("msm: avx2 with 4 threads, nothing else was measured, 1 row."), "{reasons}");
    assert!(reasons.contains("--level all"), "{reasons}");
    assert_eq!(answer(&[run(1, "a", &[])]).questions.len(), 0);
    assert_eq!(question(&[], Metric::Machine).certainty, Certainty::None);
}
