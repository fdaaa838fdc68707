//! Operands of all formulas, and settings side by side.

use proofmill_field::goldilocks_levels;
use proofmill_pipeline::{
    DataflowGraph, Device,
    execute::{Arithmetic, run},
    explore::{Depth, Exploration, ExplorationQuestion, NetworkShape, Prices, Setting},
    formulas,
    graph::Reductions,
    limbs::Bundle,
    samples::{self, integer, parse, residue},
    schedule::Compiler,
    simulate::{RunSettings, Supply},
};

fn formula(name: &str) -> DataflowGraph {
    formulas::graph(name).unwrap()
}

#[test]
fn samples_suit_every_formula() {
    for name in formulas::NAMES {
        let field = formulas::field(name).unwrap();
        let sources = samples::random(name, 8, 5).unwrap();
        assert_eq!(sources, samples::random(name, 8, 5).unwrap());
        assert_ne!(sources, samples::random(name, 8, 6).unwrap());
        assert_eq!(sources.len(), formula(name).sources.len());
        let inputs: Vec<_> = sources
            .iter()
            .map(|source| {
                let mut bundle = Bundle::zeros(1);
                (0..8).for_each(|index| bundle.set(index, source[index], &field));
                vec![bundle]
            })
            .collect();
        let graph = formula(name).reduced(&field, Reductions::WhereNeeded).unwrap();
        let arithmetic = Arithmetic::Level(goldilocks_levels()[0]);
        let sinks = run(&graph, &field, arithmetic, &inputs).unwrap();
        let expected = samples::results(name, &sources).unwrap().unwrap();
        assert_eq!(sinks.len(), expected.len());
        for (sink, expected) in sinks.iter().zip(expected) {
            assert!((0..8).all(|index| sink[0].get(index, &field) == expected[index]), "{name}");
        }
        let error = samples::results(name, &sources[1..]).unwrap_err().to_string();
        assert!(error.contains("sources with as many elements each"), "{error}");
        let mut large = sources.clone();
        large[0][3] = [u64::MAX; 4];
        let error = samples::results(name, &large).unwrap_err().to_string();
        assert_eq!(error, "operands 3 have a number that is not below the modulus");
    }
    assert!(samples::random("other", 1, 1).is_none() && samples::results("other", &[]).unwrap().is_none());
}

#[test]
fn integers_are_read_and_written() {
    assert_eq!(parse("0"), Some([0; 4]));
    assert_eq!(parse("18446744073709551616"), Some([0, 1, 0, 0]));
    assert_eq!(parse("0xffffffffffffffffffffffffffffffff"), Some([u64::MAX, u64::MAX, 0, 0]));
    let most = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    assert_eq!(parse(most), Some([u64::MAX; 4]));
    let more = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
    for wrong in [more, "", "0x", "-1", "1.5", "0xg", "12a", " 1"] {
        assert_eq!(parse(wrong), None, "{wrong}");
    }
    for name in formulas::NAMES {
        assert_eq!(integer(name, residue(name, [7, 0, 0, 0]).unwrap()), Some([7, 0, 0, 0]));
        assert_eq!(residue(name, [u64::MAX; 4]), None);
    }
}

#[test]
fn settings_are_compared() {
    let field = formulas::field("butterfly").unwrap();
    let butterfly = formula("butterfly");
    let device = Device::committed("vck5000").unwrap();
    let base = Setting {
        device: device.clone(),
        shape: NetworkShape::PAPER,
        depth: Depth::Double,
        vectors: 4,
        pipelines: Some(3),
        run: RunSettings { calls: 50, ..RunSettings::default() },
        prices: Prices::default(),
    };
    let wish = Device::committed("ideal").unwrap();
    let devices = [device.clone(), wish.clone()];
    let question = ExplorationQuestion {
        formula: &butterfly,
        field: &field,
        base: &base,
        devices: &devices,
        wish: &wish,
    };
    let exploration = question.explore().unwrap();
    let tables = &exploration.tables;
    let table = |title: &str| tables.iter().find(|table| table.title.starts_with(title)).unwrap();
    let rates = |title: &str, supply: Supply| -> Vec<f64> {
        let rows = table(title).rows.iter().filter(|row| row.supply == supply);
        rows.filter_map(|row| Some(row.answer()?.per_second)).collect()
    };
    let fabric = rates("pipelines", Supply::Fabric);
    assert!(fabric.len() == 3 && fabric[2] > 2.9 * fabric[0]);
    let host = rates("pipelines", Supply::Host);
    assert!(host[2] < fabric[2]);
    // A clock of half the rate halves what tiles do.
    let clocks = rates("clock", Supply::Fabric);
    assert!((clocks[2] / clocks[0] - 2.0).abs() < 0.01, "{clocks:?}");
    // The device itself is the first of the devices, and the wish is better with all of its parts.
    let [own, ideal] = rates("devices", Supply::Fabric).try_into().unwrap();
    assert!(ideal > 1.3 * own);
    let features = table("what another chip has");
    assert_eq!(features.rows.last().unwrap().label, "all");
    assert!((features.rows.last().unwrap().answer().unwrap().per_second / ideal - 1.0).abs() < 1e-9);
    let answer = table("devices").rows[0].answer().unwrap();
    assert_eq!(answer.joules_per_million, device.costs.watts.map(|watts| watts * 1e6 / own));
    assert_eq!(answer.dollars_per_million, None);
    // A dollar a second, and nothing or 3.6 dollars for a kilowatt hour: a dollar for a million joules.
    let mut priced = base.clone();
    (priced.device.costs.dollars, priced.device.costs.watts) = (Some(365.25 * 86400.0), [1.0, 2.0]);
    let mut compiler = Compiler::new(&field, &device, base.vectors);
    let built = priced.build(&butterfly, &mut compiler).unwrap();
    let dollars = |dollars_per_kwh| {
        let prices = Prices { years: 1.0, dollars_per_kwh };
        let answer = built.answer(&Setting { prices, ..priced.clone() });
        answer.dollars_per_million.unwrap().map(|dollars| dollars * answer.per_second / 1e6)
    };
    assert!(dollars(0.0).iter().all(|dollars| (dollars - 1.0).abs() < 1e-9));
    assert!(dollars(3.6).iter().zip([1.000001, 1.000002]).all(|(dollars, sum)| (dollars - sum).abs() < 1e-9));
    // Two copies side by side do twice the work on twice the tiles.
    let twice = Setting {
        shape: NetworkShape { copies: 2, ..NetworkShape::PAPER },
        pipelines: Some(1),
        ..base.clone()
    };
    let twice = twice.build(&butterfly, &mut compiler).unwrap().answer(&twice);
    assert!(twice.tiles == 6 && (twice.per_second / (2.0 * fabric[0]) - 1.0).abs() < 0.01, "{twice:?}");
    assert_eq!(exploration.throughput()[0].1[2], [3.0, fabric[2]]);
    // As a file, also of rows without figures.
    let text = serde_json::to_string(&exploration).unwrap();
    assert_eq!(serde_json::from_str::<Exploration>(&text).unwrap(), exploration);
    // What is not possible says why.
    let refused = Setting { pipelines: Some(1000), ..base.clone() };
    let mut compiler = Compiler::new(&field, &device, base.vectors);
    let error = refused.build(&butterfly, &mut compiler).unwrap_err().to_string();
    assert!(error.starts_with("butterfly on VCK5000: 1000 pipelines of 3 nodes"), "{error}");
}
