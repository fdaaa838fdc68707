use super::*;
use crate::record::{BenchRun, Clock, Figures, MachineFacts, Measurement, Price, RowKey, RowOutcome, Suite};

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "expected {expected}, found {found}");
}

/// Figure 8's bar of a base at this length of vectors and frequency.
fn bar<'a>(projection: &'a Projection, base: &str, bits: u32, gigahertz: f64) -> &'a Scenario {
    let base = projection.bases.iter().position(|b| b.name.starts_with(base)).unwrap();
    let wanted =
        |s: &&Scenario| s.base == base && s.vector_bits == bits && (s.hertz / 1e9 - gigahertz).abs() < 1e-9;
    projection.scenarios.iter().find(wanted).unwrap()
}

/// The reference's index, by the start and the end of its name.
fn reference(projection: &Projection, cpu: &str, vectors: &str) -> usize {
    let wanted = |r: &Subject| r.name.starts_with(cpu) && r.name.ends_with(vectors);
    projection.references.iter().position(wanted).unwrap()
}

/// Section 5's sentences about figure 8, in their order. Where a sentence has lost its number in the public
/// text, the test checks the order and the number that follows from the model.
#[test]
fn the_papers_figure_8_follows_from_its_inputs() {
    let p = paper(&ModelQuestion::default()).unwrap();
    assert_eq!(p.scenarios.len(), 2 * 3 * 2);
    let [epyc_avx, xeon_avx, epyc_512, xeon_512] =
        [("EPYC", "AVX"), ("Xeon", "AVX"), ("EPYC", "AVX-512"), ("Xeon", "AVX-512")]
            .map(|(c, v)| reference(&p, c, v));
    // Abstract: 1.6 and 1.4 times slower than either CPU with AVX-512.
    for (base, gigahertz, slower) in [("Graviton4", 2.8, 1.6), ("Axion", 3.1, 1.4)] {
        let now = bar(&p, base, 128, gigahertz);
        for r in [epyc_512, xeon_512] {
            near(1.0 / now.against[r].faster[0], slower, 1e-12);
        }
        // A higher frequency alone is not enough to be faster than EPYC and Xeon with AVX.
        let fast = bar(&p, base, 128, 3.7);
        near(fast.speedup, 3.7 / gigahertz, 1e-12);
        for r in [epyc_avx, xeon_avx, epyc_512, xeon_512] {
            assert!(fast.against[r].faster[1] < 1.0, "{base}");
        }
    }
    // Both are Neoverse V2: their cycles agree within the rounding to two digits.
    near(1.6 * 2.8, 1.4 * 3.1, 0.04);
    // 256 bits at 2.8 GHz: faster than EPYC with AVX, even at the lower bound of its time; faster still at
    // 3.7 GHz.
    let [a, b, c, d] =
        [(256, 2.8), (256, 3.7), (512, 2.8), (512, 3.7)].map(|(v, f)| bar(&p, "Graviton4", v, f));
    assert!(a.against[epyc_avx].faster[0] > 1.0);
    near(a.against[epyc_avx].faster[0], 1.22, 0.005);
    near(b.against[epyc_avx].faster[0], 1.62, 0.005);
    // 512 bits: faster than EPYC with AVX-512, and fastest at 3.7 GHz.
    near(c.against[epyc_512].faster[0], 2.36, 0.005);
    near(d.against[epyc_512].faster[0], 3.12, 0.005);
    let most = p.scenarios.iter().map(|s| s.speedup).fold(0.0, f64::max);
    assert_eq!((most, d.base), (d.speedup, 0));
}

/// The paper's conclusion: the cost grows by less than the speed.
#[test]
fn machines_with_longer_vectors_stay_cheaper() {
    let p = paper(&ModelQuestion::default()).unwrap();
    // Abstract: at least 10% cheaper.
    let ours = p.bases[0].dollars_per_hour.unwrap();
    for reference in &p.references {
        assert!(ours / reference.dollars_per_hour.unwrap() <= 0.9, "{}", reference.name);
    }
    // Google's prices are not listed here: no price for Axion.
    assert_eq!(p.bases[1].dollars_per_hour, None);
    for scenario in &p.scenarios {
        let wide = scenario.vector_bits > 128;
        for against in &scenario.against {
            assert_eq!(against.dollars.is_some(), scenario.base == 0);
            if let Some(dollars) = against.dollars {
                assert!(!wide || dollars[0].max(dollars[1]) < 1.0, "{scenario:?}");
            }
        }
    }
}

/// Equations 6 to 9, calculated by hand: a quarter of the time at twice the frequency with vectors twice as
/// long.
#[test]
fn equations_agree_with_calculations_by_hand() {
    let assumptions = Assumptions {
        dynamic_share: 0.4,
        cpu_share: 0.5,
        power_share_of_tco: vec![0.1, 0.2],
        ..Assumptions::default()
    };
    let power = assumptions.power(2.0, 2.0);
    near(power.dynamic, 4.0, 1e-12);
    near(power.cpu, 0.6 + 0.4 * 4.0, 1e-12);
    near(power.server, 0.5 + 0.5 * 2.2, 1e-12);
    near(power.cost[0], 0.9 + 0.1 * 1.6, 1e-12);
    near(power.cost[1], 1.12, 1e-12);
    near(assumptions.time(2.0, 0.5), 0.25, 1e-12);
    // Voltage proportional to frequency.
    let cubic = Assumptions { frequency_exponent: 3.0, vector_exponent: 0.0, ..assumptions.clone() };
    near(cubic.power(2.0, 2.0).dynamic, 8.0, 1e-12);
    // A given growth applies to changed machines only.
    let given = Assumptions { dynamic_growth: Some(2.0), ..assumptions.clone() };
    near(given.power(1.0, 2.0).cpu, 1.4, 1e-12);
    assert_eq!(given.power(1.0, 1.0).cost, [1.0, 1.0]);
    let waiting = Assumptions { fixed_share: 0.2, ..assumptions };
    near(waiting.time(2.0, 0.5), 0.4, 1e-12);
}

#[test]
fn counts_agree_with_the_record() {
    let counts = InstructionCounts::committed();
    near(counts.ratio("poseidon_tree", "sve2", 128, 256).unwrap(), 0.5105, 0.001);
    near(counts.ratio("poseidon_tree", "sve2", 128, 512).unwrap(), 0.2647, 0.001);
    near(counts.ratio("poseidon_tree", "sve", 256, 128).unwrap(), 1.963, 0.001);
    assert_eq!(counts.ratio("poseidon_tree", "sve2", 128, 1024), None);
    assert_eq!(counts.ratio("poseidon_tree", "avx2", 256, 512), None);
    let of = |family, benchmark| function_of(family, benchmark);
    assert_eq!(of("merkle", "poseidon2").as_deref(), Some("poseidon2_tree"));
    assert_eq!(of("permutations", "poseidon").as_deref(), Some("poseidon_rows"));
    assert_eq!(of("merkle", "sha256"), None);
    assert_eq!(of("msm", "bn254-g1"), None);
}

fn row(implementation: &str, size: u64, threads: u32) -> RowKey {
    RowKey {
        suite: Suite::Kernel,
        family: "merkle".into(),
        benchmark: "poseidon".into(),
        size: Some(size),
        implementation: implementation.into(),
        threads,
    }
}

fn run(label: &str, machine: MachineFacts, rows: Vec<(RowKey, f64, Option<f64>)>) -> BenchRun {
    let measurement = |(row, seconds, cycles): (RowKey, f64, Option<f64>)| Measurement {
        version: None,
        ended: jiff::Timestamp::UNIX_EPOCH,
        outcome: RowOutcome::Measured(Figures {
            seconds: vec![seconds; 3],
            clock: if row.threads == 1 { Clock::Cpu } else { Clock::Wall },
            amount: 1.0,
            unit: "rows".into(),
            answer: None,
            cycles,
            instructions: cycles.map(|cycles| 2.0 * cycles),
            phases: Vec::new(),
            peak_memory: None,
            bytes_out: None,
            watts: None,
        }),
        row,
    };
    BenchRun {
        id: "0".repeat(32),
        label: label.into(),
        began: jiff::Timestamp::UNIX_EPOCH,
        ended: None,
        command: Vec::new(),
        version: "0".into(),
        machine,
        noise: crate::record::Noise::default(),
        power_source: None,
        price: Some(Price { dollars_per_hour: 1.0, source: "given".into() }),
        measurements: rows.into_iter().map(measurement).collect(),
    }
}

fn choice() -> RowChoice {
    RowChoice {
        work: "merkle/poseidon".into(),
        size: None,
        threads: None,
        implementation: None,
        cycles_from_time: false,
    }
}

/// A run on a Graviton4 with hardware counters.
fn arm() -> BenchRun {
    let machine =
        MachineFacts { measured_hertz: Some(2.75e9), vector_bits: Some(128), ..MachineFacts::default() };
    let rows = vec![
        (row("portable", 1024, 1), 0.004, Some(1.12e7)),
        (row("sve2", 1024, 1), 0.002, Some(5.6e6)),
        (row("sve2", 512, 1), 0.001, Some(2.8e6)),
        (row("plonky3", 1024, 1), 0.0001, None),
    ];
    run("arm", machine, rows)
}

#[test]
fn a_run_with_counters_is_a_base() {
    let (base, chosen) = choice().base(&arm()).unwrap();
    // The largest size, by Proofmill, at its fastest level. The frequency is cycles divided by seconds.
    assert_eq!((chosen.size, chosen.implementation.as_str()), (Some(1024), "sve2"));
    near(base.hertz, 2.8e9, 1e-12);
    assert_eq!((base.vector_bits, base.cycles, base.instructions), (128, Some(5.6e6), Some(1.12e7)));
    assert_eq!(base.function.as_deref(), Some("poseidon_tree"));
    let x86 = run("x86", MachineFacts::default(), vec![(row("avx512", 1024, 1), 0.001, None)]);
    let question = ModelQuestion { hertz: vec![5.6e9], vector_bits: vec![256], ..ModelQuestion::default() };
    let p = of_runs(&arm(), &[x86], &choice(), &question).unwrap();
    assert_eq!((p.title.as_str(), p.source.as_str()), ("merkle/poseidon of 1024, 1 thread", "arm"));
    // 128 and 256 bits, 2.8 and 5.6 GHz.
    let times: Vec<f64> = p.scenarios.iter().map(|scenario| scenario.time).collect();
    let [at_128, at_256] = [128, 256]
        .map(|bits| InstructionCounts::committed().instructions("poseidon_tree", "sve2", bits).unwrap());
    let r = at_256 / at_128;
    for (found, expected) in times.iter().zip([0.002, 0.001, 0.002 * r, 0.001 * r]) {
        near(*found, expected, 1e-9);
    }
    near(p.scenarios[1].against[0].faster[0], 1.0, 1e-9);
    near(p.scenarios[1].against[0].dollars.unwrap()[0], p.scenarios[1].cost[0], 1e-9);
    // Default question: the reference's frequency, and the lengths of vectors with counts.
    let machine = MachineFacts { measured_hertz: Some(4e9), ..MachineFacts::default() };
    let x86 = run("x86", machine, vec![(row("avx512", 1024, 1), 0.001, None)]);
    let p = of_runs(&arm(), &[x86], &choice(), &ModelQuestion::default()).unwrap();
    let asked: Vec<_> = p.scenarios.iter().map(|s| (s.vector_bits, s.hertz > 3e9)).collect();
    assert_eq!(asked, [128, 256, 512].map(|bits| [(bits, false), (bits, true)]).concat());
}

#[test]
fn missing_counts_are_reported_and_can_be_assumed() {
    let machine = MachineFacts { measured_hertz: Some(4e9), ..MachineFacts::default() };
    let x86 = run("x86", machine, vec![(row("avx512", 1024, 2), 0.001, None)]);
    let error = choice().base(&x86).unwrap_err().to_string();
    assert!(
        error.contains("cycles and instructions are missing") && error.contains("--cycles-from-time"),
        "{error}"
    );
    let assuming = RowChoice { cycles_from_time: true, ..choice() };
    let (base, _) = assuming.base(&x86).unwrap();
    // Cycles of both threads.
    assert_eq!((base.cycles, base.cycles_from_time, base.instructions), (Some(8e6), true, None));
    let p = Projection::new(["t", "s", "seconds"], vec![base.clone()], vec![], &ModelQuestion::default())
        .unwrap();
    assert!(p.notes[0].contains("cycles were not counted"), "{:?}", p.notes);
    // Other frequencies need no counts of instructions; other lengths of vectors do, and are not tried by
    // default.
    let faster = ModelQuestion { hertz: vec![8e9], ..ModelQuestion::default() };
    let p = of_runs(&x86, &[], &assuming, &faster).unwrap();
    assert_eq!(
        p.scenarios.iter().map(|s| (s.vector_bits, s.speedup)).collect::<Vec<_>>(),
        [(512, 1.0), (512, 2.0)]
    );
    let question = ModelQuestion { vector_bits: vec![1024], ..ModelQuestion::default() };
    let asked = |question: &ModelQuestion| {
        Projection::new(["t", "s", "seconds"], vec![base.clone()], vec![], question)
    };
    let error = asked(&question).unwrap_err().to_string();
    assert!(error.contains("not for avx512 at 512 and 1024: give --instruction-ratio 1024=SHARE"), "{error}");
    let p = asked(&ModelQuestion { instruction_ratios: vec![(1024, 0.5)], ..question }).unwrap();
    near(p.scenarios[1].speedup, 2.0, 1e-12);
}

#[test]
fn missing_rows_and_bad_numbers_are_errors() {
    let none = RowChoice { work: "merkle/sha256".into(), size: Some(8), ..choice() }
        .base(&arm())
        .unwrap_err()
        .to_string();
    assert_eq!(none, "model: run arm: expected measurements of merkle/sha256 of 8, found none");
    let mut run = arm();
    run.machine.vector_bits = None;
    assert!(choice().base(&run).unwrap_err().to_string().contains("length of its SVE vectors is missing"));
    let with = |assumptions: Assumptions| ModelQuestion { assumptions, ..ModelQuestion::default() };
    for (question, part) in [
        (ModelQuestion { hertz: vec![0.0], ..ModelQuestion::default() }, "frequencies"),
        (ModelQuestion { hertz: vec![f64::NAN], ..ModelQuestion::default() }, "frequencies"),
        (
            ModelQuestion { instruction_ratios: vec![(256, -1.0)], ..ModelQuestion::default() },
            "shares of the base's instructions",
        ),
        (with(Assumptions { dynamic_share: 1.5, ..Assumptions::default() }), "shares of 0 to 1, found 1.5"),
        (with(Assumptions { power_share_of_tco: vec![], ..Assumptions::default() }), "found none"),
        (with(Assumptions { frequency_exponent: f64::NAN, ..Assumptions::default() }), "exponents"),
        (with(Assumptions { dynamic_growth: Some(-1.0), ..Assumptions::default() }), "dynamic power"),
    ] {
        let error = paper(&question).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn every_assumption_has_a_source() {
    let default = Assumptions::default().list();
    assert!(default.iter().all(|assumption| assumption.source != "given"));
    let given = Assumptions { cpu_share: 0.4, dynamic_growth: Some(2.0), ..Assumptions::default() }.list();
    let of_given: Vec<_> =
        given.iter().filter(|assumption| assumption.source == "given").map(|a| a.name).collect();
    assert_eq!(of_given, ["cpu-share", "dynamic-growth"]);
}
