//! Names of keys, tokens and hosts, and digests.

use crate::error::ServiceError;
use sha2::{Digest, Sha256};
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// Whether this is a SHA-256 digest in lower-case hexadecimal digits.
pub fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The format of an idempotency key, for errors.
pub(crate) const IDEMPOTENCY_KEY: &str =
    "an idempotency key has 1 to 255 visible ASCII characters without spaces";

/// Whether this can be an idempotency key.
pub(crate) fn is_idempotency_key(text: &str) -> bool {
    (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether this can be the name of a key or a token: letters, digits, `.`, `-` and `_`, at most 128, and no digest.
fn is_name(text: &str) -> bool {
    let characters = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    (1..=128).contains(&text.len()) && text.bytes().all(characters) && !is_digest(text)
}

/// Refuses a text that cannot be a name. `owner` is the word for the thing that it names: a key or a token.
///
/// # Errors
/// [`ServiceError::Invalid`].
pub(crate) fn check_name(owner: &str, name: &str) -> Result<(), ServiceError> {
    if is_name(name) {
        return Ok(());
    }
    Err(ServiceError::Invalid(format!(
        "{name:?} cannot be a {owner}'s name: expected at most 128 letters, digits, '.', '-' or '_', and no digest"
    )))
}

/// Whether a host of a URL is this machine's loopback.
pub(crate) fn is_loopback(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// SHA-256 in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// SHA-256 of a file in hexadecimal digits.
///
/// # Errors
/// If it cannot be read.
pub fn digest_of_file(path: &Path) -> io::Result<String> {
    let (mut file, mut hash) = (File::open(path)?, Sha256::new());
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex::encode(hash.finalize())),
            length => hash.update(&piece[..length]),
        }
    }
}
