//! Runs work without the GIL, with the caller's level and number of threads.

use crate::{
    error::{Fault, InsecureSetupWarning, panicked},
    progress::Progress,
};
use proofmill::{Cancellation, Level, Machine, MachineBuilder, Memory};
use pyo3::{
    exceptions::{PyRuntimeError, PyValueError},
    prelude::*,
};
use std::{
    any::Any,
    ffi::CString,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

/// The time between two looks for signals, such as Ctrl-C.
const POLL: Duration = Duration::from_millis(50);

/// The most threads of a call. A system with fewer says so.
const MOST_THREADS: usize = 1 << 12;

/// The names of the levels of CPU features that `level=` accepts on this machine, from the slowest to the fastest.
#[pyfunction]
pub(crate) fn levels() -> Vec<&'static str> {
    Level::available().into_iter().map(Level::name).collect()
}

/// The arguments `threads` and `level` of a call.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct ThreadsAndLevel {
    threads: Option<usize>,
    level: Option<Level>,
}

impl ThreadsAndLevel {
    pub(crate) fn new(threads: Option<usize>, level: Option<&str>) -> PyResult<Self> {
        if threads.is_some_and(|count| !(1..=MOST_THREADS).contains(&count)) {
            return Err(PyValueError::new_err(format!(
                "threads: expected 1 to {MOST_THREADS}, or None for one per core"
            )));
        }
        let level = level.map(str::parse).transpose();
        let level = level.map_err(|error| PyValueError::new_err(format!("level: {error}")))?;
        Ok(Self { threads, level })
    }

    fn builder(self) -> MachineBuilder {
        let builder = Machine::builder().threads(self.threads.unwrap_or_default());
        match self.level {
            Some(level) => builder.level(level),
            None => builder,
        }
    }

    /// The machine of these arguments; `None` for the defaults. The last few are kept, because threads take time to start.
    fn machine(self) -> PyResult<Option<Machine>> {
        const KEPT: usize = 4;
        static MACHINES: Mutex<Vec<(ThreadsAndLevel, Machine)>> = Mutex::new(Vec::new());
        if self.threads.is_none() && self.level.is_none() {
            return Ok(None);
        }
        let mut machines = MACHINES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, machine)) = machines.iter().find(|(choice, _)| *choice == self) {
            return Ok(Some(machine.clone()));
        }
        let machine = self.builder().build().map_err(Fault::from)?;
        machines.truncate(KEPT - 1);
        machines.insert(0, (self, machine.clone()));
        Ok(Some(machine))
    }

    /// Runs work on borrowed arrays without the GIL. Signals wait for its end.
    pub(crate) fn compute<T: Send>(
        self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<T, Fault> + Send,
    ) -> PyResult<T> {
        let machine = self.machine()?;
        let run = || match &machine {
            Some(machine) => machine.run(work),
            None => work(),
        };
        match py.detach(|| catch_unwind(AssertUnwindSafe(run))) {
            Ok(result) => result.map_err(PyErr::from),
            Err(payload) => Err(panicked(&*payload)),
        }
    }
}

/// [`ThreadsAndLevel::compute`] with the default level and threads.
pub(crate) fn compute<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Fault> + Send,
) -> PyResult<T> {
    ThreadsAndLevel { threads: None, level: None }.compute(py, work)
}

/// The messages from a job's threads to the calling thread.
enum Event<T> {
    /// A phase begins.
    Phase(&'static str),
    /// A key is insecure.
    Warning(String),
    /// The work has ended.
    Done(thread::Result<Result<T, Fault>>),
}

/// Work that takes long, or uses keys: it runs on threads of its own, can be interrupted and reports its progress.
pub(crate) struct BackgroundJob<'py> {
    py: Python<'py>,
    builder: MachineBuilder,
    progress: Progress<'py>,
    insecure: bool,
}

impl<'py> BackgroundJob<'py> {
    /// A job without options.
    pub(crate) fn new(py: Python<'py>) -> Self {
        Self { py, builder: Machine::builder(), progress: Progress::None, insecure: false }
    }

    /// This job with the arguments `threads`, `level` and `progress`.
    pub(crate) fn with(
        mut self,
        threads: Option<usize>,
        level: Option<&str>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        self.builder = ThreadsAndLevel::new(threads, level)?.builder();
        self.progress = Progress::new(self.py, progress)?;
        Ok(self)
    }

    pub(crate) fn memory(mut self, memory: Option<Memory>) -> Self {
        if let Some(memory) = memory {
            self.builder = self.builder.memory(memory);
        }
        self
    }

    /// This job with the argument `allow_insecure_setup`.
    pub(crate) fn allow_insecure_setup(mut self, allow: bool) -> Self {
        self.insecure = allow;
        self
    }

    /// Runs the work. If a signal or the callback raises an exception, returns at once, and the work ends by itself at the beginning
    /// of its next phase.
    pub(crate) fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> PyResult<T> {
        let (watched, run) = self.start(work)?;
        thread::Builder::new().name("proofmill".to_owned()).spawn(run)?;
        watched.watch()
    }

    /// [`Self::run`] for work on borrowed arrays: an exception waits for the end of the phase.
    pub(crate) fn run_borrowed<T: Send + 'static>(
        self,
        work: impl FnOnce() -> Result<T, Fault> + Send,
    ) -> PyResult<T> {
        let py = self.py;
        let (watched, run) = self.start(work)?;
        thread::scope(|scope| {
            let thread = thread::Builder::new().name("proofmill".to_owned()).spawn_scoped(scope, run)?;
            let result = watched.watch();
            // It does not need the GIL, and does not panic.
            py.detach(|| drop(thread.join()));
            result
        })
    }

    /// The state that the calling thread watches, and the work that the other thread runs.
    fn start<T: Send + 'static, W: FnOnce() -> Result<T, Fault> + Send>(
        self,
        work: W,
    ) -> PyResult<(Watched<'py, T>, impl FnOnce() + Send + use<T, W>)> {
        let (sender, events) = channel();
        let (cancellation, phases) = (Cancellation::default(), sender.clone());
        let mut builder = self.builder.cancellation(&cancellation).on_progress(move |phase| {
            // Nobody receives it after an exception.
            drop(phases.send(Event::Phase(phase)));
        });
        if self.insecure {
            let warnings = sender.clone();
            builder = builder
                .allow_insecure_setup(move |text| drop(warnings.send(Event::Warning(text.to_owned()))));
        }
        let machine = builder.build().map_err(Fault::from)?;
        let run = move || {
            let result = catch_unwind(AssertUnwindSafe(|| machine.try_run(work)));
            drop(sender.send(Event::Done(result)));
        };
        Ok((Watched { py: self.py, events, cancellation, progress: self.progress }, run))
    }
}

/// A job that runs on another thread.
struct Watched<'py, T> {
    py: Python<'py>,
    events: Receiver<Event<T>>,
    cancellation: Cancellation,
    progress: Progress<'py>,
}

impl<T: Send> Watched<'_, T> {
    /// Waits for the result. At an exception of a signal handler or of the callback, tells the job to stop.
    fn watch(self) -> PyResult<T> {
        let Self { py, mut events, cancellation, mut progress } = self;
        let result = loop {
            let (again, event) = py.detach(move || {
                let event = events.recv_timeout(POLL);
                (events, event)
            });
            events = again;
            let handled = match event {
                Ok(Event::Done(result)) => break finished(result),
                Ok(Event::Phase(phase)) => progress.begin(py, phase),
                Ok(Event::Warning(text)) => warn(py, text),
                Err(RecvTimeoutError::Timeout) => py.check_signals(),
                Err(RecvTimeoutError::Disconnected) => {
                    Err(PyRuntimeError::new_err("internal error: no result"))
                }
            };
            if let Err(error) = handled {
                cancellation.cancel();
                break Err(error);
            }
        };
        progress.end(py);
        result
    }
}

fn finished<T>(result: Result<Result<T, Fault>, Box<dyn Any + Send>>) -> PyResult<T> {
    match result {
        Ok(result) => Ok(result?),
        Err(payload) => Err(panicked(&*payload)),
    }
}

fn warn(py: Python<'_>, text: String) -> PyResult<()> {
    let text = CString::new(text.replace('\0', " "))?;
    PyErr::warn(py, &py.get_type::<InsecureSetupWarning>(), &text, 1)
}
