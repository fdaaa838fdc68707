// Proves, verifies the proof, and writes it: a program for rapidsnark's library, which runs with libproofmill as it is.
//
//	CGO_CFLAGS=$(pkg-config --cflags proofmill) CGO_LDFLAGS=-L$(pkg-config --variable=libdir proofmill) go build
//	./prove circuit.zkey witness.wtns verification_key.json proof.json public.json
package main

/*
#cgo LDFLAGS: -lrapidsnark
#include <stdlib.h>
#include <prover.h>
#include <verifier.h>
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"unsafe"
)

const messageSize = 1024

// text is the content of a buffer up to its zero byte.
func text(buffer []byte) string {
	content, _, _ := bytes.Cut(buffer, []byte{0})
	return string(content)
}

func chars(buffer []byte) *C.char {
	return (*C.char)(unsafe.Pointer(&buffer[0]))
}

// prove returns a proof of the witness and its public signals, as JSON. The key is in a file, which the library maps.
func prove(zkey string, witness []byte) (proof, public []byte, err error) {
	path := C.CString(zkey)
	defer C.free(unsafe.Pointer(path))
	message := make([]byte, messageSize)

	var proofSize, publicSize C.ulonglong
	if C.groth16_public_size_for_zkey_file(path, &publicSize, chars(message), messageSize) != C.PROVER_OK {
		return nil, nil, errors.New(text(message))
	}
	C.groth16_proof_size(&proofSize)
	proof, public = make([]byte, proofSize), make([]byte, publicSize)
	status := C.groth16_prover_zkey_file(path, unsafe.Pointer(&witness[0]), C.ulonglong(len(witness)),
		chars(proof), &proofSize, chars(public), &publicSize, chars(message), messageSize)
	if status != C.PROVER_OK {
		return nil, nil, fmt.Errorf("error %d: %s", status, text(message))
	}
	return proof[:proofSize], public[:publicSize], nil
}

// verify returns no error for a valid proof only.
func verify(proof, public, key []byte) error {
	arguments := [3]*C.char{C.CString(string(proof)), C.CString(string(public)), C.CString(string(key))}
	for _, argument := range arguments {
		defer C.free(unsafe.Pointer(argument))
	}
	message := make([]byte, messageSize)
	switch C.groth16_verify(arguments[0], arguments[1], arguments[2], chars(message), messageSize) {
	case C.VERIFIER_VALID_PROOF:
		return nil
	case C.VERIFIER_INVALID_PROOF:
		return errors.New("the proof is invalid")
	default:
		return errors.New(text(message))
	}
}

func run(arguments []string) error {
	if len(arguments) != 5 {
		return errors.New("expected ZKEY WTNS VERIFICATION_KEY PROOF PUBLIC")
	}
	witness, err := os.ReadFile(arguments[1])
	if err != nil {
		return err
	}
	key, err := os.ReadFile(arguments[2])
	if err != nil {
		return err
	}
	proof, public, err := prove(arguments[0], witness)
	if err != nil {
		return err
	}
	if err := verify(proof, public, key); err != nil {
		return err
	}
	if err := os.WriteFile(arguments[3], proof, 0o644); err != nil {
		return err
	}
	return os.WriteFile(arguments[4], public, 0o644)
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
