//! What a machine is: facts from `/proc` and `/sys`, from the CPU's own instructions, and one that is measured.
//!
//! Nothing here panics, asks the network or needs a right that every user has not. What cannot be found out is absent: on
//! systems other than Linux, which have neither folder, that is most.

mod design;
mod frequency;
mod host;
mod topology;

pub use frequency::{busy_hertz, time_stamp_hertz};

use crate::record::Machine;
use proofmill_simd::Level;
use std::{
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

/// The facts about this machine. Takes some 20 milliseconds, for the frequency.
pub fn facts() -> Machine {
    let root = Root::new("/");
    Machine {
        features: features().into_iter().filter(|(_, here)| *here).map(|(name, _)| name.to_owned()).collect(),
        levels: Level::available().iter().map(|level| level.name().to_owned()).collect(),
        vector_bits: vector_bits(),
        measured_hertz: busy_hertz(),
        hypervisor: host::hypervisor_by_cpuid().or_else(|| host::hypervisor(&root)),
        compiler: env!("PROOFMILL_COMPILER").to_owned(),
        ..facts_of(&root)
    }
}

/// What the files under `root` say, without what only the CPU itself can.
fn facts_of(root: &Root) -> Machine {
    let description = Description::read(root);
    let microarchitecture = description.design();
    let topology = topology::read(root);
    let threads = topology.threads.or_else(|| Some(std::thread::available_parallelism().ok()?.get() as u32));
    Machine {
        cpu: description
            .name()
            .or(microarchitecture)
            .map_or_else(|| format!("unnamed {}", description.architecture()), str::to_owned),
        architecture: description.architecture().to_owned(),
        microarchitecture: microarchitecture.map(str::to_owned),
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
        ..Machine::default()
    }
}

/// This CPU's name for itself, or its architecture.
pub fn model() -> String {
    facts_of(&Root::new("/")).cpu
}

/// Bits of the longest vectors that this CPU's instructions work on, where that is known.
pub fn vector_bits() -> Option<u32> {
    #[cfg(target_arch = "x86_64")]
    {
        let (avx512, avx2) = (is_x86_feature_detected!("avx512f"), is_x86_feature_detected!("avx2"));
        // Every x86-64 CPU has SSE2.
        Some(if avx512 {
            512
        } else if avx2 {
            256
        } else {
            128
        })
    }
    #[cfg(target_arch = "aarch64")]
    {
        // Every AArch64 CPU that runs an operating system has NEON.
        Some(proofmill_simd::Sve::detect().map_or(128, |token| 64 * token.words() as u32))
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    None
}

/// CPU features that Proofmill's levels are made of, in the words of Rust's detection, and whether this CPU has them.
#[cfg(target_arch = "x86_64")]
pub fn features() -> Vec<(&'static str, bool)> {
    macro_rules! detect {
        ($($name:tt)*) => { vec![$(($name, std::arch::is_x86_feature_detected!($name))),*] };
    }
    detect!["bmi2" "adx" "ssse3" "sha" "avx2" "avx512f" "avx512dq" "avx512bw" "avx512vl" "avx512vbmi2" "avx512ifma"]
}

/// CPU features that Proofmill's levels are made of, in the words of Rust's detection, and whether this CPU has them.
#[cfg(target_arch = "aarch64")]
pub fn features() -> Vec<(&'static str, bool)> {
    macro_rules! detect {
        ($($name:tt)*) => { vec![$(($name, std::arch::is_aarch64_feature_detected!($name))),*] };
    }
    detect!["neon" "sha2" "sve" "sve2"]
}

/// Nothing is known about other CPUs.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn features() -> Vec<(&'static str, bool)> {
    Vec::new()
}

/// Where `proc`, `sys` and `etc` lie: `/`, or a copy of another machine's.
struct Root(PathBuf);

impl Root {
    fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.join(path)
    }

    /// A file's text without the space around it, if it can be read and has some.
    fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let text = fs::read_to_string(self.path(path)).ok()?;
        // Firmware and device trees end their strings with a zero.
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn number<T: FromStr>(&self, path: impl AsRef<Path>) -> Option<T> {
        self.text(path)?.parse().ok()
    }
}

/// The first processor of `/proc/cpuinfo`.
struct Description(Vec<(String, String)>);

impl Description {
    fn read(root: &Root) -> Self {
        let text = root.text("proc/cpuinfo").unwrap_or_default();
        let line = |line: &str| {
            line.split_once(':').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        };
        Self(text.lines().take_while(|line| !line.trim().is_empty()).filter_map(line).collect())
    }

    fn value(&self, key: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(name, _)| name == key)?;
        (!value.is_empty()).then_some(value)
    }

    /// A number with or without `0x`.
    fn number(&self, key: &str) -> Option<u32> {
        let value = self.value(key)?;
        match value.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => value.parse().ok(),
        }
    }

    /// The CPU's name for itself, which Arm's have not.
    fn name(&self) -> Option<&str> {
        self.value("model name")
    }

    /// The architecture that the text is of: this program's, if it does not tell.
    fn architecture(&self) -> &'static str {
        if self.value("vendor_id").is_some() {
            "x86_64"
        } else if self.value("CPU implementer").is_some() {
            "aarch64"
        } else {
            std::env::consts::ARCH
        }
    }

    fn design(&self) -> Option<&'static str> {
        if let Some(vendor) = self.value("vendor_id") {
            let stepping = self.number("stepping").unwrap_or(0);
            design::of_x86(vendor, self.number("cpu family")?, self.number("model")?, stepping)
        } else {
            design::of_arm(self.number("CPU implementer")?, self.number("CPU part")?)
        }
    }
}

#[cfg(test)]
mod tests;
