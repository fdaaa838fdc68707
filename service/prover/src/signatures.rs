//! Batches of BLS signatures.

use super::fault::TaskFault;
use proofmill::{
    Error,
    bls::{PublicKey, Signature, SignatureSet, find_invalid, verify_batch},
};
use proofmill_files::read_file_at_most;
use serde::{
    Deserialize, Deserializer,
    de::{self, Visitor},
};
use std::{fmt, path::Path};

/// The largest file of sets, in bytes.
const LARGEST: u64 = 1 << 28;

/// The most sets that a message names.
const MOST_NAMED: usize = 10;

/// A set as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    public_keys: Vec<Digits<{ PublicKey::BYTES }>>,
    message: Message,
    signature: Digits<{ Signature::BYTES }>,
}

/// Bytes as hexadecimal digits.
struct Digits<const N: usize>([u8; N]);

impl<'de, const N: usize> Deserialize<'de> for Digits<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text<const N: usize>;
        impl<const N: usize> Visitor<'_> for Text<N> {
            type Value = Digits<N>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{N} bytes in hexadecimal digits")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Digits<N>, E> {
                let mut bytes = [0; N];
                hex::decode_to_slice(text.strip_prefix("0x").unwrap_or(text), &mut bytes)
                    .map_err(E::custom)?;
                Ok(Digits(bytes))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// A message of any length as hexadecimal digits.
struct Message(Vec<u8>);

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Message;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("hexadecimal digits")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Message, E> {
                hex::decode(text.strip_prefix("0x").unwrap_or(text)).map(Message).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Signature sets whose keys and signatures are valid points.
pub(super) struct Sets {
    messages: Vec<Vec<u8>>,
    keys: Vec<Vec<PublicKey>>,
    signatures: Vec<Signature>,
}

impl Sets {
    /// Reads the sets.
    ///
    /// # Errors
    /// For a file that is not such JSON, and for keys and signatures that are no points of their groups.
    pub(super) fn open(path: &Path) -> Result<Self, TaskFault> {
        let text = read_file_at_most(path, LARGEST).map_err(|error| TaskFault::Io("sets", error))?;
        let sets: Vec<Set> = serde_json::from_slice(&text).map_err(|error| {
            // The error itself can have values.
            let (line, column) = (error.line(), error.column());
            TaskFault::Input(format!(
                "sets: line {line}, column {column}: expected a JSON array of objects with public_keys, message and signature in hexadecimal digits"
            ))
        })?;
        drop(text);
        let lengths: Vec<usize> = sets.iter().map(|set| set.public_keys.len()).collect();
        let (mut messages, mut keys, mut signatures) = (Vec::new(), Vec::new(), Vec::new());
        for set in sets {
            messages.push(set.message.0);
            keys.extend(set.public_keys.into_iter().map(|key| key.0));
            signatures.push(set.signature.0);
        }
        let mut decoded = PublicKey::decode_many(&keys).into_iter();
        drop(keys);
        let mut keys = Vec::with_capacity(lengths.len());
        for (index, length) in lengths.into_iter().enumerate() {
            let named = |(number, key): (usize, proofmill::Result<_>)| {
                key.map_err(|error| {
                    TaskFault::Input(format!("sets: set {index}: public key {number}: {error}"))
                })
            };
            keys.push(decoded.by_ref().take(length).enumerate().map(named).collect::<Result<_, _>>()?);
        }
        let named = |(index, signature): (usize, proofmill::Result<_>)| {
            signature.map_err(|error| TaskFault::Input(format!("sets: set {index}: signature: {error}")))
        };
        let signatures = Signature::decode_many(&signatures).into_iter().enumerate();
        let signatures = signatures.map(named).collect::<Result<_, _>>()?;
        Ok(Self { messages, keys, signatures })
    }

    /// Verifies all sets as one batch.
    ///
    /// # Errors
    /// For sets that are wrong: the error names the first ones.
    pub(super) fn verify(&self) -> Result<(), TaskFault> {
        let parts = self.messages.iter().zip(&self.keys).zip(&self.signatures);
        let sets: Vec<_> = parts
            .map(|((message, keys), signature)| SignatureSet { keys, message, signature: *signature })
            .collect();
        match verify_batch(&sets) {
            Ok(()) => Ok(()),
            Err(Error::System(cause)) => Err(Error::System(cause).into()),
            // Only a batch that fails pays for the search.
            Err(error) => Err(wrong(&error, &find_invalid(&sets)?)),
        }
    }
}

/// The fault of a batch with these wrong sets.
fn wrong(error: &Error, invalid: &[usize]) -> TaskFault {
    if invalid.is_empty() {
        return TaskFault::Input(format!("sets: {error}"));
    }
    let named: Vec<_> = invalid.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    let more = match invalid.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    TaskFault::Input(format!("sets: invalid, counted from 0: {}{more}", named.join(", ")))
}
