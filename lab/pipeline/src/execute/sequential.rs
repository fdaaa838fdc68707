//! Execution on one thread, which fires any node that can fire.

use super::{
    Arithmetic,
    buffers::{Buffers, NodeChoice},
    check,
};
use crate::{
    DataflowGraph, PipelineError,
    limbs::{Bundle, SignedField},
};
use std::{borrow::Cow, rc::Rc};

/// Runs a network, each node as often as sources have bundles, and returns the bundles of each sink. The zeros of a delay come before the
/// bundles of its node. On vectors of this CPU, all nodes of a network without delays compute one vector of elements before the next one. So
/// the values that they pass on stay in registers and caches.
///
/// # Errors
/// As [`DataflowGraph::order`]; inputs that do not suit the sources; numbers that do not fit, if they are checked; a deadlock, with the
/// nodes that wait for each other.
pub fn run(
    graph: &DataflowGraph,
    field: &SignedField,
    arithmetic: Arithmetic,
    inputs: &[Vec<Bundle>],
) -> Result<Vec<Vec<Bundle>>, PipelineError> {
    // An error names the node in which it happened: checked numbers are computed node by node.
    if let Arithmetic::Level(_) = arithmetic
        && let Some(one) = graph.as_one_node()?
    {
        graph.check_buffers()?;
        return execute(&one, field, arithmetic, inputs, None);
    }
    execute(graph, field, arithmetic, inputs, None)
}

/// As [`run`], with a function that chooses which of the nodes that can fire does so next. The results do not depend on it.
///
/// # Errors
/// As [`run`].
pub fn run_in_order(
    graph: &DataflowGraph,
    field: &SignedField,
    arithmetic: Arithmetic,
    inputs: &[Vec<Bundle>],
    mut choose: impl FnMut(&[usize]) -> usize,
) -> Result<Vec<Vec<Bundle>>, PipelineError> {
    execute(graph, field, arithmetic, inputs, Some(&mut choose))
}

fn execute(
    graph: &DataflowGraph,
    field: &SignedField,
    arithmetic: Arithmetic,
    inputs: &[Vec<Bundle>],
    choose: Option<NodeChoice<'_>>,
) -> Result<Vec<Vec<Bundle>>, PipelineError> {
    graph.order()?;
    check(graph, inputs)?;
    let vectors = inputs.iter().flatten().next().map_or(0, Bundle::vectors);
    let shared = |bundle| Rc::new(Cow::Owned(bundle));
    let inputs =
        inputs.iter().map(|bundles| bundles.iter().map(|bundle| Rc::new(Cow::Borrowed(bundle))).collect());
    // Bundles that all readers have read.
    let mut free: Vec<Bundle> = Vec::new();
    let fire = |node: usize, operands: Vec<Rc<Cow<'_, Bundle>>>| {
        let node = &graph.nodes[node];
        let bundle = |_: &usize| free.pop().unwrap_or_else(|| Bundle::zeros(vectors));
        let mut outputs: Vec<_> = node.outputs.iter().map(bundle).collect();
        let inputs: Vec<&Bundle> = operands.iter().map(|operand| &***operand).collect();
        arithmetic.fire_into(graph, node, &inputs, &mut outputs, field)?;
        for operand in operands.into_iter().filter_map(Rc::into_inner) {
            if let Cow::Owned(bundle) = operand {
                free.push(bundle);
            }
        }
        Ok(outputs.into_iter().map(shared).collect())
    };
    let results = Buffers::new(graph, inputs.collect(), shared(Bundle::zeros(vectors))).run(fire, choose)?;
    let owned = |bundle: Rc<Cow<'_, Bundle>>| Rc::unwrap_or_clone(bundle).into_owned();
    Ok(results.into_iter().map(|bundles| bundles.into_iter().map(owned).collect()).collect())
}
