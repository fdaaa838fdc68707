//! Frequencies: what the core does when it is busy, what its makers promise, and what the time-stamp counter counts.
#![allow(unsafe_code, reason = "instructions that the compiler must not shorten, and the counter's")]

use super::Root;
use proofmill_cpu::facts::Description;
use std::time::Instant;
#[cfg(target_arch = "x86_64")]
use std::{arch::x86_64::_rdtsc, time::Duration};

/// Additions in a row; the loop around them runs beside.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const ADDITIONS: u32 = 100;
/// Times that the loop is run in a sample: 0.1 milliseconds at 3 GHz.
const TURNS: u32 = 3_000;
/// Samples of which the fastest is taken: a core that was idle needs some to reach its frequency, and what else the machine
/// does only lengthens them.
const SAMPLES: u32 = 150;

/// Hertz of the core that this thread runs on, while it is busy: additions that each need the one's result before take a
/// cycle each on every CPU, so they are timed. Both operands are registers, since some CPUs (Intel's from Golden Cove on) add
/// small constants while renaming, in no time. `None` where there is no such loop.
pub fn busy_hertz() -> Option<f64> {
    let hertz = |_| {
        let began = Instant::now();
        let additions = chain(TURNS)?;
        Some(f64::from(additions) / began.elapsed().as_secs_f64())
    };
    let fastest = (0..SAMPLES).map(hertz).try_fold(0.0, |fastest, hertz| Some(f64::max(fastest, hertz?)));
    fastest.filter(|hertz| hertz.is_finite())
}

/// Adds in a row, and says how often.
#[cfg(target_arch = "x86_64")]
fn chain(turns: u32) -> Option<u32> {
    // SAFETY: touches nothing but its operands and the flags.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept {additions}",
            "add {sum}, {one}",
            ".endr",
            "dec {turns:e}",
            "jnz 2b",
            additions = const ADDITIONS,
            sum = inout(reg) 0_u64 => _,
            one = in(reg) 1_u64,
            turns = inout(reg) turns => _,
            options(nomem, nostack),
        );
    }
    Some(turns * ADDITIONS)
}

/// Adds in a row, and says how often.
#[cfg(target_arch = "aarch64")]
fn chain(turns: u32) -> Option<u32> {
    // SAFETY: touches nothing but its operands and the flags.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept {additions}",
            "add {sum}, {sum}, {one}",
            ".endr",
            "subs {turns:w}, {turns:w}, #1",
            "b.ne 2b",
            additions = const ADDITIONS,
            sum = inout(reg) 0_u64 => _,
            one = in(reg) 1_u64,
            turns = inout(reg) turns => _,
            options(nomem, nostack),
        );
    }
    Some(turns * ADDITIONS)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn chain(_: u32) -> Option<u32> {
    None
}

/// Steps a second of x86-64's time-stamp counter, counted over 50 milliseconds; they are as long whatever the core's
/// frequency is, so that a core above its base frequency does more cycles than these. `None` on other CPUs, whose counters are
/// slower or not for everyone.
pub fn time_stamp_hertz() -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    {
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

/// Hertz by whoever says most about it: the most that the system would set (`cpufreq`), what the CPU's name ends with
/// (`@ 2.50GHz`), or the frequency that the kernel found when it started, which is a virtual machine's only word.
pub(super) fn advertised(root: &Root, description: &Description) -> Option<f64> {
    let kilohertz =
        || root.number::<f64>("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").map(|khz| khz * 1e3);
    let named = || {
        let (_, frequency) = description.name()?.rsplit_once('@')?;
        let gigahertz: f64 = frequency.trim().strip_suffix("GHz")?.trim().parse().ok()?;
        Some(gigahertz * 1e9)
    };
    let started = || description.value("cpu MHz")?.parse::<f64>().ok().map(|mhz| mhz * 1e6);
    kilohertz().or_else(named).or_else(started).filter(|hertz| hertz.is_finite() && *hertz > 0.0)
}
