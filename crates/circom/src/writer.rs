//! Containers, written section by section.

use crate::{
    binfile::INSECURE_SETUP,
    decode::{Coordinate, ScalarPrime},
    error::CircomError,
    file_kind::FileKind,
};
use proofmill_curve::{Affine, Curve};
use proofmill_field::{
    Fp, Prime,
    bn254::{FqParams, FrParams},
};
use proofmill_files::{FileError, FileName, Output, Target};
use std::{
    fmt,
    io::{self, Read as _, Seek as _, SeekFrom, Write},
    ops::Range,
};

/// Bytes of the longest coordinate.
const MOST_BYTES: usize = 48;

/// Writes a container section by section. If dropped before [`Self::finish`], no output is left.
#[derive(Debug)]
pub struct BinWriter<'a> {
    output: Output<'a>,
    position: u64,
    sections_left: u32,
    /// Numbers and contents of the sections so far.
    sections: Vec<(u32, Range<u64>)>,
}

impl<'a> BinWriter<'a> {
    /// Begins a file that will have exactly `sections` sections.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn create(
        target: impl Into<Target<'a>>,
        kind: FileKind,
        version: u32,
        sections: u32,
    ) -> Result<Self, CircomError> {
        Self::begin(target.into(), kind, version, sections)
    }

    fn begin(target: Target<'a>, kind: FileKind, version: u32, sections: u32) -> Result<Self, CircomError> {
        let header = [kind.magic().as_bytes(), &version.to_le_bytes(), &sections.to_le_bytes()].concat();
        let mut output = Output::create(target).map_err(CircomError::Io)?;
        output.append(&header).map_err(CircomError::Io)?;
        Ok(Self { output, position: 12, sections_left: sections, sections: Vec::new() })
    }

    /// Writes one section: its number, its length, and the output of `content`.
    ///
    /// # Errors
    /// [`CircomError::Io`], and the errors of `content`.
    ///
    /// # Panics
    /// If as many sections as announced to [`Self::create`] were already written.
    pub fn section<E: From<CircomError>>(
        &mut self,
        id: u32,
        content: impl FnOnce(&mut SectionWriter<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        assert!(self.sections_left > 0, "more sections than announced");
        self.sections_left -= 1;
        let mut writer =
            SectionWriter { name: self.output.name().clone(), output: &mut self.output, written: 0 };
        writer.u32(id)?;
        // The length is known after the content, and then written here.
        writer.u64(0)?;
        writer.written = 0;
        content(&mut writer)?;
        let length = writer.written;
        let length_at = self.position + 4;
        self.position = length_at + 8 + length;
        self.sections.push((id, length_at + 8..self.position));
        let patched = self.patch(length_at, length);
        patched.map_err(|source| CircomError::Io(self.output.failed(source)).into())
    }

    /// Reads the section with this number again, which has been written: `each` receives `piece` bytes at a time, the last time perhaps
    /// fewer.
    ///
    /// # Errors
    /// [`CircomError::Io`], and the errors of `each`.
    ///
    /// # Panics
    /// If there is no such section yet.
    pub fn reread(
        &mut self,
        id: u32,
        piece: usize,
        mut each: impl FnMut(&[u8]) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        let section = self.sections.iter().find(|(number, _)| *number == id).map(|(_, range)| range.clone());
        assert!(section.is_some(), "section {id} has not been written");
        let Range { mut start, end } = section.unwrap_or_default();
        self.seek(start)?;
        let mut bytes = Vec::new();
        while start < end {
            bytes.resize((end - start).min(piece as u64) as usize, 0);
            self.output
                .read_exact(&mut bytes)
                .map_err(|source| CircomError::Io(self.output.failed(source)))?;
            each(&bytes)?;
            start += bytes.len() as u64;
        }
        self.seek(self.position)
    }

    fn seek(&mut self, position: u64) -> Result<(), CircomError> {
        let moved = self.output.seek(SeekFrom::Start(position));
        moved.map(drop).map_err(|source| CircomError::Io(self.output.failed(source)))
    }

    /// Marks the key in this file as one for which anyone may forge proofs, by an empty section that counts as one of those
    /// announced. Other programs ignore it.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    ///
    /// # Panics
    /// As [`Self::section`].
    pub fn mark_insecure_setup(&mut self) -> Result<(), CircomError> {
        self.section(INSECURE_SETUP.id, |_| Ok(()))
    }

    fn patch(&mut self, at: u64, value: u64) -> io::Result<()> {
        self.output.seek(SeekFrom::Start(at))?;
        self.output.write_all(&value.to_le_bytes())?;
        self.output.seek(SeekFrom::Start(self.position))?;
        Ok(())
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    ///
    /// # Panics
    /// If fewer sections were written than announced to [`Self::create`].
    pub fn finish(self) -> Result<(), CircomError> {
        assert!(self.sections_left == 0, "fewer sections than announced");
        self.output.finish().map_err(CircomError::Io)
    }
}

/// The content of the section being written; integers are little-endian.
pub struct SectionWriter<'a> {
    name: FileName,
    output: &'a mut dyn Write,
    written: u64,
}

impl fmt::Debug for SectionWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of a section of {}", self.written, self.name)
    }
}

impl SectionWriter<'_> {
    /// Writes bytes unchanged.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), CircomError> {
        self.written += bytes.len() as u64;
        self.output.write_all(bytes).map_err(|source| CircomError::Io(FileError::new(&self.name, source)))
    }

    /// Writes four bytes.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn u32(&mut self, value: u32) -> Result<(), CircomError> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes eight bytes.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn u64(&mut self, value: u64) -> Result<(), CircomError> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes scalars as integers below the modulus, 32 bytes each: the encoding of r1cs and wtns.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn canonical<P: ScalarPrime>(&mut self, values: &[Fp<P>]) -> Result<(), CircomError> {
        values.iter().try_for_each(|value| self.limbs(&value.to_canonical()))
    }

    /// Writes scalars as Montgomery limbs, 32 bytes each: the encoding of most scalars in zkeys.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn montgomery<P: ScalarPrime>(&mut self, values: &[Fp<P>]) -> Result<(), CircomError> {
        values.iter().try_for_each(|value| self.limbs(&value.to_montgomery()))
    }

    /// Writes points, on BN254 64 bytes each in G1, 128 in G2: the Montgomery limbs of x and y, all zero for infinity.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn points<C>(&mut self, points: &[Affine<C>]) -> Result<(), CircomError>
    where
        C: Curve<Base: Coordinate>,
    {
        for point in points {
            point.x.try_each_limbs(&mut |limbs| self.limbs(limbs))?;
            point.y.try_each_limbs(&mut |limbs| self.limbs(limbs))?;
        }
        Ok(())
    }

    /// Writes BN254's moduli of coordinates and scalars, which [`Cursor::expect_bn254`](crate::Cursor::expect_bn254) reads.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn bn254(&mut self) -> Result<(), CircomError> {
        self.modulus::<FqParams>()?;
        self.modulus::<FrParams>()
    }

    /// Writes a modulus: its length, then its bytes.
    pub(crate) fn modulus<P: Prime>(&mut self) -> Result<(), CircomError> {
        let limbs = P::MODULUS;
        self.u32(8 * limbs.as_ref().len() as u32)?;
        self.limbs(limbs.as_ref())
    }

    pub(crate) fn limbs(&mut self, limbs: &[u64]) -> Result<(), CircomError> {
        let mut bytes = [0; MOST_BYTES];
        for (bytes, limb) in bytes.as_chunks_mut().0.iter_mut().zip(limbs) {
            *bytes = limb.to_le_bytes();
        }
        self.bytes(bytes.get(..8 * limbs.len()).unwrap_or_default())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn memory_gets_the_bytes_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.wtns");
        let mut bytes = b"before".to_vec();
        let write = |target: Target<'_>, whole: bool| {
            let mut writer = BinWriter::create(target, FileKind::Wtns, 2, 2).unwrap();
            writer.section(7, |out| out.u64(1)).unwrap();
            if whole {
                writer.section(8, |out| out.bytes(b"abc")).unwrap();
                writer.finish().unwrap();
            }
        };
        write(Target::from(&mut bytes), false);
        assert_eq!(bytes, b"before");
        write(Target::from(&mut bytes), true);
        write(Target::from(&path), true);
        assert_eq!(bytes, std::fs::read(&path).unwrap());
    }
}
