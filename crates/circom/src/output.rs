//! Output: to a temporary file next to the target, which is renamed when it is complete, or removed on failure.

use crate::{
    binfile::INSECURE_SETUP,
    decode::{Coordinate, ScalarPrime},
    error::{CircomError, FileName},
    file_kind::FileKind,
};
use proofmill_curve::{Affine, Curve};
use proofmill_field::{
    Fp, Prime,
    bn254::{FqParams, FrParams},
};
use std::{
    fmt,
    fs::{self, File},
    hash::{BuildHasher, RandomState},
    io::{self, BufWriter, Cursor, Read, Seek, SeekFrom, Write},
    ops::Range,
    path::{Path, PathBuf},
    sync::LazyLock,
};
use tempfile::NamedTempFile;

/// Bytes of the longest coordinate.
const MOST_BYTES: usize = 48;
/// The size of the write buffer in bytes.
const BUFFER: usize = 1 << 20;

/// Writes several text files, such as a proof and its public signals: all of them completely, or none. A target that exists and
/// is not a regular file (`/dev/stdout`, a pipe) is written to directly.
///
/// # Errors
/// [`CircomError::Io`].
pub fn write_texts(files: &[(&Path, &str)]) -> Result<(), CircomError> {
    let named = |path: &Path| {
        let name = FileName::new(path);
        move |source| CircomError::io(&name, source)
    };
    let mut written = Vec::with_capacity(files.len());
    for (path, text) in files {
        written.push((*path, Written::new(path, text.as_bytes()).map_err(named(path))?));
    }
    let mut created = Vec::new();
    for (path, file) in written {
        match file.publish() {
            Ok(target) => created.extend(target),
            Err(source) => {
                // Remove the new files that were already published. If that fails, the error that led here matters more.
                created.iter().for_each(|path| drop(fs::remove_file(path)));
                return Err(named(path)(source));
            }
        }
    }
    Ok(())
}

/// [`write_texts`] for one file.
///
/// # Errors
/// [`CircomError::Io`].
pub fn write_text(path: &Path, text: &str) -> Result<(), CircomError> {
    write_texts(&[(path, text)])
}

/// Writes bytes to a file, completely or not at all.
///
/// # Errors
/// [`CircomError::Io`].
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), CircomError> {
    let write = || {
        let mut output = Sink::create(Target::File(path))?;
        output.write_all(bytes)?;
        output.finish()
    };
    write().map_err(|source| CircomError::io(&FileName::new(path), source))
}

/// Removes this process's unfinished output files in a folder. For a signal handler, after which the process ends without
/// running destructors.
pub fn remove_unfinished(folder: &Path) {
    let prefix = partial_prefix();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // The process ends: a failure cannot be reported.
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// A text that is written to disk, but not yet renamed to its target.
enum Written {
    File(NamedTempFile, PathBuf),
    /// A target that is not a regular file, and its text, which is written last.
    Stream(File, Vec<u8>),
}

impl Written {
    fn new(path: &Path, bytes: &[u8]) -> io::Result<Self> {
        if is_stream(path) {
            return Ok(Self::Stream(open_stream(path)?, bytes.to_vec()));
        }
        let target = target_of(path)?;
        let mut file = temporary_beside(&target)?;
        file.write_all(bytes)?;
        Ok(Self::File(file, target))
    }

    /// Gives the file its name. Returns the path if there was no such file before.
    fn publish(self) -> io::Result<Option<PathBuf>> {
        match self {
            Self::File(file, target) => {
                let is_new = !target.exists();
                file.persist(&target)?;
                Ok(is_new.then_some(target))
            }
            Self::Stream(mut stream, bytes) => stream.write_all(&bytes).map(|()| None),
        }
    }
}

/// Whether this is a pipe or a device, which is written to directly.
fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

fn open_stream(path: &Path) -> io::Result<File> {
    File::options().write(true).open(path)
}

/// The target of a rename: a symbolic link is followed, so that it stays a link. A rename would replace a read-only file without
/// a question, so one is refused.
fn target_of(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(target) if target.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(target) if fs::metadata(&target)?.permissions().readonly() => {
            let problem = "the file is read-only: remove it or choose another name";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
        }
        Ok(target) => Ok(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        Err(error) => Err(error),
    }
}

/// The prefix of the names of this process's unfinished files. Processes in different containers can have the same number, so it
/// also has a random one.
fn partial_prefix() -> String {
    static RANDOM: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(()));
    format!(".proofmill-{}-{:016x}-", std::process::id(), *RANDOM)
}

/// The folder of a file.
pub fn folder_of(target: &Path) -> &Path {
    target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn temporary_beside(target: &Path) -> io::Result<NamedTempFile> {
    let mut cause = None;
    // With the permissions of any new file, and an error that does not name the temporary file.
    let made = tempfile::Builder::new().prefix(&partial_prefix()).suffix(".partial").make_in(
        folder_of(target),
        |path| {
            File::options().read(true).write(true).create_new(true).open(path).map_err(|error| {
                let kind = error.kind();
                cause = Some(error);
                kind.into()
            })
        },
    );
    made.map_err(|error| cause.unwrap_or(error))
}

/// A file of any format that appears under its name only when it is complete. If dropped before [`Self::finish`], it is
/// removed. Where the file system can (Linux), it has no name until then, so that nothing is left of a process that is killed,
/// unless it was about to replace another file: then the new file, which is complete, can stay beside it as `.proofmill-*.partial`.
#[derive(Debug)]
pub struct OutputFile {
    draft: Draft,
    target: PathBuf,
}

#[derive(Debug)]
enum Draft {
    #[cfg(target_os = "linux")]
    Unnamed(File),
    Named(NamedTempFile),
}

impl OutputFile {
    /// Begins a file; an existing file of this name stays until [`Self::finish`].
    ///
    /// # Errors
    /// The operating system's error, and [`io::ErrorKind::InvalidInput`] if the path exists and is not a regular file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = target_of(path)?;
        if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        #[cfg(target_os = "linux")]
        if let Ok(file) = unnamed::create(folder_of(&target)) {
            return Ok(Self { draft: Draft::Unnamed(file), target });
        }
        Ok(Self { draft: Draft::Named(temporary_beside(&target)?), target })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn finish(self) -> io::Result<()> {
        let Self { draft, target } = self;
        match draft {
            #[cfg(target_os = "linux")]
            Draft::Unnamed(file) => unnamed::publish(file, &target),
            Draft::Named(file) => Ok(file.persist(target).map(drop)?),
        }
    }

    fn file(&mut self) -> &mut File {
        match &mut self.draft {
            #[cfg(target_os = "linux")]
            Draft::Unnamed(file) => file,
            Draft::Named(file) => file.as_file_mut(),
        }
    }
}

/// Files without a name, of which nothing is left if they get none.
#[cfg(target_os = "linux")]
mod unnamed {
    use super::{folder_of, partial_prefix, temporary_beside};
    use rustix::fs::{AtFlags, CWD, Mode, OFlags};
    use std::{
        fs::File,
        io::{self, Seek},
        os::fd::AsRawFd,
        path::Path,
    };

    /// Fails where files without a name do not exist or cannot be given one.
    pub(super) fn create(folder: &Path) -> io::Result<File> {
        let mode = Mode::from_raw_mode(0o666);
        let file =
            File::from(rustix::fs::open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode)?);
        std::fs::metadata(link(&file))?;
        Ok(file)
    }

    fn link(file: &File) -> String {
        format!("/proc/self/fd/{}", file.as_raw_fd())
    }

    /// Gives a file its name. Only a rename replaces a file, so where there is one, the new one has a temporary name for a moment.
    pub(super) fn publish(mut file: File, target: &Path) -> io::Result<()> {
        let name =
            |path: &Path| Ok(rustix::fs::linkat(CWD, link(&file), CWD, path, AtFlags::SYMLINK_FOLLOW)?);
        if name(target).is_ok() {
            return Ok(());
        }
        let named = tempfile::Builder::new()
            .prefix(&partial_prefix())
            .suffix(".partial")
            .make_in(folder_of(target), name);
        if let Ok(named) = named {
            named.persist(target)?;
            return Ok(());
        }
        let mut copy = temporary_beside(target)?;
        file.rewind()?;
        io::copy(&mut file, &mut copy)?;
        copy.persist(target)?;
        Ok(())
    }
}

impl Read for OutputFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.file().read(bytes)
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl Seek for OutputFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file().seek(position)
    }
}

/// The destination of a binary file.
#[derive(Debug)]
pub enum Target<'a> {
    /// A file, which appears under its name only when it is complete; a pipe or a device is written to when the content is.
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

/// A [`Target`] that is being written to.
#[derive(Debug)]
pub(crate) enum Sink<'a> {
    File(BufWriter<OutputFile>),
    /// A pipe or a device, to which the content is written when it is complete: lengths are patched before.
    Stream {
        written: Cursor<Vec<u8>>,
        stream: File,
    },
    Memory {
        written: Cursor<Vec<u8>>,
        target: &'a mut Vec<u8>,
    },
}

impl Sink<'static> {
    pub(crate) fn file(path: &Path) -> io::Result<Self> {
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

    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::File(output) => output.into_inner().map_err(io::IntoInnerError::into_error)?.finish(),
            Self::Stream { written, mut stream } => stream.write_all(written.get_ref()),
            Self::Memory { written, target } => {
                *target = written.into_inner();
                Ok(())
            }
        }
    }
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(output) => output.write(bytes),
            Self::Stream { written, .. } | Self::Memory { written, .. } => written.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(output) => output.flush(),
            Self::Stream { .. } | Self::Memory { .. } => Ok(()),
        }
    }
}

/// What was written, after a seek to it.
impl Read for Sink<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(output) => output.get_mut().read(bytes),
            Self::Stream { written, .. } | Self::Memory { written, .. } => written.read(bytes),
        }
    }
}

impl Seek for Sink<'_> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(output) => output.seek(position),
            Self::Stream { written, .. } | Self::Memory { written, .. } => written.seek(position),
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

/// Writes a file of any format from its beginning to its end. If dropped before [`Self::finish`], no output is left.
#[derive(Debug)]
pub struct RawWriter<'a> {
    name: FileName,
    output: Sink<'a>,
}

impl<'a> RawWriter<'a> {
    /// Begins a file.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn create(target: impl Into<Target<'a>>) -> Result<Self, CircomError> {
        let target = target.into();
        let name = target.name();
        match Sink::create(target) {
            Ok(output) => Ok(Self { name, output }),
            Err(source) => Err(CircomError::io(&name, source)),
        }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), CircomError> {
        self.output.write_all(bytes).map_err(|source| CircomError::io(&self.name, source))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn finish(self) -> Result<(), CircomError> {
        self.output.finish().map_err(|source| CircomError::io(&self.name, source))
    }
}

/// Writes a container section by section. If dropped before [`Self::finish`], no output is left.
#[derive(Debug)]
pub struct BinWriter<'a> {
    name: FileName,
    output: Sink<'a>,
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
        let name = target.name();
        let begin = || {
            let mut output = Sink::create(target)?;
            output.write_all(kind.magic().as_bytes())?;
            output.write_all(&version.to_le_bytes())?;
            output.write_all(&sections.to_le_bytes())?;
            Ok(output)
        };
        match begin() {
            Ok(output) => {
                Ok(Self { name, output, position: 12, sections_left: sections, sections: Vec::new() })
            }
            Err(source) => Err(CircomError::io(&name, source)),
        }
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
        let mut writer = SectionWriter { name: &self.name, output: &mut self.output, written: 0 };
        writer.u32(id)?;
        writer.u64(0)?;
        writer.written = 0;
        content(&mut writer)?;
        let length = writer.written;
        let length_at = self.position + 4;
        self.position = length_at + 8 + length;
        self.sections.push((id, length_at + 8..self.position));
        self.patch(length_at, length).map_err(|source| CircomError::io(&self.name, source).into())
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
        let Self { name, output, position, .. } = self;
        let failed = |source| CircomError::io(name, source);
        output.seek(SeekFrom::Start(start)).map_err(failed)?;
        let mut bytes = Vec::new();
        while start < end {
            bytes.resize((end - start).min(piece as u64) as usize, 0);
            output.read_exact(&mut bytes).map_err(failed)?;
            each(&bytes)?;
            start += bytes.len() as u64;
        }
        output.seek(SeekFrom::Start(*position)).map_err(failed)?;
        Ok(())
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
        self.output.finish().map_err(|source| CircomError::io(&self.name, source))
    }
}

/// The content of the section being written; integers are little-endian.
pub struct SectionWriter<'a> {
    name: &'a FileName,
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
        self.output.write_all(bytes).map_err(|source| CircomError::io(self.name, source))
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
    fn all_the_texts_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, new, bad) =
            (folder.path().join("kept"), folder.path().join("new"), folder.path().join("no/no"));
        fs::write(&kept, "before").unwrap();
        write_texts(&[(&kept, "a"), (&new, "b"), (&bad, "c")]).unwrap_err();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "before");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "{folder:?}");
        write_texts(&[(&kept, "a"), (&new, "b")]).unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap() + &fs::read_to_string(&new).unwrap(), "ab");
        write_text(folder.path(), "a folder is not overwritten").unwrap_err();
        let error = write_text(&bad, "c").unwrap_err().to_string();
        assert!(error.contains("no/no: No such file") && !error.contains("partial"), "{error}");
    }

    #[test]
    fn a_read_only_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("proof.json");
        fs::write(&path, "kept").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        for error in [write_text(&path, "new").unwrap_err(), write_bytes(&path, b"new").unwrap_err()] {
            assert!(
                error
                    .to_string()
                    .ends_with("proof.json: the file is read-only: remove it or choose another name")
            );
        }
        BinWriter::create(&path, FileKind::Wtns, 2, 0).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

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
        assert_eq!(bytes, fs::read(&path).unwrap());
    }

    #[test]
    fn an_unfinished_file_has_no_name_where_there_are_such() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, "before").unwrap();
        for finished in [false, true] {
            let mut output = OutputFile::create(&path).unwrap();
            output.write_all(b"after").unwrap();
            let names = fs::read_dir(&folder).unwrap().count();
            match output.draft {
                #[cfg(target_os = "linux")]
                Draft::Unnamed(_) => assert_eq!(names, 1),
                Draft::Named(_) => assert_eq!(names, 2),
            }
            if finished {
                output.finish().unwrap();
            }
        }
        assert_eq!(fs::read(&path).unwrap(), b"after");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn only_this_process_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let unfinished = temporary_beside(&folder.path().join("x")).unwrap();
        let (_, kept) = temporary_beside(&folder.path().join("x")).unwrap().keep().unwrap();
        // Of another process, and of one with the same number in another container.
        let others =
            [".proofmill-0-abc.partial".to_owned(), format!(".proofmill-{}-0.partial", std::process::id())];
        let others = others.map(|name| folder.path().join(name));
        others.iter().for_each(|path| fs::write(path, "").unwrap());
        remove_unfinished(folder.path());
        assert!(!unfinished.path().exists() && !kept.exists());
        assert!(others.iter().all(|path| path.exists()), "{others:?}");
    }
}
