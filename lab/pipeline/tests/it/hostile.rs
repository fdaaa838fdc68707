//! Files that are wrong, in every way that we could think of and in random ones: none makes anything panic, take long, or allocate what it
//! asks for.

use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    DataflowGraph, Device, formulas,
    graph::{Edge, FieldOperation, GraphNode, GraphSink, Port, Reductions},
    limbs::SignedField,
};
use proofmill_testing::rng;
use rand::{Rng, RngCore};

/// Random changes of each kind of file.
const CHANGES: usize = 2000;

/// A chain of nodes that double, from the last of the list to the first.
fn chain(nodes: usize) -> DataflowGraph {
    let from = |index: usize| if index == nodes { Port::Source(0) } else { Port::Node(index, 0) };
    let node = |index: usize| GraphNode {
        inputs: vec![Edge::new(from(index + 1))],
        ..GraphNode::of(&format!("n{index}"), FieldOperation::Double)
    };
    DataflowGraph {
        name: "chain".into(),
        sources: vec!["s".into()],
        nodes: (0..nodes).map(node).collect(),
        sinks: vec![GraphSink { name: "t".into(), edge: Edge::new(from(0)) }],
    }
}

fn json(graph: &DataflowGraph) -> String {
    serde_json::to_string(graph).unwrap()
}

#[test]
fn graphs_that_are_too_large_are_refused_in_one_line() {
    type Change = fn(&mut DataflowGraph);
    let table: [(Change, &str); 13] = [
        (|graph| graph.sources.clear(), "graph chain, node n2, input 0: Source(0) does not exist"),
        (
            |graph| graph.nodes[0].inputs[0].depth = usize::MAX,
            "graph chain, the whole: buffers of 18446744073709551615 bundles together: 65536 are possible",
        ),
        (
            |graph| {
                graph.edges_mut().for_each(|edge| (edge.depth, edge.initial) = (usize::MAX, usize::MAX));
            },
            "graph chain, the whole: buffers of 18446744073709551615 bundles together: 65536 are possible",
        ),
        (
            |graph| graph.nodes[0].inputs[0].initial = usize::MAX,
            "graph chain, node n0, input 0: a buffer of 2 bundles cannot hold 18446744073709551615 and pass one",
        ),
        (
            |graph| *graph = chain(50_000),
            "graph chain, the whole: 200002 sources, nodes, inputs, steps, outputs and sinks: 32768 are possible",
        ),
        (
            |graph| graph.nodes[1].steps = vec![graph.nodes[1].steps[0].clone(); 1025],
            "graph chain, node 1: 1025 steps: 1024 are possible",
        ),
        (
            |graph| graph.name = "x".repeat(1 << 21),
            &format!(
                "graph {}…, its name: names have 4096 bytes at most and no control characters",
                "x".repeat(200)
            ),
        ),
        (
            |graph| graph.name = "a\nb".into(),
            "graph a b, its name: names have 4096 bytes at most and no control characters",
        ),
        (
            |graph| graph.nodes[2].name = "x".repeat(4097),
            "graph chain, node 2: names have 4096 bytes at most and no control characters",
        ),
        (
            |graph| graph.sources[0] = "\r".into(),
            "graph chain, source 0: names have 4096 bytes at most and no control characters",
        ),
        (
            |graph| graph.sinks[0].name = "\u{1b}[2J".into(),
            "graph chain, sink 0: names have 4096 bytes at most and no control characters",
        ),
        (
            |graph| graph.nodes[0].inputs[0].from = Port::Node(usize::MAX, usize::MAX),
            "graph chain, node n0, input 0: Node(18446744073709551615, 18446744073709551615) does not exist",
        ),
        (
            |graph| graph.nodes[2].inputs.clear(),
            "graph chain, node n2: step 0 reads value 0, which is not there before it",
        ),
    ];
    let field = SignedField::of::<Fq>().unwrap();
    for (change, expected) in table {
        let mut graph = chain(3);
        change(&mut graph);
        assert_eq!(graph.order().unwrap_err().to_string(), expected);
        let others = [
            graph.check_buffers().err(),
            graph.with_least_buffers().err(),
            graph.reduced(&field, Reductions::InNodes).err(),
            graph.unrolled(2).err(),
            graph.split(0).err(),
            graph.fused(0, 1).err(),
        ];
        for error in others {
            assert_eq!(error.unwrap().to_string(), expected);
        }
        assert_eq!(crate::files::graph(&json(&graph)), None);
    }
}

/// Files that fuzzing starts from.
#[test]
fn committed_graphs_are_those_of_this_version() {
    for (text, graph) in [
        (include_str!("../data/double.json"), chain(1)),
        (include_str!("../data/butterfly.json"), formulas::graph("butterfly").unwrap()),
    ] {
        assert_eq!(serde_json::from_str::<DataflowGraph>(text).unwrap(), graph);
        assert_eq!(text.trim_end(), json(&graph));
    }
}

#[test]
fn the_largest_graphs_are_fast() {
    let graph = chain(8000);
    assert_eq!(graph.order().unwrap(), (0..8000).rev().collect::<Vec<_>>());
    assert_eq!(graph.check_buffers(), Ok(()));
    crate::files::graph(&json(&graph));
}

#[test]
fn graphs_at_the_edge_are_executed() {
    // No nodes; a delay as long as a delay can be, which no memory holds; a node that passes bundles on, which has no kernel.
    let mut graphs = [chain(0), chain(2), chain(2)];
    let edge = &mut graphs[1].nodes[0].inputs[0];
    (edge.depth, edge.initial) = (1 << 15, 1 << 15);
    let node = &mut graphs[2].nodes[0];
    (node.steps, node.outputs) = (Vec::new(), vec![0]);
    let device = Device::committed("vck5000").unwrap();
    let done =
        graphs.map(|graph| crate::files::in_time(&device, &crate::files::graph(&json(&graph)).unwrap(), 1));
    assert_eq!(done, [Some(()), None, None]);
}

#[test]
fn devices_at_the_edge_run() {
    let (_, text) = Device::COMMITTED[0];
    let changed = |changes: &[(&str, &str)]| {
        changes.iter().fold(text.to_string(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        })
    };
    let large = [
        ("columns = 50", "columns = 1024"),
        ("rows = 8", "rows = 1024"),
        ("into_grid = 312", "into_grid = 1048576"),
        ("out_of_grid = 234", "out_of_grid = 1048576"),
        ("program_bytes = 16384", "program_bytes = 1073741824"),
        ("data_bytes = 32768", "data_bytes = 1073741824"),
    ];
    // Those whose links take more cycles than can be counted run on the fabric.
    let far = [("hertz = 1.25e9", "hertz = 1e18"), ("bytes_per_second = 2.93e9", "bytes_per_second = 0.001")];
    let slow = [large[4], ("latency = 8", "latency = 100"), ("latency = 6,", "latency = 100, issues = 100,")];
    let graph = crate::files::graph(&json(&chain(2))).unwrap();
    for changes in [large.as_slice(), &far, &slow] {
        let device = crate::files::device(&changed(changes)).unwrap();
        assert_eq!(crate::files::in_time(&device, &graph, 1), Some(()), "{changes:?}");
    }
    let slots = vec!["\"load a\""; 1 << 18].join(", ");
    let name = "x".repeat(1 << 21);
    for (from, to, expected) in [
        ("hertz = 1.25e9", "hertz = 1e-300", "tile.hertz: 0.000"),
        ("hertz = 1.25e9", "hertz = 1e300", "tile.hertz: 1000"),
        (
            "slots = [\"store\"]",
            &format!("slots = [{slots}]"),
            "tile.instructions.store: a slot is there twice",
        ),
        (
            "slots = [\"store\"]",
            &format!("slots = [\"{name}\"]"),
            "tile.instructions.store: there is no slot xxx",
        ),
        ("slots = [\"load a\"", &format!("slots = [\"{name}\""), "tile.slots: names have 4096 bytes at most"),
        ("name = \"VCK5000\"", &format!("name = \"{name}\""), "name: names have 4096 bytes at most"),
        ("name = \"VCK5000\"", "name = \"a\\nb\"", "name: names have 4096 bytes at most"),
        ("name = \"VCK5000\"", "\"a\\nb\" = 1", "line 7: unknown field `a b`"),
        ("reach = [[", &format!("reach = [[{}", "[0, 0], ".repeat(16)), "grid.reach: 20 is not from 1 to 16"),
    ] {
        let error = Device::parse(&changed(&[(from, to)])).unwrap_err().to_string();
        assert!(error.starts_with(&format!("device, {expected}")), "{error}");
        assert!(!error.contains('\n') && error.len() < 1 << 10, "{error}");
    }
}

/// Changes a text like someone who wants to break something: numbers to others, parts left out, repeated or exchanged.
fn change(text: &str, rng: &mut dyn RngCore) -> String {
    const NUMBERS: [&str; 12] = [
        "0",
        "1",
        "2",
        "7",
        "-1",
        "65536",
        "1048576",
        "4294967296",
        "18446744073709551615",
        "1e-300",
        "1e300",
        "nan",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..bytes.len().max(1));
        let length = bytes.len().min(at + rng.random_range(1..24)).saturating_sub(at);
        match rng.random_range(0..6) {
            // Most changes are those of numbers: they are read as before.
            0..3 => {
                let Some(from) = bytes[at..].iter().position(u8::is_ascii_digit).map(|from| at + from) else {
                    continue;
                };
                let digits = bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let number = NUMBERS[rng.random_range(0..NUMBERS.len())];
                bytes.splice(from..from + digits, number.bytes());
            }
            3 => drop(bytes.drain(at..at + length)),
            4 => {
                let part = bytes[at..at + length].to_vec();
                let to = rng.random_range(0..=bytes.len());
                bytes.splice(to..to, part);
            }
            _ => bytes[at] = rng.random_range(b' '..=b'~'),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn changed_devices_do_no_harm() {
    let (rng, graph) = (&mut rng(1), chain(1));
    let graph = crate::files::graph(&json(&graph)).unwrap();
    let mut compiled = 0;
    for index in 0..CHANGES {
        let (_, text) = Device::COMMITTED[index % Device::COMMITTED.len()];
        let Some(device) = crate::files::device(&change(text, rng)) else { continue };
        if compiled < CHANGES / 80 && crate::files::in_time(&device, &graph, 2).is_some() {
            compiled += 1;
        }
    }
    assert!(compiled > 10, "{compiled}");
}

#[test]
fn changed_graphs_do_no_harm() {
    let rng = &mut rng(2);
    let field = SignedField::of::<Fq>().unwrap();
    let mut texts: Vec<_> = ["xyzz-plus-affine", "jacobian-double", "butterfly"]
        .map(|name| formulas::graph(name).unwrap())
        .iter()
        .flat_map(|graph| [graph.clone(), graph.reduced(&field, Reductions::InNodes).unwrap()])
        .collect();
    texts.push(chain(3));
    let texts: Vec<_> = texts.iter().map(json).collect();
    let device = Device::committed("vck5000").unwrap();
    let (mut read, mut run) = (0, 0);
    for index in 0..CHANGES {
        let place = index % texts.len();
        let Some(graph) = crate::files::graph(&change(&texts[place], rng)) else { continue };
        read += 1;
        // The chain alone is compiled in little time.
        if place + 1 == texts.len() && run < CHANGES / 40 {
            run += usize::from(crate::files::in_time(&device, &graph, 1).is_some());
        }
    }
    assert!(read > CHANGES / 20 && run > 10, "{read} {run}");
}
