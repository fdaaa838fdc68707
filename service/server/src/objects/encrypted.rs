//! Encryption of the files of jobs before they get into objects.
//!
//! An encrypted file is [`MAGIC`], the key's id, a random nonce, and the content in chunks of [`CHUNK`] bytes, each followed by its tag: the
//! STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár, "Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance", 2015)
//! with XChaCha20-Poly1305. A chunk's nonce is the file's, which has 152 random bits, then the chunk's number and whether it is the last. So
//! chunks cannot be changed, moved, left out or added. The object's name is associated data of each chunk, so one object cannot replace another.

use super::{ObjectReader, Objects, Staged, Staging, blocking};
use aead_stream::{DecryptorBE32, EncryptorBE32, Nonce, StreamBE32, aead};
use async_trait::async_trait;
use bytes::Bytes;
use chacha20poly1305::XChaCha20Poly1305;
use futures::stream::try_unfold;
use sha2::{Digest, Sha256};
use std::{
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::io::AsyncReadExt;
use tokio_util::io::StreamReader;
use zeroize::Zeroizing;

/// How an encrypted file begins.
const MAGIC: &[u8; 8] = b"pm-enc-1";
/// The bytes of a key's id, of a file's nonce, and of all before the first chunk.
const ID: usize = 8;
const NONCE: usize = 19;
const HEADER: usize = MAGIC.len() + ID + NONCE;
/// The bytes of a chunk without its tag.
const CHUNK: usize = 1 << 16;
const TAG: usize = 16;
/// The name of an empty object that exists if the files of jobs are encrypted. It is encrypted with the same key.
pub(super) const MARK: &str = "encryption";
/// The most bytes of a file with keys, and how to make one.
const MOST_KEY_BYTES: u64 = 4096;
const HOW_TO_MAKE: &str = "`(umask 077; openssl rand -hex 32 > FILE)` makes one";

/// The secret keys of encrypted files: the first one encrypts, all decrypt.
pub struct FileKeys(Vec<FileKey>);

struct FileKey {
    id: [u8; ID],
    secret: Zeroizing<[u8; 32]>,
}

impl FileKeys {
    /// Reads keys of 32 bytes: one on each line, in hexadecimal digits.
    ///
    /// # Errors
    /// For a file that others can read, or with another content.
    pub fn open(path: &Path) -> io::Result<Self> {
        let invalid = |problem: String| io::Error::new(io::ErrorKind::InvalidInput, problem);
        let file = File::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => invalid(format!("there is no such file; {HOW_TO_MAKE}")),
            _ => error,
        })?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let data = file.metadata()?;
            // Files that systemd and Kubernetes pass belong to root, and a group may read them.
            let others = if data.uid() == 0 { 0o037 } else { 0o077 };
            if data.mode() & others != 0 {
                return Err(invalid("others may read or write this file of keys: chmod 600".to_owned()));
            }
        }
        let mut text = Zeroizing::new(String::with_capacity(MOST_KEY_BYTES as usize + 1));
        let read = file.take(MOST_KEY_BYTES + 1).read_to_string(&mut text);
        let malformed =
            || invalid(format!("expected keys of 64 hexadecimal digits, one on each line; {HOW_TO_MAKE}"));
        if read.map_err(|_| malformed())? > MOST_KEY_BYTES as usize {
            return Err(malformed());
        }
        Self::parse(&text).ok_or_else(malformed)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut keys = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let mut secret = Zeroizing::new([0; 32]);
            hex::decode_to_slice(line, &mut *secret).ok()?;
            // The id is public: a hash of the key tells nothing about its 32 random bytes.
            let digest = Sha256::new().chain_update(MAGIC).chain_update(*secret).finalize();
            let id = digest[..ID].try_into().expect("its length");
            keys.push(FileKey { id, secret });
        }
        if keys.is_empty() { None } else { Some(Self(keys)) }
    }
}

/// Objects in which the files of jobs are encrypted: inputs, and with them results.
pub struct Encrypted {
    objects: Arc<dyn Objects>,
    staging: Staging,
    keys: Arc<FileKeys>,
}

impl Encrypted {
    /// Encrypts in the staging, which has to be that of `objects`.
    pub fn new(objects: Arc<dyn Objects>, staging: Staging, keys: FileKeys) -> Self {
        Self { objects, staging, keys: Arc::new(keys) }
    }

    /// Opens an encrypted object: the index of its key, its length in bytes, and its content.
    async fn open(&self, name: &str) -> io::Result<(usize, u64, ObjectReader)> {
        let problem = |problem| wrong(name, problem);
        let (length, mut content) = self.objects.get(name).await?;
        let mut header = [0; HEADER];
        content.read_exact(&mut header).await.map_err(|error| unread(name, error))?;
        let (magic, rest) = header.split_at(MAGIC.len());
        let (id, nonce) = rest.split_at(ID);
        let left = length.saturating_sub(HEADER as u64);
        let (Some(length), true) = (length_of_content(left), magic == MAGIC) else {
            return Err(problem("damaged, or not encrypted"));
        };
        let key = self.keys.0.iter().position(|key| key.id == id);
        let key = key
            .ok_or_else(|| problem("encrypted with a key that the file of --encrypt-inputs does not have"))?;
        let decryptor = DecryptorBE32::new((&*self.keys.0[key].secret).into(), &nonce_of(nonce));
        let decryption = Decryption { content, decryptor: Some(decryptor), name: name.to_owned(), left };
        let chunks = try_unfold(decryption, |mut decryption| async {
            Ok::<_, io::Error>(decryption.next().await?.map(|chunk| (chunk, decryption)))
        });
        Ok((key, length, Box::pin(StreamReader::new(Box::pin(chunks)))))
    }
}

#[async_trait]
impl Objects for Encrypted {
    async fn put(&self, name: &str, file: Staged) -> io::Result<()> {
        if !is_encrypted(name) {
            return self.objects.put(name, file).await;
        }
        let (staging, keys, associated) = (self.staging.clone(), self.keys.clone(), name.to_owned());
        let encrypted = blocking(move || {
            let (mut output, encrypted) = staging.file()?;
            encrypt(&keys.0[0], associated.as_bytes(), File::open(file.path())?, &mut output)?;
            Ok(encrypted)
        });
        self.objects.put(name, encrypted.await?).await
    }

    async fn get(&self, name: &str) -> io::Result<(u64, ObjectReader)> {
        if !is_encrypted(name) {
            return self.objects.get(name).await;
        }
        let (_, length, content) = self.open(name).await?;
        Ok((length, content))
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        if is_encrypted(name) { None } else { self.objects.path(name) }
    }

    async fn delete(&self, prefix: &str) -> io::Result<()> {
        self.objects.delete(prefix).await
    }

    async fn list(&self, prefix: &str) -> io::Result<Vec<String>> {
        self.objects.list(prefix).await
    }

    fn encrypts(&self) -> bool {
        true
    }

    /// Begins to encrypt if there are no files of jobs.
    async fn check_encryption(&self) -> io::Result<()> {
        let is_newest = match self.open(MARK).await {
            Ok((key, _, mut content)) => {
                tokio::io::copy(&mut content, &mut tokio::io::sink()).await?;
                key == 0
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if !self.objects.list("jobs/").await?.is_empty() {
                    let problem = "the objects have files of jobs without encryption: --encrypt-inputs needs new objects";
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
                }
                false
            }
            Err(error) => return Err(error),
        };
        if is_newest { Ok(()) } else { self.put(MARK, self.staging.file_with(b"")?).await }
    }
}

/// Keys and the store's id are no secrets.
fn is_encrypted(name: &str) -> bool {
    name.starts_with("jobs/") || name == MARK
}

/// The length of the content that is encrypted in `bytes` bytes after the header; `None` if no content has that length.
fn length_of_content(bytes: u64) -> Option<u64> {
    let tags = TAG as u64 * bytes.div_ceil((CHUNK + TAG) as u64).max(1);
    bytes.checked_sub(tags)
}

fn nonce_of(bytes: &[u8]) -> Nonce<XChaCha20Poly1305, StreamBE32<XChaCha20Poly1305>> {
    bytes.try_into().expect("its length")
}

fn encrypt(key: &FileKey, associated: &[u8], content: File, target: &mut File) -> io::Result<()> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(io::Error::other)?;
    for part in [MAGIC, &key.id, &nonce[..]] {
        target.write_all(part)?;
    }
    let too_long = |_: aead::Error| io::Error::from(io::ErrorKind::FileTooLarge);
    let mut encryptor = EncryptorBE32::<XChaCha20Poly1305>::new((&*key.secret).into(), &nonce_of(&nonce));
    let mut left = content.metadata()?.len();
    let mut chunk = Zeroizing::new(Vec::with_capacity(CHUNK + TAG));
    loop {
        chunk.clear();
        let length = left.min(CHUNK as u64);
        if ((&content).take(length).read_to_end(&mut chunk)? as u64) < length {
            return Err(io::Error::other("the file became shorter while it was encrypted"));
        }
        left -= length;
        // The nonce marks the last chunk, so a file that is cut after a chunk fails to decrypt.
        if left == 0 {
            encryptor.encrypt_last_in_place(associated, &mut *chunk).map_err(too_long)?;
            return target.write_all(&chunk);
        }
        encryptor.encrypt_next_in_place(associated, &mut *chunk).map_err(too_long)?;
        target.write_all(&chunk)?;
    }
}

/// A file that is being decrypted.
struct Decryption {
    content: ObjectReader,
    /// `None` after the last chunk.
    decryptor: Option<DecryptorBE32<XChaCha20Poly1305>>,
    name: String,
    /// The number of bytes that are still to be read.
    left: u64,
}

impl Decryption {
    /// The next chunk, which is authentic.
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        let Some(mut decryptor) = self.decryptor.take() else { return Ok(None) };
        let length = self.left.min((CHUNK + TAG) as u64);
        self.left -= length;
        let mut chunk = vec![0; length as usize];
        self.content.read_exact(&mut chunk).await.map_err(|error| unread(&self.name, error))?;
        let name = self.name.as_bytes();
        let result = if self.left == 0 {
            decryptor.decrypt_last_in_place(name, &mut chunk)
        } else {
            let result = decryptor.decrypt_next_in_place(name, &mut chunk);
            self.decryptor = Some(decryptor);
            result
        };
        result.map_err(|_| wrong(&self.name, "damaged: not what was encrypted"))?;
        Ok(Some(chunk.into()))
    }
}

fn wrong(name: &str, problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("object {name}: {problem}"))
}

/// A file that ends too early is damaged; other errors are those of the objects.
fn unread(name: &str, error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => wrong(name, "damaged: too short"),
        kind => io::Error::new(kind, format!("object {name}: {error}")),
    }
}
