//! Levels of the big prime fields (BN254, BLS12-381, Grumpkin).

use std::{fmt, str::FromStr};

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
}

/// Proof that this CPU has AVX-512 F, DQ, BW, VL, VBMI2 (`vpshrdq`) and IFMA (`vpmadd52luq`, `vpmadd52huq`), and [`Adx`].
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512Ifma(());

#[cfg(target_arch = "x86_64")]
impl Avx512Ifma {
    /// The token, if this CPU has every feature of the bundle.
    pub fn detect() -> Option<Self> {
        let lanes = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("avx512ifma");
        (lanes && Adx::detect().is_some()).then_some(Self(()))
    }

    /// The scalar level that the bundle contains.
    pub fn adx(self) -> Adx {
        Adx(())
    }

    /// Runs `f` with the bundle's features enabled for everything that is inlined into it.
    ///
    /// `f` and all it calls in its hot loops must be `#[inline(always)]`: what is not inlined is
    /// compiled without the features and runs tens of times slower.
    #[inline(always)]
    pub fn vectorize<R>(self, f: impl FnOnce() -> R) -> R {
        #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi2,avx512ifma,bmi2,adx")]
        fn enter<R>(f: impl FnOnce() -> R) -> R {
            f()
        }
        // SAFETY: `self` proves every feature listed above.
        unsafe { enter(f) }
    }
}

/// The best bundle of CPU features that kernels may use; variants are in ascending order of speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Plain Rust.
    Portable(Portable),
    /// BMI2 and ADX.
    #[cfg(target_arch = "x86_64")]
    Adx(Adx),
    /// AVX-512 with the 52-bit integer multiplier.
    #[cfg(target_arch = "x86_64")]
    Avx512Ifma(Avx512Ifma),
}

/// Every level name that Proofmill knows, on any CPU.
const NAMES: [&str; 3] = ["portable", "adx", "avx512ifma"];

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
            Avx512Ifma::detect().map(Self::Avx512Ifma),
        ]
        .into_iter()
        .flatten()
        .collect()
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
            Self::Avx512Ifma(_) => NAMES[2],
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
