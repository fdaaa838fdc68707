//! Platform workloads without programs, with programs that misbehave, and with the bundled libraries.

use super::*;
use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, time::Instant};

fn options(path: &Path, only: &[&str]) -> PlatformOptions {
    PlatformOptions {
        only: only.iter().map(|&name| name.to_owned()).collect(),
        threads: vec![Threads::Count(1)],
        time: Duration::from_millis(20),
        samples: 2,
        patience: Duration::from_millis(500),
        path: path.as_os_str().to_owned(),
    }
}

fn measured(options: &PlatformOptions, meter: Option<&PowerMeter>) -> Vec<Measurement> {
    let mut measurements = Vec::new();
    let keep = |measurement| {
        measurements.push(measurement);
        Ok(())
    };
    run(options, meter, |_| (), keep).unwrap();
    measurements
}

fn program(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn rows_of_absent_programs_name_the_packages() {
    let empty = tempfile::tempdir().unwrap();
    let measurements = measured(&options(empty.path(), &["openssl", "go", "luajit", "https"]), None);
    assert_eq!(measurements.len(), 4 + 9 + 19 + 8 + 1);
    for measurement in measurements {
        let package = match measurement.row.family.split('-').next().unwrap() {
            "openssl" => "openssl",
            "go" => "golang-go",
            "luajit" => "luajit2",
            _ => "nginx",
        };
        let remedy = format!("apt-get install {package}");
        assert_eq!(measurement.outcome, RowOutcome::Absent { remedy }, "{:?}", measurement.row);
    }
}

#[test]
fn modules_that_are_missing_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["openssl", "wrk"] {
        program(folder.path(), name, "exit 1");
    }
    let modules = folder.path().join("modules");
    fs::create_dir(&modules).unwrap();
    fs::write(modules.join("ndk_http_module.so"), "").unwrap();
    program(
        folder.path(),
        "nginx",
        &format!("echo 'configure arguments: --modules-path={}' >&2", modules.display()),
    );
    let measurements = measured(&options(folder.path(), &["https"]), None);
    let remedy = "apt-get install libnginx-mod-http-lua".to_owned();
    assert_eq!(measurements[0].outcome, RowOutcome::Absent { remedy });
}

#[test]
fn programs_that_hang_fail_or_print_garbage_are_failures_and_other_rows_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let reasons = |script: &str| {
        program(folder.path(), "openssl", &format!("[ $1 = version ] && echo OpenSSL 9.9 && exit\n{script}"));
        let began = Instant::now();
        let measurements = measured(&options(folder.path(), &["openssl-public-key"]), None);
        assert!(began.elapsed() < Duration::from_secs(20));
        let reason = |measurement: Measurement| match measurement.outcome {
            RowOutcome::Failed { reason } => reason,
            other => panic!("{other:?}"),
        };
        measurements.into_iter().map(reason).collect::<Vec<_>>()
    };
    let hung = reasons("sleep 1000");
    assert!(hung.len() == 4 && hung.iter().all(|reason| reason.contains("had not ended after")), "{hung:?}");
    let ended = reasons("echo 'speed: Unknown option' >&2; exit 1");
    assert!(
        ended.iter().all(|reason| reason == "openssl speed ended with exit status: 1: speed: Unknown option"),
        "{ended:?}"
    );
    let garbage = reasons("echo nothing of use");
    assert!(garbage.iter().all(|reason| reason.contains("expected a line of rates")), "{garbage:?}");
    let few = reasons("echo +F2:2:2048:100.0");
    assert!(few.iter().all(|reason| reason.contains("expected 2 positive rates")), "{few:?}");
}

#[test]
fn figures_are_those_of_the_programs() {
    let folder = tempfile::tempdir().unwrap();
    let script = "[ $1 = version ] && echo OpenSSL 9.9 1 Jan && exit\necho +DTP:2048:private:rsa:1 >&2\n\
                  echo +R1:1:2048:1 >&2\necho +DTP:2048:public:rsa:1 >&2\necho +R2:1:2048:1 >&2\necho +F2:2:2048:100.0:4000.0";
    program(folder.path(), "openssl", script);
    let meter = PowerMeter::start(&crate::power::PowerSource::Constant(50.0)).unwrap();
    let measurements = measured(&options(folder.path(), &["openssl-public-key"]), Some(&meter));
    let names: Vec<_> = measurements.iter().map(|measurement| measurement.row.benchmark.as_str()).collect();
    assert_eq!(names, ["rsa2048-sign", "rsa2048-verify", "ecdsa-p256-sign", "ecdsa-p256-verify"]);
    let RowOutcome::Measured(figures) = &measurements[1].outcome else { panic!("{measurements:?}") };
    assert_eq!(figures.seconds, [1.0 / 4000.0; 2]);
    assert_eq!((figures.amount, figures.unit.as_str(), figures.clock), (1.0, "verifications", Clock::Wall));
    assert!((figures.watts.unwrap() - 50.0).abs() < 1e-9);
    assert_eq!(measurements[1].version.as_deref(), Some("OpenSSL 9.9"));
}

#[test]
fn a_wrong_answer_has_no_time() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "luajit", "echo ready LuaJIT 9\nread line\necho done 1 1000000 1000000 wrong");
    let measurements = measured(&options(folder.path(), &["luajit"]), None);
    let RowOutcome::Failed { reason } = &measurements[3].outcome else { panic!("{measurements:?}") };
    assert_eq!(reason, "luajit's fannkuch: expected the answer \"8629 30\", found \"wrong\"");
}

#[test]
fn compression_needs_no_program_and_reports_bytes() {
    let empty = tempfile::tempdir().unwrap();
    let mut options = options(empty.path(), &["gzip"]);
    options.threads = vec![Threads::Count(2), Threads::Count(1), Threads::Count(2)];
    let measurements = measured(&options, None);
    assert_eq!(measurements.len(), 18, "2 threads once");
    for measurement in measurements {
        let RowOutcome::Measured(figures) = &measurement.outcome else { panic!("{measurement:?}") };
        assert_eq!(figures.seconds.len(), 2);
        assert!(figures.seconds.iter().all(|seconds| (1e-5..1.0).contains(seconds)));
        assert!((6_000..12_000).contains(&figures.bytes_out.unwrap()));
        assert_eq!((figures.amount, figures.watts), (PAGE.len() as f64, None));
        assert_eq!(figures.clock == Clock::Cpu, measurement.row.threads == 1);
    }
}

#[test]
fn groups_are_families_or_their_first_parts() {
    let count = |only: &[&str]| rows(&options(Path::new(""), only)).map(|rows| rows.len());
    assert_eq!(count(&["openssl-public-key"]).unwrap(), 4);
    assert_eq!(count(&["openssl"]).unwrap(), 13);
    assert_eq!(count(&["go", "brotli"]).unwrap(), 19 + 12);
    assert_eq!(count(&[]).unwrap(), 13 + 21 + 19 + 8 + 1);
    let error = count(&["open"]).unwrap_err().to_string();
    assert!(error.contains("open: no such group") && error.contains("luajit"), "{error}");
    let families: std::collections::BTreeSet<_> =
        rows(&options(Path::new(""), &[])).unwrap().into_iter().map(|row| row.family).collect();
    assert_eq!(families.into_iter().collect::<Vec<_>>(), {
        let mut groups = GROUPS.map(str::to_owned).to_vec();
        groups.sort();
        groups
    });
}
