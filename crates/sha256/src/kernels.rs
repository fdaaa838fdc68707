//! The choice of kernels: one for a single message, one for many.

use crate::{constants::INITIAL, padding::Tail, portable};
use proofmill_cpu::Level;
use std::{fmt, str::FromStr};
#[cfg(target_arch = "x86_64")]
use {
    crate::x86_64::{avx2, avx512, sha_ni, ssse3},
    proofmill_cpu::{Avx2, Avx512, ShaNi, Ssse3},
};
#[cfg(target_arch = "aarch64")]
use {
    crate::{arm_sha2, neon},
    proofmill_cpu::{ArmSha2, Neon},
};

/// A choice of kernels: one for a single message and, where that is faster, one for many messages in the lanes of vectors.
///
/// The names are `portable`, `ssse3`, `avx2`, `avx512`, `sha-ni`, `neon` and `arm-sha2`; [`Kernels::best`] and [`Kernels::at`]
/// combine two kernels. A value proves that this CPU has the features of its kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernels {
    single: Single,
    many: Option<Many>,
    /// Lanes of the kernel for many messages, a power of two; 0 without such a kernel.
    lanes: u8,
    /// The smallest number of messages for which a group with idle lanes is faster than one message after the other.
    least: u8,
}

/// A kernel for a single message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Single {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Ssse3(Ssse3),
    /// The kernel for SSSE3, compiled to AVX2's and BMI2's encodings.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    ShaNi(ShaNi),
    #[cfg(target_arch = "aarch64")]
    ArmSha2(ArmSha2),
}

/// A kernel for many messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Many {
    #[cfg(target_arch = "x86_64")]
    Ssse3(Ssse3),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
}

/// The names of all kernels of all CPUs.
const NAMES: [&str; 7] = ["portable", "ssse3", "avx2", "avx512", "sha-ni", "neon", "arm-sha2"];

/// The requested kernel does not exist, or this CPU lacks it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// No kernel has this name.
    #[error("unknown SHA-256 kernel `{name}`; available on this CPU: {available}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The names available on this CPU, separated by commas.
        available: String,
    },
    /// The kernel exists but this CPU cannot run it.
    #[error("this CPU lacks SHA-256 kernel `{name}`; available: {available}")]
    Unavailable {
        /// The requested name.
        name: String,
        /// The names available on this CPU, separated by commas.
        available: String,
    },
}

impl Kernels {
    /// Plain Rust.
    pub const PORTABLE: Self = Self { single: Single::Portable, many: None, lanes: 0, least: 0 };

    fn new(single: Single, many: Option<Many>) -> Self {
        let (lanes, least) = match (many, single) {
            (None, _) => (0, 0),
            // (lanes, least): a group takes as long as `least` single messages, by lab/records/sha256.csv.
            #[cfg(target_arch = "x86_64")]
            (Some(Many::Avx512(token)), Single::ShaNi(_)) if token.additions_per_cycle() == 4 => (16, 8),
            #[cfg(target_arch = "x86_64")]
            (Some(Many::Avx512(_)), Single::ShaNi(_)) => (16, 13),
            #[cfg(target_arch = "x86_64")]
            (Some(Many::Avx512(_)), _) => (16, 2),
            #[cfg(target_arch = "x86_64")]
            (Some(Many::Avx2(_)), _) => (8, 3),
            #[cfg(target_arch = "x86_64")]
            (Some(Many::Ssse3(_)), _) => (4, 3),
            #[cfg(target_arch = "aarch64")]
            (Some(Many::Neon(_)), _) => (4, 3),
        };
        Self { single, many, lanes, least }
    }

    /// The fastest kernels of this CPU.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let vectors = Avx512::detect().map(Vectors::Avx512).or_else(|| Avx2::detect().map(Vectors::Avx2));
            Self::of_x86_64(vectors)
        }
        #[cfg(target_arch = "aarch64")]
        {
            Self::of_arm_sha2().or_else(Self::of_neon).unwrap_or(Self::PORTABLE)
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        Self::PORTABLE
    }

    /// The fastest kernel for one message, with fewer checks than [`Self::best`].
    #[inline]
    pub(crate) fn best_single() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = ShaNi::detect() {
            return Self { single: Single::ShaNi(token), ..Self::PORTABLE };
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(token) = ArmSha2::detect() {
            return Self { single: Single::ArmSha2(token), ..Self::PORTABLE };
        }
        Self { single: Self::best().single, ..Self::PORTABLE }
    }

    /// The fastest kernels of this CPU whose vectors are no longer than the level's. SHA-256 instructions belong to no level:
    /// every level but `portable` uses them.
    pub fn at(level: Level) -> Self {
        match level {
            Level::Portable(_) => Self::PORTABLE,
            #[cfg(target_arch = "x86_64")]
            Level::Adx(_) => Self::of_x86_64(None),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(token) => Self::of_x86_64(Some(Vectors::Avx2(token))),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(token) => Self::of_x86_64(Some(Vectors::Avx512(token))),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512Ifma(token) => Self::of_x86_64(Some(Vectors::Avx512(token.avx512()))),
            #[cfg(target_arch = "aarch64")]
            Level::Neon(_) | Level::Sve(_) | Level::Sve2(_) => Self::best(),
        }
    }

    /// Each kernel of this CPU, on its own.
    pub fn available() -> Vec<Self> {
        [
            Some(Self::PORTABLE),
            #[cfg(target_arch = "x86_64")]
            Ssse3::detect().map(|token| Self::new(Single::Ssse3(token), Some(Many::Ssse3(token)))),
            #[cfg(target_arch = "x86_64")]
            Avx2::detect().map(|token| Self::new(Single::Avx2(token), Some(Many::Avx2(token)))),
            #[cfg(target_arch = "x86_64")]
            Avx512::detect().map(|token| Self::new(Single::Avx2(token.avx2()), Some(Many::Avx512(token)))),
            #[cfg(target_arch = "x86_64")]
            ShaNi::detect().map(|token| Self::new(Single::ShaNi(token), None)),
            #[cfg(target_arch = "aarch64")]
            Self::of_neon(),
            #[cfg(target_arch = "aarch64")]
            Self::of_arm_sha2(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    #[cfg(target_arch = "aarch64")]
    fn of_neon() -> Option<Self> {
        Neon::detect().map(|token| Self::new(Single::Portable, Some(Many::Neon(token))))
    }

    #[cfg(target_arch = "aarch64")]
    fn of_arm_sha2() -> Option<Self> {
        ArmSha2::detect().map(|token| Self::new(Single::ArmSha2(token), None))
    }

    /// The fastest kernels with vectors no longer than these. SHA-NI with one message at a time is two to four times faster
    /// than AVX2 with eight lanes, so AVX2 is not used next to SHA-NI.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn of_x86_64(vectors: Option<Vectors>) -> Self {
        let single = match (ShaNi::detect(), vectors) {
            (Some(token), _) => Single::ShaNi(token),
            (None, Some(Vectors::Avx2(token))) => Single::Avx2(token),
            (None, Some(Vectors::Avx512(token))) => Single::Avx2(token.avx2()),
            (None, None) => Ssse3::detect().map_or(Single::Portable, Single::Ssse3),
        };
        let many = match (vectors, single) {
            (Some(Vectors::Avx512(token)), _) => Some(Many::Avx512(token)),
            (Some(Vectors::Avx2(token)), Single::Avx2(_)) => Some(Many::Avx2(token)),
            (None, Single::Ssse3(token)) => Some(Many::Ssse3(token)),
            _ => None,
        };
        Self::new(single, many)
    }

    /// The name of the kernel for many messages, or for one if that is the only one.
    pub fn name(self) -> &'static str {
        match self.many {
            None => self.single_name(),
            #[cfg(target_arch = "x86_64")]
            Some(Many::Ssse3(_)) => NAMES[1],
            #[cfg(target_arch = "x86_64")]
            Some(Many::Avx2(_)) => NAMES[2],
            #[cfg(target_arch = "x86_64")]
            Some(Many::Avx512(_)) => NAMES[3],
            #[cfg(target_arch = "aarch64")]
            Some(Many::Neon(_)) => NAMES[5],
        }
    }

    /// The name of the kernel for one message. With `avx2` and `avx512` it is `ssse3`'s in AVX2's encoding, where only the
    /// message schedule is vectorised.
    pub fn single_name(self) -> &'static str {
        match self.single {
            Single::Portable => NAMES[0],
            #[cfg(target_arch = "x86_64")]
            Single::Ssse3(_) => NAMES[1],
            #[cfg(target_arch = "x86_64")]
            Single::Avx2(_) => NAMES[2],
            #[cfg(target_arch = "x86_64")]
            Single::ShaNi(_) => NAMES[4],
            #[cfg(target_arch = "aarch64")]
            Single::ArmSha2(_) => NAMES[6],
        }
    }

    /// The digest of a message.
    #[inline]
    pub fn digest(self, message: &[u8]) -> [u8; 32] {
        match self.single {
            #[cfg(target_arch = "x86_64")]
            Single::ShaNi(token) => sha_ni::digest(token, message),
            #[cfg(target_arch = "aarch64")]
            Single::ArmSha2(token) => arm_sha2::digest(token, message),
            _ => self.digest_by_blocks(message),
        }
    }

    /// The digest of a message by [`Self::compress`].
    #[inline(always)]
    fn digest_by_blocks(self, message: &[u8]) -> [u8; 32] {
        let mut state = INITIAL;
        let (blocks, rest) = message.as_chunks();
        if !blocks.is_empty() {
            self.compress(&mut state, blocks);
        }
        self.compress(&mut state, Tail::new(rest, message.len() as u64).blocks());
        portable::to_bytes(state)
    }

    /// Updates the state by these blocks.
    #[inline]
    pub(crate) fn compress(self, state: &mut [u32; 8], blocks: &[[u8; 64]]) {
        match self.single {
            Single::Portable => portable::compress_blocks(state, blocks),
            #[cfg(target_arch = "x86_64")]
            Single::Ssse3(token) => ssse3::compress_blocks(token, state, blocks),
            #[cfg(target_arch = "x86_64")]
            Single::Avx2(token) => avx2::compress_blocks(token, state, blocks),
            #[cfg(target_arch = "x86_64")]
            Single::ShaNi(token) => sha_ni::compress_blocks(token, state, blocks),
            #[cfg(target_arch = "aarch64")]
            Single::ArmSha2(token) => arm_sha2::compress_blocks(token, state, blocks),
        }
    }

    /// [`hash_pairs`](crate::hash_pairs) on the calling thread.
    ///
    /// # Panics
    /// If the numbers of pairs and digests differ.
    #[inline]
    pub fn pairs(self, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
        assert_eq!(pairs.len(), digests.len(), "a digest for each pair");
        if self.lanes == 0 || pairs.len() < usize::from(self.least) {
            self.single_pairs(pairs, digests);
        } else {
            self.many_pairs(pairs, digests);
        }
    }

    /// [`Self::pairs`] in lanes.
    fn many_pairs(self, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
        let in_lanes = self.in_lanes(pairs.len());
        let (pairs, single_pairs) = pairs.split_at(in_lanes);
        let (digests, single_digests) = digests.split_at_mut(in_lanes);
        match self.many {
            _ if in_lanes == 0 => {}
            None => {}
            #[cfg(target_arch = "x86_64")]
            Some(Many::Ssse3(token)) => ssse3::pairs(token, pairs, digests),
            #[cfg(target_arch = "x86_64")]
            Some(Many::Avx2(token)) => avx2::pairs(token, pairs, digests),
            #[cfg(target_arch = "x86_64")]
            Some(Many::Avx512(token)) => avx512::pairs(token, pairs, digests),
            #[cfg(target_arch = "aarch64")]
            Some(Many::Neon(token)) => neon::pairs(token, pairs, digests),
        }
        self.single_pairs(single_pairs, single_digests);
    }

    /// [`hash_rows`](crate::hash_rows) on the calling thread.
    ///
    /// # Panics
    /// If `rows` does not have `length` bytes for each digest.
    pub fn rows(self, rows: &[u8], length: usize, digests: &mut [[u8; 32]]) {
        assert_eq!(Some(rows.len()), length.checked_mul(digests.len()), "a digest for each row");
        let in_lanes = self.in_lanes(digests.len());
        let (rows, single_rows) = rows.split_at(in_lanes * length);
        let (digests, single_digests) = digests.split_at_mut(in_lanes);
        match self.many {
            _ if in_lanes == 0 => {}
            None => {}
            #[cfg(target_arch = "x86_64")]
            Some(Many::Ssse3(token)) => ssse3::rows(token, rows, length, digests),
            #[cfg(target_arch = "x86_64")]
            Some(Many::Avx2(token)) => avx2::rows(token, rows, length, digests),
            #[cfg(target_arch = "x86_64")]
            Some(Many::Avx512(token)) => avx512::rows(token, rows, length, digests),
            #[cfg(target_arch = "aarch64")]
            Some(Many::Neon(token)) => neon::rows(token, rows, length, digests),
        }
        for (i, digest) in single_digests.iter_mut().enumerate() {
            *digest = self.digest(&single_rows[i * length..][..length]);
        }
    }

    /// The number of messages to hash in lanes: all, or all but an incomplete last group that is too small.
    fn in_lanes(self, messages: usize) -> usize {
        if self.lanes == 0 {
            return 0;
        }
        let rest = messages % usize::from(self.lanes);
        if rest < usize::from(self.least) { messages - rest } else { messages }
    }

    /// [`Self::pairs`] without lanes.
    #[inline]
    fn single_pairs(self, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
        match self.single {
            #[cfg(target_arch = "x86_64")]
            Single::ShaNi(token) => sha_ni::pairs(token, pairs, digests),
            #[cfg(target_arch = "aarch64")]
            Single::ArmSha2(token) => arm_sha2::pairs(token, pairs, digests),
            _ => self.pairs_by_blocks(pairs, digests),
        }
    }

    /// [`Self::pairs`] by [`Self::compress`]. Not inlined, so that calls of the other kernels stay short: the overhead is a
    /// tenth of a pair's time.
    #[inline(never)]
    fn pairs_by_blocks(self, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
        portable::pairs(|state, block| self.compress(state, std::slice::from_ref(block)), pairs, digests);
    }
}

/// The longest vectors to use.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
enum Vectors {
    Avx2(Avx2),
    Avx512(Avx512),
}

impl fmt::Display for Kernels {
    /// The name, followed by that of the kernel for one message if it differs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if self.single_name() == self.name() {
            Ok(())
        } else {
            write!(f, ", {} for one message", self.single_name())
        }
    }
}

impl FromStr for Kernels {
    type Err = KernelError;

    fn from_str(name: &str) -> Result<Self, KernelError> {
        let available = Self::available();
        if let Some(kernels) = available.iter().find(|kernels| kernels.name() == name) {
            return Ok(*kernels);
        }
        let list = available.iter().map(|kernels| kernels.name()).collect::<Vec<_>>().join(", ");
        let (name, available) = (name.to_owned(), list);
        Err(if NAMES.contains(&name.as_str()) {
            KernelError::Unavailable { name, available }
        } else {
            KernelError::Unknown { name, available }
        })
    }
}
