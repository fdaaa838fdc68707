//! Runs for tests: simple ones, and arbitrary ones.

use crate::record::{
    BenchRun, Cache, Clock, Figures, MachineFacts, Measurement, Noise, PhaseTime, Price, RowKey, RowOutcome,
    Suite,
};
use jiff::Timestamp;
use proptest::{
    collection::vec,
    option,
    prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof},
};

pub(crate) fn moment(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// A run without measurements; runs with greater ids begin later.
pub(crate) fn run(id: u128, label: &str) -> BenchRun {
    BenchRun {
        id: format!("{id:032x}"),
        label: label.to_owned(),
        began: moment(1_700_000_000 + id as i64),
        ended: None,
        command: vec!["bench".to_owned(), "run".to_owned()],
        version: "0.1.0".to_owned(),
        machine: MachineFacts { cpu: "a CPU".to_owned(), threads: 2, ..MachineFacts::default() },
        noise: Noise::default(),
        power_source: None,
        price: None,
        measurements: Vec::new(),
    }
}

pub(crate) fn measurement(benchmark: &str, seconds: &[f64]) -> Measurement {
    Measurement {
        row: RowKey {
            suite: Suite::Kernel,
            family: "msm".to_owned(),
            benchmark: benchmark.to_owned(),
            size: Some(1024),
            implementation: "portable".to_owned(),
            threads: 1,
        },
        version: None,
        ended: moment(1_700_000_100),
        outcome: RowOutcome::Measured(Figures {
            seconds: seconds.to_vec(),
            clock: Clock::Cpu,
            amount: 1024.0,
            unit: "points".to_owned(),
            answer: Some("0123456789abcdef".to_owned()),
            cycles: None,
            instructions: None,
            phases: Vec::new(),
            peak_memory: Some(1 << 40),
            bytes_out: None,
            watts: Some(0.1 + 0.2),
        }),
    }
}

/// Any run within the bounds, including texts that file formats could misinterpret: commas, quotes, formulas,
/// non-Latin scripts.
pub(crate) fn any_run() -> impl Strategy<Value = BenchRun> {
    let facts = (
        vec(proptest::sample::select(b"0123456789abcdef".as_slice()), 32),
        name(),
        moments(),
        option::of(moments()),
        vec(text(), 0..4),
        text(),
        machine(),
    );
    let rest = (
        (option::of(-1.0..1.0), option::of(0.0..1.0), option::of(0.0..1.0), vec(text(), 0..3)),
        option::of(text()),
        option::of((1e-9..1e9, text())),
        vec(any_measurement(), 0..5),
    );
    (facts, rest).prop_map(|(facts, rest)| {
        let (id, label, began, ended, command, version, machine) = facts;
        let ((steal, others, frequency_drop, warnings), power_source, price, measurements) = rest;
        BenchRun {
            id: String::from_utf8(id).unwrap(),
            label,
            began,
            ended,
            command,
            version,
            machine,
            noise: Noise { steal, others, frequency_drop, warnings },
            power_source,
            price: price.map(|(dollars_per_hour, source)| Price { dollars_per_hour, source }),
            measurements,
        }
    })
}

fn text() -> BoxedStrategy<String> {
    prop_oneof!["\\PC{0,12}", "[=+@'\"-][ ,;\"'a]{0,5}", Just(String::new()), "[A-Za-z0-9 .-]{1,20}"]
        .prop_filter("no control characters", |text| !text.contains(char::is_control))
        .boxed()
}

fn name() -> BoxedStrategy<String> {
    text().prop_filter("not empty", |text| !text.trim().is_empty()).boxed()
}

fn moments() -> impl Strategy<Value = Timestamp> {
    (0..4_000_000_000_i64, 0..1_000_000_000_i32)
        .prop_map(|(second, nanosecond)| Timestamp::new(second, nanosecond).unwrap())
}

fn machine() -> impl Strategy<Value = MachineFacts> {
    let numbers =
        (0..=1_u32 << 20, option::of(any::<u32>()), option::of(1.0..1e11), option::of(0..=1_u64 << 53));
    let texts = (text(), text(), option::of(text()), option::of(text()), text(), vec(text(), 0..4));
    let cache = (any::<u8>(), text(), 0..=1_u64 << 53, any::<u32>())
        .prop_map(|(level, kind, bytes, shared_by)| Cache { level, kind, bytes, shared_by });
    (numbers, texts, vec(cache, 0..4)).prop_map(|(numbers, texts, caches)| {
        let (threads, cores, measured_hertz, memory) = numbers;
        let (cpu, architecture, system, instance, compiler, features) = texts;
        MachineFacts {
            cpu,
            architecture,
            threads,
            cores,
            caches,
            features,
            measured_hertz,
            memory,
            system,
            instance,
            compiler,
            ..MachineFacts::default()
        }
    })
}

fn any_measurement() -> impl Strategy<Value = Measurement> {
    let suite = prop_oneof![Just(Suite::Kernel), Just(Suite::Prover), Just(Suite::Platform)];
    let row = (suite, name(), name(), option::of(0..=1_u64 << 53), name(), 1..=1_u32 << 20);
    let row = row.prop_map(|(suite, family, benchmark, size, implementation, threads)| RowKey {
        suite,
        family,
        benchmark,
        size,
        implementation,
        threads,
    });
    let outcome = prop_oneof![
        figures().prop_map(RowOutcome::Measured),
        text().prop_map(|answer| RowOutcome::Checked { answer }),
        text().prop_map(|remedy| RowOutcome::Absent { remedy }),
        text().prop_map(|reason| RowOutcome::Failed { reason }),
    ];
    (row, option::of(name()), moments(), outcome).prop_map(|(row, version, ended, outcome)| Measurement {
        row,
        version,
        ended,
        outcome,
    })
}

fn figures() -> impl Strategy<Value = Figures> {
    // Many exponents, and all digits.
    let positive = || (1.0..2.0, -300..29).prop_map(|(digits, exponent)| digits * 2_f64.powi(exponent));
    let phase = (text(), 0.0..1e9).prop_map(|(name, seconds)| PhaseTime { name, seconds });
    let first = (vec(positive(), 1..20), any::<bool>(), positive(), name(), option::of(name()));
    let second = (
        option::of(0.0..1e18),
        option::of(0.0..1e18),
        vec(phase, 0..3),
        option::of(0..=1_u64 << 53),
        option::of(0..=1_u64 << 53),
        option::of(0.0..1e6),
    );
    (first, second).prop_map(|(first, second)| {
        let (seconds, cpu, amount, unit, answer) = first;
        let (cycles, instructions, phases, peak_memory, bytes_out, watts) = second;
        let clock = if cpu { Clock::Cpu } else { Clock::Wall };
        Figures {
            seconds,
            clock,
            amount,
            unit,
            answer,
            cycles,
            instructions,
            phases,
            peak_memory,
            bytes_out,
            watts,
        }
    })
}
