//! Files without a container: challenges, responses, and bellman's parameters.

use crate::{
    CeremonyError,
    encoding::{Group, PointEncoding, decode},
};
use blake2::{Blake2b512, Digest};
use proofmill_circom::CircomError;
use proofmill_cpu::Level;
use proofmill_curve::Affine;
use proofmill_files::{FileBytes, FileError, FileName, most_of_a_pipe};
use proofmill_run::parallel;
use std::{ops::Range, path::Path};

/// A file without a container.
pub(crate) struct RawFile {
    /// The level, for the checks of points.
    level: Level,
    name: FileName,
    bytes: FileBytes,
}

impl RawFile {
    pub(crate) fn open(level: Level, path: &Path) -> Result<Self, CeremonyError> {
        let name = FileName::new(path);
        match FileBytes::open_or_read(path, 0, |_| most_of_a_pipe()) {
            Ok(bytes) => Ok(Self { level, name, bytes }),
            Err(source) => Err(FileError::new(&name, source).into()),
        }
    }

    /// The number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn malformed(&self, offset: usize, problem: String) -> CircomError {
        CircomError::Container { file: self.name.clone(), offset: offset as u64, problem }
    }

    pub(crate) fn part(&self, range: Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// Removes the pages of a range of bytes from memory.
    pub(crate) fn release(&self, range: Range<usize>) {
        self.bytes.release(range);
    }

    /// [`Self::points`], if none of them is infinity.
    pub(crate) fn finite_points<C: Group>(
        &self,
        at: usize,
        form: PointEncoding,
        range: Range<usize>,
    ) -> Result<Vec<Affine<C>>, CircomError> {
        let points = self.points::<C>(at, form, range.clone())?;
        let Some(index) = points.iter().position(Affine::is_infinity) else { return Ok(points) };
        let problem = format!("element {}: point is infinity", range.start + index);
        Err(self.malformed(at + (range.start + index) * form.size::<C>(), problem))
    }

    /// Points of a section that begins at byte `at`, each checked to be in its group.
    pub(crate) fn points<C: Group>(
        &self,
        at: usize,
        form: PointEncoding,
        range: Range<usize>,
    ) -> Result<Vec<Affine<C>>, CircomError> {
        let size = form.size::<C>();
        let bytes = at + range.start * size..at + range.end * size;
        let points = decode(self.level, self.part(bytes.clone()), form);
        self.bytes.release(bytes.clone());
        points.map_err(|(index, problem)| {
            let problem = format!("element {}: {problem}", range.start + index);
            self.malformed(bytes.start + index * size, problem)
        })
    }

    pub(crate) fn hash(&self) -> [u8; 64] {
        const PIECE: usize = 1 << 24;
        let mut hash = Blake2b512::new();
        for range in parallel::ranges(self.bytes.len(), PIECE) {
            hash.update(self.part(range.clone()));
            self.bytes.release(range);
        }
        hash.finalize().into()
    }
}
