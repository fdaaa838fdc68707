//! Frequencies: of the busy core, as advertised, and of the time-stamp counter.
#![allow(unsafe_code, reason = "instructions that the compiler must not shorten, and the counter's")]

use super::Root;
use proofmill_cpu::facts::Description;
use std::time::Instant;
#[cfg(target_arch = "x86_64")]
use std::{arch::x86_64::_rdtsc, time::Duration};

/// Dependent additions in an iteration of the loop; its other instructions run in parallel with them.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const ADDITIONS: u32 = 100;
/// Iterations of the loop in a sample: 0.1 milliseconds at 3 GHz.
const TURNS: u32 = 3_000;
/// Number of samples; the fastest counts. An idle core needs some samples to reach its frequency, and other
/// load only lengthens samples.
const SAMPLES: u32 = 150;

/// Frequency in hertz of the core that this thread runs on, while it is busy. Measured by a chain of
/// dependent additions, each of which takes one cycle on every CPU. Both operands are registers, because some
/// CPUs (Intel's from Golden Cove on) eliminate additions of small constants while renaming. `None` on
/// architectures without this loop.
pub fn busy_hertz() -> Option<f64> {
    let hertz = |_| {
        let began = Instant::now();
        let additions = chain(TURNS)?;
        Some(f64::from(additions) / began.elapsed().as_secs_f64())
    };
    let fastest = (0..SAMPLES).map(hertz).try_fold(0.0, |fastest, hertz| Some(f64::max(fastest, hertz?)));
    fastest.filter(|hertz| hertz.is_finite())
}

/// Runs the chain; returns its number of additions.
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

/// Runs the chain; returns its number of additions.
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

/// Steps per second of x86-64's time-stamp counter, measured over 50 milliseconds. The rate does not depend
/// on the core's frequency: a core above its base frequency does more cycles than steps. `None` on other
/// architectures, whose counters are slower or not available to user programs.
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

/// Advertised frequency in hertz, from the first source that has it. Sources are the highest frequency of the
/// driver (`cpufreq`), the end of the CPU's name (`@ 2.50GHz`), and the frequency that the kernel found at
/// its start. A virtual machine has only the last one.
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
