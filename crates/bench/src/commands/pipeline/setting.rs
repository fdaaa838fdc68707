//! The network and the device of a command.

use super::failure;
use clap::{Args, ValueEnum};
use proofmill_bench::definition::Size;
use proofmill_console::Failure;
use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    Device, Graph,
    explore::{Depth, Prices, Setting, Shape},
    formulas,
    graph::Reductions,
    limbs::{LANES, SignedField},
    simulate::{Run, Supply},
};
use std::{fs, path::Path};

/// What is run.
#[derive(Args, Debug)]
pub(super) struct FormulaArguments {
    /// A formula, or a file of a graph in JSON: over the coordinates of BN254, or the field of the formula whose name it has
    #[arg(value_name = "FORMULA", default_value = "xyzz-plus-affine")]
    pub(super) formula: String,
}

impl FormulaArguments {
    /// The formula's graph and field.
    pub(super) fn read(&self) -> Result<(Graph, SignedField), Failure> {
        let name = &self.formula;
        if let (Some(graph), Some(field)) = (formulas::graph(name), formulas::field(name)) {
            return Ok((graph, field));
        }
        if Path::new(name).extension().is_none_or(|ending| ending != "json") {
            let known = formulas::NAMES.join(", ");
            return Err(Failure::Input(format!(
                "{name} is not a formula ({known}), nor a file of a graph, whose name ends in .json"
            )));
        }
        let text = fs::read_to_string(name).map_err(|error| Failure::io(Path::new(name), error))?;
        let graph: Graph =
            serde_json::from_str(&text).map_err(|error| Failure::Input(format!("{name}: {error}")))?;
        graph.order().map_err(|error| Failure::Input(format!("{name}: {error}")))?;
        let field = formulas::field(&graph.name).map_or_else(SignedField::of::<Fq>, Ok).map_err(failure)?;
        Ok((graph, field))
    }
}

/// Where it runs, and how.
#[derive(Args, Debug)]
pub(super) struct SettingArguments {
    /// Pipelines side by side [default: as many as there are tiles for]
    #[arg(long, value_name = "COUNT")]
    pipelines: Option<usize>,
    /// Elements of a call, a multiple of 8; with many of them, the buffers of joined nodes and deep ones have no room
    #[arg(long, value_name = "COUNT", default_value = "64")]
    elements: usize,
    /// Where elements are reduced
    #[arg(long, value_enum, default_value_t = ReductionChoice::InNodes)]
    reductions: ReductionChoice,
    /// Put copies of the formula side by side, whose nodes can be joined with each other
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    copies: usize,
    /// Divide each product among two nodes
    #[arg(long)]
    split: bool,
    /// Join nodes as long as they take no longer than so many times the slowest one
    #[arg(long, value_name = "TIMES", num_args = 0..=1, default_missing_value = "1", require_equals = true)]
    join: Option<usize>,
    /// How many windows buffers hold
    #[arg(long, value_enum, default_value_t = DepthChoice::Double)]
    buffers: DepthChoice,
    /// Where elements come from, and where results go
    #[arg(long, value_enum, default_value_t = SupplyChoice::Fabric)]
    from: SupplyChoice,
    /// How many times as long as their schedules kernels take
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    slowdown: f64,
    /// The price of the device in dollars [default: that of its file, if it has one]
    #[arg(long, value_name = "DOLLARS")]
    price: Option<f64>,
    /// Years for which the device works without a pause
    #[arg(long, value_name = "YEARS", default_value_t = 3.0)]
    years: f64,
    /// The price of a kilowatt hour
    #[arg(long, value_name = "DOLLARS", default_value_t = 0.12)]
    dollars_per_kwh: f64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ReductionChoice {
    /// In every node of sums and differences
    InNodes,
    /// In nodes of their own, where an element could become too large
    WhereNeeded,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DepthChoice {
    /// As few as suffice
    Least,
    /// Two
    Double,
    /// As many as the slowest node needs, not to wait
    Deep,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SupplyChoice {
    /// The logic around the grid
    Fabric,
    /// The card's memory
    Memory,
    /// The host
    Host,
}

impl SettingArguments {
    /// The setting on a device.
    pub(super) fn on(&self, mut device: Device) -> Result<Setting, Failure> {
        let Self { elements, pipelines, copies, split, join, slowdown, years, dollars_per_kwh, .. } = *self;
        for (name, number) in [
            ("--price", self.price.unwrap_or(1.0)),
            ("--years", years),
            ("--dollars-per-kwh", dollars_per_kwh),
        ] {
            if !(number > 0.0 && number <= 1e12) {
                return Err(Failure::Input(format!(
                    "{name} {number}: expected a positive number up to 10^12"
                )));
            }
        }
        device.costs.dollars = self.price.or(device.costs.dollars);
        if elements == 0 || !elements.is_multiple_of(LANES) {
            return Err(Failure::Input(format!(
                "--elements {elements}: expected a multiple of {LANES}, the lanes of a vector"
            )));
        }
        if join == Some(0) {
            return Err(Failure::Input("--join 0: expected at least 1".to_owned()));
        }
        let reductions = match self.reductions {
            ReductionChoice::InNodes => Reductions::InNodes,
            ReductionChoice::WhereNeeded => Reductions::WhereNeeded,
        };
        let depth = match self.buffers {
            DepthChoice::Least => Depth::Least,
            DepthChoice::Double => Depth::Double,
            DepthChoice::Deep => Depth::Deep,
        };
        let supply = match self.from {
            SupplyChoice::Fabric => Supply::Fabric,
            SupplyChoice::Memory => Supply::Memory,
            SupplyChoice::Host => Supply::Host,
        };
        Ok(Setting {
            device,
            shape: Shape { reductions, copies, split, joined: join },
            depth,
            vectors: elements / LANES,
            pipelines,
            run: Run { supply, slowdown, ..Run::default() },
            prices: Prices { years, dollars_per_kwh },
        })
    }
}

/// A device by its name, or of a file.
pub(super) fn device(name: &str) -> Result<Device, Failure> {
    if let Some(device) = Device::committed(name) {
        return Ok(device);
    }
    if Path::new(name).extension().is_none_or(|ending| ending != "toml") {
        let known: Vec<_> = Device::COMMITTED.iter().map(|(name, _)| *name).collect();
        return Err(Failure::Input(format!(
            "{name} is not a device ({}), nor a file of one, whose name ends in .toml",
            known.join(", ")
        )));
    }
    let text = fs::read_to_string(name).map_err(|error| Failure::io(Path::new(name), error))?;
    Device::parse(&text).map_err(|error| Failure::Input(format!("{name}: {error}")))
}

/// A number of elements or points.
pub(super) fn count(size: Size) -> Result<usize, Failure> {
    match usize::try_from(size.0) {
        Ok(count) if (1..=MOST).contains(&count) => Ok(count),
        _ => Err(Failure::Input(format!("{size}: expected 1 to 2^24"))),
    }
}

/// More would need several GiB.
const MOST: usize = 1 << 24;
