//! A thread for each node, and channels as edges.

use super::{Arithmetic, check};
use crate::{
    DataflowGraph, PipelineError,
    graph::{EdgeReader, Port},
    limbs::{Bundle, SignedField},
};
use std::{
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

type Senders = Vec<SyncSender<Arc<Bundle>>>;

type Receivers = Vec<Receiver<Arc<Bundle>>>;

/// Both ends of all edges.
struct Channels {
    of_sources: Vec<Senders>,
    of_nodes: Vec<Vec<Senders>>,
    read_by_nodes: Vec<Receivers>,
    read_by_sinks: Receivers,
}

/// As [`run`](super::run), but every node and every source is a thread that waits for bundles and for room.
///
/// # Errors
/// As [`run`](super::run).
pub fn run_on_threads(
    graph: &DataflowGraph,
    field: &SignedField,
    arithmetic: Arithmetic,
    inputs: &[Vec<Bundle>],
) -> Result<Vec<Vec<Bundle>>, PipelineError> {
    // Threads that wait for each other would never end.
    graph.check_buffers()?;
    check(graph, inputs)?;
    let bundles = inputs.first().map_or(0, Vec::len);
    let zeros = Arc::new(Bundle::zeros(inputs.iter().flatten().next().map_or(0, Bundle::vectors)));
    let Channels { of_sources, of_nodes, read_by_nodes, read_by_sinks } = channels(graph, &zeros);
    thread::scope(|scope| {
        for (bundles, senders) in inputs.iter().zip(of_sources) {
            scope.spawn(move || {
                bundles.iter().for_each(|bundle| send(&senders, bundle.clone()));
            });
        }
        let nodes =
            graph.nodes.iter().zip(read_by_nodes).zip(of_nodes).map(|((node, receivers), senders)| {
                scope.spawn(move || {
                    for _ in 0..bundles {
                        let operands: Result<Vec<_>, _> = receivers.iter().map(Receiver::recv).collect();
                        // A node before it has failed.
                        let Ok(operands) = operands else { break };
                        let operands: Vec<_> = operands.iter().map(|operand| &**operand).collect();
                        let outputs = arithmetic.fire(graph, node, &operands, field)?;
                        outputs.into_iter().zip(&senders).for_each(|(output, senders)| send(senders, output));
                    }
                    Ok(())
                })
            });
        let nodes: Vec<_> = nodes.collect();
        let sinks: Vec<_> = read_by_sinks
            .into_iter()
            .map(|receiver| {
                scope.spawn(move || receiver.into_iter().map(Arc::unwrap_or_clone).collect::<Vec<_>>())
            })
            .collect();
        let joined: Result<Vec<()>, PipelineError> =
            nodes.into_iter().map(|node| node.join().expect("nodes do not panic")).collect();
        joined?;
        Ok(sinks.into_iter().map(|sink| sink.join().expect("sinks do not panic")).collect())
    })
}

/// A channel for each edge, with the zeros that it holds at the beginning.
fn channels(graph: &DataflowGraph, zeros: &Arc<Bundle>) -> Channels {
    let mut of_sources: Vec<Senders> = graph.sources.iter().map(|_| Vec::new()).collect();
    let mut of_nodes: Vec<Vec<Senders>> =
        graph.nodes.iter().map(|node| node.outputs.iter().map(|_| Vec::new()).collect()).collect();
    let mut read_by_nodes: Vec<Receivers> = graph.nodes.iter().map(|_| Vec::new()).collect();
    let mut read_by_sinks = Receivers::new();
    for (reader, edge) in graph.edges() {
        let (sender, receiver) = sync_channel(edge.depth);
        for _ in 0..edge.initial {
            sender.send(zeros.clone()).expect("the receiver is there");
        }
        match edge.from {
            Port::Source(source) => of_sources[source].push(sender),
            Port::Node(node, output) => of_nodes[node][output].push(sender),
        }
        match reader {
            EdgeReader::Node(node, _) => read_by_nodes[node].push(receiver),
            EdgeReader::Sink(_) => read_by_sinks.push(receiver),
        }
    }
    Channels { of_sources, of_nodes, read_by_nodes, read_by_sinks }
}

/// Sends a bundle to all readers. Those that have ended, because another of their inputs has, need it no more.
fn send(senders: &Senders, bundle: Bundle) {
    let bundle = Arc::new(bundle);
    for sender in senders {
        let _ended = sender.send(bundle.clone());
    }
}
