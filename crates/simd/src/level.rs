//! Levels: bundles of CPU features, and the tokens that prove them.

#[cfg(target_arch = "x86_64")]
use std::{arch::x86_64::__cpuid, sync::LazyLock};
use std::{fmt, str::FromStr};

/// The most 64-bit lanes of any level: SVE's longest vector.
pub const MAX_LANES: usize = 32;

/// Plain Rust: every CPU has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Portable;

/// Proof that this CPU has BMI2 (`mulx`) and ADX (`adcx`, `adox`).
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adx(());

#[cfg(target_arch = "x86_64")]
impl Adx {
    /// The token, if this CPU has both features.
    pub fn detect() -> Option<Self> {
        (is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("adx")).then_some(Self(()))
    }

    /// The token without asking: for emulators that have the instructions and do not say so.
    ///
    /// # Safety
    /// The CPU must have both features.
    pub unsafe fn assume() -> Self {
        Self(())
    }
}

/// Declares a token whose bundle holds vector instructions: detection, the token of the bundle inside it, and
/// entry.
macro_rules! vector_token {
    ($(#[$doc:meta])* $name:ident, $detect:ident, [$($feature:tt)*], $features:literal $(, $inner:ident -> $inner_type:ident)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(());

        impl $name {
            /// The token, if this CPU has every feature of the bundle.
            pub fn detect() -> Option<Self> {
                ($(std::arch::$detect!($feature) &&)* true $(&& $inner_type::detect().is_some())*).then_some(Self(()))
            }

            $(
                /// The token of a bundle that this one contains.
                #[inline(always)]
                pub fn $inner(self) -> $inner_type {
                    $inner_type(())
                }
            )*

            /// Runs `f` with the bundle's features enabled for everything that is inlined into it.
            ///
            /// `f` and all it calls in its hot loops must be `#[inline(always)]`: what is not inlined is
            /// compiled without the features and runs tens of times slower.
            #[inline(always)]
            pub fn vectorize<R>(self, f: impl FnOnce() -> R) -> R {
                // Formulas enter from code that has the features too: one copy serves all places.
                #[inline(never)]
                #[target_feature(enable = $features)]
                fn enter<R>(f: impl FnOnce() -> R) -> R {
                    f()
                }
                // SAFETY: `self` proves every feature listed.
                unsafe { enter(f) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
vector_token!(
    /// Proof that this CPU has AVX2, and [`Adx`].
    Avx2, is_x86_feature_detected, ["avx2"], "avx2,bmi2,adx", adx -> Adx, ssse3 -> Ssse3
);

#[cfg(target_arch = "x86_64")]
vector_token!(
    /// Proof that this CPU has AVX-512 F, DQ, BW and VL, and [`Avx2`].
    Avx512, is_x86_feature_detected, ["avx512f" "avx512dq" "avx512bw" "avx512vl"],
    "avx512f,avx512dq,avx512bw,avx512vl,avx2,bmi2,adx", avx2 -> Avx2, adx -> Adx, ssse3 -> Ssse3
);

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// 512-bit additions that a core starts each cycle: 4 by AMD's Zen 5 (family 1Ah, measured), 2 by others. For choosing
    /// between kernels, not for promises: Zen 5 has small versions that start 2, and a virtual machine may hide the
    /// family.
    pub fn additions_per_cycle(self) -> usize {
        // The instruction leaves the virtual machine, which takes a thousand times as long as any other.
        static IS_ZEN5: LazyLock<bool> = LazyLock::new(|| {
            let version = __cpuid(1).eax;
            let family = ((version >> 8) & 15) + ((version >> 20) & 255);
            __cpuid(0).ebx == u32::from_le_bytes(*b"Auth") && family == 0x1a
        });
        if *IS_ZEN5 { 4 } else { 2 }
    }
}

#[cfg(target_arch = "x86_64")]
vector_token!(
    /// Proof that this CPU has AVX-512 VBMI2 (`vpshrdq`) and IFMA (`vpmadd52luq`, `vpmadd52huq`), and [`Avx512`].
    Avx512Ifma, is_x86_feature_detected, ["avx512vbmi2" "avx512ifma"],
    "avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi2,avx512ifma,avx2,bmi2,adx", avx512 -> Avx512, adx -> Adx
);

#[cfg(target_arch = "x86_64")]
impl Avx512Ifma {
    /// The token where a type stands for it: for functions of a vector type that are not inlined.
    ///
    /// # Safety
    /// The CPU must have every feature of the bundle.
    #[inline(always)]
    pub unsafe fn assume() -> Self {
        Self(())
    }
}

#[cfg(target_arch = "x86_64")]
vector_token!(
    /// Proof that this CPU has SSSE3 (`pshufb`).
    Ssse3, is_x86_feature_detected, ["ssse3"], "ssse3"
);

#[cfg(target_arch = "x86_64")]
vector_token!(
    /// Proof that this CPU has SHA-NI (`sha256rnds2` and its kin), SSE 4.1, and [`Ssse3`].
    ShaNi, is_x86_feature_detected, ["sha" "sse4.1" "ssse3"], "sha,sse4.1,ssse3", ssse3 -> Ssse3
);

#[cfg(target_arch = "aarch64")]
vector_token!(
    /// Proof that this CPU has the SHA-256 instructions of Armv8's cryptographic extension, and [`Neon`].
    ArmSha2, is_aarch64_feature_detected, ["neon" "sha2"], "neon,sha2", neon -> Neon
);

#[cfg(target_arch = "aarch64")]
vector_token!(
    /// Proof that this CPU has NEON: every AArch64 CPU that runs an operating system.
    Neon, is_aarch64_feature_detected, ["neon"], "neon"
);

#[cfg(target_arch = "aarch64")]
vector_token!(
    /// Proof that this CPU has SVE, of any vector length, and [`Neon`].
    Sve, is_aarch64_feature_detected, ["sve"], "neon,sve", neon -> Neon
);

#[cfg(target_arch = "aarch64")]
vector_token!(
    /// Proof that this CPU has SVE2, and [`Sve`].
    Sve2, is_aarch64_feature_detected, ["sve2"], "neon,sve,sve2", sve -> Sve
);

#[cfg(target_arch = "aarch64")]
impl Sve {
    /// 64-bit words in a vector: 2 to 32.
    #[inline(always)]
    pub fn words(self) -> usize {
        let words: usize;
        // SAFETY: `self` proves SVE.
        unsafe {
            std::arch::asm!(".arch_extension sve", "cntd {}", out(reg) words, options(pure, nomem, nostack));
        }
        words
    }
}

/// The best bundle of CPU features that kernels may use; variants are in ascending order of speed, and each bundle
/// of an architecture contains those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Plain Rust.
    Portable(Portable),
    /// BMI2 and ADX.
    #[cfg(target_arch = "x86_64")]
    Adx(Adx),
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// AVX-512 without the 52-bit integer multiplier.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    /// AVX-512 with the 52-bit integer multiplier.
    #[cfg(target_arch = "x86_64")]
    Avx512Ifma(Avx512Ifma),
    /// Arm's 128-bit vectors.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    /// Arm's vectors of any length.
    #[cfg(target_arch = "aarch64")]
    Sve(Sve),
    /// Arm's vectors of any length, second edition.
    #[cfg(target_arch = "aarch64")]
    Sve2(Sve2),
}

/// Every level name that Proofmill knows, on any CPU.
const NAMES: [&str; 8] = ["portable", "adx", "avx2", "avx512", "avx512ifma", "neon", "sve", "sve2"];

/// A level was asked for that does not exist or that this CPU lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LevelError {
    /// No level has this name.
    #[error("unknown level `{name}`; available on this CPU: {available}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// Names available here, best last.
        available: String,
    },
    /// The level exists but this CPU cannot run it.
    #[error("this CPU lacks level `{name}`; available: {available}")]
    Unavailable {
        /// The name asked for.
        name: String,
        /// Names available here, best last.
        available: String,
    },
}

impl Level {
    /// The levels that this CPU can run, slowest first.
    pub fn available() -> Vec<Self> {
        [
            Some(Self::Portable(Portable)),
            #[cfg(target_arch = "x86_64")]
            Adx::detect().map(Self::Adx),
            #[cfg(target_arch = "x86_64")]
            Avx2::detect().map(Self::Avx2),
            #[cfg(target_arch = "x86_64")]
            Avx512::detect().map(Self::Avx512),
            #[cfg(target_arch = "x86_64")]
            Avx512Ifma::detect().map(Self::Avx512Ifma),
            #[cfg(target_arch = "aarch64")]
            Neon::detect().map(Self::Neon),
            #[cfg(target_arch = "aarch64")]
            Sve::detect().map(Self::Sve),
            #[cfg(target_arch = "aarch64")]
            Sve2::detect().map(Self::Sve2),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The available levels that the big prime fields have kernels of their own for, slowest first.
    pub fn prime_field_levels() -> Vec<Self> {
        Self::available().into_iter().filter(|level| level.of_prime_fields() == *level).collect()
    }

    /// The available levels that the Goldilocks field has kernels of its own for, slowest first.
    pub fn goldilocks_levels() -> Vec<Self> {
        Self::available().into_iter().filter(|level| level.of_goldilocks() == *level).collect()
    }

    /// The fastest level that this CPU can run.
    pub fn best() -> Self {
        *Self::available().last().expect("`portable` is always available")
    }

    /// The level's name, as `--level` and `PROOFMILL_LEVEL` spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable(_) => NAMES[0],
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) => NAMES[1],
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => NAMES[2],
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => NAMES[3],
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Ifma(_) => NAMES[4],
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => NAMES[5],
            #[cfg(target_arch = "aarch64")]
            Self::Sve(_) => NAMES[6],
            #[cfg(target_arch = "aarch64")]
            Self::Sve2(_) => NAMES[7],
        }
    }

    /// The level whose kernels the big prime fields (BN254, BLS12-381, Grumpkin) run at this one: the best below it
    /// that they have code for.
    pub fn of_prime_fields(self) -> Self {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(token) => Self::Adx(token.adx()),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(token) => Self::Adx(token.adx()),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) | Self::Sve(_) | Self::Sve2(_) => Self::Portable(Portable),
            level => level,
        }
    }

    /// The level whose kernels the Goldilocks field runs at this one.
    pub fn of_goldilocks(self) -> Self {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Adx(_) => Self::Portable(Portable),
            level => level,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(name: &str) -> Result<Self, LevelError> {
        let available = Self::available();
        if let Some(level) = available.iter().find(|level| level.name() == name) {
            return Ok(*level);
        }
        let list = available.iter().map(|level| level.name()).collect::<Vec<_>>().join(", ");
        let (name, available) = (name.to_owned(), list);
        Err(if NAMES.contains(&name.as_str()) {
            LevelError::Unavailable { name, available }
        } else {
            LevelError::Unknown { name, available }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for level in Level::available() {
            assert_eq!(level.name().parse(), Ok(level));
        }
        assert_eq!(Level::available()[0].name(), "portable");
        assert_eq!(Level::available().last(), Some(&Level::best()));
    }

    #[test]
    fn errors_list_what_is_available() {
        let message = "mmx".parse::<Level>().unwrap_err().to_string();
        assert!(message.starts_with("unknown level `mmx`; available on this CPU: portable"), "{message}");
        for name in NAMES {
            if Level::available().iter().all(|level| level.name() != name) {
                let message = name.parse::<Level>().unwrap_err().to_string();
                assert!(message.contains("lacks") && message.contains("portable"), "{message}");
            }
        }
    }
}
