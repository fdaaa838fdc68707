//! JSON that is written while it is made, for exports larger than memory. Lines and indentation are those of snarkjs's
//! `bfj.write` with a space of 1; an empty list or object is a line of its own.

use crate::{decode::Coordinate, error::CircomError};
use proofmill_curve::{Affine, Curve};
use proofmill_field::Field;
use proofmill_files::Output;
use std::{fmt::Display, io::Write, path::Path};

/// A document that is being written; to a pipe or a device when it is complete. Values and the content of containers are written in the order of the calls.
pub(crate) struct JsonStream {
    out: Output<'static>,
    /// The brackets that close the open containers.
    open: Vec<char>,
    /// Whether the innermost container has no content yet.
    is_empty: bool,
    /// Whether a key has been written, but not its value.
    after_key: bool,
}

impl JsonStream {
    /// Begins a file.
    pub(crate) fn create(path: &Path) -> Result<Self, CircomError> {
        Ok(Self {
            out: Output::file(path).map_err(CircomError::Io)?,
            open: Vec::new(),
            is_empty: true,
            after_key: false,
        })
    }

    /// Writes an object; `content` writes keys and values.
    pub(crate) fn object(
        &mut self,
        content: impl FnOnce(&mut Self) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        self.container('{', '}', content)
    }

    /// Writes a list; `content` writes its values.
    pub(crate) fn list(
        &mut self,
        content: impl FnOnce(&mut Self) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        self.container('[', ']', content)
    }

    /// Writes a key, which needs no escapes; its value is next.
    pub(crate) fn key(&mut self, key: impl Display) -> Result<&mut Self, CircomError> {
        self.begin()?;
        self.write(format_args!("\"{key}\": "))?;
        self.after_key = true;
        Ok(self)
    }

    /// Writes a number, `true`, `false` or `null`.
    pub(crate) fn bare(&mut self, value: impl Display) -> Result<(), CircomError> {
        self.begin()?;
        self.write(format_args!("{value}"))
    }

    /// Writes a string, which needs no escapes.
    pub(crate) fn string(&mut self, value: impl Display) -> Result<(), CircomError> {
        self.begin()?;
        self.write(format_args!("\"{value}\""))
    }

    /// Writes a list of strings.
    pub(crate) fn strings(&mut self, values: &[String]) -> Result<(), CircomError> {
        self.list(|out| values.iter().try_for_each(|value| out.string(value)))
    }

    /// Gives the file its name.
    pub(crate) fn finish(self) -> Result<(), CircomError> {
        debug_assert!(self.open.is_empty(), "every container is closed");
        self.out.finish().map_err(CircomError::Io)
    }

    fn container(
        &mut self,
        begin: char,
        end: char,
        content: impl FnOnce(&mut Self) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        self.begin()?;
        self.write(format_args!("{begin}"))?;
        self.open.push(end);
        self.is_empty = true;
        content(self)?;
        self.open.pop();
        self.is_empty = false;
        self.new_line()?;
        self.write(format_args!("{end}"))
    }

    /// Separates the next value or key from what precedes it.
    fn begin(&mut self) -> Result<(), CircomError> {
        if std::mem::take(&mut self.after_key) || self.open.is_empty() {
            return Ok(());
        }
        if !std::mem::replace(&mut self.is_empty, false) {
            self.write(format_args!(","))?;
        }
        self.new_line()
    }

    fn new_line(&mut self) -> Result<(), CircomError> {
        let depth = self.open.len();
        self.write(format_args!("\n{:depth$}", ""))
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) -> Result<(), CircomError> {
        self.out.write_fmt(text).map_err(|source| CircomError::Io(self.out.failed(source)))
    }
}

/// A point as JSON: the coordinates x, y, z.
pub(crate) trait JsonPoint {
    fn write(&self, out: &mut JsonStream) -> Result<(), CircomError>;
}

impl<C: Curve<Base: Coordinate>> JsonPoint for Affine<C> {
    fn write(&self, out: &mut JsonStream) -> Result<(), CircomError> {
        let (zero, one) = (C::Base::ZERO, C::Base::ONE);
        let coordinates = if self.is_infinity() { [zero, one, zero] } else { [self.x, self.y, one] };
        let coordinates = coordinates.map(|coordinate| coordinate.to_decimal());
        if C::Base::DEGREE == 1 {
            return out.strings(&coordinates.concat());
        }
        out.list(|out| coordinates.iter().try_for_each(|coefficients| out.strings(coefficients)))
    }
}
