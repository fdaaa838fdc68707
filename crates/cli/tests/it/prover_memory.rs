//! The bounds on the memory of tasks: at least the measured peak, and not much more than it.
#![cfg(target_os = "linux")]

use crate::{process::Folder, prover::Session};
use proofmill::{
    bls::{SecretKey, Signature},
    circom::Witness,
    field::Fr,
};
use proofmill_job::Task;
use serde_json::{Value, json};
use std::fs;

/// What is always allowed beyond the peak, in bytes.
const SLACK: u64 = 64 << 20;

/// The bytes of a container of iden3 with these sections.
fn container(magic: &[u8; 4], version: u32, sections: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = magic.to_vec();
    bytes.extend([version, sections.len() as u32].map(u32::to_le_bytes).as_flattened());
    for (id, content) in sections {
        bytes.extend(id.to_le_bytes());
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(content);
    }
    bytes
}

/// Writes the circuit `x_(i + 1) = x_i^2` of so many constraints, and a witness. The output is wire 1, the input the last.
fn write_squares(folder: &Folder, name: &str, count: u32) {
    let last = count + 1;
    let wire = |i: u32| if i == count { 1 } else { last - i };
    let field = |constants: [u32; 4], labels: u64, constraints: u32| {
        let mut header = 32_u32.to_le_bytes().to_vec();
        let modulus = (-Fr::from(1)).to_bytes_le();
        // r - 1 is even.
        header.extend(modulus.iter().enumerate().map(|(i, byte)| byte + u8::from(i == 0)));
        header.extend(constants.map(u32::to_le_bytes).as_flattened());
        header.extend(labels.to_le_bytes());
        header.extend(constraints.to_le_bytes());
        header
    };
    let one = Fr::from(1).to_bytes_le();
    let (mut constraints, mut values) = (Vec::new(), vec![Fr::from(1); last as usize + 1]);
    let mut value = Fr::from(3);
    for i in 0..count {
        values[wire(i) as usize] = value;
        value *= value;
        for wire in [wire(i), wire(i), wire(i + 1)] {
            constraints.extend([1, wire].map(u32::to_le_bytes).as_flattened());
            constraints.extend(&one);
        }
    }
    values[1] = value;
    let wires = last + 1;
    let labels: Vec<u8> = (0..u64::from(wires)).flat_map(u64::to_le_bytes).collect();
    let header = field([wires, 1, 0, 1], wires.into(), count);
    let sections = [(1, header), (2, constraints), (3, labels)];
    folder.write(&format!("{name}.r1cs"), container(b"r1cs", 1, &sections));
    Witness::from_values(values).save(folder.path(&format!("{name}.wtns"))).unwrap();
}

/// Checks the bound of a task in new processes.
#[track_caller]
fn check(folder: Folder, task: &Value, inputs: &Value) -> Folder {
    let mut folder = folder;
    for threads in [1, 2, 8] {
        let mut session = Session::of(folder, &format!("--threads {threads} --allow-insecure-setup"));
        let key = task["key"].as_str().unwrap().to_owned();
        let facts: proofmill_job::KeyFacts = serde_json::from_value(session.inspect(&key)).unwrap();
        let files = inputs.as_object().unwrap().values();
        let bytes = files.map(|file| session.read(file.as_str().unwrap()).len() as u64).sum();
        let bound = facts.bound(threads, bytes);
        // The second task has memory that the first one freed.
        for _ in 0..3 {
            let (_, reply) = session.execute(task, inputs, threads);
            let peak = reply["peak_memory"].as_u64().unwrap_or_else(|| panic!("{reply}"));
            let text = format!("{key}, {threads} threads: {peak} of {bound}");
            assert!(peak <= bound && bound <= 2 * peak + SLACK, "{text}");
            println!("{text}");
        }
        folder = session.into_folder();
    }
    folder
}

/// Keys of circuits with 2^`log` points, or about half of them.
fn circuits(logs: &[u32]) {
    let mut folder = Folder::new();
    let power = logs.iter().max().unwrap() + 4;
    folder.run(&format!("srs new --prepared --quiet --size 2^{power} powers.ptau")).succeeded();
    for log in logs {
        for count in [(1 << log) - 10, (1 << (log - 1)) + 10] {
            write_squares(&folder, "squares", count);
            for setup in [
                "groth16 setup",
                "plonk setup",
                "fflonk setup",
                "plonk setup --arithmetisation turbo",
                "plonk setup --arithmetisation ultra",
            ] {
                let key = setup.replace(' ', "-");
                folder.run(&format!("{setup} squares.r1cs powers.ptau {key} --quiet")).succeeded();
                let task = json!({ "type": "prove", "key": key });
                folder = check(folder, &task, &json!({ "witness": "squares.wtns" }));
                fs::remove_file(folder.path(&key)).unwrap();
            }
        }
    }
}

/// Traces of 2^`log` rows, narrow and wide.
fn traces(logs: &[u32]) {
    let mut folder = Folder::new();
    for log in logs {
        for (name, less) in [("fibonacci", 0), ("merkle-tree", 4), ("keccak-f", 6)] {
            let log = log.saturating_sub(less).max(5);
            folder.run(&format!("stark workload {name} --log-rows {log} --out . --quiet")).succeeded();
            let task = json!({ "type": "prove-stark", "key": "air.json" });
            folder = check(folder, &task, &json!({ "trace": "trace.bin", "public": "public.json" }));
        }
    }
}

#[test]
fn small_circuits_stay_within_their_bounds() {
    circuits(&[10, 12]);
}

#[test]
fn small_traces_stay_within_their_bounds() {
    traces(&[12]);
}

#[test]
#[ignore = "takes minutes"]
fn large_tasks_stay_within_their_bounds() {
    circuits(&[13, 14, 15, 16, 17]);
    traces(&[8, 14, 16, 18]);
}

/// Sets with so many keys each and messages of so many bytes, as JSON; those of `wrong` are signed by another key.
fn sets(count: usize, keys: usize, message: usize, wrong: usize) -> String {
    let secret = SecretKey::from_bytes(&[7; 32]).unwrap();
    let public = hex::encode(secret.public_key().to_bytes());
    // The sum of equal keys: a multiple of one.
    let sets = (0..count).map(|index| {
        let mut text = (index as u64).to_le_bytes().to_vec();
        text.resize(message, 0);
        let signature = secret.sign(&text);
        let all = vec![signature; if index < wrong { keys + 1 } else { keys }];
        let signature = Signature::aggregate(&all).unwrap();
        json!({
            "public_keys": vec![&public; keys],
            "message": hex::encode(text),
            "signature": hex::encode(signature.to_bytes()),
        })
    });
    Value::Array(sets.collect()).to_string()
}

#[test]
fn signatures_stay_within_their_bound() {
    let mut folder = Folder::new();
    for (count, keys, message, wrong) in
        [(0, 1, 8, 0), (300, 1, 8, 0), (300, 1, 8, 3), (16, 2000, 32, 0), (4, 1, 1 << 18, 0)]
    {
        let text = sets(count, keys, message, wrong);
        folder.write("sets", &text);
        for threads in [1, 8] {
            let mut session = Session::of(folder, &format!("--threads {threads}"));
            let bound = Task::VerifyBls.bound_without_keys(threads, text.len() as u64);
            let mut peak = 0;
            for _ in 0..3 {
                session.execute(&json!({ "type": "verify-bls" }), &json!({ "sets": "sets" }), threads);
                peak = session.peak();
            }
            let text = format!("{count} sets of {keys}, {threads} threads: {peak} of {bound}");
            println!("{text}");
            assert!(peak <= bound && bound <= 2 * peak + SLACK, "{text}");
            folder = session.into_folder();
        }
    }
}
