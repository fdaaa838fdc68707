//! Times the phases of a command and shows the current one on a terminal.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use proofmill_memory::process_memory;
use std::{
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

/// Shorter work shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// A part of a command's work.
#[derive(Debug)]
pub struct Phase {
    /// The name.
    pub name: &'static str,
    /// The wall time in seconds.
    pub seconds: f64,
    /// The process's peak memory in bytes at the end of the phase.
    pub peak_memory: Option<u64>,
}

/// Records when phases begin and end.
pub struct PhaseClock {
    started: Instant,
    running: Option<(&'static str, Instant)>,
    done: Vec<Phase>,
    expected: u64,
    bar: Option<Bar>,
    terminal: bool,
}

impl PhaseClock {
    /// A clock; progress is shown only if `terminal`.
    pub fn new(terminal: bool) -> Self {
        let (started, running, done) = (Instant::now(), None, Vec::new());
        Self { started, running, done, expected: 0, bar: None, terminal }
    }

    /// Sets the expected number of phases, for the progress bar.
    pub fn expect(&mut self, phases: usize) {
        self.expected = phases as u64;
    }

    /// Ends the current phase and begins another. The times of phases with the same name are added.
    pub fn begin(&mut self, name: &'static str) {
        self.end();
        self.running = Some((name, Instant::now()));
        if self.terminal {
            let position = self.done.len() as u64;
            let expected = self.expected.max(position + 1);
            self.bar.get_or_insert_with(Bar::new).show(name, position, expected);
        }
    }

    /// Shows how much of the current phase is done, and how long the rest takes at this rate.
    pub fn share(&mut self, share: f64) {
        if let (Some(bar), Some((name, since))) = (&self.bar, self.running)
            && share > 0.0
        {
            let left = since.elapsed().mul_f64((1.0 - share).max(0.0) / share);
            bar.bar.set_message(format!("{name}: {:.0} %, {} left", 100.0 * share, HumanDuration(left)));
        }
    }

    /// Ends the current phase and removes the progress bar.
    pub fn stop(&mut self) {
        self.end();
        self.bar = None;
    }

    fn end(&mut self) {
        let Some((name, since)) = self.running.take() else { return };
        let seconds = since.elapsed().as_secs_f64();
        let peak_memory = process_memory::peak();
        match self.done.iter_mut().find(|phase| phase.name == name) {
            Some(phase) => {
                phase.seconds += seconds;
                phase.peak_memory = peak_memory;
            }
            None => self.done.push(Phase { name, seconds, peak_memory }),
        }
    }

    /// The phases that have ended, in the order of their first beginning.
    pub fn phases(&self) -> &[Phase] {
        &self.done
    }

    /// Seconds since the clock was created.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Whether progress is shown.
    pub fn terminal(&self) -> bool {
        self.terminal
    }
}

/// A progress bar that appears after [`PATIENCE`].
struct Bar {
    bar: ProgressBar,
    /// Ends the thread that waits to show the bar, when dropped.
    _finished: Sender<()>,
}

impl Bar {
    fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{bar:24}] {pos}/{len} {msg} ({elapsed})")
        {
            bar.set_style(style.progress_chars("=> "));
        }
        let (finished, wait) = mpsc::channel();
        let shown = bar.clone();
        thread::spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) && !shown.is_finished() {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Self { bar, _finished: finished }
    }

    fn show(&self, name: &'static str, position: u64, expected: u64) {
        self.bar.set_length(expected);
        self.bar.set_position(position);
        self.bar.set_message(name);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_that_comes_again_is_one_phase() {
        let mut clock = PhaseClock::new(false);
        for name in ["read", "ntt", "read"] {
            clock.begin(name);
        }
        clock.stop();
        let names: Vec<_> = clock.phases().iter().map(|phase| phase.name).collect();
        assert_eq!(names, ["read", "ntt"]);
        let sum: f64 = clock.phases().iter().map(|phase| phase.seconds).sum();
        assert!(sum > 0.0 && sum <= clock.seconds());
    }
}
