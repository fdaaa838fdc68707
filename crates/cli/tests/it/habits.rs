//! What users of snarkjs, and of commands in general, are used to: options, names, silence, and messages that say what to do.

use crate::process::{Folder, SYSTEMS, refused};
use serde_json::Value;
use std::fs;

const BEACON: &str = "0102030405060708090a0b0c0d0e0f10";

fn result(json: &str) -> Value {
    serde_json::from_str::<Value>(json).unwrap()["result"].clone()
}

#[test]
fn quiet_commands_print_nothing() {
    let folder = Folder::new();
    let witness = concat!(env!("CARGO_MANIFEST_DIR"), "/../witness/tests/data");
    fs::copy(format!("{witness}/inputs.wasm"), folder.path("inputs.wasm")).unwrap();
    folder.write("inputs.json", r#"{"a": 4, "b": [1, 2, 3, 4, 5, 6]}"#);
    folder.write(
        "digest",
        format!("{}  circuit.r1cs\n", folder.run("sha256 circuit.r1cs").stdout.split(' ').next().unwrap()),
    );
    for command in [
        "powersoftau new bn128 4 0.ptau",
        "powersoftau contribute 0.ptau 1.ptau",
        "powersoftau export challenge 1.ptau challenge",
        "powersoftau challenge contribute bn128 challenge response",
        "powersoftau import response 1.ptau response 2.ptau",
        "powersoftau verify 2.ptau",
        "groth16 setup circuit.r1cs pot8.ptau 0.zkey",
        "zkey contribute groth16.zkey 1.zkey",
        "zkey beacon 1.zkey 2.zkey 0102030405060708090a0b0c0d0e0f10 10",
        "zkey verify circuit.r1cs pot8.ptau 2.zkey",
        "zkey audit 2.zkey",
        "zkey export soliditycalldata public.json groth16.proof.json",
        "groth16 prove 2.zkey witness.wtns proof.json signals.json",
        "groth16 verify groth16.vk.json public.json groth16.proof.json",
        "wtns check circuit.r1cs witness.wtns",
        "wtns debug inputs.wasm inputs.json debugged.wtns",
        "r1cs info circuit.r1cs",
        "r1cs print circuit.r1cs",
        "info 2.zkey",
        "srs new --size 2^4 test.ptau",
        "srs check test.ptau",
        "sha256 --check digest",
        "cpu",
    ] {
        let run = folder.run(&format!("{command} --quiet"));
        assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""), "{command}");
    }
    // JSON is asked for, and errors are told.
    assert_eq!(result(&folder.run("info 2.zkey -q --json").succeeded().stdout)["protocol"], "groth16");
    folder.run("groth16 verify plonk.vk.json public.json groth16.proof.json --quiet").failed(2);
}

#[test]
fn verbose_commands_print_their_phases() {
    let folder = Folder::new();
    let prove = "groth16 prove groth16.zkey witness.wtns proof.json signals.json";
    for options in ["-v", "--verbose", "-verbose"] {
        let run = folder.run(&format!("{prove} {options}"));
        assert_eq!((run.status, run.stdout.as_str()), (Some(0), ""), "{run:?}");
        let (lines, times): (Vec<_>, Vec<_>) =
            run.stderr.lines().partition(|line| line.starts_with("progress: "));
        assert!(lines[0].ends_with(" s: read zkey") && lines.len() > 3, "{run:?}");
        assert!(times[0].starts_with("read zkey ") && times.last().unwrap().starts_with("total "), "{run:?}");
    }
    // Without it nothing is printed where standard error is no terminal, but for long work.
    assert_eq!(folder.run(prove).succeeded().stdout, "");
    let both = folder.run(&format!("{prove} -q -v"));
    assert!(both.status == Some(2) && both.stderr.contains("cannot be used with"), "{both:?}");
}

#[test]
fn arguments_are_those_of_snarkjs() {
    let folder = Folder::new();
    folder.run("zkc groth16.zkey 1.zkey -name=Bob -entropy=typed").succeeded();
    let verified = folder.run("zkey verify circuit.r1cs pot8.ptau 1.zkey").succeeded();
    assert!(
        verified.stdout.ends_with("\n") && verified.stdout.contains("contribution 2: Bob, "),
        "{verified:?}"
    );
    for command in ["zkey verify r1cs circuit.r1cs pot8.ptau 1.zkey", "zkv circuit.r1cs pot8.ptau 1.zkey -v"]
    {
        assert_eq!(folder.run(command).stdout, verified.stdout, "{command}");
    }
    let report = folder.run("zkey verify circuit.r1cs pot8.ptau 1.zkey --json").succeeded().stdout;
    assert_eq!(serde_json::from_str::<Value>(&report).unwrap()["command"], "zkey verify r1cs");
    // Without arguments the names are snarkjs's, too.
    refused(&folder, "zkey verify", &["circuit_final.zkey: "]);
    folder.run("zksnark proof groth16.zkey witness.wtns p.json s.json").succeeded();
    assert_eq!(folder.run("verify groth16.vk.json s.json p.json").succeeded().stdout, "valid\n");
    assert_eq!(folder.run("print circuit.r1cs").stdout, folder.run("r1cs print circuit.r1cs").stdout);
}

#[test]
fn long_lists_of_contributions_are_folded() {
    let folder = Folder::new();
    fs::copy(folder.path("groth16.zkey"), folder.path("1.zkey")).unwrap();
    for number in 2..=5 {
        let old = number - 1;
        folder
            .run(&format!("zkey beacon {old}.zkey {number}.zkey {BEACON} 10 --name number{number}"))
            .succeeded();
    }
    for command in ["zkey verify circuit.r1cs pot8.ptau", "zkey audit", "info"] {
        let list = |key: &str| {
            let text = folder.run(&format!("{command} {key}")).succeeded().stdout;
            let lines = text.lines().map(str::trim_start);
            lines
                .filter(|line| line.starts_with("contribution ") || line.contains("more"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let three = list("3.zkey");
        assert!(
            three.len() == 3
                && three[1].starts_with("contribution 2: number2, a beacon of 2^10 iterations, "),
            "{three:?}"
        );
        let five = list("5.zkey");
        assert_eq!(five.len(), 3, "{five:?}");
        assert_eq!(five[0], three[0]);
        assert_eq!(five[1], "3 more contributions, which --contributions prints");
        assert!(five[2].starts_with("contribution 5: number5, "), "{five:?}");
        let all = list("5.zkey --contributions");
        assert_eq!((all.len(), &all[..3], &all[4]), (5, &three[..], &five[2]));
    }
    let report = folder.run("zkey audit 5.zkey --json").succeeded().stdout;
    assert_eq!(result(&report)["contributions"].as_array().unwrap().len(), 5);
}

#[test]
fn names_are_shown_as_they_were_given() {
    let folder = Folder::new();
    let name = r#"O'Neill_"the_second"_\é"#;
    folder.run(&format!("zkey contribute groth16.zkey 1.zkey --name {name}")).succeeded();
    for command in ["zkey verify circuit.r1cs pot8.ptau 1.zkey", "zkey audit 1.zkey", "info 1.zkey"] {
        let text = folder.run(command).succeeded().stdout;
        assert!(text.contains(&format!("contribution 2: {name}, ")), "{text}");
    }
    // But none is a command to the terminal.
    let mut key = folder.read("1.zkey");
    let place = key.windows(7).position(|bytes| bytes == b"O'Neill").unwrap();
    key[place + 7] = 0x1b;
    folder.write("2.zkey", key);
    let text = folder.run("zkey verify circuit.r1cs pot8.ptau 2.zkey").succeeded().stdout;
    assert!(text.contains("contribution 2: O'Neill?\"the_second\"_"), "{text}");
}

#[test]
fn unprepared_powers_are_refused_with_the_command_that_prepares_them() {
    let folder = Folder::new();
    folder.run("powersoftau new bn128 8 raw.ptau").succeeded();
    let words = ["raw.ptau: ", "`proofmill powersoftau prepare phase2` does that"];
    for system in ["groth16", "plonk"] {
        refused(&folder, &format!("{system} setup circuit.r1cs raw.ptau made.zkey"), &words);
    }
    refused(&folder, "powersoftau truncate raw.ptau", &words);
}

#[test]
fn r1cs_info_says_which_powers_each_setup_needs() {
    let folder = Folder::new();
    let text = folder.run("r1cs info circuit.r1cs").succeeded().stdout;
    assert!(text.contains("\nplonk            180 gates, powers of tau of 2^8 or more\n"), "{text}");
    let found = result(&folder.run("r1cs info circuit.r1cs --json").succeeded().stdout);
    for system in SYSTEMS {
        let power = found[system]["power"].as_u64().unwrap();
        for (size, is_enough) in [(power, true), (power - 1, false)] {
            folder.run(&format!("srs new --prepared --size 2^{size} {size}.ptau --quiet")).succeeded();
            let setup = format!("{system} setup circuit.r1cs {size}.ptau {system}.made");
            if is_enough {
                folder.run(&setup).warned();
            } else {
                refused(&folder, &setup, &["powers of tau", &power.to_string()]);
            }
        }
    }
    // Circuits over BLS12-381 have keys of Groth16 only.
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../circom/tests/data/bls12-381/circuit.r1cs");
    let found = result(&folder.run(&format!("r1cs info {data} --json")).succeeded().stdout);
    assert!(found["groth16"]["power"].is_u64() && found["plonk"].is_null(), "{found}");
}

#[test]
fn info_describes_the_circuit_of_a_wasm() {
    let folder = Folder::new();
    folder.run("wtns compile circuit.wasm input.json circuit.wcd").succeeded();
    for file in ["circuit.wasm", "circuit.wcd"] {
        let text = folder.run(&format!("info {file}")).succeeded().stdout;
        assert!(
            text.contains(
                "\ncircom           2.2.3\ncurve            bn254\ninputs           6\nwires            149\n"
            ),
            "{text}"
        );
    }
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../");
    let found = result(
        &folder.run(&format!("info {data}witness/tests/data/circom1/inputs.wasm --json")).succeeded().stdout,
    );
    assert_eq!((&found["circom"], &found["inputs"], &found["wires"]), (&"1".into(), &7.into(), &10.into()));
    let found = result(
        &folder
            .run(&format!("info {data}circom/tests/data/bls12-381/circuit.wasm --json"))
            .succeeded()
            .stdout,
    );
    assert_eq!((&found["curve"], &found["inputs"]), (&"bls12-381".into(), &1.into()));
}
