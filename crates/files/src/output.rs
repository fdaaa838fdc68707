//! Output to a file, a pipe or memory.

use crate::{
    FileError, FileName, OutputFile,
    output_file::{is_stream, open_stream},
};
use std::{
    fs::File,
    io::{self, BufWriter, Cursor, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// The size of the write buffer in bytes.
const BUFFER: usize = 1 << 20;

/// The destination of a binary file.
#[derive(Debug)]
pub enum Target<'a> {
    /// A file, which appears under its name only when it is complete. A pipe or a device is written to when the content is complete.
    File(&'a Path),
    /// Memory: the vector is replaced only when the content is complete.
    Memory(&'a mut Vec<u8>),
}

impl<'a> From<&'a Path> for Target<'a> {
    fn from(path: &'a Path) -> Self {
        Self::File(path)
    }
}

impl<'a> From<&'a PathBuf> for Target<'a> {
    fn from(path: &'a PathBuf) -> Self {
        Self::File(path)
    }
}

impl<'a> From<&'a mut Vec<u8>> for Target<'a> {
    fn from(bytes: &'a mut Vec<u8>) -> Self {
        Self::Memory(bytes)
    }
}

/// A [`Target`] that is being written to, from its beginning to its end. Written bytes can be changed and read again. If dropped before
/// [`Self::finish`], no output is left.
#[derive(Debug)]
pub struct Output<'a> {
    name: FileName,
    sink: Sink<'a>,
}

#[derive(Debug)]
enum Sink<'a> {
    File(BufWriter<OutputFile>),
    /// A pipe or a device. The content is written to it when it is complete, because lengths are patched before.
    Stream {
        written: Cursor<Vec<u8>>,
        stream: File,
    },
    Memory {
        written: Cursor<Vec<u8>>,
        target: &'a mut Vec<u8>,
    },
}

impl<'a> Output<'a> {
    /// Begins an output.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn create(target: impl Into<Target<'a>>) -> Result<Self, FileError> {
        let target = target.into();
        let name = target.name();
        match Sink::create(target) {
            Ok(sink) => Ok(Self { name, sink }),
            Err(source) => Err(FileError::new(&name, source)),
        }
    }

    /// Begins a file, a pipe or a device.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn file(path: &Path) -> Result<Output<'static>, FileError> {
        // Only memory is borrowed for as long as it is written to.
        match Sink::file(path) {
            Ok(sink) => Ok(Output { name: FileName::new(path), sink }),
            Err(source) => Err(FileError::at(path, source)),
        }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.write_all(bytes).map_err(|source| self.failed(source))
    }

    /// Completes the output: a file gets its name.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn finish(self) -> Result<(), FileError> {
        self.sink.finish().map_err(|source| FileError::new(&self.name, source))
    }

    /// The name in messages.
    pub fn name(&self) -> &FileName {
        &self.name
    }

    /// An error of this output.
    pub fn failed(&self, source: io::Error) -> FileError {
        FileError::new(&self.name, source)
    }
}

impl Sink<'static> {
    fn file(path: &Path) -> io::Result<Self> {
        if is_stream(path) {
            return Ok(Self::Stream { written: Cursor::default(), stream: open_stream(path)? });
        }
        Ok(Self::File(BufWriter::with_capacity(BUFFER, OutputFile::create(path)?)))
    }
}

impl<'a> Sink<'a> {
    fn create(target: Target<'a>) -> io::Result<Self> {
        match target {
            Target::File(path) => Sink::file(path),
            Target::Memory(target) => Ok(Self::Memory { written: Cursor::default(), target }),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            // The buffer is flushed before the file gets its name.
            Self::File(output) => output.into_inner().map_err(io::IntoInnerError::into_error)?.finish(),
            Self::Stream { written, mut stream } => stream.write_all(written.get_ref()),
            Self::Memory { written, target } => {
                *target = written.into_inner();
                Ok(())
            }
        }
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::File(output) => output.write(bytes),
            Sink::Stream { written, .. } | Sink::Memory { written, .. } => written.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::File(output) => output.flush(),
            Sink::Stream { .. } | Sink::Memory { .. } => Ok(()),
        }
    }
}

/// Reads bytes that were written, after a seek to them.
impl Read for Output<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::File(output) => output.get_mut().read(bytes),
            Sink::Stream { written, .. } | Sink::Memory { written, .. } => written.read(bytes),
        }
    }
}

impl Seek for Output<'_> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        match &mut self.sink {
            Sink::File(output) => output.seek(position),
            Sink::Stream { written, .. } | Sink::Memory { written, .. } => written.seek(position),
        }
    }
}

impl Target<'_> {
    /// The name in messages.
    fn name(&self) -> FileName {
        FileName::new(match self {
            Self::File(path) => path,
            Self::Memory(_) => Path::new("memory"),
        })
    }
}
