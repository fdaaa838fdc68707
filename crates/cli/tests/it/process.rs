//! Runs the binary in a temporary folder with the files of the small example.

use std::ops::Deref;

pub(crate) use proofmill_testing::examples;

pub(crate) const SYSTEMS: [&str; 3] = ["groth16", "plonk", "fflonk"];

/// The modulus of Goldilocks.
pub(crate) const MODULUS: u64 = 0xffff_ffff_0000_0001;

/// A folder with the files of `examples/membership-small`, in which commands run.
pub(crate) struct Folder(proofmill_testing::Folder);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(proofmill_testing::Folder::with_example(env!("CARGO_BIN_EXE_proofmill")))
    }
}

impl Deref for Folder {
    type Target = proofmill_testing::Folder;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Writes words from the generator of a known answer.
pub(crate) fn write_words(folder: &Folder, name: &str, count: u64, mut state: u64) {
    let mut bytes = Vec::new();
    for _ in 0..count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend((state % MODULUS).to_le_bytes());
    }
    folder.write(name, bytes);
}

/// Asserts exit status 2, a line with these words, and no output.
#[track_caller]
pub(crate) fn refused(folder: &Folder, command: &str, words: &[&str]) {
    let before = folder.names();
    let error = folder.run(command).failed(2);
    for word in words {
        assert!(error.contains(word), "{command}: {error}: not {word}");
    }
    assert_eq!(folder.names(), before);
}

/// Where the content of a section of a binary file begins.
pub(crate) fn section_of(file: &[u8], id: u32) -> usize {
    let mut at = 12;
    loop {
        let found = u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let length = u64::from_le_bytes(file[at + 4..at + 12].try_into().unwrap());
        if found == id {
            return at + 12;
        }
        at += 12 + length as usize;
    }
}
