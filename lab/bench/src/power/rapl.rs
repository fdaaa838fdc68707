//! RAPL: the packages' energy counters.

use crate::BenchError;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The counters of all packages, and their sum.
#[derive(Debug)]
pub(super) struct Rapl {
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
    pub(super) fn open(root: &Path) -> Result<Self, BenchError> {
        let problem = |problem: String| BenchError::Power { problem };
        let none = || {
            problem(format!(
                "{}: no energy counters of packages here (virtual machines rarely have them); use --watts, --power-csv or \
                 --power ipmitool",
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
                    io::ErrorKind::PermissionDenied => problem(format!(
                        "{}: {error}; energy counters are root's: run as root, or chmod a+r that file",
                        path.display()
                    )),
                    _ => problem(format!("{}: {error}", path.display())),
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
    pub(super) fn read(&mut self) -> Option<u64> {
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
