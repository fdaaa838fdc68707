//! Runs groups of rows: prepares every implementation, checks its answer, then takes samples in alternation.

use crate::{
    BenchError,
    catalogue::Catalogue,
    counters::Counters,
    machine,
    noise::NoiseWatch,
    peers::{Assignment, Build, Peer, Peers, Runner, RunnerLimits},
    plan::RowGroup,
    power::PowerMeter,
    record::{self, Clock, Figures, Measurement, RowKey, RowOutcome},
    sampler::{self, Effort, InProcess, Sample, Sampled},
};
use jiff::Timestamp;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{
    cell::RefCell,
    collections::HashMap,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

/// Receives the progress and the measurements of a run.
pub trait RunObserver {
    /// A group begins: number `position` of `of`, from 0. `left` is an estimate of the run's remaining time.
    fn group(&mut self, group: &RowGroup, position: usize, of: usize, left: Option<Duration>);

    /// The finished share of the group's sampling, from 0 to 1.
    fn progress(&mut self, share: f64);

    /// A row is finished.
    ///
    /// # Errors
    /// A measurement that cannot be stored; the error ends the run.
    fn measured(&mut self, measurement: Measurement) -> Result<(), BenchError>;
}

/// Checks only, or measurements.
#[derive(Clone, Copy, Debug)]
pub enum Mode {
    /// Every implementation runs once, and its answer is compared.
    Check,
    /// As [`Mode::Check`], followed by measurements.
    Measure(Effort),
}

/// The shared state of a run.
pub struct Suite<'a> {
    catalogue: &'a dyn Catalogue,
    mode: Mode,
    counters: Result<Rc<RefCell<Counters>>, String>,
    pools: HashMap<u32, Arc<ThreadPool>>,
    meter: Option<&'a PowerMeter>,
    peers: Option<&'a Peers>,
    /// Results of building the peers' runners, by name.
    built: HashMap<String, Result<Build, String>>,
    /// Observes the disturbances of the run.
    pub noise: NoiseWatch,
}

/// An implementation whose answer is right.
struct Entrant {
    implementation: String,
    version: Option<String>,
    answer: String,
    subject: Box<dyn Sampled>,
}

/// An implementation with its outcome.
struct Ended {
    implementation: String,
    version: Option<String>,
    outcome: RowOutcome,
}

impl<'a> Suite<'a> {
    /// Opens the counters and starts observing noise. Thread pools that are measured must be created later.
    pub fn new(
        catalogue: &'a dyn Catalogue,
        mode: Mode,
        meter: Option<&'a PowerMeter>,
        peers: Option<&'a Peers>,
    ) -> Self {
        let counters = Counters::new().map(|counters| Rc::new(RefCell::new(counters)));
        let (pools, built, noise) = (HashMap::new(), HashMap::new(), NoiseWatch::new());
        Self { catalogue, mode, counters, pools, meter, peers, built, noise }
    }

    /// The reason why there are no cycles and instructions; `None` if there are.
    pub fn without_counters(&self) -> Option<&str> {
        self.counters.as_ref().err().map(String::as_str)
    }

    /// Runs all groups. Rows that fail have that as their outcome and do not end the run.
    ///
    /// # Errors
    /// Threads that cannot be started, and errors of `observer`.
    pub fn run(&mut self, groups: &[RowGroup], observer: &mut dyn RunObserver) -> Result<(), BenchError> {
        let began = Instant::now();
        for (position, group) in groups.iter().enumerate() {
            let left = (position > 0).then(|| {
                let rows = |groups: &[RowGroup]| groups.iter().map(|group| group.levels.len()).sum::<usize>();
                let per_row = began.elapsed().as_secs_f64() / rows(&groups[..position]).max(1) as f64;
                Duration::from_secs_f64(per_row * rows(&groups[position..]) as f64)
            });
            observer.group(group, position, groups.len(), left);
            self.group(group, observer)?;
        }
        Ok(())
    }

    fn group(&mut self, group: &RowGroup, observer: &mut dyn RunObserver) -> Result<(), BenchError> {
        self.catalogue.forget();
        if let Mode::Measure(_) = self.mode {
            self.noise.frequency(machine::busy_hertz());
        }
        let pool = self.pool(group.threads)?;
        let mut answer = group.answer().map(str::to_owned);
        let (mut entrants, mut ended) = (Vec::new(), Vec::new());
        for level in &group.levels {
            match self.level(group, *level, &pool, &mut answer) {
                Ok(entrant) => entrants.push(entrant),
                Err(error) => ended.push(Ended::failed(level.name(), &error)),
            }
        }
        let kernel = group.kernel();
        for peer in self.peers.into_iter().flat_map(|peers| peers.of(&kernel, group.threads)) {
            match self.peer(group, peer, answer.as_deref()) {
                Ok(entrant) => entrants.push(entrant),
                Err(outcome) => {
                    let implementation = peer.name.clone();
                    ended.push(Ended { implementation, version: None, outcome: *outcome });
                }
            }
        }
        let outcomes = match self.mode {
            Mode::Check => {
                let answers = entrants.iter().map(|entrant| entrant.answer.clone());
                answers.map(|answer| RowOutcome::Checked { answer }).collect()
            }
            Mode::Measure(effort) => self.measure(group, &mut entrants, effort, observer),
        };
        let measured = entrants.into_iter().zip(outcomes).map(|(entrant, outcome)| {
            let Entrant { implementation, version, .. } = entrant;
            Ended { implementation, version, outcome }
        });
        for Ended { implementation, version, outcome } in measured.chain(ended) {
            let row = RowKey {
                suite: group.family.suite,
                family: group.family.name.clone(),
                benchmark: group.benchmark.name.clone(),
                size: Some(group.size.0),
                implementation,
                threads: group.threads,
            };
            observer.measured(Measurement { row, version, ended: Timestamp::now(), outcome })?;
        }
        Ok(())
    }

    /// Prepares one of Proofmill's levels and checks its answer. If the definition has no answer, the first
    /// one found is expected from the others.
    fn level(
        &self,
        group: &RowGroup,
        level: proofmill_cpu::Level,
        pool: &Arc<ThreadPool>,
        answer: &mut Option<String>,
    ) -> Result<Entrant, BenchError> {
        let (catalogue, kernel, size) = (self.catalogue, group.kernel(), group.size.0);
        if group.family.suite == record::Suite::Prover {
            // The input is freed, so that each level's memory is measured separately.
            catalogue.forget();
        }
        let counters = self.counters.as_ref().ok().cloned();
        let name = format!("{} at {level}", group.name());
        let prepare = || catalogue.prepare(&kernel, size, level);
        let mut subject = InProcess::prepare(name, pool.clone(), counters, prepare)?;
        let found = subject.answer()?;
        let expected = answer.get_or_insert_with(|| found.clone());
        if *expected != found {
            let (expected, benchmark) = (expected.clone(), group.name());
            return Err(BenchError::Answer {
                benchmark,
                implementation: level.name().to_owned(),
                expected,
                found,
            });
        }
        let (implementation, subject) = (level.name().to_owned(), Box::new(subject));
        Ok(Entrant { implementation, version: None, answer: found, subject })
    }

    /// Builds a peer's runner if that has not been done, starts it and checks its answer.
    fn peer(
        &mut self,
        group: &RowGroup,
        peer: &Peer,
        answer: Option<&str>,
    ) -> Result<Entrant, Box<RowOutcome>> {
        let failed = |reason: String| Box::new(RowOutcome::Failed { reason });
        let build = || peer.build().map_err(|error| error.to_string());
        match self.built.entry(peer.name.clone()).or_insert_with(build) {
            Ok(Build::Done) => {}
            Ok(Build::Absent { remedy }) => {
                return Err(Box::new(RowOutcome::Absent { remedy: remedy.clone() }));
            }
            Err(reason) => return Err(failed(reason.clone())),
        }
        let (kernel, size) = (group.kernel(), group.size.0);
        let input = self.catalogue.input(&kernel, size).map_err(failed)?;
        let assignment = Assignment { kernel: &kernel, size, threads: group.threads, input: &input };
        let runner = Runner::start(peer, &assignment, RunnerLimits::default())
            .map_err(|error| failed(error.to_string()))?;
        let found = runner.answer().to_owned();
        if let Some(expected) = answer.filter(|expected| *expected != found) {
            let (expected, benchmark) = (expected.to_owned(), group.name());
            let error = BenchError::Answer { benchmark, implementation: peer.name.clone(), expected, found };
            return Err(failed(error.to_string()));
        }
        let version = Some(runner.version().to_owned());
        let (implementation, subject) = (peer.name.clone(), Box::new(runner));
        Ok(Entrant { implementation, version, answer: found, subject })
    }

    fn measure(
        &mut self,
        group: &RowGroup,
        entrants: &mut [Entrant],
        effort: Effort,
        observer: &mut dyn RunObserver,
    ) -> Vec<RowOutcome> {
        let clock = if group.threads == 1 { Clock::Cpu } else { Clock::Wall };
        let mut subjects: Vec<&mut dyn Sampled> =
            entrants.iter_mut().map(|entrant| &mut *entrant.subject as &mut dyn Sampled).collect();
        let taken = sampler::take(&mut subjects, effort, clock, self.meter, |share| observer.progress(share));
        let outcome = |(entrant, taken): (&Entrant, Result<Figures, BenchError>)| match taken {
            Ok(figures) => RowOutcome::Measured(Figures {
                amount: group.size.0 as f64,
                unit: group.benchmark.unit.clone(),
                answer: Some(entrant.answer.clone()),
                // Kernels share their inputs, so the memory of a single kernel is unknown.
                peak_memory: figures.peak_memory.filter(|_| group.family.suite == record::Suite::Prover),
                ..figures
            }),
            Err(error) => RowOutcome::Failed { reason: error.to_string() },
        };
        entrants.iter().zip(taken).map(outcome).collect()
    }

    /// The thread pool with `threads` threads; created when first needed.
    fn pool(&mut self, threads: u32) -> Result<Arc<ThreadPool>, BenchError> {
        if let Some(pool) = self.pools.get(&threads) {
            return Ok(pool.clone());
        }
        let pool = ThreadPoolBuilder::new().num_threads(threads as usize).build().map_err(|error| {
            BenchError::Workload { name: format!("{threads} threads"), problem: error.to_string() }
        })?;
        Ok(self.pools.entry(threads).or_insert(Arc::new(pool)).clone())
    }
}

impl Ended {
    fn failed(implementation: &str, error: &BenchError) -> Self {
        let outcome = RowOutcome::Failed { reason: error.to_string() };
        Self { implementation: implementation.to_owned(), version: None, outcome }
    }
}

impl Sampled for Runner {
    fn run(&mut self, iterations: u64) -> Result<Sample, BenchError> {
        let times = Runner::run(self, iterations)?;
        Ok(Sample { wall: times.wall, cpu: times.cpu, ..Sample::default() })
    }
}

#[cfg(test)]
mod tests;
