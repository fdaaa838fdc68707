//! Questions about devices: one network in many settings, side by side.

use crate::{
    DataflowGraph, Device, PipelineError,
    graph::Reductions,
    limbs::{LANES, SignedField},
    place::Placement,
    schedule::{Compiler, NetworkKernels, balanced},
    simulate::{Pipelines, RunSettings, SimulationOutcome, Supply, at_full_rate},
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How operations are divided into nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkShape {
    /// Where elements are reduced.
    pub reductions: Reductions,
    /// Copies of the formula side by side, whose nodes can be joined with each other.
    pub copies: usize,
    /// Whether each product is divided among two nodes.
    pub split: bool,
    /// If nodes are joined: how many times as long as the slowest node a joined one may take.
    pub joined: Option<usize>,
}

impl NetworkShape {
    /// A node for each operation, as in the paper.
    pub const PAPER: Self = Self { reductions: Reductions::InNodes, copies: 1, split: false, joined: None };

    /// A formula's network.
    ///
    /// # Errors
    /// As [`DataflowGraph::reduced`], [`DataflowGraph::unrolled`] and [`balanced`].
    pub fn of(
        self,
        formula: &DataflowGraph,
        compiler: &mut Compiler<'_>,
    ) -> Result<DataflowGraph, PipelineError> {
        let mut graph = formula.reduced(compiler.field(), self.reductions)?;
        if self.copies != 1 {
            graph = graph.unrolled(self.copies)?;
        }
        if self.split {
            graph = graph.with_split_products()?;
        }
        match self.joined {
            None => Ok(graph),
            Some(times) => {
                let slowest = compiler.kernels(&graph)?.slowest();
                balanced(&graph, compiler, slowest.saturating_mul(times))
            }
        }
    }
}

impl fmt::Display for NetworkShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reductions {}", self.reductions.name())?;
        if self.copies != 1 {
            write!(f, ", {} copies", self.copies)?;
        }
        if self.split {
            write!(f, ", split products")?;
        }
        match self.joined {
            None => Ok(()),
            Some(1) => write!(f, ", joined"),
            Some(times) => write!(f, ", joined {times} times"),
        }
    }
}

/// How many windows buffers hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// As few as suffice: see [`DataflowGraph::with_least_buffers`].
    Least,
    /// Two.
    Double,
    /// As many as the slowest node needs, not to wait: see [`at_full_rate`].
    Deep,
}

impl Depth {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Least, Self::Double, Self::Deep];

    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Least => "least",
            Self::Double => "double",
            Self::Deep => "deep",
        }
    }
}

/// A network on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The device.
    pub device: Device,
    /// The network.
    pub shape: NetworkShape,
    /// Its buffers.
    pub depth: Depth,
    /// Vectors of eight elements in a call.
    pub vectors: usize,
    /// Pipelines; `None` for as many as there are tiles for.
    pub pipelines: Option<usize>,
    /// How they run.
    pub run: RunSettings,
    /// The prices of power and devices.
    pub prices: Prices,
}

/// The prices of power and devices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Years for which a device works without a pause.
    pub years: f64,
    /// Dollars for a kilowatt hour.
    pub dollars_per_kwh: f64,
}

impl Default for Prices {
    /// Assumptions: three years, 0.12 dollars.
    fn default() -> Self {
        Self { years: 3.0, dollars_per_kwh: 0.12 }
    }
}

/// A setting's network, with its kernels, places and simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// The network.
    pub graph: DataflowGraph,
    /// Its kernels.
    pub kernels: NetworkKernels,
    /// Where the pipelines are.
    pub placements: Vec<Placement>,
    /// The result of the simulation.
    pub outcome: SimulationOutcome,
}

/// The figures of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingFigures {
    /// Tiles of a pipeline.
    pub tiles: usize,
    /// Pipelines.
    pub pipelines: usize,
    /// Results a second.
    pub per_second: f64,
    /// Seconds from the first elements to the first results.
    pub latency: f64,
    /// The resource that limits the rate.
    pub limit: String,
    /// Joules for a million results, at the least and the most power.
    pub joules_per_million: [f64; 2],
    /// Dollars for a million results, if the device's price is known: for its power and its years.
    pub dollars_per_million: Option<[f64; 2]>,
}

impl Setting {
    /// Builds the network, places its pipelines, and simulates them.
    ///
    /// # Errors
    /// Pipelines for which the device has no room, and the errors of [`NetworkShape::of`] and [`Pipelines`]; a compiler for
    /// calls of another size.
    pub fn build(
        &self,
        formula: &DataflowGraph,
        compiler: &mut Compiler<'_>,
    ) -> Result<Built, PipelineError> {
        if compiler.vectors() != self.vectors {
            let (own, other) = (self.vectors, compiler.vectors());
            return Err(PipelineError::Inputs(format!("a compiler for {other} vectors, and calls of {own}")));
        }
        let graph = self.shape.of(formula, compiler)?;
        let kernels = compiler.kernels(&graph)?;
        let graph = match self.depth {
            Depth::Least => graph.with_least_buffers()?,
            Depth::Double => graph,
            Depth::Deep => at_full_rate(&graph, &kernels, &self.device, self.run.slowdown)?,
        };
        let count = self.pipelines.unwrap_or_else(|| self.device.pipelines(&graph).max(1));
        let pipelines = Pipelines::new(&graph, &kernels, &self.device, count)?;
        let outcome = pipelines.simulate(&self.run)?;
        let placements = pipelines.placements().to_vec();
        Ok(Built { graph, kernels, placements, outcome })
    }

    /// The same with another supply of elements.
    fn supplied(&self, supply: Supply) -> Self {
        Self { run: RunSettings { supply, ..self.run }, ..self.clone() }
    }
}

impl Built {
    /// The figures in the setting from which it was built.
    pub fn answer(&self, setting: &Setting) -> SettingFigures {
        let Setting { device, shape, prices, .. } = setting;
        let per_second = self.outcome.per_second * shape.copies as f64;
        let joules_per_million = device.costs.watts.map(|watts| watts * 1e6 / per_second);
        let dollars = device
            .costs
            .dollars
            .map(|dollars| dollars / (prices.years * SECONDS_OF_A_YEAR) * 1e6 / per_second);
        let power = joules_per_million.map(|joules| joules / JOULES_OF_A_KWH * prices.dollars_per_kwh);
        SettingFigures {
            tiles: self.graph.nodes.len(),
            pipelines: self.placements.len(),
            per_second,
            latency: self.outcome.latency,
            limit: self.limit(setting.run.supply),
            joules_per_million,
            dollars_per_million: dollars.map(|dollars| power.map(|power| power + dollars)),
        }
    }

    /// The resource that limits the rate: one that works nearly all the time.
    fn limit(&self, supply: Supply) -> String {
        let SimulationOutcome { link: [into, out], .. } = self.outcome;
        let link = match supply {
            Supply::Fabric => 0.0,
            // The memory has one way for both directions.
            Supply::Memory => into + out,
            Supply::Host => into.max(out),
        };
        let busiest = self.outcome.nodes.iter().max_by(|a, b| a.working.total_cmp(&b.working));
        match busiest {
            Some(stage) if stage.working > NEARLY => format!("node {}", stage.name),
            _ if link > NEARLY => "link".into(),
            Some(stage) => format!("buffers: node {} works {:.0} %", stage.name, 100.0 * stage.working),
            None => "nothing".into(),
        }
    }
}

const SECONDS_OF_A_YEAR: f64 = 365.25 * 86400.0;
const JOULES_OF_A_KWH: f64 = 3.6e6;

/// The share of the time in which a limiting resource works. It is below 1, since the first and the last calls are not at
/// the full rate.
const NEARLY: f64 = 0.9;

/// The figures of a formula's pipelines on a device, and on devices like it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exploration {
    /// The formula.
    pub formula: String,
    /// The device.
    pub device: String,
    /// A table for each thing that was changed.
    pub tables: Vec<ExplorationTable>,
}

/// Settings side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExplorationTable {
    /// The heading: the property in which the rows differ.
    pub title: String,
    /// A row for each setting.
    pub rows: Vec<ExplorationRow>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExplorationRow {
    /// The difference from the other rows, as text.
    pub label: String,
    /// The difference as a number, if it is one.
    pub number: Option<f64>,
    /// The supply of elements.
    pub supply: Supply,
    /// The figures, or why there are none.
    #[serde(flatten)]
    pub found: Found,
}

/// The figures of a setting, or the reason why there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Found {
    /// Its figures.
    Answer(SettingFigures),
    /// The setting is not possible.
    Refused {
        /// The reason.
        refused: String,
    },
}

impl Exploration {
    /// Rates by the number of pipelines, for each supply of elements.
    pub fn throughput(&self) -> [(Supply, Vec<[f64; 2]>); 3] {
        let rows = self.tables.iter().filter(|table| table.title == PIPELINES).flat_map(|table| &table.rows);
        Supply::ALL.map(|supply| {
            let rows = rows.clone().filter(|row| row.supply == supply);
            (supply, rows.filter_map(|row| Some([row.number?, row.answer()?.per_second])).collect())
        })
    }
}

impl ExplorationRow {
    /// The figures, if there are any.
    pub fn answer(&self) -> Option<&SettingFigures> {
        match &self.found {
            Found::Answer(answer) => Some(answer),
            Found::Refused { .. } => None,
        }
    }
}

const PIPELINES: &str = "pipelines";
/// Numbers of pipelines that are tried.
const MOST_COUNTS: usize = 64;

/// The formula, the setting and the devices of an exploration.
#[derive(Clone, Debug)]
pub struct ExplorationQuestion<'a> {
    /// The formula's graph.
    pub formula: &'a DataflowGraph,
    /// Its field.
    pub field: &'a SignedField,
    /// The setting that is changed, one thing at a time.
    pub base: &'a Setting,
    /// Other devices.
    pub devices: &'a [Device],
    /// A device whose parts the base's device gets one at a time: see [`Device::features`].
    pub wish: &'a Device,
}

impl ExplorationQuestion<'_> {
    /// Changes one property of the base after another.
    ///
    /// # Errors
    /// As [`NetworkShape::of`], for the base; other settings that are not possible are rows that say so.
    pub fn explore(&self) -> Result<Exploration, PipelineError> {
        let Self { formula, field, base, devices, wish } = *self;
        let mut compiler = Compiler::new(field, &base.device, base.vectors);
        let graph = base.shape.of(formula, &mut compiler)?;
        let room = base.device.pipelines(&graph);
        let most = base.pipelines.unwrap_or(room);
        if most > room {
            // Fails with the error that says how many pipelines have room.
            base.build(formula, &mut compiler)?;
        }
        let all = Setting { pipelines: None, ..base.clone() };
        let pipelines = self.pipelines(most, &mut compiler);
        let calls = self.calls();
        let shapes = self.shapes(&all, &mut compiler);
        let clocks = self.clocks(&all, &mut compiler);
        let nodes = graph.nodes.len();
        let features = base.device.features(wish);
        let features = features.iter().map(|(name, device)| self.on((*name).to_owned(), device, &all, nodes));
        let features = ExplorationTable { title: "what another chip has".into(), rows: features.collect() };
        let devices = devices.iter().map(|device| {
            // The base's device may have another price than its file.
            let device = if device.name == base.device.name { &base.device } else { device };
            self.on(device.name.clone(), device, &all, nodes)
        });
        let devices = ExplorationTable { title: "devices".into(), rows: devices.collect() };
        let tables = vec![pipelines, calls, shapes, clocks, features, devices];
        Ok(Exploration { formula: formula.name.clone(), device: base.device.name.clone(), tables })
    }

    /// Numbers of pipelines, with each supply of elements.
    fn pipelines(&self, most: usize, compiler: &mut Compiler<'_>) -> ExplorationTable {
        let counts = (1..=most).step_by(most.div_ceil(MOST_COUNTS).max(1)).flat_map(|count| {
            Supply::ALL.map(|supply| {
                let setting = Setting { pipelines: Some(count), ..self.base.supplied(supply) };
                ExplorationRow::of(count.to_string(), Some(count as f64), &setting, self.formula, compiler)
            })
        });
        ExplorationTable { title: PIPELINES.into(), rows: counts.collect() }
    }

    /// Sizes of calls, with each depth of buffers, in one pipeline.
    fn calls(&self) -> ExplorationTable {
        let one = Setting { pipelines: Some(1), ..self.base.clone() };
        let calls = [1, 2, 4, 8, 16].into_iter().flat_map(|vectors| {
            let mut compiler = Compiler::new(self.field, &self.base.device, vectors);
            Depth::ALL.map(|depth| {
                let setting = Setting { vectors, depth, ..one.clone() };
                let label = format!("{} elements, {} buffers", vectors * LANES, depth.name());
                ExplorationRow::of(
                    label,
                    Some((vectors * LANES) as f64),
                    &setting,
                    self.formula,
                    &mut compiler,
                )
            })
        });
        ExplorationTable {
            title: "elements of a call and buffers, one pipeline".into(),
            rows: calls.collect(),
        }
    }

    /// Divisions into nodes, in as many pipelines as have room.
    fn shapes(&self, all: &Setting, compiler: &mut Compiler<'_>) -> ExplorationTable {
        let shapes = [Reductions::InNodes, Reductions::WhereNeeded].into_iter().flat_map(|reductions| {
            let ways = [
                (1, false, None),
                (1, false, Some(1)),
                (2, false, Some(1)),
                (1, true, None),
                (1, true, Some(1)),
                (1, false, Some(2)),
                (1, false, Some(4)),
            ];
            ways.map(|(copies, split, joined)| NetworkShape { reductions, copies, split, joined })
        });
        let shapes = shapes.map(|shape| {
            let setting = Setting { shape, ..all.clone() };
            ExplorationRow::of(shape.to_string(), None, &setting, self.formula, compiler)
        });
        ExplorationTable {
            title: "division into nodes, as many pipelines as have room".into(),
            rows: shapes.collect(),
        }
    }

    /// Clocks of the tiles, with each supply of elements, in as many pipelines as have room.
    fn clocks(&self, all: &Setting, compiler: &mut Compiler<'_>) -> ExplorationTable {
        let clocks = [0.5, 0.75, 1.0, 1.25, 1.5].into_iter().flat_map(|factor| {
            let mut setting = all.clone();
            setting.device.tile.hertz *= factor;
            let hertz = setting.device.tile.hertz;
            Supply::ALL.map(|supply| {
                let label = format!("{:.2} GHz", hertz / 1e9);
                ExplorationRow::of(label, Some(hertz), &setting.supplied(supply), self.formula, compiler)
            })
        });
        ExplorationTable { title: "clock of the tiles".into(), rows: clocks.collect() }
    }

    /// The base's network, which has so many nodes, on a device, in as many pipelines as have room.
    fn on(&self, label: String, device: &Device, all: &Setting, nodes: usize) -> ExplorationRow {
        let mut setting = Setting { device: device.clone(), ..all.clone() };
        if device.tiles() < nodes {
            // All in one node.
            setting.shape.joined = Some(nodes);
        }
        let mut compiler = Compiler::new(self.field, device, self.base.vectors);
        ExplorationRow::of(label, None, &setting, self.formula, &mut compiler)
    }
}

impl ExplorationRow {
    fn of(
        label: String,
        number: Option<f64>,
        setting: &Setting,
        formula: &DataflowGraph,
        compiler: &mut Compiler<'_>,
    ) -> Self {
        let found = match setting.build(formula, compiler) {
            Ok(built) => Found::Answer(built.answer(setting)),
            Err(error) => Found::Refused { refused: error.to_string() },
        };
        Self { label, number, supply: setting.run.supply, found }
    }
}
