//! Tokens: values that prove that this CPU has a bundle of features.

#[cfg(target_arch = "x86_64")]
use std::{arch::x86_64::__cpuid, sync::LazyLock};

/// Proof that this CPU has a bundle of features; only detection creates one.
pub trait Token: Copy + Send + Sync + 'static {
    /// Runs `f` with the bundle's features enabled for everything that is inlined into it. To be called once per bulk
    /// operation, inside the parallel task.
    ///
    /// `f` and all it calls in its hot loops must be `#[inline(always)]`: functions that are not inlined are compiled without
    /// the features and run tens of times slower.
    fn run<R>(self, f: impl FnOnce() -> R) -> R;

    /// [`run`](Self::run) by a caller that is run so: a part of its code as a function.
    #[inline(always)]
    fn call<R>(self, f: impl FnOnce() -> R) -> R {
        self.run(f)
    }
}

/// Plain Rust: every CPU has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Portable;

impl Portable {
    /// The token.
    pub fn detect() -> Option<Self> {
        Some(Self)
    }
}

impl Token for Portable {
    /// Not inlined, as for every token: one copy of `f` serves all callers.
    #[inline(never)]
    fn run<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }
}

/// Proof that this CPU has BMI2 (`mulx`) and ADX (`adcx`, `adox`).
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adx(());

#[cfg(target_arch = "x86_64")]
impl Token for Adx {
    /// The instructions are used only in inline assembly, which needs no enabled feature.
    #[inline(never)]
    fn run<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }
}

#[cfg(target_arch = "x86_64")]
impl Adx {
    /// The token, if this CPU has both features.
    pub fn detect() -> Option<Self> {
        (is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("adx")).then_some(Self(()))
    }

    /// The token without detection: for emulators that have the instructions but do not report them.
    ///
    /// # Safety
    /// The CPU must have both features.
    pub unsafe fn assume() -> Self {
        Self(())
    }
}

/// Declares a token whose bundle has vector instructions: detection, the tokens of contained bundles, and [`Token::run`].
macro_rules! vector_token {
    ($(#[$doc:meta])* $name:ident, $detect:ident, [$($feature:tt)*], $features:literal $(in $mode:ident)? $(, $inner:ident -> $inner_type:ident)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(());

        $(
            impl From<$name> for $inner_type {
                #[inline(always)]
                fn from(token: $name) -> Self {
                    token.$inner()
                }
            }
        )*

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
        }

        impl Token for $name {
            #[inline(always)]
            fn run<R>(self, f: impl FnOnce() -> R) -> R {
                $(let _mode = $mode::set();)?
                self.call(f)
            }

            // Not inlined: one copy serves all callers. The attribute is here because rustc 1.95 drops it from functions with
            // target features.
            #[inline(never)]
            fn call<R>(self, f: impl FnOnce() -> R) -> R {
                #[target_feature(enable = $features)]
                fn enter<R>(f: impl FnOnce() -> R) -> R {
                    f()
                }
                // SAFETY: `self` proves every feature in `$features`: `detect` checks them, directly or by an inner token.
                unsafe { enter(f) }
            }
        }
    };
}

/// Doubles are rounded to nearest, never flushed to zero, and raise no exceptions while this exists: a caller in another language
/// may have set it otherwise.
#[cfg(target_arch = "x86_64")]
struct DefaultRounding {
    /// The register of modes that the caller had, if it is another.
    before: Option<u32>,
}

#[cfg(target_arch = "x86_64")]
impl DefaultRounding {
    /// The register without its flags, when a thread begins.
    const MODES: u32 = 0x1f80;
    const FLAGS: u32 = 0x3f;

    #[inline(always)]
    fn set() -> Self {
        let mut modes = 0_u32;
        // SAFETY: stores the register.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut modes, options(nostack, preserves_flags)) };
        let before = (modes & !Self::FLAGS != Self::MODES).then_some(modes);
        if before.is_some() {
            load_modes(Self::MODES);
        }
        Self { before }
    }
}

#[cfg(target_arch = "x86_64")]
impl Drop for DefaultRounding {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(modes) = self.before {
            load_modes(modes);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[cold]
fn load_modes(modes: u32) {
    // SAFETY: what a thread begins with, or what it had.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &modes, options(nostack, preserves_flags)) };
}

#[cfg(target_arch = "x86_64")]
vector_token!(
    /// Proof that this CPU has AVX2, FMA, and [`Adx`]. Its [`Token::run`] computes with doubles in the default mode of rounding.
    Avx2, is_x86_feature_detected, ["avx2" "fma"], "avx2,fma,bmi2,adx" in DefaultRounding, adx -> Adx, ssse3 -> Ssse3
);

#[cfg(target_arch = "x86_64")]
vector_token!(
    /// Proof that this CPU has AVX-512 F, DQ, BW and VL, and [`Avx2`].
    Avx512, is_x86_feature_detected, ["avx512f" "avx512dq" "avx512bw" "avx512vl"],
    "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,bmi2,adx", avx2 -> Avx2, adx -> Adx, ssse3 -> Ssse3
);

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// 512-bit additions that a core starts each cycle: 4 on AMD's Zen 5 (family 1Ah, measured), 2 on others. Only a hint for
    /// the choice of kernels: Zen 5 has small versions that start 2, and a virtual machine may hide the family.
    pub fn additions_per_cycle(self) -> usize {
        // `cpuid` traps to the hypervisor, which takes a thousand times as long as other instructions.
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
    "avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi2,avx512ifma,avx2,fma,bmi2,adx", avx512 -> Avx512, adx -> Adx
);

#[cfg(target_arch = "x86_64")]
vector_token!(
    /// Proof that this CPU has SSSE3 (`pshufb`).
    Ssse3, is_x86_feature_detected, ["ssse3"], "ssse3"
);

#[cfg(target_arch = "x86_64")]
vector_token!(
    /// Proof that this CPU has SHA-NI (`sha256rnds2` and related instructions), SSE 4.1, and [`Ssse3`].
    ShaNi, is_x86_feature_detected, ["sha" "sse4.1" "ssse3"], "sha,sse4.1,ssse3", ssse3 -> Ssse3
);

#[cfg(target_arch = "aarch64")]
vector_token!(
    /// Proof that this CPU has the SHA-256 instructions of Armv8's cryptographic extension, and [`Neon`].
    ArmSha2, is_aarch64_feature_detected, ["neon" "sha2"], "neon,sha2", neon -> Neon
);

#[cfg(target_arch = "aarch64")]
vector_token!(
    /// Proof that this CPU has the SHA-3 instructions of Armv8.2 (`eor3`, `bcax`, `rax1`, `xar`), and [`Neon`].
    ArmSha3, is_aarch64_feature_detected, ["neon" "sha3"], "neon,sha3", neon -> Neon
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
    /// Proof that this CPU has SVE2, [`Sve`] and [`Neon`].
    Sve2, is_aarch64_feature_detected, ["sve2"], "neon,sve,sve2", sve -> Sve, neon -> Neon
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
