use super::*;
use crate::record::{Clock, Figures, Machine, Row, Suite};

fn moment(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn run(id: u128, label: &str) -> Run {
    Run {
        id: format!("{id:032x}"),
        label: label.to_owned(),
        began: moment(1_700_000_000 + id as i64),
        ended: None,
        command: vec!["bench".to_owned(), "run".to_owned()],
        version: "0.1.0".to_owned(),
        machine: Machine { cpu: "a CPU".to_owned(), threads: 2, ..Machine::default() },
        noise: Noise::default(),
        power_source: None,
        price: None,
        measurements: Vec::new(),
    }
}

fn measurement(benchmark: &str, seconds: &[f64]) -> Measurement {
    Measurement {
        row: Row {
            suite: Suite::Kernel,
            family: "msm".to_owned(),
            benchmark: benchmark.to_owned(),
            size: Some(1024),
            implementation: "portable".to_owned(),
            threads: 1,
        },
        version: None,
        ended: moment(1_700_000_100),
        outcome: Outcome::Measured(Figures {
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

#[test]
fn what_is_added_is_there_when_the_store_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/bench.db");
    let mut expected = run(1, "first");
    let store = Store::open(&path).unwrap();
    store.begin(&expected).unwrap();
    for i in 1..4 {
        let measurement = measurement(&format!("b{i}"), &[0.1 * f64::from(i), 1.0 / 3.0]);
        store.add(&expected.id, &measurement).unwrap();
        expected.measurements.push(measurement);
    }
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.run("first").unwrap(), expected);
    expected.ended = Some(moment(1_700_001_000));
    expected.noise = Noise { steal: Some(0.25), warnings: vec!["a warning".to_owned()], ..Noise::default() };
    store.finish(&expected.id, moment(1_700_001_000), &expected.noise).unwrap();
    assert_eq!(store.run("latest").unwrap(), expected);
    assert_eq!(store.counts().unwrap(), BTreeMap::from([(expected.id.clone(), 3)]));
    expected.measurements.clear();
    assert_eq!(store.runs().unwrap(), [expected.clone()]);
    assert_eq!(store.remove("first").unwrap(), expected);
    assert_eq!(store.counts().unwrap(), BTreeMap::new());
    let left: i64 =
        store.connection.query_row("SELECT count(*) FROM measurements", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}
