//! Energy readings: what the machine, or its CPU packages, used between two moments.
//!
//! Four power sources:
//! * RAPL, the packages' own energy counters, through Linux's powercap (`/sys/class/powercap/intel-rapl:N`,
//!   on AMD too): microjoules that wrap at `max_energy_range_uj`. They do not include memory outside the
//!   package, disks, fans and losses.
//! * The board's controller, through `ipmitool dcmi power reading`: whole watts of the whole machine, about
//!   once a second.
//! * A meter that writes a CSV file during the run: the machine with its power supply.
//! * A constant given by the user.
//!
//! Power is interpolated linearly between readings. After the last reading its value is used until the next
//! one is due. A window has no energy if it begins before the first reading, ends later than that, or spans a
//! gap of more than [`SILENCE`].

mod csv;
mod timeline;

use crate::BenchError;
use csv::Csv;
use jiff::Timestamp;
use proofmill_cost::power::{POWERCAP, Rapl};
use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread::JoinHandle,
    time::{Duration, Instant},
};
use timeline::Timeline;

/// The longest gap between two readings that is interpolated.
pub const SILENCE: Duration = Duration::from_secs(30);

/// Time between requests to the board's controller, which has a new reading about every second.
const CONTROLLER_PERIOD: Duration = Duration::from_millis(500);
/// Time limit for the controller's reply.
const CONTROLLER_PATIENCE: Duration = Duration::from_secs(10);
/// Less than the time in which any counter wraps: the smallest range in use, 2^32 * 2^-16 J, lasts 131 s at
/// 500 W.
const COUNTER_PERIOD: Duration = Duration::from_secs(20);

/// A source of power readings.
#[derive(Clone, Debug, PartialEq)]
pub enum PowerSource {
    /// The packages' counters in this folder; see [`PowerSource::rapl`].
    Rapl(PathBuf),
    /// This program, run with `dcmi power reading`; see [`PowerSource::ipmitool`].
    Ipmitool(PathBuf),
    /// A file that a meter appends to: `timestamp,watts`, with the timestamp in RFC 3339 or in seconds since
    /// 1970. One heading line, comments that begin with `#`, and further columns are skipped.
    Csv(PathBuf),
    /// A constant power in watts.
    Constant(f64),
}

impl PowerSource {
    /// RAPL in Linux's usual folder.
    #[must_use]
    pub fn rapl() -> Self {
        Self::Rapl(PathBuf::from(POWERCAP))
    }

    /// `ipmitool` in `PATH`.
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

/// A point in time of a [`PowerMeter`].
#[derive(Clone, Copy, Debug)]
pub struct MeterMark {
    instant: Instant,
    /// The same moment on the system clock, which a meter's file uses.
    time: Timestamp,
    /// RAPL's energy since the meter started.
    microjoules: Option<u64>,
}

impl MeterMark {
    /// Seconds from this moment to a later one; 0 if it is not later.
    #[must_use]
    pub fn seconds_to(&self, later: &Self) -> f64 {
        later.instant.saturating_duration_since(self.instant).as_secs_f64()
    }
}

/// A power source that is being read.
pub struct PowerMeter {
    source: PowerSource,
    instrument: Instrument,
    /// The zero of a [`Timeline`]'s times.
    epoch: MeterMark,
}

enum Instrument {
    Rapl(Arc<Mutex<Rapl>>, #[expect(dead_code, reason = "its drop ends the thread")] Periodic),
    Controller(Arc<Mutex<Timeline>>, #[expect(dead_code, reason = "its drop ends the thread")] Periodic),
    Csv(Mutex<Csv>),
    Constant(f64),
}

impl PowerMeter {
    /// Starts reading `source`.
    ///
    /// # Errors
    /// A power source that is missing or may not be read: the error says what to do. A file that is not a
    /// meter's; watts that are not a positive number.
    pub fn start(source: &PowerSource) -> Result<Self, BenchError> {
        let epoch = MeterMark { instant: Instant::now(), time: Timestamp::now(), microjoules: None };
        let instrument = match source {
            PowerSource::Rapl(root) => {
                let counters = Rapl::open(root).map_err(|error| BenchError::Power {
                    problem: format!("{error}; or use --watts, --power-csv or --power ipmitool"),
                })?;
                let counters = Arc::new(Mutex::new(counters));
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
                    // A failed reading leaves a gap; a window over a long gap has no energy.
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

    /// The current moment. Costs at most a read of each package's counter.
    #[must_use]
    pub fn mark(&self) -> MeterMark {
        let microjoules = match &self.instrument {
            Instrument::Rapl(counters, _) => lock(counters).read(),
            _ => None,
        };
        MeterMark { instant: Instant::now(), time: Timestamp::now(), microjoules }
    }

    /// Joules used between two moments of this meter; `None` if the readings do not cover all of the window.
    #[must_use]
    pub fn joules(&self, from: &MeterMark, to: &MeterMark) -> Option<f64> {
        let seconds = |mark: &MeterMark| mark.instant.duration_since(self.epoch.instant).as_secs_f64();
        match &self.instrument {
            Instrument::Rapl(..) => Some(to.microjoules?.checked_sub(from.microjoules?)? as f64 * 1e-6),
            Instrument::Controller(readings, _) => lock(readings).joules(seconds(from), seconds(to)),
            Instrument::Csv(file) => {
                let mut file = lock(file);
                // A file that cannot be read has no readings for this window.
                file.read_on().ok()?;
                file.readings().joules(csv::seconds(from.time), csv::seconds(to.time))
            }
            Instrument::Constant(watts) => Some(watts * from.seconds_to(to)),
        }
    }

    /// The mean power in watts between two moments of this meter; `None` where [`PowerMeter::joules`] is.
    #[must_use]
    pub fn watts(&self, from: &MeterMark, to: &MeterMark) -> Option<f64> {
        let watts = self.joules(from, to)? / from.seconds_to(to);
        watts.is_finite().then_some(watts)
    }

    /// The source's name, as in [`crate::record::BenchRun::power_source`].
    #[must_use]
    pub fn source(&self) -> String {
        self.source.to_string()
    }
}

/// Locks even after a panic in another holder: readings are never half written.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread that repeats an action until this is dropped.
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

/// Takes one reading, in watts.
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

/// Parses `    Instantaneous power reading:       212 Watts`. A controller without a sensor reports 0.
fn watts_in(reading: &str) -> Option<f64> {
    let line = reading.lines().find(|line| line.trim_start().starts_with("Instantaneous power reading"))?;
    let watts: f64 = line.split_once(':')?.1.split_whitespace().next()?.parse().ok()?;
    (watts > 0.0).then_some(watts)
}

#[cfg(test)]
mod tests;
