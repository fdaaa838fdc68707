//! Pipelines on the grid: which tile computes which node, where each buffer lies, and which edges need a stream.
//!
//! A tile reaches its own memory and that of some neighbours. Two nodes whose tiles reach the same memory pass bundles on in a buffer
//! there; others need a stream, with a buffer at each of its ends.

mod search;

use crate::{
    DataflowGraph, Device, PipelineError,
    graph::{Edge, EdgeReader, Port},
    schedule::NetworkKernels,
};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// A column and a row.
pub type GridPlace = [usize; 2];

/// Where the parts of one pipeline are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Placement {
    /// The tile of each node.
    pub nodes: Vec<GridPlace>,
    /// The way of each edge, in the order of [`DataflowGraph::edges`].
    pub routes: Vec<Route>,
}

/// How bundles come from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    /// By buffers in the memory of these tiles.
    Memory(Vec<GridPlace>),
    /// By a stream over so many switches, from or to the edge of the grid if there is no node at the other end.
    Stream(usize),
}

impl Placement {
    /// How many edges between nodes need a stream.
    pub fn streams_between_nodes(&self, graph: &DataflowGraph) -> usize {
        let edges = graph.edges().zip(&self.routes);
        let streams = edges.filter(|((reader, edge), route)| {
            matches!((reader, edge.from, route), (EdgeReader::Node(..), Port::Node(..), Route::Stream(_)))
        });
        streams.count()
    }
}

/// Places pipelines one behind another along a line that winds through the columns of the grid, each with as few streams as are
/// found.
///
/// # Errors
/// As [`DataflowGraph::order`]; more pipelines than there are tiles for, more streams at a tile than it has, and buffers that do not fit
/// the memory.
pub fn place(
    graph: &DataflowGraph,
    device: &Device,
    kernels: &NetworkKernels,
    pipelines: usize,
) -> Result<Vec<Placement>, PipelineError> {
    let order = graph.order()?;
    let refused = |problem: String| PipelineError::Run {
        graph: graph.name.clone(),
        device: device.name.clone(),
        problem,
    };
    if kernels.nodes.len() != graph.nodes.len() {
        return Err(refused("its kernels are those of another network".into()));
    }
    let most = device.pipelines(graph);
    if pipelines > most {
        let (tiles, nodes) = (device.tiles(), graph.nodes.len());
        return Err(refused(format!(
            "{pipelines} pipelines of {nodes} nodes: {tiles} tiles have room for {most}; take fewer, or join nodes"
        )));
    }
    // Tiles of the same rows, two columns further on, are arranged alike.
    let mut known: HashMap<Vec<GridPlace>, Vec<GridPlace>> = HashMap::new();
    let mut memory = Memory::new(device);
    let mut all = Vec::with_capacity(pipelines);
    for pipeline in 0..pipelines {
        let tiles: Vec<GridPlace> = (0..graph.nodes.len())
            .map(|index| device.on_the_line(pipeline * graph.nodes.len() + index))
            .collect();
        let first = tiles.iter().map(|[column, _]| *column).min().unwrap_or(0);
        let alike = |from: usize, to: usize| move |[column, row]: GridPlace| [column - from + to, row];
        let shape: Vec<_> = tiles.iter().copied().map(alike(first, 0)).collect();
        let nodes =
            known.entry(shape).or_insert_with_key(|shape| search::arrange(graph, device, &order, shape));
        let nodes: Vec<_> = nodes.iter().copied().map(alike(0, first)).collect();
        let edges: Vec<_> = graph.edges().map(|(reader, edge)| (reader, *edge)).collect();
        check_streams(graph, device, &nodes, &edges).map_err(refused)?;
        let routes = memory.routes(graph, device, kernels, &nodes, &edges).map_err(refused)?;
        all.push(Placement { nodes, routes });
    }
    Ok(all)
}

impl Device {
    /// How many tiles there are.
    pub fn tiles(&self) -> usize {
        self.grid.columns * self.grid.rows
    }

    /// How many pipelines of a network there are tiles for.
    pub fn pipelines(&self, graph: &DataflowGraph) -> usize {
        self.tiles() / graph.nodes.len().max(1)
    }

    /// The place on a line through all tiles: up one column, down the next.
    fn on_the_line(&self, index: usize) -> GridPlace {
        let (column, step) = (index / self.grid.rows, index % self.grid.rows);
        [column, if column.is_multiple_of(2) { step } else { self.grid.rows - 1 - step }]
    }

    /// The tiles whose memory a tile reaches, itself first.
    fn reached(&self, [column, row]: GridPlace) -> impl Iterator<Item = GridPlace> {
        let [even, odd] = &self.grid.reach;
        let reach = if row.is_multiple_of(2) { even } else { odd };
        let (columns, rows) = (self.grid.columns, self.grid.rows);
        reach.iter().filter_map(move |[by_column, by_row]| {
            let place = [column.checked_add_signed(*by_column)?, row.checked_add_signed(*by_row)?];
            (place[0] < columns && place[1] < rows).then_some(place)
        })
    }

    /// The memory that two tiles reach.
    fn shared(&self, a: GridPlace, b: GridPlace) -> impl Iterator<Item = GridPlace> {
        self.reached(a).filter(move |place| self.reached(b).any(|other| other == *place))
    }
}

/// Switches between two tiles.
fn hops([a, b]: GridPlace, [c, d]: GridPlace) -> usize {
    a.abs_diff(c) + b.abs_diff(d)
}

/// The nodes at both ends of an edge.
fn ends(reader: EdgeReader, edge: &Edge) -> (Option<usize>, Option<usize>) {
    let from = match edge.from {
        Port::Source(_) => None,
        Port::Node(node, _) => Some(node),
    };
    let to = match reader {
        EdgeReader::Sink(_) => None,
        EdgeReader::Node(node, _) => Some(node),
    };
    (from, to)
}

/// Whether an edge needs a stream with nodes at these places.
fn needs_stream(device: &Device, nodes: &[GridPlace], reader: EdgeReader, edge: &Edge) -> bool {
    match ends(reader, edge) {
        (Some(from), Some(to)) => device.shared(nodes[from], nodes[to]).next().is_none(),
        _ => true,
    }
}

/// The streams into and out of each node's tile. A value that a node sends to several others by streams is one stream, which switches
/// copy.
fn streams(
    graph: &DataflowGraph,
    device: &Device,
    nodes: &[GridPlace],
    edges: &[(EdgeReader, Edge)],
) -> Vec<[usize; 2]> {
    let mut counts = vec![[0; 2]; graph.nodes.len()];
    let mut sent = HashSet::new();
    for (reader, edge) in edges.iter().filter(|(reader, edge)| needs_stream(device, nodes, *reader, edge)) {
        let (from, to) = ends(*reader, edge);
        if let Some(to) = to {
            counts[to][0] += 1;
        }
        if let Some(from) = from.filter(|_| sent.insert(edge.from)) {
            counts[from][1] += 1;
        }
    }
    counts
}

fn check_streams(
    graph: &DataflowGraph,
    device: &Device,
    nodes: &[GridPlace],
    edges: &[(EdgeReader, Edge)],
) -> Result<(), String> {
    let counts = streams(graph, device, nodes, edges);
    let [into, out] = [device.streams.into_tile, device.streams.out_of_tile];
    match counts.iter().position(|[used_in, used_out]| *used_in > into || *used_out > out) {
        None => Ok(()),
        Some(node) => {
            let ([used_in, used_out], name) = (counts[node], &graph.nodes[node].name);
            Err(format!(
                "node {name} needs {used_in} streams in and {used_out} out, a tile has {into} and {out}"
            ))
        }
    }
}

/// The free bytes of each tile's memory.
struct Memory {
    rows: usize,
    free: Vec<usize>,
}

impl Memory {
    fn new(device: &Device) -> Self {
        Self {
            rows: device.grid.rows,
            free: vec![device.tile.data_bytes - device.tile.stack_bytes; device.tiles()],
        }
    }

    fn free(&mut self, [column, row]: GridPlace) -> &mut usize {
        &mut self.free[column * self.rows + row]
    }

    /// Reserves memory for the intermediate results of kernels.
    fn keep(
        &mut self,
        graph: &DataflowGraph,
        kernels: &NetworkKernels,
        nodes: &[GridPlace],
    ) -> Result<(), String> {
        for ((node, kernel), place) in graph.nodes.iter().zip(&kernels.nodes).zip(nodes) {
            let free = self.free(*place);
            *free = free.checked_sub(kernel.scratch).ok_or_else(|| {
                format!(
                    "node {}: its tile has no {} bytes for intermediate results",
                    node.name, kernel.scratch
                )
            })?;
        }
        Ok(())
    }

    /// Reserves memory for the intermediate results of kernels and for all buffers of a pipeline. Buffers with the fewest choices come
    /// first; each goes where most memory is free.
    fn routes(
        &mut self,
        graph: &DataflowGraph,
        device: &Device,
        kernels: &NetworkKernels,
        nodes: &[GridPlace],
        edges: &[(EdgeReader, Edge)],
    ) -> Result<Vec<Route>, String> {
        let window = kernels.window();
        self.keep(graph, kernels, nodes)?;
        let mut routes = Vec::with_capacity(edges.len());
        let mut buffers: Vec<(usize, Vec<GridPlace>)> = Vec::new();
        for (index, (reader, edge)) in edges.iter().enumerate() {
            let (from, to) = ends(*reader, edge);
            if !needs_stream(device, nodes, *reader, edge) {
                let [from, to] = [from, to].map(|node| nodes[node.unwrap_or(0)]);
                let places: Vec<_> = device.shared(from, to).collect();
                buffers.extend((0..edge.depth).map(|_| (index, places.clone())));
                routes.push(Route::Memory(Vec::new()));
                continue;
            }
            routes.push(Route::Stream(match (from, to) {
                (Some(from), Some(to)) => hops(nodes[from], nodes[to]),
                // Streams enter and leave the grid below the first row.
                (from, to) => from.or(to).map_or(0, |node| nodes[node][1] + 1),
            }));
            // Bundles to be sent wait in the buffers of the stream's beginning, arrived ones in as many as the edge needs.
            let ends = [(from, edge.sent()), (to, edge.depth)];
            for (node, depth) in ends.into_iter().filter_map(|(node, depth)| Some((node?, depth))) {
                let places: Vec<_> = device.reached(nodes[node]).collect();
                buffers.extend((0..depth).map(|_| (index, places.clone())));
            }
        }
        buffers.sort_by_key(|(index, places)| (places.len(), *index));
        for (index, places) in buffers {
            let most = places
                .into_iter()
                .max_by_key(|place| (*self.free(*place), usize::MAX - hops(*place, [0, 0])));
            let Some(place) = most.filter(|place| *self.free(*place) >= window) else {
                let (reader, edge) = &edges[index];
                let name = match reader {
                    EdgeReader::Node(node, input) => {
                        format!("node {}, input {input}", graph.nodes[*node].name)
                    }
                    EdgeReader::Sink(sink) => format!("sink {}", graph.sinks[*sink].name),
                };
                return Err(format!(
                    "{name}: no tile that its ends reach has {window} bytes for one of its {} buffers: smaller bundles, or fewer in a call",
                    edge.depth
                ));
            };
            *self.free(place) -= window;
            if let Route::Memory(places) = &mut routes[index] {
                places.push(place);
            }
        }
        Ok(routes)
    }
}
