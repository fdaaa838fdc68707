//! `.sym`: the names of a circuit's signals, as `circom --sym` writes them. A line `label,wire,component,name` for each signal; the wire is
//! -1 for a signal that the compiler has removed. Several signals can share a wire.

use crate::{binfile::Text, error::CircomError};
use std::path::Path;

/// The most bytes of a line; a name has at most some hundreds.
const LONGEST_LINE: usize = 1 << 16;

/// A line of a `.sym`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// The number by which circom 1's programs know the signal.
    pub label: u64,
    /// The wire; `None` for a signal that the compiler has removed.
    pub wire: Option<u32>,
    /// The number of its component for circom 1, and of its component's template, with these parameters, for circom 2.
    pub component: u64,
    /// The name, such as `main.hash.out[3]`.
    pub name: &'a str,
}

impl<'a> Symbol<'a> {
    /// The component's name: all but the last part.
    pub fn component_name(&self) -> &'a str {
        self.name.rsplit_once('.').map_or("", |(component, _)| component)
    }
}

/// The names of a circuit's wires. The file stays mapped.
#[derive(Debug)]
pub struct Symbols {
    text: Text,
    /// Each wire with a name, ascending, and where the name of its first signal begins.
    names: Vec<(u32, usize)>,
    signals: u64,
}

impl Symbols {
    /// Opens a file. Takes 16 bytes of memory for each signal, whose line has at least eight.
    ///
    /// # Errors
    /// [`CircomError::Io`], and [`CircomError::Symbols`] with the first line that is not one of a signal.
    pub fn open(path: &Path) -> Result<Self, CircomError> {
        Self::of_text(Text::open(path)?)
    }

    /// [`Self::open`] of a text in memory; `name` stands for it in messages.
    ///
    /// # Errors
    /// As [`Self::open`], without [`CircomError::Io`].
    pub fn parse(name: &str, text: Vec<u8>) -> Result<Self, CircomError> {
        Self::of_text(Text::from_bytes(name, text))
    }

    fn of_text(text: Text) -> Result<Self, CircomError> {
        let (mut names, mut signals, mut at) = (Vec::new(), 0, 0);
        let bytes = text.bytes();
        while let Some(line) = line(bytes, at) {
            signals += 1;
            let signal = signal(line).map_err(|problem| CircomError::Symbols {
                file: text.name().clone(),
                line: signals,
                problem,
            })?;
            if let Some(wire) = signal.wire {
                names.push((wire, at + line.len() - signal.name.len()));
            }
            at += line.len() + 1;
        }
        // The first signal of a wire is the one nearest to the main component.
        names.sort_by_key(|(wire, _)| *wire);
        names.dedup_by_key(|(wire, _)| *wire);
        Ok(Self { text, names, signals })
    }

    /// The name of a wire's first signal, such as `main.hash.out[3]`.
    pub fn name(&self, wire: u32) -> Option<&str> {
        let place = self.names.binary_search_by_key(&wire, |(wire, _)| *wire).ok()?;
        let (_, at) = self.names.get(place)?;
        str::from_utf8(line(self.text.bytes(), *at)?).ok()
    }

    /// All signals, in the order of the file.
    pub fn each(&self) -> impl Iterator<Item = Symbol<'_>> {
        let (bytes, mut at) = (self.text.bytes(), 0);
        std::iter::from_fn(move || {
            let line = line(bytes, at)?;
            at += line.len() + 1;
            // Checked when it was opened.
            signal(line).ok()
        })
    }

    /// The number of signals, with and without a wire.
    pub fn signals(&self) -> u64 {
        self.signals
    }

    /// The number of wires with a name.
    pub fn wires(&self) -> usize {
        self.names.len()
    }
}

/// The line that begins here, without its end; `None` at the end of the text.
fn line(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
    let nearest = rest.get(..LONGEST_LINE).unwrap_or(rest);
    let end = nearest.iter().position(|byte| *byte == b'\n').unwrap_or(nearest.len());
    rest.get(..end)
}

/// The signal of a line.
fn signal(line: &[u8]) -> Result<Symbol<'_>, String> {
    const EXPECTED: &str = "expected label,wire,component,name";
    if line.len() == LONGEST_LINE {
        return Err(format!("expected at most {LONGEST_LINE} bytes"));
    }
    let mut fields = line.splitn(4, |byte| *byte == b',');
    let mut number = || str::from_utf8(fields.next()?).ok()?.parse::<i64>().ok();
    let (Some(label), Some(wire), Some(component)) = (number(), number(), number()) else {
        return Err(EXPECTED.to_owned());
    };
    let (Ok(label), Ok(component)) = (label.try_into(), component.try_into()) else {
        return Err(EXPECTED.to_owned());
    };
    let name = fields.next().filter(|name| !name.is_empty() && name.iter().all(u8::is_ascii_graphic));
    let name = name
        .and_then(|name| str::from_utf8(name).ok())
        .ok_or_else(|| "expected a name of visible characters after the third comma".to_owned())?;
    let wire = match (u32::try_from(wire), wire) {
        (Ok(wire), _) => Some(wire),
        (_, -1) => None,
        _ => return Err(format!("expected a wire below 2^32 or -1, found {wire}")),
    };
    Ok(Symbol { label, wire, component, name })
}
