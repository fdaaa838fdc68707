//! The network and the device of a command.

use super::failure;
use clap::Args;
use proofmill_bench::definition::Size;
use proofmill_console::Failure;
use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    DataflowGraph, Device,
    explore::{Depth, NetworkShape, Prices, Setting},
    formulas,
    graph::Reductions,
    limbs::{LANES, SignedField},
    simulate::{RunSettings, Supply},
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
    pub(super) fn read(&self) -> Result<(DataflowGraph, SignedField), Failure> {
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
        let graph: DataflowGraph =
            serde_json::from_str(&text).map_err(|error| Failure::Input(format!("{name}: {error}")))?;
        graph.order().map_err(|error| Failure::Input(format!("{name}: {error}")))?;
        let field = formulas::field(&graph.name).map_or_else(SignedField::of::<Fq>, Ok).map_err(failure)?;
        Ok((graph, field))
    }
}

/// Where it runs.
#[derive(Args, Debug)]
pub(super) struct DeviceArguments {
    /// A device's name, or a file of one
    #[arg(long = "device", value_name = "DEVICE", default_value = "vck5000")]
    pub(super) name: String,
}

impl DeviceArguments {
    /// The device.
    pub(super) fn read(&self) -> Result<Device, Failure> {
        device(&self.name)
    }
}

/// How it runs.
#[derive(Args, Debug)]
pub(super) struct SettingArguments {
    /// Pipelines side by side [default: as many as there are tiles for]
    #[arg(long, value_name = "COUNT")]
    pipelines: Option<usize>,
    /// Elements of a call, a multiple of 8; with many of them, the buffers of joined nodes and deep ones have no room
    #[arg(long, value_name = "COUNT", default_value = "64")]
    elements: usize,
    /// Where elements are reduced: in-nodes (every node of sums and differences does it), or where-needed (nodes of their own, where
    /// an element could become too large)
    #[arg(long, value_name = "WHERE", value_parser = reductions, default_value = "in-nodes")]
    reductions: Reductions,
    /// Divide each product among two nodes
    #[arg(long)]
    split: bool,
    /// Join nodes as long as they take no longer than so many times the slowest one
    #[arg(long, value_name = "TIMES", num_args = 0..=1, default_missing_value = "1", require_equals = true)]
    join: Option<usize>,
    /// How many windows buffers hold: least (as few as suffice), double, or deep (as many as the slowest node needs, not to wait)
    #[arg(long, value_name = "DEPTH", value_parser = depth, default_value = "double")]
    buffers: Depth,
    /// Where elements come from, and where results go: fabric (the logic around the grid), memory (the card's), or host
    #[arg(long, value_name = "WHERE", value_parser = supply, default_value = "fabric")]
    from: Supply,
    /// How many times as long as their schedules kernels take
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    slowdown: f64,
}

/// What costs are reckoned with, and copies.
#[derive(Args, Debug)]
pub(super) struct MoreArguments {
    /// Put copies of the formula side by side, whose nodes can be joined with each other
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    copies: usize,
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

/// One of the library's values, by its name.
fn named<T: Copy>(all: &[T], name: fn(T) -> &'static str, text: &str) -> Result<T, String> {
    let found = all.iter().find(|value| name(**value) == text).copied();
    found.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|value| name(*value)).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn reductions(text: &str) -> Result<Reductions, String> {
    named(&Reductions::ALL, Reductions::name, text)
}

fn depth(text: &str) -> Result<Depth, String> {
    named(&Depth::ALL, Depth::name, text)
}

fn supply(text: &str) -> Result<Supply, String> {
    named(&Supply::ALL, Supply::name, text)
}

impl SettingArguments {
    /// The setting on a device.
    pub(super) fn on(&self, device: Device) -> Result<Setting, Failure> {
        let Self { elements, pipelines, reductions, split, join, buffers, from, slowdown } = *self;
        if elements == 0 || !elements.is_multiple_of(LANES) {
            return Err(Failure::Input(format!(
                "--elements {elements}: expected a multiple of {LANES}, the lanes of a vector"
            )));
        }
        if !join.is_none_or(|times| (1..=MOST_TIMES).contains(&times)) {
            return Err(Failure::Input(format!(
                "--join={}: expected 1 to {MOST_TIMES}",
                join.unwrap_or_default()
            )));
        }
        Ok(Setting {
            device,
            shape: NetworkShape { reductions, copies: 1, split, joined: join },
            depth: buffers,
            vectors: elements / LANES,
            pipelines,
            run: RunSettings { supply: from, slowdown, ..RunSettings::default() },
            prices: Prices::default(),
        })
    }
}

impl MoreArguments {
    /// A setting with copies, and with the price of its device.
    pub(super) fn add_to(&self, setting: &mut Setting) -> Result<(), Failure> {
        let Self { copies, price, years, dollars_per_kwh } = *self;
        let positive =
            [("--price", price.unwrap_or(1.0)), ("--years", years), ("--dollars-per-kwh", dollars_per_kwh)];
        for (name, number) in positive {
            if !(1e-6..=1e12).contains(&number) {
                return Err(Failure::Input(format!("{name} {number}: expected 10^-6 to 10^12")));
            }
        }
        setting.shape.copies = copies;
        setting.prices = Prices { years, dollars_per_kwh };
        setting.device.costs.dollars = price.or(setting.device.costs.dollars);
        Ok(())
    }
}

/// The most times of the slowest node: with more, all nodes have been joined already.
const MOST_TIMES: usize = 1 << 10;

/// A device by its name, or from a file.
pub(super) fn device(name: &str) -> Result<Device, Failure> {
    if let Some(device) = Device::committed(name) {
        return Ok(device);
    }
    if Path::new(name).extension().is_none_or(|ending| ending != "toml") {
        let known = known_devices();
        return Err(Failure::Input(format!(
            "{name} is not a device ({known}), nor a file of one, whose name ends in .toml"
        )));
    }
    let text = fs::read_to_string(name).map_err(|error| Failure::io(Path::new(name), error))?;
    Device::parse(&text).map_err(|error| Failure::Input(format!("{name}: {error}")))
}

/// The names of the devices that this program knows.
pub(super) fn known_devices() -> String {
    Device::COMMITTED.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// A number of elements or points.
pub(super) fn count(size: Size) -> Result<usize, Failure> {
    match usize::try_from(size.0) {
        Ok(count) if (1..=MOST).contains(&count) => Ok(count),
        _ => Err(Failure::Input(format!("{size}: expected 1 to 2^22"))),
    }
}

/// The most elements or points, which take about 4 GiB.
const MOST: usize = 1 << 22;
