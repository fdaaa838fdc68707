//! Tests with a catalogue of simple kernels.

use super::*;
use crate::{
    PreparedWorkload,
    definition::{Family, Size, Threads},
    plan::{LevelChoice, Selection, plan},
    sampler::digest,
};
use proofmill_cpu::Level;

/// The kernel `sum` adds numbers; `wrong` too, but with a wrong result at the best level; `broken` cannot be
/// prepared.
struct Sums;

struct Sum {
    numbers: u64,
    sum: u64,
    wrong: bool,
}

impl PreparedWorkload for Sum {
    fn run(&mut self, begin: &mut dyn FnMut(&'static str)) -> Result<(), String> {
        begin("add");
        self.sum = (0..std::hint::black_box(self.numbers)).sum::<u64>() + u64::from(self.wrong);
        Ok(())
    }

    fn output(&self) -> Vec<u8> {
        self.sum.to_le_bytes().to_vec()
    }
}

impl Catalogue for Sums {
    fn levels(&self, kernel: &str) -> Option<Vec<Level>> {
        ["f/sum", "f/wrong", "f/broken"].contains(&kernel).then(Level::available)
    }

    fn prepare(&self, kernel: &str, size: u64, level: Level) -> Result<Box<dyn PreparedWorkload>, String> {
        match kernel {
            "f/broken" => Err("it is broken".to_owned()),
            _ => Ok(Box::new(Sum {
                numbers: size,
                sum: 0,
                wrong: kernel == "f/wrong" && level == Level::best(),
            })),
        }
    }

    fn input(&self, kernel: &str, _: u64) -> Result<Vec<u8>, String> {
        Err(format!("no peer has {kernel}"))
    }
}

fn family() -> Family {
    let benchmark = |name: &str, rest: &str| {
        format!("[[benchmark]]\nname = \"{name}\"\nunit = \"numbers\"\nsizes = [10, \"2^10\"]\n{rest}\n")
    };
    let answer = digest(&45_u64.to_le_bytes());
    let text = [
        "name = \"f\"\ntitle = \"Sums\"\nsuite = \"kernel\"\ninput = \"none\"\n".to_owned(),
        benchmark("sum", &format!("threads = [1, 2]\n[benchmark.answers]\n10 = \"{answer}\"")),
        benchmark("wrong", "threads = [\"all\"]"),
        benchmark("broken", "levels = [\"portable\"]"),
    ];
    Family::parse("f", &text.concat()).unwrap()
}

#[derive(Default)]
struct Notes {
    groups: Vec<String>,
    measurements: Vec<Measurement>,
}

impl RunObserver for Notes {
    fn group(&mut self, group: &RowGroup, _: usize, _: usize, _: Option<Duration>) {
        self.groups.push(format!("{} on {}", group.name(), group.threads));
    }

    fn progress(&mut self, share: f64) {
        assert!((0.0..=1.0).contains(&share));
    }

    fn measured(&mut self, measurement: Measurement) -> Result<(), BenchError> {
        self.measurements.push(measurement);
        Ok(())
    }
}

fn run(selection: &Selection, mode: Mode) -> Notes {
    let families = [family()];
    let groups = plan(&families, &Sums, selection, 3).unwrap();
    let mut notes = Notes::default();
    Suite::new(&Sums, mode, None, None).run(&groups, &mut notes).unwrap();
    notes
}

fn of(pattern: &str) -> Selection {
    Selection { patterns: vec![pattern.to_owned()], ..Selection::default() }
}

#[test]
fn selections_filter_definitions() {
    let families = [family()];
    let names = |selection: &Selection| {
        let groups = plan(&families, &Sums, selection, 3).unwrap();
        groups.iter().map(|group| format!("{} on {}", group.name(), group.threads)).collect::<Vec<_>>()
    };
    assert_eq!(names(&of("sum/2^10")), ["f/sum/2^10 on 1", "f/sum/2^10 on 2"]);
    assert_eq!(names(&of("wrong/10")), ["f/wrong/10 on 3"]);
    let threads = Some(vec![Threads::All, Threads::Count(3)]);
    let smallest = Selection { threads, smallest: true, ..of("sum") };
    assert_eq!(names(&smallest), ["f/sum/10 on 3"]);
    let sizes = Selection { sizes: Some(vec![Size(1024)]), ..of("broken") };
    assert_eq!(names(&sizes), ["f/broken/2^10 on 1", "f/broken/2^10 on 3"]);
    assert_eq!(names(&Selection::default()).len(), 4 + 2 + 4);
    let error = plan(&families, &Sums, &of("nothing"), 3).unwrap_err().to_string();
    assert!(error.contains("nothing") && error.contains("bench list"), "{error}");
}

#[test]
fn a_chosen_level_is_the_best_that_is_not_above_it() {
    let families = [family()];
    let levels = |levels| {
        let selection = Selection { levels, smallest: true, ..of("f/sum") };
        plan(&families, &Sums, &selection, 3).unwrap()[0].levels.clone()
    };
    assert_eq!(levels(LevelChoice::All), Level::available());
    for level in Level::available() {
        assert_eq!(levels(LevelChoice::At(level)), [level]);
        assert_eq!(levels(LevelChoice::Named(vec![level.name().to_owned()])), [level]);
    }
    // The definition names only portable.
    let best = Selection { levels: LevelChoice::At(Level::best()), ..of("broken") };
    assert_eq!(plan(&families, &Sums, &best, 1).unwrap()[0].levels, [Level::available()[0]]);
}

#[test]
fn right_answers_are_timed() {
    let effort = Effort { time: Duration::from_millis(20), precision: 0.5 };
    let notes = run(&of("f/sum/10"), Mode::Measure(effort));
    assert_eq!(notes.groups, ["f/sum/10 on 1", "f/sum/10 on 2"]);
    assert_eq!(notes.measurements.len(), 2 * Level::available().len());
    for Measurement { row, outcome, .. } in &notes.measurements {
        let RowOutcome::Measured(figures) = outcome else { panic!("{outcome:?}") };
        assert_eq!(figures.clock, if row.threads == 1 { Clock::Cpu } else { Clock::Wall });
        assert_eq!(figures.answer.as_deref(), Some(digest(&45_u64.to_le_bytes()).as_str()));
        assert_eq!((figures.amount, figures.unit.as_str()), (10.0, "numbers"));
        assert!(figures.seconds.iter().all(|seconds| *seconds > 0.0) && figures.seconds.len() >= 6);
        assert_eq!(figures.phases[0].name, "add");
    }
}

#[test]
fn a_wrong_answer_is_a_failure() {
    let notes = run(&of("f/wrong/10"), Mode::Check);
    let (last, others) = notes.measurements.split_last().unwrap();
    let RowOutcome::Failed { reason } = &last.outcome else { panic!("{last:?}") };
    assert!(reason.starts_with(&format!("f/wrong/10 by {}: expected", Level::best())), "{reason}");
    assert_eq!(last.row.implementation, Level::best().name());
    for other in others {
        assert_eq!(other.outcome, RowOutcome::Checked { answer: digest(&45_u64.to_le_bytes()) });
    }
}

#[test]
fn a_kernel_that_cannot_be_prepared_does_not_end_the_run() {
    let selection = Selection { smallest: true, ..Selection::default() };
    let notes = run(&selection, Mode::Check);
    let broken: Vec<_> = notes.measurements.iter().filter(|row| row.row.benchmark == "broken").collect();
    assert_eq!(broken.len(), 2);
    let RowOutcome::Failed { reason } = &broken[0].outcome else { panic!("{broken:?}") };
    assert_eq!(reason, "f/broken/10 at portable: it is broken");
}
