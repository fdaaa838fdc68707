//! How long the kernels of a network take, and which nodes can share a tile.

use crate::{
    Device, Graph, PipelineError,
    graph::{Node, Port},
    limbs::SignedField,
    schedule::{program, schedule},
};

/// The kernels of a network's nodes on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernels {
    /// Cycles of each node's schedule.
    pub(super) cycles: Vec<usize>,
    /// Vectors of a call.
    pub(super) vectors: usize,
}

impl Kernels {
    /// Schedules the kernels for calls of some vectors of elements; once for nodes that do the same.
    ///
    /// # Errors
    /// As [`schedule`].
    pub fn new(
        graph: &Graph,
        field: &SignedField,
        device: &Device,
        vectors: usize,
    ) -> Result<Self, PipelineError> {
        let mut scheduler = Known::new(field, device, vectors);
        let cycles: Result<_, _> = graph.nodes.iter().map(|node| scheduler.cycles(node)).collect();
        Ok(Self { cycles: cycles?, vectors })
    }

    /// Cycles of a call of each node's kernel: those of the kernel, of the call and of the locks.
    pub(super) fn calls(&self, graph: &Graph, device: &Device, slowdown: f64) -> Vec<u64> {
        let calls = self.cycles.iter().enumerate().map(|(index, cycles)| {
            let fills = |port: Port| matches!(port, Port::Node(from, _) if from == index);
            let filled = graph.edges().filter(|(_, edge)| fills(edge.from)).count();
            let locks = (graph.nodes[index].inputs.len() + filled) * device.tile.lock_cycles;
            (*cycles as f64 * slowdown).ceil() as u64 + (device.tile.call_cycles + locks) as u64
        });
        calls.collect()
    }
}

/// Schedules kernels, once for nodes that do the same.
struct Known<'a> {
    field: &'a SignedField,
    device: &'a Device,
    vectors: usize,
    nodes: Vec<(Node, usize)>,
}

impl<'a> Known<'a> {
    fn new(field: &'a SignedField, device: &'a Device, vectors: usize) -> Self {
        Self { field, device, vectors, nodes: Vec::new() }
    }

    fn cycles(&mut self, node: &Node) -> Result<usize, PipelineError> {
        let same = |other: &Node| {
            other.steps == node.steps
                && other.inputs.len() == node.inputs.len()
                && other.outputs == node.outputs
        };
        if let Some((_, cycles)) = self.nodes.iter().find(|(other, _)| same(other)) {
            return Ok(*cycles);
        }
        let schedule = schedule(&node.name, &program(node, self.field), self.device, self.vectors)?;
        let cycles = schedule.cycles(self.vectors);
        self.nodes.push((node.clone(), cycles));
        Ok(cycles)
    }
}

/// The network with as few nodes as keep its pace: those that together take no longer than the slowest one are joined, the
/// shortest first. So more pipelines have room.
///
/// # Errors
/// As [`Graph::order`] and [`schedule`].
pub fn balanced(
    graph: &Graph,
    field: &SignedField,
    device: &Device,
    vectors: usize,
) -> Result<Graph, PipelineError> {
    let mut known = Known::new(field, device, vectors);
    let mut graph = graph.clone();
    loop {
        let cycles: Result<Vec<_>, _> = graph.nodes.iter().map(|node| known.cycles(node)).collect();
        let cycles = cycles?;
        let slowest = cycles.iter().copied().max().unwrap_or(0);
        let mut pairs: Vec<_> = (0..cycles.len())
            .flat_map(|first| (0..cycles.len()).map(move |second| (first, second)))
            .filter(|(first, second)| {
                first != second && cycles[*first] + cycles[*second] <= slowest + slowest / 8
            })
            .collect();
        pairs.sort_by_key(|(first, second)| cycles[*first] + cycles[*second]);
        let joined = pairs.into_iter().find_map(|(first, second)| {
            let fused = graph.fused(first, second).ok()?;
            let place = if second < first { first - 1 } else { first };
            // Kernels that do not fit a tile, or take too long together, stay apart.
            (known.cycles(&fused.nodes[place]).ok()? <= slowest).then_some(fused)
        });
        match joined {
            Some(fused) => graph = fused,
            None => return Ok(graph),
        }
    }
}
