//! Signatures of Ethereum's ciphersuite. Public keys are validated in advance; decoding of signatures and the
//! check that they are in the subgroup are timed.

use blst::{
    BLST_ERROR, blst_scalar,
    min_pk::{PublicKey, SecretKey, Signature},
};
use peer_protocol::{Bytes, Task, Work, work};

/// The domain separation tag.
pub(crate) const TAG: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

/// Length of a message in bytes.
pub(crate) const MESSAGE_LEN: usize = 32;

const SECRET_LEN: usize = 32;
const KEY_LEN: usize = 48;
const SIGNATURE_LEN: usize = 96;

/// Bits of the random factors of a batch, which bound the probability of a forgery.
const FACTOR_BITS: usize = 64;

type Outcome = Result<Box<dyn Work>, String>;

pub(crate) fn public_key(task: &Task) -> Outcome {
    let mut input = Bytes::new(&task.input);
    let secret = SecretKey::from_bytes(&one(&mut input, SECRET_LEN)?).map_err(name)?;
    input.end()?;
    Ok(work(move || secret.sk_to_pk().to_bytes(), |key| key.to_vec()))
}

pub(crate) fn sign(task: &Task) -> Outcome {
    let mut input = Bytes::new(&task.input);
    let secret = SecretKey::from_bytes(&one(&mut input, SECRET_LEN)?).map_err(name)?;
    let message = one(&mut input, MESSAGE_LEN)?;
    input.end()?;
    Ok(work(move || secret.sign(&message, TAG, &[]).to_bytes(), |signature| signature.to_vec()))
}

pub(crate) fn verify(task: &Task) -> Outcome {
    let mut input = Bytes::new(&task.input);
    let key = key(&one(&mut input, KEY_LEN)?)?;
    let message = one(&mut input, MESSAGE_LEN)?;
    let signature = one(&mut input, SIGNATURE_LEN)?;
    input.end()?;
    Ok(verification(move || {
        Signature::from_bytes(&signature)
            .map_or_else(|error| error, |signature| signature.verify(true, &message, TAG, &[], &key, false))
    }))
}

pub(crate) fn fast_aggregate_verify(task: &Task) -> Outcome {
    let mut input = Bytes::new(&task.input);
    let keys = input.take(task.size, KEY_LEN, key)?.into_iter().collect::<Result<Vec<_>, _>>()?;
    let message = one(&mut input, MESSAGE_LEN)?;
    let signature = one(&mut input, SIGNATURE_LEN)?;
    input.end()?;
    Ok(verification(move || {
        let keys: Vec<&PublicKey> = keys.iter().collect();
        Signature::from_bytes(&signature).map_or_else(
            |error| error,
            |signature| signature.fast_aggregate_verify(true, &message, TAG, &keys),
        )
    }))
}

/// An input of sets of a key, a message and a signature.
pub(crate) fn batch_verify(task: &Task) -> Outcome {
    let mut input = Bytes::new(&task.input);
    let sets = input.take(task.size, KEY_LEN + MESSAGE_LEN + SIGNATURE_LEN, |set| {
        let (of_key, rest) = set.split_at(KEY_LEN);
        let (message, signature) = rest.split_at(MESSAGE_LEN);
        Ok((key(of_key)?, message.to_vec(), signature.to_vec()))
    })?;
    input.end()?;
    let sets = sets.into_iter().collect::<Result<Vec<_>, String>>()?;
    // A verifier draws the factors at random, at negligible cost.
    let factors: Vec<blst_scalar> = (0..task.size as u64).map(factor).collect();
    Ok(verification(move || {
        let signatures = sets.iter().map(|(_, _, signature)| Signature::from_bytes(signature));
        let signatures = match signatures.collect::<Result<Vec<_>, _>>() {
            Ok(signatures) => signatures,
            Err(error) => return error,
        };
        let (keys, messages): (Vec<_>, Vec<_>) =
            sets.iter().map(|(key, message, _)| (key, &message[..])).unzip();
        let signatures: Vec<&Signature> = signatures.iter().collect();
        Signature::verify_multiple_aggregate_signatures(
            &messages,
            TAG,
            &keys,
            false,
            &signatures,
            true,
            &factors,
            FACTOR_BITS,
        )
    }))
}

/// Work whose output is 1 if the input is valid.
fn verification(verify: impl FnMut() -> BLST_ERROR + 'static) -> Box<dyn Work> {
    work(verify, |outcome| vec![u8::from(*outcome == BLST_ERROR::BLST_SUCCESS)])
}

fn one(input: &mut Bytes<'_>, len: usize) -> Result<Vec<u8>, String> {
    input.take(len, 1, |byte| byte[0])
}

fn key(bytes: &[u8]) -> Result<PublicKey, String> {
    PublicKey::key_validate(bytes).map_err(name)
}

/// A nonzero factor: an odd multiple of a constant with well-spread bits.
fn factor(index: u64) -> blst_scalar {
    let mut factor = blst_scalar::default();
    factor.b[..8].copy_from_slice(&0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * index + 1).to_le_bytes());
    factor
}

fn name(error: BLST_ERROR) -> String {
    format!("{error:?}")
}
