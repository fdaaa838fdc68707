//! The kinds of files, told by their first bytes.

use serde::Serialize;
use std::fmt::{self, Write};

/// The kind of a binary file with sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// Constraints of a circuit.
    R1cs,
    /// Values of a circuit's wires.
    Wtns,
    /// A proving key.
    Zkey,
    /// Powers of tau.
    Ptau,
    /// A proving key in an arithmetisation of Proofmill's own.
    Pmpk,
}

impl FileKind {
    const ALL: [Self; 5] = [Self::R1cs, Self::Wtns, Self::Zkey, Self::Ptau, Self::Pmpk];

    /// The kind of a file with these bytes; `None` if they do not begin with a known magic.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| bytes.starts_with(kind.magic().as_bytes()))
    }

    /// The first four bytes; for files of circom and snarkjs also the usual extension.
    pub const fn magic(self) -> &'static str {
        match self {
            Self::R1cs => "r1cs",
            Self::Wtns => "wtns",
            Self::Zkey => "zkey",
            Self::Ptau => "ptau",
            Self::Pmpk => "pmpk",
        }
    }

    /// The newest version of the format; older ones have the same layout.
    pub(crate) const fn newest_version(self) -> u32 {
        match self {
            Self::R1cs | Self::Ptau | Self::Pmpk => 1,
            Self::Wtns | Self::Zkey => 2,
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.magic())
    }
}

/// The kind of a file by its first bytes. Some kinds are files that Proofmill does not read, because failed downloads leave such files. Its
/// [`Display`](fmt::Display) form ends messages such as "expected zkey, found HTML".
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// No bytes.
    Empty,
    /// A file with sections.
    Container(FileKind),
    /// A WebAssembly module.
    Wasm,
    /// A circuit that `proofmill wtns compile` wrote.
    CompiledCircuit,
    /// A graph of circom-witnesscalc.
    WitnessGraph,
    /// A proof of a STARK.
    StarkProof,
    /// A Merkle tree.
    MerkleTree,
    /// An object or a list.
    Json,
    /// HTML or XML, which servers send instead of a file that they do not have.
    Page,
    /// A pointer of Git LFS, in the place of a file that was not fetched.
    LfsPointer,
    /// Compressed or packed files, by their format and the command that unpacks them.
    Archive(&'static str, &'static str),
    /// Anything else, with its first bytes.
    Other(Vec<u8>),
}

impl Content {
    /// The most bytes that are looked at.
    pub const LONGEST: usize = 64;

    /// The kind of a file that begins with these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/";
        const MAGICS: [(&[u8], Content); 9] = [
            (b"\0asm", Content::Wasm),
            (b"pmwg", Content::CompiledCircuit),
            // It also begins like a witness.
            (b"wtns.gra", Content::WitnessGraph),
            (b"PMSTARK", Content::StarkProof),
            (b"pfmerkle", Content::MerkleTree),
            (b"\x1f\x8b", Content::Archive("gzip", "gunzip")),
            (b"PK\x03\x04", Content::Archive("ZIP", "unzip")),
            (b"\x28\xb5\x2f\xfd", Content::Archive("Zstandard", "unzstd")),
            (LFS_POINTER, Content::LfsPointer),
        ];
        let bytes = bytes.get(..Self::LONGEST).unwrap_or(bytes);
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
        let magic = MAGICS.into_iter().find(|(magic, _)| bytes.starts_with(magic));
        match (magic, FileKind::of(bytes), text) {
            (Some((_, content)), ..) => content,
            (None, Some(kind), _) => Self::Container(kind),
            (.., [b'{' | b'[', ..]) => Self::Json,
            (.., [b'<', ..]) => Self::Page,
            _ if bytes.is_empty() => Self::Empty,
            _ => Self::Other(bytes.get(..4).unwrap_or(bytes).to_vec()),
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("an empty file"),
            Self::Container(kind) => kind.fmt(f),
            Self::Wasm => f.write_str("WASM"),
            Self::CompiledCircuit => f.write_str("a compiled circuit"),
            Self::WitnessGraph => f.write_str("a graph of circom-witnesscalc"),
            Self::StarkProof => f.write_str("a STARK's proof"),
            Self::MerkleTree => f.write_str("a Merkle tree"),
            Self::Json => f.write_str("JSON"),
            Self::Page => f.write_str("HTML or XML, which is a server's answer and not the file"),
            Self::LfsPointer => f.write_str("a pointer of Git LFS: `git lfs pull` fetches the file"),
            Self::Archive(format, program) => write!(f, "{format}: unpack it with {program}"),
            Self::Other(first) => write!(f, "a file that begins with \"{}\"", show_bytes(first)),
        }
    }
}

/// Bytes for a message: printable ASCII unchanged, other bytes as `\xNN`.
fn show_bytes(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = match byte {
            b' '..=b'~' => write!(text, "{}", char::from(*byte)),
            _ => write!(text, "\\x{byte:02x}"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_downloads_are_is_told() {
        for (bytes, shown) in [
            (&b""[..], "an empty file"),
            (b"zkey\x01\0\0\0", "zkey"),
            (b"wtns\x02\0\0\0", "wtns"),
            (b"wtns.graph.001", "a graph of circom-witnesscalc"),
            (b"\0asm\x01\0\0\0", "WASM"),
            (b"\xef\xbb\xbf\r\n {\"in\": 1}", "JSON"),
            (b"[\"1\"]", "JSON"),
            (b"\n<!DOCTYPE html>", "HTML or XML, which is a server's answer and not the file"),
            (b"<?xml version=\"1.0\"?><Error>", "HTML or XML, which is a server's answer and not the file"),
            (b"\x1f\x8b\x08\0", "gzip: unpack it with gunzip"),
            (b"PK\x03\x04\x14", "ZIP: unpack it with unzip"),
            (
                b"version https://git-lfs.github.com/spec/v1\noid sha256:",
                "a pointer of Git LFS: `git lfs pull` fetches the file",
            ),
            (b"404: Not Found", "a file that begins with \"404:\""),
            (b"\x89", "a file that begins with \"\\x89\""),
        ] {
            assert_eq!(Content::of(bytes).to_string(), shown);
        }
    }
}
