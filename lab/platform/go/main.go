// Command platform times Go's standard library under load: every goroutine repeats the same work.
//
//	platform FAMILY/BENCHMARK THREADS
//
// It checks the work's result once and prints "ready AMOUNT UNIT GO_VERSION". Then, for each line "run NANOSECONDS", it
// repeats the work for that time and prints "done COUNT WALL_NANOSECONDS CPU_NANOSECONDS ANSWER". On failure it prints
// "error SENTENCE".
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// work is a benchmark. start is called once per goroutine; each call of the returned function does the work
// once.
type work struct {
	// The amount of work per call, in units.
	amount int
	unit   string
	start  func() (func() error, error)
}

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " "))
		os.Exit(1)
	}
}

func serve(arguments []string) error {
	if len(arguments) != 2 {
		return fmt.Errorf("expected FAMILY/BENCHMARK THREADS, found %q", arguments)
	}
	work, known := works[arguments[0]]
	if !known {
		return fmt.Errorf("no benchmark %s", arguments[0])
	}
	threads, err := strconv.Atoi(arguments[1])
	if err != nil || threads < 1 {
		return fmt.Errorf("expected a number of threads, found %q", arguments[1])
	}
	// The garbage collector is limited to the same number of threads.
	runtime.GOMAXPROCS(threads)
	var calls []func() error
	for i := 0; i < threads; i++ {
		call, err := work.start()
		if err != nil {
			return err
		}
		if err := call(); err != nil {
			return err
		}
		calls = append(calls, call)
	}
	fmt.Println("ready", work.amount, work.unit, runtime.Version())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 2 || words[0] != "run" {
			return fmt.Errorf("expected run NANOSECONDS, found %q", lines.Text())
		}
		nanoseconds, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil {
			return err
		}
		if err := run(calls, time.Duration(nanoseconds)); err != nil {
			return err
		}
	}
	return lines.Err()
}

func run(calls []func() error, duration time.Duration) error {
	counts, errs := make([]int, len(calls)), make([]error, len(calls))
	var group sync.WaitGroup
	cpu, began := cpuTime(), time.Now()
	for i := range calls {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for errs[i] == nil && (counts[i] == 0 || time.Since(began) < duration) {
				errs[i] = calls[i]()
				counts[i]++
			}
		}(i)
	}
	group.Wait()
	wall := time.Since(began)
	total := 0
	for i := range calls {
		if errs[i] != nil {
			return errs[i]
		}
		total += counts[i]
	}
	fmt.Println("done", total, wall.Nanoseconds(), cpuTime()-cpu, "checked")
	return nil
}

func cpuTime() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
