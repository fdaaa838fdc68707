//! Tests with subjects that return scripted times.

use super::*;
use rayon::ThreadPoolBuilder;

/// Returns the given times in turn, one per run, and appends its name to `turns`.
struct Scripted<'a> {
    name: char,
    microseconds: Vec<u64>,
    turns: &'a RefCell<String>,
    fails_at: usize,
    runs: usize,
}

impl Sampled for Scripted<'_> {
    fn run(&mut self, iterations: u64) -> Result<Sample, BenchError> {
        self.runs += 1;
        if self.runs == self.fails_at {
            return Err(BenchError::Workload { name: self.name.to_string(), problem: "broke".to_owned() });
        }
        self.turns.borrow_mut().push(self.name);
        let micros = self.microseconds[self.runs % self.microseconds.len()] * iterations;
        let wall = Duration::from_micros(micros);
        let phase =
            |name: &str, share| PhaseTime { name: name.to_owned(), seconds: share * wall.as_secs_f64() };
        let phases = vec![phase("first", 0.25), phase("second", 0.75)];
        Ok(Sample { wall, cpu: 2 * wall, counts: None, phases })
    }
}

fn scripted<'a>(name: char, microseconds: &[u64], turns: &'a RefCell<String>) -> Scripted<'a> {
    Scripted { name, microseconds: microseconds.to_vec(), turns, fails_at: usize::MAX, runs: 0 }
}

const EFFORT: Effort = Effort { time: Duration::from_secs(1), precision: 0.01 };

#[test]
fn subjects_are_sampled_in_alternating_order() {
    let turns = RefCell::new(String::new());
    // Each iteration is long enough for a sample, and the times vary too much to reach the precision.
    let mut a = scripted('a', &[100_000, 150_000], &turns);
    let mut b = scripted('b', &[200_000, 100_000], &turns);
    let taken = take(&mut [&mut a, &mut b], EFFORT, Clock::Wall, None, |_| ());
    // The first run of each subject determines the number of iterations.
    let order = turns.borrow().clone();
    assert!(order.starts_with("ababbaabba"), "{order}");
    let figures = taken.into_iter().map(Result::unwrap);
    for figures in figures {
        let spent: f64 = figures.seconds.iter().sum();
        assert!(figures.seconds.len() >= FEWEST && (1.0..1.3).contains(&spent), "{spent}");
        assert!((Summary::of(&figures.seconds).unwrap().min - 0.1).abs() < 1e-9);
    }
}

#[test]
fn steady_times_end_early_and_slow_ones_have_enough_samples() {
    let turns = RefCell::new(String::new());
    let mut steady = scripted('s', &[30_000], &turns);
    let mut slow = scripted('l', &[5_000_000], &turns);
    let mut shares = Vec::new();
    let taken = take(&mut [&mut steady, &mut slow], EFFORT, Clock::Cpu, None, |share| shares.push(share));
    let [steady, slow] = [&taken[0], &taken[1]].map(|figures| figures.as_ref().unwrap());
    assert_eq!((steady.seconds.len(), slow.seconds.len()), (FEW, FEWEST));
    // The reported time is CPU time.
    assert!((slow.seconds[0] - 10.0).abs() < 1e-9);
    let phases: Vec<_> = slow.phases.iter().map(|phase| (phase.name.as_str(), phase.seconds)).collect();
    assert_eq!(phases, [("first", 1.25), ("second", 3.75)]);
    assert!(shares.is_sorted() && shares.iter().all(|share| (0.0..1.0).contains(share)), "{shares:?}");
}

#[test]
fn short_iterations_are_timed_together() {
    let turns = RefCell::new(String::new());
    let mut short = scripted('s', &[3], &turns);
    let taken = take(&mut [&mut short], EFFORT, Clock::Wall, None, |_| ());
    let figures = taken[0].as_ref().unwrap();
    assert!((figures.seconds[0] - 3e-6).abs() < 1e-12 && figures.seconds.len() >= FEW);
    // 20 ms per sample, reached in a few steps.
    assert!(turns.borrow().len() < 30, "{}", turns.borrow().len());
}

#[test]
fn a_failing_subject_is_named_and_others_are_measured() {
    let turns = RefCell::new(String::new());
    let mut good = scripted('g', &[30_000], &turns);
    let mut bad = Scripted { fails_at: 4, ..scripted('b', &[30_000], &turns) };
    let taken = take(&mut [&mut bad, &mut good], EFFORT, Clock::Wall, None, |_| ());
    assert_eq!(taken[0].as_ref().unwrap_err().to_string(), "b: broke");
    assert_eq!(taken[1].as_ref().unwrap().seconds.len(), FEW);
}

/// Its output is the number of threads that it runs on.
struct Block(Vec<u8>);

impl PreparedWorkload for Block {
    fn run(&mut self, begin: &mut dyn FnMut(&'static str)) -> Result<(), String> {
        begin("fill");
        self.0 = vec![rayon::current_num_threads() as u8; 2];
        begin("empty");
        self.0.truncate(1);
        Ok(())
    }

    fn output(&self) -> Vec<u8> {
        self.0.clone()
    }
}

#[test]
fn a_workload_runs_on_its_pool() {
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(5).build().unwrap());
    let mut subject =
        InProcess::prepare("block".to_owned(), pool, None, || Ok(Box::new(Block(Vec::new())))).unwrap();
    assert_eq!(subject.answer().unwrap(), digest(&[5]));
    let sample = subject.run(2).unwrap();
    assert!(sample.wall > Duration::ZERO);
    let names: Vec<_> = sample.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["fill", "empty"]);
}

#[test]
fn a_workload_that_cannot_be_prepared_is_named() {
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(1).build().unwrap());
    let subject = InProcess::prepare("ntt of 3".to_owned(), pool, None, || Err("no size".to_owned()));
    assert_eq!(subject.err().unwrap().to_string(), "ntt of 3: no size");
}

#[test]
fn digests_are_the_first_digits_of_sha_256() {
    // The example in FIPS 180-4.
    assert_eq!(digest(b"abc"), "ba7816bf8f01cfea");
}
