//! Power sources simulated by files and scripts.

use super::*;
use std::{fs, os::unix::fs::PermissionsExt as _};
use tempfile::TempDir;

fn zone(root: &Path, folder: &str, name: &str, microjoules: u64, range: u64) {
    let zone = root.join(folder);
    fs::create_dir_all(&zone).unwrap();
    fs::write(zone.join("name"), format!("{name}\n")).unwrap();
    fs::write(zone.join("energy_uj"), format!("{microjoules}\n")).unwrap();
    fs::write(zone.join("max_energy_range_uj"), format!("{range}\n")).unwrap();
}

fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Two packages, together with folders of their parts, of another interface to them, and of the whole
/// platform.
fn two_packages() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();
    zone(&root, "intel-rapl:0", "package-0", 1_000_000, 262_143_328_850);
    zone(&root, "intel-rapl:1", "package-1", 5_000_000, 9_999_999);
    zone(&root, "intel-rapl:2", "psys", 70_000_000, 262_143_328_850);
    zone(&root, "intel-rapl:0:0", "core", 400_000, 262_143_328_850);
    zone(&root, "intel-rapl-mmio:0", "package-0", 1_000_000, 262_143_328_850);
    fs::create_dir(root.join("intel-rapl")).unwrap();
    (folder, root)
}

#[test]
fn packages_are_summed_and_nothing_is_counted_twice() {
    let (_folder, root) = two_packages();
    let meter = PowerMeter::start(&PowerSource::Rapl(root.clone())).unwrap();
    assert_eq!(meter.source(), "rapl");
    let begin = meter.mark();
    zone(&root, "intel-rapl:0", "package-0", 1_500_000, 262_143_328_850);
    zone(&root, "intel-rapl:1", "package-1", 5_250_000, 9_999_999);
    zone(&root, "intel-rapl:2", "psys", 90_000_000, 262_143_328_850);
    zone(&root, "intel-rapl:0:0", "core", 900_000, 262_143_328_850);
    let end = meter.mark();
    assert_eq!(meter.joules(&begin, &end), Some(0.75));
    let watts = meter.watts(&begin, &end).unwrap();
    assert!((watts * begin.seconds_to(&end) - 0.75).abs() < 1e-9);
}

#[test]
fn counters_may_wrap() {
    let (_folder, root) = two_packages();
    let meter = PowerMeter::start(&PowerSource::Rapl(root.clone())).unwrap();
    let begin = meter.mark();
    zone(&root, "intel-rapl:1", "package-1", 250_000, 9_999_999);
    let middle = meter.mark();
    zone(&root, "intel-rapl:1", "package-1", 0, 9_999_999);
    let end = meter.mark();
    assert_eq!(meter.joules(&begin, &middle), Some(5.25));
    assert_eq!(meter.joules(&middle, &end), Some(9.75));
    assert_eq!(meter.joules(&end, &begin), None, "backwards");
}

#[test]
fn an_unreadable_counter_gives_no_energy() {
    let (_folder, root) = two_packages();
    let meter = PowerMeter::start(&PowerSource::Rapl(root.clone())).unwrap();
    let begin = meter.mark();
    fs::remove_file(root.join("intel-rapl:1/energy_uj")).unwrap();
    let lost = meter.mark();
    assert_eq!(meter.joules(&begin, &lost), None);
    zone(&root, "intel-rapl:1", "package-1", 6_000_000, 9_999_999);
    assert_eq!(meter.joules(&begin, &meter.mark()), None, "the counter may have wrapped");
}

#[test]
fn missing_rapl_has_a_reason() {
    let reason =
        |root: &Path| PowerMeter::start(&PowerSource::Rapl(root.to_owned())).err().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    assert!(reason(&folder.path().join("powercap")).contains("no energy counters"));
    assert!(reason(folder.path()).contains("--watts"));
    zone(folder.path(), "intel-rapl:0", "package-0", 0, 10);
    fs::write(folder.path().join("intel-rapl:0/energy_uj"), "many\n").unwrap();
    let garbage = reason(folder.path());
    assert!(garbage.contains("intel-rapl:0/energy_uj") && garbage.contains("many"), "{garbage}");
}

#[test]
fn the_controller_is_read_by_ipmitool() {
    let folder = tempfile::tempdir().unwrap();
    let reading = "\n    Instantaneous power reading:                   212 Watts\n    \
                   Minimum during sampling period:                 13 Watts\n    \
                   Power reading state is:                   activated\n";
    let program = script(
        folder.path(),
        "ipmitool",
        &format!("[ \"$*\" = 'dcmi power reading' ] && cat <<E\n{reading}\nE"),
    );
    let meter = PowerMeter::start(&PowerSource::Ipmitool(program)).unwrap();
    let begin = meter.mark();
    std::thread::sleep(Duration::from_millis(800));
    let end = meter.mark();
    assert!((meter.watts(&begin, &end).unwrap() - 212.0).abs() < 1e-6);
}

#[test]
fn a_controller_without_an_answer_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let reason =
        |program: PathBuf| PowerMeter::start(&PowerSource::Ipmitool(program)).err().unwrap().to_string();
    assert!(reason(folder.path().join("none")).contains("apt-get install ipmitool"));
    let failing = script(folder.path(), "failing", "echo 'Could not open device at /dev/ipmi0' >&2; exit 1");
    assert!(reason(failing).contains("/dev/ipmi0"));
    let zero = script(folder.path(), "zero", "echo 'Instantaneous power reading: 0 Watts'");
    assert!(reason(zero).contains("found none"));
}

fn at(seconds: i64) -> MeterMark {
    let time = Timestamp::from_second(seconds).unwrap();
    MeterMark { instant: Instant::now(), time, microjoules: None }
}

#[test]
fn a_meters_file_is_read_as_it_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("meter.csv");
    fs::write(&path, "\u{feff}\"time\",\"watts\",\"volts\"\r\n").unwrap();
    let meter = PowerMeter::start(&PowerSource::Csv(path.clone())).unwrap();
    assert_eq!(meter.source(), format!("csv {}", path.display()));
    assert_eq!(meter.joules(&at(1_000_000_000), &at(1_000_000_001)), None);
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str("# warm\r\n1000000000,100,230\r\n\r\n2001-09-09T01:46:44Z,200\r\n2001-09-09T03:46:45.5+02:00, \"200\"\r\n10000000");
    fs::write(&path, &text).unwrap();
    assert_eq!(meter.joules(&at(1_000_000_000), &at(1_000_000_004)), Some(600.0));
    assert_eq!(meter.joules(&at(1_000_000_002), &at(1_000_000_004)), Some(350.0));
    assert_eq!(meter.joules(&at(999_999_999), &at(1_000_000_004)), None, "before the first reading");
    assert_eq!(meter.joules(&at(1_000_000_004), &at(1_000_000_010)), None, "long after the last");
    text.push_str("10.5,200\n");
    fs::write(&path, &text).unwrap();
    assert_eq!(meter.joules(&at(1_000_000_004), &at(1_000_000_010)), Some(1200.0), "its line is whole now");
    fs::remove_file(&path).unwrap();
    assert_eq!(meter.joules(&at(1_000_000_002), &at(1_000_000_004)), None, "the file has gone");
}

#[test]
fn invalid_lines_of_a_meters_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("meter.csv");
    let reason = |text: &[u8]| {
        fs::write(&path, text).unwrap();
        PowerMeter::start(&PowerSource::Csv(path.clone()))
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert!(reason(b"time,watts\n1,2\nyesterday,3\n").contains("line 3: expected a time"));
    assert!(reason(b"1,2\n2,many\n").contains("line 2: expected watts, found \"many\""));
    assert!(reason(b"1\n").contains("line 1: expected watts"));
    assert!(reason(b"1,-5\n").contains("expected watts"));
    assert!(reason(b"1,inf\n").contains("expected watts"));
    assert!(reason(b"time,watts\ntime,watts\n").contains("line 2"));
    assert!(reason(b"\xff\xfe1\n").contains("expected text"));
    assert_eq!(reason(b""), "", "a meter that has just started");
    fs::remove_file(&path).unwrap();
    let missing = PowerMeter::start(&PowerSource::Csv(path.clone())).err().unwrap().to_string();
    assert!(missing.contains("meter.csv"), "{missing}");
}

#[test]
fn constant_watts_must_be_positive() {
    let meter = PowerMeter::start(&PowerSource::Constant(250.0)).unwrap();
    let begin = meter.mark();
    std::thread::sleep(Duration::from_millis(20));
    let end = meter.mark();
    assert!((meter.watts(&begin, &end).unwrap() - 250.0).abs() < 1e-9);
    assert!(meter.joules(&begin, &end).unwrap() >= 5.0);
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(PowerMeter::start(&PowerSource::Constant(wrong)).is_err(), "{wrong}");
    }
}
