//! The rate of the CPU's time-stamp counter, the only count of cycles that programs of any user may read.
#![allow(unsafe_code, reason = "the counter's instruction, which any CPU with 64 bits has")]

/// Steps a second of x86-64's time-stamp counter, counted over some milliseconds; they are as long whatever the core's
/// frequency is, so that a core above its base frequency does more cycles than these. `None` on other CPUs, whose counters are
/// slower or not for everyone.
pub(crate) fn per_second() -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::{
            arch::x86_64::_rdtsc,
            time::{Duration, Instant},
        };
        // SAFETY: every x86-64 CPU has the instruction.
        let now = || (unsafe { _rdtsc() }, Instant::now());
        let (first, began) = now();
        std::thread::sleep(Duration::from_millis(50));
        let (last, ended) = now();
        Some(last.wrapping_sub(first) as f64 / ended.duration_since(began).as_secs_f64())
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}
