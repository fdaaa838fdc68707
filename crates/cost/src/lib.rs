//! What a machine costs: its price by the hour, and the energy that its CPUs use.
//!
//! * [`price`]: the price of a cloud's instance, from a table in which each figure has its source.
//! * [`power`]: the energy counters of the CPUs' packages, by RAPL.
//!
//! ```
//! let price = proofmill_cost::price::of_instance("c8g.48xlarge").expect("one of the table");
//! assert!(price.dollars_per_hour > 0.0 && price.source.contains("us-east-1"));
//! ```
#![forbid(unsafe_code)]

pub mod power;
pub mod price;
