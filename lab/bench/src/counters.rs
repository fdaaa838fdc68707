//! Hardware counters of cycles and instructions, where the system lets this process read them.

#[cfg(target_os = "linux")]
use perf_event::{
    Builder, Counter,
    events::{Event, Hardware},
};

/// Counters of user-mode cycles and instructions of the thread that creates them and of the threads that it
/// starts later.
pub struct Counters {
    #[cfg(target_os = "linux")]
    counters: [Counter; 2],
}

/// Counter readings since the counters were created.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterReadings {
    /// CPU cycles.
    pub cycles: f64,
    /// Instructions.
    pub instructions: f64,
}

impl Counters {
    /// Starts counting for the calling thread and the threads that it starts from now on.
    ///
    /// # Errors
    /// A sentence that gives the system's reason, and the remedy if there is one.
    #[cfg(target_os = "linux")]
    pub fn new() -> Result<Self, String> {
        let counters = [begin(Hardware::CPU_CYCLES)?, begin(Hardware::INSTRUCTIONS)?];
        Ok(Self { counters })
    }

    /// Starts counting for the calling thread and the threads that it starts from now on.
    ///
    /// # Errors
    /// A sentence that gives the system's reason, and the remedy if there is one.
    #[cfg(not(target_os = "linux"))]
    pub fn new() -> Result<Self, String> {
        Err("hardware counters: only Linux's perf_event is known".to_owned())
    }

    /// The current readings; `None` if the counters cannot be read.
    #[cfg(target_os = "linux")]
    pub fn read(&mut self) -> Option<CounterReadings> {
        let [cycles, instructions] = self.counters.each_mut().map(scaled);
        Some(CounterReadings { cycles: cycles?, instructions: instructions? })
    }

    /// The current readings; `None` if the counters cannot be read.
    #[cfg(not(target_os = "linux"))]
    pub fn read(&mut self) -> Option<CounterReadings> {
        None
    }
}

impl std::ops::Sub for CounterReadings {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        let (cycles, instructions) = (self.cycles - other.cycles, self.instructions - other.instructions);
        Self { cycles, instructions }
    }
}

/// A started counter.
#[cfg(target_os = "linux")]
fn begin(event: impl Event) -> Result<Counter, String> {
    let begun = Builder::new(event).inherit(true).build().and_then(|mut counter| {
        counter.enable()?;
        Ok(counter)
    });
    begun.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            "hardware counters: this machine's kernel has none (a virtual machine without a PMU)".to_owned()
        }
        std::io::ErrorKind::PermissionDenied => {
            "hardware counters: not permitted; sysctl kernel.perf_event_paranoid=2 permits them".to_owned()
        }
        _ => format!("hardware counters: {error}"),
    })
}

/// A counter's value, scaled up for the time in which its hardware counter was used for another event.
#[cfg(target_os = "linux")]
fn scaled(counter: &mut Counter) -> Option<f64> {
    let read = counter.read_full().ok()?;
    let count = read.count() as f64;
    match (read.time_enabled(), read.time_running()) {
        (Some(enabled), Some(running)) if !running.is_zero() => {
            Some(count * enabled.as_secs_f64() / running.as_secs_f64())
        }
        _ => Some(count),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use perf_event::events::Software;
    use std::hint::black_box;

    fn spin() {
        for i in 0..100_000_000_u64 {
            black_box(i);
        }
    }

    // Every system has this software counter of nanoseconds; few virtual machines have hardware counters.
    #[test]
    fn threads_that_start_later_are_counted() {
        let mut counter = begin(Software::TASK_CLOCK).unwrap();
        spin();
        let alone = scaled(&mut counter).unwrap();
        std::thread::spawn(spin).join().unwrap();
        let both = scaled(&mut counter).unwrap();
        assert!(alone > 0.0 && both > 1.2 * alone, "{alone}, then {both}");
    }

    #[test]
    fn absent_counters_have_a_reason() {
        match Counters::new() {
            Ok(mut counters) => {
                let before = counters.read().unwrap();
                spin();
                let counts = counters.read().unwrap() - before;
                assert!(counts.instructions >= 1e8 && counts.cycles > 0.0, "{counts:?}");
            }
            Err(reason) => assert!(reason.starts_with("hardware counters: "), "{reason}"),
        }
    }
}
