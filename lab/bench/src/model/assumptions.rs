//! The model's assumptions: each parameter by name, with its default and its source.

use crate::BenchError;
use serde::Serialize;

/// The model's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumptions {
    /// d: dynamic power as a share of the CPU's power.
    pub dynamic_share: f64,
    /// c: the CPU's power as a share of the server's.
    pub cpu_share: f64,
    /// e: the cost of power as a share of the total cost of ownership; several values for a range.
    pub power_share_of_tco: Vec<f64>,
    /// Dynamic power is proportional to frequency to this power.
    pub frequency_exponent: f64,
    /// Dynamic power is proportional to the length of vectors to this power.
    pub vector_exponent: f64,
    /// Dynamic power of every changed machine as a multiple of the base's, instead of using the exponents.
    pub dynamic_growth: Option<f64>,
    /// The share of the base's time that depends on neither frequency nor vectors: waiting for memory.
    pub fixed_share: f64,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self {
            dynamic_share: 0.5,
            cpu_share: 0.61,
            power_share_of_tco: vec![0.13],
            frequency_exponent: 1.0,
            vector_exponent: 1.0,
            dynamic_growth: None,
            fixed_share: 0.0,
        }
    }
}

/// A parameter with its value and source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assumption {
    /// Its option without dashes: `dynamic-share`.
    pub name: &'static str,
    /// Its description.
    pub meaning: &'static str,
    /// Its value; several for a range.
    pub values: Vec<f64>,
    /// `given` on the command line, or the default's source.
    pub source: &'static str,
}

const PAPER: &str = "Loghin and others, section 5";
const OURS: &str = "ours: the paper's figure is not in its public text";
const BOOK: &str = "Barroso, Hölzle, Ranganathan, The Datacenter as a Computer, 3rd edition, chapter 1: share of peak power, \
                    the book that the paper cites";
const HAMILTON: &str =
    "J. Hamilton, Overall Data Center Costs, 2010; the paper's range is not in its public text";

/// A parameter with one value, which has the source if it is the default.
fn one(
    name: &'static str,
    meaning: &'static str,
    value: f64,
    default: f64,
    source: &'static str,
) -> Assumption {
    Assumption { name, meaning, values: vec![value], source: if value == default { source } else { "given" } }
}

impl Assumptions {
    /// All parameters, in the order in which the model uses them.
    pub fn list(&self) -> Vec<Assumption> {
        let default = Self::default();
        let mut list = vec![
            one(
                "fixed-share",
                "share of the time that depends on neither frequency nor vectors",
                self.fixed_share,
                default.fixed_share,
                PAPER,
            ),
            one(
                "dynamic-share",
                "dynamic power, as a share of the CPU's",
                self.dynamic_share,
                default.dynamic_share,
                OURS,
            ),
            one(
                "cpu-share",
                "the CPU's power, as a share of the server's",
                self.cpu_share,
                default.cpu_share,
                BOOK,
            ),
            Assumption {
                name: "power-share-of-tco",
                meaning: "cost of power, as a share of the total cost of ownership",
                values: self.power_share_of_tco.clone(),
                source: if *self.power_share_of_tco == default.power_share_of_tco {
                    HAMILTON
                } else {
                    "given"
                },
            },
        ];
        list.extend(self.growth(&default));
        list
    }

    /// The parameters for the growth of dynamic power: a multiple, or both exponents.
    fn growth(&self, default: &Self) -> Vec<Assumption> {
        match self.dynamic_growth {
            Some(growth) => vec![Assumption {
                name: "dynamic-growth",
                meaning: "dynamic power of every changed machine, as a multiple of the base's",
                values: vec![growth],
                source: "given",
            }],
            None => vec![
                one(
                    "frequency-exponent",
                    "dynamic power grows as this power of the frequency",
                    self.frequency_exponent,
                    default.frequency_exponent,
                    PAPER,
                ),
                one(
                    "vector-exponent",
                    "dynamic power grows as this power of the vectors' length",
                    self.vector_exponent,
                    default.vector_exponent,
                    "ours, the most pessimistic: as if all of the CPU's dynamic power were its vectors'",
                ),
            ],
        }
    }

    pub(super) fn check(&self) -> Result<(), BenchError> {
        let wrong = |problem| Err(BenchError::Model { problem });
        let shares = [self.dynamic_share, self.cpu_share, self.fixed_share];
        if let Some(share) =
            shares.iter().chain(&self.power_share_of_tco).find(|share| !(0.0..=1.0).contains(*share))
        {
            return wrong(format!("expected shares of 0 to 1, found {share}"));
        }
        if self.power_share_of_tco.is_empty() {
            return wrong("expected a share of power in the total cost of ownership, found none".to_owned());
        }
        let exponents = [self.frequency_exponent, self.vector_exponent];
        if let Some(exponent) = exponents.iter().find(|exponent| !(0.0..=4.0).contains(*exponent)) {
            return wrong(format!("expected exponents of 0 to 4, found {exponent}"));
        }
        match self.dynamic_growth {
            Some(growth) if !(0.0..=1e3).contains(&growth) => {
                wrong(format!("expected dynamic power as a multiple of 0 to 1000, found {growth}"))
            }
            _ => Ok(()),
        }
    }

    /// The time as a share of the base's, at `frequency` times its hertz with `instructions` times its
    /// instructions.
    pub(super) fn time(&self, frequency: f64, instructions: f64) -> f64 {
        self.fixed_share + (1.0 - self.fixed_share) * instructions / frequency
    }

    /// Equations 6 to 9, at `frequency` times the base's hertz with vectors `length` times as long.
    pub(super) fn power(&self, frequency: f64, length: f64) -> RelativePower {
        let exponential = || frequency.powf(self.frequency_exponent) * length.powf(self.vector_exponent);
        let dynamic = match self.dynamic_growth {
            Some(growth) if frequency != 1.0 || length != 1.0 => growth,
            Some(_) => 1.0,
            None => exponential(),
        };
        let cpu = 1.0 - self.dynamic_share + self.dynamic_share * dynamic;
        let server = 1.0 - self.cpu_share + self.cpu_share * cpu;
        let cost = self.power_share_of_tco.iter().map(|share| 1.0 - share + share * server).collect();
        RelativePower { dynamic, cpu, server, cost }
    }
}

/// Power and cost as multiples of the base's.
pub(super) struct RelativePower {
    pub(super) dynamic: f64,
    pub(super) cpu: f64,
    pub(super) server: f64,
    /// One for each share of power in the cost.
    pub(super) cost: Vec<f64>,
}
