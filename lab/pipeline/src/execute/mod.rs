//! Execution of networks: the same results in any order, on one thread or on many.

mod buffers;
mod fire;
mod sequential;
mod threads;

pub use fire::Arithmetic;
pub use sequential::{run, run_in_order};
pub use threads::run_on_threads;

use crate::{DataflowGraph, PipelineError, limbs::Bundle};

/// Checks that all sources have as many bundles of one size.
///
/// # Errors
/// Sources with another number of bundles, or with bundles of another size.
pub(crate) fn check(graph: &DataflowGraph, inputs: &[Vec<Bundle>]) -> Result<(), PipelineError> {
    if inputs.len() != graph.sources.len() {
        let (given, needed) = (inputs.len(), graph.sources.len());
        return Err(PipelineError::Inputs(format!(
            "{given} sequences of bundles for {needed} sources of {}",
            graph.name
        )));
    }
    let sizes = |bundles: &[Bundle]| (bundles.len(), bundles.first().map(Bundle::vectors));
    for (name, bundles) in graph.sources.iter().zip(inputs) {
        if sizes(bundles) != sizes(&inputs[0])
            || bundles.iter().any(|bundle| bundle.vectors() != bundles[0].vectors())
        {
            let problem = format!(
                "source {name} has other bundles than source {}: as many of the same size are needed",
                graph.sources[0]
            );
            return Err(PipelineError::Inputs(problem));
        }
    }
    Ok(())
}
