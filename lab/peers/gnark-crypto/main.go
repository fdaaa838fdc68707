// The runner of gnark-crypto's kernels. lab/peers/README.md describes the protocol.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// task is the runner's assignment.
type task struct {
	kernel  string
	size    int
	threads int
	input   []byte
}

// work is prepared work: run does it once, output encodes the last result.
type work struct {
	run    func()
	output func() []byte
}

// library is the module whose version is reported.
const library = "github.com/consensys/gnark-crypto"

func main() {
	if err := serve(); err != nil {
		fmt.Println("error " + err.Error())
		os.Exit(1)
	}
}

func serve() error {
	if len(os.Args) != 5 {
		return fmt.Errorf("expected KERNEL SIZE THREADS INPUT_FILE, found %d words", len(os.Args)-1)
	}
	size, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	threads, err := strconv.Atoi(os.Args[3])
	if err != nil {
		return err
	}
	input, err := os.ReadFile(os.Args[4])
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(threads)
	requests := listen()
	work, err := prepare(task{os.Args[1], size, threads, input})
	if err != nil {
		return err
	}
	work.run()
	digest := sha256.Sum256(work.output())
	fmt.Println("ready", hex.EncodeToString(digest[:8]), version())
	for request := range requests {
		count, found := strings.CutPrefix(request, "run ")
		iterations, err := strconv.ParseUint(count, 10, 64)
		if !found || err != nil {
			return errors.New("expected run N, found " + request)
		}
		wall, cpu := time.Now(), cpuTime()
		for range iterations {
			work.run()
		}
		fmt.Println("done", time.Since(wall).Nanoseconds(), cpuTime()-cpu)
	}
	return nil
}

// listen returns the lines of standard input. When it ends, the bench is gone, and the process exits
// immediately.
func listen() <-chan string {
	lines := make(chan string)
	go func() {
		for scanner := bufio.NewScanner(os.Stdin); scanner.Scan(); {
			lines <- scanner.Text()
		}
		os.Exit(0)
	}()
	return lines
}

// cpuTime returns the CPU time of the process so far, in nanoseconds.
func cpuTime() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// version returns the library's version in this build.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == library {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	panic("expected the module " + library)
}

func prepare(t task) (work, error) {
	// The distribution of the scalars does not change the function that is called.
	sum := strings.TrimSuffix(strings.TrimSuffix(t.kernel, "-equal"), "-bits")
	switch sum {
	case "msm/bn254-g1":
		return bn254SumG1(t)
	case "msm/bn254-g2":
		return bn254SumG2(t)
	case "msm/bls12-381-g1":
		return bls12381SumG1(t)
	case "msm/bls12-381-g2":
		return bls12381SumG2(t)
	case "ntt/bn254-fr":
		return bn254Transform(t)
	case "ntt/bls12-381-fr":
		return bls12381Transform(t)
	case "pairing/bn254":
		return bn254Pairing(t)
	case "pairing/bls12-381":
		return bls12381Pairing(t)
	case "bls12_381/hash-to-g1":
		return bls12381HashToG1(t)
	case "bls12_381/hash-to-g2":
		return bls12381HashToG2(t)
	}
	return work{}, errors.New("no kernel " + t.kernel)
}
