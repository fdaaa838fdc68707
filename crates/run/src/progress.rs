//! Progress reports of long operations.
//!
//! ```
//! use proofmill_run::Progress;
//! use std::cell::RefCell;
//!
//! fn work(progress: Progress<'_>) {
//!     progress.begin("read");
//!     progress.begin("compute");
//! }
//!
//! let phases = RefCell::new(Vec::new());
//! work(Progress::new(&|phase| phases.borrow_mut().push(phase)));
//! assert_eq!(phases.into_inner(), ["read", "compute"]);
//!
//! let shares = RefCell::new(Vec::new());
//! Progress::NONE.with_shares(&|share| shares.borrow_mut().push(share)).share(1, 4);
//! assert_eq!(shares.into_inner(), [0.25]);
//! work(Progress::NONE);
//! ```
#![forbid(unsafe_code)]

use std::fmt;

/// Receives the name of each phase of an operation when it begins. A part of [`Run`](crate::Run).
///
/// Names and number of phases depend on the operation and may change between versions; they are meant to be shown, not parsed.
#[derive(Clone, Copy, Default)]
pub struct Progress<'a> {
    phase: Option<&'a dyn Fn(&'static str)>,
    share: Option<&'a dyn Fn(f64)>,
}

impl<'a> Progress<'a> {
    /// Discards all reports.
    pub const NONE: Self = Self { phase: None, share: None };

    /// Reports to `observer`, on the thread that called the operation.
    pub fn new(observer: &'a dyn Fn(&'static str)) -> Self {
        Self { phase: Some(observer), share: None }
    }

    /// Also reports to `observer` the share of the current phase that is done, from 0 to 1. Long phases report it from time to time.
    #[must_use]
    pub fn with_shares(self, observer: &'a dyn Fn(f64)) -> Self {
        Self { share: Some(observer), ..self }
    }

    /// Reports that a phase begins.
    pub fn begin(self, phase: &'static str) {
        if let Some(observer) = self.phase {
            observer(phase);
        }
    }

    /// Reports that `done` of `all` steps of the current phase are done. Steps take equal work.
    pub fn share(self, done: u64, all: u64) {
        if let Some(observer) = self.share {
            observer(done as f64 / all.max(1) as f64);
        }
    }
}

impl fmt::Debug for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.phase.is_some() { "Progress" } else { "Progress::NONE" })
    }
}
