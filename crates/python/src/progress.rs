//! The argument `progress`: nothing, a callback, or a bar.

use pyo3::{exceptions::PyTypeError, prelude::*, types::PyBool};

/// Receives the phases of a job on the thread that called it.
pub(crate) enum Progress<'py> {
    /// Nothing is shown.
    None,
    /// A function that is called with the name of each phase.
    Call(Bound<'py, PyAny>),
    /// A bar of tqdm.
    Bar(Bound<'py, PyAny>),
    /// Lines on standard error, without tqdm.
    Lines,
}

impl<'py> Progress<'py> {
    pub(crate) fn new(py: Python<'py>, argument: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        let Some(argument) = argument else { return Ok(Self::None) };
        if let Ok(shown) = argument.cast::<PyBool>() {
            return Ok(if shown.is_true() { Self::shown(py) } else { Self::None });
        }
        if argument.is_callable() {
            return Ok(Self::Call(argument.clone()));
        }
        let found = argument.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "progress: expected None, True or a function of a phase's name, found {found}"
        )))
    }

    fn shown(py: Python<'py>) -> Self {
        match py.import("tqdm").and_then(|tqdm| tqdm.getattr("tqdm")?.call0()) {
            Ok(bar) => Self::Bar(bar),
            Err(_) => Self::Lines,
        }
    }

    /// A phase begins.
    pub(crate) fn begin(&mut self, py: Python<'py>, phase: &str) -> PyResult<()> {
        match self {
            Self::None => Ok(()),
            Self::Call(function) => function.call1((phase,)).map(drop),
            Self::Bar(bar) => {
                bar.call_method1("set_description_str", (phase,))?;
                bar.call_method1("update", (1,)).map(drop)
            }
            Self::Lines => {
                let error = py.import("sys")?.getattr("stderr")?;
                error.call_method1("write", (format!("{phase}\n"),)).map(drop)
            }
        }
    }

    /// The job has ended.
    pub(crate) fn end(self, py: Python<'py>) {
        if let Self::Bar(bar) = self
            && let Err(error) = bar.call_method0("close")
        {
            // The job's result is worth more than its bar.
            error.write_unraisable(py, Some(&bar));
        }
    }
}
