//! Facts about the CPU: name, features, vector length.

mod design;

use std::fs;

/// Bits of the longest vectors of this CPU's instructions, if known.
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
        Some(crate::Sve::detect().map_or(128, |token| 64 * token.words() as u32))
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    None
}

/// The CPU features that Proofmill's levels use, under the names of Rust's feature detection, and whether this CPU has them.
#[cfg(target_arch = "x86_64")]
pub fn features() -> Vec<(&'static str, bool)> {
    macro_rules! detect {
        ($($name:tt)*) => { vec![$(($name, std::arch::is_x86_feature_detected!($name))),*] };
    }
    detect!["bmi2" "adx" "ssse3" "sha" "avx2" "avx512f" "avx512dq" "avx512bw" "avx512vl" "avx512vbmi2" "avx512ifma"]
}

/// The CPU features that Proofmill's levels use, under the names of Rust's feature detection, and whether this CPU has them.
#[cfg(target_arch = "aarch64")]
pub fn features() -> Vec<(&'static str, bool)> {
    macro_rules! detect {
        ($($name:tt)*) => { vec![$(($name, std::arch::is_aarch64_feature_detected!($name))),*] };
    }
    detect!["neon" "sha2" "sve" "sve2"]
}

/// No features are known of other architectures.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn features() -> Vec<(&'static str, bool)> {
    Vec::new()
}

/// The entries of the first processor in `/proc/cpuinfo`.
pub struct Description(Vec<(String, String)>);

impl Description {
    /// The description of this machine's CPU; empty on systems other than Linux.
    pub fn of_this_cpu() -> Self {
        Self::parse(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
    }

    /// Parses the text of `/proc/cpuinfo`.
    pub fn parse(text: &str) -> Self {
        let line = |line: &str| {
            line.split_once(':').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        };
        Self(text.trim().lines().take_while(|line| !line.trim().is_empty()).filter_map(line).collect())
    }

    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(name, _)| name == key)?;
        (!value.is_empty()).then_some(value)
    }

    /// The value of a key as a number: hexadecimal with `0x`, otherwise decimal.
    fn number(&self, key: &str) -> Option<u32> {
        let value = self.value(key)?;
        match value.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => value.parse().ok(),
        }
    }

    /// The CPU's own model name; Arm CPUs have none.
    pub fn name(&self) -> Option<&str> {
        self.value("model name")
    }

    /// The architecture that the text describes; if it does not say, that of this program.
    pub fn architecture(&self) -> &'static str {
        if self.value("vendor_id").is_some() {
            "x86_64"
        } else if self.value("CPU implementer").is_some() {
            "aarch64"
        } else {
            std::env::consts::ARCH
        }
    }

    /// The model name; without one, the design of its core; without that, the architecture.
    pub fn model(&self) -> String {
        let name = self.name().or_else(|| self.design());
        name.map_or_else(|| format!("unnamed {}", self.architecture()), str::to_owned)
    }

    /// The name of its core design, if known.
    pub fn design(&self) -> Option<&'static str> {
        if let Some(vendor) = self.value("vendor_id") {
            let stepping = self.number("stepping").unwrap_or(0);
            design::of_x86(vendor, self.number("cpu family")?, self.number("model")?, stepping)
        } else {
            design::of_arm(self.number("CPU implementer")?, self.number("CPU part")?)
        }
    }
}
