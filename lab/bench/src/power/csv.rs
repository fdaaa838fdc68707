//! A power meter's file, which grows while it is read.

use super::timeline::Timeline;
use crate::BenchError;
use jiff::Timestamp;
use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

/// The most bytes that one look at the file reads.
const AT_ONCE: u64 = 64 << 20;

/// The file and the readings so far.
#[derive(Debug)]
pub(super) struct Csv {
    path: PathBuf,
    /// Offset of the first line that was incomplete at the last look.
    read: u64,
    lines: usize,
    readings: Timeline,
}

impl Csv {
    /// Reads the existing lines. A file without readings is allowed: the meter may have just started.
    pub(super) fn open(path: &Path) -> Result<Self, BenchError> {
        let mut csv = Self { path: path.to_owned(), read: 0, lines: 0, readings: Timeline::default() };
        csv.read_on()?;
        Ok(csv)
    }

    pub(super) fn readings(&self) -> &Timeline {
        &self.readings
    }

    /// Reads the complete lines that were added since the last look.
    pub(super) fn read_on(&mut self) -> Result<(), BenchError> {
        let unreadable = |source| BenchError::Io { path: self.path.clone(), source };
        let mut bytes = Vec::new();
        let mut file = File::open(&self.path).map_err(unreadable)?;
        file.seek(SeekFrom::Start(self.read)).map_err(unreadable)?;
        file.take(AT_ONCE).read_to_end(&mut bytes).map_err(unreadable)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let text = std::str::from_utf8(&bytes[..whole])
            .map_err(|_| self.malformed("expected text, found other bytes"))?;
        for line in text.lines() {
            self.lines += 1;
            self.take(line)?;
        }
        self.read += whole as u64;
        Ok(())
    }

    fn take(&mut self, line: &str) -> Result<(), BenchError> {
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let mut fields = line.split(',').map(|field| field.trim().trim_matches('"'));
        let (time, watts) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        match (moment(time), watts.parse::<f64>()) {
            (Some(time), Ok(watts)) if watts.is_finite() && watts >= 0.0 => {
                self.readings.push(time, watts);
                Ok(())
            }
            (None, Err(_)) if self.readings.is_empty() && self.lines == 1 => Ok(()),
            (None, _) => {
                Err(self
                    .malformed(&format!("expected a time, RFC 3339 or seconds since 1970, found {time:?}")))
            }
            _ => Err(self.malformed(&format!("expected watts, found {watts:?}"))),
        }
    }

    fn malformed(&self, problem: &str) -> BenchError {
        BenchError::Malformed { path: self.path.clone(), problem: format!("line {}: {problem}", self.lines) }
    }
}

/// Seconds since 1970.
pub(super) fn seconds(time: Timestamp) -> f64 {
    time.as_duration().as_secs_f64()
}

fn moment(text: &str) -> Option<f64> {
    match text.parse::<f64>() {
        Ok(seconds) => seconds.is_finite().then_some(seconds),
        Err(_) => text.parse().ok().map(seconds),
    }
}
