//! `openssl speed -mr`: signatures and authenticated ciphers.

use super::{Context, Obstacle, PlatformJob, PreparedJob, Quantity, Sample, failed};
use crate::{
    power::MeterMark,
    process::{self, ProcessOutput},
    record::Clock,
};
use std::{path::Path, time::Duration};

/// Key types: the name in `openssl speed`, and the benchmark's name.
const KEYS: [(&str, &str); 2] = [("rsa2048", "rsa2048"), ("ecdsap256", "ecdsa-p256")];
const CIPHERS: [&str; 3] = ["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"];
/// Lengths of messages in bytes: a short message, the start of a page, the largest TLS record.
const BLOCKS: [u64; 3] = [64, 1024, 16384];

pub(super) fn jobs(threads: u32) -> Vec<PlatformJob> {
    let keys = KEYS.map(|(word, name)| {
        let subject = |what: &str, unit| Quantity {
            benchmark: format!("{name}-{what}"),
            size: None,
            amount: 1.0,
            unit,
        };
        let subjects = vec![subject("sign", "signatures"), subject("verify", "verifications")];
        job("openssl-public-key", threads, subjects, vec![word.to_owned()])
    });
    let ciphers = CIPHERS.iter().flat_map(|&cipher| {
        BLOCKS.map(|block| {
            let subject = Quantity {
                benchmark: cipher.to_owned(),
                size: Some(block),
                amount: block as f64,
                unit: "bytes",
            };
            let words = ["-bytes", &block.to_string(), "-aead", "-evp", cipher].map(str::to_owned).to_vec();
            job("openssl-symmetric", threads, vec![subject], words)
        })
    });
    keys.into_iter().chain(ciphers).collect()
}

fn job(family: &'static str, threads: u32, subjects: Vec<Quantity>, words: Vec<String>) -> PlatformJob {
    let amounts: Vec<f64> = subjects.iter().map(|subject| subject.amount).collect();
    PlatformJob {
        family,
        implementation: "openssl",
        threads,
        clock: Clock::Wall,
        subjects,
        prepare: Box::new(move |context| {
            let program = context.find("openssl", "openssl")?;
            let version = version(&program, context)?;
            let sample = move || speed(&program, &words, &amounts, threads, context);
            Ok(PreparedJob {
                version: Some(version),
                bytes_out: None,
                answer: None,
                sample: Box::new(sample),
            })
        }),
    }
}

/// The version, as `OpenSSL 3.0.19`.
fn version(program: &Path, context: &Context<'_>) -> Result<String, Obstacle> {
    let mut command = process::command(program);
    command.arg("version");
    let output = process::output(command, context.options.patience).map_err(failed("openssl version"))?;
    Ok(output.text().split_whitespace().take(2).collect::<Vec<_>>().join(" "))
}

/// Takes one sample of each operation; `amounts` has the work per operation.
fn speed(
    program: &Path,
    words: &[String],
    amounts: &[f64],
    threads: u32,
    context: &Context<'_>,
) -> Result<Vec<Sample>, Obstacle> {
    let seconds = context.options.time.as_secs_f64().ceil().max(1.0);
    let mut command = process::command(program);
    // Rates over wall time: OpenSSL measures CPU time in hundredths of a second only.
    command.args(["speed", "-mr", "-elapsed", "-seconds", &seconds.to_string()]);
    if threads > 1 {
        command.args(["-multi", &threads.to_string()]);
    }
    command.args(words);
    let mut windows = Windows::default();
    let patience = Duration::from_secs_f64(seconds * amounts.len() as f64) + context.options.patience;
    let output = process::output_with_lines(command, patience, |line| windows.observe(line, context.mark()))
        .map_err(failed("openssl speed"))?;
    let rates = rates(&output).ok_or_else(|| {
        Obstacle::Failed(format!(
            "openssl speed: expected a line of rates (+F...), found {:?}",
            last_line(&output)
        ))
    })?;
    let sample = |(index, (amount, rate)): (usize, (&f64, f64))| Sample {
        seconds: amount / rate,
        window: windows.of(index),
    };
    Ok(amounts.iter().zip(rates).enumerate().map(sample).collect())
}

/// The window of each operation: from the start in the first process to the end in the last one; and the
/// start lines seen so far.
#[derive(Default)]
struct Windows(Vec<(MeterMark, Option<MeterMark>)>, Vec<String>);

impl Windows {
    /// `+DTP:2048:private:rsa:1` and `+DT:AES-128-GCM:1:16384` begin an operation; `+R1:4864:2048:0.99` and
    /// `+R:2221838:AES-128-GCM:0.98` end it.
    fn observe(&mut self, line: &str, now: Option<MeterMark>) {
        let Some(now) = now else { return };
        if line.starts_with("+DT") {
            if !self.1.iter().any(|known| known == line) {
                self.1.push(line.to_owned());
                self.0.push((now, None));
            }
        } else if line.starts_with("+R") {
            // The last process to end an operation counts; all end it at about the same time.
            let name = line.split(':').next().unwrap_or_default();
            let index = usize::from(matches!(name, "+R2" | "+R6"));
            if let Some(window) = self.0.get_mut(index) {
                window.1 = Some(now);
            }
        }
    }

    fn of(&self, index: usize) -> Option<(MeterMark, MeterMark)> {
        let &(from, to) = self.0.get(index)?;
        Some((from, to?))
    }
}

/// Operations or bytes per second, of all processes together: `+F2:2:2048:SIGN:VERIFY` for RSA,
/// `+F4:3:256:SIGN:VERIFY` for ECDSA, `+F:25:AES-128-GCM:BYTES`.
fn rates(output: &ProcessOutput) -> Option<Vec<f64>> {
    let text = output.text();
    let line = text.lines().find(|line| line.starts_with("+F"))?;
    line.split(':').skip(3).map(|rate| rate.trim().parse().ok().filter(|rate: &f64| *rate > 0.0)).collect()
}

fn last_line(output: &ProcessOutput) -> String {
    output.text().lines().chain(output.stderr.lines()).last().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output_of(stdout: &str) -> ProcessOutput {
        ProcessOutput { bytes: stdout.as_bytes().to_vec(), stderr: String::new() }
    }

    /// Recorded from OpenSSL 3.0.19 with `-multi 2`. A single process prints only the last lines.
    #[test]
    fn rates_are_those_of_all_processes() {
        let keys = "Forked child 0\nForked child 1\nGot: +F2:2:2048:2287.000000:38433.000000 from 0\n\
                    Got: +F2:2:2048:2823.000000:46365.346535 from 1\n+F2:2:2048:5110.000000:84798.346535\n";
        assert_eq!(rates(&output_of(keys)), Some(vec![5110.0, 84798.346535]));
        let curve = "+F4:3:256:74164.646465:24963.636364\n";
        assert_eq!(rates(&output_of(curve)), Some(vec![74164.646465, 24963.636364]));
        let cipher = "Got: +H:1024 from 0\nGot: +F:25:AES-128-GCM:1197726720.00 from 0\nGot: +H:1024 from 1\n\
                      Got: +F:25:AES-128-GCM:1165644800.00 from 1\n+H:1024\n+F:25:AES-128-GCM:2363371520.00\n";
        assert_eq!(rates(&output_of(cipher)), Some(vec![2363371520.0]));
    }

    #[test]
    fn invalid_rates_are_refused() {
        for stdout in
            ["", "+H:1024\n", "+F2:2:2048:many:1\n", "+F:25:AES-128-GCM:0.00\n", "+F2:2:2048:-1:5\n"]
        {
            assert_eq!(rates(&output_of(stdout)), None, "{stdout:?}");
        }
    }

    #[test]
    fn each_operation_has_its_window() {
        let meter = crate::power::PowerMeter::start(&crate::power::PowerSource::Constant(1.0)).unwrap();
        let mut windows = Windows::default();
        let lines = [
            "+DTP:2048:private:rsa:1",
            "+DTP:2048:private:rsa:1",
            "+R1:2287:2048:1.00",
            "+DTP:2048:public:rsa:1",
            "+R1:2823:2048:1.00",
            "+R2:38433:2048:1.00",
        ];
        let marks = lines.map(|line| {
            std::thread::sleep(Duration::from_millis(2));
            let mark = meter.mark();
            windows.observe(line, Some(mark));
            mark
        });
        let seconds = |window: Option<(MeterMark, MeterMark)>| window.map(|(from, to)| from.seconds_to(&to));
        assert_eq!(seconds(windows.of(0)), Some(marks[0].seconds_to(&marks[4])));
        assert_eq!(seconds(windows.of(1)), Some(marks[3].seconds_to(&marks[5])));
        assert!(windows.of(2).is_none());
    }
}
