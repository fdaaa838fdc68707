//! Times the phases of a command and shows the current one: as a bar on a terminal, as lines elsewhere.

use crate::Options;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use proofmill_memory::process_memory;
use std::{
    fmt,
    io::{self, IsTerminal, Write},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

/// Shorter work shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two lines: shorter work shows none.
const PERIOD: Duration = Duration::from_secs(60);

/// The display of progress on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    /// No display.
    Nothing,
    /// A bar on a terminal, with the times at the end.
    Bar,
    /// A line every minute, elsewhere.
    Minutes,
    /// A line when a phase begins and every minute, with the times at the end.
    Phases,
}

impl Display {
    /// The display for a command with these options.
    pub fn of(options: &Options) -> Self {
        match options {
            Options { quiet: true, .. } => Self::Nothing,
            Options { verbose: true, .. } => Self::Phases,
            _ if io::stderr().is_terminal() => Self::Bar,
            _ => Self::Minutes,
        }
    }
}

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

/// The phase that runs.
struct Running {
    name: &'static str,
    since: Instant,
    /// The share of it that is done, from 0 to 1.
    share: f64,
}

impl fmt::Display for Running {
    /// The name, and the time for the rest at this rate, if a share is known to be done.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, since, share } = self;
        f.write_str(name)?;
        if *share > 0.0 {
            let left = since.elapsed().mul_f64((1.0 - share).max(0.0) / share);
            write!(f, ": {:.0} %, {} left", 100.0 * share, HumanDuration(left))?;
        }
        Ok(())
    }
}

/// Records when phases begin and end.
pub struct PhaseClock {
    started: Instant,
    running: Option<Running>,
    done: Vec<Phase>,
    expected: u64,
    display: Display,
    bar: Option<Bar>,
    lines: Option<Lines>,
}

impl PhaseClock {
    /// A clock that shows progress in this way.
    pub fn new(display: Display) -> Self {
        let (started, running, done) = (Instant::now(), None, Vec::new());
        Self { started, running, done, expected: 0, display, bar: None, lines: None }
    }

    /// Sets the expected number of phases, for the progress bar.
    pub fn expect(&mut self, phases: usize) {
        self.expected = phases as u64;
    }

    /// Ends the current phase and begins another. The times of phases with the same name are added.
    pub fn begin(&mut self, name: &'static str) {
        self.end();
        self.running = Some(Running { name, since: Instant::now(), share: 0.0 });
        self.show();
        if self.display == Display::Phases {
            print(self.started, name);
        }
    }

    /// Shows the share of the current phase that is done, and the time for the rest at this rate.
    pub fn share(&mut self, share: f64) {
        if let Some(running) = &mut self.running {
            running.share = share;
            self.show();
        }
    }

    fn show(&mut self) {
        let Some(running) = &self.running else { return };
        match self.display {
            Display::Nothing => {}
            Display::Bar => {
                let position = self.done.len() as u64;
                let expected = self.expected.max(position + 1);
                self.bar.get_or_insert_with(Bar::new).show(running, position, expected);
            }
            Display::Minutes | Display::Phases => {
                let started = self.started;
                let new = || Lines::new(PERIOD, move |message| print(started, message));
                self.lines.get_or_insert_with(new).show(running);
            }
        }
    }

    /// Ends the current phase, and shows nothing more.
    pub fn stop(&mut self) {
        self.end();
        (self.bar, self.lines) = (None, None);
    }

    fn end(&mut self) {
        let Some(Running { name, since, .. }) = self.running.take() else { return };
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

    /// Whether the times of the phases are shown at the end.
    pub fn shows_times(&self) -> bool {
        matches!(self.display, Display::Bar | Display::Phases)
    }
}

/// Prints a line about work that started at this time.
fn print(started: Instant, message: &str) {
    // A failure to write to standard error cannot be reported.
    drop(writeln!(io::stderr(), "progress: {:.1} s: {message}", started.elapsed().as_secs_f64()));
}

/// A line about the current phase every so often, until it is dropped.
struct Lines {
    message: Arc<Mutex<String>>,
    /// Ends the thread that prints, when dropped.
    _finished: Sender<()>,
}

impl Lines {
    fn new(period: Duration, print: impl Fn(&str) + Send + 'static) -> Self {
        let message = Arc::new(Mutex::new(String::new()));
        let (finished, wait) = mpsc::channel::<()>();
        let shown = message.clone();
        thread::spawn(move || {
            while wait.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
                print(&shown.lock().unwrap_or_else(PoisonError::into_inner));
            }
        });
        Self { message, _finished: finished }
    }

    fn show(&self, running: &Running) {
        *self.message.lock().unwrap_or_else(PoisonError::into_inner) = running.to_string();
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

    fn show(&self, running: &Running, position: u64, expected: u64) {
        self.bar.set_length(expected);
        self.bar.set_position(position);
        self.bar.set_message(running.to_string());
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
        let mut clock = PhaseClock::new(Display::Nothing);
        for name in ["read", "ntt", "read"] {
            clock.begin(name);
        }
        clock.stop();
        let names: Vec<_> = clock.phases().iter().map(|phase| phase.name).collect();
        assert_eq!(names, ["read", "ntt"]);
        let sum: f64 = clock.phases().iter().map(|phase| phase.seconds).sum();
        assert!(sum > 0.0 && sum <= clock.seconds());
    }

    #[test]
    fn long_work_prints_lines_until_it_ends() {
        let (told, lines) = mpsc::channel();
        let period = Duration::from_millis(5);
        let shown = Lines::new(period, move |message| drop(told.send(message.to_owned())));
        let mut running = Running { name: "msm", since: Instant::now(), share: 0.0 };
        shown.show(&running);
        let line = || lines.recv_timeout(Duration::from_secs(60)).expect("a line");
        while line() != "msm" {}
        running.share = 0.25;
        shown.show(&running);
        while !line().starts_with("msm: 25 %, ") {}
        drop(shown);
        // The thread ends, and with it the sender.
        while lines.recv_timeout(Duration::from_secs(60)).is_ok() {}
        assert_eq!(lines.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Disconnected));
    }
}
