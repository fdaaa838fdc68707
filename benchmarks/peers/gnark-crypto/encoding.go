package main

import (
	"fmt"
	"slices"
)

// element is one of a prime field: its own bytes are big-endian, those of inputs and outputs little-endian.
type element[E any] interface {
	*E
	SetBytes([]byte) *E
	Marshal() []byte
}

// reader takes an input's bytes from the front.
type reader struct {
	bytes []byte
}

// get sets an element from the next len bytes, which must be there.
func get[E any, P element[E]](r *reader, len int, into P) {
	bytes := slices.Clone(r.bytes[:len])
	slices.Reverse(bytes)
	into.SetBytes(bytes)
	r.bytes = r.bytes[len:]
}

// put appends elements' bytes.
func put[E any, P element[E]](to []byte, elements ...P) []byte {
	for _, element := range elements {
		bytes := element.Marshal()
		slices.Reverse(bytes)
		to = append(to, bytes...)
	}
	return to
}

// check that an input has as many bytes as it should.
func check(t task, each int) error {
	if len(t.input) != t.size*each {
		return fmt.Errorf("expected %d times %d bytes of input, found %d", t.size, each, len(t.input))
	}
	return nil
}
