//! What can be done with the files of a user, a device and a graph: for the tests and for the fuzzer. Nothing may panic or take long, and
//! every error is one line.

use proofmill_field::{bn254::Fq, cpu::Level};
use proofmill_pipeline::{
    DataflowGraph, Device, PipelineError,
    execute::{Arithmetic, run},
    graph::Reductions,
    limbs::{Bundle, SignedField},
    pictures::network,
    schedule::{Compiler, balanced},
    simulate::{Pipelines, RunSettings, Supply, at_full_rate},
};

/// The most nodes of graphs with which is done what takes more than linear time.
const NODES: usize = 32;

/// What is there if nothing was wrong; checks the error's text.
fn said<T>(result: Result<T, PipelineError>) -> Option<T> {
    let one_line = |error: PipelineError| assert!(!error.to_string().contains(char::is_control), "{error}");
    result.map_err(one_line).ok()
}

/// A device, if it is one.
pub(crate) fn device(text: &str) -> Option<Device> {
    said(Device::parse(text))
}

/// A graph with reductions, if it is one that can have them: checked, changed in all ways, drawn and executed.
pub(crate) fn graph(text: &str) -> Option<DataflowGraph> {
    let graph: DataflowGraph = serde_json::from_str(text).ok()?;
    let field = SignedField::of::<Fq>().ok()?;
    let checked = said(graph.order());
    let buffers = said(graph.check_buffers());
    network(&graph, None);
    let mut reduced = None;
    if graph.nodes.len() <= NODES {
        reduced = said(graph.reduced(&field, Reductions::WhereNeeded));
        said(graph.reduced(&field, Reductions::InNodes));
        let inputs = vec![vec![Bundle::zeros(1); 2]; graph.sources.len()];
        said(graph.with_least_buffers());
        said(graph.with_split_products());
        said(run(&graph, &field, Arithmetic::Exact, &inputs));
    }
    let first = graph.nodes.len() / 2;
    for other in [0, first + 1, usize::MAX] {
        said(graph.split(other));
        said(graph.unrolled(other % 128));
        if let Some(fused) = said(graph.fused(first, other)) {
            assert!(fused.order().is_ok());
        }
    }
    assert!(checked.is_some() || (buffers.is_none() && reduced.is_none()));
    reduced
}

/// Compiles a small graph for a device, places a pipeline or two, and runs them.
pub(crate) fn in_time(device: &Device, graph: &DataflowGraph, vectors: usize) -> Option<()> {
    let field = SignedField::of::<Fq>().ok()?;
    let mut compiler = Compiler::new(&field, device, vectors);
    let kernels = said(compiler.kernels(graph))?;
    said(balanced(graph, &mut compiler, kernels.slowest()));
    let cycles: Vec<_> = kernels.nodes.iter().map(|kernel| kernel.cycles as u64).collect();
    network(graph, Some(&cycles));
    let run = RunSettings { calls: 3, ..RunSettings::default() };
    let deep = said(at_full_rate(graph, &kernels, device, 1e5))?;
    said(deep.order());
    let pipelines = said(Pipelines::new(graph, &kernels, device, 1 + device.pipelines(graph).min(2) / 2))?;
    for supply in Supply::ALL {
        let Some(outcome) = said(pipelines.simulate(&RunSettings { supply, ..run })) else { continue };
        assert!(outcome.per_second.is_finite() && outcome.latency.is_finite());
        assert!(outcome.link.iter().all(|share| *share <= 1.0 + 1e-9));
    }
    // Graphs with reductions fit the CPU's vectors too.
    let inputs = vec![vec![Bundle::zeros(vectors); 2]; graph.sources.len()];
    let [exact, lanes] = [Arithmetic::Exact, Arithmetic::Level(Level::best())]
        .map(|arithmetic| said(pipelines.execute(&run, &field, arithmetic, &inputs)));
    assert_eq!(exact, lanes);
    Some(())
}
