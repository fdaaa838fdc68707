//! RAPL: the energy counters of CPUs, through Linux's powercap.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Instant,
};

/// The folder of the counters in Linux.
pub const POWERCAP: &str = "/sys/class/powercap";

/// Counters that are missing or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PowerError(String);

/// The counters of all packages, and their sum.
#[derive(Debug)]
pub struct Rapl {
    packages: Vec<Package>,
    /// Microjoules since [`Rapl::open`]. `None` after a counter could not be read, since a wrap may have been
    /// missed.
    total: Option<u64>,
}

#[derive(Debug)]
struct Package {
    counter: PathBuf,
    last: u64,
    /// The counter's largest value, after which it wraps to 0.
    largest: u64,
}

impl Rapl {
    /// Finds the packages under `root`: folders `intel-rapl:N` named `package-...`. Parts of packages
    /// (`intel-rapl:N:M`), the same package through another interface (`intel-rapl-mmio:N`) and the platform
    /// (`psys`) would count energy twice.
    ///
    /// # Errors
    /// If there is none, or one cannot be read.
    pub fn open(root: &Path) -> Result<Self, PowerError> {
        let none = || {
            PowerError(format!(
                "{}: no energy counters of packages here (virtual machines rarely have them)",
                root.display()
            ))
        };
        let mut folders: Vec<PathBuf> = fs::read_dir(root)
            .map_err(|_| none())?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                is_zone(path) && text(&path.join("name")).is_ok_and(|name| name.starts_with("package"))
            })
            .collect();
        folders.sort();
        let mut packages = Vec::new();
        for folder in folders {
            let counter = folder.join("energy_uj");
            let read = |path: &Path| {
                number(path).map_err(|error| match error.kind() {
                    io::ErrorKind::PermissionDenied => PowerError(format!(
                        "{}: {error}; energy counters are root's: run as root, or chmod a+r that file",
                        path.display()
                    )),
                    _ => PowerError(format!("{}: {error}", path.display())),
                })
            };
            let (last, largest) = (read(&counter)?, read(&folder.join("max_energy_range_uj"))?);
            packages.push(Package { counter, last, largest });
        }
        match packages.is_empty() {
            true => Err(none()),
            false => Ok(Self { packages, total: Some(0) }),
        }
    }

    /// Microjoules that all packages used since the start.
    pub fn read(&mut self) -> Option<u64> {
        for package in &mut self.packages {
            let Ok(now) = number(&package.counter) else {
                self.total = None;
                return None;
            };
            let used = match now.checked_sub(package.last) {
                Some(used) => used,
                None => (package.largest.saturating_add(1)).saturating_sub(package.last).saturating_add(now),
            };
            package.last = now;
            self.total = self.total.and_then(|total| total.checked_add(used));
        }
        self.total
    }
}

/// The mean power that the CPUs draw, by their counters.
#[derive(Debug)]
pub struct MeanPower {
    counters: Rapl,
    /// The last reading, in microjoules, and when it was made.
    last: (u64, Instant),
}

impl MeanPower {
    /// Opens the counters under `root`.
    ///
    /// # Errors
    /// As [`Rapl::open`].
    pub fn open(root: &Path) -> Result<Self, PowerError> {
        Ok(Self { counters: Rapl::open(root)?, last: (0, Instant::now()) })
    }

    /// The mean power since the last call, in watts; `None` after less than a tenth of a second, or if a counter could not be read. Counters
    /// pass their largest value after a minute or more.
    pub fn watts(&mut self) -> Option<f64> {
        let (before, read_at) = self.last;
        let (now, time) = (self.counters.read()?, Instant::now());
        self.last = (now, time);
        let seconds = time.duration_since(read_at).as_secs_f64();
        (seconds > 0.1).then(|| now.saturating_sub(before) as f64 * 1e-6 / seconds)
    }
}

/// Whether the folder is `intel-rapl:N`, not `intel-rapl:N:M`.
fn is_zone(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix("intel-rapl:")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn text(path: &Path) -> io::Result<String> {
    fs::read_to_string(path).map(|text| text.trim().to_owned())
}

fn number(path: &Path) -> io::Result<u64> {
    let text = text(path)?;
    text.parse().map_err(|_| io::Error::other(format!("expected a number, found {text:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{thread::sleep, time::Duration};

    #[test]
    fn counters_of_packages_pass_their_greatest_value() {
        let root = tempfile::tempdir().expect("a folder");
        assert!(MeanPower::open(root.path()).is_err());
        for (folder, name) in [("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "core")] {
            let folder = root.path().join(folder);
            fs::create_dir(&folder).expect("a new folder");
            for (file, content) in [("name", name), ("energy_uj", "900"), ("max_energy_range_uj", "1000")] {
                fs::write(folder.join(file), content).expect("written");
            }
        }
        let mut power = MeanPower::open(root.path()).expect("a counter");
        fs::write(root.path().join("intel-rapl:0/energy_uj"), "9900900").expect("written");
        sleep(Duration::from_millis(110));
        let watts = power.watts().expect("a value");
        assert!((1.0..100.0).contains(&watts), "{watts}");
        fs::write(root.path().join("intel-rapl:0/energy_uj"), "5").expect("written");
        sleep(Duration::from_millis(110));
        assert!(power.watts().is_some_and(|watts| watts < 1.0));
    }
}
