//! Facts about the CPU: its name, its features, the length of its vectors.

mod design;

use std::fs;

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
        Some(crate::Sve::detect().map_or(128, |token| 64 * token.words() as u32))
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

/// The first processor of `/proc/cpuinfo`.
pub struct Description(Vec<(String, String)>);

impl Description {
    /// This machine's. Empty on systems other than Linux.
    pub fn of_this_cpu() -> Self {
        Self::parse(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
    }

    /// Reads the text of `/proc/cpuinfo`.
    pub fn parse(text: &str) -> Self {
        let line = |line: &str| {
            line.split_once(':').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        };
        Self(text.trim().lines().take_while(|line| !line.trim().is_empty()).filter_map(line).collect())
    }

    /// The text after a key.
    pub fn value(&self, key: &str) -> Option<&str> {
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
    pub fn name(&self) -> Option<&str> {
        self.value("model name")
    }

    /// The architecture that the text is of: this program's, if it does not tell.
    pub fn architecture(&self) -> &'static str {
        if self.value("vendor_id").is_some() {
            "x86_64"
        } else if self.value("CPU implementer").is_some() {
            "aarch64"
        } else {
            std::env::consts::ARCH
        }
    }

    /// The name for itself, or its core's, or its architecture.
    pub fn model(&self) -> String {
        let name = self.name().or_else(|| self.design());
        name.map_or_else(|| format!("unnamed {}", self.architecture()), str::to_owned)
    }

    /// The name of its core's design, if it is known.
    pub fn design(&self) -> Option<&'static str> {
        if let Some(vendor) = self.value("vendor_id") {
            let stepping = self.number("stepping").unwrap_or(0);
            design::of_x86(vendor, self.number("cpu family")?, self.number("model")?, stepping)
        } else {
            design::of_arm(self.number("CPU implementer")?, self.number("CPU part")?)
        }
    }
}
