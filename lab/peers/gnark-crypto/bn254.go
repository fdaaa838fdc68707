package main

import (
	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	"github.com/consensys/gnark-crypto/utils"
)

func bn254SumG1(t task) (work, error) {
	if err := check(t, 2*fp.Bytes+fr.Bytes); err != nil {
		return work{}, err
	}
	input := &reader{t.input}
	points := make([]bn254.G1Affine, t.size)
	for i := range points {
		get(input, fp.Bytes, &points[i].X)
		get(input, fp.Bytes, &points[i].Y)
	}
	scalars := bn254Scalars(input, t.size)
	var sum bn254.G1Affine
	run := func() {
		if _, err := sum.MultiExp(points, scalars, ecc.MultiExpConfig{NbTasks: t.threads}); err != nil {
			panic(err)
		}
	}
	return work{run, func() []byte { return put(nil, &sum.X, &sum.Y) }}, nil
}

func bn254SumG2(t task) (work, error) {
	if err := check(t, 4*fp.Bytes+fr.Bytes); err != nil {
		return work{}, err
	}
	input := &reader{t.input}
	points := make([]bn254.G2Affine, t.size)
	for i := range points {
		bn254G2(input, &points[i])
	}
	scalars := bn254Scalars(input, t.size)
	var sum bn254.G2Affine
	run := func() {
		if _, err := sum.MultiExp(points, scalars, ecc.MultiExpConfig{NbTasks: t.threads}); err != nil {
			panic(err)
		}
	}
	return work{run, func() []byte { return put(nil, &sum.X.A0, &sum.X.A1, &sum.Y.A0, &sum.Y.A1) }}, nil
}

// bn254Pairing computes the product of the pairings of points of G1 with points of G2.
func bn254Pairing(t task) (work, error) {
	if err := check(t, 6*fp.Bytes); err != nil {
		return work{}, err
	}
	input := &reader{t.input}
	of1, of2 := make([]bn254.G1Affine, t.size), make([]bn254.G2Affine, t.size)
	for i := range of1 {
		get(input, fp.Bytes, &of1[i].X)
		get(input, fp.Bytes, &of1[i].Y)
	}
	for i := range of2 {
		bn254G2(input, &of2[i])
	}
	var product bn254.GT
	run := func() {
		var err error
		if product, err = bn254.Pair(of1, of2); err != nil {
			panic(err)
		}
	}
	output := func() (bytes []byte) {
		for _, six := range []*bn254.E6{&product.C0, &product.C1} {
			for _, two := range []*bn254.E2{&six.B0, &six.B1, &six.B2} {
				bytes = put(bytes, &two.A0, &two.A1)
			}
		}
		return
	}
	return work{run, output}, nil
}

// bn254Transform computes values from coefficients, both in natural order, in place: each run transforms the
// values of the previous one.
func bn254Transform(t task) (work, error) {
	if err := check(t, fr.Bytes); err != nil {
		return work{}, err
	}
	values := bn254Scalars(&reader{t.input}, t.size)
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

func bn254G2(input *reader, point *bn254.G2Affine) {
	for _, coefficient := range []*fp.Element{&point.X.A0, &point.X.A1, &point.Y.A0, &point.Y.A1} {
		get(input, fp.Bytes, coefficient)
	}
}

func bn254Scalars(input *reader, count int) []fr.Element {
	scalars := make([]fr.Element, count)
	for i := range scalars {
		get(input, fr.Bytes, &scalars[i])
	}
	return scalars
}
