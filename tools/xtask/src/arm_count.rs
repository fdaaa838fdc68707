//! The instructions that an AArch64 CPU executes for each kernel, counted by QEMU.
//!
//! A guest runs a function on 2^k and on 2^(k + 1) operands; the difference of the instruction counts, divided by the
//! difference of the numbers of operands, is the count. Needs `qemu-aarch64` 4.2 to 8.2, the target
//! `aarch64-unknown-linux-gnu` and its linker.

use crate::cargo;
use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The record of the counts.
pub(crate) const RECORDS: &str = "lab/records/arm_instructions.csv";

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// The functions with one result per operand.
const FUNCTIONS: [&str; 13] = [
    "add",
    "sub",
    "reduce_128_64",
    "square_128",
    "mult_128",
    "mult_72",
    "spmv_4x12",
    "spmv_4x12_8",
    "mmult_4x12",
    "mmult_4x12_8",
    "ntt",
    "poseidon_rows",
    "poseidon2_rows",
];

/// Trees: one permutation per leaf and one per node above.
const TREES: [&str; 2] = ["poseidon_tree", "poseidon2_tree"];

/// Functions over the prime fields, with one result per operand: of their base and scalar fields, then of the quadratic extensions.
const PRIME_FIELDS: [&str; 4] = ["bn254_fr", "bn254_fq", "bls12_381_fr", "bls12_381_fq"];
const ELEMENT_FUNCTIONS: [&str; 4] = ["product", "square", "sum", "difference"];
const QUADRATIC_FIELDS: [&str; 2] = ["bn254_fq2", "bls12_381_fq2"];
const QUADRATIC_FUNCTIONS: [&str; 2] = ["product", "square"];

/// Single pairings.
const PAIRINGS: [&str; 2] = ["bn254_pairing", "bls12_381_pairing"];

/// The levels of the prime fields.
const PRIME_FIELD_LEVELS: [(&str, u32); 2] = [("portable", 64), ("neon", 128)];

/// Levels, with the vector lengths in bits at which they are counted.
const LEVELS: [(&str, &[u32]); 4] =
    [("portable", &[64]), ("neon", &[128]), ("sve", &[128, 256, 512]), ("sve2", &[128, 256, 512])];

/// The operands of the shorter run, as a power of two.
const LOG_COUNT: u32 = 12;

/// Guest instructions: all, and those on vectors.
#[derive(Clone, Copy)]
struct Counts {
    all: u64,
    vector: u64,
}

struct Emulator {
    plugin: PathBuf,
    guest: PathBuf,
}

impl Emulator {
    /// Builds the plugin and the guest.
    fn build(root: &Path) -> Result<Self, String> {
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        cargo(root, &["build", "--quiet", "--release", "--package", "qemu-count"])?;
        cargo(root, &["build", "--quiet", "--release", "--package", "arm-guest", "--target", TARGET])?;
        Ok(Self {
            plugin: target.join("release/libqemu_count.so"),
            guest: target.join(TARGET).join("release/arm-guest"),
        })
    }

    /// The instructions of a run of the guest.
    fn count(&self, level: &str, bits: u32, function: &str, log_count: u32) -> Result<Counts, String> {
        let sve = if level.starts_with("sve") { format!("sve{bits}=on") } else { "sve=off".to_owned() };
        let output = Command::new("qemu-aarch64")
            .args(["-L", "/usr/aarch64-linux-gnu", "-cpu", &format!("max,{sve}"), "-d", "plugin", "-plugin"])
            .args([&self.plugin, &self.guest])
            .args([level, function, &log_count.to_string()])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("qemu-aarch64: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("{function} at {level}, {bits} bits: {said}"));
        }
        let words: Vec<&str> = said.split_whitespace().collect();
        match words[..] {
            ["instructions", all, "vector", vector] => all
                .parse()
                .and_then(|all| Ok(Counts { all, vector: vector.parse()? }))
                .map_err(|error| format!("{said}: {error}")),
            _ => Err(format!("expected counts of the plugin, found `{said}`")),
        }
    }

    /// Instructions per operation, all and on vectors, of a function that performs `operations(k)` on 2^k operands, by runs
    /// on 2^log_count and twice as many.
    fn per_operation(
        &self,
        (level, bits): (&str, u32),
        function: &str,
        log_count: u32,
        operations: impl Fn(u32) -> u64,
    ) -> Result<[f64; 2], String> {
        let short = self.count(level, bits, function, log_count)?;
        let long = self.count(level, bits, function, log_count + 1)?;
        let more = (operations(log_count + 1) - operations(log_count)) as f64;
        Ok([(short.all, long.all), (short.vector, long.vector)]
            .map(|(short, long)| (long as f64 - short as f64) / more))
    }
}

/// Counts every function at every level and writes the record.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let emulator = Emulator::build(root)?;
    let mut text = "function,level,vector_bits,instructions,vector_instructions\n".to_owned();
    let mut record = |function: &str, at: (&str, u32), [all, vector]: [f64; 2]| {
        let line = format!("{function},{},{},{all:.2},{vector:.2}", at.0, at.1);
        println!("{line}");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    };
    let levels = || LEVELS.iter().flat_map(|(level, lengths)| lengths.iter().map(|bits| (*level, *bits)));
    for function in FUNCTIONS {
        for at in levels() {
            record(function, at, emulator.per_operation(at, function, LOG_COUNT, |k| 1 << k)?);
        }
    }
    for tree in TREES {
        for at in levels() {
            record(tree, at, emulator.per_operation(at, tree, LOG_COUNT, |k| (2 << k) - 1)?);
        }
    }
    let functions = |fields: &[&str], functions: &[&str]| -> Vec<String> {
        fields
            .iter()
            .flat_map(|field| functions.iter().map(move |function| format!("{field}_{function}")))
            .collect()
    };
    let elements = functions(&PRIME_FIELDS, &ELEMENT_FUNCTIONS);
    let quadratic = functions(&QUADRATIC_FIELDS, &QUADRATIC_FUNCTIONS);
    for function in elements.iter().chain(&quadratic) {
        for at in PRIME_FIELD_LEVELS {
            record(function, at, emulator.per_operation(at, function, LOG_COUNT, |k| 1 << k)?);
        }
    }
    for pairing in PAIRINGS {
        for at in PRIME_FIELD_LEVELS {
            record(pairing, at, emulator.per_operation(at, pairing, 0, |k| 1 << k)?);
        }
    }
    let file = root.join(RECORDS);
    fs::write(&file, text).map_err(|error| format!("{RECORDS}: {error}"))
}
