//! The work of the functions, for every proof system.

use crate::{
    PROVER_ERROR, PROVER_INVALID_WITNESS_LENGTH, PROVER_OK, VERIFIER_ERROR, VERIFIER_INVALID_PROOF,
    boundary::{Buffer, CallFailure, OutPointer, bytes, guarded, path, text, texts, write_texts},
};
use core::ffi::{c_char, c_int, c_ulong, c_ulonglong, c_void};
use proofmill::{
    AnyProvingKey, Error, Proof, ProofSystem, ProvingKey, VerifyingKey,
    circom::{CircuitCache, PublicSignals, Witness, WitnessCalculator},
    curve::bn254,
    fflonk::Fflonk,
    groth16::{self, Groth16},
    plonk::Plonk,
};
use std::{borrow::Borrow, path::Path};

/// Bytes of a public signal: the 77 digits of the largest, its quotes, a comma, and as much more as rapidsnark has.
const SIGNAL_BYTES: c_ulonglong = 82;

/// The operations of a proof system that the functions call.
pub(crate) struct Calls {
    open: fn(&Path) -> proofmill::Result<AnyProvingKey>,
    from_bytes: fn(Vec<u8>) -> proofmill::Result<AnyProvingKey>,
    verify: fn(proof: &[u8], public: PublicSignals, key: &[u8]) -> proofmill::Result<()>,
    /// Bytes of the longest proof, with the zero byte at its end.
    longest_proof: usize,
}

pub(crate) static GROTH16: Calls = Calls::new::<Groth16>();
pub(crate) static PLONK: Calls = Calls::new::<Plonk>();
pub(crate) static FFLONK: Calls = Calls::new::<Fflonk>();

impl Calls {
    const fn new<S: ProofSystem<Curve = bn254::G1>>() -> Self
    where
        AnyProvingKey: From<ProvingKey<S>>,
    {
        Self {
            open: |path| ProvingKey::<S>::open(path).map(Into::into),
            from_bytes: |bytes| ProvingKey::<S>::from_bytes(bytes).map(Into::into),
            verify: |proof, public, key| {
                let key = VerifyingKey::<S>::from_json(key)?;
                Proof::<S>::from_json(proof, public)?.verify(&key)
            },
            longest_proof: S::LONGEST_PROOF,
        }
    }

    /// The key in the caller's buffer.
    ///
    /// # Safety
    /// As for [`bytes`].
    pub(crate) unsafe fn of_buffer(
        &self,
        zkey_buffer: *const c_void,
        zkey_size: c_ulonglong,
    ) -> Result<AnyProvingKey, CallFailure> {
        // SAFETY: the function's contract.
        let zkey = unsafe { bytes("zkey", zkey_buffer, zkey_size) }?;
        Ok((self.from_bytes)(zkey.to_vec())?)
    }

    /// The key in a file.
    ///
    /// # Safety
    /// As for [`path`].
    pub(crate) unsafe fn of_file(&self, zkey_file_path: *const c_char) -> Result<AnyProvingKey, CallFailure> {
        // SAFETY: the function's contract.
        let path = unsafe { path("zkey_file_path", zkey_file_path) }?;
        Ok((self.open)(path)?)
    }

    /// # Safety
    /// As for [`OutPointer::new`].
    pub(crate) unsafe fn proof_size(&self, proof_size: *mut c_ulonglong) {
        // SAFETY: the function's contract.
        if let Ok(size) = unsafe { OutPointer::new("proof_size", proof_size) } {
            size.set(self.longest_proof as c_ulonglong);
        }
    }

    /// # Safety
    /// As for [`text`] and [`guarded`].
    pub(crate) unsafe fn verdict(
        &self,
        proof: *const c_char,
        inputs: *const c_char,
        verification_key: *const c_char,
        error_msg: *mut c_char,
        error_msg_maxsize: c_ulong,
    ) -> c_int {
        let body = || {
            // SAFETY: the function's contract.
            let (proof, inputs, key) = unsafe {
                (text("proof", proof)?, text("inputs", inputs)?, text("verification_key", verification_key)?)
            };
            accepted((self.verify)(proof, PublicSignals::from_json(inputs)?, key))
        };
        // SAFETY: the function's contract.
        unsafe { verified(error_msg, error_msg_maxsize, body) }
    }
}

/// Verifies proofs of Groth16 at once.
///
/// # Safety
/// As for [`texts`], [`text`] and [`guarded`].
pub(crate) unsafe fn verdict_of_batch(
    proofs: *const *const c_char,
    inputs: *const *const c_char,
    count: c_ulonglong,
    verification_key: *const c_char,
    error_msg: *mut c_char,
    error_msg_maxsize: c_ulong,
) -> c_int {
    let body = || {
        // SAFETY: the function's contract.
        let (proofs, inputs, key) = unsafe {
            (
                texts("proofs", proofs, count)?,
                texts("inputs", inputs, count)?,
                text("verification_key", verification_key)?,
            )
        };
        let key = groth16::VerifyingKey::from_json(key)?;
        let read = |(index, (proof, inputs)): (usize, (&[u8], &[u8]))| {
            let proof =
                PublicSignals::from_json(inputs).and_then(|public| groth16::Proof::from_json(proof, public));
            proof.map_err(|error| CallFailure::new(format!("proof {index}: {error}")))
        };
        let proofs = proofs.into_iter().zip(inputs).enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
        accepted(key.verify_batch(&proofs))
    };
    // SAFETY: the function's contract.
    unsafe { verified(error_msg, error_msg_maxsize, body) }
}

/// A verdict; a rejected proof has its own code.
fn accepted(verdict: proofmill::Result<()>) -> Result<(), CallFailure> {
    verdict.map_err(|error| match error {
        Error::Rejected(_) => CallFailure { code: Some(VERIFIER_INVALID_PROOF), message: error.to_string() },
        error => error.into(),
    })
}

/// Runs the body of a verifier.
///
/// # Safety
/// As for [`guarded`].
unsafe fn verified(
    error_msg: *mut c_char,
    error_msg_maxsize: c_ulong,
    body: impl FnOnce() -> Result<(), CallFailure>,
) -> c_int {
    #[allow(clippy::useless_conversion, reason = "an unsigned long has 32 bits on some targets")]
    let error_msg_maxsize = error_msg_maxsize.into();
    // SAFETY: the function's contract.
    unsafe { guarded(VERIFIER_ERROR, error_msg, error_msg_maxsize, body) }
}

/// Sets the size of a buffer for public signals.
///
/// # Safety
/// As for [`OutPointer::new`] and [`guarded`].
pub(crate) unsafe fn public_sized(
    public_size: *mut c_ulonglong,
    error_msg: *mut c_char,
    error_msg_maxsize: c_ulonglong,
    key: impl FnOnce() -> Result<AnyProvingKey, CallFailure>,
) -> c_int {
    let body = || {
        // SAFETY: the function's contract.
        let size = unsafe { OutPointer::new("public_size", public_size) }?;
        size.set(key()?.verifying_key().public_signals() as c_ulonglong * SIGNAL_BYTES + 4);
        Ok(())
    };
    // SAFETY: the function's contract.
    unsafe { guarded(PROVER_ERROR, error_msg, error_msg_maxsize, body) }
}

/// Makes a prover, which is a key of any proof system: with a prover of another one, a function proves as that one does.
///
/// # Safety
/// As for [`OutPointer::new`] and [`guarded`].
pub(crate) unsafe fn created(
    prover_object: *mut *mut c_void,
    error_msg: *mut c_char,
    error_msg_maxsize: c_ulonglong,
    key: impl FnOnce() -> Result<AnyProvingKey, CallFailure>,
) -> c_int {
    let body = || {
        // SAFETY: the function's contract.
        let object = unsafe { OutPointer::new("prover_object", prover_object) }?;
        object.set(std::ptr::null_mut());
        object.set(Box::into_raw(Box::new(key()?)).cast());
        Ok(())
    };
    // SAFETY: the function's contract.
    unsafe { guarded(PROVER_ERROR, error_msg, error_msg_maxsize, body) }
}

/// The caller's prover.
///
/// # Safety
/// It is null, or was made by [`created`] and is not destroyed during `'a`.
pub(crate) unsafe fn prover<'a>(prover_object: *mut c_void) -> Result<&'a AnyProvingKey, CallFailure> {
    // SAFETY: the function's contract. A key can be shared by threads.
    let key = unsafe { prover_object.cast::<AnyProvingKey>().as_ref() };
    key.ok_or_else(|| CallFailure::new("prover_object: expected a prover, found null"))
}

/// Frees a prover.
///
/// # Safety
/// It is null, or was made by [`created`], and nothing uses it from now on.
pub(crate) unsafe fn destroyed(prover_object: *mut c_void) {
    if prover_object.is_null() {
        return;
    }
    let body = || {
        // SAFETY: the function's contract.
        drop(unsafe { Box::from_raw(prover_object.cast::<AnyProvingKey>()) });
        Ok(())
    };
    // SAFETY: there is no buffer.
    unsafe { guarded(PROVER_ERROR, std::ptr::null_mut(), 0, body) };
}

/// The witness in the caller's bytes of a `.wtns` file.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn decoded(
    wtns_buffer: *const c_void,
    wtns_size: c_ulonglong,
) -> Result<Witness, CallFailure> {
    // SAFETY: the function's contract.
    let wtns = unsafe { bytes("wtns", wtns_buffer, wtns_size) }?;
    Ok(Witness::from_bytes(wtns.to_vec())?)
}

/// Calculates the witness of the caller's inputs, and proves. The circuit is compiled into the user's cache afterwards, if it is not there.
///
/// # Safety
/// As for [`proved`], [`text`] and [`bytes`].
pub(crate) unsafe fn fully_proved<K: Borrow<AnyProvingKey>>(
    answer: CallerBuffers,
    key: impl FnOnce() -> Result<K, CallFailure>,
    inputs: *const c_char,
    wasm_buffer: *const c_void,
    wasm_size: c_ulonglong,
) -> c_int {
    let cache = CircuitCache::of_user();
    // SAFETY: the function's contract.
    let arguments =
        || unsafe { Ok::<_, CallFailure>((text("inputs", inputs)?, bytes("wasm", wasm_buffer, wasm_size)?)) };
    let witness = || -> Result<Witness, CallFailure> {
        let (inputs, wasm) = arguments()?;
        let calculator: WitnessCalculator = cache.decode(wasm.to_vec())?;
        Ok(calculator.calculate(inputs)?)
    };
    let keep = || -> Result<(), CallFailure> {
        let (inputs, wasm) = arguments()?;
        cache.keep(wasm, inputs);
        Ok(())
    };
    // SAFETY: the function's contract.
    let code = unsafe { proved(answer, key, witness) };
    if code == PROVER_OK {
        // SAFETY: there is no buffer.
        unsafe { guarded(PROVER_ERROR, std::ptr::null_mut(), 0, keep) };
    }
    code
}

/// The caller's buffers for a proof, its public signals, and an error message.
pub(crate) struct CallerBuffers {
    pub(crate) proof_buffer: *mut c_char,
    pub(crate) proof_size: *mut c_ulonglong,
    pub(crate) public_buffer: *mut c_char,
    pub(crate) public_size: *mut c_ulonglong,
    pub(crate) error_msg: *mut c_char,
    pub(crate) error_msg_maxsize: c_ulonglong,
}

/// Proves.
///
/// # Safety
/// As for [`Buffer::new`] and [`guarded`].
pub(crate) unsafe fn proved<K: Borrow<AnyProvingKey>>(
    answer: CallerBuffers,
    key: impl FnOnce() -> Result<K, CallFailure>,
    witness: impl FnOnce() -> Result<Witness, CallFailure>,
) -> c_int {
    let body = || {
        // SAFETY: the function's contract.
        let (proof_buffer, public_buffer) = unsafe {
            (
                Buffer::new("proof", answer.proof_buffer, answer.proof_size)?,
                Buffer::new("public", answer.public_buffer, answer.public_size)?,
            )
        };
        let proof = key()?.borrow().prove(&witness()?).map_err(|error| match error {
            Error::Mismatch(_) => {
                CallFailure { code: Some(PROVER_INVALID_WITNESS_LENGTH), message: error.to_string() }
            }
            error => error.into(),
        })?;
        let (proof, public) = (compact(&proof.to_json()), compact(&proof.public().to_json()));
        write_texts([(proof_buffer, &proof), (public_buffer, &public)])
    };
    // SAFETY: the function's contract.
    unsafe { guarded(PROVER_ERROR, answer.error_msg, answer.error_msg_maxsize, body) }
}

/// JSON without white space, as rapidsnark writes it. No text in a proof contains any.
pub(crate) fn compact(json: &str) -> String {
    json.split_ascii_whitespace().collect()
}
