//! Reading pipes and devices, whose length is not known in advance.

use proofmill_memory::process_memory;
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// Reads the rest of a file of at most `most` bytes. Bytes are counted while they are read: a pipe does not say its length, and
/// `/dev/zero` has no end.
///
/// # Errors
/// The operating system's error, and [`io::ErrorKind::FileTooLarge`].
pub fn read_at_most(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_more(source, &mut bytes, most)?;
    Ok(bytes)
}

/// [`read_at_most`] of the file at a path.
///
/// # Errors
/// As [`read_at_most`].
pub fn read_file_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_at_most(File::open(path)?, most)
}

/// Reads the rest of a source after its first bytes, at most `most` bytes in all.
pub(crate) fn read_more(source: impl Read, bytes: &mut Vec<u8>, most: u64) -> io::Result<()> {
    let left = most.saturating_sub(bytes.len() as u64);
    source.take(left.saturating_add(1)).read_to_end(bytes)?;
    if bytes.len() as u64 > most {
        let problem = format!("expected at most {most} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok(())
}

/// The most bytes that are read into memory from a pipe: half of the machine's memory, or 16 GiB if the system does not report it.
pub fn most_of_a_pipe() -> u64 {
    const UNKNOWN: u64 = 32 << 30;
    process_memory::of_the_machine().unwrap_or(UNKNOWN) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_counted_while_reading() {
        for length in 0..5 {
            let read = read_at_most(io::repeat(7).take(length), 3);
            match length {
                0..=3 => assert_eq!(read.expect("within the limit"), vec![7; length as usize]),
                _ => assert_eq!(read.expect_err("too long").kind(), io::ErrorKind::FileTooLarge),
            }
        }
        let endless = read_at_most(io::repeat(0), 1 << 20).expect_err("no end");
        assert_eq!(endless.to_string(), "expected at most 1048576 bytes");
    }
}
