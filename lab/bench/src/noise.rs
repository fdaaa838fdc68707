//! Disturbances of a run: other processes, the hypervisor, a falling frequency.

use crate::record::Noise;
use std::fs;

/// Shares above which times are doubtful: steal time, other processes, drop in frequency.
const STEAL: f64 = 0.02;
const OTHERS: f64 = 0.05;
const FREQUENCY_DROP: f64 = 0.05;

/// Observes the machine from the moment it is created.
pub struct NoiseWatch {
    began: Option<Ticks>,
    /// The lowest and the highest frequency so far, in hertz.
    hertz: Option<(f64, f64)>,
}

impl NoiseWatch {
    /// Starts observing.
    pub fn new() -> Self {
        Self { began: now(), hertz: None }
    }

    /// Adds a reading of the frequency.
    pub fn frequency(&mut self, hertz: Option<f64>) {
        if let Some(hertz) = hertz {
            let (low, high) = self.hertz.unwrap_or((hertz, hertz));
            self.hertz = Some((low.min(hertz), high.max(hertz)));
        }
    }

    /// The noise so far.
    pub fn noise(&self) -> Noise {
        let mut noise =
            Noise { frequency_drop: self.hertz.map(|(low, high)| 1.0 - low / high), ..Noise::default() };
        if let (Some(began), Some(ended)) = (&self.began, now()) {
            let total = (ended.total - began.total).max(f64::MIN_POSITIVE);
            let busy = ended.busy - began.busy - (ended.ours - began.ours);
            noise.steal = Some((ended.steal - began.steal) / total);
            noise.others = Some((busy / total).max(0.0));
        }
        noise.warnings = warnings(&noise);
        noise
    }
}

impl Default for NoiseWatch {
    fn default() -> Self {
        Self::new()
    }
}

fn warnings(noise: &Noise) -> Vec<String> {
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let sentences = [
        (noise.steal, STEAL, "of the CPU time went to other machines on this host (steal)"),
        (noise.others, OTHERS, "of the CPU time went to other processes: stop them and run again"),
        (
            noise.frequency_drop,
            FREQUENCY_DROP,
            "drop in frequency during the run: heat, power limits or wide vectors",
        ),
    ];
    let above = sentences.into_iter().filter_map(|(share, limit, sentence)| {
        share.filter(|share| *share > limit).map(|share| format!("{} {sentence}", percent(share)))
    });
    above.collect()
}

/// CPU times in clock ticks.
struct Ticks {
    total: f64,
    busy: f64,
    steal: f64,
    /// CPU time of this process and of its children that have ended.
    ours: f64,
}

fn now() -> Option<Ticks> {
    parse(&fs::read_to_string("/proc/stat").ok()?, &fs::read_to_string("/proc/self/stat").ok()?)
}

/// Parses the fields of proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal (guest time is
/// part of user). Parses those of proc_pid_stat(5): utime, stime, cutime and cstime, 12 fields after the
/// name. The name may contain any character.
fn parse(machine: &str, process: &str) -> Option<Ticks> {
    let line = machine.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let [user, nice, system, idle, waiting, irq, softirq, steal] = numbers(line.split_whitespace())?;
    let busy = user + nice + system + irq + softirq;
    let (_, fields) = process.rsplit_once(')')?;
    let ours: [f64; 4] = numbers(fields.split_whitespace().skip(11))?;
    Some(Ticks { total: busy + idle + waiting + steal, busy, steal, ours: ours.iter().sum() })
}

/// The first `N` fields as numbers.
fn numbers<'a, const N: usize>(fields: impl Iterator<Item = &'a str>) -> Option<[f64; N]> {
    let numbers: Option<Vec<f64>> = fields.take(N).map(|field| field.parse().ok()).collect();
    numbers?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_proc_are_parsed() {
        let process = "77 (a) name) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 20 0";
        let machine = "cpu  10 2 3 80 1 1 1 2 5 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        let ticks = parse(machine, process).unwrap();
        assert_eq!((ticks.total, ticks.busy, ticks.steal), (100.0, 17.0, 2.0));
        assert_eq!(ticks.ours, f64::from(11 + 12 + 13 + 14));
        assert!(parse("cpu  1 2 3\n", process).is_none() && parse("", process).is_none());
        assert!(parse(machine, "77 name S").is_none());
    }

    #[test]
    fn only_shares_above_the_limits_give_warnings() {
        let quiet = Noise { steal: Some(0.01), others: Some(0.04), frequency_drop: None, warnings: vec![] };
        assert!(warnings(&quiet).is_empty());
        let loud =
            Noise { steal: Some(0.5), others: Some(0.06), frequency_drop: Some(0.2), warnings: vec![] };
        assert_eq!(warnings(&loud).len(), 3);
        assert!(warnings(&loud)[0].starts_with("50 % "));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn other_processes_are_noticed() {
        let watch = NoiseWatch::new();
        let mut other = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
        let noise = watch.noise();
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(noise.others.unwrap() > 0.0, "{noise:?}");
    }
}
