//! Descriptions of protocols: their steps and their shape.

use super::Challenger;
use proofmill_field::goldilocks::{Goldilocks, MODULUS};
use proofmill_hash::Keccak256;
use std::fmt::{Display, Write};

/// The name of the base field as an algebra over itself.
const BASE: &str = "p3-scalar-basis-v1";

/// The names of the extensions of degree 2 and 3 with their bases.
const EXTENSIONS: [&str; 2] = ["p3-power-basis-v1:X^2-7", "p3-power-basis-v1:X^3-X-1"];

/// The number of bytes of a seed that an element holds.
const BYTES_PER_ELEMENT: usize = 7;

/// The steps of a protocol in the order in which they run, and numbers and digests that no step shows.
///
/// Plonky3 renders the steps as text, whose Keccak-256 digest is a part of the seed. So the text here has to be the same.
pub(crate) struct Description {
    name: &'static str,
    steps: Vec<String>,
    shape: Vec<u8>,
}

/// The kind of a step: who sends or knows its values.
#[derive(Clone, Copy)]
enum Kind {
    Message,
    Public,
    Challenge,
    Work,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Message => "Message",
            Self::Public => "Public",
            Self::Challenge => "Challenge",
            Self::Work => "Pow",
        }
    }
}

/// The text of an algebra of this degree over the base field.
fn algebra(degree: usize) -> String {
    let name = if degree == 1 { BASE } else { EXTENSIONS[degree - 2] };
    let mut text = format!("Algebra({MODULUS}^{degree};");
    for byte in Keccak256::digest(name.as_bytes()) {
        write!(text, "{byte:02x}").expect("writing to a string");
    }
    text + ")"
}

fn fixed(length: usize) -> String {
    format!("Fixed({length})")
}

impl Description {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, steps: Vec::new(), shape: Vec::new() }
    }

    fn step(mut self, kind: Kind, label: &str, length: impl Display, values: impl Display) -> Self {
        self.steps.push(format!("Atomic {} {} {label} {length} {values}", kind.name(), label.len()));
        self
    }

    /// The prover sends the cap of a tree.
    pub(crate) fn commitment(self, label: &str) -> Self {
        self.step(Kind::Message, label, "Scalar", "Opaque")
    }

    /// Both sides know elements of the base field.
    pub(crate) fn public_values(self, label: &str, count: usize) -> Self {
        self.step(Kind::Public, label, fixed(count), algebra(1))
    }

    /// The prover sends elements of the extension.
    pub(crate) fn elements(self, label: &str, degree: usize, count: usize) -> Self {
        self.step(Kind::Message, label, fixed(count), algebra(degree))
    }

    /// The prover sends an element of the extension.
    pub(crate) fn element(self, label: &str, degree: usize) -> Self {
        self.step(Kind::Message, label, "Scalar", algebra(degree))
    }

    /// The verifier chooses an element of the extension.
    pub(crate) fn challenge(self, label: &str, degree: usize) -> Self {
        self.step(Kind::Challenge, label, "Scalar", algebra(degree))
    }

    /// The prover shows a proof of work, if one is asked for.
    pub(crate) fn work(self, label: &str, bits: u32) -> Self {
        if bits == 0 { self } else { self.work_of_any_bits(label, bits) }
    }

    /// The prover shows a proof of work; the step is also there if none is asked for.
    pub(crate) fn work_of_any_bits(self, label: &str, bits: u32) -> Self {
        self.step(Kind::Work, label, fixed(bits as usize), algebra(1))
    }

    /// The verifier chooses integers of `width` bits.
    pub(crate) fn bits(self, label: &str, width: u32, count: usize) -> Self {
        self.step(Kind::Challenge, label, fixed(count), format!("Bits({width})"))
    }

    /// Another protocol runs.
    pub(crate) fn protocol(mut self, label: &str) -> Self {
        for side in ["Begin", "End"] {
            self.steps.push(format!("{side} Protocol {} {label} None Marker", label.len()));
        }
        self
    }

    /// A number that the steps do not show.
    pub(crate) fn number(self, number: usize) -> Self {
        self.bytes(&(number as u64).to_be_bytes())
    }

    /// Bytes that the steps do not show.
    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.shape.extend((bytes.len() as u32).to_be_bytes());
        self.shape.extend(bytes);
        self
    }

    /// The text of the steps.
    fn text(&self) -> String {
        let count = self.steps.len();
        let width = count.saturating_sub(1).to_string().len();
        let mut text = format!("Plonky3 Fiat-Shamir Transcript ({count} interactions)\n");
        for (index, step) in self.steps.iter().enumerate() {
            writeln!(text, "{index:0>width$} {step}").expect("writing to a string");
        }
        text
    }

    /// The seed: version, name, digest of the steps, and shape.
    fn seed(&self) -> Vec<u8> {
        // 64 bytes: the version, the name padded with zeros, and the name's length.
        let mut seed = vec![0; 64];
        (seed[0], seed[63]) = (1, self.name.len() as u8);
        seed[1..=self.name.len()].copy_from_slice(self.name.as_bytes());
        seed.extend(Keccak256::digest(self.text().as_bytes()));
        seed.extend((self.shape.len() as u32).to_be_bytes());
        seed.extend(&self.shape);
        // Ends the seed: zeros that follow it are padding.
        seed.push(0x80);
        seed
    }

    /// Begins the protocol: the challenger observes the description.
    pub(crate) fn observe(&self, challenger: &mut dyn Challenger) {
        self.elements_of_seed().for_each(|element| challenger.observe(element));
    }

    /// The elements that the transcript takes: the length of the seed, and the seed.
    pub(crate) fn elements_of_seed(&self) -> impl Iterator<Item = Goldilocks> {
        let seed = self.seed();
        // Words below 2^56 are canonical elements.
        let words = seed.chunks(BYTES_PER_ELEMENT).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        });
        let words: Vec<_> = words.collect();
        std::iter::once(seed.len() as u64).chain(words).map(Goldilocks::new)
    }
}
