//! The power that the CPUs draw, by the energy counters of RAPL, where they can be read.

use std::{fs, path::Path, path::PathBuf, time::Instant};

/// The counters of all CPU packages.
#[derive(Debug)]
pub(super) struct Power {
    /// Each counter's file, its last value and its greatest, in microjoules.
    counters: Vec<(PathBuf, u64, u64)>,
    read_at: Instant,
}

impl Power {
    /// This machine's counters; `None` if there are none that can be read.
    pub(super) fn open() -> Option<Self> {
        Self::at(Path::new("/sys/class/powercap"))
    }

    fn at(root: &Path) -> Option<Self> {
        let mut counters = Vec::new();
        for entry in fs::read_dir(root).ok()?.flatten() {
            let folder = entry.path();
            // Parts of packages (`intel-rapl:N:M`) and second interfaces (`intel-rapl-mmio:N`) would count energy twice.
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_zone =
                name.strip_prefix("intel-rapl:").is_some_and(|number| number.parse::<u32>().is_ok());
            let is_package = fs::read_to_string(folder.join("name")).is_ok_and(|n| n.starts_with("package"));
            if is_zone && is_package {
                let counter = folder.join("energy_uj");
                let (now, greatest) = (number(&counter)?, number(&folder.join("max_energy_range_uj"))?);
                counters.push((counter, now, greatest));
            }
        }
        (!counters.is_empty()).then(|| Self { counters, read_at: Instant::now() })
    }

    /// The mean power since the last call, in watts. Counters pass their greatest value after a minute or more.
    pub(super) fn watts(&mut self) -> Option<f64> {
        let mut microjoules = 0_u64;
        for (path, last, greatest) in &mut self.counters {
            let now = number(path)?;
            let used =
                now.checked_sub(*last).unwrap_or_else(|| greatest.saturating_sub(*last).saturating_add(now));
            microjoules = microjoules.saturating_add(used);
            *last = now;
        }
        let seconds = self.read_at.elapsed().as_secs_f64();
        self.read_at = Instant::now();
        (seconds > 0.1).then(|| microjoules as f64 * 1e-6 / seconds)
    }
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::Power;
    use std::{fs, thread::sleep, time::Duration};

    #[test]
    fn counters_of_packages_pass_their_greatest_value() {
        let root = tempfile::tempdir().expect("a folder");
        assert!(Power::at(root.path()).is_none());
        for (folder, name) in [("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "core")] {
            let folder = root.path().join(folder);
            fs::create_dir(&folder).expect("a new folder");
            for (file, content) in [("name", name), ("energy_uj", "900"), ("max_energy_range_uj", "1000")] {
                fs::write(folder.join(file), content).expect("written");
            }
        }
        let mut power = Power::at(root.path()).expect("a counter");
        fs::write(root.path().join("intel-rapl:0/energy_uj"), "9900900").expect("written");
        sleep(Duration::from_millis(110));
        let watts = power.watts().expect("a value");
        assert!((1.0..100.0).contains(&watts), "{watts}");
        fs::write(root.path().join("intel-rapl:0/energy_uj"), "5").expect("written");
        sleep(Duration::from_millis(110));
        assert!(power.watts().is_some_and(|watts| watts < 1.0));
    }
}
