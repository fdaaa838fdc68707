use super::*;
use crate::testing::{measurement, moment, run};

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
