//! `stark`: proofs and verdicts; tables and searches of `stark security`, whose figures are tested where they are computed; rejected input.

use crate::process::{Folder, MODULUS, refused};
use serde_json::{Value, json};

fn report(folder: &Folder, options: &str) -> Value {
    let text = folder.run(&format!("stark security --json {options}")).succeeded().stdout;
    serde_json::from_str::<Value>(&text).unwrap()["result"].take()
}

#[test]
fn defaults_prove_100_bits_and_128_with_one_option() {
    let folder = Folder::new();
    let text = folder.run("stark security").succeeded().stdout;
    for line in [
        "trace        2^20 rows, 100 columns, 100 constraints of degree 3, 206 openings\n",
        "FRI          blowup 2^3, folds 8 8 8 8 8 8 4, 57 queries\n",
        "blinding     none: the proof is not zero-knowledge\n",
        "queries                   63.3     101.4\n",
        "hash                     128.0     128.0\n",
        "total                     63.3     101.4\n",
        "101.4 bits are proven by the Johnson bound (m = 1000).\n",
        "The binding term is `queries`; more queries, ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let text = folder.run("stark security --security 128").succeeded().stdout;
    assert!(text.contains("128.0 bits are proven") && text.contains(", 75 queries\n"), "{text}");
    let text = folder.run("stark security --zero-knowledge").succeeded().stdout;
    for line in [
        "FRI          blowup 2^3, folds 8 8 8 8 8 8 8, 57 queries\n",
        "blinding     3 random columns, twice the rows\n",
        "queries                   63.3     101.4\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(folder.run("stark security --quiet").succeeded().stderr, "");
}

#[test]
fn json_has_every_term() {
    let folder = Folder::new();
    let found = report(&folder, "--log-rows 10 --log-final-length 6 --grinding 20 --grinding-query 18");
    assert_eq!(found["parameters"]["queries"], 55);
    let grinding = serde_json::json!({ "out_of_domain": 20, "batching": 20, "commit": 20, "query": 18 });
    assert_eq!(found["parameters"]["grinding"], grinding);
    assert_eq!((&found["shape"]["log_rows"], &found["shape"]["openings"]), (&10.into(), &206.into()));
    let johnson = &found["johnson"];
    let terms = johnson["terms"].as_array().unwrap();
    let rounds: Vec<_> = terms.iter().map(|term| term["round"].as_str().unwrap()).collect();
    assert_eq!(rounds, ["constraints", "out of domain", "batching", "fold 1", "fold 2", "queries", "hash"]);
    let least = terms.iter().map(|term| term["bits"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    assert_eq!(johnson["bits"], least);
    assert_eq!((&found["bits"], &found["binding"]), (&johnson["bits"], &"queries".into()));
    assert!(johnson["m"].as_u64().unwrap() >= 3 && found["unique_decoding"]["m"].is_null());

    // Queries that are given are taken.
    let given = report(&folder, "--queries 10 --extension 2 --log-blowup 1 --digest-bits 96");
    assert_eq!(given["parameters"]["queries"], 10);
    assert!(given["bits"].as_f64().unwrap() < 30.0);

    let nothing = report(&folder, "--log-rows 1 --log-blowup 1 --columns 1 --queries 5");
    assert_eq!((&nothing["bits"], &nothing["johnson"]), (&0.0.into(), &Value::Null));
    let text = folder.run("stark security --log-rows 1 --log-blowup 1 --queries 5").succeeded().stdout;
    assert!(text.ends_with("Nothing is proven: the trace has too few rows.\n"), "{text}");
}

#[test]
fn what_cannot_be_proven_is_explained() {
    let folder = Folder::new();
    let on = |options: &str, words: &[&str]| refused(&folder, &format!("stark security {options}"), words);
    let quadratic = "128 bits cannot be proven with any number of queries: fold 1 has at most 105.1 bits; use a larger extension, more grinding in front of folds, or fewer rows";
    on("--security 128 --extension 2", &[quadratic]);
    on("--security 129", &["hash has at most 128.0 bits; use a longer digest"]);
    on("--security 4294967295", &["4294967295 bits cannot be proven"]);
    on("--log-rows 0 --log-blowup 1", &["too few rows"]);
}

#[test]
fn values_out_of_range_are_refused() {
    let folder = Folder::new();
    for (options, message) in [
        ("--log-rows 30", "--log-rows: expected at most 29 for --log-blowup 3, found 30"),
        ("--log-rows 4294967295", "--log-rows: expected at most 29 for --log-blowup 3, found 4294967295"),
        ("--log-blowup 0", "--log-blowup: expected 1 to 32, found 0"),
        ("--extension 4", "--extension: expected 2 to 3, found 4"),
        ("--degree 10", "--degree: expected at most 9 for --log-blowup 3, found 10"),
        ("--columns 0", "--columns: expected 1 to 1073741824, found 0"),
        ("--constraints 4294967295", "--constraints: expected 1 to 1073741824, found 4294967295"),
        ("--queries 0", "--queries: expected 1 to 65536, found 0"),
        ("--grinding-batching 99", "--grinding-batching: expected 0 to 60, found 99"),
        ("--grinding 61", "--grinding-out-of-domain: expected 0 to 60, found 61"),
        ("--log-arity 0", "--log-arity: expected 1 to 32, found 0"),
        ("--log-final-length 33", "--log-final-length: expected 0 to 32, found 33"),
        ("--digest-bits 0", "--digest-bits: expected 1 to 1024, found 0"),
    ] {
        refused(&folder, &format!("stark security {options}"), &[message]);
    }
    for usage in
        ["--log-rows 99999999999999999999", "--columns=-1", "--degree x", "--queries 5 --security 100"]
    {
        assert_eq!(folder.run(&format!("stark security {usage}")).status, Some(2), "{usage}");
    }
}

/// A folder with an AIR `air.json` (Fibonacci's sequence modulo p), a trace `trace.bin` of that many rows, and `public.json`.
fn fibonacci(rows: usize) -> Folder {
    let folder = Folder::new();
    folder.write("air.json", include_bytes!("../../../stark/tests/data/fibonacci.json"));
    let mut row = [0_u64, 1];
    let mut bytes = Vec::new();
    let mut last = 0;
    for _ in 0..rows {
        bytes.extend(row.map(u64::to_le_bytes).as_flattened());
        last = row[1];
        let sum = (u128::from(row[0]) + u128::from(row[1])) % u128::from(MODULUS);
        row = [row[1], u64::try_from(sum).unwrap()];
    }
    folder.write("trace.bin", bytes);
    folder.write("public.json", json!(["0", 1, last.to_string()]).to_string());
    folder
}

const PROVE: &str = "stark prove air.json trace.bin public.json proof.bin";
const VERIFY: &str = "stark verify air.json public.json proof.bin";

#[test]
fn a_trace_is_proven_and_verified() {
    let folder = fibonacci(128);
    for options in [
        "",
        "--hash sha256 --threads 1",
        "--hash poseidon --level portable",
        "--hash poseidon2 --security 128",
        "--hash poseidon2-8 --extension 2 --security 95",
        "--hash poseidon2-12-8 --log-blowup 1 --log-arity 2 --log-final-length 3",
        "--queries 5 --grinding 3",
        "--zero-knowledge --queries 57",
        "--zero-knowledge --queries 20 --extension 2 --hash poseidon2-8",
    ] {
        let text = folder.run(&format!("{PROVE} {options} --json")).succeeded().stdout;
        let report: Value = serde_json::from_str(&text).unwrap();
        let result = &report["result"];
        assert_eq!((&result["rows"], &result["proof"]), (&128.into(), &"proof.bin".into()), "{options}");
        assert_eq!(result["bytes"], folder.read("proof.bin").len(), "{options}");
        let phases = report["phases"].as_array().unwrap().len();
        assert_eq!(phases, 11, "as many as the progress bar expects");
        let verdict = folder.run(&format!("{VERIFY} {options}")).succeeded().stdout;
        assert!(verdict.starts_with("valid: a trace of 2^7 rows; "), "{options}: {verdict}");
        folder.run(&format!("{VERIFY} {options} --log-rows 7")).succeeded();
        // The bits are a part of what is verified.
        let other = folder.run(&format!("{VERIFY} {options} --log-arity 1"));
        assert_ne!(other.status, Some(0), "{options}");
    }
}

#[test]
fn false_statements_are_rejected() {
    let folder = fibonacci(64);
    folder.run(PROVE).succeeded();
    let fails = |folder: &Folder, status, command: &str, message: &str| {
        let error = folder.run(command).failed(status);
        assert!(error.contains(message), "{command}: {error}: not {message}");
    };
    let with = |options: &str| format!("{VERIFY} {options}");
    fails(&folder, 1, &with("--log-rows 8"), "proof.bin: expected a trace of 2^8 rows, found 2^6");
    fails(
        &folder,
        2,
        &with("--hash sha256"),
        "proof.bin: byte 8: expected a proof with the hash sha256, found keccak",
    );
    fails(&folder, 2, &with("--security 110"), "proof.bin: malformed proof: ");
    let blinded = "proof.bin: rejected: a proof that is blinded where the parameters say that it is not, or the opposite";
    fails(&folder, 1, &with("--zero-knowledge --queries 20"), blinded);
    let prove = format!("{PROVE} --zero-knowledge");
    fails(&folder, 2, &prove, "trace.bin: a trace of 2^6 rows: the parameters need more than 2^6");
    folder.write("public.json", "[0, 1, 7]");
    fails(&folder, 1, VERIFY, "proof.bin: rejected: ");

    // The prover names what does not hold, and writes nothing.
    let folder = fibonacci(64);
    let mut trace = folder.read("trace.bin");
    trace[16 * 9] ^= 1;
    folder.write("trace.bin", trace);
    for memory in ["fast", "balanced", "low"] {
        let prove = format!("{PROVE} --memory {memory}");
        fails(&folder, 1, &prove, "trace.bin: constraint 2 does not hold in row 8");
    }
    assert!(!folder.names().contains(&"proof.bin".to_owned()));
}

#[test]
fn malformed_files_are_refused() {
    let folder = fibonacci(64);
    folder.run(PROVE).succeeded();
    let (proof, trace) = (folder.read("proof.bin"), folder.read("trace.bin"));
    for (bytes, message) in [
        (&proof[..proof.len() - 1], "more bytes, found "),
        (&proof[..20], "byte 8: expected 16 more bytes, found 12"),
        (&trace[..], "proof.bin: byte 0: expected a STARK proof of a trace, version 3"),
        (&[], "proof.bin: byte 0: expected a STARK proof of a trace, version 3"),
        (
            &[b"PMSTARK\x02", &proof[8..]].concat(),
            "proof.bin: byte 7: expected a STARK proof of version 3, found version 2: make the proof again",
        ),
    ] {
        folder.write("proof.bin", bytes);
        refused(&folder, VERIFY, &[message]);
    }
    let on = |file: &str, content: &[u8], message: &str| {
        let folder = fibonacci(64);
        folder.write(file, content);
        refused(&folder, PROVE, &[message]);
    };
    on("public.json", b"[0, 1]", "expected 3 public values, found 2");
    on("public.json", b"[0, 1, -1]", "public value 2: expected an integer");
    on("public.json", b"{}", "invalid type");
    on(
        "public.json",
        b"[0, 1, 18446744069414584321]",
        "public value 2: expected an integer below 2^64 - 2^32 + 1",
    );
    on("trace.bin", &trace[..trace.len() - 8], "");
    on("trace.bin", &[255; 16], "row 0, column 0");
    on("air.json", b"{}", "missing field");
    on("air.json", &[b'['; 100_000], "");
    refused(&folder, "stark prove air.json trace.bin public.json air.json", &["would replace"]);
}

#[test]
fn workloads_can_be_proven_and_verified_from_their_files() {
    for (name, log_rows) in
        [("fibonacci", 6), ("poseidon2", 6), ("merkle-tree", 6), ("keccak-f", 6), ("blake3", 6)]
    {
        let folder = Folder::new();
        let workload = format!("stark workload {name} --log-rows {log_rows} --out kept/files");
        let text = folder.run(&workload).succeeded().stdout;
        assert!(text.contains("bits are proven\n"), "{text}");
        let proof = folder.read("kept/files/proof.bin");
        let files =
            ["air.json", "trace.bin", "public.json"].map(|file| format!("kept/files/{file}")).join(" ");
        for options in ["--threads 1", "--memory balanced", "--memory low --scratch ."] {
            folder.run(&format!("stark prove {files} proof.bin {options}")).succeeded();
            assert!(folder.read("proof.bin") == proof, "{name}: another proof with {options}");
        }
        let files = ["air.json", "public.json"].map(|file| format!("kept/files/{file}")).join(" ");
        folder.run(&format!("stark verify {files} proof.bin --log-rows {log_rows}")).succeeded();
    }
    let folder = Folder::new();
    refused(&folder, "stark workload keccak-f --log-rows 4", &["--log-rows: "]);
    refused(&folder, "stark workload fibonacci --security 129", &["129 bits cannot be proven"]);
}

/// The trace has 37 MB: the modes have nine times as much, one and a quarter of it, and a quarter.
#[test]
#[cfg(target_os = "linux")]
fn memory_is_what_the_mode_says() {
    let folder = Folder::new();
    folder.run("stark workload keccak-f --log-rows 11 --queries 2 --grinding 0 --out .").succeeded();
    let trace = folder.read("trace.bin").len() as f64;
    let peak = |memory: &str| {
        let options = format!("--queries 2 --grinding 0 --threads 2 --json --memory {memory}");
        let text = folder.run(&format!("{PROVE} {options}")).succeeded().stdout;
        let report: Value = serde_json::from_str(&text).unwrap();
        report["peak_memory_bytes"].as_u64().unwrap() as f64 / trace
    };
    let [fast, balanced, low] = ["fast", "balanced", "low"].map(peak);
    assert!(fast > 8.0 && balanced < 2.5 && low < 1.5, "{fast}, {balanced}, {low}");
    let error = folder.run(&format!("{PROVE} --memory low --scratch nowhere")).failed(2);
    assert!(error.contains("nowhere: cannot keep the trace") && error.lines().count() == 1, "{error}");
}

/// Two proofs of one AIR in one of PLONK.
#[test]
fn proofs_are_wrapped() {
    const OPTIONS: &str = "--queries 2 --grinding 1";
    let folder = Folder::new();
    folder
        .run(&format!("stark workload fibonacci --log-rows 3 --hash poseidon-bn254 {OPTIONS} --out ."))
        .succeeded();
    folder.run("srs new powers.ptau --size 2^15").warned();
    let setup = format!("stark wrap setup air.json powers.ptau wrap.key --log-rows 3 --proofs 2 {OPTIONS}");
    let warned = folder.run(&setup).warned();
    assert!(warned.contains("nobody contributed"), "{warned}");
    let insecure = "--allow-insecure-setup";
    let inner = "--inner proof.bin public.json --inner proof.bin public.json";
    let prove = |inner: &str, options: &str| {
        format!("stark wrap prove air.json wrap.key wrapped.json signals.json {inner} {options}")
    };
    folder.run(&prove(inner, &format!("{OPTIONS} {insecure}"))).warned();
    let read = |name: &str| serde_json::from_str::<Vec<String>>(&folder.text(name)).unwrap();
    assert_eq!(read("signals.json"), [read("public.json"), read("public.json")].concat());
    folder.run(&format!("zkey export verificationkey wrap.key vk.json {insecure}")).warned();
    folder.run(&format!("plonk verify vk.json signals.json wrapped.json {insecure}")).warned();

    // What is wrong is named, and nothing is written.
    let kept = folder.read("wrapped.json");
    let fails = |command: &str, status, message: &str| {
        let error = folder.run(&format!("{command} {insecure}")).failed(status);
        assert!(error.contains(message), "{command}: {error}: not {message}");
        assert!(folder.read("wrapped.json") == kept);
    };
    let one = "--inner proof.bin public.json";
    let other = folder.run(&prove(one, &format!("{OPTIONS} {insecure}")));
    assert!(other.status == Some(2) && other.stderr.contains("error: "), "{other:?}");
    fails(&prove(inner, "--queries 3 --grinding 1"), 2, "proof.bin: ");
    folder.write("other.json", "[1, 2, 3]");
    fails(&prove(&format!("{one} --inner proof.bin other.json"), OPTIONS), 1, "proof.bin: rejected: ");
    fails(&prove("--inner wrapped.json public.json", OPTIONS), 2, "would replace");
    let keccak = "stark prove air.json trace.bin public.json keccak.bin --hash keccak";
    folder.run(&format!("{keccak} {OPTIONS}")).succeeded();
    fails(
        &prove(&format!("{one} --inner keccak.bin public.json"), OPTIONS),
        2,
        "keccak.bin: byte 8: expected a proof with the hash poseidon-bn254",
    );
    fails(&format!("{setup} --log-final-length 5"), 2, "log_rows: expected at least 6");
    fails(&format!("{setup} --extension 2"), 2, "extension: expected 3, found 2");
}
