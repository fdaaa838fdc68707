//! All pipelines of a device as one timed network.

use super::{
    Pipelines, RunSettings, SimulationOutcome, Stage, Supply, calls,
    events::{Process, Spent, Timed},
    refused, stream,
};
use crate::{
    DataflowGraph, PipelineError,
    execute::Arithmetic,
    graph::{EdgeReader, Port},
    limbs::{Bundle, LANES, SignedField},
    place::{Placement, Route},
};
use std::{collections::VecDeque, rc::Rc};

/// Calls of a node whose times are kept.
const SPANS: usize = 64;

/// The resources of all pipelines: the ways of the link in and out. The streams into and out of the grid follow.
const LINK: [usize; 2] = [0, 1];

/// Bytes of the header of each packet, if several senders share a stream (UG1079, "Packet Split and Merge Connections": a
/// word).
const HEADER_BYTES: usize = 4;

pub(super) struct Network<'a> {
    pipelines: &'a Pipelines<'a>,
    run: &'a RunSettings,
    /// Cycles of a call of each node.
    cycles: Vec<u64>,
    timed: Timed,
    /// The part of each process.
    parts: Vec<Part>,
    calls: Vec<usize>,
}

/// The role of a process, and its pipeline.
#[derive(Clone, Debug)]
struct Part {
    role: Role,
    pipeline: usize,
    /// For each edge that it fills, the index of the result that it sends there.
    sends: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Brings elements to the grid.
    Into,
    Source(usize),
    Node(usize),
    /// Passes bundles on.
    Stream,
    Sink(usize),
    /// Takes results from the grid.
    OutOf,
}

impl<'a> Network<'a> {
    /// The network of some calls of each pipeline.
    ///
    /// # Errors
    /// More cycles than can be counted.
    pub(super) fn new(
        pipelines: &'a Pipelines<'a>,
        run: &'a RunSettings,
        calls_of: impl Fn(usize) -> usize,
    ) -> Result<Self, PipelineError> {
        let Pipelines { graph, kernels, device, placements } = pipelines;
        let grid = [device.streams.into_grid, device.streams.out_of_grid];
        let mut network = Self {
            pipelines,
            run,
            cycles: calls(graph, kernels, device, run.slowdown),
            timed: Timed { resources: LINK.len() + grid[0] + grid[1], ..Timed::default() },
            parts: Vec::new(),
            calls: (0..placements.len()).map(calls_of).collect(),
        };
        for (pipeline, placement) in placements.iter().enumerate() {
            network.add(graph, pipeline, placement);
        }
        // As if one process ran at a time. A bundle that is there at the beginning can let one run once more.
        let delays: usize = graph.edges().map(|(_, edge)| edge.initial).sum();
        let runs = network.calls.iter().max().unwrap_or(&0) + delays;
        let cycles: u128 = network.timed.processes.iter().map(|process| u128::from(process.cycles)).sum();
        if cycles * runs as u128 > u128::from(u64::MAX) {
            return Err(refused(graph, device, "it may take more than 2^64 cycles: run fewer calls".into()));
        }
        Ok(network)
    }

    /// Cycles in which the link brings some windows at once.
    fn transfer(&self, windows: usize) -> u64 {
        let device = self.pipelines.device;
        let bytes_per_second = match self.run.supply {
            Supply::Host => device.host.bytes_per_second,
            Supply::Fabric | Supply::Memory => device.memory.bytes_per_second,
        };
        let seconds = (windows * self.pipelines.kernels.window()) as f64 / bytes_per_second;
        (seconds * device.tile.hertz).ceil() as u64
    }

    fn process(&mut self, pipeline: usize, role: Role, process: Process) -> usize {
        self.timed.processes.push(process);
        self.parts.push(Part { role, pipeline, sends: Vec::new() });
        self.parts.len() - 1
    }

    /// An edge from a process's result to another process.
    fn connect(&mut self, (from, result): (usize, usize), to: usize, buffers: usize, full: usize) {
        let edge = self.timed.edges.len();
        self.timed.edges.push((buffers as u64, full as u64));
        self.timed.processes[from].outputs.push(edge);
        self.parts[from].sends.push(result);
        self.timed.processes[to].inputs.push(edge);
    }

    /// A process for each stream into the grid, or out of it. If there are more of them than the grid has, several share one.
    fn streams(
        &mut self,
        pipeline: usize,
        count: usize,
        way: usize,
        role: impl Fn(usize) -> Role,
    ) -> Vec<usize> {
        let Pipelines { kernels, device, placements, .. } = self.pipelines;
        let grid = [device.streams.into_grid, device.streams.out_of_grid];
        let shared = count * placements.len() > grid[way];
        let process = |index: usize| Process {
            cycles: stream(kernels, device) + self.header(way, count),
            resource: shared.then(|| LINK.len() + way * grid[0] + (pipeline * count + index) % grid[way]),
            ..Process::default()
        };
        let processes: Vec<_> = (0..count).map(process).collect();
        let of = processes.into_iter().enumerate();
        of.map(|(index, process)| self.process(pipeline, role(index), process)).collect()
    }

    /// Cycles of the header of a packet, if each pipeline has so many streams in a way and some share one.
    fn header(&self, way: usize, count: usize) -> u64 {
        let Pipelines { device, placements, .. } = self.pipelines;
        let grid = [device.streams.into_grid, device.streams.out_of_grid];
        let shared = count * placements.len() > grid[way];
        if shared { HEADER_BYTES.div_ceil(device.streams.bytes_per_cycle) as u64 } else { 0 }
    }

    /// Adds a pipeline: its nodes, a stream for each source and each sink, and the transfers of the link.
    fn add(&mut self, graph: &DataflowGraph, pipeline: usize, placement: &Placement) {
        let cycles = self.cycles.clone();
        let nodes: Vec<_> = cycles
            .iter()
            .enumerate()
            .map(|(node, cycles)| {
                self.process(pipeline, Role::Node(node), Process { cycles: *cycles, ..Process::default() })
            })
            .collect();
        let sources = self.streams(pipeline, graph.sources.len(), 0, Role::Source);
        let sinks = self.streams(pipeline, graph.sinks.len(), 1, Role::Sink);
        let device = self.pipelines.device;
        let window = stream(self.pipelines.kernels, device);
        let headers = [self.header(0, graph.sources.len()), self.header(1, graph.sinks.len())];
        for ((reader, edge), route) in graph.edges().zip(&placement.routes) {
            let writer = match edge.from {
                Port::Source(source) => (sources[source], 0),
                Port::Node(node, output) => (nodes[node], output),
            };
            let reader = match reader {
                EdgeReader::Node(node, _) => nodes[node],
                EdgeReader::Sink(sink) => sinks[sink],
            };
            let Route::Stream(hops) = route else {
                self.connect(writer, reader, edge.depth, edge.initial);
                continue;
            };
            let way = (hops * device.streams.hop_cycles) as u64;
            match [writer.0, reader].into_iter().find(|end| !nodes.contains(end)) {
                Some(end) => {
                    // The time on the way is counted as if the stream were taken meanwhile.
                    let header = headers[usize::from(end == reader)];
                    let end = &mut self.timed.processes[end];
                    end.cycles = end.cycles.max(window + header + way);
                    let depth = if nodes.contains(&reader) { edge.depth } else { edge.sent() };
                    self.connect(writer, reader, depth, edge.initial);
                }
                None => {
                    let process = Process { cycles: window + way, ..Process::default() };
                    let stream = self.process(pipeline, Role::Stream, process);
                    self.connect(writer, stream, edge.sent(), 0);
                    self.connect((stream, 0), reader, edge.depth, edge.initial);
                }
            }
        }
        self.add_supply(pipeline, &sources, &sinks);
    }

    /// Lets the sources of a pipeline run by themselves, or adds the transfers of the link to them and from the sinks.
    fn add_supply(&mut self, pipeline: usize, sources: &[usize], sinks: &[usize]) {
        let calls = Some(self.calls[pipeline] as u64);
        if self.run.supply == Supply::Fabric {
            sources.iter().for_each(|source| self.timed.processes[*source].runs = calls);
            return;
        }
        // The card's memory is read and written by the same way; a host's link has two.
        let ways = if self.run.supply == Supply::Host { LINK } else { [LINK[0]; 2] };
        let [into, out] =
            [(Role::Into, sources.len(), ways[0], calls), (Role::OutOf, sinks.len(), ways[1], None)].map(
                |(role, windows, way, runs)| {
                    let (cycles, resource) = (self.transfer(windows), Some(way));
                    self.process(pipeline, role, Process { cycles, resource, runs, ..Process::default() })
                },
            );
        // One buffer is filled while another is read.
        sources.iter().for_each(|source| self.connect((into, 0), *source, 2, 0));
        sinks.iter().for_each(|sink| self.connect((*sink, 0), out, 2, 0));
    }

    /// The times alone.
    pub(super) fn simulate(&self) -> SimulationOutcome {
        self.outcome(|_| ())
    }

    /// The times, and the bundles of each sink.
    pub(super) fn execute(
        &self,
        field: &SignedField,
        arithmetic: Arithmetic,
        inputs: &[Vec<Bundle>],
    ) -> Result<(Vec<Vec<Bundle>>, SimulationOutcome), PipelineError> {
        let Pipelines { graph, kernels, placements, .. } = self.pipelines;
        let zeros = Rc::new(Bundle::zeros(kernels.vectors));
        let mut edges: Vec<VecDeque<Rc<Bundle>>> =
            self.timed.edges.iter().map(|(_, full)| vec![zeros.clone(); *full as usize].into()).collect();
        let mut sent = vec![0; self.parts.len()];
        // The results by pipeline and sink.
        let mut results: Vec<Vec<VecDeque<Bundle>>> =
            placements.iter().map(|_| vec![VecDeque::new(); graph.sinks.len()]).collect();
        let mut problem = None;
        let outcome = self.outcome(|process| {
            let (part, timed) = (&self.parts[process], &self.timed.processes[process]);
            let mut bundles: Vec<_> = timed
                .inputs
                .iter()
                .map(|edge| edges[*edge].pop_front().unwrap_or_else(|| zeros.clone()))
                .collect();
            match part.role {
                Role::Into => bundles = vec![zeros.clone()],
                Role::OutOf | Role::Stream => {}
                Role::Source(source) => {
                    let index = sent[process] * placements.len() + part.pipeline;
                    bundles = inputs[source].get(index).cloned().map(Rc::new).into_iter().collect();
                    sent[process] += 1;
                }
                Role::Sink(sink) => {
                    let bundle = bundles.swap_remove(0);
                    results[part.pipeline][sink].push_back(Rc::unwrap_or_clone(bundle));
                    bundles.push(zeros.clone());
                }
                Role::Node(node) => {
                    let operands: Vec<_> = bundles.iter().map(Rc::as_ref).collect();
                    match arithmetic.fire(graph, &graph.nodes[node], &operands, field) {
                        Ok(outputs) => bundles = outputs.into_iter().map(Rc::new).collect(),
                        Err(error) => {
                            problem.get_or_insert(error);
                            bundles = vec![zeros.clone(); graph.nodes[node].outputs.len()];
                        }
                    }
                }
            }
            for (edge, result) in timed.outputs.iter().zip(&part.sends) {
                edges[*edge].extend(bundles.get(*result).cloned());
            }
        });
        if let Some(error) = problem {
            return Err(error);
        }
        // In turn, as they were dealt out, until there are no more; a delay in front of a sink has added some.
        let mut dealt = |sink: usize| {
            let turns = (0..placements.len()).cycle();
            turns.map_while(|pipeline| results[pipeline][sink].pop_front()).collect()
        };
        Ok(((0..graph.sinks.len()).map(&mut dealt).collect(), outcome))
    }

    /// Runs the network, and tells which process begins next.
    fn outcome(&self, mut begins: impl FnMut(usize)) -> SimulationOutcome {
        let Pipelines { graph, kernels, device, placements } = self.pipelines;
        let mut spans = vec![Vec::new(); graph.nodes.len()];
        // The calls between which the rate is taken: without those at both ends, when pipelines are filled or emptied.
        let between: Vec<_> =
            self.calls.iter().map(|calls| [calls / 4, (calls - calls / 4).max(1) - 1]).collect();
        let mut done = vec![0; self.parts.len()];
        let mut ends = vec![[0; 2]; placements.len()];
        let spent = self.timed.run(|process, begin, end| {
            let part = &self.parts[process];
            if let Role::Node(node) = part.role
                && part.pipeline == 0
                && spans[node].len() < SPANS
            {
                spans[node].push([begin, end]);
            }
            if self.is_last(part.role) {
                for (last, call) in ends[part.pipeline].iter_mut().zip(between[part.pipeline]) {
                    if done[process] == call {
                        *last = end.max(*last);
                    }
                }
                done[process] += 1;
            }
            begins(process);
        });
        let end = spent.iter().map(|spent| spent.last).max().unwrap_or(0);
        let hertz = device.tile.hertz;
        let elements = (kernels.vectors * LANES) as f64;
        let rates = ends.iter().zip(&between).map(|([first, last], [from, to])| {
            // If there is a single call, all of its time counts.
            let (calls, cycles) = if to > from { (to - from, last - first) } else { (1, *last) };
            calls as f64 * elements * hertz / cycles.max(1) as f64
        });
        let all: usize = self.calls.iter().sum();
        let bytes = (kernels.window() as u64).saturating_mul(all as u64);
        let windows = |count: usize| bytes.saturating_mul(count as u64);
        let link = |role: Role| {
            let parts = self.parts.iter().zip(&spent).filter(|(part, _)| part.role == role);
            share(parts.map(|(_, spent)| spent.working).sum(), end)
        };
        SimulationOutcome {
            per_second: rates.sum(),
            latency: self.latency(&spent).unwrap_or(0) as f64 / hertz,
            cycles: end,
            bytes: [windows(graph.sources.len()), windows(graph.sinks.len())],
            link: [link(Role::Into), link(Role::OutOf)],
            nodes: self.stages(&spent, spans, end),
        }
    }

    /// Whether processes of this role end the calls of their pipeline.
    fn is_last(&self, role: Role) -> bool {
        match self.run.supply {
            Supply::Fabric => matches!(role, Role::Sink(_)),
            Supply::Memory | Supply::Host => role == Role::OutOf,
        }
    }

    /// Cycles until a pipeline has its first results.
    fn latency(&self, spent: &[Spent]) -> Option<u64> {
        let mut firsts = vec![0; self.pipelines.placements.len()];
        for (part, spent) in self.parts.iter().zip(spent).filter(|(part, _)| self.is_last(part.role)) {
            firsts[part.pipeline] = spent.first.max(firsts[part.pipeline]);
        }
        firsts.into_iter().filter(|first| *first > 0).min()
    }

    /// How the tiles of the first pipeline have spent all the cycles, and the spans of their first calls.
    fn stages(&self, spent: &[Spent], spans: Vec<Vec<[u64; 2]>>, end: u64) -> Vec<Stage> {
        let nodes = self.pipelines.graph.nodes.iter().zip(&self.cycles).zip(spans).enumerate();
        let nodes = nodes.map(|(node, ((inner, cycles), spans))| {
            let of_node = |part: &Part| part.pipeline == 0 && part.role == Role::Node(node);
            let mut parts = self.parts.iter().zip(spent);
            let spent = parts.find(|(part, _)| of_node(part)).map(|(_, spent)| *spent);
            let Spent { working, starved, blocked, .. } = spent.unwrap_or_default();
            Stage {
                name: inner.name.clone(),
                cycles: *cycles,
                working: share(working, end),
                starved: share(starved, end),
                blocked: share(blocked, end),
                spans,
            }
        });
        nodes.collect()
    }
}

/// Some of all cycles, as a share of them.
fn share(cycles: u64, all: u64) -> f64 {
    cycles as f64 / all.max(1) as f64
}
