//! Functions of Python that Rust calls from another thread.

use pyo3::prelude::*;
use std::{
    error::Error,
    sync::{Mutex, PoisonError},
};

/// A function, and the exception that it has raised.
pub(crate) struct Callback {
    function: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

impl Callback {
    pub(crate) fn new(function: Py<PyAny>) -> Self {
        Self { function, raised: Mutex::default() }
    }

    /// Runs `body` with the function. An exception is kept for [`end`](Self::end); its text is the error.
    pub(crate) fn call<T>(
        &self,
        body: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, Box<dyn Error + Send + Sync>> {
        Python::attach(|py| body(self.function.bind(py))).map_err(|error| {
            let text = error.to_string();
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            text.into()
        })
    }

    /// The result of a job, or the exception that ended it.
    pub(crate) fn end<T>(&self, result: PyResult<T>) -> PyResult<T> {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(result, Err)
    }
}
