//! Schedules against the rules of the tile, checked anew here, and by execution in the order that they give.

use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    Device, Graph, PipelineError,
    device::Timing,
    execute::{Arithmetic, run},
    formulas,
    graph::{Edge, Node, Operation, Port, Reductions, Step},
    limbs::{Bundle, LIMBS, Operand, Program, SignedField, TileOperation, Word},
    schedule::{Action, Schedule, program, schedule},
};
use proofmill_testing::rng;
use rand::Rng;
use std::collections::HashMap;

const VECTORS: usize = 4;

fn field() -> SignedField {
    SignedField::of::<Fq>().unwrap()
}

fn device() -> Device {
    Device::committed("vck5000").unwrap()
}

fn timing<'a>(device: &'a Device, program: &Program, index: usize) -> &'a Timing {
    let instructions = &device.tile.instructions;
    match program.instructions[index].operation {
        TileOperation::Multiply { .. } => &instructions.multiply,
        TileOperation::Low { .. } | TileOperation::Quotient => &instructions.srs,
        TileOperation::CarryDown => &instructions.carry_down,
        TileOperation::CarryUp => &instructions.carry_up,
        TileOperation::Store => &instructions.store,
    }
}

/// Checks that everything is issued once, in a slot of its own, and after what it reads is there.
fn check(schedule: &Schedule, program: &Program, device: &Device) {
    let tile = &device.tile;
    let mut issues: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
    let mut loads: HashMap<(usize, usize, usize), usize> = HashMap::new();
    let mut first = None;
    for (index, row) in schedule.rows.iter().enumerate() {
        let mut slots: Vec<_> = row.iter().map(|placed| placed.slot).collect();
        slots.sort_unstable();
        assert!(slots.array_windows().all(|[first, second]| first < second), "one instruction a slot");
        for placed in row {
            // Rows and cycles are counted from different ones.
            let from = (placed.cycle + schedule.rows.len() - index) % schedule.rows.len();
            assert_eq!(*first.get_or_insert(from), from);
            let slot = &tile.slots[placed.slot];
            match placed.action {
                Action::Load { word, reader } => {
                    assert!(tile.instructions.load.slots.contains(slot));
                    assert!(loads.insert((placed.vector, word, reader), placed.cycle).is_none());
                }
                Action::Instruction(index) => {
                    assert!(timing(device, program, index).slots.contains(slot));
                    issues.entry((placed.vector, index)).or_default().push(placed.cycle);
                }
            }
        }
    }
    assert_eq!(issues.len(), schedule.vectors * program.instructions.len());
    for ((vector, index), cycles) in &issues {
        let (begin, end) = (cycles.iter().min().unwrap(), cycles.iter().max().unwrap());
        assert_eq!(end - begin + 1, cycles.len());
        assert_eq!(cycles.len(), timing(device, program, *index).issues);
        let instruction = &program.instructions[*index];
        let is_there = |from: usize, as_sum: bool| {
            let timing = timing(device, program, from);
            let latency = timing.accumulate.filter(|_| as_sum).unwrap_or(timing.latency);
            issues[&(*vector, from)].iter().max().unwrap() + latency <= *begin
        };
        let sums =
            |index: usize| matches!(program.instructions[index].operation, TileOperation::Multiply { .. });
        if let Some(from) = instruction.accumulator {
            assert!(is_there(from, sums(from) && sums(*index)), "{index} reads {from}");
        }
        for operand in &instruction.operands {
            match operand {
                Operand::Register(from) => assert!(is_there(*from, false), "{index} reads {from}"),
                Operand::Constant(_) => {}
                Operand::Memory(word) => {
                    let loaded = loads[&(*vector, *word, *index)];
                    assert!(loaded + tile.instructions.load.latency <= *begin);
                    if let Some(stored_by) = program.words[*word] {
                        let stored = issues[&(*vector, stored_by)].iter().max().unwrap();
                        assert!(stored + tile.instructions.store.latency <= loaded);
                    }
                }
            }
        }
    }
    assert!(schedule.registers <= tile.vectors && schedule.accumulators <= tile.accumulators);
    assert!(schedule.instructions() * tile.instruction_bytes <= tile.program_bytes);
    assert!(
        schedule.instructions() >= schedule.rows.len() && schedule.cycles(schedule.vectors) == schedule.span
    );
}

/// Runs the program of one vector in the order of the schedule.
fn execute(schedule: &Schedule, program: &Program, inputs: &[[Word; LIMBS]]) -> Vec<[Word; LIMBS]> {
    for vector in 0..schedule.vectors {
        let placed = schedule.rows.iter().flatten().filter(|placed| placed.vector == vector);
        let mut order: Vec<_> = placed
            .filter_map(|placed| match placed.action {
                Action::Instruction(index) => Some((placed.cycle, index)),
                Action::Load { .. } => None,
            })
            .collect();
        order.sort_unstable();
        order.dedup_by_key(|(_, index)| *index);
        let words = program.run(order.into_iter().map(|(_, index)| index), inputs);
        if vector + 1 == schedule.vectors {
            return program.outputs.iter().map(|output| output.map(|word| words[word])).collect();
        }
    }
    unreachable!("a schedule has vectors")
}

#[test]
fn kernels_keep_the_rules_and_compute_the_same() {
    let (field, device) = (field(), device());
    let mut rng = rng(1);
    for name in formulas::NAMES {
        for reductions in [Reductions::InNodes, Reductions::WhereNeeded] {
            let graph = formulas::graph(name).unwrap().reduced(&field, reductions).unwrap();
            let mut known: Vec<&[Step]> = Vec::new();
            for node in &graph.nodes {
                if known.contains(&node.steps.as_slice()) {
                    continue;
                }
                known.push(&node.steps);
                let program = program(node, &field);
                let schedule = schedule(&node.name, &program, &device, VECTORS).unwrap();
                check(&schedule, &program, &device);
                let alone = alone(node);
                let inputs: Vec<_> = node
                    .inputs
                    .iter()
                    .map(|_| {
                        let mut bundle = Bundle::zeros(1);
                        for element in 0..bundle.elements() {
                            bundle.set(
                                element,
                                [rng.random(), rng.random(), rng.random(), rng.random::<u64>() >> 3],
                                &field,
                            );
                        }
                        bundle
                    })
                    .collect();
                let words: Vec<[Word; LIMBS]> = inputs
                    .iter()
                    .map(|bundle| {
                        std::array::from_fn(|limb| {
                            Word::new(std::array::from_fn(|lane| bundle.digits(lane)[limb]))
                        })
                    })
                    .collect();
                let inputs: Vec<_> = inputs.into_iter().map(|bundle| vec![bundle]).collect();
                let expected = run(&alone, &field, Arithmetic::Exact, &inputs).unwrap();
                for (output, bundle) in execute(&schedule, &program, &words).iter().zip(&expected) {
                    for lane in 0..bundle[0].elements() {
                        assert_eq!(bundle[0].digits(lane), output.map(|word| word.numbers()[lane]));
                    }
                }
            }
        }
    }
}

/// A graph of one node.
fn alone(node: &Node) -> Graph {
    let mut node = node.clone();
    for (source, edge) in node.inputs.iter_mut().enumerate() {
        *edge = Edge::new(Port::Source(source));
    }
    Graph {
        name: "alone".into(),
        sources: (0..node.inputs.len()).map(|source| format!("s{source}")).collect(),
        sinks: (0..node.outputs.len())
            .map(|output| proofmill_pipeline::graph::Sink {
                name: format!("t{output}"),
                edge: Edge::new(Port::Node(0, output)),
            })
            .collect(),
        nodes: vec![node],
    }
}

#[test]
fn tiles_that_are_too_small_are_refused_with_the_reason() {
    let graph = formulas::graph("butterfly").unwrap();
    let program = program(&graph.nodes[0], &field());
    assert_eq!(graph.nodes[0].steps[0].operation, Operation::Multiply);
    let refused = |change: &dyn Fn(&mut Device)| {
        let mut device = device();
        change(&mut device);
        schedule("product", &program, &device, VECTORS).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&|device| device.tile.accumulators = 1),
        "node product on VCK5000: 6 registers and 1 accumulators do not suffice"
    );
    assert_eq!(
        refused(&|device| device.tile.vectors = 2),
        "node product on VCK5000: its constants take all 2 registers"
    );
    assert_eq!(
        schedule("product", &program, &device(), 0).unwrap_err().to_string(),
        "node product on VCK5000: 0 vectors in a call: from 1 to 65536 are possible"
    );
    let text = refused(&|device| device.tile.program_bytes = 1600);
    assert!(text.ends_with("instructions exceed the 100 of the program memory: split it"), "{text}");
}

#[test]
fn malformed_devices_are_refused_with_the_reason() {
    let (_, text) = Device::COMMITTED[0];
    let refused = |from: &str, to: &str| match Device::parse(&text.replacen(from, to, 1)) {
        Err(error @ PipelineError::Device { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused("hertz = 1.25e9", "hertz = -1.0"), "device, tile.hertz: -1 is not positive");
    assert_eq!(refused("vectors = 8", "vectors = 0"), "device, tile.vectors: 0 is not from 1 to 1024");
    assert_eq!(
        refused("store = { slots = [\"store\"]", "store = { slots = [\"stores\"]"),
        "device, tile.instructions.store: there is no slot stores; slots are load a, load b, store, move 0, move 1, vector"
    );
    assert_eq!(
        refused("store = { slots = [\"store\"]", "store = { slots = []"),
        "device, tile.instructions.store: it needs a slot"
    );
    assert_eq!(
        refused("latency = 6, accumulate = 1", "latency = 6, accumulate = 7"),
        "device, tile.instructions.multiply: a sum goes on after 1 cycle at least, and after its latency at most"
    );
    assert!(refused("name = ", "title = ").contains("unknown field `title`"));
    assert!(refused("latency = 8", "latency = 0").ends_with("from 1 to 1000"));
}
