use super::*;
use crate::{
    record::{Measurement, RowOutcome},
    testing::{any_run, measurement, run},
};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};
use std::process::Command;

proptest! {
    #[test]
    fn exports_are_read_without_rounding(runs in vec(any_run(), 0..3)) {
        for format in [ExchangeFormat::Json, ExchangeFormat::Csv] {
            let text = format.write(&runs).unwrap();
            prop_assert_eq!(&format.read(text.as_bytes()).unwrap(), &runs);
        }
    }

    #[test]
    fn arbitrary_text_does_not_panic(text in "[\\[\\]{}\":,0-9a-z\n ]{0,200}") {
        for format in [ExchangeFormat::Json, ExchangeFormat::Csv] {
            prop_assert!(!format.read(text.as_bytes()).is_err_and(|problem| problem.contains('\n')));
        }
    }
}

fn full() -> BenchRun {
    let mut run = run(1, "=1+1");
    run.measurements = vec![measurement("a, \"b\"", &[0.1, 0.2, 0.3]), measurement("c", &[1e-9])];
    run
}

/// An export of [`full`] in which the value at a JSON pointer is replaced or removed.
fn changed(pointer: &str, value: Option<Value>) -> Vec<u8> {
    let mut export: Value = serde_json::from_str(&ExchangeFormat::Json.write(&[full()]).unwrap()).unwrap();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = export.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Some(value) => _ = parent.insert(key.to_owned(), value),
        None => _ = parent.remove(key).unwrap(),
    }
    serde_json::to_vec(&export).unwrap()
}

#[test]
fn errors_in_json_name_the_field() {
    let figures = "/runs/0/measurements/1/outcome";
    let cases = [
        (
            "/format".to_owned(),
            Some(json!(2)),
            "expected format 1 or older, found 2: a newer Proofmill wrote it",
        ),
        ("/format".to_owned(), Some(json!(0)), "found 0"),
        ("/format".to_owned(), None, "missing field `format`"),
        ("/runs".to_owned(), None, "missing field `runs`"),
        ("/runs/0/id".to_owned(), Some(json!("../etc")), "expected 32 hexadecimal digits"),
        ("/runs/0/label".to_owned(), Some(json!("\u{1b}[2J")), "control character"),
        ("/runs/0/label".to_owned(), Some(json!("a".repeat(5000))), "expected 4096 at most, found 5000"),
        ("/runs/0/began".to_owned(), Some(json!("yesterday")), "expected an export of runs"),
        ("/runs/0/machine/threads".to_owned(), Some(json!(-1)), "expected u32"),
        ("/runs/0/machine/memory".to_owned(), Some(json!(u64::MAX)), "expected 9007199254740992 at most"),
        ("/runs/0/price".to_owned(), Some(json!({"dollars_per_hour": 0.0, "source": ""})), "more than 0"),
        ("/runs/0/noise/steal".to_owned(), Some(json!(1e300)), "noise.steal"),
        ("/runs/0/measurements/1/row/size".to_owned(), Some(json!(1_u64 << 60)), "row.size"),
        ("/runs/0/measurements/1/row/threads".to_owned(), Some(json!(0)), "row.threads"),
        ("/runs/0/measurements/1/row/family".to_owned(), Some(json!("")), "row.family"),
        (format!("{figures}/seconds"), Some(json!([])), "measurement 2: seconds: expected a sample"),
        (format!("{figures}/seconds"), Some(json!([1.0, -1.0])), "more than 0 and at most"),
        (format!("{figures}/seconds"), Some(json!([0.0])), "more than 0 and at most"),
        (format!("{figures}/seconds"), Some(json!([1e10])), "more than 0 and at most"),
        (format!("{figures}/seconds"), Some(json!([null])), "expected f64"),
        (format!("{figures}/seconds"), Some(json!(vec![1.0; 100_001])), "expected 100000 at most"),
        (format!("{figures}/amount"), Some(json!(0)), "amount"),
        (format!("{figures}/watts"), Some(json!(-1)), "watts"),
        (format!("{figures}/status"), Some(json!("\u{1b}guessed\n")), "unknown variant"),
    ];
    for (pointer, value, expected) in cases {
        let bytes = changed(&pointer, value);
        let problem = ExchangeFormat::Json.read(&bytes).unwrap_err();
        assert!(problem.contains(expected), "{pointer}: {problem}");
        assert!(!problem.contains(char::is_control) && problem.chars().count() <= 400, "{problem}");
    }
    // The unchanged export is accepted.
    assert_eq!(ExchangeFormat::Json.read(&changed("/format", Some(json!(1)))).unwrap(), [full()]);
}

#[test]
fn hostile_json_is_refused() {
    let number = |text: &str| {
        let bytes = changed("/runs/0/measurements/1/outcome/amount", Some(json!("HERE")));
        String::from_utf8(bytes).unwrap().replace("\"HERE\"", text)
    };
    for text in ["1e999", "-1e999", "NaN", "Infinity", "0x10", "1e"] {
        ExchangeFormat::Json.read(number(text).as_bytes()).unwrap_err();
    }
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let problem = ExchangeFormat::Json.read(number(&deep).as_bytes()).unwrap_err();
    assert!(problem.contains("recursion limit"), "{problem}");
    let twice =
        ExchangeFormat::Json.write(&[full()]).unwrap().replacen("\"runs\":[", "\"runs\":[],\"runs\":[", 1);
    assert!(ExchangeFormat::Json.read(twice.as_bytes()).unwrap_err().contains("duplicate field"));
    assert!(ExchangeFormat::Json.write(&[full(), full()]).unwrap_err().contains("appears twice"));
    for bytes in [&b""[..], b"\xff\xfe", b"null", b"[]", b"{}", b"{\"format\":1,\"runs\":{}}"] {
        ExchangeFormat::Json.read(bytes).unwrap_err();
    }
}

#[test]
fn errors_in_csv_name_line_and_column() {
    let text = ExchangeFormat::Csv.write(&[full()]).unwrap();
    let cases = [
        ("run,label,suite", "run,label,sweet", "expected a column suite"),
        ("kernel", "kernels", "line 2: suite: unknown variant"),
        (",0.1 0.2 0.3,", ",0.1 0,2 0.3,", "line 2: expected 26 cells, found 27"),
        (",0.1 0.2 0.3,", ",0.1 zero,", "line 2: seconds: expected a number"),
        (",0.1 0.2 0.3,", ",0.1 NaN,", "seconds: expected more than 0"),
        (",measured,", ",guessed,", "line 2: status"),
        ("\"\"format\"\":1", "\"\"format\"\":2", "line 2: expected format 1 or older"),
        ("\"\"threads\"\":2", "\"\"threads\"\":\"\"2\"\"", "line 2: facts: "),
        ("00000001,", "00000002,", "facts: expected those of run 00000000000000000000000000000002 alone"),
    ];
    for (from, to, expected) in cases {
        assert!(text.contains(from), "{text}");
        let problem = ExchangeFormat::Csv.read(text.replacen(from, to, 1).as_bytes()).unwrap_err();
        assert!(problem.contains(expected), "{from}: {problem}");
    }
    let without_facts: Vec<&str> =
        text.lines().enumerate().filter(|(i, _)| *i != 1).map(|(_, line)| line).collect();
    let problem = ExchangeFormat::Csv.read(without_facts.join("\n").as_bytes()).unwrap_err();
    assert!(problem.contains("expected those of run"), "{problem}");
    // With the byte order mark that spreadsheets write.
    assert_eq!(ExchangeFormat::Csv.read(format!("\u{feff}{text}").as_bytes()).unwrap(), [full()]);
}

#[test]
fn a_file_that_is_too_long_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.json");
    File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let problem = read(&path).unwrap_err().to_string();
    assert!(problem.ends_with("huge.json: expected 64 MiB at most, found more"), "{problem}");
    let problem = read(&folder.path().join("runs.xml")).unwrap_err().to_string();
    assert!(problem.contains("ends in .json or .csv"), "{problem}");
    let problem = read(&folder.path().join("none.json")).unwrap_err().to_string();
    assert!(problem.contains("No such file"), "{problem}");
}

/// Python's readers find the same values.
#[test]
fn python_reads_exports() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = full();
    run.measurements[0].row.family = "-2+3, \"ü\"\u{3b1}".to_owned();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("runs.json", ExchangeFormat::Json.write(&[run.clone()]).unwrap());
    write("runs.csv", ExchangeFormat::Csv.write(&[run]).unwrap());
    let script = r#"
import csv, json
runs = json.load(open("runs.json"))["runs"]
lines = list(csv.DictReader(open("runs.csv", newline="")))
assert len(lines) == len(runs[0]["measurements"]) == 2
facts = json.loads(lines[0]["facts"])
assert facts.pop("format") == 1 and facts == {**runs[0], "measurements": []}
for line, measurement in zip(lines, runs[0]["measurements"]):
    row, outcome = measurement["row"], measurement["outcome"]
    assert [float(s) for s in line["seconds"].split()] == outcome["seconds"]
    assert float(line["watts"]) == outcome["watts"] and int(line["size"]) == row["size"]
    assert line["label"] == "'=1+1" and line["ended"] == measurement["ended"]
    assert line["benchmark"] == row["benchmark"]
    assert line["family"].removeprefix("'") == row["family"]
    assert all(cell[:1] not in ("=", "+", "-", "@") for cell in line.values())
assert float(lines[0]["median"]) == 0.2 and float(lines[0]["per_second"]) == 1024 / 0.2
"#;
    let output = Command::new("python3").args(["-c", script]).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_record_has_the_samples_that_were_taken_in_alternation() {
    let mut run = run(1, "a machine");
    run.noise.others = Some(0.034);
    let mut slow = measurement("levels", &[0.3, 0.1, 0.2, 9.0]);
    slow.row.size = Some(1 << 16);
    let mut fast = slow.clone();
    fast.row.implementation = "another".to_owned();
    let RowOutcome::Measured(figures) = &mut fast.outcome else { panic!("measured") };
    (figures.seconds, figures.peak_memory) = (vec![0.000_012_345_6, 0.000_02, 12_345.6], Some(1_499_999));
    let absent = RowOutcome::Absent { remedy: "nothing".to_owned() };
    let absent = Measurement { outcome: absent, ..slow.clone() };
    run.measurements = vec![slow, fast, absent];
    let text = lab_record::write(&[run.clone(), run]);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 1 + 2 * 2);
    assert!(lines.iter().all(|line| line.len() == lines[0].len()));
    assert_eq!(lines[1][3..], ["2^16", lines[1][4], "1", "3", "0.2000", "0.1000", lines[1][9], "0.03"]);
    assert_eq!(lines[4][5..], ["2", "3", "0.00002000", "0.00001235", "1", "0.03"]);
}
