//! Instructions per result by the length of vectors, as counted by `cargo xtask arm-count` under QEMU.

use std::sync::LazyLock;

/// The committed record.
const RECORD: &str = include_str!("../../../../lab/records/arm_instructions.csv");

/// Counts by function, level and bits.
#[derive(Debug)]
pub struct InstructionCounts(Vec<Count>);

#[derive(Debug)]
struct Count {
    function: String,
    level: String,
    bits: u32,
    instructions: f64,
}

impl InstructionCounts {
    /// The counts of `lab/records/arm_instructions.csv`.
    pub fn committed() -> &'static Self {
        static COUNTS: LazyLock<InstructionCounts> = LazyLock::new(|| InstructionCounts::parse(RECORD));
        &COUNTS
    }

    /// Lines that are not counts, such as the heading, are skipped.
    fn parse(text: &str) -> Self {
        let count = |line: &str| {
            let mut fields = line.split(',');
            let mut next = || fields.next();
            Some(Count {
                function: next()?.to_owned(),
                level: next()?.to_owned(),
                bits: next()?.parse().ok()?,
                instructions: next()?.parse().ok().filter(|count: &f64| *count > 0.0)?,
            })
        };
        Self(text.lines().filter_map(count).collect())
    }

    /// Instructions per result of `function` at `level` with vectors of `bits`; `None` if they were not
    /// counted.
    pub fn instructions(&self, function: &str, level: &str, bits: u32) -> Option<f64> {
        let count = self.0.iter().find(|c| c.function == function && c.level == level && c.bits == bits)?;
        Some(count.instructions)
    }

    /// Instructions with vectors of `to` bits as a share of those with `from` bits.
    pub fn ratio(&self, function: &str, level: &str, from: u32, to: u32) -> Option<f64> {
        Some(self.instructions(function, level, to)? / self.instructions(function, level, from)?)
    }

    /// Whether there are counts of the function.
    pub fn has(&self, function: &str) -> bool {
        self.0.iter().any(|count| count.function == function)
    }
}

/// The counted function that does the work of one of Proofmill's benchmarks.
pub fn function_of(family: &str, benchmark: &str) -> Option<String> {
    let function = match (family, benchmark) {
        ("merkle", hash) => format!("{hash}_tree"),
        ("permutations", hash) => format!("{hash}_rows"),
        ("goldilocks_transforms", _) => "ntt".to_owned(),
        ("goldilocks", function) => function.replace('-', "_"),
        _ => return None,
    };
    InstructionCounts::committed().has(&function).then_some(function)
}
