// Calls every function of libproofmill: proofs in all ways, and calls with null pointers, short buffers, damaged files, files of another
// circuit, and a prover that four threads share. Arguments: the repository's folder, and a proof system if not all are to be called.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prover.h"
#include "verifier.h"

// Types of systems' functions, which are the same for all of them.
#define FUNCTIONS(each)                                                                                                              \
    each(public_size_for_zkey_buf) each(public_size_for_zkey_file) each(proof_size) each(prover_create)                              \
    each(prover_create_zkey_file) each(prover_destroy) each(prover_prove) each(prover) each(prover_zkey_file)                        \
    each(prover_fullprove) each(fullprove) each(fullprove_zkey_file) each(verify)
#define MEMBER(name) __typeof__(groth16_##name) *name;
struct system {
    const char *name;
    FUNCTIONS(MEMBER)
};
#define GROTH16(name) groth16_##name,
#define PLONK(name) plonk_##name,
#define FFLONK(name) fflonk_##name,
static const struct system systems[] = {
    {"groth16", FUNCTIONS(GROTH16)},
    {"plonk", FUNCTIONS(PLONK)},
    {"fflonk", FUNCTIONS(FFLONK)},
};

#define CHECK(condition)                                                                                                             \
    do {                                                                                                                             \
        if (!(condition)) {                                                                                                          \
            fprintf(stderr, "%s:%d: not so: %s; the last message: %s\n", __FILE__, __LINE__, #condition, message);                  \
            exit(1);                                                                                                                 \
        }                                                                                                                            \
    } while (0)

enum { MESSAGE = 256 };
static _Thread_local char message[MESSAGE];
static const char *root;

struct file {
    char path[1024];
    char *bytes;
    unsigned long long size;
};

// Reads a file, and writes a zero byte after its content.
static struct file read_file(const char *folder, const char *system, const char *name) {
    struct file file = {.size = 0};
    snprintf(file.path, sizeof file.path, "%s/%s/%s%s", root, folder, system, name);
    FILE *stream = fopen(file.path, "rb");
    CHECK(stream != NULL && fseek(stream, 0, SEEK_END) == 0);
    file.size = (unsigned long long)ftell(stream);
    rewind(stream);
    file.bytes = malloc(file.size + 1);
    CHECK(file.bytes != NULL && fread(file.bytes, 1, file.size, stream) == file.size);
    file.bytes[file.size] = 0;
    fclose(stream);
    return file;
}

// The files of a system's example.
struct example {
    struct file zkey, wtns, inputs, wasm, key;
};

// Buffers for a proof and its public signals, of exactly the sizes that the library states.
struct outputs {
    char *proof, *public;
    unsigned long long proof_size, public_size;
};

static struct outputs outputs_of(const struct system *system, const struct example *example) {
    struct outputs outputs;
    unsigned long long again = 0;
    system->proof_size(&outputs.proof_size);
    CHECK(system->public_size_for_zkey_file(example->zkey.path, &outputs.public_size, message, MESSAGE) == PROVER_OK);
    CHECK(system->public_size_for_zkey_buf(example->zkey.bytes, example->zkey.size, &again, message, MESSAGE) == PROVER_OK);
    CHECK(again == outputs.public_size);
    outputs.proof = malloc(outputs.proof_size), outputs.public = malloc(outputs.public_size);
    CHECK(outputs.proof != NULL && outputs.public != NULL);
    return outputs;
}

#define ANSWER(outputs) (outputs).proof, &(outputs).proof_size, (outputs).public, &(outputs).public_size, message, MESSAGE

// Checks the outputs of a call, and frees them.
static void accept(const struct system *system, const struct example *example, struct outputs outputs) {
    CHECK(strlen(outputs.proof) == outputs.proof_size && strlen(outputs.public) == outputs.public_size);
    CHECK(strchr(outputs.proof, '\n') == NULL && outputs.public[0] == '[');
    CHECK(system->verify(outputs.proof, outputs.public, example->key.bytes, message, MESSAGE) == VERIFIER_VALID_PROOF);
    free(outputs.proof), free(outputs.public);
}

static void proofs(const struct system *system, const struct example *example) {
    const struct file *zkey = &example->zkey, *wtns = &example->wtns, *inputs = &example->inputs, *wasm = &example->wasm;
    struct outputs outputs;
    void *of_buffer, *of_file;

    // The prover has a copy of the key.
    char *copy = malloc(zkey->size);
    CHECK(copy != NULL);
    memcpy(copy, zkey->bytes, zkey->size);
    CHECK(system->prover_create(&of_buffer, copy, zkey->size, message, MESSAGE) == PROVER_OK);
    memset(copy, 0, zkey->size);
    free(copy);
    outputs = outputs_of(system, example);
    CHECK(system->prover_prove(of_buffer, wtns->bytes, wtns->size, ANSWER(outputs)) == PROVER_OK);
    accept(system, example, outputs);
    system->prover_destroy(of_buffer);

    CHECK(system->prover_create_zkey_file(&of_file, zkey->path, message, MESSAGE) == PROVER_OK);
    outputs = outputs_of(system, example);
    CHECK(system->prover_fullprove(of_file, inputs->bytes, wasm->bytes, wasm->size, ANSWER(outputs)) == PROVER_OK);
    accept(system, example, outputs);
    system->prover_destroy(of_file);

    outputs = outputs_of(system, example);
    CHECK(system->prover(zkey->bytes, zkey->size, wtns->bytes, wtns->size, ANSWER(outputs)) == PROVER_OK);
    accept(system, example, outputs);
    outputs = outputs_of(system, example);
    CHECK(system->prover_zkey_file(zkey->path, wtns->bytes, wtns->size, ANSWER(outputs)) == PROVER_OK);
    accept(system, example, outputs);
    outputs = outputs_of(system, example);
    CHECK(system->fullprove(inputs->bytes, wasm->bytes, wasm->size, zkey->bytes, zkey->size, ANSWER(outputs)) == PROVER_OK);
    accept(system, example, outputs);
    outputs = outputs_of(system, example);
    CHECK(system->fullprove_zkey_file(inputs->bytes, wasm->bytes, wasm->size, zkey->path, ANSWER(outputs)) == PROVER_OK);
    accept(system, example, outputs);
}

// A short buffer gives the sizes that are needed and changes neither buffer.
static void short_buffers(const struct system *system, const struct example *example) {
    void *prover;
    CHECK(system->prover_create_zkey_file(&prover, example->zkey.path, message, MESSAGE) == PROVER_OK);
    struct outputs outputs = outputs_of(system, example), full = outputs;
    memset(outputs.proof, '#', outputs.proof_size), memset(outputs.public, '#', outputs.public_size);
    for (int turn = 0; turn < 3; turn++) {
        outputs.proof_size = turn == 1 ? full.proof_size : 0;
        outputs.public_size = turn == 0 ? full.public_size : 1;
        int status = system->prover_prove(prover, example->wtns.bytes, example->wtns.size, ANSWER(outputs));
        CHECK(status == PROVER_ERROR_SHORT_BUFFER && strstr(message, "expected buffers of ") != NULL);
        CHECK(outputs.proof_size > 600 && outputs.proof_size <= full.proof_size);
        CHECK(outputs.public_size > 1 && outputs.public_size <= full.public_size);
        CHECK(outputs.proof[0] == '#' && outputs.public[0] == '#');
    }
    // The public signals are the same each time, the proof's length is not.
    unsigned long long exact = outputs.public_size;
    outputs.proof_size = full.proof_size;
    CHECK(system->prover_prove(prover, example->wtns.bytes, example->wtns.size, ANSWER(outputs)) == PROVER_OK);
    CHECK(outputs.public_size == exact - 1 && outputs.public[exact] == '#');
    accept(system, example, outputs);
    system->prover_destroy(prover);
}

static void nulls(const struct system *system, const struct example *example) {
    const struct file *zkey = &example->zkey, *wtns = &example->wtns, *inputs = &example->inputs, *wasm = &example->wasm;
    struct outputs outputs = outputs_of(system, example);
    void *prover = &outputs;
    unsigned long long size = 0;

    system->proof_size(NULL);
    system->prover_destroy(NULL);
    CHECK(system->prover_create(NULL, zkey->bytes, zkey->size, message, MESSAGE) == PROVER_ERROR);
    CHECK(strcmp(message, "prover_object: expected a pointer, found null") == 0);
    CHECK(system->prover_create(&prover, NULL, zkey->size, message, MESSAGE) == PROVER_ERROR && prover == NULL);
    CHECK(system->prover_create_zkey_file(&prover, NULL, message, MESSAGE) == PROVER_ERROR && prover == NULL);
    CHECK(system->prover_create_zkey_file(NULL, zkey->path, NULL, MESSAGE) == PROVER_ERROR);
    CHECK(system->public_size_for_zkey_buf(NULL, 0, &size, NULL, 0) == PROVER_ERROR && size == 0);
    CHECK(system->public_size_for_zkey_buf(zkey->bytes, zkey->size, NULL, NULL, 0) == PROVER_ERROR);
    CHECK(system->public_size_for_zkey_file(NULL, &size, NULL, 0) == PROVER_ERROR && size == 0);
    CHECK(system->public_size_for_zkey_file(zkey->path, NULL, NULL, 0) == PROVER_ERROR);

    CHECK(system->prover_prove(NULL, wtns->bytes, wtns->size, ANSWER(outputs)) == PROVER_ERROR);
    CHECK(system->prover_fullprove(NULL, inputs->bytes, wasm->bytes, wasm->size, ANSWER(outputs)) == PROVER_ERROR);
    CHECK(system->prover(NULL, 1, wtns->bytes, wtns->size, ANSWER(outputs)) == PROVER_ERROR);
    CHECK(system->prover(zkey->bytes, zkey->size, NULL, 1, ANSWER(outputs)) == PROVER_ERROR);
    CHECK(system->prover(zkey->bytes, zkey->size, wtns->bytes, -1ull, ANSWER(outputs)) == PROVER_ERROR);
    CHECK(system->fullprove(NULL, wasm->bytes, wasm->size, zkey->bytes, zkey->size, ANSWER(outputs)) == PROVER_ERROR);
    CHECK(system->fullprove(inputs->bytes, NULL, 1, zkey->bytes, zkey->size, ANSWER(outputs)) == PROVER_ERROR);
    for (int absent = 0; absent < 4; absent++) {
        int status = system->prover_zkey_file(
            zkey->path, wtns->bytes, wtns->size, absent == 0 ? NULL : outputs.proof, absent == 1 ? NULL : &outputs.proof_size,
            absent == 2 ? NULL : outputs.public, absent == 3 ? NULL : &outputs.public_size, message, MESSAGE);
        CHECK(status == PROVER_ERROR && strstr(message, absent < 2 ? "proof_" : "public_") == message);
    }
    for (int absent = 0; absent < 3; absent++) {
        int status = system->verify(absent == 0 ? NULL : "{}", absent == 1 ? NULL : "[]", absent == 2 ? NULL : "{}", message, MESSAGE);
        CHECK(status == VERIFIER_ERROR && strstr(message, "expected a pointer, found null") != NULL);
    }
    free(outputs.proof), free(outputs.public);
}

// Files that are damaged, or of another circuit or system.
static void wrong_files(const struct system *system, const struct example *example, const struct file *other_zkey) {
    const struct file *zkey = &example->zkey, *wtns = &example->wtns, *inputs = &example->inputs, *wasm = &example->wasm;
    struct outputs outputs = outputs_of(system, example);
    struct file other = read_file("examples/membership", "", "witness.wtns");
    void *prover, *none;

    CHECK(system->prover_create(&none, "not a key", 9, message, MESSAGE) == PROVER_ERROR && none == NULL);
    CHECK(system->prover_create_zkey_file(&none, "/there is no such file", message, MESSAGE) == PROVER_ERROR);
    CHECK(strstr(message, "no such file") != NULL);
    CHECK(system->prover_create(&none, other_zkey->bytes, other_zkey->size, message, MESSAGE) == PROVER_ERROR);
    CHECK(system->public_size_for_zkey_buf(zkey->bytes, 100, &outputs.public_size, message, MESSAGE) == PROVER_ERROR);
    CHECK(system->prover_create(&none, zkey->bytes, zkey->size - 1, message, MESSAGE) == PROVER_ERROR);
    for (unsigned long long size = 0; size < zkey->size; size += zkey->size / 20)
        CHECK(system->prover_create(&none, zkey->bytes, size, message, MESSAGE) == PROVER_ERROR && none == NULL);

    CHECK(system->prover_create(&prover, zkey->bytes, zkey->size, message, MESSAGE) == PROVER_OK);
    for (unsigned long long size = 0; size < wtns->size; size += wtns->size / 20)
        CHECK(system->prover_prove(prover, wtns->bytes, size, ANSWER(outputs)) == PROVER_ERROR);
    CHECK(system->prover_prove(prover, other.bytes, other.size, ANSWER(outputs)) == PROVER_INVALID_WITNESS_LENGTH);
    // A witness that does not satisfy the circuit: another value of the last wire.
    wtns->bytes[wtns->size - 32] ^= 1;
    CHECK(system->prover_prove(prover, wtns->bytes, wtns->size, ANSWER(outputs)) == PROVER_ERROR);
    wtns->bytes[wtns->size - 32] ^= 1;
    CHECK(system->prover_fullprove(prover, "{", wasm->bytes, wasm->size, ANSWER(outputs)) == PROVER_ERROR);
    CHECK(system->prover_fullprove(prover, "{}", wasm->bytes, wasm->size, ANSWER(outputs)) == PROVER_ERROR);
    CHECK(system->prover_fullprove(prover, inputs->bytes, wasm->bytes, wasm->size / 2, ANSWER(outputs)) == PROVER_ERROR);

    // A message is cut to its buffer, and nothing after it is written.
    char buffer[8];
    for (int size = 0; size < 8; size++) {
        memset(buffer, '#', sizeof buffer);
        CHECK(system->prover_prove(prover, "", 0, outputs.proof, &outputs.proof_size, outputs.public, &outputs.public_size,
                                   buffer, size) == PROVER_ERROR);
        CHECK(size == 0 || strlen(buffer) == (size_t)size - 1);
        CHECK(buffer[size] == '#');
    }

    // Nothing above changed the prover or the sizes.
    CHECK(system->prover_prove(prover, wtns->bytes, wtns->size, ANSWER(outputs)) == PROVER_OK);
    char *digit = strpbrk(outputs.public, "0123456789");
    *digit = *digit == '1' ? '2' : '1';
    CHECK(system->verify(outputs.proof, outputs.public, example->key.bytes, message, MESSAGE) == VERIFIER_INVALID_PROOF);
    CHECK(system->verify(outputs.proof, "[]", example->key.bytes, message, MESSAGE) == VERIFIER_ERROR);
    CHECK(system->verify(outputs.proof, "[1", example->key.bytes, message, MESSAGE) == VERIFIER_ERROR);
    CHECK(system->verify(outputs.proof, outputs.public, "{}", message, MESSAGE) == VERIFIER_ERROR);
    CHECK(system->verify(outputs.proof + 1, outputs.public, example->key.bytes, message, MESSAGE) == VERIFIER_ERROR);
    system->prover_destroy(prover);
    free(outputs.proof), free(outputs.public), free(other.bytes);
}

// Many proofs at once, which only Groth16 has.
static void batch(const struct example *example) {
    enum { COUNT = 5 };
    const char *proofs[COUNT], *inputs[COUNT];
    struct outputs outputs[COUNT];
    const struct file *zkey = &example->zkey, *wtns = &example->wtns;
    const char *key = example->key.bytes;
    for (int i = 0; i < COUNT; i++) {
        outputs[i] = outputs_of(&systems[0], example);
        CHECK(groth16_prover(zkey->bytes, zkey->size, wtns->bytes, wtns->size, ANSWER(outputs[i])) == PROVER_OK);
        proofs[i] = outputs[i].proof, inputs[i] = outputs[i].public;
    }
    for (unsigned long long count = 1; count <= COUNT; count++)
        CHECK(groth16_verify_batch(proofs, inputs, count, key, message, MESSAGE) == VERIFIER_VALID_PROOF);
    CHECK(groth16_verify_batch(proofs, inputs, 0, key, message, MESSAGE) == VERIFIER_ERROR);
    CHECK(groth16_verify_batch(proofs, inputs, -1ULL, key, message, MESSAGE) == VERIFIER_ERROR);
    CHECK(groth16_verify_batch(NULL, inputs, COUNT, key, message, MESSAGE) == VERIFIER_ERROR);
    CHECK(groth16_verify_batch(proofs, NULL, COUNT, key, message, MESSAGE) == VERIFIER_ERROR);
    CHECK(groth16_verify_batch(proofs, inputs, COUNT, NULL, message, MESSAGE) == VERIFIER_ERROR);
    CHECK(groth16_verify_batch(proofs, inputs, COUNT, "{}", message, MESSAGE) == VERIFIER_ERROR);

    char *digit = strpbrk(outputs[3].public, "0123456789");
    *digit = *digit == '1' ? '2' : '1';
    CHECK(groth16_verify_batch(proofs, inputs, 3, key, message, MESSAGE) == VERIFIER_VALID_PROOF);
    CHECK(groth16_verify_batch(proofs, inputs, COUNT, key, message, MESSAGE) == VERIFIER_INVALID_PROOF);
    CHECK(strstr(message, "proof 3: ") == message);
    inputs[2] = "[]";
    CHECK(groth16_verify_batch(proofs, inputs, COUNT, key, message, MESSAGE) == VERIFIER_ERROR);
    CHECK(strstr(message, "proof 2: ") == message);
    inputs[1] = "[1";
    CHECK(groth16_verify_batch(proofs, inputs, COUNT, key, message, MESSAGE) == VERIFIER_ERROR);
    CHECK(strstr(message, "proof 1: ") == message);
    inputs[4] = NULL;
    CHECK(groth16_verify_batch(proofs, inputs, COUNT, key, message, MESSAGE) == VERIFIER_ERROR);
    for (int i = 0; i < COUNT; i++) free(outputs[i].proof), free(outputs[i].public);
}

struct shared {
    const struct system *system;
    const struct example *example;
    void *prover;
};

static void *prove_shared(void *argument) {
    const struct shared *shared = argument;
    for (int turn = 0; turn < 2; turn++) {
        struct outputs outputs = outputs_of(shared->system, shared->example);
        CHECK(shared->system->prover_prove(shared->prover, shared->example->wtns.bytes, shared->example->wtns.size, ANSWER(outputs)) ==
              PROVER_OK);
        accept(shared->system, shared->example, outputs);
    }
    return NULL;
}

static void threads(const struct system *system, const struct example *example) {
    struct shared shared = {system, example, NULL};
    CHECK(system->prover_create_zkey_file(&shared.prover, example->zkey.path, message, MESSAGE) == PROVER_OK);
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&thread[i], NULL, prove_shared, &shared) == 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_join(thread[i], NULL) == 0);
    system->prover_destroy(shared.prover);
}

int main(int count, char **arguments) {
    CHECK(count == 2 || count == 3);
    root = arguments[1];
    const char *folder = "examples/membership-small";
    struct example examples[3];
    for (int i = 0; i < 3; i++)
        examples[i] = (struct example){
            read_file(folder, systems[i].name, ".zkey"), read_file(folder, "", "witness.wtns"), read_file(folder, "", "input.json"),
            read_file(folder, "", "circuit.wasm"), read_file(folder, systems[i].name, ".vk.json"),
        };
    int called = 0;
    for (int i = 0; i < 3; i++) {
        if (count == 3 && strcmp(arguments[2], systems[i].name) != 0) continue;
        called++;
        proofs(&systems[i], &examples[i]);
        short_buffers(&systems[i], &examples[i]);
        nulls(&systems[i], &examples[i]);
        wrong_files(&systems[i], &examples[i], &examples[(i + 1) % 3].zkey);
        threads(&systems[i], &examples[i]);
    }
    if (count == 2 || strcmp(arguments[2], "groth16") == 0) batch(&examples[0]);

    // Anyone can forge proofs for a key without contributions: it proves nothing.
    struct file insecure = read_file("crates/groth16/tests/data", "membership-small", ".zkey");
    struct outputs outputs = outputs_of(&systems[0], &examples[0]);
    CHECK(groth16_prover(insecure.bytes, insecure.size, examples[0].wtns.bytes, examples[0].wtns.size, ANSWER(outputs)) == PROVER_ERROR);
    CHECK(strstr(message, "anyone can forge proofs for this key") != NULL);
    free(outputs.proof), free(outputs.public), free(insecure.bytes);

    for (int i = 0; i < 3; i++)
        free(examples[i].zkey.bytes), free(examples[i].wtns.bytes), free(examples[i].inputs.bytes), free(examples[i].wasm.bytes),
            free(examples[i].key.bytes);
    CHECK(called > 0);
    printf("all calls of %d proof systems\n", called);
    return 0;
}
