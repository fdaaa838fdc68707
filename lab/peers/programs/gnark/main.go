// Times gnark's PLONK over BN254 on a chain of multiplications: the peer of `proofmill plonk workload arithmetic`.
//
// Usage: go run . LOG_GATES [RUNS]; prints a line of a record (lab/records/README.md), of the prove call.
package main

import (
	"fmt"
	"math/big"
	"os"
	"runtime"
	"sort"
	"strconv"
	"syscall"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/plonk"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/scs"
	"github.com/consensys/gnark/logger"
	"github.com/consensys/gnark/test/unsafekzg"
)

// chain is a circuit for x and its power y, which takes as many multiplications by x as there are gates.
type chain struct {
	gates int
	X     frontend.Variable
	Y     frontend.Variable `gnark:",public"`
}

func (c *chain) Define(api frontend.API) error {
	last := c.X
	for i := 0; i < c.gates; i++ {
		last = api.Mul(last, c.X)
	}
	api.AssertIsEqual(last, c.Y)
	return nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	// It would log to standard output.
	logger.Disable()
	log, err := strconv.Atoi(os.Args[1])
	check(err)
	runs := 3
	if len(os.Args) > 2 {
		runs, err = strconv.Atoi(os.Args[2])
		check(err)
	}
	// A few gates fewer than a power of two, which leaves rows for the public input and for gnark's own gates.
	gates := 1<<log - 8
	field := ecc.BN254.ScalarField()
	system, err := frontend.Compile(field, scs.NewBuilder, &chain{gates: gates})
	check(err)
	srs, lagrange, err := unsafekzg.NewSRS(system)
	check(err)
	provingKey, verifyingKey, err := plonk.Setup(system, srs, lagrange)
	check(err)
	power := new(big.Int).Exp(big.NewInt(3), big.NewInt(int64(gates)+1), field)
	witness, err := frontend.NewWitness(&chain{X: 3, Y: power}, field)
	check(err)
	public, err := witness.Public()
	check(err)
	var seconds []float64
	for run := 0; run <= runs; run++ {
		began := time.Now()
		proof, err := plonk.Prove(system, provingKey, witness)
		elapsed := time.Since(began).Seconds()
		check(err)
		check(plonk.Verify(proof, verifyingKey, public))
		// The first run is a warm-up.
		if run > 0 {
			seconds = append(seconds, elapsed)
		}
	}
	sort.Float64s(seconds)
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	// family, benchmark, implementation, size, threads, run, samples, median_s, min_s, peak_mb, others_share
	fmt.Printf("plonk_workloads,standard,gnark,%d,%d,1,%d,%.4f,%.4f,%d,\n", gates, runtime.GOMAXPROCS(0), runs,
		seconds[len(seconds)/2], seconds[0], usage.Maxrss*1024/1e6)
}
