//! Descriptions of devices: what is committed, what is refused, and devices with parts of others.

use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    Device, PipelineError,
    device::TileDescription,
    graph::record,
    limbs::SignedField,
    schedule::{program, schedule},
};

fn text() -> &'static str {
    Device::COMMITTED[0].1
}

fn refused(text: &str) -> String {
    match Device::parse(text) {
        Err(error @ PipelineError::Device { .. }) => {
            let error = error.to_string();
            assert!(!error.contains('\n'), "{error}");
            error
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn committed_devices_are_found_by_name() {
    for (name, text) in Device::COMMITTED {
        assert_eq!(Device::committed(name), Some(Device::parse(text).unwrap()));
    }
    assert_eq!(Device::committed("VCK5000"), None);
}

#[test]
fn the_paper_s_device_has_its_figures() {
    let device = Device::committed("vck5000").unwrap();
    assert_eq!((device.streams.into_grid, device.streams.out_of_grid), (39 * 8, 39 * 6));
    assert_eq!((device.costs.watts, device.costs.dollars), ([150.0, 200.0], None));
    assert_eq!(device.memory.bytes_per_second, 102.4e9);
    let priced = text().replacen("watts = ", "dollars = 2500\nwatts = ", 1);
    assert_eq!(Device::parse(&priced).unwrap().costs.dollars, Some(2500.0));
}

#[test]
fn every_figure_is_needed() {
    let lines: Vec<_> = text().lines().collect();
    let mut table = lines[0];
    for (index, line) in lines.iter().enumerate() {
        if line.starts_with('[') {
            table = line;
        }
        let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) else { continue };
        let mut rest = lines.clone();
        rest.remove(index);
        let error = refused(&rest.join("\n"));
        if key.starts_with("carry") {
            assert_eq!(
                error,
                "device, tile.instructions: either carry or both carry_down and carry_up are needed"
            );
        } else {
            assert!(error.ends_with(&format!(": missing field `{key}`")), "{error}");
            let at = lines.iter().position(|line| *line == table).unwrap() + 1;
            assert!(error.starts_with(&format!("device, line {at}:")), "{key} of {table}: {error}");
        }
    }
}

#[test]
fn unknown_figures_are_refused_with_their_line() {
    let lines: Vec<_> = text().lines().collect();
    for (index, _) in lines.iter().enumerate().filter(|(_, line)| line.starts_with('[')) {
        let mut more = lines.clone();
        more.insert(index + 1, "volts = 12");
        let error = refused(&more.join("\n"));
        assert!(error.starts_with(&format!("device, line {}: unknown field `volts`", index + 2)), "{error}");
    }
}

#[test]
fn wrong_figures_are_refused_with_place_and_reason() {
    let slots = "load a, load b, store, move 0, move 1, vector";
    for (from, to, expected) in [
        ("hertz = 1.25e9", "hertz = -1.0", "tile.hertz: -1 is not from 0.001 to 10^18"),
        ("hertz = 1.25e9", "hertz = nan", "tile.hertz: NaN is not from 0.001 to 10^18"),
        (
            "bytes_per_second = 102.4e9",
            "bytes_per_second = 0.0",
            "memory.bytes_per_second: 0 is not from 0.001 to 10^18",
        ),
        (
            "bytes_per_second = 2.93e9",
            "bytes_per_second = inf",
            "host.bytes_per_second: inf is not from 0.001 to 10^18",
        ),
        ("watts = [150.0, 200.0]", "watts = [0.0, 200.0]", "costs.watts: 0 is not from 0.001 to 10^18"),
        (
            "watts = [150.0, 200.0]",
            "watts = [150.0, 100.0]",
            "costs.watts: the most, 100, is less than the least, 150",
        ),
        ("watts = ", "dollars = -1.0\nwatts = ", "costs.dollars: -1 is not from 0.001 to 10^18"),
        ("columns = 50", "columns = 0", "grid.columns: 0 is not from 1 to 1024"),
        ("rows = 8", "rows = 1025", "grid.rows: 1025 is not from 1 to 1024"),
        ("reach = [[[0, 0], ", "reach = [[", "grid.reach: a tile reaches its own memory first: [0, 0]"),
        ("[0, 1]", "[0, 1025]", "grid.reach: steps are from -1024 to 1024"),
        ("bytes_per_cycle = 4", "bytes_per_cycle = 0", "streams.bytes_per_cycle: 0 is not from 1 to 1024"),
        ("into_grid = 312", "into_grid = 0", "streams.into_grid: 0 is not from 1 to 1048576"),
        ("out_of_grid = 234", "out_of_grid = 0", "streams.out_of_grid: 0 is not from 1 to 1048576"),
        ("into_tile = 2", "into_tile = 0", "streams.into_tile: 0 is not from 1 to 1024"),
        ("out_of_tile = 2", "out_of_tile = 1025", "streams.out_of_tile: 1025 is not from 1 to 1024"),
        ("hop_cycles = 4", "hop_cycles = 1025", "streams.hop_cycles: 1025 is not from 0 to 1024"),
        ("slots = [\"load a\", ", "slots = [\"vector\", ", "tile.slots: vector is there twice"),
        ("\nvectors = 8", "\nvectors = 0", "tile.vectors: 0 is not from 1 to 1024"),
        ("accumulators = 4", "accumulators = 0", "tile.accumulators: 0 is not from 1 to 1024"),
        ("data_bytes = 32768", "data_bytes = 0", "tile.data_bytes: 0 is not from 1 to 1073741824"),
        (
            "stack_bytes = 2048",
            "stack_bytes = 32768",
            "tile.stack_bytes: 32768 bytes are all of the memory's 32768",
        ),
        ("program_bytes = 16384", "program_bytes = 0", "tile.program_bytes: 0 is not from 1 to 1073741824"),
        (
            "instruction_bytes = 16",
            "instruction_bytes = 0",
            "tile.instruction_bytes: 0 is not from 1 to 1024",
        ),
        ("call_cycles = 80", "call_cycles = 1048577", "tile.call_cycles: 1048577 is not from 0 to 1048576"),
        ("lock_cycles = 7", "lock_cycles = 1048577", "tile.lock_cycles: 1048577 is not from 0 to 1048576"),
        (
            "store = { slots = [\"store\"]",
            "store = { slots = [\"stores\"]",
            &format!("tile.instructions.store: there is no slot stores; slots are {slots}"),
        ),
        ("store = { slots = [\"store\"]", "store = { slots = []", "tile.instructions.store: it needs a slot"),
        ("latency = 8", "latency = 8, issues = 2", "tile.instructions.load: a load is issued once"),
        (
            "latency = 8",
            "latency = 0",
            "tile.instructions.load: its latency and its issues are from 1 to 100",
        ),
        (
            "issues = 2",
            "issues = 101",
            "tile.instructions.carry_down: its latency and its issues are from 1 to 100",
        ),
        (
            "latency = 6, accumulate = 1",
            "latency = 6, accumulate = 7",
            "tile.instructions.multiply: a sum goes on after 1 cycle at least, and after its latency at most",
        ),
        (
            "\ncarry_up = ",
            "\ncarry = { slots = [\"vector\"], latency = 1 }\ncarry_up = ",
            "tile.instructions: either carry or both carry_down and carry_up are needed",
        ),
    ] {
        let changed = text().replacen(from, to, 1);
        assert_ne!(changed, text(), "{from}");
        assert_eq!(refused(&changed), format!("device, {expected}"));
    }
}

#[test]
fn parts_of_another_device_come_one_by_one_and_all_together() {
    let (device, ideal) = (Device::committed("vck5000").unwrap(), Device::committed("ideal").unwrap());
    assert_eq!(device.features(&device), []);
    let features = device.features(&ideal);
    let names: Vec<_> = features.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        [
            "way to carry",
            "additions without the multiplier",
            "latencies",
            "accumulators",
            "vector registers",
            "data memory",
            "all"
        ]
    );
    let with = |name: &str| &features.iter().find(|(known, _)| *known == name).unwrap().1;
    // Nothing is forgotten.
    assert_eq!(*with("all"), Device { name: device.name.clone(), ..ideal.clone() });
    let tile = TileDescription { accumulators: ideal.tile.accumulators, ..device.tile.clone() };
    assert_eq!(*with("accumulators"), Device { tile, ..device.clone() });
    let carries = &with("way to carry").tile.instructions;
    assert_eq!((&carries.carry, &carries.carry_down), (&ideal.tile.instructions.carry, &None));
    assert_eq!((&carries.low, &carries.add), (&device.tile.instructions.low, &None));
    let latencies = &with("latencies").tile.instructions;
    assert_eq!((latencies.load.latency, latencies.low.latency), (5, 1));
    assert_eq!(latencies.carry_down, device.tile.instructions.carry_down);
}

#[test]
fn carries_within_accumulators_pay() {
    let field = SignedField::of::<Fq>().unwrap();
    let graph = record("product", ["A", "B"], ["C"], |[a, b]| [a * b]);
    let cycles = |device: &Device| {
        let program = program(&graph.nodes[0], &field, device);
        schedule("product", &program, device, 16).unwrap().cycles(16)
    };
    let device = Device::committed("vck5000").unwrap();
    let features = device.features(&Device::committed("ideal").unwrap());
    let with = |name: &str| cycles(&features.iter().find(|(known, _)| *known == name).unwrap().1);
    let (none, carries, all) = (cycles(&device), with("way to carry"), with("all"));
    assert!(carries < none * 9 / 10 && all < carries * 9 / 10, "{none}, {carries}, {all}");
    // The multiplier's time for 64 + 8 + 64 products is left.
    assert!(all > 136 * 16, "{all}");
}

#[test]
fn parts_that_need_other_slots_bring_them() {
    let (device, cpu) = (Device::committed("vck5000").unwrap(), Device::committed("zen4").unwrap());
    let (_, with_slots) = device.features(&cpu).into_iter().find(|(name, _)| *name == "slots").unwrap();
    assert_eq!(with_slots.tile.slots[..6], device.tile.slots);
    assert_eq!(with_slots.tile.slots[6..], ["load", "vector 0", "vector 1", "rename"]);
}
