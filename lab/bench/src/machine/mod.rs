//! Facts about a machine: from `/proc` and `/sys`, from CPU instructions, and its measured frequency.
//!
//! Nothing here panics, uses the network or needs privileges. Facts that cannot be found are absent. On
//! systems other than Linux, which have neither folder, that is most of them.

mod frequency;
mod host;
mod topology;

pub use frequency::{busy_hertz, time_stamp_hertz};

use crate::record::MachineFacts;
use proofmill_cpu::{Level, facts};
use std::{
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

/// The facts about this machine. Takes about 20 milliseconds, for the frequency.
pub fn facts() -> MachineFacts {
    let root = Root::new("/");
    MachineFacts {
        features: facts::features()
            .into_iter()
            .filter(|(_, here)| *here)
            .map(|(name, _)| name.to_owned())
            .collect(),
        levels: Level::available().iter().map(|level| level.name().to_owned()).collect(),
        vector_bits: facts::vector_bits(),
        measured_hertz: busy_hertz(),
        hypervisor: host::hypervisor_by_cpuid().or_else(|| host::hypervisor(&root)),
        compiler: env!("PROOFMILL_COMPILER").to_owned(),
        ..facts_of(&root)
    }
}

/// The facts from files under `root`, without those that only the CPU provides.
fn facts_of(root: &Root) -> MachineFacts {
    let description = facts::Description::parse(&root.text("proc/cpuinfo").unwrap_or_default());
    let topology = topology::read(root);
    let threads = topology.threads.or_else(|| Some(std::thread::available_parallelism().ok()?.get() as u32));
    MachineFacts {
        cpu: description.model(),
        architecture: description.architecture().to_owned(),
        microarchitecture: description.design().map(str::to_owned),
        threads: threads.unwrap_or(1),
        cores: topology.cores,
        sockets: topology.sockets,
        threads_per_core: topology.threads_per_core,
        caches: topology::caches(root),
        advertised_hertz: frequency::advertised(root, &description),
        memory: host::memory(root),
        system: host::system(root),
        kernel: root.text("proc/sys/kernel/osrelease"),
        hypervisor: host::hypervisor(root),
        instance: host::instance(root),
        ..MachineFacts::default()
    }
}

/// The folder that contains `proc`, `sys` and `etc`: `/`, or a copy of another machine's files.
struct Root(PathBuf);

impl Root {
    fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.join(path)
    }

    /// A file's text without surrounding white space; `None` if it cannot be read or is empty.
    fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let text = fs::read_to_string(self.path(path)).ok()?;
        // Strings of firmware and device trees end with a zero byte.
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn number<T: FromStr>(&self, path: impl AsRef<Path>) -> Option<T> {
        self.text(path)?.parse().ok()
    }
}

#[cfg(test)]
mod tests;
