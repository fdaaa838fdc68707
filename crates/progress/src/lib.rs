//! Progress reports of long operations.
//!
//! ```
//! use proofmill_progress::Progress;
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
//! work(Progress::NONE);
//! ```
#![forbid(unsafe_code)]

use std::fmt;

/// Receives the name of each phase of an operation when it begins. The last argument of every long operation.
///
/// Names and number of phases depend on the operation and may change between versions; they are meant to be shown, not parsed.
#[derive(Clone, Copy, Default)]
pub struct Progress<'a>(Option<&'a dyn Fn(&'static str)>);

impl<'a> Progress<'a> {
    /// Discards all reports.
    pub const NONE: Self = Self(None);

    /// Reports to `observer`, on the thread that called the operation.
    pub fn new(observer: &'a dyn Fn(&'static str)) -> Self {
        Self(Some(observer))
    }

    /// Reports that a phase begins.
    pub fn begin(self, phase: &'static str) {
        if let Some(observer) = self.0 {
            observer(phase);
        }
    }
}

impl fmt::Debug for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Progress" } else { "Progress::NONE" })
    }
}
