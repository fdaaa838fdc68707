//! Derivation of secret keys from seeds and from other secret keys: EIP-2333, with the paths of EIP-2334.

use crate::{BlsError, SecretKey};
use proofmill_field::{Algebra, Field, bls12_381::Fr};
use proofmill_sha256::{HKDF_MOST, Sha256, digest, hkdf_expand, hkdf_extract};
use rand::{TryRngCore, rngs::OsRng};
use zeroize::{Zeroize, Zeroizing};

/// Bytes of key material that are reduced modulo r: `ceil(1.5 * 255 / 8)`.
const MATERIAL: usize = 48;

impl SecretKey {
    /// The least length of a seed in bytes.
    pub const LEAST_SEED: usize = 32;

    /// A random key, from the operating system's randomness.
    ///
    /// # Errors
    /// [`BlsError::Randomness`].
    pub fn generate() -> Result<Self, BlsError> {
        let mut seed = Zeroizing::new([0; Self::LEAST_SEED]);
        OsRng.try_fill_bytes(&mut *seed).map_err(|error| BlsError::Randomness(error.to_string()))?;
        Self::derive_master(&*seed)
    }

    /// The master key of a seed: EIP-2333's `derive_master_SK`.
    ///
    /// # Errors
    /// [`BlsError::SeedLength`] for less than [`LEAST_SEED`](Self::LEAST_SEED) bytes.
    pub fn derive_master(seed: &[u8]) -> Result<Self, BlsError> {
        if seed.len() < Self::LEAST_SEED {
            return Err(BlsError::SeedLength { found: seed.len() });
        }
        Ok(hkdf_mod_r(seed))
    }

    /// The child key with this index: EIP-2333's `derive_child_SK`.
    pub fn derive_child(&self, index: u32) -> Self {
        let mut key = self.to_bytes();
        let salt = index.to_be_bytes();
        let mut hash = Sha256::new();
        lamport_public(&salt, &*key, &mut hash);
        // The second half of the Lamport key is of the complement.
        key.iter_mut().for_each(|byte| *byte = !*byte);
        lamport_public(&salt, &*key, &mut hash);
        let mut compressed = hash.finish();
        hash.zeroize();
        let child = hkdf_mod_r(&compressed);
        compressed.zeroize();
        child
    }

    /// The key of a seed at a path such as `m/12381/3600/0/0/0` (EIP-2334).
    ///
    /// # Errors
    /// [`BlsError::Path`], [`BlsError::SeedLength`].
    pub fn derive_path(seed: &[u8], path: &str) -> Result<Self, BlsError> {
        let refused = || BlsError::Path(path.chars().take(80).collect());
        let mut parts = path.split('/');
        if parts.next() != Some("m") {
            return Err(refused());
        }
        let mut key = Self::derive_master(seed)?;
        for part in parts {
            let is_number = !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
            let index = is_number.then(|| part.parse().ok()).flatten().ok_or_else(refused)?;
            key = key.derive_child(index);
        }
        Ok(key)
    }
}

/// EIP-2333's `hkdf_mod_r`, whose key information is always empty.
fn hkdf_mod_r(seed: &[u8]) -> SecretKey {
    let mut salt = digest(b"BLS-SIG-KEYGEN-SALT-");
    let mut secret = Zeroizing::new(seed.to_vec());
    // `IKM || I2OSP(0, 1)`.
    secret.push(0);
    loop {
        let mut key = hkdf_extract(&salt, &secret);
        let mut material = [0; MATERIAL];
        // `key_info || I2OSP(L, 2)` with an empty `key_info`.
        hkdf_expand(&key, &(MATERIAL as u16).to_be_bytes(), &mut material);
        let words = reduce(&material);
        key.zeroize();
        material.zeroize();
        // The integer is zero for one in 2^255 seeds.
        match SecretKey::from_words(words) {
            Some(key) => return key,
            None => salt = digest(&salt),
        }
    }
}

/// A big-endian integer modulo r, as little-endian words.
fn reduce(bytes: &[u8; MATERIAL]) -> [u64; 4] {
    // 2^64: words are joined by Horner's rule.
    let radix: Fr = Fr::from(1 << 32).square();
    let words = bytes.as_chunks().0.iter().map(|word| Fr::from(u64::from_be_bytes(*word)));
    words.fold(Fr::ZERO, |value, word| value * radix + word).to_canonical()
}

/// Adds the public half of a Lamport key to a hash: the digests of the 255 chunks to which a secret is expanded.
fn lamport_public(salt: &[u8], secret: &[u8], hash: &mut Sha256) {
    let mut key = hkdf_extract(salt, secret);
    let mut chunks = Zeroizing::new([0; HKDF_MOST]);
    hkdf_expand(&key, b"", &mut *chunks);
    key.zeroize();
    for chunk in chunks.as_chunks::<32>().0 {
        hash.update(&digest(chunk));
    }
}
