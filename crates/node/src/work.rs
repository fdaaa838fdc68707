//! Runs work away from Node's threads, and settles promises.

use napi::{
    Env,
    bindgen_prelude::{Object, Uint8Array},
};
use napi_derive::napi;
use proofmill::{Error, Level, Machine, Result};
use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, LazyLock, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

/// The number of jobs that run at a time; others wait. Each job uses all cores, so more jobs at a time would take more memory, not
/// less time. Node's own pool, which is as large, would keep files and names of hosts waiting behind proofs.
const AT_ONCE: usize = 4;

/// The options of a call.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct Settings {
    /// The number of threads; one per core without it.
    pub threads: Option<u32>,
    /// The name of the level of CPU features; the best without it.
    pub level: Option<String>,
    /// Whether keys are permitted for which anyone can forge proofs.
    pub allow_insecure_setup: bool,
}

/// The value that a promise resolves to. JavaScript throws the error, so that the stack is that of the caller.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct Outcome {
    /// Results that are texts, mostly JSON.
    pub texts: Vec<String>,
    /// The content of a file that was not written to a path.
    pub file: Option<Uint8Array>,
    /// The hash of a circuit or a contribution.
    pub hash: Option<Uint8Array>,
    /// The error's message.
    pub error: Option<String>,
    /// The error's kind.
    pub kind: Option<String>,
    /// The system's number of an error.
    pub errno: Option<i32>,
    /// Uses of insecure keys.
    pub warnings: Vec<String>,
    /// The lines that a circuit printed by `log()`.
    pub lines: Vec<String>,
}

impl Outcome {
    pub(crate) fn texts(texts: impl Into<Vec<String>>) -> Self {
        Self { texts: texts.into(), ..Self::default() }
    }

    pub(crate) fn failed(kind: &str, error: String) -> Self {
        Self { error: Some(error), kind: Some(kind.to_owned()), ..Self::default() }
    }

    /// The kind is that of the library, by its name.
    fn of_error(error: &Error) -> Self {
        let errno = error.io_error().and_then(io::Error::raw_os_error);
        Self { errno, ..Self::failed(&format!("{:?}", error.kind()), error.to_string()) }
    }

    /// The outcome of a panic, which is a bug of the library.
    fn of_panic(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Self::failed("Internal", format!("internal error, please report it: {text}"))
    }
}

/// Lines that are shown when the work is done.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    pub(crate) fn push(&self, line: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Settings {
    /// The machine of these options; `None` for the defaults. Also what is wrong with an option.
    fn machine(self, warnings: &Lines) -> std::result::Result<Option<Machine>, Box<Outcome>> {
        let Self { threads, level, allow_insecure_setup } = self;
        if threads.is_none() && level.is_none() && !allow_insecure_setup {
            return Ok(None);
        }
        let mut builder = Machine::builder().threads(threads.unwrap_or_default() as usize);
        if let Some(level) = level {
            let wrong = |error| Box::new(Outcome::failed("Argument", format!("options.level: {error}")));
            builder = builder.level(level.parse::<Level>().map_err(wrong)?);
        }
        if allow_insecure_setup {
            let warnings = warnings.clone();
            builder = builder.allow_insecure_setup(move |warning| warnings.push(warning));
        }
        builder.build().map(Some).map_err(|error| Box::new(Outcome::of_error(&error)))
    }
}

/// Does the work, with the lines that it prints.
fn run(settings: Settings, work: impl FnOnce(&Lines) -> Result<Outcome> + Send) -> Outcome {
    let (warnings, lines) = (Lines::default(), Lines::default());
    let attempt = || {
        let done = match settings.machine(&warnings) {
            Ok(Some(machine)) => machine.run(|| work(&lines)),
            Ok(None) => work(&lines),
            Err(outcome) => return *outcome,
        };
        done.unwrap_or_else(|error| Outcome::of_error(&error))
    };
    let outcome = catch_unwind(AssertUnwindSafe(attempt));
    let outcome = outcome.unwrap_or_else(|payload| Outcome::of_panic(&*payload));
    let warnings = [warnings.take(), outcome.warnings].concat();
    Outcome { warnings, lines: lines.take(), ..outcome }
}

/// Returns a promise of what the work returns. Node's process does not exit before it is settled.
pub(crate) fn start<'env>(
    env: &'env Env,
    settings: Settings,
    work: impl FnOnce(&Lines) -> Result<Outcome> + Send + 'static,
) -> napi::Result<Object<'env>> {
    let (deferred, promise) = env.create_deferred()?;
    let job = move || {
        let outcome = run(settings, work);
        deferred.resolve(move |_| Ok(outcome));
    };
    match &*QUEUE {
        Some(queue) if queue.send(Box::new(job)).is_ok() => Ok(promise),
        _ => Err(napi::Error::from_reason("the operating system provides no threads")),
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// The work; `None` if there is no thread for it.
static QUEUE: LazyLock<Option<Sender<Job>>> = LazyLock::new(|| {
    let (queue, jobs) = channel();
    let jobs = Arc::new(Mutex::new(jobs));
    let threads = (0..AT_ONCE).map_while(|_| {
        let jobs = jobs.clone();
        thread::Builder::new().name("proofmill".to_owned()).spawn(move || work_off(&jobs)).ok()
    });
    (threads.count() > 0).then_some(queue)
});

fn work_off(jobs: &Mutex<Receiver<Job>>) {
    // In a statement of its own, so that nothing is locked while the job runs.
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(job) = next() {
        job();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_text() {
        let outcome = run(Settings::default(), |lines| {
            lines.push("printed before");
            panic!("on purpose")
        });
        assert_eq!(outcome.error.as_deref(), Some("internal error, please report it: on purpose"));
        assert_eq!(
            (outcome.kind.as_deref(), outcome.lines),
            (Some("Internal"), vec!["printed before".to_owned()])
        );
    }

    #[test]
    fn a_panic_on_a_machine_is_one_too() {
        let settings = Settings { threads: Some(2), ..Settings::default() };
        let outcome = run(settings, |_| panic!("number {}", 1));
        assert_eq!(outcome.error.as_deref(), Some("internal error, please report it: number 1"));
    }
}
