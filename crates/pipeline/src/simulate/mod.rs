//! Pipelines on a device in time: how long a network takes, and what it waits for.
//!
//! Every node has a tile of its own. A call of its kernel takes the same number of cycles each time: those of its
//! [schedule](crate::schedule), of the call, and of the locks of the buffers. So a pipeline is simulated from call to call, with
//! the same result as cycle by cycle.

mod events;
mod kernels;

pub use kernels::{Kernels, balanced};

use crate::{
    Device, Graph, PipelineError,
    graph::{Port, Reader},
    limbs::{LANES, LIMBS},
    place::{Placement, Route},
};
use events::{Process, Spent, Timed};
use serde::Serialize;

/// How a network runs on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Vectors of a bundle: 4 for 32 elements.
    pub vectors: usize,
    /// Bundles that one call of a kernel computes.
    pub bundles: usize,
    /// Whether elements come from the host and results go back to it; else they are on the card.
    pub host: bool,
    /// How many times as long as their schedules kernels take.
    pub slowdown: f64,
    /// Calls of each kernel.
    pub calls: usize,
}

impl Default for Run {
    /// The paper's: bundles of 32 elements, four of them in a call.
    fn default() -> Self {
        Self { vectors: 4, bundles: 4, host: false, slowdown: 1.0, calls: 200 }
    }
}

/// What a simulation has found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Results a second, once the pipelines are full.
    pub per_second: f64,
    /// Seconds from the first element to the first results.
    pub latency: f64,
    /// Cycles of the tiles until everything is done.
    pub cycles: u64,
    /// Bytes from and to the host or the card's memory.
    pub bytes: [u64; 2],
    /// The share of the host's link that is used, in and out.
    pub link: [f64; 2],
    /// The nodes of the first pipeline.
    pub nodes: Vec<Stage>,
}

/// How a tile has spent its time, as shares of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stage {
    /// The node.
    pub name: String,
    /// Cycles of a call.
    pub cycles: u64,
    /// It worked.
    pub working: f64,
    /// It waited for a bundle.
    pub starved: f64,
    /// It waited for room.
    pub blocked: f64,
}

impl Outcome {
    /// The slowest stage.
    pub fn critical(&self) -> Option<&Stage> {
        self.nodes.iter().max_by_key(|stage| stage.cycles)
    }
}

/// Simulates a network's pipelines, [placed](crate::place::place) for windows of [`Run::window`] bytes.
///
/// # Errors
/// As [`Graph::check_buffers`]; kernels of another network or for other calls; no pipelines or those of another network; calls that are too few.
pub fn simulate(
    graph: &Graph,
    kernels: &Kernels,
    device: &Device,
    run: &Run,
    placements: &[Placement],
) -> Result<Outcome, PipelineError> {
    graph.check_buffers()?;
    let refused = |problem: String| PipelineError::Run {
        graph: graph.name.clone(),
        device: device.name.clone(),
        problem,
    };
    let possible = (2..=1 << 24).contains(&run.calls) && run.slowdown > 0.0 && run.slowdown < 1e6;
    if !possible {
        let (calls, slowdown) = (run.calls, run.slowdown);
        return Err(refused(format!(
            "{calls} calls {slowdown} times as slow: at least 2 calls are possible, and a positive factor"
        )));
    }
    let vectors = run.vectors.checked_mul(run.bundles);
    if (Some(kernels.vectors), kernels.cycles.len()) != (vectors, graph.nodes.len()) {
        return Err(refused("its kernels are those of another network, or for calls of another size".into()));
    }
    let edges = graph.edges().count();
    if placements.is_empty() || placements.iter().any(|placement| placement.routes.len() != edges) {
        return Err(refused("no pipelines of it are placed".into()));
    }
    let cycles = kernels.calls(graph, device, run.slowdown);
    let mut network = Network::new(device, run);
    placements.iter().for_each(|placement| network.add(graph, &cycles, placement));
    Ok(network.outcome(graph, &cycles))
}

/// The network with buffers so deep that its slowest node never waits: an operand that is needed late, after a longer path
/// than its own, is kept as long as that takes.
///
/// Every node begins its first call as early as it can, and the next ones at the pace of the slowest. A buffer is in use from the beginning of the call
/// that fills it to the end of the one that reads it.
///
/// # Errors
/// As [`Graph::order`].
pub fn at_full_rate(
    graph: &Graph,
    kernels: &Kernels,
    device: &Device,
    run: &Run,
) -> Result<Graph, PipelineError> {
    let order = graph.order()?;
    let cycles = kernels.calls(graph, device, run.slowdown);
    let stream = Network::new(device, run).stream();
    let pace = cycles.iter().copied().chain([stream]).max().unwrap_or(1);
    let mut begins = vec![0; graph.nodes.len()];
    let begin = |begins: &[u64], port: Port| match port {
        Port::Source(_) => (0, stream),
        Port::Node(node, _) => (begins[node], cycles[node]),
    };
    for node in order {
        let inputs = graph.nodes[node].inputs.iter().filter(|edge| edge.initial == 0);
        let ready = inputs.map(|edge| begin(&begins, edge.from)).map(|(begin, cycles)| begin + cycles);
        begins[node] = ready.max().unwrap_or(0);
    }
    let mut deeper = graph.clone();
    for (index, node) in deeper.nodes.iter_mut().enumerate() {
        for edge in &mut node.inputs {
            let (from, _) = begin(&begins, edge.from);
            let used = (begins[index] + cycles[index] + edge.initial as u64 * pace).saturating_sub(from);
            edge.depth = (used.div_ceil(pace) as usize).max(edge.initial + 1);
        }
    }
    Ok(deeper)
}

impl Run {
    /// Bytes of what a call reads from one input.
    pub fn window(&self) -> usize {
        self.bundles * self.vectors * LANES * LIMBS * size_of::<i32>()
    }
}

/// The resources of all pipelines.
const LINK_IN: usize = 0;
const LINK_OUT: usize = 1;

/// All pipelines as one timed network.
struct Network<'a> {
    device: &'a Device,
    run: &'a Run,
    timed: Timed,
    /// For each pipeline, the processes of its nodes and of its last results.
    pipelines: Vec<(Vec<usize>, Vec<usize>)>,
    /// The processes of the link, in and out.
    links: [Vec<usize>; 2],
}

impl<'a> Network<'a> {
    fn new(device: &'a Device, run: &'a Run) -> Self {
        let timed = Timed { resources: 2, ..Timed::default() };
        Self { device, run, timed, pipelines: Vec::new(), links: [Vec::new(), Vec::new()] }
    }

    /// Cycles in which a stream brings a window.
    fn stream(&self) -> u64 {
        (self.run.window() as u64).div_ceil(self.device.streams.bytes_per_cycle as u64)
    }

    /// Cycles in which the host's link brings some windows at once.
    fn transfer(&self, windows: usize) -> u64 {
        let seconds = (windows * self.run.window()) as f64 / self.device.host.bytes_per_second;
        (seconds * self.device.tile.hertz).ceil() as u64
    }

    fn process(&mut self, process: Process) -> usize {
        self.timed.processes.push(process);
        self.timed.processes.len() - 1
    }

    fn edge(&mut self, buffers: usize, full: usize) -> usize {
        self.timed.edges.push((buffers as u64, full as u64));
        self.timed.edges.len() - 1
    }

    /// Adds a pipeline: its nodes, a stream for each source and each sink, and the transfers of the host.
    fn add(&mut self, graph: &Graph, cycles: &[u64], placement: &Placement) {
        let calls = Some(self.run.calls as u64);
        let nodes: Vec<_> = cycles
            .iter()
            .map(|cycles| self.process(Process { cycles: *cycles, ..Process::default() }))
            .collect();
        let stream = Process { cycles: self.stream(), ..Process::default() };
        let sources: Vec<_> = graph.sources.iter().map(|_| self.process(stream.clone())).collect();
        let sinks: Vec<_> = graph.sinks.iter().map(|_| self.process(stream.clone())).collect();
        for ((reader, inner), route) in graph.edges().zip(&placement.routes) {
            let edge = self.edge(inner.depth, inner.initial);
            let writer = match inner.from {
                Port::Source(source) => sources[source],
                Port::Node(node, _) => nodes[node],
            };
            let reader = match reader {
                Reader::Node(node, _) => nodes[node],
                Reader::Sink(sink) => sinks[sink],
            };
            let mut sent = edge;
            if let Route::Stream(hops) = route {
                let cycles = stream.cycles + (hops * self.device.streams.hop_cycles) as u64;
                let outside = [writer, reader].into_iter().find(|end| !nodes.contains(end));
                match outside {
                    Some(end) => {
                        let end = &mut self.timed.processes[end];
                        end.cycles = end.cycles.max(cycles);
                    }
                    None => {
                        sent = self.edge(inner.depth.min(2), 0);
                        let process =
                            Process { cycles, inputs: vec![sent], outputs: vec![edge], ..Process::default() };
                        self.process(process);
                    }
                }
            }
            self.timed.processes[writer].outputs.push(sent);
            self.timed.processes[reader].inputs.push(edge);
        }
        let mut last = sinks.clone();
        if self.run.host {
            let cycles = [self.transfer(sources.len()), self.transfer(sinks.len())];
            let into = self.process(Process {
                cycles: cycles[0],
                resource: Some(LINK_IN),
                runs: calls,
                ..Process::default()
            });
            let out =
                self.process(Process { cycles: cycles[1], resource: Some(LINK_OUT), ..Process::default() });
            for (from, to) in
                sources.iter().map(|source| (into, *source)).chain(sinks.iter().map(|sink| (*sink, out)))
            {
                // The host fills a buffer while the card reads another.
                let edge = self.edge(2, 0);
                self.timed.processes[from].outputs.push(edge);
                self.timed.processes[to].inputs.push(edge);
            }
            self.links[0].push(into);
            self.links[1].push(out);
            last = vec![out];
        } else {
            sources.iter().for_each(|source| self.timed.processes[*source].runs = calls);
        }
        self.pipelines.push((nodes, last));
    }

    fn outcome(&self, graph: &Graph, cycles: &[u64]) -> Outcome {
        let spent = self.timed.run();
        let elements = (self.run.vectors * LANES * self.run.bundles) as f64;
        let end = spent.iter().map(|spent| spent.last).max().unwrap_or(0);
        let hertz = self.device.tile.hertz;
        // From the first results of the last pipeline to the last ones of the first to end.
        let slowest = |last: &[usize], time: fn(&Spent) -> u64| {
            last.iter().map(|index| time(&spent[*index])).max().unwrap_or(0)
        };
        let rates = self.pipelines.iter().map(|(_, last)| {
            let (first, last) = (slowest(last, |spent| spent.first), slowest(last, |spent| spent.last));
            (self.run.calls - 1) as f64 * elements * hertz / (last - first).max(1) as f64
        });
        let latency =
            self.pipelines.iter().map(|(_, last)| slowest(last, |spent| spent.first)).min().unwrap_or(0);
        let windows =
            |count: usize| (count * self.run.window() * self.run.calls * self.pipelines.len()) as u64;
        let link = |processes: &[usize]| {
            let working: u64 = processes.iter().map(|index| spent[*index].working).sum();
            working as f64 / end.max(1) as f64
        };
        let first = self.pipelines.first().map_or(&[][..], |(nodes, _)| nodes.as_slice());
        let share = |cycles: u64| cycles as f64 / end.max(1) as f64;
        let nodes = first.iter().zip(&graph.nodes).zip(cycles).map(|((index, node), cycles)| {
            let Spent { working, starved, blocked, .. } = spent[*index];
            Stage {
                name: node.name.clone(),
                cycles: *cycles,
                working: share(working),
                starved: share(starved),
                blocked: share(blocked),
            }
        });
        Outcome {
            per_second: rates.sum(),
            latency: latency as f64 / hertz,
            cycles: end,
            bytes: [windows(graph.sources.len()), windows(graph.sinks.len())],
            link: [link(&self.links[0]), link(&self.links[1])],
            nodes: nodes.collect(),
        }
    }
}
