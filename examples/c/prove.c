// Proves, verifies the proof, and writes it: a program for rapidsnark's library, which links against libproofmill as it is.
//
//     cc prove.c $(pkg-config --cflags --libs proofmill) -o prove
//     ./prove circuit.zkey witness.wtns verification_key.json proof.json public.json
#include <stdio.h>
#include <stdlib.h>

#include "prover.h"
#include "verifier.h"

static void *checked(void *memory) {
    if (memory == NULL) {
        fprintf(stderr, "no memory\n");
        exit(2);
    }
    return memory;
}

// Reads a file, and writes a zero byte after its content.
static char *read_file(const char *path, unsigned long long *size) {
    FILE *file = fopen(path, "rb");
    long length;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) < 0) {
        perror(path);
        exit(2);
    }
    rewind(file);
    char *content = checked(malloc((size_t)length + 1));
    *size = fread(content, 1, (size_t)length, file);
    content[*size] = 0;
    fclose(file);
    return content;
}

static void write_file(const char *path, const char *content, unsigned long long size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(content, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

int main(int count, char **arguments) {
    if (count != 6) {
        fprintf(stderr, "usage: %s ZKEY WTNS VERIFICATION_KEY PROOF PUBLIC\n", arguments[0]);
        return 2;
    }
    char error[256];
    unsigned long long wtns_size, key_size, proof_size, public_size;
    char *wtns = read_file(arguments[2], &wtns_size);
    char *key = read_file(arguments[3], &key_size);

    if (groth16_public_size_for_zkey_file(arguments[1], &public_size, error, sizeof error) != PROVER_OK) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    groth16_proof_size(&proof_size);
    char *proof = checked(malloc(proof_size)), *public = checked(malloc(public_size));

    // The prover keeps the key for any number of proofs.
    void *prover;
    if (groth16_prover_create_zkey_file(&prover, arguments[1], error, sizeof error) != PROVER_OK) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    int status = groth16_prover_prove(prover, wtns, wtns_size, proof, &proof_size, public, &public_size, error, sizeof error);
    groth16_prover_destroy(prover);
    if (status != PROVER_OK) {
        fprintf(stderr, "%s: %s\n", arguments[2], error);
        return status == PROVER_INVALID_WITNESS_LENGTH ? 1 : 2;
    }

    status = groth16_verify(proof, public, key, error, sizeof error);
    if (status != VERIFIER_VALID_PROOF) {
        fprintf(stderr, "%s\n", status == VERIFIER_INVALID_PROOF ? "the proof is invalid" : error);
        return 1;
    }
    write_file(arguments[4], proof, proof_size);
    write_file(arguments[5], public, public_size);
    free(wtns), free(key), free(proof), free(public);
    return 0;
}
