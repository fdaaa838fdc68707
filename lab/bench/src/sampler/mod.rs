//! Takes samples of several implementations of the same work, in alternation.

use crate::{
    BenchError, PreparedWorkload,
    counters::{CounterReadings, Counters},
    power::{MeterMark, PowerMeter},
    record::{Clock, Figures, PhaseTime},
    statistics::{Summary, median},
};
use cpu_time::ProcessTime;
use proofmill_memory::process_memory;
use rayon::ThreadPool;
use std::{
    cell::RefCell,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

/// An implementation of a benchmark that is ready for measurements.
pub trait Sampled {
    /// Runs `iterations` iterations.
    ///
    /// # Errors
    /// An implementation that cannot run.
    fn run(&mut self, iterations: u64) -> Result<Sample, BenchError>;

    /// Peak memory in bytes, if it is known.
    fn peak_memory(&self) -> Option<u64> {
        None
    }
}

/// Measurements of some iterations together.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Wall time.
    pub wall: Duration,
    /// CPU time of all threads.
    pub cpu: Duration,
    /// Cycles and instructions, if they are counted.
    pub counts: Option<CounterReadings>,
    /// Wall time by phase, if the work has phases.
    pub phases: Vec<PhaseTime>,
}

/// Limits on sampling time and precision.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Time limit for all samples of an implementation together.
    pub time: Duration,
    /// Sampling ends earlier when both ends of the median's interval are within this share of the median.
    pub precision: f64,
}

/// The fewest samples that are taken: with fewer there is no interval.
const FEWEST: usize = 6;
/// The fewest samples after which precision can end the sampling: fewer may agree by chance.
const FEW: usize = 15;
/// Number of samples within the time if iterations are short: enough for an interval, and each long enough
/// for the clock.
const SAMPLES: u32 = 50;
/// The shortest sample, for the resolution of clocks, counters and power readings.
const SHORTEST: Duration = Duration::from_millis(5);

/// The figures of an implementation, or its error.
pub type Taken = Result<Figures, BenchError>;

/// An implementation with its samples so far.
struct Turn<'a> {
    subject: &'a mut dyn Sampled,
    iterations: u64,
    samples: Vec<Sample>,
    spent: Duration,
    /// Start and end of each sample.
    marks: Vec<(MeterMark, MeterMark)>,
    failed: Option<BenchError>,
}

/// Takes samples of `subjects` in alternation until each has reached its time or precision. Every second
/// round is in reverse order, so that drift affects all subjects equally. `clock` selects the time that is
/// reported. `begin` is called before each round with the finished share of the sampling.
pub fn take(
    subjects: &mut [&mut dyn Sampled],
    effort: Effort,
    clock: Clock,
    meter: Option<&PowerMeter>,
    mut begin: impl FnMut(f64),
) -> Vec<Taken> {
    let mut turns: Vec<Turn> = subjects.iter_mut().map(|subject| Turn::new(*subject, effort)).collect();
    for round in 0.. {
        let over = turns.iter().filter(|turn| turn.is_over(effort, clock)).count();
        if over == turns.len() {
            break;
        }
        let shares = turns.iter().map(|turn| turn.share(effort, clock));
        begin(shares.sum::<f64>() / turns.len() as f64);
        let mut order: Vec<usize> = (0..turns.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for i in order {
            if !turns[i].is_over(effort, clock) {
                turns[i].take(meter);
            }
        }
    }
    turns.into_iter().map(|turn| turn.figures(clock, meter)).collect()
}

impl<'a> Turn<'a> {
    /// Determines the number of iterations of a sample.
    fn new(subject: &'a mut dyn Sampled, effort: Effort) -> Self {
        let mut turn = Self {
            subject,
            iterations: 1,
            samples: Vec::new(),
            spent: Duration::ZERO,
            marks: Vec::new(),
            failed: None,
        };
        let aim = (effort.time / SAMPLES).max(SHORTEST);
        // A very short run may be mostly overhead, so the number grows by at most 16 at a time.
        for _ in 0..10 {
            match turn.subject.run(turn.iterations) {
                Ok(sample) => {
                    let factor = aim.as_secs_f64() / sample.wall.as_secs_f64().max(1e-9);
                    if factor <= 1.0 {
                        break;
                    }
                    turn.iterations = (turn.iterations as f64 * factor.min(16.0)).ceil() as u64;
                    if factor < 2.0 {
                        break;
                    }
                }
                Err(error) => {
                    turn.failed = Some(error);
                    break;
                }
            }
        }
        turn
    }

    fn take(&mut self, meter: Option<&PowerMeter>) {
        let from = meter.map(PowerMeter::mark);
        let sample = self.subject.run(self.iterations);
        self.marks.extend(from.zip(meter.map(PowerMeter::mark)));
        match sample {
            Ok(sample) => {
                self.spent += sample.wall;
                self.samples.push(sample);
            }
            Err(error) => self.failed = Some(error),
        }
    }

    fn is_over(&self, effort: Effort, clock: Clock) -> bool {
        self.failed.is_some() || self.share(effort, clock) >= 1.0
    }

    /// The finished share of its sampling.
    fn share(&self, effort: Effort, clock: Clock) -> f64 {
        let count = self.samples.len();
        let needed = count as f64 / FEWEST as f64;
        let spent = self.spent.as_secs_f64() / effort.time.as_secs_f64();
        let precise = count >= FEW
            && count.is_multiple_of(5)
            && Summary::of(&self.seconds(clock))
                .and_then(|summary| summary.precision())
                .is_some_and(|precision| precision <= effort.precision);
        if precise { 1.0 } else { needed.min(spent).min(1.0) }
    }

    /// Seconds per iteration, for each sample.
    fn seconds(&self, clock: Clock) -> Vec<f64> {
        let time = |sample: &Sample| match clock {
            Clock::Cpu => sample.cpu,
            Clock::Wall => sample.wall,
        };
        self.samples.iter().map(|sample| time(sample).as_secs_f64() / self.iterations as f64).collect()
    }

    fn figures(self, clock: Clock, meter: Option<&PowerMeter>) -> Taken {
        let seconds = self.seconds(clock);
        if let Some(error) = self.failed {
            return Err(error);
        }
        let per_iteration = |value: f64| value / self.iterations as f64;
        let counted = |count: fn(&CounterReadings) -> f64| {
            let values: Option<Vec<f64>> = self
                .samples
                .iter()
                .map(|sample| sample.counts.as_ref().map(count).map(per_iteration))
                .collect();
            values.and_then(|values| median(&values))
        };
        Ok(Figures {
            seconds,
            clock,
            amount: 1.0,
            unit: String::new(),
            answer: None,
            cycles: counted(|counts| counts.cycles),
            instructions: counted(|counts| counts.instructions),
            phases: phases(&self.samples, self.iterations),
            peak_memory: self.subject.peak_memory(),
            bytes_out: None,
            watts: meter.and_then(|meter| watts(meter, &self.marks)),
        })
    }
}

/// The mean power during the samples.
fn watts(meter: &PowerMeter, marks: &[(MeterMark, MeterMark)]) -> Option<f64> {
    let joules: Option<f64> = marks.iter().map(|(from, to)| meter.joules(from, to)).sum();
    let seconds: f64 = marks.iter().map(|(from, to)| from.seconds_to(to)).sum();
    joules.map(|joules| joules / seconds).filter(|watts| watts.is_finite())
}

/// Medians of the phases' times per iteration, in the order of the first sample.
pub fn phases(samples: &[Sample], iterations: u64) -> Vec<PhaseTime> {
    let Some(first) = samples.first() else { return Vec::new() };
    let medians = first.phases.iter().filter_map(|phase| {
        let times =
            samples.iter().filter_map(|sample| sample.phases.iter().find(|other| other.name == phase.name));
        let times: Vec<f64> = times.map(|phase| phase.seconds / iterations as f64).collect();
        median(&times).map(|seconds| PhaseTime { name: phase.name.clone(), seconds })
    });
    medians.collect()
}

/// One of Proofmill's own workloads, on its own thread pool.
pub struct InProcess {
    name: String,
    workload: Box<dyn PreparedWorkload>,
    pool: Arc<ThreadPool>,
    counters: Option<Rc<RefCell<Counters>>>,
    resident_before: Option<u64>,
    peak_memory: Option<u64>,
}

impl InProcess {
    /// Prepares a workload; `name` is for error messages.
    ///
    /// # Errors
    /// The error of `prepare`.
    pub fn prepare(
        name: String,
        pool: Arc<ThreadPool>,
        counters: Option<Rc<RefCell<Counters>>>,
        prepare: impl FnOnce() -> Result<Box<dyn PreparedWorkload>, String> + Send,
    ) -> Result<Self, BenchError> {
        let resident_before = process_memory::resident();
        match pool.install(prepare) {
            Ok(workload) => Ok(Self { name, workload, pool, counters, resident_before, peak_memory: None }),
            Err(problem) => Err(BenchError::Workload { name, problem }),
        }
    }

    /// Runs once, as a warm-up, and returns the digest of the output.
    ///
    /// # Errors
    /// A workload that cannot run.
    pub fn answer(&mut self) -> Result<String, BenchError> {
        process_memory::forget_peak();
        let Self { workload, pool, .. } = self;
        let result = pool.install(|| workload.run(&mut |_| ()));
        self.peak_memory = process_memory::peak()
            .zip(self.resident_before)
            .map(|(peak, before)| peak.saturating_sub(before));
        result.map_err(|problem| self.failed(problem))?;
        Ok(digest(&self.workload.output()))
    }

    fn failed(&self, problem: String) -> BenchError {
        BenchError::Workload { name: self.name.clone(), problem }
    }
}

impl Sampled for InProcess {
    fn run(&mut self, iterations: u64) -> Result<Sample, BenchError> {
        let Self { workload, pool, .. } = self;
        let mut counters = self.counters.as_ref().map(|counters| counters.borrow_mut());
        let before = counters.as_mut().and_then(|counters| counters.read());
        let result = pool.install(|| sample(iterations, |begin| workload.run(begin)));
        let after = counters.as_mut().and_then(|counters| counters.read());
        drop(counters);
        let mut sample = result.map_err(|problem| self.failed(problem))?;
        sample.counts = after.zip(before).map(|(after, before)| after - before);
        Ok(sample)
    }

    fn peak_memory(&self) -> Option<u64> {
        self.peak_memory
    }
}

/// Times `iterations` iterations of `work`, which calls its argument with a phase's name when the phase
/// begins.
///
/// # Errors
/// The error of `work`.
pub fn sample<E>(
    iterations: u64,
    mut work: impl FnMut(&mut dyn FnMut(&'static str)) -> Result<(), E>,
) -> Result<Sample, E> {
    let mut phases = PhaseTimes::default();
    let (cpu, wall) = (ProcessTime::now(), Instant::now());
    for _ in 0..iterations {
        work(&mut |name| phases.begin(name))?;
    }
    phases.end();
    Ok(Sample { wall: wall.elapsed(), cpu: cpu.elapsed(), counts: None, phases: phases.done })
}

/// The digest of an output, by which answers are compared: the first 16 hexadecimal digits of SHA-256.
pub fn digest(output: &[u8]) -> String {
    hex::encode(&proofmill_sha256::digest(output)[..8])
}

/// Sums of wall time by phase.
#[derive(Default)]
struct PhaseTimes {
    running: Option<(&'static str, Instant)>,
    done: Vec<PhaseTime>,
}

impl PhaseTimes {
    fn begin(&mut self, name: &'static str) {
        self.end();
        self.running = Some((name, Instant::now()));
    }

    fn end(&mut self) {
        let Some((name, since)) = self.running.take() else { return };
        let seconds = since.elapsed().as_secs_f64();
        match self.done.iter_mut().find(|phase| phase.name == name) {
            Some(phase) => phase.seconds += seconds,
            None => self.done.push(PhaseTime { name: name.to_owned(), seconds }),
        }
    }
}

#[cfg(test)]
mod tests;
