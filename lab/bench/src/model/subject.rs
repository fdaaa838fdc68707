//! A machine that does the work, from a run's measurements or from a paper.

use super::function_of;
use crate::{
    BenchError,
    record::{BenchRun, Clock, Figures, RowKey, RowOutcome},
    statistics::Summary,
};
use proofmill_cpu::{Level, Vectors};
use serde::Serialize;

/// A machine, and the time of the work on it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Subject {
    /// A run's label or a CPU.
    pub name: String,
    /// A core's frequency during the work, in hertz.
    pub hertz: f64,
    /// Length in bits of the vectors that the work uses.
    pub vector_bits: u32,
    /// The name of one of Proofmill's levels; empty for other programs.
    pub implementation: String,
    /// The counted function that does the work, if there are counts of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Lower and upper bound in the projection's unit; equal if the time is known exactly.
    pub time: [f64; 2],
    /// CPU cycles of all threads together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<f64>,
    /// Instructions of all threads together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<f64>,
    /// US dollars per hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars_per_hour: Option<f64>,
    /// Whether cycles were not counted and are time multiplied by frequency.
    pub cycles_from_time: bool,
    /// The source of the time.
    pub source: String,
}

/// Selects the row of a run.
#[derive(Clone, Debug)]
pub struct RowChoice {
    /// `family/benchmark`.
    pub work: String,
    /// The size; if `None`, the largest measured one.
    pub size: Option<u64>,
    /// Number of threads; if `None`, the greatest measured one.
    pub threads: Option<u32>,
    /// A level; if `None`, the fastest measured one.
    pub implementation: Option<String>,
    /// Whether cycles that were not counted may be replaced by time multiplied by frequency.
    pub cycles_from_time: bool,
}

impl RowChoice {
    /// The selected row of a run as a base, which needs cycles.
    ///
    /// # Errors
    /// No such row, or a row without figures that the model needs; the sentence names them and what to do.
    pub fn base(&self, run: &BenchRun) -> Result<(Subject, RowKey), BenchError> {
        let (row, figures, seconds) = self.row(run)?;
        let wrong = |problem| BenchError::Model { problem: format!("run {}: {problem}", run.label) };
        let threads = f64::from(row.threads);
        let measured = run.machine.measured_hertz;
        // On one thread, cycles divided by CPU time are the frequency. On several threads, the seconds
        // contain idle time.
        let counted = figures.cycles.filter(|_| row.threads == 1 && figures.clock == Clock::Cpu);
        let hertz = counted.map(|cycles| cycles / seconds).or(measured).ok_or_else(|| {
            wrong(
                "its frequency was neither counted nor measured: measure it again with this version"
                    .to_owned(),
            )
        })?;
        let (cycles, cycles_from_time) = match figures.cycles {
            Some(cycles) => (cycles, false),
            None if self.cycles_from_time => (seconds * threads * hertz, true),
            None => {
                return Err(wrong(format!(
                    "its cycles and instructions are missing: no hardware counters, or the kernel does not permit reading them; \
                     --cycles-from-time uses time multiplied by the measured frequency, {:.2} GHz, instead",
                    hertz / 1e9
                )));
            }
        };
        let subject =
            Subject { cycles: Some(cycles), cycles_from_time, hertz, ..subject(run, row, figures, seconds)? };
        Ok((subject, row.clone()))
    }

    /// The same work as `base` on another machine, at its fastest level. Only the time is needed.
    ///
    /// # Errors
    /// No such row.
    pub fn reference(&self, run: &BenchRun, base: &RowKey) -> Result<Subject, BenchError> {
        let choice = Self { size: base.size.or(self.size), implementation: None, ..self.clone() };
        let (row, figures, seconds) = choice.row(run)?;
        subject(run, row, figures, seconds)
    }

    /// The selected row, its figures, and its median seconds.
    fn row<'a>(&self, run: &'a BenchRun) -> Result<(&'a RowKey, &'a Figures, f64), BenchError> {
        let mut rows: Vec<_> = run
            .measurements
            .iter()
            .filter_map(|measurement| match &measurement.outcome {
                RowOutcome::Measured(figures) => {
                    let median = Summary::of(&figures.seconds)?.median;
                    (median > 0.0).then_some((&measurement.row, figures, median))
                }
                _ => None,
            })
            // Rows of peers are skipped: the model is about Proofmill.
            .filter(|(row, ..)| Level::vectors_of(&row.implementation).is_some())
            .filter(|(row, ..)| format!("{}/{}", row.family, row.benchmark) == self.work)
            .filter(|(row, ..)| self.size.is_none() || row.size == self.size)
            .filter(|(row, ..)| self.threads.is_none_or(|threads| row.threads == threads))
            .filter(|(row, ..)| self.implementation.as_ref().is_none_or(|name| row.implementation == *name))
            .collect();
        let largest = rows.iter().map(|(row, ..)| row.size).max().flatten();
        rows.retain(|(row, ..)| row.size == largest);
        let threads = rows.iter().map(|(row, ..)| row.threads).max();
        rows.retain(|(row, ..)| Some(row.threads) == threads);
        rows.into_iter().min_by(|(.., a), (.., b)| a.total_cmp(b)).ok_or_else(|| BenchError::Model {
            problem: format!("run {}: expected measurements of {self}, found none", run.label),
        })
    }
}

impl std::fmt::Display for RowChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.work)?;
        self.size.map_or(Ok(()), |size| write!(f, " of {size}"))?;
        self.threads.map_or(Ok(()), |threads| write!(f, " on {threads} threads"))?;
        self.implementation.as_ref().map_or(Ok(()), |level| write!(f, " at {level}"))
    }
}

impl Subject {
    /// Remarks for the reader.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.cycles_from_time {
            notes.push(format!(
                "{}: cycles were not counted; they are taken as time by measured frequency.",
                self.name
            ));
        }
        if self.time[0] != self.time[1] {
            notes.push(format!(
                "{}: its time is known to lie between {} and {} ({}).",
                self.name, self.time[0], self.time[1], self.source
            ));
        }
        notes
    }
}

fn subject(run: &BenchRun, row: &RowKey, figures: &Figures, seconds: f64) -> Result<Subject, BenchError> {
    let own = Level::vectors_of(&row.implementation).unwrap_or(Vectors::Bits(64));
    let vector_bits = match own {
        Vectors::Bits(bits) => bits,
        Vectors::OfCpu => run.machine.vector_bits.ok_or_else(|| BenchError::Model {
            problem: format!("run {}: the length of its SVE vectors is missing: measure it again", run.label),
        })?,
    };
    Ok(Subject {
        name: format!("{}, {}", run.label, row.implementation),
        hertz: run.machine.measured_hertz.unwrap_or_default(),
        vector_bits,
        implementation: row.implementation.clone(),
        function: function_of(&row.family, &row.benchmark),
        time: [seconds; 2],
        cycles: figures.cycles,
        instructions: figures.instructions,
        dollars_per_hour: run.price.as_ref().map(|price| price.dollars_per_hour),
        cycles_from_time: false,
        source: format!("run {}", run.id),
    })
}
