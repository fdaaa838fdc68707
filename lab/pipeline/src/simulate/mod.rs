//! Pipelines on a device in time: how long a network takes, and for which resources it waits.
//!
//! Every node has a tile of its own. A call of its kernel takes the same number of cycles each time: those of its
//! [schedule](crate::schedule), of the call, and of the locks of the buffers. So a pipeline is simulated from call to call, with
//! the same result as cycle by cycle.

mod events;
mod network;

use crate::{
    DataflowGraph, Device, PipelineError,
    execute::{Arithmetic, check},
    graph::Port,
    limbs::{Bundle, SignedField},
    place::{Placement, place},
    schedule::NetworkKernels,
};
use network::Network;
use serde::{Deserialize, Serialize};

/// How a network runs on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunSettings {
    /// Where elements come from, and where results go.
    pub supply: Supply,
    /// How many times as long as their schedules kernels take.
    pub slowdown: f64,
    /// Calls of each kernel.
    pub calls: usize,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self { supply: Supply::Fabric, slowdown: 1.0, calls: 200 }
    }
}

/// Where elements come from, and where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Supply {
    /// The logic around the grid: as fast as the grid's streams.
    Fabric,
    /// The card's memory.
    Memory,
    /// The host.
    Host,
}

impl Supply {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Fabric, Self::Memory, Self::Host];

    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fabric => "fabric",
            Self::Memory => "memory",
            Self::Host => "host",
        }
    }
}

/// The result of a simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulationOutcome {
    /// Elements of each sink a second, when the pipelines are full.
    pub per_second: f64,
    /// Seconds from the first element to the first results.
    pub latency: f64,
    /// Cycles of the tiles until everything is done.
    pub cycles: u64,
    /// Bytes to and from the tiles.
    pub bytes: [u64; 2],
    /// The share of the time in which the host's link, or the card's memory, brings elements and takes results.
    pub link: [f64; 2],
    /// The nodes of the first pipeline.
    pub nodes: Vec<Stage>,
}

/// How a tile has spent its time: shares of all cycles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stage {
    /// The node.
    pub name: String,
    /// Cycles of a call.
    pub cycles: u64,
    /// The share in which it worked.
    pub working: f64,
    /// The share in which it waited for a bundle.
    pub starved: f64,
    /// The share in which it waited for room.
    pub blocked: f64,
    /// When its first calls began and ended, in cycles.
    #[serde(skip)]
    pub spans: Vec<[u64; 2]>,
}

impl SimulationOutcome {
    /// The slowest stage.
    pub fn critical(&self) -> Option<&Stage> {
        self.nodes.iter().max_by_key(|stage| stage.cycles)
    }
}

/// Pipelines of one network, placed on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipelines<'a> {
    graph: &'a DataflowGraph,
    kernels: &'a NetworkKernels,
    device: &'a Device,
    placements: Vec<Placement>,
}

impl<'a> Pipelines<'a> {
    /// Places some pipelines.
    ///
    /// # Errors
    /// As [`DataflowGraph::check_buffers`] and [`place`]; kernels of another network; no pipelines.
    pub fn new(
        graph: &'a DataflowGraph,
        kernels: &'a NetworkKernels,
        device: &'a Device,
        count: usize,
    ) -> Result<Self, PipelineError> {
        if count == 0 {
            return Err(refused(graph, device, "no pipelines: at least one is needed".into()));
        }
        Self::at(graph, kernels, device, place(graph, device, kernels, count)?)
    }

    /// Pipelines in places that [`place`] found for the same network, kernels and device.
    ///
    /// # Errors
    /// As [`new`](Self::new), and places of another network.
    pub fn at(
        graph: &'a DataflowGraph,
        kernels: &'a NetworkKernels,
        device: &'a Device,
        placements: Vec<Placement>,
    ) -> Result<Self, PipelineError> {
        graph.check_buffers()?;
        let edges = graph.edges().count();
        if placements.is_empty() || placements.iter().any(|placement| placement.routes.len() != edges) {
            return Err(refused(graph, device, "no pipelines of it are placed".into()));
        }
        Ok(Self { graph, kernels, device, placements })
    }

    /// Where each of them is.
    pub fn placements(&self) -> &[Placement] {
        &self.placements
    }

    /// Simulates some calls of each kernel.
    ///
    /// # Errors
    /// Calls that are too few or too many, a slowdown that is no positive factor, and more cycles than can be counted.
    pub fn simulate(&self, run: &RunSettings) -> Result<SimulationOutcome, PipelineError> {
        if !(2..=1 << 24).contains(&run.calls) {
            let problem = format!("{} calls: from 2 to 2^24 are possible", run.calls);
            return Err(refused(self.graph, self.device, problem));
        }
        check_slowdown(self.graph, self.device, run.slowdown)?;
        Ok(Network::new(self, run, |_| run.calls)?.simulate())
    }

    /// Simulates them with their data: [executes](crate::execute) calls in the order in which the device would begin them. The
    /// bundles of the sources are what one call reads ([`NetworkKernels::vectors`]), and are dealt out to the pipelines one by one;
    /// results come in the same order. A network with delays runs on one pipeline only. [`RunSettings::calls`] does not matter.
    ///
    /// # Errors
    /// As [`simulate`](Self::simulate) and [`run`](crate::execute::run()); bundles of another size.
    pub fn execute(
        &self,
        run: &RunSettings,
        field: &SignedField,
        arithmetic: Arithmetic,
        inputs: &[Vec<Bundle>],
    ) -> Result<(Vec<Vec<Bundle>>, SimulationOutcome), PipelineError> {
        check(self.graph, inputs)?;
        check_slowdown(self.graph, self.device, run.slowdown)?;
        if self.placements.len() > 1 && self.graph.edges().any(|(_, edge)| edge.initial > 0) {
            return Err(PipelineError::Inputs(format!(
                "{} has delays: what several pipelines would give are not the results of one; take 1 pipeline",
                self.graph.name
            )));
        }
        let bundles = inputs.first().map_or(0, Vec::len);
        let vectors = inputs.first().and_then(|bundles| bundles.first()).map(Bundle::vectors);
        if vectors != Some(self.kernels.vectors) {
            return Err(PipelineError::Inputs(format!(
                "bundles of {} vectors for calls of {}: at least one bundle of this size is needed",
                vectors.unwrap_or(0),
                self.kernels.vectors
            )));
        }
        let count = self.placements.len();
        let calls = |pipeline: usize| bundles / count + usize::from(pipeline < bundles % count);
        Network::new(self, run, calls)?.execute(field, arithmetic, inputs)
    }
}

fn check_slowdown(graph: &DataflowGraph, device: &Device, slowdown: f64) -> Result<(), PipelineError> {
    if slowdown > 0.0 && slowdown < 1e6 {
        return Ok(());
    }
    let problem = format!("kernels {slowdown} times as slow: a positive factor below 10^6 is needed");
    Err(refused(graph, device, problem))
}

fn refused(graph: &DataflowGraph, device: &Device, problem: String) -> PipelineError {
    PipelineError::Run { graph: graph.name.clone(), device: device.name.clone(), problem }
}

/// Cycles of a call of each node's kernel: those of the kernel, of the call and of the locks.
fn calls(graph: &DataflowGraph, kernels: &NetworkKernels, device: &Device, slowdown: f64) -> Vec<u64> {
    let calls = graph.nodes.iter().zip(&kernels.nodes).enumerate().map(|(index, (node, kernel))| {
        let fills = |port: Port| matches!(port, Port::Node(from, _) if from == index);
        let filled = graph.edges().filter(|(_, edge)| fills(edge.from)).count();
        let locks = (node.inputs.len() + filled) * device.tile.lock_cycles;
        let cycles = (kernel.cycles as f64 * slowdown).ceil() as u64;
        cycles.saturating_add((device.tile.call_cycles + locks) as u64)
    });
    calls.collect()
}

/// Cycles in which a stream brings the elements that a call reads from one input.
fn stream(kernels: &NetworkKernels, device: &Device) -> u64 {
    (kernels.window() as u64).div_ceil(device.streams.bytes_per_cycle as u64)
}

/// The network with buffers so deep that its slowest node never waits, if no edge is a stream. An operand that is needed late, because another one
/// comes on a longer path, is kept until then.
///
/// Every node begins its first call as early as it can, and the next ones at the pace of the slowest. A buffer is in use from the beginning of the call
/// that fills it to the end of the one that reads it.
///
/// # Errors
/// As [`DataflowGraph::order`], and a slowdown that is no positive factor.
pub fn at_full_rate(
    graph: &DataflowGraph,
    kernels: &NetworkKernels,
    device: &Device,
    slowdown: f64,
) -> Result<DataflowGraph, PipelineError> {
    let order = graph.order()?;
    check_slowdown(graph, device, slowdown)?;
    let cycles = calls(graph, kernels, device, slowdown);
    let stream = stream(kernels, device);
    let pace = cycles.iter().copied().chain([stream]).max().unwrap_or(1);
    let mut begins = vec![0; graph.nodes.len()];
    let begin = |begins: &[u64], port: Port| match port {
        Port::Source(_) => (0, stream),
        Port::Node(node, _) => (begins[node], cycles[node]),
    };
    for node in order {
        let inputs = graph.nodes[node].inputs.iter().filter(|edge| edge.initial == 0);
        let ready =
            inputs.map(|edge| begin(&begins, edge.from)).map(|(begin, cycles)| begin.saturating_add(cycles));
        begins[node] = ready.max().unwrap_or(0);
    }
    let mut deeper = graph.clone();
    for (index, node) in deeper.nodes.iter_mut().enumerate() {
        for edge in &mut node.inputs {
            let (from, _) = begin(&begins, edge.from);
            let delay = (edge.initial as u64).saturating_mul(pace);
            let end = begins[index].saturating_add(cycles[index]).saturating_add(delay);
            let used = end.saturating_sub(from);
            edge.depth = (used.div_ceil(pace) as usize).max(edge.initial + 1);
        }
    }
    Ok(deeper)
}
