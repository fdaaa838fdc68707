//! What each CPU feature gains on this machine, on one core.
//!
//! An operation is timed by each kernel that this CPU has; a feature's gain is the ratio of two of them, one that uses it
//! and the best that does without.

use super::features::Feature;
use cpu_time::ProcessTime;
use proofmill_bench::machine::time_stamp_hertz;
use proofmill_bls::{
    BlsError, SecretKey, Signature, SignatureSet, ValidPublicKey, fast_aggregate_verify, verify, verify_batch,
};
use proofmill_console::Failure;
use proofmill_curve::hash_to_curve::hash_to_g2;
use proofmill_sha256::Kernels;
use serde_json::{Value, json};
use std::{fmt::Write as _, hint::black_box, time::Duration};

/// Samples of which the shortest is taken: what else the machine does only lengthens them.
const SAMPLES: usize = 5;
/// How long a sample takes at least.
const SAMPLE: Duration = Duration::from_millis(10);

/// Everything measured.
pub(crate) struct Measurements {
    rows: Vec<Row>,
    /// What a cycle is: a step of the time-stamp counter, which counts at this rate whatever the core's is.
    cycles_per_second: Option<f64>,
}

/// An operation by a kernel.
#[derive(Clone)]
pub(crate) struct Row {
    /// What is done.
    pub(crate) operation: &'static str,
    /// The kernel's name, a level's or one of SHA-256's.
    pub(crate) kernel: &'static str,
    /// One operation's.
    pub(crate) seconds: f64,
}

impl Measurements {
    /// Measures for some seconds.
    pub(crate) fn new() -> Result<Self, Failure> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|error| Failure::Input(format!("cannot start a thread: {error}")))?;
        let rows = pool.install(|| Ok::<_, BlsError>([sha256(), hash_to_curve(), bls()?].concat()));
        let rows = rows.map_err(|error| Failure::Input(format!("cannot measure signatures: {error}")))?;
        Ok(Self { rows, cycles_per_second: time_stamp_hertz() })
    }

    fn row(&self, operation: &str, kernel: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.operation == operation && row.kernel == kernel)
    }

    /// With and without a feature, where both can be measured here.
    fn gain(&self, feature: &Feature) -> Option<[&Row; 2]> {
        let gain = feature.gain.as_ref()?;
        Some([self.row(gain.operation, gain.with)?, self.row(gain.operation, gain.without)?])
    }

    /// How many times faster than the operation's first kernel.
    fn ratio(&self, row: &Row) -> f64 {
        let first = self.rows.iter().find(|first| first.operation == row.operation);
        first.map_or(1.0, |first| first.seconds / row.seconds)
    }

    /// For people.
    pub(crate) fn text(&self, features: &[Feature]) -> String {
        let mut text = format!("{:<14} {:<5} {:<60} used by\n", "feature", "here", "came with");
        // Writing to a string cannot fail.
        for Feature { name, present, came_with, kernels, .. } in features {
            let here = if *present { "yes" } else { "no" };
            let _ = writeln!(text, "{name:<14} {here:<5} {came_with:<60} {kernels}");
        }
        let _ = match self.cycles_per_second {
            Some(rate) => {
                writeln!(
                    text,
                    "\nOne core, CPU time; cycles are the time-stamp counter's, {:.2} GHz.",
                    rate / 1e9
                )
            }
            None => writeln!(text, "\nOne core, CPU time; cycles are unavailable here."),
        };
        let _ = writeln!(text, "\n{:<14} {:>7}   operation, with and without", "feature", "gain");
        for feature in features {
            let Some([with, without]) = self.gain(feature) else { continue };
            let ratio = without.seconds / with.seconds;
            let sides =
                format!("{} {}, {} {}", with.kernel, nanoseconds(with), without.kernel, nanoseconds(without));
            let _ = writeln!(text, "{:<14} {ratio:>5.2} x   {}: {sides}", feature.name, with.operation);
        }
        let mut operation = "";
        for row in &self.rows {
            if row.operation != operation {
                operation = row.operation;
                let _ = writeln!(text, "\n{operation}");
            }
            let rate = grouped(1.0 / row.seconds);
            let cycles =
                self.cycles(row).map_or_else(String::new, |cycles| format!("{:>16} cycles", grouped(cycles)));
            let time = nanoseconds(row);
            let ratio = self.ratio(row);
            let _ =
                writeln!(text, "  {:<12} {rate:>14} ops/s {time:>18}/op {cycles} {ratio:>8.2} x", row.kernel);
        }
        text
    }

    fn cycles(&self, row: &Row) -> Option<f64> {
        self.cycles_per_second.map(|rate| rate * row.seconds)
    }

    /// For programs.
    pub(crate) fn json(&self, features: &[Feature]) -> Value {
        let feature = |feature: &Feature| {
            let gain = self.gain(feature).map(|[with, without]| {
                json!({
                    "operation": with.operation,
                    "with": with.kernel,
                    "without": without.kernel,
                    "ratio": without.seconds / with.seconds,
                })
            });
            json!({
                "name": feature.name,
                "present": feature.present,
                "came_with": feature.came_with,
                "used_by": feature.kernels,
                "gain": gain,
            })
        };
        let row = |row: &Row| {
            json!({
                "operation": row.operation,
                "kernel": row.kernel,
                "ops_per_second": 1.0 / row.seconds,
                "nanoseconds": row.seconds * 1e9,
                "cycles": self.cycles(row),
                "ratio": self.ratio(row),
            })
        };
        json!({
            "time_stamps_per_second": self.cycles_per_second,
            "features": features.iter().map(feature).collect::<Vec<_>>(),
            "operations": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }
}

fn nanoseconds(row: &Row) -> String {
    format!("{} ns", grouped(row.seconds * 1e9))
}

/// A number's digits in groups of three, one behind the point where there are few.
fn grouped(number: f64) -> String {
    if number < 100.0 {
        return format!("{number:.1}");
    }
    let digits = format!("{number:.0}");
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// One operation's seconds of the process's CPU time, which a busy machine disturbs less: the shortest of samples, each of as many operations as take long enough to be timed.
fn seconds(mut operation: impl FnMut()) -> f64 {
    let mut time = |count: u32| {
        let began = ProcessTime::now();
        (0..count).for_each(|_| operation());
        began.elapsed()
    };
    time(1);
    let mut count = 1;
    let mut elapsed = time(count);
    while elapsed < SAMPLE {
        count *= 2;
        elapsed = time(count);
    }
    (0..SAMPLES).map(|_| time(count).as_secs_f64() / f64::from(count)).fold(f64::INFINITY, f64::min)
}

/// Pairs that are hashed at a time.
const PAIRS: usize = 1024;

fn sha256() -> Vec<Row> {
    let message = vec![0x5a; 5_000_000];
    let pairs = vec![[0x5a; 64]; PAIRS];
    let mut rows = Vec::new();
    for (operation, length) in [(SHORT, 32), ("SHA-256 of 128 B", 128), ("SHA-256 of 5 MB", message.len())] {
        for kernels in Kernels::available() {
            // The others' lanes do not serve one message.
            if kernels.name() == kernels.single_name() {
                let message = &message[..length];
                let seconds = seconds(|| {
                    black_box(kernels.digest(black_box(message)));
                });
                rows.push(Row { operation, kernel: kernels.name(), seconds });
            }
        }
    }
    for kernels in Kernels::available() {
        let mut digests = vec![[0; 32]; PAIRS];
        let seconds = seconds(|| kernels.pairs(black_box(&pairs), black_box(&mut digests))) / PAIRS as f64;
        rows.push(Row { operation: TREE, kernel: kernels.name(), seconds });
    }
    rows
}

/// Messages that are hashed at a time.
const MESSAGES: usize = 128;

fn hash_to_curve() -> Vec<Row> {
    const DST: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";
    let messages = [[0x5a; 32]; MESSAGES];
    let messages = messages.each_ref().map(|message| &message[..]);
    let mut rows = Vec::new();
    for (operation, count) in [(ONE_POINT, 1), (MANY_POINTS, MESSAGES)] {
        for level in proofmill_field::prime_field_levels() {
            let messages = &messages[..count];
            let seconds =
                seconds(|| drop(black_box(hash_to_g2(level, black_box(messages), DST)))) / count as f64;
            rows.push(Row { operation, kernel: level.name(), seconds });
        }
    }
    rows
}

/// Public keys of an aggregate.
const KEYS: usize = 128;
/// Signatures that are checked one after the other, or as a batch.
const SIGNATURES: usize = 6;

/// The operations of a client of Ethereum's consensus.
fn bls() -> Result<Vec<Row>, BlsError> {
    let mut rows = Vec::new();
    for level in proofmill_field::prime_field_levels() {
        let secrets = (0..KEYS).map(|i| SecretKey::derive_master(&[i as u8; 32]));
        let secrets = secrets.collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<ValidPublicKey> = secrets.iter().map(|secret| secret.public_key(level)).collect();
        let messages: [[u8; 32]; SIGNATURES] = std::array::from_fn(|i| [i as u8; 32]);
        let signatures: Vec<Signature> =
            secrets.iter().zip(&messages).map(|(secret, message)| secret.sign(level, message)).collect();
        let of_one: Vec<Signature> = secrets.iter().map(|secret| secret.sign(level, &messages[0])).collect();
        let aggregate = Signature::aggregate(level, &of_one)?;
        let sets = keys.chunks(1).zip(&messages).zip(&signatures);
        let sets: Vec<SignatureSet<'_>> = sets
            .map(|((keys, message), signature)| SignatureSet { keys, message, signature: *signature })
            .collect();
        // What is timed must succeed.
        let valid = |result: Result<(), BlsError>| assert!(black_box(result).is_ok(), "a valid signature");
        let check = |i: usize| valid(verify(level, &keys[i], &messages[i], &signatures[i]));
        let times = [
            seconds(|| {
                black_box(secrets[0].sign(level, black_box(&messages[0])));
            }),
            seconds(|| check(0)),
            seconds(|| valid(fast_aggregate_verify(level, &keys, &messages[0], &aggregate))),
            seconds(|| (0..SIGNATURES).for_each(check)),
            seconds(|| valid(verify_batch(level, &sets))),
        ];
        let row = |(operation, seconds)| Row { operation, kernel: level.name(), seconds };
        rows.extend(BLS.into_iter().zip(times).map(row));
    }
    // Operation by operation.
    rows.sort_by_key(|row| BLS.iter().position(|operation| *operation == row.operation));
    Ok(rows)
}

/// In the order of the rows.
const BLS: [&str; 5] = [
    "BLS signature",
    VERIFY,
    "BLS agg verif of 1 msg by 128 pubkeys",
    "BLS verif of 6 msgs by 6 pubkeys",
    BATCH,
];

/// What a client does most.
pub(crate) const VERIFY: &str = "BLS verification";
/// What lanes help.
pub(crate) const BATCH: &str = "Serial batch verify 6 msgs by 6 pubkeys (with blinding)";

/// What signing and verifying begin with.
const ONE_POINT: &str = "BLS12-381, point of G2 of one message";
/// What verifying a batch begins with.
const MANY_POINTS: &str = "BLS12-381, points of G2 of 128 messages, each";

/// The nodes of trees.
pub(crate) const TREE: &str = "SHA-256 of 64 B, 1024 of them";

/// The page's most important: the nodes' contents.
pub(crate) const SHORT: &str = "SHA-256 of 32 B";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        let cases =
            [(0.25, "0.2"), (99.94, "99.9"), (100.4, "100"), (1234.0, "1,234"), (41_000_000.0, "41,000,000")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }
}
