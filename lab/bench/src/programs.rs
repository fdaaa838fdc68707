//! Provers as programs: an iteration is a whole process, which reads its files and writes its proof.

use crate::{
    BenchError,
    process::{self, command},
    sampler::{Sample, Sampled, digest},
};
use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

/// Time limit of a proof.
const PATIENCE: Duration = Duration::from_secs(3600);

/// A program, its arguments, and the file with its result.
pub struct TimedProgram {
    name: String,
    words: Vec<OsString>,
    result: PathBuf,
    peak_memory: Option<u64>,
}

impl TimedProgram {
    /// A program whose command is `words` and which writes the file `result` in each run. `name` is for
    /// errors.
    pub fn new(name: String, words: Vec<OsString>, result: &Path) -> Self {
        Self { name, words, result: result.to_owned(), peak_memory: None }
    }

    /// Runs once, which also brings its files into the page cache. Returns the digest of the result without
    /// white space.
    ///
    /// # Errors
    /// A program that cannot run or writes no result.
    pub fn answer(&mut self) -> Result<String, BenchError> {
        // All provers write the same file: it must not be the previous prover's.
        if let Err(error) = fs::remove_file(&self.result)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(self.failed(format!("removing {}: {error}", self.result.display())));
        }
        self.run(1)?;
        let mut result =
            fs::read(&self.result).map_err(|error| self.failed(format!("its result: {error}")))?;
        result.retain(|byte| !byte.is_ascii_whitespace());
        Ok(digest(&result))
    }

    fn failed(&self, problem: String) -> BenchError {
        BenchError::Workload { name: self.name.clone(), problem }
    }
}

impl Sampled for TimedProgram {
    fn run(&mut self, iterations: u64) -> Result<Sample, BenchError> {
        let mut sample = Sample::default();
        for _ in 0..iterations {
            let (program, arguments) = self
                .words
                .split_first()
                .ok_or_else(|| self.failed("expected a program, found none".to_owned()))?;
            let mut command = command(Path::new(program));
            command.args(arguments);
            let usage = process::usage(command, PATIENCE)
                .map_err(|failure| self.failed(format!("{} {failure}", Path::new(program).display())))?;
            sample.wall += usage.wall;
            sample.cpu += usage.cpu;
            self.peak_memory = usage.peak_memory.max(self.peak_memory);
        }
        Ok(sample)
    }

    fn peak_memory(&self) -> Option<u64> {
        self.peak_memory
    }
}

/// The cores that the calling thread and programs started by it may use.
///
/// # Errors
/// The system's error.
pub fn cores() -> io::Result<Vec<usize>> {
    process::cores()
}

/// Restricts the calling thread, and programs that it starts from now on, to these cores.
///
/// # Errors
/// The system's error, for example if a core does not exist.
pub fn restrict_to(cores: &[usize]) -> io::Result<()> {
    process::restrict_to(cores)
}
