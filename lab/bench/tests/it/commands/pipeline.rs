//! `pipeline`: runs, tables, sums, networks, and what is refused.

use crate::commands::folder;
use proofmill_testing::Folder;
use serde_json::Value;

/// The result of a command with `--json`.
fn json(folder: &Folder, arguments: &str) -> Value {
    let output = folder.run(&format!("pipeline {arguments} --json")).succeeded().stdout;
    let report: Value = serde_json::from_str(&output).expect("one object");
    report["result"].clone()
}

#[test]
fn runs_are_checked_and_told() {
    let folder = folder();
    let text = folder
        .run("pipeline run --random 2^8 --pipelines 2 --elements 32 --results sums.csv --html run.html")
        .succeeded()
        .stdout;
    assert!(text.starts_with("xyzz-plus-affine: 256 results, equal to this library's"), "{text}");
    for part in ["results a second", "limited by", "waits for input %", "multiply-0", "of the device, "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let page = folder.text("run.html");
    assert_eq!(page.matches("<svg").count(), 3);
    let sums = folder.text("sums.csv");
    assert_eq!(sums.lines().next(), Some("X3,Y3,ZZ3,ZZZ3"));
    assert_eq!(sums.lines().count(), 257);
}

#[test]
fn copies_share_what_there_is_to_do() {
    let folder = folder();
    let command = "pipeline run butterfly --random 100 --elements 8 --pipelines 3";
    let one = folder.run(&format!("{command} --results one.csv")).succeeded().stdout;
    let three = folder
        .run(&format!("{command} --copies 3 --join --price 1000 --results three.csv"))
        .succeeded()
        .stdout;
    assert_eq!(folder.text("one.csv"), folder.text("three.csv"));
    assert!(three.contains("dollars for a million results") && !one.contains("dollars"), "{three}");
}

#[test]
fn points_are_read_from_files() {
    let folder = folder();
    // The generator (1, 2) doubled, with ZZ = 1, and as a point to be added: the sum of G and 2 G, and exceptions.
    let double = "1368015179489954701390400359078579693043519447331113978918064868415326638035,\
        9918110051302171585080402603319702774565515993150576347155970296011118125764";
    let heading = "X1,Y1,ZZ1,ZZZ1,X2,Y2";
    folder.write("good.csv", format!("{heading}\n{double},1,0x1,1,2\n"));
    let command = "pipeline run --elements 8 --pipelines 1 --points";
    let text = folder.run(&format!("{command} good.csv --results sum.csv")).succeeded().stdout;
    assert!(text.contains("1 results, equal to this library's"), "{text}");
    // 3 G has the affine coordinates of EIP-196's vectors.
    let sum = folder.text("sum.csv");
    assert_eq!(sum.lines().count(), 2);
    let wrong = [
        ("same.csv", format!("{heading}\n1,2,1,1,1,2\n"), 1, "operands 1: the result is not this library's"),
        (
            "names.csv",
            "X,Y\n1,2\n".to_owned(),
            2,
            "names.csv, line 1: expected the columns X1,Y1,ZZ1,ZZZ1,X2,Y2",
        ),
        ("short.csv", format!("{heading}\n1,2,3\n"), 2, "short.csv, line 2: "),
        ("number.csv", format!("{heading}\n1,2,1,1,-1,2\n"), 2, "-1 is not an integer below the modulus"),
        ("none.csv", format!("{heading}\n"), 2, "none.csv, line 2: expected a line of operands"),
    ];
    for (name, text, status, expected) in wrong {
        folder.write(name, text);
        let error = folder.run(&format!("{command} {name}")).failed(status);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn settings_are_explored() {
    let folder = folder();
    let result = json(
        &folder,
        "explore butterfly --elements 32 --pipelines 2 --against vck5000,ideal --html all.html --pictures svg",
    );
    let titles: Vec<_> =
        result["tables"].as_array().unwrap().iter().map(|table| table["title"].as_str().unwrap()).collect();
    assert_eq!(titles.len(), 6);
    let rows = result["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row["per_second"].as_f64().is_some_and(|rate| rate > 1e6)), "{rows:?}");
    let page = folder.text("all.html");
    assert_eq!(page.matches("<svg").count(), 5);
    let text = folder
        .run("pipeline explore butterfly --elements 32 --pipelines 1 --price 9 --against zen4")
        .succeeded()
        .stdout;
    // Headings stand over their columns.
    let lines: Vec<_> = text.lines().skip_while(|line| *line != "pipelines").skip(1).take(2).collect();
    for (heading, cell) in [("$/million", "e-"), ("limited by", "node multiply-0")] {
        let [above, below] = [lines[0].find(heading).unwrap(), lines[1].find(cell).unwrap()];
        assert!(above.abs_diff(below) < 12, "{text}");
    }
    for name in ["network", "places", "calls", "throughput", "roofline"] {
        assert!(folder.path(&format!("svg/{name}.svg")).is_file(), "{name}");
    }
}

#[test]
fn sums_of_multiples_are_this_cpus() {
    let result =
        json(&folder(), "msm --points 300 --digit-bits 6 --device vck5000 --elements 32 --pipelines 3");
    let device = &result["devices"][0];
    assert_eq!(device["pipelines"], 3);
    assert!(device["work"]["additions"].as_u64().unwrap() > 300 * 30);
    assert!(device["seconds"]["all"].as_f64().unwrap() > 0.0);
}

#[test]
fn networks_and_devices_are_shown_and_read_again() {
    let folder = folder();
    let text = folder.run("pipeline show butterfly --elements 32").succeeded().stdout;
    assert!(text.contains("multiply-0") && text.contains("streams between nodes"), "{text}");
    let words = folder.run("pipeline show butterfly --elements 32 --kernel multiply-0").succeeded().stdout;
    assert!(words.contains("words in the loop") && words.contains("vector"), "{words}");
    let graph = folder.run("pipeline show xyzz-double --graph").succeeded().stdout;
    folder.write("double.json", graph);
    // A graph of another name, with its operands.
    let own = folder.text("double.json").replace("xyzz-double", "own");
    folder.write("own.json", own);
    folder.write("own.csv", "X,Y,ZZ,ZZZ\n1,2,1,1\n");
    let text = folder.run("pipeline run own.json --points own.csv --pipelines 1").succeeded().stdout;
    assert!(text.starts_with("own: 1 results, equal to those of checked integers"), "{text}");
    let device = folder.run("pipeline show --device-file vck5000").succeeded().stdout;
    folder.write("chip.toml", device.replace("1.25e9", "2.5e9"));
    let read = json(&folder, "run double.json --random 32 --elements 32 --pipelines 1 --device chip.toml");
    let known = json(&folder, "run xyzz-double --random 32 --elements 32 --pipelines 1");
    let rate = |result: &Value| result["answer"]["per_second"].as_f64().unwrap();
    assert!((rate(&read) / rate(&known) - 2.0).abs() < 1e-6);
}

#[test]
fn what_is_wrong_is_refused_in_one_line() {
    let folder = folder();
    folder.write("graph.json", "{}");
    folder.write("chip.toml", "name = 1");
    for (arguments, expected) in [
        ("run madd", "madd is not a formula (xyzz-plus-affine, "),
        ("run other.json", "other.json: "),
        ("run graph.json", "graph.json: missing field"),
        ("run --device z80", "z80 is not a device (vck5000, "),
        ("run --device chip.toml", "chip.toml: device, line 1: "),
        ("run --elements 12", "--elements 12: expected a multiple of 8"),
        ("run --random 2^30", "2^30: expected 1 to 2^22"),
        (
            "run --pipelines 24",
            "24 pipelines of 17 nodes: 400 tiles have room for 23; take fewer, or join nodes",
        ),
        ("run --pipelines 0", "no pipelines: at least one is needed"),
        ("explore --pipelines 1000000000000", "400 tiles have room for 23"),
        ("run --elements 2199023255552", "vectors in a call: from 1 to 65536 are possible"),
        ("run --join=18446744073709551615", "expected 1 to 1024"),
        ("run --slowdown 0", "a positive factor below 10^6 is needed"),
        ("run --copies 0", "xyzz-plus-affine"),
        ("run --years 0", "--years 0: expected 10^-6 to 10^12"),
        ("run --join=0", "--join=0: expected 1 to 1024"),
        ("show --kernel other", "other is none of the nodes multiply-0, "),
        ("show --device-file z80", "z80 is none of the devices vck5000, "),
        ("msm --points 10 --digit-bits 1", "digits have 2 to 20 bits"),
    ] {
        let error = folder.run(&format!("pipeline {arguments}")).failed(2);
        assert!(error.contains(expected), "{arguments}: {error}");
    }
}
