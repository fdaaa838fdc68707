//! Schedules against the rules of the tile, checked anew here, and by execution in the order that they give.

use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    DataflowGraph, Device,
    device::Timing,
    execute::{Arithmetic, run},
    formulas,
    graph::{Edge, FieldOperation, GraphNode, Port, Reductions, record},
    limbs::{Bundle, InstructionOperand, LIMBS, SignedField, TileOperation, TileProgram, VectorWord},
    schedule::{Action, KernelSchedule, program, schedule},
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

fn timing<'a>(device: &'a Device, program: &TileProgram, index: usize) -> &'a Timing {
    let instructions = &device.tile.instructions;
    let instruction = &program.instructions[index];
    let timing = match instruction.operation {
        TileOperation::Multiply { .. } => {
            let one =
                [1, -1].iter().any(|one| instruction.operands.contains(&InstructionOperand::Constant(*one)));
            instructions.add.as_ref().filter(|_| one).or(Some(&instructions.multiply))
        }
        TileOperation::Low { .. } => Some(&instructions.low),
        TileOperation::Quotient => Some(&instructions.quotient),
        TileOperation::Carry => instructions.carry.as_ref(),
        TileOperation::CarryDown => instructions.carry_down.as_ref(),
        TileOperation::CarryUp => instructions.carry_up.as_ref(),
        TileOperation::Store => Some(&instructions.store),
    };
    timing.expect("an instruction of the device")
}

/// Checks that everything is issued once, in a slot of its own, and after what it reads is there.
fn check(schedule: &KernelSchedule, program: &TileProgram, device: &Device) {
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
                InstructionOperand::Register(from) => assert!(is_there(*from, false), "{index} reads {from}"),
                InstructionOperand::Constant(_) => {}
                InstructionOperand::Memory(word) => {
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
fn execute(
    schedule: &KernelSchedule,
    program: &TileProgram,
    inputs: &[[VectorWord; LIMBS]],
) -> Vec<[VectorWord; LIMBS]> {
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
    keep_the_rules(&device(), formulas::NAMES);
}

#[test]
fn kernels_of_other_devices_keep_the_rules_and_compute_the_same() {
    for (name, _) in &Device::COMMITTED[1..] {
        keep_the_rules(&Device::committed(name).unwrap(), &["butterfly"]);
    }
}

#[test]
fn kernels_of_devices_with_parts_of_others_keep_the_rules_and_compute_the_same() {
    let ideal = Device::committed("ideal").unwrap();
    for (_, device) in &device().features(&ideal)[..2] {
        keep_the_rules(device, &["butterfly"]);
    }
}

/// Checks the kernels of formulas, with reductions in nodes and as nodes.
fn keep_the_rules(device: &Device, names: &[&str]) {
    let field = field();
    let mut rng = rng(1);
    let mut known: Vec<GraphNode> = Vec::new();
    for name in names {
        for reductions in [Reductions::InNodes, Reductions::WhereNeeded] {
            let graph = formulas::graph(name).unwrap().reduced(&field, reductions).unwrap();
            for node in &graph.nodes {
                if known.iter().any(|known| known.has_same_kernel(node)) {
                    continue;
                }
                known.push(node.clone());
                let program = program(node, &field, device);
                let schedule = schedule(&node.name, &program, device, VECTORS).unwrap();
                check(&schedule, &program, device);
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
                let words: Vec<[VectorWord; LIMBS]> = inputs
                    .iter()
                    .map(|bundle| {
                        std::array::from_fn(|limb| {
                            VectorWord::new(std::array::from_fn(|lane| bundle.digits(lane)[limb]))
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
fn alone(node: &GraphNode) -> DataflowGraph {
    let mut node = node.clone();
    for (source, edge) in node.inputs.iter_mut().enumerate() {
        *edge = Edge::new(Port::Source(source));
    }
    DataflowGraph {
        name: "alone".into(),
        sources: (0..node.inputs.len()).map(|source| format!("s{source}")).collect(),
        sinks: (0..node.outputs.len())
            .map(|output| proofmill_pipeline::graph::GraphSink {
                name: format!("t{output}"),
                edge: Edge::new(Port::Node(0, output)),
            })
            .collect(),
        nodes: vec![node],
    }
}

#[test]
fn carries_within_accumulators_pay() {
    let field = field();
    let graph = record("product", ["A", "B"], ["C"], |[a, b]| [a * b]);
    let cycles = |device: &Device| {
        let program = program(&graph.nodes[0], &field, device);
        schedule("product", &program, device, 4 * VECTORS).unwrap().cycles(4 * VECTORS)
    };
    let device = device();
    let features = device.features(&Device::committed("ideal").unwrap());
    let with = |name: &str| cycles(&features.iter().find(|(known, _)| *known == name).unwrap().1);
    let (none, carries, all) = (cycles(&device), with("way to carry"), with("all"));
    assert!(carries < none * 9 / 10 && all < carries * 9 / 10, "{none}, {carries}, {all}");
    // The multiplier's time for 64 + 8 + 64 products is left.
    assert!(all > 136 * 4 * VECTORS, "{all}");
}

#[test]
fn more_registers_make_kernels_faster() {
    let graph = record("product", ["A", "B"], ["C"], |[a, b]| [a * b]);
    let device = device();
    let program = program(&graph.nodes[0], &field(), &device);
    let cycles = |vectors: usize, accumulators: usize| {
        let mut device = device.clone();
        (device.tile.vectors, device.tile.accumulators) = (vectors, accumulators);
        let schedule = schedule("product", &program, &device, 4 * VECTORS).unwrap();
        check(&schedule, &program, &device);
        schedule.cycles(4 * VECTORS) as f64
    };
    // What is taken first is decided anew with each register, and not always for the best.
    let slower = 1.04;
    for accumulators in [4, 6] {
        let all = [7, 8, 9, 10, 16].map(|vectors| cycles(vectors, accumulators));
        assert!(all.array_windows().all(|[fewer, more]| *more <= slower * fewer), "{all:?}");
        let [fewest, .., most] = all;
        assert!(most < 0.95 * fewest, "{all:?}");
    }
}

#[test]
fn tiles_that_are_too_small_are_refused_with_the_reason() {
    let graph = formulas::graph("butterfly").unwrap();
    let program = program(&graph.nodes[0], &field(), &device());
    assert_eq!(graph.nodes[0].steps[0].operation, FieldOperation::Multiply);
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
    assert_eq!(
        refused(&|device| *device = Device::committed("ideal").unwrap()),
        "node product on VCK5000 with an ideal instruction set: its program is for tiles that carry in another way"
    );
    let text = refused(&|device| device.tile.program_bytes = 1600);
    assert!(text.ends_with("instructions exceed the 100 of the program memory: split it"), "{text}");
}
