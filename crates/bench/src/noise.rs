//! What disturbs a run: other processes, the hypervisor, a frequency that sinks.

use crate::record::Noise;
use cpu_time::ProcessTime;
use std::{fs, time::Duration};

/// Shares above which times are doubtful.
const STEAL: f64 = 0.02;
const OTHERS: f64 = 0.05;
const FREQUENCY_DROP: f64 = 0.05;

/// Watches the machine from its making on.
pub struct NoiseWatch {
    began: Option<(Ticks, f64)>,
    /// Seconds of CPU time that processes of the run's used, peers' runners for one.
    ours: f64,
    /// The least and the highest frequency seen.
    hertz: Option<(f64, f64)>,
}

impl NoiseWatch {
    /// Begins to watch.
    pub fn new() -> Self {
        Self { began: now(), ours: 0.0, hertz: None }
    }

    /// Notes the frequency as it is now.
    pub fn frequency(&mut self, hertz: Option<f64>) {
        if let Some(hertz) = hertz {
            let (low, high) = self.hertz.unwrap_or((hertz, hertz));
            self.hertz = Some((low.min(hertz), high.max(hertz)));
        }
    }

    /// Notes CPU time that another process of the run's used, so that it is not another's.
    pub fn ours(&mut self, time: Duration) {
        self.ours += time.as_secs_f64();
    }

    /// What has been seen so far.
    pub fn noise(&self) -> Noise {
        let mut noise =
            Noise { frequency_drop: self.hertz.map(|(low, high)| 1.0 - low / high), ..Noise::default() };
        if let (Some((began, own_before)), Some((ended, own))) = (&self.began, now()) {
            // In ticks of a hundredth of a second, whatever the kernel's are.
            let total = (ended.total - began.total).max(f64::MIN_POSITIVE);
            let ours = 100.0 * (own - own_before + self.ours);
            noise.steal = Some((ended.steal - began.steal) / total);
            noise.others = Some(((ended.busy - began.busy - ours) / total).max(0.0));
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
            "is how far the frequency sank: heat, power limits or wide vectors",
        ),
    ];
    let above = sentences.into_iter().filter_map(|(share, limit, sentence)| {
        share.filter(|share| *share > limit).map(|share| format!("{} {sentence}", percent(share)))
    });
    above.collect()
}

/// CPU time of the whole machine in ticks.
struct Ticks {
    total: f64,
    busy: f64,
    steal: f64,
}

/// The machine's ticks, and this process's seconds.
fn now() -> Option<(Ticks, f64)> {
    let ticks = parse(&fs::read_to_string("/proc/stat").ok()?)?;
    Some((ticks, ProcessTime::try_now().ok()?.as_duration().as_secs_f64()))
}

/// Of proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal; guests are in user already.
fn parse(stat: &str) -> Option<Ticks> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Option<Vec<f64>> = line.split_whitespace().take(8).map(|field| field.parse().ok()).collect();
    let [user, nice, system, idle, waiting, irq, softirq, steal] = fields?.try_into().ok()?;
    let busy = user + nice + system + irq + softirq;
    Some(Ticks { total: busy + idle + waiting + steal, busy, steal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read() {
        let ticks = parse("cpu  10 2 3 80 1 1 1 2 5 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n").unwrap();
        assert_eq!((ticks.total, ticks.busy, ticks.steal), (100.0, 17.0, 2.0));
        assert!(parse("cpu  1 2 3\n").is_none() && parse("").is_none());
    }

    #[test]
    fn only_what_matters_is_warned_of() {
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
        std::thread::sleep(Duration::from_millis(500));
        let noise = watch.noise();
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(noise.others.unwrap() > 0.0, "{noise:?}");
    }
}
