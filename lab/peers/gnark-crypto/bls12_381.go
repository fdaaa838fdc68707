package main

import (
	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
	"github.com/consensys/gnark-crypto/utils"
)

func bls12381SumG1(t task) (work, error) {
	if err := check(t, 2*fp.Bytes+fr.Bytes); err != nil {
		return work{}, err
	}
	input := &reader{t.input}
	points := make([]bls12381.G1Affine, t.size)
	for i := range points {
		get(input, fp.Bytes, &points[i].X)
		get(input, fp.Bytes, &points[i].Y)
	}
	scalars := bls12381Scalars(input, t.size)
	var sum bls12381.G1Affine
	run := func() {
		if _, err := sum.MultiExp(points, scalars, ecc.MultiExpConfig{NbTasks: t.threads}); err != nil {
			panic(err)
		}
	}
	return work{run, func() []byte { return put(nil, &sum.X, &sum.Y) }}, nil
}

func bls12381SumG2(t task) (work, error) {
	if err := check(t, 4*fp.Bytes+fr.Bytes); err != nil {
		return work{}, err
	}
	input := &reader{t.input}
	points := make([]bls12381.G2Affine, t.size)
	for i := range points {
		bls12381G2(input, &points[i])
	}
	scalars := bls12381Scalars(input, t.size)
	var sum bls12381.G2Affine
	run := func() {
		if _, err := sum.MultiExp(points, scalars, ecc.MultiExpConfig{NbTasks: t.threads}); err != nil {
			panic(err)
		}
	}
	return work{run, func() []byte { return put(nil, &sum.X.A0, &sum.X.A1, &sum.Y.A0, &sum.Y.A1) }}, nil
}

// bls12381Pairing computes the product of the pairings of points of G1 with points of G2.
func bls12381Pairing(t task) (work, error) {
	if err := check(t, 6*fp.Bytes); err != nil {
		return work{}, err
	}
	input := &reader{t.input}
	of1, of2 := make([]bls12381.G1Affine, t.size), make([]bls12381.G2Affine, t.size)
	for i := range of1 {
		get(input, fp.Bytes, &of1[i].X)
		get(input, fp.Bytes, &of1[i].Y)
	}
	for i := range of2 {
		bls12381G2(input, &of2[i])
	}
	var product bls12381.GT
	run := func() {
		var err error
		if product, err = bls12381.Pair(of1, of2); err != nil {
			panic(err)
		}
	}
	output := func() (bytes []byte) {
		for _, six := range []*bls12381.E6{&product.C0, &product.C1} {
			for _, two := range []*bls12381.E2{&six.B0, &six.B1, &six.B2} {
				bytes = put(bytes, &two.A0, &two.A1)
			}
		}
		return
	}
	return work{run, output}, nil
}

// bls12381Transform computes values from coefficients, both in natural order, in place: each run transforms
// the values of the previous one.
func bls12381Transform(t task) (work, error) {
	if err := check(t, fr.Bytes); err != nil {
		return work{}, err
	}
	values := bls12381Scalars(&reader{t.input}, t.size)
	domain := fft.NewDomain(uint64(t.size))
	run := func() {
		domain.FFT(values, fft.DIF, fft.WithNbTasks(t.threads))
		utils.BitReverse(values)
	}
	output := func() (bytes []byte) {
		for i := range values {
			bytes = put(bytes, &values[i])
		}
		return
	}
	return work{run, output}, nil
}

func bls12381G2(input *reader, point *bls12381.G2Affine) {
	for _, coefficient := range []*fp.Element{&point.X.A0, &point.X.A1, &point.Y.A0, &point.Y.A1} {
		get(input, fp.Bytes, coefficient)
	}
}

func bls12381Scalars(input *reader, count int) []fr.Element {
	scalars := make([]fr.Element, count)
	for i := range scalars {
		get(input, fr.Bytes, &scalars[i])
	}
	return scalars
}

// The domain separation tag of Ethereum's signatures, used for both groups.
const bls12381Tag = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"

// Length of a message in bytes.
const bls12381Message = 32

func bls12381HashToG1(t task) (work, error) {
	points, err := make([]bls12381.G1Affine, t.size), check(t, bls12381Message)
	run := func() {
		for i := range points {
			message := t.input[i*bls12381Message:][:bls12381Message]
			if points[i], err = bls12381.HashToG1(message, []byte(bls12381Tag)); err != nil {
				panic(err)
			}
		}
	}
	output := func() (bytes []byte) {
		for i := range points {
			bytes = put(bytes, &points[i].X, &points[i].Y)
		}
		return
	}
	return work{run, output}, err
}

func bls12381HashToG2(t task) (work, error) {
	points, err := make([]bls12381.G2Affine, t.size), check(t, bls12381Message)
	run := func() {
		for i := range points {
			message := t.input[i*bls12381Message:][:bls12381Message]
			if points[i], err = bls12381.HashToG2(message, []byte(bls12381Tag)); err != nil {
				panic(err)
			}
		}
	}
	output := func() (bytes []byte) {
		for i := range points {
			bytes = put(bytes, &points[i].X.A0, &points[i].X.A1, &points[i].Y.A0, &points[i].Y.A1)
		}
		return
	}
	return work{run, output}, err
}
