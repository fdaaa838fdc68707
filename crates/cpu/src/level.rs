//! Levels: the tokens of this architecture, in order of speed.

use crate::token::*;
use std::{
    fmt,
    str::FromStr,
    sync::{Mutex, PoisonError},
};

/// The length of a level's vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    /// This many bits; 64 for levels that compute with single words.
    Bits(u32),
    /// As many bits as the CPU has.
    OfCpu,
}

/// Declares the levels, slowest first. This is the only list of them.
macro_rules! levels {
    ($($(#[$doc:meta])* $token:ident $name:literal, $vectors:expr, on $architecture:literal;)*) => {
        /// The bundle of CPU features that kernels may use. Variants are in ascending order of speed; each bundle of an
        /// architecture contains those before it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Level {
            /// Plain Rust.
            Portable(Portable),
            $(
                $(#[$doc])*
                #[cfg(target_arch = $architecture)]
                $token($token),
            )*
        }

        impl Level {
            /// The names of all levels of all architectures; those of one architecture in ascending order of speed.
            pub const NAMES: &[&str] = &["portable", $($name),*];

            /// The vectors of the level of this name, on any CPU; `None` if there is no such level.
            pub fn vectors_of(name: &str) -> Option<Vectors> {
                match name {
                    "portable" => Some(Vectors::Bits(64)),
                    $($name => Some($vectors),)*
                    _ => None,
                }
            }

            /// The levels that this CPU can run, slowest first.
            pub fn available() -> Vec<Self> {
                let levels = [
                    Portable::detect().map(Self::Portable),
                    $(
                        #[cfg(target_arch = $architecture)]
                        $token::detect().map(Self::$token),
                    )*
                ];
                levels.into_iter().flatten().collect()
            }

            /// The level's name, as `--level` and `PROOFMILL_LEVEL` spell it.
            pub fn name(self) -> &'static str {
                match self {
                    Self::Portable(_) => "portable",
                    $(
                        #[cfg(target_arch = $architecture)]
                        Self::$token(_) => $name,
                    )*
                }
            }
        }
    };
}

levels! {
    /// BMI2 and ADX.
    Adx "adx", Vectors::Bits(64), on "x86_64";
    /// AVX2.
    Avx2 "avx2", Vectors::Bits(256), on "x86_64";
    /// AVX-512 without the 52-bit integer multiplier.
    Avx512 "avx512", Vectors::Bits(512), on "x86_64";
    /// AVX-512 with the 52-bit integer multiplier.
    Avx512Ifma "avx512ifma", Vectors::Bits(512), on "x86_64";
    /// Arm's 128-bit vectors.
    Neon "neon", Vectors::Bits(128), on "aarch64";
    /// Arm's vectors of any length.
    Sve "sve", Vectors::OfCpu, on "aarch64";
    /// The second version of Arm's vectors of any length.
    Sve2 "sve2", Vectors::OfCpu, on "aarch64";
}

/// The level that [`Level::best`] returns, if it was set.
static BEST: Mutex<Option<Level>> = Mutex::new(None);

impl Level {
    /// The fastest level that this CPU can run, or that which was [set](Self::set_best).
    pub fn best() -> Self {
        let set = *BEST.lock().unwrap_or_else(PoisonError::into_inner);
        set.unwrap_or_else(|| *Self::available().last().expect("`portable` is always available"))
    }

    /// Makes this level the best of the process from now on, to compare levels where none can be passed.
    pub fn set_best(self) {
        *BEST.lock().unwrap_or_else(PoisonError::into_inner) = Some(self);
    }
}

/// The requested level does not exist, or this CPU lacks it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LevelError {
    /// No level has this name.
    #[error("unknown level `{name}`; available on this CPU: {available}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The names available on this CPU, separated by commas, best last.
        available: String,
    },
    /// The level exists but this CPU cannot run it.
    #[error("this CPU lacks level `{name}`; available: {available}")]
    Unavailable {
        /// The requested name.
        name: String,
        /// The names available on this CPU, separated by commas, best last.
        available: String,
    },
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
        Err(if Self::NAMES.contains(&name.as_str()) {
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
        let best = Level::best();
        assert_eq!(Level::available().last(), Some(&best));
        Level::available()[0].set_best();
        assert_eq!(Level::best(), Level::available()[0]);
        best.set_best();
        assert_eq!(Level::best(), best);
    }

    #[test]
    fn errors_list_what_is_available() {
        let message = "mmx".parse::<Level>().unwrap_err().to_string();
        assert!(message.starts_with("unknown level `mmx`; available on this CPU: portable"), "{message}");
        for name in Level::NAMES {
            if Level::available().iter().all(|level| level.name() != *name) {
                let message = name.parse::<Level>().unwrap_err().to_string();
                assert!(message.contains("lacks") && message.contains("portable"), "{message}");
            }
        }
    }
}
