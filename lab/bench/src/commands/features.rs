//! CPU features that Proofmill's kernels use, the first CPUs that had them, and the kernels that use them.

#[cfg(target_arch = "x86_64")]
use super::measure::{BATCH, VERIFY};
use super::measure::{SHORT, TREE};
use proofmill_cpu::facts;

/// A CPU feature.
pub(crate) struct Feature {
    /// The name that its maker uses.
    pub(crate) name: String,
    /// Whether this CPU has it.
    pub(crate) present: bool,
    /// The first CPUs of each maker, with their years.
    pub(crate) came_with: &'static str,
    /// The kernels that use it.
    pub(crate) kernels: &'static str,
    /// The two kernels whose ratio is the feature's gain.
    pub(crate) gain: Option<Gain>,
}

/// A kernel that uses a feature, and the best one that does not.
pub(crate) struct Gain {
    pub(crate) operation: &'static str,
    pub(crate) with: &'static str,
    pub(crate) without: &'static str,
}

/// Name, name in Rust's `target_feature`, first CPUs, kernels, and the gain as operation, kernel with it,
/// kernel without it.
type Known = (&'static str, &'static str, &'static str, &'static str, Option<[&'static str; 3]>);

pub(crate) fn features() -> Vec<Feature> {
    let here = facts::features();
    let of = |(name, word, came_with, kernels, gain): Known| {
        let present = here.contains(&(word, true));
        let length = if present { vector_length(name) } else { String::new() };
        let gain = gain.map(|[operation, with, without]| Gain { operation, with, without });
        Feature { name: name.to_owned() + &length, present, came_with, kernels, gain }
    };
    known().into_iter().map(of).collect()
}

#[cfg(target_arch = "x86_64")]
fn known() -> Vec<Known> {
    let bytes = "Intel Skylake-SP (2017), AMD Zen 4 (2022)";
    vec![
        (
            "SSSE3",
            "ssse3",
            "Intel Core 2 (2006), AMD Bulldozer (2011)",
            "SHA-256 `ssse3`",
            Some([SHORT, "ssse3", "portable"]),
        ),
        (
            "SHA-NI",
            "sha",
            "Intel Goldmont (2016), Ice Lake (2019), AMD Zen (2017)",
            "SHA-256 `sha-ni`",
            Some([SHORT, "sha-ni", "ssse3"]),
        ),
        (
            "AVX2",
            "avx2",
            "Intel Haswell (2013), AMD Excavator (2015)",
            "SHA-256 and Goldilocks at `avx2`",
            Some([TREE, "avx2", "ssse3"]),
        ),
        ("AVX-512 F", "avx512f", bytes, "SHA-256 and Goldilocks at `avx512`", Some([TREE, "avx512", "avx2"])),
        ("AVX-512 DQ", "avx512dq", bytes, "Goldilocks at `avx512`", None),
        (
            "AVX-512 IFMA",
            "avx512ifma",
            "Intel Cannon Lake (2018), Ice Lake (2019), AMD Zen 4 (2022)",
            "big fields, curves, pairings, Goldilocks at `avx512ifma`",
            Some([BATCH, "avx512ifma", "adx"]),
        ),
        (
            "BMI2",
            "bmi2",
            "Intel Haswell (2013), AMD Excavator (2015)",
            "big fields, curves and pairings at `adx`, with ADX",
            None,
        ),
        (
            "ADX",
            "adx",
            "Intel Broadwell (2014), AMD Zen (2017)",
            "big fields, curves and pairings at `adx`, with BMI2",
            Some([VERIFY, "adx", "portable"]),
        ),
    ]
}

#[cfg(target_arch = "aarch64")]
fn known() -> Vec<Known> {
    vec![
        (
            "NEON",
            "neon",
            "every Armv8-A (Cortex-A53 and A57, 2012)",
            "SHA-256 `neon`",
            Some([TREE, "neon", "portable"]),
        ),
        (
            "SHA2",
            "sha2",
            "most Armv8-A (2012), but Raspberry Pi 4 and before",
            "SHA-256 `arm-sha2`",
            Some([SHORT, "arm-sha2", "portable"]),
        ),
        (
            "SVE",
            "sve",
            "Fujitsu A64FX (2019), Neoverse V1 (2020)",
            "Goldilocks, Poseidon and Merkle trees at `sve`",
            None,
        ),
        (
            "SVE2",
            "sve2",
            "Cortex-A510, A710, X2 (2021), Neoverse V2 (2022)",
            "Goldilocks, Poseidon and Merkle trees at `sve2`",
            None,
        ),
    ]
}

/// No features are listed for other CPUs.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn known() -> Vec<Known> {
    Vec::new()
}

/// For SVE and SVE2, the length of this CPU's vectors.
fn vector_length(name: &str) -> String {
    match facts::vector_bits() {
        Some(bits) if name.starts_with("SVE") => format!(", {bits} bits"),
        _ => String::new(),
    }
}
