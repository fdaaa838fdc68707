//! `list`, `run` and the commands of the store.

use crate::commands::folder;
use proofmill_testing::{Folder, Run};
use serde_json::{Value, json};

/// Runs a command with a store in the folder.
fn bench(folder: &Folder, command: &str) -> Run {
    folder.run(&format!("{command} --db bench.db"))
}

#[test]
fn benchmarks_are_listed() {
    let folder = folder();
    let all = folder.run("list").succeeded().stdout;
    assert!(all.contains("msm: ") && all.contains("ntt: ") && all.contains("bn254-g1"), "{all}");
    let some = folder.run("list msm/bn254-g2").succeeded().stdout;
    assert!(some.lines().count() == 4 && some.contains("bn254-g2"), "{some}");
    let error = folder.run("list nothing").failed(2);
    assert!(error.contains("bench list"), "{error}");
}

#[test]
fn a_run_is_printed_stored_and_written() {
    let folder = folder();
    let run = bench(
        &folder,
        "run ntt/bn254-fr msm/bn254-g1/256 --size 2^10,256 --level all --threads 1,2 --time 20ms --label mine \
         --watts 100 --price-per-hour 2 --json run.json",
    );
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.stdout.contains("ntt/bn254-fr/2^10, 1 thread, CPU time"), "{run:?}");
    assert!(run.stdout.contains("msm/bn254-g1/256, 2 threads, wall time"), "{run:?}");
    assert!(run.stdout.contains("portable") && run.stdout.contains(" W"), "{run:?}");
    let file: Value = serde_json::from_str(&folder.text("run.json")).unwrap();
    let written = &file["runs"][0];
    assert_eq!((&written["label"], &written["power_source"]), (&"mine".into(), &"constant".into()));
    assert_eq!(written["price"]["dollars_per_hour"], 2.0);
    let rows = written["measurements"].as_array().unwrap();
    assert!(rows.len() >= 4 && rows.iter().all(|row| row["outcome"]["status"] == "measured"), "{written}");
    let watts = |row: &Value| row["outcome"]["watts"].as_f64().unwrap();
    assert!(rows.iter().all(|row| (watts(row) - 100.0).abs() < 1e-6), "{written}");
    // The store has the same run.
    bench(&folder, "export mine --out export.json").succeeded();
    let exported: Value = serde_json::from_str(&folder.text("export.json")).unwrap();
    assert_eq!(exported["runs"][0]["measurements"], written["measurements"]);
}

#[test]
fn a_check_prints_one_object() {
    let folder = folder();
    let run = bench(&folder, "run sha256 --check --threads 1 --json").succeeded();
    let object: Value = serde_json::from_str(&run.stdout).unwrap();
    let quiet = bench(&folder, "run sha256/pairs --check --threads 1 --quiet").succeeded();
    assert_eq!(quiet.stdout, "");
    assert_eq!(object["command"], "bench run");
    let rows = object["result"]["runs"][0]["measurements"].as_array().unwrap();
    assert!(rows.len() > 1 && rows.iter().all(|row| row["outcome"]["status"] == "checked"), "{object}");
}

#[test]
fn bad_selections_and_options_are_refused() {
    let folder = folder();
    for (arguments, expected) in [
        ("run nothing", "no benchmark"),
        ("run ntt --level sve9", "sve9"),
        ("run ntt --watts -1", "-1"),
        ("run ntt --power-csv none.csv", "none.csv"),
        ("run ntt --instance toaster", "toaster"),
        ("run ntt --peers --peers-dir nowhere", "nowhere"),
    ] {
        let error = bench(&folder, arguments).failed(2);
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    for (option, value) in [("--time", "soon"), ("--size", "2^99"), ("--threads", "0"), ("--precision", "-1")]
    {
        let run = bench(&folder, &format!("run ntt {option}={value}"));
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains(value), "{run:?}");
    }
    // Refused runs are not in the store.
    assert_eq!(bench(&folder, "runs --json").succeeded().stdout.matches("\"id\"").count(), 0);
}

#[test]
fn runs_move_from_store_to_store() {
    let folder = folder();
    assert_eq!(bench(&folder, "run msm/bn254-g1/256 ntt --check --threads 1 --label old").status, Some(0));
    assert_eq!(
        bench(&folder, "run msm/bn254-g1/256 --threads 1 --time 10ms --level all --label new").status,
        Some(0)
    );
    for file in ["runs.json", "runs.csv"] {
        bench(&folder, &format!("export old new --out {file}")).succeeded();
        let store = format!("{file}.db");
        folder.run(&format!("import {file} --db {store}")).succeeded();
        // A second import changes nothing.
        folder.run(&format!("import {file} --db {store}")).succeeded();
        folder.run(&format!("export old new --db {store} --out again.json")).succeeded();
        bench(&folder, "export old new --out first.json").succeeded();
        assert_eq!(folder.text("first.json"), folder.text("again.json"), "{file}");
    }
    let compared =
        bench(&folder, "compare new --implementation portable --against portable").succeeded().stdout;
    assert!(compared.contains("no difference"), "{compared}");
    let page = bench(&folder, "report old new --out report.html").succeeded();
    assert!(page.stdout.contains("report.html: 2 runs"), "{page:?}");
    assert!(folder.text("report.html").contains("<!doctype html>"));
    let explored =
        "pipeline explore butterfly --elements 8 --pipelines 1 --against vck5000 --wish vck5000 --json";
    folder.write("explored.json", folder.run(explored).succeeded().stdout);
    bench(&folder, "report new --pipelines explored.json --out pipelines.html").succeeded();
    assert!(folder.text("pipelines.html").contains("<h3>butterfly on VCK5000</h3>"));
    let error = bench(&folder, "report new --pipelines first.json --out none.html").failed(2);
    assert!(error.contains("first.json: ") && error.contains("pipeline explore --json"), "{error}");
    bench(&folder, "remove old").succeeded();
    let error = bench(&folder, "export old --out gone.json").failed(2);
    assert!(error.contains("old"), "{error}");
    folder.write("foreign.json", "{\"format\": 99, \"runs\": []}");
    let error = bench(&folder, "import foreign.json").failed(2);
    assert!(error.contains("foreign.json") && error.contains("99"), "{error}");
}

#[test]
fn inputs_are_written_and_answers_agree_with_definitions() {
    let folder = folder();
    folder.run("input sha256/pairs 3 pairs").succeeded();
    assert_eq!(folder.read("pairs").len(), 3 * 64);
    let error = folder.run("input ntt/secp256k1 8 none").failed(2);
    assert!(error.contains("ntt/secp256k1"), "{error}");
    let text = folder.run("answers sha256/pairs --smallest --level portable").succeeded().stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["sha256/pairs", "[benchmark.answers]"]);
    let definition = include_str!("../../../../../lab/definitions/sha256.toml");
    assert!(lines.len() == 3 && definition.contains(lines[2]), "{text}");
}

#[test]
fn noise_is_reported_and_prevents_a_verdict() {
    let folder = folder();
    let run = bench(&folder, "run msm/bn254-g1/256 --threads 1 --time 10ms --label quiet --json quiet.json");
    assert_eq!(run.status, Some(0), "{run:?}");
    let mut file: Value = serde_json::from_str(&folder.text("quiet.json")).unwrap();
    let edited = |name: &str, file: &Value| folder.write(name, file.to_string());
    file["runs"][0]["noise"] = json!({ "warnings": [] });
    edited("quiet.json", &file);
    // Another machine, ten times slower.
    let other = &mut file["runs"][0];
    (other["id"], other["label"]) = ("f".repeat(32).into(), "other".into());
    for seconds in other["measurements"][0]["outcome"]["seconds"].as_array_mut().unwrap() {
        *seconds = (seconds.as_f64().unwrap() * 10.0).into();
    }
    edited("slow.json", &file);
    file["runs"][0]["noise"]["warnings"] = json!(["a neighbour took half of the CPU time"]);
    edited("noisy.json", &file);
    let compared = folder.run("compare quiet.json slow.json").succeeded().stdout;
    assert!(compared.contains("slower") && !compared.contains("warning"), "{compared}");
    let compared = folder.run("compare quiet.json noisy.json").succeeded().stdout;
    assert!(compared.contains("warning: other: a neighbour took half of the CPU time"), "{compared}");
    assert!(compared.contains("no verdict (noise)") && !compared.contains("slower"), "{compared}");
    let answer = folder.run("report quiet.json slow.json --out page.html").succeeded().stdout;
    assert!(answer.contains("Fastest on one thread: quiet (sure)"), "{answer}");
    let answer = folder.run("report quiet.json noisy.json --out page.html").succeeded().stdout;
    assert!(answer.contains("Fastest on one thread: no verdict"), "{answer}");
}
