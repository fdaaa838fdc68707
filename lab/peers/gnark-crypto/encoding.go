package main

import (
	"fmt"
	"slices"
)

// element is an element of a prime field. Its own encoding is big-endian; inputs and outputs are
// little-endian.
type element[E any] interface {
	*E
	SetBytes([]byte) *E
	Marshal() []byte
}

// reader holds the remaining bytes of an input.
type reader struct {
	bytes []byte
}

// get sets an element from the next len bytes, which must exist.
func get[E any, P element[E]](r *reader, len int, into P) {
	bytes := slices.Clone(r.bytes[:len])
	slices.Reverse(bytes)
	into.SetBytes(bytes)
	r.bytes = r.bytes[len:]
}

// put appends the encodings of elements.
func put[E any, P element[E]](to []byte, elements ...P) []byte {
	for _, element := range elements {
		bytes := element.Marshal()
		slices.Reverse(bytes)
		to = append(to, bytes...)
	}
	return to
}

// check returns an error if the input has the wrong length; each is the length of an item.
func check(t task, each int) error {
	if len(t.input) != t.size*each {
		return fmt.Errorf("expected %d times %d bytes of input, found %d", t.size, each, len(t.input))
	}
	return nil
}
