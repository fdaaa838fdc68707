//! How much of what can be computed again is kept, and where.

use crate::{PlonkError, named::named};
use proofmill_field::bn254::Fr;
use proofmill_memory::{Elements, Zeroed};
use std::{io, ops::Deref, path::PathBuf};

/// What a proving key keeps, for any of which the same randomness gives the same proof.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// Every fixed column as coefficients, as values on the domain and as values on the quotient's cosets: 2 + parts vectors of n
    /// scalars each.
    Fast,
    /// Coefficients and values on the domain; one coset at a time.
    #[default]
    Balanced,
    /// Coefficients alone; one coset at a time, and of its columns those that are still needed.
    Low,
}

impl Memory {
    /// All, from the most.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Balanced, Self::Low];
}

named!(Memory, "a memory mode", Fast => "fast", Balanced => "balanced", Low => "low");

/// Vectors as long as the circuit: how many of the key's are kept, and where all of them lie, the prover's among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    /// What a proving key keeps.
    pub memory: Memory,
    /// The folder for temporary files in which vectors and decoded powers of tau lie, each taking memory of the process only
    /// while it is worked on; without one they lie in memory. The files have no names: nothing stays behind.
    pub scratch: Option<PathBuf>,
}

impl From<Memory> for Storage {
    fn from(memory: Memory) -> Self {
        Self { memory, scratch: None }
    }
}

impl Storage {
    /// Terms of multi-scalar multiplications, at least: one takes about as much memory as five vectors of its length.
    pub(crate) fn piece(&self) -> usize {
        if self.memory == Memory::Low { 1 << 21 } else { usize::MAX }
    }

    /// So many zeros.
    pub(crate) fn scalars(&self, len: usize) -> Result<Scalars, PlonkError> {
        self.copy(&[], len)
    }

    /// The scalars and after them zeros up to `len`.
    ///
    /// # Panics
    /// If there are more.
    pub(crate) fn copy(&self, values: &[Fr], len: usize) -> Result<Scalars, PlonkError> {
        Elements::copy(self.scratch.as_deref(), values, len).map_err(|source| self.error(source))
    }

    /// These, where vectors lie.
    pub(crate) fn keep<T: Zeroed>(&self, elements: Vec<T>) -> Result<Elements<T>, PlonkError> {
        if self.scratch.is_none() {
            return Ok(elements.into());
        }
        let kept = Elements::copy(self.scratch.as_deref(), &elements, elements.len());
        let kept = kept.map_err(|source| self.error(source))?;
        kept.release(0..elements.len());
        Ok(kept)
    }

    fn error(&self, source: io::Error) -> PlonkError {
        PlonkError::Scratch { folder: self.scratch.clone().unwrap_or_default(), source }
    }
}

/// A vector as long as the circuit, or a little longer.
pub(crate) type Scalars = Elements<Fr>;

/// Such a vector that somebody keeps, or one that was made for the moment.
#[derive(Debug)]
pub(crate) enum Held<'a> {
    Kept(Kept<'a>),
    Made(Scalars),
}

/// What somebody keeps. When this is dropped it leaves memory, if it lies in a file.
#[derive(Debug)]
pub(crate) struct Kept<'a>(&'a Scalars);

impl Deref for Kept<'_> {
    type Target = Scalars;

    fn deref(&self) -> &Scalars {
        self.0
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.0.release(0..self.0.len());
    }
}

impl<'a> From<&'a Scalars> for Held<'a> {
    fn from(scalars: &'a Scalars) -> Self {
        Self::Kept(Kept(scalars))
    }
}

impl Deref for Held<'_> {
    type Target = Scalars;

    fn deref(&self) -> &Scalars {
        match self {
            Self::Kept(scalars) => scalars,
            Self::Made(scalars) => scalars,
        }
    }
}

impl AsRef<[Fr]> for Held<'_> {
    fn as_ref(&self) -> &[Fr] {
        self
    }
}
