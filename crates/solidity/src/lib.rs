//! The text around the formulas of a proof system: a contract with one function `verifyProof`, whose body is Yul, and the text of
//! its arguments. [`Contract`] finds the points in contracts of any origin.
//!
//! ```
//! use proofmill_solidity::Contract;
//!
//! let source = "contract Verifier { uint256 constant alphax = 1; }";
//! let contracts = Contract::all(source);
//! assert_eq!(contracts[1].name, "Verifier");
//! ```
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod contracts;
mod tokens;

pub use contracts::{Contract, Form, Place, Role};
use proofmill_field::{
    Prime,
    bn254::{FqParams, Fr, FrParams},
};

/// The first byte of the arguments in the data of a call, after the function's selector.
pub const ARGUMENTS: usize = 4;

/// The first byte of memory that Solidity leaves to a function that allocates nothing else.
pub const MEMORY: usize = 0x80;

/// A contract that verifies the proofs of one key.
#[derive(Debug)]
pub struct Verifier<'a> {
    /// The name of the contract.
    pub name: &'a str,
    /// The proof system.
    pub system: &'a str,
    /// Why anyone can forge proofs for the key, for a warning in the first lines.
    pub insecurity: Option<&'a str>,
    /// A description of the arguments: sentences for comments, one a line.
    pub comment: Vec<String>,
    /// The types of the arguments of `verifyProof`.
    pub arguments: Vec<String>,
    /// The body of `verifyProof`. It leaves the result in `valid`, 0 or 1.
    pub body: Body,
}

impl Verifier<'_> {
    /// The source of the contract.
    pub fn source(&self) -> String {
        let Self { name, system, insecurity, comment, arguments, body } = self;
        let warning = insecurity.map_or_else(String::new, |reason| {
            format!("// INSECURE, for tests only: anyone can forge proofs: {reason}.\n")
        });
        let comment: String = comment.iter().map(|line| format!("    // {line}\n")).collect();
        let arguments: Vec<_> = arguments.iter().map(|argument| format!("{argument} calldata")).collect();
        format!(
            "// SPDX-License-Identifier: MIT OR Apache-2.0\n\
             // Written by Proofmill.\n\
             {warning}\
             pragma solidity >=0.8.4 <0.9.0;\n\n\
             /// Verifies {system} proofs of one circuit.\n\
             contract {name} {{\n\
             {comment}    \
             function verifyProof({}) external view returns (bool valid) {{\n        \
             assembly {{\n{}        }}\n    }}\n}}\n",
            arguments.join(", "),
            body.indented(3)
        )
    }
}

/// Statements of Yul, one a line.
#[derive(Clone, Debug, Default)]
pub struct Body(Vec<String>);

impl Body {
    /// Appends a line.
    pub fn line(&mut self, line: impl Into<String>) {
        self.0.push(line.into());
    }

    /// Appends the lines of a text, without empty ones and without their indentation.
    pub fn text(&mut self, text: &str) {
        self.0.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
    }

    /// Stores constant words, big-endian, in memory from byte `begin` on.
    pub fn store(&mut self, begin: usize, words: &[u8]) {
        for (index, bytes) in words.chunks(32).enumerate() {
            self.line(format!("mstore({:#x}, {})", begin + 32 * index, word(bytes)));
        }
    }

    /// The text, indented by braces from `depth` on.
    fn indented(&self, mut depth: usize) -> String {
        let mut text = String::new();
        for line in &self.0 {
            let line = line.trim();
            depth -= usize::from(line.starts_with('}'));
            text += &format!("{:1$}{line}\n", "", 4 * depth);
            depth += usize::from(line.ends_with('{'));
        }
        text
    }
}

/// Big-endian bytes, at most 32, as a literal.
pub fn word(bytes: &[u8]) -> String {
    match hex::encode(bytes).trim_start_matches('0') {
        "" => "0".to_owned(),
        digits => format!("0x{digits}"),
    }
}

/// A scalar as a literal.
pub fn literal(value: Fr) -> String {
    word(&value.to_bytes_be())
}

/// The modulus of scalars as a literal.
pub fn scalar_modulus() -> String {
    modulus(FrParams::MODULUS)
}

/// The modulus of coordinates as a literal.
pub fn coordinate_modulus() -> String {
    modulus(FqParams::MODULUS)
}

fn modulus(limbs: [u64; 4]) -> String {
    let bytes: Vec<u8> = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    word(&bytes)
}

/// Words of a call, 32 big-endian bytes each, as snarkjs prints a list: `["0x…","0x…"]`, 64 digits each.
pub fn array(words: impl IntoIterator<Item = impl AsRef<[u8]>>, separator: &str) -> String {
    let quoted = words.into_iter().map(|word| format!("\"0x{}\"", hex::encode(word)));
    format!("[{}]", quoted.collect::<Vec<_>>().join(separator))
}
