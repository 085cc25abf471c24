package main

import (
	"os"
	"runtime/debug"
)

// minHeap is what a process may use even if it reads less.
const minHeap = 64 << 20

// boundHeap keeps the heap near what judging a recording of so many bytes needs. What is read is kept until the report is
// written, some 40 % of the files' size; by default the collector would let the heap grow to twice that, for no other
// gain than fewer collections. The bound is a soft one: a recording that needs more gets it. GOGC and GOMEMLIMIT, where
// they are set, decide instead.
func boundHeap(recorded int64) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if os.Getenv(name) != "" {
			return
		}
	}
	debug.SetMemoryLimit(max(minHeap, recorded/4*3))
}
