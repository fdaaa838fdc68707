// libproofmill: zero-knowledge proofs for circom's circuits, with the functions of rapidsnark's prover.h and verifier.h, and the same
// functions for PLONK and fflonk.
//
// Generated from crates/c/src/lib.rs by cargo xtask header.
//
// Functions return one of the codes below. After an error they write a message of one line to error_msg: as much as fits into
// error_msg_maxsize bytes with a zero byte at its end. error_msg may be null. The message shows no values of a witness.
//
// A pointer is null, which is an error where a value is needed, or it points to as many bytes as the size next to it says, to a text
// that ends with a zero byte, to a prover that is not destroyed, or to a place for a result. Nothing else writes there during the call.
//
// All functions may be called by several threads at the same time. A proof uses all cores, or as many threads as the environment
// variable RAYON_NUM_THREADS says when a function is first called. A process made by fork() does not have these threads: call the
// first function after fork().

#ifndef PROOFMILL_H
#define PROOFMILL_H

// Success.
#define PROVER_OK 0

// An error without a code of its own.
#define PROVER_ERROR 1

// A buffer is too small. The sizes say how many bytes the proof and the public signals need, with a zero byte after each.
#define PROVER_ERROR_SHORT_BUFFER 2

// The witness is one of another circuit: the key has another number of wires.
#define PROVER_INVALID_WITNESS_LENGTH 3

// The proof is valid.
#define VERIFIER_VALID_PROOF 0

// The proof is invalid.
#define VERIFIER_INVALID_PROOF 1

// The proof, the public signals or the key are malformed, do not belong together, or cannot be trusted.
#define VERIFIER_ERROR 2

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Sets `*public_size` to the size of a buffer that holds the public signals of every proof for this key.
int groth16_public_size_for_zkey_buf(const void *zkey_buffer,
                                     unsigned long long zkey_size,
                                     unsigned long long *public_size,
                                     char *error_msg,
                                     unsigned long long error_msg_maxsize);

// The same for a key in a file.
int groth16_public_size_for_zkey_file(const char *zkey_file_path,
                                      unsigned long long *public_size,
                                      char *error_msg,
                                      unsigned long long error_msg_maxsize);

// Sets `*proof_size` to the size of a buffer that holds every proof of this proof system.
void groth16_proof_size(unsigned long long *proof_size);

// Sets `*prover_object` to a new prover, or to null after an error. The prover has a copy of the key: the buffer may be freed.
//
// Any number of threads may prove with one prover at the same time.
int groth16_prover_create(void **prover_object,
                          const void *zkey_buffer,
                          unsigned long long zkey_size,
                          char *error_msg,
                          unsigned long long error_msg_maxsize);

// The same for a key in a file, which is mapped, not read: it must not change as long as the prover exists.
int groth16_prover_create_zkey_file(void **prover_object,
                                    const char *zkey_file_path,
                                    char *error_msg,
                                    unsigned long long error_msg_maxsize);

// Frees a prover, which no thread may be using. Null is ignored.
void groth16_prover_destroy(void *prover_object);

// Proves that a witness, the content of a `.wtns` file, satisfies the prover's circuit.
//
// The sizes are those of the buffers on entry. After success the buffers hold the proof and its public signals as JSON, each
// with a zero byte after it, and the sizes are the lengths of these texts without that byte. After an error the buffers are
// as before, and so are the sizes, except after `PROVER_ERROR_SHORT_BUFFER`.
//
// The proof is verified before it is returned.
int groth16_prover_prove(void *prover_object,
                         const void *wtns_buffer,
                         unsigned long long wtns_size,
                         char *proof_buffer,
                         unsigned long long *proof_size,
                         char *public_buffer,
                         unsigned long long *public_size,
                         char *error_msg,
                         unsigned long long error_msg_maxsize);

// The same with a key instead of a prover, for a single proof.
int groth16_prover(const void *zkey_buffer,
                   unsigned long long zkey_size,
                   const void *wtns_buffer,
                   unsigned long long wtns_size,
                   char *proof_buffer,
                   unsigned long long *proof_size,
                   char *public_buffer,
                   unsigned long long *public_size,
                   char *error_msg,
                   unsigned long long error_msg_maxsize);

// The same with a key in a file, which is mapped, not read.
int groth16_prover_zkey_file(const char *zkey_file_path,
                             const void *wtns_buffer,
                             unsigned long long wtns_size,
                             char *proof_buffer,
                             unsigned long long *proof_size,
                             char *public_buffer,
                             unsigned long long *public_size,
                             char *error_msg,
                             unsigned long long error_msg_maxsize);

// Proves with inputs instead of a witness: a text of JSON, as in an `input.json`. The buffer `wasm` holds circom's WASM, a
// circuit that `proofmill wtns compile` made of it, or a graph of circom-witnesscalc, which calculates the witness. It must be trusted to
// end: it has no limit of time. After the answer the WASM is compiled into the user's cache, if it is not there.
//
// All else is as in the functions above.
int groth16_prover_fullprove(void *prover_object,
                             const char *inputs,
                             const void *wasm_buffer,
                             unsigned long long wasm_size,
                             char *proof_buffer,
                             unsigned long long *proof_size,
                             char *public_buffer,
                             unsigned long long *public_size,
                             char *error_msg,
                             unsigned long long error_msg_maxsize);

// The same with a key instead of a prover, for a single proof.
int groth16_fullprove(const char *inputs,
                      const void *wasm_buffer,
                      unsigned long long wasm_size,
                      const void *zkey_buffer,
                      unsigned long long zkey_size,
                      char *proof_buffer,
                      unsigned long long *proof_size,
                      char *public_buffer,
                      unsigned long long *public_size,
                      char *error_msg,
                      unsigned long long error_msg_maxsize);

// The same with a key in a file, which is mapped, not read.
int groth16_fullprove_zkey_file(const char *inputs,
                                const void *wasm_buffer,
                                unsigned long long wasm_size,
                                const char *zkey_file_path,
                                char *proof_buffer,
                                unsigned long long *proof_size,
                                char *public_buffer,
                                unsigned long long *public_size,
                                char *error_msg,
                                unsigned long long error_msg_maxsize);

// Verifies a proof for these public signals. `proof`, `inputs` (the public signals) and `verification_key` are texts of JSON, as
// in snarkjs's files.
int groth16_verify(const char *proof,
                   const char *inputs,
                   const char *verification_key,
                   char *error_msg,
                   unsigned long error_msg_maxsize);

// Sets `*public_size` to the size of a buffer that holds the public signals of every proof for this key.
int plonk_public_size_for_zkey_buf(const void *zkey_buffer,
                                   unsigned long long zkey_size,
                                   unsigned long long *public_size,
                                   char *error_msg,
                                   unsigned long long error_msg_maxsize);

// The same for a key in a file.
int plonk_public_size_for_zkey_file(const char *zkey_file_path,
                                    unsigned long long *public_size,
                                    char *error_msg,
                                    unsigned long long error_msg_maxsize);

// Sets `*proof_size` to the size of a buffer that holds every proof of this proof system.
void plonk_proof_size(unsigned long long *proof_size);

// Sets `*prover_object` to a new prover, or to null after an error. The prover has a copy of the key: the buffer may be freed.
//
// Any number of threads may prove with one prover at the same time.
int plonk_prover_create(void **prover_object,
                        const void *zkey_buffer,
                        unsigned long long zkey_size,
                        char *error_msg,
                        unsigned long long error_msg_maxsize);

// The same for a key in a file, which is mapped, not read: it must not change as long as the prover exists.
int plonk_prover_create_zkey_file(void **prover_object,
                                  const char *zkey_file_path,
                                  char *error_msg,
                                  unsigned long long error_msg_maxsize);

// Frees a prover, which no thread may be using. Null is ignored.
void plonk_prover_destroy(void *prover_object);

// Proves that a witness, the content of a `.wtns` file, satisfies the prover's circuit.
//
// The sizes are those of the buffers on entry. After success the buffers hold the proof and its public signals as JSON, each
// with a zero byte after it, and the sizes are the lengths of these texts without that byte. After an error the buffers are
// as before, and so are the sizes, except after `PROVER_ERROR_SHORT_BUFFER`.
//
// The proof is verified before it is returned.
int plonk_prover_prove(void *prover_object,
                       const void *wtns_buffer,
                       unsigned long long wtns_size,
                       char *proof_buffer,
                       unsigned long long *proof_size,
                       char *public_buffer,
                       unsigned long long *public_size,
                       char *error_msg,
                       unsigned long long error_msg_maxsize);

// The same with a key instead of a prover, for a single proof.
int plonk_prover(const void *zkey_buffer,
                 unsigned long long zkey_size,
                 const void *wtns_buffer,
                 unsigned long long wtns_size,
                 char *proof_buffer,
                 unsigned long long *proof_size,
                 char *public_buffer,
                 unsigned long long *public_size,
                 char *error_msg,
                 unsigned long long error_msg_maxsize);

// The same with a key in a file, which is mapped, not read.
int plonk_prover_zkey_file(const char *zkey_file_path,
                           const void *wtns_buffer,
                           unsigned long long wtns_size,
                           char *proof_buffer,
                           unsigned long long *proof_size,
                           char *public_buffer,
                           unsigned long long *public_size,
                           char *error_msg,
                           unsigned long long error_msg_maxsize);

// Proves with inputs instead of a witness: a text of JSON, as in an `input.json`. The buffer `wasm` holds circom's WASM, a
// circuit that `proofmill wtns compile` made of it, or a graph of circom-witnesscalc, which calculates the witness. It must be trusted to
// end: it has no limit of time. After the answer the WASM is compiled into the user's cache, if it is not there.
//
// All else is as in the functions above.
int plonk_prover_fullprove(void *prover_object,
                           const char *inputs,
                           const void *wasm_buffer,
                           unsigned long long wasm_size,
                           char *proof_buffer,
                           unsigned long long *proof_size,
                           char *public_buffer,
                           unsigned long long *public_size,
                           char *error_msg,
                           unsigned long long error_msg_maxsize);

// The same with a key instead of a prover, for a single proof.
int plonk_fullprove(const char *inputs,
                    const void *wasm_buffer,
                    unsigned long long wasm_size,
                    const void *zkey_buffer,
                    unsigned long long zkey_size,
                    char *proof_buffer,
                    unsigned long long *proof_size,
                    char *public_buffer,
                    unsigned long long *public_size,
                    char *error_msg,
                    unsigned long long error_msg_maxsize);

// The same with a key in a file, which is mapped, not read.
int plonk_fullprove_zkey_file(const char *inputs,
                              const void *wasm_buffer,
                              unsigned long long wasm_size,
                              const char *zkey_file_path,
                              char *proof_buffer,
                              unsigned long long *proof_size,
                              char *public_buffer,
                              unsigned long long *public_size,
                              char *error_msg,
                              unsigned long long error_msg_maxsize);

// Verifies a proof for these public signals. `proof`, `inputs` (the public signals) and `verification_key` are texts of JSON, as
// in snarkjs's files.
int plonk_verify(const char *proof,
                 const char *inputs,
                 const char *verification_key,
                 char *error_msg,
                 unsigned long error_msg_maxsize);

// Sets `*public_size` to the size of a buffer that holds the public signals of every proof for this key.
int fflonk_public_size_for_zkey_buf(const void *zkey_buffer,
                                    unsigned long long zkey_size,
                                    unsigned long long *public_size,
                                    char *error_msg,
                                    unsigned long long error_msg_maxsize);

// The same for a key in a file.
int fflonk_public_size_for_zkey_file(const char *zkey_file_path,
                                     unsigned long long *public_size,
                                     char *error_msg,
                                     unsigned long long error_msg_maxsize);

// Sets `*proof_size` to the size of a buffer that holds every proof of this proof system.
void fflonk_proof_size(unsigned long long *proof_size);

// Sets `*prover_object` to a new prover, or to null after an error. The prover has a copy of the key: the buffer may be freed.
//
// Any number of threads may prove with one prover at the same time.
int fflonk_prover_create(void **prover_object,
                         const void *zkey_buffer,
                         unsigned long long zkey_size,
                         char *error_msg,
                         unsigned long long error_msg_maxsize);

// The same for a key in a file, which is mapped, not read: it must not change as long as the prover exists.
int fflonk_prover_create_zkey_file(void **prover_object,
                                   const char *zkey_file_path,
                                   char *error_msg,
                                   unsigned long long error_msg_maxsize);

// Frees a prover, which no thread may be using. Null is ignored.
void fflonk_prover_destroy(void *prover_object);

// Proves that a witness, the content of a `.wtns` file, satisfies the prover's circuit.
//
// The sizes are those of the buffers on entry. After success the buffers hold the proof and its public signals as JSON, each
// with a zero byte after it, and the sizes are the lengths of these texts without that byte. After an error the buffers are
// as before, and so are the sizes, except after `PROVER_ERROR_SHORT_BUFFER`.
//
// The proof is verified before it is returned.
int fflonk_prover_prove(void *prover_object,
                        const void *wtns_buffer,
                        unsigned long long wtns_size,
                        char *proof_buffer,
                        unsigned long long *proof_size,
                        char *public_buffer,
                        unsigned long long *public_size,
                        char *error_msg,
                        unsigned long long error_msg_maxsize);

// The same with a key instead of a prover, for a single proof.
int fflonk_prover(const void *zkey_buffer,
                  unsigned long long zkey_size,
                  const void *wtns_buffer,
                  unsigned long long wtns_size,
                  char *proof_buffer,
                  unsigned long long *proof_size,
                  char *public_buffer,
                  unsigned long long *public_size,
                  char *error_msg,
                  unsigned long long error_msg_maxsize);

// The same with a key in a file, which is mapped, not read.
int fflonk_prover_zkey_file(const char *zkey_file_path,
                            const void *wtns_buffer,
                            unsigned long long wtns_size,
                            char *proof_buffer,
                            unsigned long long *proof_size,
                            char *public_buffer,
                            unsigned long long *public_size,
                            char *error_msg,
                            unsigned long long error_msg_maxsize);

// Proves with inputs instead of a witness: a text of JSON, as in an `input.json`. The buffer `wasm` holds circom's WASM, a
// circuit that `proofmill wtns compile` made of it, or a graph of circom-witnesscalc, which calculates the witness. It must be trusted to
// end: it has no limit of time. After the answer the WASM is compiled into the user's cache, if it is not there.
//
// All else is as in the functions above.
int fflonk_prover_fullprove(void *prover_object,
                            const char *inputs,
                            const void *wasm_buffer,
                            unsigned long long wasm_size,
                            char *proof_buffer,
                            unsigned long long *proof_size,
                            char *public_buffer,
                            unsigned long long *public_size,
                            char *error_msg,
                            unsigned long long error_msg_maxsize);

// The same with a key instead of a prover, for a single proof.
int fflonk_fullprove(const char *inputs,
                     const void *wasm_buffer,
                     unsigned long long wasm_size,
                     const void *zkey_buffer,
                     unsigned long long zkey_size,
                     char *proof_buffer,
                     unsigned long long *proof_size,
                     char *public_buffer,
                     unsigned long long *public_size,
                     char *error_msg,
                     unsigned long long error_msg_maxsize);

// The same with a key in a file, which is mapped, not read.
int fflonk_fullprove_zkey_file(const char *inputs,
                               const void *wasm_buffer,
                               unsigned long long wasm_size,
                               const char *zkey_file_path,
                               char *proof_buffer,
                               unsigned long long *proof_size,
                               char *public_buffer,
                               unsigned long long *public_size,
                               char *error_msg,
                               unsigned long long error_msg_maxsize);

// Verifies a proof for these public signals. `proof`, `inputs` (the public signals) and `verification_key` are texts of JSON, as
// in snarkjs's files.
int fflonk_verify(const char *proof,
                  const char *inputs,
                  const char *verification_key,
                  char *error_msg,
                  unsigned long error_msg_maxsize);

// Verifies `count` proofs of Groth16 for their public signals, in a fraction of the time of one after another. `proofs` and `inputs` point
// to `count` pointers to texts, each as for `groth16_verify`.
//
// A batch with a wrong proof passes with a probability of at most 2^-128. Otherwise the result is that of `groth16_verify` for a proof
// that is not valid, and the message begins with its index: `proof 0: `. No proofs are an error.
int groth16_verify_batch(const char *const *proofs,
                         const char *const *inputs,
                         unsigned long long count,
                         const char *verification_key,
                         char *error_msg,
                         unsigned long error_msg_maxsize);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PROOFMILL_H */
