//! Energy: what the machine, or its packages, used between two moments.
//!
//! Four instruments, none of which ever guesses:
//! * RAPL, the packages' own counters, by Linux's powercap (`/sys/class/powercap/intel-rapl:N`, on AMD too): microjoules
//!   that wrap at `max_energy_range_uj`. Memory outside the package, disks, fans and losses are not in it.
//! * the board's controller, by `ipmitool dcmi power reading`: whole watts, about once a second, the whole machine.
//! * a meter that writes a CSV file while the run goes on: the machine with its supply.
//! * a constant that the user vouches for.
//!
//! Readings of watts are joined by straight lines. After the last one its value stands until the next is due; a window
//! that begins before the first reading, ends later than that, or spans a silence of [`SILENCE`] has no energy.

mod csv;
mod rapl;
mod timeline;

use crate::BenchError;
use csv::Csv;
use jiff::Timestamp;
use rapl::Rapl;
use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread::JoinHandle,
    time::{Duration, Instant},
};
use timeline::Timeline;

/// No straight line is drawn between readings that lie further apart.
pub const SILENCE: Duration = Duration::from_secs(30);

/// Between two questions to the board's controller, which has a new answer about every second.
const CONTROLLER_PERIOD: Duration = Duration::from_millis(500);
/// A controller that takes longer has hung.
const CONTROLLER_PATIENCE: Duration = Duration::from_secs(10);
/// Shorter than any counter takes to wrap: the smallest range in use, 2^32 * 2^-16 J, lasts 131 s at 500 W.
const COUNTER_PERIOD: Duration = Duration::from_secs(20);

/// An instrument.
#[derive(Clone, Debug, PartialEq)]
pub enum PowerSource {
    /// The packages' counters in this folder; see [`PowerSource::rapl`].
    Rapl(PathBuf),
    /// This program, asked for `dcmi power reading`; see [`PowerSource::ipmitool`].
    Ipmitool(PathBuf),
    /// A file that a meter appends to: `timestamp,watts`, the timestamp in RFC 3339 or in seconds since 1970. One line
    /// of headings, comments that begin with `#` and further columns are skipped.
    Csv(PathBuf),
    /// So many watts.
    Constant(f64),
}

impl PowerSource {
    /// RAPL where Linux has it.
    #[must_use]
    pub fn rapl() -> Self {
        Self::Rapl(PathBuf::from("/sys/class/powercap"))
    }

    /// `ipmitool` as found in `PATH`.
    #[must_use]
    pub fn ipmitool() -> Self {
        Self::Ipmitool(PathBuf::from("ipmitool"))
    }
}

impl fmt::Display for PowerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rapl(_) => f.write_str("rapl"),
            Self::Ipmitool(_) => f.write_str("ipmitool"),
            Self::Csv(path) => write!(f, "csv {}", path.display()),
            Self::Constant(_) => f.write_str("constant"),
        }
    }
}

/// A moment of a [`PowerMeter`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    instant: Instant,
    /// The same moment on the clock that a meter's file uses.
    time: Timestamp,
    /// What RAPL's counters had gone through since the meter started.
    microjoules: Option<u64>,
}

impl Mark {
    /// Seconds from this moment to a later one; 0 if it is not later.
    #[must_use]
    pub fn seconds_to(&self, later: &Self) -> f64 {
        later.instant.saturating_duration_since(self.instant).as_secs_f64()
    }
}

/// An instrument that is being read.
pub struct PowerMeter {
    source: PowerSource,
    instrument: Instrument,
    /// Times of a [`Timeline`] are seconds since then.
    epoch: Mark,
}

enum Instrument {
    Rapl(Arc<Mutex<Rapl>>, #[expect(dead_code, reason = "its drop ends the thread")] Periodic),
    Controller(Arc<Mutex<Timeline>>, #[expect(dead_code, reason = "its drop ends the thread")] Periodic),
    Csv(Mutex<Csv>),
    Constant(f64),
}

impl PowerMeter {
    /// Begins to read `source`.
    ///
    /// # Errors
    /// An instrument that is not there or may not be read, with what to do about it; a file that is no meter's; watts
    /// that are not a positive number.
    pub fn start(source: &PowerSource) -> Result<Self, BenchError> {
        let epoch = Mark { instant: Instant::now(), time: Timestamp::now(), microjoules: None };
        let instrument = match source {
            PowerSource::Rapl(root) => {
                let counters = Arc::new(Mutex::new(Rapl::open(root)?));
                let shared = Arc::clone(&counters);
                Instrument::Rapl(counters, Periodic::start(COUNTER_PERIOD, move || _ = lock(&shared).read()))
            }
            PowerSource::Ipmitool(program) => {
                let mut readings = Timeline::default();
                let watts = ask_controller(program)?;
                readings.push(epoch.instant.elapsed().as_secs_f64(), watts);
                let readings = Arc::new(Mutex::new(readings));
                let (shared, program) = (Arc::clone(&readings), program.clone());
                let ask = move || {
                    // A question that fails leaves a gap, and a window over a long gap has no energy.
                    if let Ok(watts) = ask_controller(&program) {
                        lock(&shared).push(epoch.instant.elapsed().as_secs_f64(), watts);
                    }
                };
                Instrument::Controller(readings, Periodic::start(CONTROLLER_PERIOD, ask))
            }
            PowerSource::Csv(path) => Instrument::Csv(Mutex::new(Csv::open(path)?)),
            PowerSource::Constant(watts) if watts.is_finite() && *watts > 0.0 => Instrument::Constant(*watts),
            PowerSource::Constant(watts) => {
                return Err(BenchError::Power {
                    problem: format!("expected a positive number of watts, found {watts}"),
                });
            }
        };
        Ok(Self { source: source.clone(), instrument, epoch })
    }

    /// This moment. Costs a read of each package's counter, or less.
    #[must_use]
    pub fn mark(&self) -> Mark {
        let microjoules = match &self.instrument {
            Instrument::Rapl(counters, _) => lock(counters).read(),
            _ => None,
        };
        Mark { instant: Instant::now(), time: Timestamp::now(), microjoules }
    }

    /// What was used between two of this meter's moments; `None` if the instrument did not see all of it.
    #[must_use]
    pub fn joules(&self, from: &Mark, to: &Mark) -> Option<f64> {
        let seconds = |mark: &Mark| mark.instant.duration_since(self.epoch.instant).as_secs_f64();
        match &self.instrument {
            Instrument::Rapl(..) => Some(to.microjoules?.checked_sub(from.microjoules?)? as f64 * 1e-6),
            Instrument::Controller(readings, _) => lock(readings).joules(seconds(from), seconds(to)),
            Instrument::Csv(file) => {
                let mut file = lock(file);
                // A file that has gone has no readings of this window.
                file.read_on().ok()?;
                file.readings().joules(csv::seconds(from.time), csv::seconds(to.time))
            }
            Instrument::Constant(watts) => Some(watts * from.seconds_to(to)),
        }
    }

    /// The mean between two of this meter's moments, where [`PowerMeter::joules`] knows their energy.
    #[must_use]
    pub fn watts(&self, from: &Mark, to: &Mark) -> Option<f64> {
        let watts = self.joules(from, to)? / from.seconds_to(to);
        watts.is_finite().then_some(watts)
    }

    /// Where the watts come from, as [`crate::record::Run::power_source`] has it.
    #[must_use]
    pub fn source(&self) -> String {
        self.source.to_string()
    }
}

/// A lock whose holder panicked still guards whole readings.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread that does something again and again until this is dropped.
struct Periodic {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Periodic {
    fn start(period: Duration, mut action: impl FnMut() + Send + 'static) -> Self {
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(period) == Err(mpsc::RecvTimeoutError::Timeout) {
                action();
            }
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Periodic {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// One reading in watts.
fn ask_controller(program: &Path) -> Result<f64, BenchError> {
    let name = program.display();
    let wrong = |problem: String| BenchError::Power { problem };
    let mut command = crate::process::command(program);
    command.args(["dcmi", "power", "reading"]);
    let output = crate::process::output(command, CONTROLLER_PATIENCE).map_err(|failure| {
        wrong(match failure.not_found() {
            true => format!("{name} is not installed: apt-get install ipmitool"),
            false => format!("{name} dcmi power reading: {failure}"),
        })
    })?;
    watts_in(&output.text()).ok_or_else(|| {
        wrong(format!("{name} dcmi power reading: expected a line of instantaneous power, found none"))
    })
}

/// `    Instantaneous power reading:                   212 Watts`. A controller that has no sensor says 0.
fn watts_in(reading: &str) -> Option<f64> {
    let line = reading.lines().find(|line| line.trim_start().starts_with("Instantaneous power reading"))?;
    let watts: f64 = line.split_once(':')?.1.split_whitespace().next()?.parse().ok()?;
    (watts > 0.0).then_some(watts)
}

#[cfg(test)]
mod tests;
