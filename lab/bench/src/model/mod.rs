//! Predicts a machine's time, power and cost at another frequency and with longer vectors.
//!
//! The model of section 5 of D. Loghin and others, "On the Performance of Cloud-based ARM SVE for
//! Zero-Knowledge Proving Systems" (arXiv:2506.09505), equations 5 to 9; `docs/model.md` describes it in
//! words. For work that takes I instructions, C cycles and the time t = C / f (5):
//!
//! * At s times the frequency, I and C stay the same, and the time is t / s.
//! * With vectors v times as long, I becomes r I, where r is counted under QEMU, and C becomes r C: cycles
//!   per instruction stay the same.
//! * The CPU's power is (1 - d) + d (6). Its dynamic part d grows by g = s v: (1 - d) + d g (7). The CPU
//!   takes the share c of the server's power: 1 + c d (g - 1) (8). Power is the share e of a data centre's
//!   cost: 1 + e c d (g - 1) (9).
//!
//! These are predictions, not measurements. A [`Projection`] lists every assumption with its value and
//! source.

mod assumptions;
mod counts;
mod paper;
mod subject;

pub use assumptions::{Assumption, Assumptions};
pub use counts::{InstructionCounts, function_of};
pub use paper::paper;
pub use subject::{RowChoice, Subject};

use crate::{BenchError, record::BenchRun};
use serde::Serialize;

/// Default lengths of vectors in bits: those for which instructions were counted.
const COUNTED_BITS: [u32; 3] = [128, 256, 512];

/// Predicts the work of one run's machine with other frequencies and vectors, and compares it with machines
/// of other runs that did the same work. If the question has no frequencies, those of the references are
/// used; if it has no lengths of vectors, those with counts.
///
/// # Errors
/// Runs without the work or without figures that the model needs, and the errors of [`Projection::new`].
pub fn of_runs(
    base: &BenchRun,
    references: &[BenchRun],
    choice: &RowChoice,
    question: &ModelQuestion,
) -> Result<Projection, BenchError> {
    let (subject, row) = choice.base(base)?;
    let references =
        references.iter().map(|run| choice.reference(run, &row)).collect::<Result<Vec<_>, _>>()?;
    let mut question = question.clone();
    if question.hertz.is_empty() {
        question.hertz =
            references.iter().map(|reference| reference.hertz).filter(|hertz| *hertz > 0.0).collect();
    }
    if question.vector_bits.is_empty() {
        let counted = |bits: &u32| question.instruction_ratio(&subject, *bits).is_ok();
        question.vector_bits = COUNTED_BITS.into_iter().filter(counted).collect();
    }
    let size = row.size.map_or_else(String::new, |size| format!(" of {size}"));
    let threads = if row.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", row.threads) };
    let title = format!("{}/{}{size}, {threads}", row.family, row.benchmark);
    Projection::new([&title, &base.label, "seconds"], vec![subject], references, &question)
}

/// The frequencies and lengths of vectors to predict, and the assumptions.
#[derive(Clone, Debug, Default)]
pub struct ModelQuestion {
    /// Frequencies in hertz, in addition to each base's own.
    pub hertz: Vec<f64>,
    /// Lengths of vectors in bits, in addition to each base's own.
    pub vector_bits: Vec<u32>,
    /// Pairs of a length of vectors in bits and the instructions at that length as a share of the base's;
    /// used instead of the counts.
    pub instruction_ratios: Vec<(u32, f64)>,
    /// The assumptions.
    pub assumptions: Assumptions,
}

/// The model's predictions, from which tables and charts are made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Projection {
    /// The work, with its size and number of threads.
    pub title: String,
    /// The source of the inputs: a run's label or a paper.
    pub source: String,
    /// The unit of times: `seconds`, or a reference time.
    pub unit: String,
    /// The assumptions.
    pub assumptions: Vec<Assumption>,
    /// The measured machines that predictions start from.
    pub bases: Vec<Subject>,
    /// Machines to compare with.
    pub references: Vec<Subject>,
    /// Predictions by base, length of vectors and frequency; each base's measured state is among them.
    pub scenarios: Vec<Scenario>,
    /// Remarks for the reader, one sentence each.
    pub notes: Vec<String>,
}

/// A base at another frequency or length of vectors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scenario {
    /// Index into the bases.
    pub base: usize,
    /// Frequency in hertz.
    pub hertz: f64,
    /// Length of vectors in bits.
    pub vector_bits: u32,
    /// Instructions as a share of the base's: r.
    pub instruction_ratio: f64,
    /// Time in the projection's unit.
    pub time: f64,
    /// The base's time divided by this one.
    pub speedup: f64,
    /// Dynamic power of the CPU as a multiple of the base's: g.
    pub dynamic_power: f64,
    /// Power of the CPU as a multiple of the base's: equation 7.
    pub cpu_power: f64,
    /// Power of the server as a multiple of the base's: equation 8.
    pub server_power: f64,
    /// Energy of the work as a multiple of the base's: power multiplied by time.
    pub energy: f64,
    /// Total cost of ownership as a multiple of the base's, for each share of power in it: equation 9.
    pub cost: Vec<f64>,
    /// Comparison with each reference.
    pub against: Vec<Against>,
}

/// A scenario compared with a reference. Pairs are bounds; they are equal if the reference's time is known
/// exactly.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Against {
    /// The reference's time divided by the scenario's: above 1, the scenario is faster.
    pub faster: [f64; 2],
    /// Dollars for the work as a share of the reference's, at the highest of the costs, if both prices are
    /// known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars: Option<[f64; 2]>,
}

impl Projection {
    /// Applies the model.
    ///
    /// # Errors
    /// Numbers out of bounds, and lengths of vectors for which there is no count of instructions.
    pub fn new(
        [title, source, unit]: [&str; 3],
        bases: Vec<Subject>,
        references: Vec<Subject>,
        question: &ModelQuestion,
    ) -> Result<Self, BenchError> {
        question.check()?;
        let mut scenarios = Vec::new();
        for (index, base) in bases.iter().enumerate() {
            for bits in with(base.vector_bits, &question.vector_bits) {
                let ratio = question.instruction_ratio(base, bits)?;
                for hertz in with(base.hertz, &question.hertz) {
                    scenarios.push(question.scenario((index, base), &references, (hertz, bits, ratio)));
                }
            }
        }
        let notes = bases.iter().chain(&references).flat_map(|subject| subject.notes()).collect();
        Ok(Self {
            title: title.to_owned(),
            source: source.to_owned(),
            unit: unit.to_owned(),
            assumptions: question.assumptions.list(),
            bases,
            references,
            scenarios,
            notes,
        })
    }
}

impl ModelQuestion {
    fn check(&self) -> Result<(), BenchError> {
        let wrong = |problem| Err(BenchError::Model { problem });
        if let Some(hertz) = self.hertz.iter().find(|hertz| !(1e6..=1e12).contains(*hertz)) {
            return wrong(format!("expected frequencies of 0.001 to 1000 GHz, found {}", hertz / 1e9));
        }
        if let Some((_, ratio)) = self.instruction_ratios.iter().find(|(_, r)| !(*r > 0.0 && *r <= 100.0)) {
            return wrong(format!("expected shares of the base's instructions above 0, found {ratio}"));
        }
        self.assumptions.check()
    }

    /// r: the user's value, or the counted one.
    fn instruction_ratio(&self, base: &Subject, bits: u32) -> Result<f64, BenchError> {
        if bits == base.vector_bits {
            return Ok(1.0);
        }
        if let Some((_, ratio)) = self.instruction_ratios.iter().find(|(of, _)| *of == bits) {
            return Ok(*ratio);
        }
        let counted = |function| {
            InstructionCounts::committed().ratio(function, &base.implementation, base.vector_bits, bits)
        };
        base.function.as_deref().and_then(counted).ok_or_else(|| BenchError::Model {
            problem: format!(
                "{}: instructions are counted for sve and sve2 at 128, 256 and 512 bits, not for {} at {} and {bits}: \
                 give --instruction-ratio {bits}=SHARE",
                base.name, base.implementation, base.vector_bits,
            ),
        })
    }

    fn scenario(
        &self,
        (index, base): (usize, &Subject),
        references: &[Subject],
        (hertz, bits, ratio): (f64, u32, f64),
    ) -> Scenario {
        let (frequency, length) = (hertz / base.hertz, f64::from(bits) / f64::from(base.vector_bits));
        let power = self.assumptions.power(frequency, length);
        let time_ratio = self.assumptions.time(frequency, ratio);
        let time = base.time[0] * time_ratio;
        let dearest = power.cost.iter().copied().fold(1.0, f64::max);
        let against = |reference: &Subject| {
            let faster = reference.time.map(|reference| reference / time);
            let prices = base.dollars_per_hour.zip(reference.dollars_per_hour);
            let dollars =
                prices.map(|(ours, theirs)| faster.map(|faster| ours * dearest / (theirs * faster)));
            Against { faster, dollars }
        };
        Scenario {
            base: index,
            hertz,
            vector_bits: bits,
            instruction_ratio: ratio,
            time,
            speedup: 1.0 / time_ratio,
            dynamic_power: power.dynamic,
            cpu_power: power.cpu,
            server_power: power.server,
            energy: power.server * time_ratio,
            cost: power.cost,
            against: references.iter().map(against).collect(),
        }
    }
}

/// `own` and `asked`, ascending, without duplicates.
fn with<T: Copy + PartialOrd>(own: T, asked: &[T]) -> Vec<T> {
    let mut all: Vec<T> = asked.iter().copied().filter(|value| *value != own).collect();
    all.push(own);
    all.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    all.dedup();
    all
}

#[cfg(test)]
mod tests;
