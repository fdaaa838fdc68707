//! The kinds of binary files, named by their first four bytes.

use serde::Serialize;
use std::fmt;

/// The kind of a binary file.
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
