//! The settings of operations: level, threads, memory mode, and observer of progress.

use crate::Error;
use proofmill_cpu::Level;
use proofmill_files::FileName;
use proofmill_run::{ErrorKind, Memory, Progress, Run};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{
    cell::OnceCell,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::PathBuf,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// The settings of operations: a level of CPU features, threads, a memory mode, and an observer of progress.
///
/// A machine is optional. Without one, an operation uses the best level of the CPU and rayon's current thread pool (by default
/// the global one, with one thread per core), and reports no progress.
///
/// A machine works like a rayon thread pool: [`run`](Self::run) executes a closure on the machine's own threads, and every
/// function of this crate that is called there, directly or in rayon's tasks, uses that machine. Runs can be nested: the inner
/// machine applies until the inner run ends or panics, then the outer one again. Threads that the program itself starts inside
/// a run do not belong to the machine; on them, call `run` of a clone.
///
/// Clones are handles to one machine. Its threads end when the last of them is dropped.
///
/// ```
/// use proofmill::{Level, Machine, Memory, hash};
///
/// # fn main() -> proofmill::Result<()> {
/// let machine = Machine::builder()
///     .level(Level::available()[0]) // the slowest, for instance
///     .threads(2)
///     .memory(Memory::Low)
///     .on_progress(|phase| eprintln!("{phase}"))
///     .build()?;
/// let digest = machine.run(|| hash::sha256(b"message"));
/// assert_eq!(digest, hash::sha256(b"message"), "no level or thread count changes a result");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Machine {
    settings: Arc<MachineSettings>,
    pool: Arc<ThreadPool>,
}

/// Configures a [`Machine`]; see [`Machine::builder`].
#[derive(Default)]
pub struct MachineBuilder {
    level: Option<Level>,
    threads: usize,
    memory: Option<Memory>,
    scratch: Option<PathBuf>,
    observer: Option<Observer>,
    share_observer: Option<ShareObserver>,
    insecure_setup: Option<Warning>,
    cancellation: Option<Cancellation>,
}

/// Ends the work of a machine early, from any thread; clones are handles to the same.
///
/// ```
/// use proofmill::{Cancellation, Error, Machine, circom::Witness, groth16::ProvingKey};
///
/// # fn main() -> proofmill::Result<()> {
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
/// # std::env::set_current_dir(folder).expect("the example");
/// let cancellation = Cancellation::default();
/// let machine = Machine::builder().cancellation(&cancellation).build()?;
/// cancellation.cancel();
/// let proof = machine.try_run(|| ProvingKey::open("groth16.zkey")?.prove(&Witness::open("witness.wtns")?));
/// assert!(matches!(proof, Err(Error::Cancelled(_))));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Ends the work at the beginning of its next phase, or within long ones.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work was ended.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Unwinds the work up to [`Machine::try_run`], without the message of a panic, if it was ended.
    fn check(&self) {
        if self.is_cancelled() {
            resume_unwind(Box::new(Cancelled));
        }
    }
}

/// The payload of the panic that unwinds cancelled work.
struct Cancelled;

type Observer = Box<dyn Fn(&'static str) + Send + Sync>;
type ShareObserver = Box<dyn Fn(f64) + Send + Sync>;
type Warning = Box<dyn Fn(&str) + Send + Sync>;

/// The settings that the threads of a machine share.
pub(crate) struct MachineSettings {
    pub(crate) level: Level,
    /// The requested mode; the default depends on the prover.
    pub(crate) memory: Option<Memory>,
    pub(crate) scratch: Option<PathBuf>,
    observer: Option<Observer>,
    share_observer: Option<ShareObserver>,
    /// Receives a warning for each use of a key whose setup is insecure; without it, such keys are refused.
    insecure_setup: Option<Warning>,
}

impl MachineSettings {
    /// The settings of operations.
    pub(crate) fn run(&self) -> Run<'_> {
        let Self { level, memory, .. } = *self;
        Run { level, memory, scratch: self.scratch.as_deref(), progress: self.progress() }
    }

    pub(crate) fn progress(&self) -> Progress<'_> {
        let progress = self.observer.as_ref().map_or(Progress::NONE, |observer| Progress::new(observer));
        match &self.share_observer {
            Some(observer) => progress.with_shares(observer),
            None => progress,
        }
    }

    /// Refuses the key of this name, for which anyone can forge proofs for the reason given, or warns of it.
    pub(crate) fn check_setup(&self, name: Option<&FileName>, insecurity: Option<&str>) -> Result<(), Error> {
        let Some(reason) = insecurity else { return Ok(()) };
        let error = Error::new(
            ErrorKind::InsecureSetup,
            name,
            format!("anyone can forge proofs for this key: {reason}"),
        );
        let Some(warn) = &self.insecure_setup else { return Err(error) };
        warn(&error.to_string());
        Ok(())
    }
}

thread_local! {
    /// The machine of this thread; set once, before the thread runs any work.
    static OWN: OnceCell<Arc<MachineSettings>> = const { OnceCell::new() };
}

/// The settings of the calling thread's machine, or the defaults.
pub(crate) fn current() -> Arc<MachineSettings> {
    static DEFAULT: LazyLock<Arc<MachineSettings>> = LazyLock::new(|| {
        Arc::new(MachineSettings {
            level: Level::best(),
            memory: None,
            scratch: None,
            observer: None,
            share_observer: None,
            insecure_setup: None,
        })
    });
    OWN.with(|own| own.get().unwrap_or_else(|| &*DEFAULT).clone())
}

impl Machine {
    /// A builder with the defaults: the best level, one thread per core, [`Memory::default`] and no observer of progress.
    pub fn builder() -> MachineBuilder {
        MachineBuilder::default()
    }

    /// Runs `work` on the machine's threads and returns its result. Panics in `work` are propagated.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let (mut work, mut result) = (Some(work), None);
        self.install(&mut || result = work.take().map(|work| work()));
        result.expect("the pool runs the work")
    }

    /// [`Self::run`] for work that a [`Cancellation`] may end.
    ///
    /// # Errors
    /// Those of `work`, and [`Error::Cancelled`].
    pub fn try_run<T: Send, E: From<Error> + Send>(
        &self,
        work: impl FnOnce() -> Result<T, E> + Send,
    ) -> Result<T, E> {
        // What was being made is dropped by unwinding, as by an error.
        match catch_unwind(AssertUnwindSafe(|| self.run(work))) {
            Ok(result) => result,
            Err(payload) if payload.is::<Cancelled>() => {
                Err(Error::new(ErrorKind::Cancelled, None, "the work was cancelled").into())
            }
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Not generic, so that the call into the pool is compiled once.
    fn install(&self, work: &mut (dyn FnMut() + Send)) {
        self.pool.install(work);
    }

    /// The level.
    pub fn level(&self) -> Level {
        self.settings.level
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("level", &self.level().name())
            .field("threads", &self.threads())
            .field("memory", &self.settings.memory)
            .field("scratch", &self.settings.scratch)
            .finish_non_exhaustive()
    }
}

impl MachineBuilder {
    /// The CPU features to use: one of [`Level::available`], or a name parsed as one.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    /// The number of threads; 0 means one per core.
    #[must_use]
    pub fn threads(mut self, count: usize) -> Self {
        self.threads = count;
        self
    }

    /// The memory mode: the parts of a PLONK proving key ([`Memory::Balanced`] by default) or of a STARK's extended trace
    /// ([`Memory::Fast`] by default) that are kept in memory. Less memory costs time.
    #[must_use]
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = Some(memory);
        self
    }

    /// A folder for temporary files. They hold PLONK's long vectors instead of memory, and a STARK's trace with [`Memory::Low`].
    /// Without this folder, the trace is in the system's folder for temporary files. They have no names and are freed after use.
    #[must_use]
    pub fn scratch(mut self, folder: impl Into<PathBuf>) -> Self {
        self.scratch = Some(folder.into());
        self
    }

    /// A function that receives the name of each phase of a long operation as it begins, on one of the machine's threads.
    #[must_use]
    pub fn on_progress(mut self, observer: impl Fn(&'static str) + Send + Sync + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// A function that receives the share of the current phase that is done, from 0 to 1. Only phases that may take very long report it:
    /// those of ceremonies.
    #[must_use]
    pub fn on_share(mut self, observer: impl Fn(f64) + Send + Sync + 'static) -> Self {
        self.share_observer = Some(Box::new(observer));
        self
    }

    /// A token that may end the work early: call [`Machine::try_run`], because [`Machine::run`] then unwinds.
    #[must_use]
    pub fn cancellation(mut self, cancellation: &Cancellation) -> Self {
        self.cancellation = Some(cancellation.clone());
        self
    }

    /// Permits keys for which anyone can forge proofs, such as those that a test has just set up without a ceremony. `warn`
    /// receives a line for each proof, verification and export with such a key. Without this, they fail with
    /// [`Error::InsecureSetup`].
    #[must_use]
    pub fn allow_insecure_setup(mut self, warn: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.insecure_setup = Some(Box::new(warn));
        self
    }

    /// Starts the machine's threads.
    ///
    /// # Errors
    /// [`Error::System`] if the operating system cannot start that many.
    pub fn build(self) -> Result<Machine, Error> {
        let Self {
            level,
            threads,
            memory,
            scratch,
            mut observer,
            mut share_observer,
            insecure_setup,
            cancellation,
        } = self;
        if let Some(cancellation) = cancellation {
            let (told, shared, at_a_share) = (observer.take(), share_observer.take(), cancellation.clone());
            observer = Some(Box::new(move |phase| {
                cancellation.check();
                told.as_ref().inspect(|told| told(phase));
            }));
            share_observer = Some(Box::new(move |share| {
                at_a_share.check();
                shared.as_ref().inspect(|shared| shared(share));
            }));
        }
        let level = level.unwrap_or_else(Level::best);
        let settings =
            Arc::new(MachineSettings { level, memory, scratch, observer, share_observer, insecure_setup });
        let of_threads = settings.clone();
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("proofmill-{index}"))
            .start_handler(move |_| OWN.with(|own| drop(own.set(of_threads.clone()))))
            .build();
        let pool = pool.map_err(|error| Error::new(ErrorKind::System, None, error))?;
        Ok(Machine { settings, pool: Arc::new(pool) })
    }
}

impl fmt::Debug for MachineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MachineBuilder")
            .field("level", &self.level.map(Level::name))
            .field("threads", &self.threads)
            .field("memory", &self.memory)
            .field("scratch", &self.scratch)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::sync::Mutex;

    fn machine(level: Level, threads: usize) -> Machine {
        Machine::builder().level(level).threads(threads).build().expect("threads")
    }

    fn level() -> &'static str {
        current().level.name()
    }

    #[test]
    fn cancelled_work_ends_at_its_next_phase_and_the_machine_goes_on() {
        let cancellation = Cancellation::default();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let told = seen.clone();
        let machine = Machine::builder().threads(2).cancellation(&cancellation);
        let machine = machine
            .on_progress(move |phase| told.lock().expect("a list").push(phase))
            .build()
            .expect("threads");
        let work = || {
            let settings = current();
            settings.progress().begin("first");
            cancellation.cancel();
            settings.progress().begin("second");
            Ok::<_, Error>(())
        };
        let ended = machine.try_run(work);
        assert!(
            matches!(&ended, Err(error @ Error::Cancelled(_)) if error.to_string() == "the work was cancelled")
        );
        assert_eq!(*seen.lock().expect("a list"), ["first"]);
        assert_eq!(machine.try_run(|| Ok::<_, Error>(7)).expect("seven"), 7);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            machine.try_run(|| -> Result<(), Error> { panic!("on purpose") })
        }));
        assert!(panicked.is_err_and(|payload| !payload.is::<Cancelled>()));
    }

    #[test]
    fn tasks_of_a_run_have_its_machine() {
        let machine = machine(Level::available()[0], 3);
        let levels: Vec<_> = machine.run(|| (0..100).into_par_iter().map(|_| level()).collect());
        assert!(levels.iter().all(|level| *level == "portable"));
        assert_eq!(machine.run(rayon::current_num_threads), 3);
        assert_eq!(level(), Level::best().name());
    }

    #[test]
    fn nested_runs_and_panics_restore_the_machine() {
        let (outer, inner) = (machine(Level::available()[0], 1), machine(Level::best(), 2));
        outer.run(|| {
            assert_eq!((level(), rayon::current_num_threads()), ("portable", 1));
            inner.run(|| {
                assert_eq!((level(), rayon::current_num_threads()), (Level::best().name(), 2));
                outer.run(|| assert_eq!(level(), "portable"));
            });
            assert_eq!((level(), rayon::current_num_threads()), ("portable", 1));
            let panicked = catch_unwind(AssertUnwindSafe(|| inner.run(|| panic!("on purpose"))));
            assert!(panicked.is_err());
            assert_eq!(level(), "portable");
        });
        assert_eq!(outer.run(level), "portable", "also after a panic");
    }

    #[test]
    fn progress_reaches_the_machine_of_the_run() {
        let phases = Arc::new(Mutex::new(Vec::new()));
        let told = phases.clone();
        let machine = Machine::builder().on_progress(move |phase| told.lock().expect("phases").push(phase));
        let machine = machine.threads(1).build().expect("threads");
        current().progress().begin("outside");
        machine.run(|| current().progress().begin("inside"));
        assert_eq!(*phases.lock().expect("phases"), ["inside"]);
    }

    #[test]
    fn threads_end_with_the_last_handle() {
        let settings = {
            let machine = machine(Level::best(), 2);
            let clone = machine.clone();
            drop(machine);
            clone.run(|| ());
            Arc::downgrade(&clone.settings)
        };
        // The threads end some time after the pool is dropped.
        for _ in 0..1000 {
            if settings.strong_count() == 0 {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("threads keep the machine");
    }
}
