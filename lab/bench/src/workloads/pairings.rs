//! Pairings, and hashing, decoding and signatures on BLS12-381.

use super::{
    adaptor::{KernelEntry, KernelFunctions, KernelLevels},
    encoding::{Encode, encoded},
    inputs::{Rng, arrays, bytes, points},
};
use proofmill_bls::{
    BlsError, DST, PublicKey, SecretKey, Signature, SignatureSet, ValidPublicKey, fast_aggregate_verify,
    verify, verify_batch,
};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve, EncodingError,
    bls12_381::{self, Encoded, Subgroup, decode_compressed},
    bn254,
    hash_to_curve::{hash_to_g1, hash_to_g2},
};
use proofmill_field::{Fp, Prime, Tower};
use proofmill_pairing::{Gt, Pairing, multi_pairing};
use std::fmt::Display;

pub(crate) fn table() -> Vec<KernelEntry> {
    vec![
        product::<bn254::G1, _>("bn254"),
        product::<bls12_381::G1, _>("bls12-381"),
        hash("hash-to-g1", hash_to_g1),
        hash("hash-to-g2", hash_to_g2),
        decode::<bls12_381::G1, _>("decode-g1", Subgroup::Checked),
        decode::<bls12_381::G2, _>("decode-g2", Subgroup::Checked),
        decode::<bls12_381::G1, _>("decode-g1-unchecked", Subgroup::Unchecked),
        decode::<bls12_381::G2, _>("decode-g2-unchecked", Subgroup::Unchecked),
        public_key(),
        sign(),
        verify_one(),
        aggregate(),
        batch(),
        batch_of_one_message(),
    ]
}

/// Points of G1, and as many points of G2.
type Points<C> = (Vec<Affine<C>>, Vec<Affine<<C as proofmill_curve::SourceGroups>::G2>>);

/// The product of `size` pairings.
fn product<C, P>(name: &str) -> KernelEntry
where
    C: Pairing<Prime: Tower, Scalar = Fp<P>, G2: Curve<Scalar = Fp<P>, Base: Encode>>,
    P: Prime,
{
    KernelFunctions::new(
        |rng, size| -> Result<Points<C>, String> { Ok((points(rng, size), points(rng, size))) },
        |(of_g1, of_g2), _| {
            Ok((of_g1.iter().copied().zip(of_g2.iter().copied()).collect::<Vec<_>>(), Vec::new()))
        },
        |_, (pairs, product): &mut (_, Vec<Gt<C>>), level, _| {
            product.clear();
            product.push(multi_pairing::<C>(level, pairs));
            Ok(())
        },
        |(_, product)| encoded(&product[..]),
    )
    .for_peers(|(of_g1, of_g2)| [encoded(&of_g1[..]), encoded(&of_g2[..])].concat())
    .entry(format!("pairing/{name}"), KernelLevels::PrimeFields)
}

/// Length of a message in bytes.
const MESSAGE: usize = 32;

/// Hashes messages to points under a domain separation tag.
type Hash<C> = fn(Level, &[&[u8]], &[u8]) -> Vec<Affine<C>>;

/// The hashes of `size` messages to points.
fn hash<C: Curve<Base: Encode>>(name: &str, hash: Hash<C>) -> KernelEntry {
    KernelFunctions::new(
        |rng, size| Ok(arrays::<MESSAGE>(rng, size)),
        |_, _| Ok(Vec::new()),
        move |messages, points, level, _| {
            let messages: Vec<&[u8]> = messages.iter().map(<[u8; MESSAGE]>::as_slice).collect();
            *points = hash(level, &messages, DST);
            Ok(())
        },
        |points| encoded(&points[..]),
    )
    .for_peers(|messages| encoded(&messages[..]))
    .entry(format!("bls12_381/{name}"), KernelLevels::PrimeFields)
}

/// Decodes `size` compressed points; checks that they are on the curve and, with [`Subgroup::Checked`], in
/// the subgroup.
fn decode<C: Encoded<Base: Encode, Scalar = Fp<P>>, P: Prime>(name: &str, subgroup: Subgroup) -> KernelEntry {
    KernelFunctions::new(
        |rng, size| {
            let points: Vec<Affine<C>> = points(rng, size);
            Ok(points.iter().map(Affine::to_compressed).collect::<Vec<C::Compressed>>())
        },
        |_, _| Ok(Vec::new()),
        move |encodings, points, level, _| {
            let decoded = decode_compressed::<C>(level, encodings, subgroup).into_iter();
            *points = decoded.collect::<Result<Vec<_>, EncodingError>>().map_err(text)?;
            Ok(())
        },
        |points| encoded(&points[..]),
    )
    .for_peers(|encodings| encodings.iter().flat_map(|bytes| bytes.as_ref().to_vec()).collect())
    .entry(format!("bls12_381/{name}"), KernelLevels::PrimeFields)
}

fn text(error: impl Display) -> String {
    error.to_string()
}

/// A key pair, a message, and its signature.
struct Signed {
    secret: SecretKey,
    key: ValidPublicKey,
    message: [u8; MESSAGE],
    signature: [u8; Signature::BYTES],
}

impl Signed {
    fn new(rng: &mut Rng, message: Option<[u8; MESSAGE]>) -> Result<Self, String> {
        let level = Level::best();
        let secret = SecretKey::derive_master(&bytes(rng, 32)).map_err(text)?;
        let message = message.unwrap_or_else(|| arrays(rng, 1)[0]);
        let signature = secret.sign(level, &message).to_bytes();
        Ok(Self { key: secret.public_key(level), secret, message, signature })
    }

    fn one(rng: &mut Rng, size: usize) -> Result<Self, String> {
        if size == 1 { Self::new(rng, None) } else { Err("expected 1".to_owned()) }
    }
}

impl Encode for Signed {
    /// The public key, the message, the signature.
    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.key.to_bytes());
        bytes.extend(self.message);
        bytes.extend(self.signature);
    }
}

/// The output of a verification that accepts; others are errors.
const VALID: [u8; 1] = [1];

/// The public key of a secret key.
fn public_key() -> KernelEntry {
    KernelFunctions::new(
        Signed::one,
        |_, _| Ok([0; PublicKey::BYTES]),
        |signed, key, level, _| {
            *key = signed.secret.public_key(level).to_bytes();
            Ok(())
        },
        |key| key.to_vec(),
    )
    .for_peers(|signed| signed.secret.to_bytes().to_vec())
    .entry("bls/public-key", KernelLevels::PrimeFields)
}

/// A signature.
fn sign() -> KernelEntry {
    KernelFunctions::new(
        Signed::one,
        |_, _| Ok([0; Signature::BYTES]),
        |signed, signature, level, _| {
            *signature = signed.secret.sign(level, &signed.message).to_bytes();
            Ok(())
        },
        |signature| signature.to_vec(),
    )
    .for_peers(|signed| [&signed.secret.to_bytes()[..], &signed.message].concat())
    .entry("bls/sign", KernelLevels::PrimeFields)
}

/// The verification of a signature, given as bytes; the key was checked before.
fn verify_one() -> KernelEntry {
    verification(
        "verify",
        Signed::one,
        |signed, level| {
            let signature = Signature::from_bytes(level, &signed.signature)?;
            verify(level, &signed.key, &signed.message, &signature)
        },
        encoded,
    )
}

/// The verification of an aggregate signature of one message by `size` keys, given as bytes.
fn aggregate() -> KernelEntry {
    verification(
        "fast-aggregate-verify",
        |rng, size| {
            let message = arrays(rng, 1)[0];
            let signed = (0..size).map(|_| Signed::new(rng, Some(message))).collect::<Result<Vec<_>, _>>()?;
            let level = Level::best();
            let signatures = signed.iter().map(|signed| Signature::from_bytes(level, &signed.signature));
            let signatures = signatures.collect::<Result<Vec<_>, _>>().map_err(text)?;
            let signature = Signature::aggregate(level, &signatures).map_err(text)?.to_bytes();
            Ok((signed.iter().map(|signed| signed.key).collect::<Vec<_>>(), message, signature))
        },
        |(keys, message, signature), level| {
            let signature = Signature::from_bytes(level, signature)?;
            fast_aggregate_verify(level, keys, message, &signature)
        },
        |(keys, message, signature)| {
            let mut bytes: Vec<u8> = keys.iter().flat_map(ValidPublicKey::to_bytes).collect();
            bytes.extend(message);
            bytes.extend(signature);
            bytes
        },
    )
}

/// The batch verification of `size` signatures of different messages by different keys, given as bytes.
fn batch() -> KernelEntry {
    batch_of("batch-verify", None)
}

/// The same for signatures of one message.
fn batch_of_one_message() -> KernelEntry {
    batch_of("batch-verify-one-message", Some([7; MESSAGE]))
}

fn batch_of(name: &str, message: Option<[u8; MESSAGE]>) -> KernelEntry {
    verification(
        name,
        move |rng, size| (0..size).map(|_| Signed::new(rng, message)).collect::<Result<Vec<_>, _>>(),
        |all: &Vec<Signed>, level| {
            let encodings: Vec<_> = all.iter().map(|signed| signed.signature).collect();
            let signatures = Signature::decode_many(level, &encodings).into_iter();
            let signatures = signatures.collect::<Result<Vec<_>, _>>()?;
            let sets = all.iter().zip(signatures).map(|(signed, signature)| SignatureSet {
                keys: std::slice::from_ref(&signed.key),
                message: &signed.message,
                signature,
            });
            let sets: Vec<SignatureSet<'_>> = sets.collect();
            verify_batch(level, &sets)
        },
        |all| encoded(&all[..]),
    )
}

/// A verification of a valid input.
fn verification<I: Send + Sync + 'static>(
    name: &str,
    make: impl Fn(&mut Rng, usize) -> Result<I, String> + Send + Sync + 'static,
    verify: impl Fn(&I, Level) -> Result<(), BlsError> + Send + Sync + 'static,
    input: impl Fn(&I) -> Vec<u8> + Send + Sync + 'static,
) -> KernelEntry {
    KernelFunctions::new(
        make,
        |_, _| Ok(()),
        move |input, (), level, _| verify(input, level).map_err(text),
        |()| VALID.to_vec(),
    )
    .for_peers(input)
    .entry(format!("bls/{name}"), KernelLevels::PrimeFields)
}
