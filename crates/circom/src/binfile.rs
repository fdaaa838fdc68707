//! The container of iden3's binary files: four bytes of magic, a version, a count of sections, and the
//! sections, each a number, a length and that many bytes. All integers are little-endian.
//!
//! Every length is checked against the file's size before it is used to slice or allocate, so a section that claims 2^60 bytes
//! is only an error.

use crate::{
    error::{CircomError, Place, SectionName},
    file_kind::{Content, FileKind},
};
use proofmill_files::{FileBytes, FileError, FileName, most_of_a_pipe};
use std::{fmt, ops::Range, path::Path};

/// Bytes of magic, version and count of sections.
const FILE_HEADER: usize = 12;
/// Bytes of a section's number and length.
const SECTION_HEADER: usize = 12;
/// The empty section that marks a key whose setup is known to be insecure. snarkjs ignores it.
pub(crate) const INSECURE_SETUP: SectionName = SectionName { id: 1000, content: "insecure setup" };
/// The most bytes of a JSON document. A verification key takes 180 bytes for a public signal: this is enough for 90 000 of them. Parsed, a
/// hostile document takes up to 40 times its size.
pub(crate) const LARGEST_JSON: u64 = 1 << 24;
/// More sections than any format has; sections are looked up one by one.
const MOST_SECTIONS: u32 = 256;

/// A section's number, and the place of its content in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionEntry {
    /// The number.
    pub id: u32,
    /// Bytes of content within the file.
    pub range: Range<usize>,
}

/// A file that is a container, or else a text.
#[derive(Debug)]
pub enum ContainerOrText {
    /// A container of any kind.
    Container(BinFile),
    /// A file that begins with none of the magics.
    Text(Text),
}

/// A text that was read from a file.
#[derive(Debug)]
pub struct Text {
    pub(crate) name: FileName,
    pub(crate) bytes: FileBytes,
}

impl Text {
    /// Maps a text, or reads it from a pipe.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn open(path: &Path) -> Result<Self, CircomError> {
        let (name, bytes) = read_any(path)?;
        Ok(Self { name, bytes })
    }

    /// A text in memory; `name` stands for it in messages.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Self {
        Self { name: FileName::new(Path::new(name)), bytes: FileBytes::Owned(bytes) }
    }

    /// The file's name in messages.
    pub fn name(&self) -> &FileName {
        &self.name
    }

    /// The bytes, which may be anything.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether it begins like a JSON object or list.
    pub fn is_json(&self) -> bool {
        let first = self.bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        matches!(first, Some(b'{' | b'['))
    }

    /// The kind of the file, if it is plainly not the source of a program.
    pub fn other_than_source(&self) -> Option<Content> {
        let content = Content::of(&self.bytes);
        (!matches!(content, Content::Other(_))).then_some(content)
    }
}

/// Maps a file, or reads a pipe. A container may fill the memory; other content may have as many bytes as a JSON file.
fn read_any(path: &Path) -> Result<(FileName, FileBytes), CircomError> {
    let name = FileName::new(path);
    let most = |first: &[u8]| if FileKind::of(first).is_some() { most_of_a_pipe() } else { LARGEST_JSON };
    match FileBytes::open_or_read(path, FILE_HEADER as u64, most) {
        Ok(bytes) => Ok((name, bytes)),
        Err(source) => Err(CircomError::Io(FileError::new(&name, source))),
    }
}

/// An open container; its pages are read on first access.
#[derive(Debug)]
pub struct BinFile {
    name: FileName,
    bytes: FileBytes,
    kind: FileKind,
    version: u32,
    sections: Vec<SectionEntry>,
}

impl BinFile {
    /// Maps a file of any kind, or reads a pipe, and checks its list of sections.
    ///
    /// # Errors
    /// [`CircomError::Io`], [`CircomError::Kind`], [`CircomError::Version`], [`CircomError::Container`].
    pub fn open(path: &Path) -> Result<Self, CircomError> {
        let (name, bytes) = read_any(path)?;
        Self::scan(name, bytes)
    }

    /// Opens a container or a text, which begins with none of the magics. A pipe can be read only once, so callers that accept
    /// both must not try one after the other.
    ///
    /// # Errors
    /// As [`Self::open`], without [`CircomError::Kind`].
    pub fn open_or_text(path: &Path) -> Result<ContainerOrText, CircomError> {
        let (name, bytes) = read_any(path)?;
        Self::scan_or_text(name, bytes)
    }

    /// [`Self::open_or_text`] of a content in memory; `name` stands for it in messages.
    ///
    /// # Errors
    /// As [`Self::open`], without [`CircomError::Io`] and [`CircomError::Kind`].
    pub fn from_bytes_or_text(name: &str, bytes: Vec<u8>) -> Result<ContainerOrText, CircomError> {
        Self::scan_or_text(FileName::new(Path::new(name)), FileBytes::Owned(bytes))
    }

    fn scan_or_text(name: FileName, bytes: FileBytes) -> Result<ContainerOrText, CircomError> {
        Ok(match FileKind::of(&bytes) {
            Some(_) => ContainerOrText::Container(Self::scan(name, bytes)?),
            None => ContainerOrText::Text(Text { name, bytes }),
        })
    }

    /// A container in memory; `name` stands for it in messages.
    ///
    /// # Errors
    /// As [`Self::open`], without [`CircomError::Io`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, CircomError> {
        Self::scan(FileName::new(Path::new(name)), FileBytes::Owned(bytes))
    }

    /// Checks the kind that the first four bytes name.
    ///
    /// # Errors
    /// [`CircomError::Kind`].
    pub fn expect_kind(&self, kind: FileKind) -> Result<(), CircomError> {
        if self.kind == kind {
            return Ok(());
        }
        let (expected, found) = (kind.to_string(), self.kind.to_string());
        Err(CircomError::Kind { file: self.name.clone(), expected, found })
    }

    fn scan(name: FileName, bytes: FileBytes) -> Result<Self, CircomError> {
        let (kind, version, count) = read_file_header(&name, &bytes)?;
        let mut sections = Vec::new();
        let mut position = FILE_HEADER;
        for index in 0..count {
            let entry = read_section_header(&name, &bytes, position, index, count)?;
            position = entry.range.end;
            sections.push(entry);
        }
        let left = bytes.len() - position;
        if left != 0 {
            let problem = format!("{left} bytes after the last of {count} sections");
            return Err(CircomError::Container { file: name, offset: position as u64, problem });
        }
        // The headers' pages were mapped with up to 2 MiB around each.
        bytes.release(0..bytes.len());
        Ok(Self { name, bytes, kind, version, sections })
    }

    /// The bytes that [`Self::from_bytes`] took or a pipe gave; none of a mapped file.
    pub fn into_bytes(self) -> Vec<u8> {
        match self.bytes {
            FileBytes::Owned(bytes) => bytes,
            FileBytes::Mapped(_) => Vec::new(),
        }
    }

    /// The file's name in messages.
    pub fn name(&self) -> &FileName {
        &self.name
    }

    /// The kind that the first four bytes name.
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// The version in the header.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// All bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of the file.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Always `false`: a container has a header.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All sections in the file's order, known and unknown.
    pub fn sections(&self) -> &[SectionEntry] {
        &self.sections
    }

    /// The only section with this number.
    ///
    /// # Errors
    /// [`CircomError::MissingSection`], [`CircomError::DuplicateSection`].
    pub fn section(&self, section: SectionName) -> Result<Section<'_>, CircomError> {
        self.optional_section(section)?
            .ok_or_else(|| CircomError::MissingSection { file: self.name.clone(), section })
    }

    /// The only section with this number, if there is one.
    ///
    /// # Errors
    /// [`CircomError::DuplicateSection`].
    pub fn optional_section(&self, section: SectionName) -> Result<Option<Section<'_>>, CircomError> {
        let mut entries = self.sections.iter().filter(|entry| entry.id == section.id);
        let first = entries.next();
        if let Some(second) = entries.next() {
            let offset = second.range.start as u64;
            return Err(CircomError::DuplicateSection { file: self.name.clone(), section, offset });
        }
        Ok(first.map(|entry| self.view(section, entry.range.clone())))
    }

    /// A section whose presence was checked when the file was opened; an absent one is empty.
    pub fn checked_section(&self, section: SectionName) -> Section<'_> {
        self.section(section).unwrap_or_else(|_| self.view(section, 0..0))
    }

    /// Whether the key in this file is marked as one whose setup is insecure ([`BinWriter::mark_insecure_setup`]).
    ///
    /// [`BinWriter::mark_insecure_setup`]: crate::BinWriter::mark_insecure_setup
    pub fn has_insecure_setup(&self) -> bool {
        self.sections.iter().any(|entry| entry.id == INSECURE_SETUP.id)
    }

    /// `range` of the file as (part of) a section; empty if the file has no such range.
    pub(crate) fn view(&self, name: SectionName, range: Range<usize>) -> Section<'_> {
        let start = range.start;
        Section { file: self, name, start, bytes: self.bytes.get(range).unwrap_or_default() }
    }
}

fn read_file_header(name: &FileName, bytes: &[u8]) -> Result<(FileKind, u32, u32), CircomError> {
    let Content::Container(kind) = Content::of(bytes) else {
        let (expected, found) = ("r1cs, wtns, zkey, ptau or pmpk".to_owned(), Content::of(bytes).to_string());
        return Err(CircomError::Kind { file: name.clone(), expected, found });
    };
    let (Some(version), Some(count)) = (read_u32(bytes, 4), read_u32(bytes, 8)) else {
        let problem = format!("expected {FILE_HEADER} bytes of header, found {} bytes in all", bytes.len());
        return Err(CircomError::Container { file: name.clone(), offset: 0, problem });
    };
    let newest = kind.newest_version();
    if version == 0 || version > newest {
        return Err(CircomError::Version { file: name.clone(), kind, found: version, newest });
    }
    if count > MOST_SECTIONS {
        let problem = format!("expected at most {MOST_SECTIONS} sections, found a count of {count}");
        return Err(CircomError::Container { file: name.clone(), offset: 8, problem });
    }
    Ok((kind, version, count))
}

fn read_section_header(
    name: &FileName,
    bytes: &[u8],
    position: usize,
    index: u32,
    count: u32,
) -> Result<SectionEntry, CircomError> {
    let malformed = |problem| CircomError::Container { file: name.clone(), offset: position as u64, problem };
    let (Some(id), Some(length)) = (read_u32(bytes, position), read_u64(bytes, position + 4)) else {
        let left = bytes.len() - position;
        let index = index + 1;
        return Err(malformed(format!(
            "expected the {SECTION_HEADER} bytes that begin section {index} of {count}, found {left} bytes"
        )));
    };
    let start = position + SECTION_HEADER;
    let left = bytes.len() - start;
    match usize::try_from(length) {
        Ok(length) if length <= left => Ok(SectionEntry { id, range: start..start + length }),
        _ => Err(malformed(format!(
            "section {id} claims {length} bytes, the file has {left} after it: it is incomplete"
        ))),
    }
}

fn read_u32(bytes: &[u8], position: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(position..)?.first_chunk()?))
}

fn read_u64(bytes: &[u8], position: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(position..)?.first_chunk()?))
}

/// A section, or a part of one, of an open file.
#[derive(Clone, Copy)]
pub struct Section<'a> {
    file: &'a BinFile,
    name: SectionName,
    start: usize,
    bytes: &'a [u8],
}

impl fmt::Debug for Section<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} bytes", self.place(0), self.bytes.len())
    }
}

impl<'a> Section<'a> {
    /// The content.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Bytes of content.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is no content.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The place of the content in the file.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.bytes.len()
    }

    /// The section's number and content.
    pub fn name(&self) -> SectionName {
        self.name
    }

    /// The name of the section's file.
    pub fn file(&self) -> &'a FileName {
        &self.file.name
    }

    /// The position in the file of byte `position` of this view.
    pub fn place(&self, position: usize) -> Place {
        let offset = (self.start + position) as u64;
        Place { file: self.file.name.clone(), section: self.name, offset }
    }

    /// An error at byte `position` of this view.
    pub fn malformed(&self, position: usize, problem: impl Into<String>) -> CircomError {
        CircomError::Malformed { place: self.place(position), problem: problem.into() }
    }

    /// A part of this section.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] if the section ends before `range` does.
    pub fn slice(&self, range: Range<usize>) -> Result<Self, CircomError> {
        match self.bytes.get(range.clone()) {
            Some(bytes) => Ok(Self { start: self.start + range.start, bytes, ..*self }),
            None => {
                let problem = format!("needed up to byte {}, found {} bytes", range.end, self.len());
                Err(self.malformed(0, problem))
            }
        }
    }

    /// A part of this section; empty if it has no such part.
    pub fn part(&self, range: Range<usize>) -> Self {
        self.slice(range).unwrap_or(Self { bytes: &[], ..*self })
    }

    /// Checks that the content is exactly `count` elements of `size` bytes.
    ///
    /// # Errors
    /// [`CircomError::Malformed`].
    pub fn expect_elements(&self, count: u64, size: u64, what: &str) -> Result<(), CircomError> {
        if count.checked_mul(size) == Some(self.len() as u64) {
            return Ok(());
        }
        let found = self.len();
        Err(self.malformed(0, format!("expected {count} {what} of {size} bytes, found {found} bytes")))
    }

    /// Releases the section's pages from this process's memory; they are read from the file again on the next access. Does
    /// nothing for files in memory.
    pub fn release(&self) {
        self.file.bytes.release(self.start..self.start + self.bytes.len());
    }

    /// A cursor at the beginning.
    pub fn cursor(&self) -> Cursor<'a> {
        Cursor { section: *self, position: 0 }
    }
}

/// Reads a section sequentially.
#[derive(Debug)]
pub struct Cursor<'a> {
    section: Section<'a>,
    position: usize,
}

impl<'a> Cursor<'a> {
    /// Bytes that have been read.
    pub fn position(&self) -> usize {
        self.position
    }

    /// An error at the current position.
    pub fn malformed(&self, problem: impl Into<String>) -> CircomError {
        self.malformed_at(self.position, problem)
    }

    /// An error at an earlier position.
    pub fn malformed_at(&self, position: usize, problem: impl Into<String>) -> CircomError {
        self.section.malformed(position, problem)
    }

    /// The next `length` bytes; errors call them `what`.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] if there are fewer.
    pub fn take(&mut self, length: usize, what: &str) -> Result<Section<'a>, CircomError> {
        let left = self.section.len() - self.position;
        if length > left {
            return Err(self.malformed(format!("expected {length} bytes of {what}, found {left}")));
        }
        let taken = self.section.slice(self.position..self.position + length)?;
        self.position += length;
        Ok(taken)
    }

    /// The next four bytes as an integer.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] if there are fewer.
    pub fn u32(&mut self, what: &str) -> Result<u32, CircomError> {
        let taken = self.take(4, what)?;
        read_u32(taken.bytes(), 0).ok_or_else(|| taken.malformed(0, "expected 4 bytes"))
    }

    /// The next eight bytes as an integer.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] if there are fewer.
    pub fn u64(&mut self, what: &str) -> Result<u64, CircomError> {
        let taken = self.take(8, what)?;
        read_u64(taken.bytes(), 0).ok_or_else(|| taken.malformed(0, "expected 8 bytes"))
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    /// [`CircomError::Malformed`].
    pub fn finish(self) -> Result<(), CircomError> {
        let left = self.section.len() - self.position;
        if left == 0 { Ok(()) } else { Err(self.malformed(format!("{left} bytes too many"))) }
    }
}
