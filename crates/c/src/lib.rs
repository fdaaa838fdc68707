//! Proofmill for programs in C, and in every language that calls C: the functions of rapidsnark's `prover.h` and `verifier.h`, with its
//! names, arguments and error codes, and the same functions for PLONK, fflonk and proofs from inputs. `docs/c.md` shows their use.
//!
//! `cargo xtask header` makes `include/proofmill.h` from this file.
//!
//! # Safety
//! All functions have one contract, which the header states at its top: a pointer is null, or it points to as many bytes as the size
//! next to it says, to a text that ends with a zero byte, to a prover that is not destroyed, or to a place for a result. Nothing else
//! writes there during the call.
#![deny(clippy::unwrap_used)]
#![expect(clippy::missing_safety_doc, reason = "the contract of all functions is above")]

mod boundary;
mod system;
#[cfg(test)]
mod tests;

use core::ffi::{c_char, c_int, c_ulong, c_ulonglong, c_void};
use system::{
    CallerBuffers, FFLONK, GROTH16, PLONK, created, decoded, destroyed, fully_proved, proved, prover,
    public_sized, verdict_of_batch,
};

/// Success.
pub const PROVER_OK: c_int = 0;
/// An error without a code of its own.
pub const PROVER_ERROR: c_int = 1;
/// A buffer is too small. The sizes say how many bytes the proof and the public signals need, with a zero byte after each.
pub const PROVER_ERROR_SHORT_BUFFER: c_int = 2;
/// The witness is one of another circuit: the key has another number of wires.
pub const PROVER_INVALID_WITNESS_LENGTH: c_int = 3;

/// The proof is valid.
pub const VERIFIER_VALID_PROOF: c_int = 0;
/// The proof is invalid.
pub const VERIFIER_INVALID_PROOF: c_int = 1;
/// The proof, the public signals or the key are malformed, do not belong together, or cannot be trusted.
pub const VERIFIER_ERROR: c_int = 2;

/// The functions of a proof system.
macro_rules! functions {
    (
        $system:ident,
        $public_size_for_zkey_buf:ident, $public_size_for_zkey_file:ident, $proof_size:ident,
        $prover_create:ident, $prover_create_zkey_file:ident, $prover_destroy:ident,
        $prover_prove:ident, $prover:ident, $prover_zkey_file:ident,
        $prover_fullprove:ident, $fullprove:ident, $fullprove_zkey_file:ident,
        $verify:ident $(,)?
    ) => {
        /// Sets `*public_size` to the size of a buffer that holds the public signals of every proof for this key.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $public_size_for_zkey_buf(
            zkey_buffer: *const c_void,
            zkey_size: c_ulonglong,
            public_size: *mut c_ulonglong,
            error_msg: *mut c_char,
            error_msg_maxsize: c_ulonglong,
        ) -> c_int {
            // SAFETY: the contract of all functions.
            unsafe {
                public_sized(public_size, error_msg, error_msg_maxsize, || {
                    $system.of_buffer(zkey_buffer, zkey_size)
                })
            }
        }

        /// The same for a key in a file.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $public_size_for_zkey_file(
            zkey_file_path: *const c_char,
            public_size: *mut c_ulonglong,
            error_msg: *mut c_char,
            error_msg_maxsize: c_ulonglong,
        ) -> c_int {
            // SAFETY: the contract of all functions.
            unsafe {
                public_sized(public_size, error_msg, error_msg_maxsize, || $system.of_file(zkey_file_path))
            }
        }

        /// Sets `*proof_size` to the size of a buffer that holds every proof of this proof system.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $proof_size(proof_size: *mut c_ulonglong) {
            // SAFETY: the contract of all functions.
            unsafe { $system.proof_size(proof_size) }
        }

        /// Sets `*prover_object` to a new prover, or to null after an error. The prover has a copy of the key: the buffer may be freed.
        ///
        /// Any number of threads may prove with one prover at the same time.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $prover_create(
            prover_object: *mut *mut c_void,
            zkey_buffer: *const c_void,
            zkey_size: c_ulonglong,
            error_msg: *mut c_char,
            error_msg_maxsize: c_ulonglong,
        ) -> c_int {
            // SAFETY: the contract of all functions.
            unsafe {
                created(prover_object, error_msg, error_msg_maxsize, || {
                    $system.of_buffer(zkey_buffer, zkey_size)
                })
            }
        }

        /// The same for a key in a file, which is mapped, not read: it must not change as long as the prover exists.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $prover_create_zkey_file(
            prover_object: *mut *mut c_void,
            zkey_file_path: *const c_char,
            error_msg: *mut c_char,
            error_msg_maxsize: c_ulonglong,
        ) -> c_int {
            // SAFETY: the contract of all functions.
            unsafe {
                created(prover_object, error_msg, error_msg_maxsize, || $system.of_file(zkey_file_path))
            }
        }

        /// Frees a prover, which no thread may be using. Null is ignored.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $prover_destroy(prover_object: *mut c_void) {
            // SAFETY: the contract of all functions.
            unsafe { destroyed(prover_object) }
        }

        /// Proves that a witness, the content of a `.wtns` file, satisfies the prover's circuit.
        ///
        /// The sizes are those of the buffers on entry. After success the buffers hold the proof and its public signals as JSON, each
        /// with a zero byte after it, and the sizes are the lengths of these texts without that byte. After an error the buffers are
        /// as before, and so are the sizes, except after `PROVER_ERROR_SHORT_BUFFER`.
        ///
        /// The proof is verified before it is returned.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $prover_prove(
            prover_object: *mut c_void,
            wtns_buffer: *const c_void,
            wtns_size: c_ulonglong,
            proof_buffer: *mut c_char,
            proof_size: *mut c_ulonglong,
            public_buffer: *mut c_char,
            public_size: *mut c_ulonglong,
            error_msg: *mut c_char,
            error_msg_maxsize: c_ulonglong,
        ) -> c_int {
            let answer = CallerBuffers {
                proof_buffer,
                proof_size,
                public_buffer,
                public_size,
                error_msg,
                error_msg_maxsize,
            };
            // SAFETY: the contract of all functions.
            unsafe { proved(answer, || prover(prover_object), || decoded(wtns_buffer, wtns_size)) }
        }

        /// The same with a key instead of a prover, for a single proof.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $prover(
            zkey_buffer: *const c_void,
            zkey_size: c_ulonglong,
            wtns_buffer: *const c_void,
            wtns_size: c_ulonglong,
            proof_buffer: *mut c_char,
            proof_size: *mut c_ulonglong,
            public_buffer: *mut c_char,
            public_size: *mut c_ulonglong,
            error_msg: *mut c_char,
            error_msg_maxsize: c_ulonglong,
        ) -> c_int {
            let answer = CallerBuffers {
                proof_buffer,
                proof_size,
                public_buffer,
                public_size,
                error_msg,
                error_msg_maxsize,
            };
            // SAFETY: the contract of all functions.
            unsafe {
                proved(
                    answer,
                    || $system.of_buffer(zkey_buffer, zkey_size),
                    || decoded(wtns_buffer, wtns_size),
                )
            }
        }

        /// The same with a key in a file, which is mapped, not read.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $prover_zkey_file(
            zkey_file_path: *const c_char,
            wtns_buffer: *const c_void,
            wtns_size: c_ulonglong,
            proof_buffer: *mut c_char,
            proof_size: *mut c_ulonglong,
            public_buffer: *mut c_char,
            public_size: *mut c_ulonglong,
            error_msg: *mut c_char,
            error_msg_maxsize: c_ulonglong,
        ) -> c_int {
            let answer = CallerBuffers {
                proof_buffer,
                proof_size,
                public_buffer,
                public_size,
                error_msg,
                error_msg_maxsize,
            };
            // SAFETY: the contract of all functions.
            unsafe { proved(answer, || $system.of_file(zkey_file_path), || decoded(wtns_buffer, wtns_size)) }
        }

        /// Proves with inputs instead of a witness: a text of JSON, as in an `input.json`. The buffer `wasm` holds circom's WASM, a
        /// circuit that `proofmill wtns compile` made of it, or a graph of circom-witnesscalc, which calculates the witness. It must be trusted to
        /// end: it has no limit of time. After the answer the WASM is compiled into the user's cache, if it is not there.
        ///
        /// All else is as in the functions above.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $prover_fullprove(
            prover_object: *mut c_void,
            inputs: *const c_char,
            wasm_buffer: *const c_void,
            wasm_size: c_ulonglong,
            proof_buffer: *mut c_char,
            proof_size: *mut c_ulonglong,
            public_buffer: *mut c_char,
            public_size: *mut c_ulonglong,
            error_msg: *mut c_char,
            error_msg_maxsize: c_ulonglong,
        ) -> c_int {
            let answer = CallerBuffers {
                proof_buffer,
                proof_size,
                public_buffer,
                public_size,
                error_msg,
                error_msg_maxsize,
            };
            // SAFETY: the contract of all functions.
            unsafe { fully_proved(answer, || prover(prover_object), inputs, wasm_buffer, wasm_size) }
        }

        /// The same with a key instead of a prover, for a single proof.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $fullprove(
            inputs: *const c_char,
            wasm_buffer: *const c_void,
            wasm_size: c_ulonglong,
            zkey_buffer: *const c_void,
            zkey_size: c_ulonglong,
            proof_buffer: *mut c_char,
            proof_size: *mut c_ulonglong,
            public_buffer: *mut c_char,
            public_size: *mut c_ulonglong,
            error_msg: *mut c_char,
            error_msg_maxsize: c_ulonglong,
        ) -> c_int {
            let answer = CallerBuffers {
                proof_buffer,
                proof_size,
                public_buffer,
                public_size,
                error_msg,
                error_msg_maxsize,
            };
            // SAFETY: the contract of all functions.
            unsafe {
                fully_proved(
                    answer,
                    || $system.of_buffer(zkey_buffer, zkey_size),
                    inputs,
                    wasm_buffer,
                    wasm_size,
                )
            }
        }

        /// The same with a key in a file, which is mapped, not read.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $fullprove_zkey_file(
            inputs: *const c_char,
            wasm_buffer: *const c_void,
            wasm_size: c_ulonglong,
            zkey_file_path: *const c_char,
            proof_buffer: *mut c_char,
            proof_size: *mut c_ulonglong,
            public_buffer: *mut c_char,
            public_size: *mut c_ulonglong,
            error_msg: *mut c_char,
            error_msg_maxsize: c_ulonglong,
        ) -> c_int {
            let answer = CallerBuffers {
                proof_buffer,
                proof_size,
                public_buffer,
                public_size,
                error_msg,
                error_msg_maxsize,
            };
            // SAFETY: the contract of all functions.
            unsafe {
                fully_proved(answer, || $system.of_file(zkey_file_path), inputs, wasm_buffer, wasm_size)
            }
        }

        /// Verifies a proof for these public signals. `proof`, `inputs` (the public signals) and `verification_key` are texts of JSON, as
        /// in snarkjs's files.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $verify(
            proof: *const c_char,
            inputs: *const c_char,
            verification_key: *const c_char,
            error_msg: *mut c_char,
            error_msg_maxsize: c_ulong,
        ) -> c_int {
            // SAFETY: the contract of all functions.
            unsafe { $system.verdict(proof, inputs, verification_key, error_msg, error_msg_maxsize) }
        }
    };
}

// By name, so that a search finds them.
functions! {
    GROTH16,
    groth16_public_size_for_zkey_buf, groth16_public_size_for_zkey_file, groth16_proof_size,
    groth16_prover_create, groth16_prover_create_zkey_file, groth16_prover_destroy,
    groth16_prover_prove, groth16_prover, groth16_prover_zkey_file,
    groth16_prover_fullprove, groth16_fullprove, groth16_fullprove_zkey_file,
    groth16_verify,
}
functions! {
    PLONK,
    plonk_public_size_for_zkey_buf, plonk_public_size_for_zkey_file, plonk_proof_size,
    plonk_prover_create, plonk_prover_create_zkey_file, plonk_prover_destroy,
    plonk_prover_prove, plonk_prover, plonk_prover_zkey_file,
    plonk_prover_fullprove, plonk_fullprove, plonk_fullprove_zkey_file,
    plonk_verify,
}
functions! {
    FFLONK,
    fflonk_public_size_for_zkey_buf, fflonk_public_size_for_zkey_file, fflonk_proof_size,
    fflonk_prover_create, fflonk_prover_create_zkey_file, fflonk_prover_destroy,
    fflonk_prover_prove, fflonk_prover, fflonk_prover_zkey_file,
    fflonk_prover_fullprove, fflonk_fullprove, fflonk_fullprove_zkey_file,
    fflonk_verify,
}

/// Verifies `count` proofs of Groth16 for their public signals, in a fraction of the time of one after another. `proofs` and `inputs` point
/// to `count` pointers to texts, each as for `groth16_verify`.
///
/// A batch with a wrong proof passes with a probability of at most 2^-128. Otherwise the result is that of `groth16_verify` for a proof
/// that is not valid, and the message begins with its index: `proof 0: `. No proofs are an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_verify_batch(
    proofs: *const *const c_char,
    inputs: *const *const c_char,
    count: c_ulonglong,
    verification_key: *const c_char,
    error_msg: *mut c_char,
    error_msg_maxsize: c_ulong,
) -> c_int {
    // SAFETY: the contract of all functions.
    unsafe { verdict_of_batch(proofs, inputs, count, verification_key, error_msg, error_msg_maxsize) }
}
