package agent

import (
	"time"

	"lockcheck/clusters/provider/procs"
)

// The requests about the processor that processes get.
const (
	SlowBegin = "slow.begin" // Slow; answers with SlowSeen of the first turn: it was stopped, ran, and was stopped again
	SlowEnd   = "slow.end"   // procs.Target; answers with SlowSeen of all that time
)

// Slow lets all processes of a target run for a share of the time, until SlowEnd or the agent's end.
type Slow struct {
	Target procs.Target `json:"target"`
	Share  float64      `json:"share"` // above 0, below 1
}

// SlowSeen is what was measured. Time that a process may have run counts as such: from before it was sent SIGCONT until it
// had been sent SIGSTOP, if all of its threads were then read back as stopped.
type SlowSeen struct {
	Turns     int           `json:"turns"`
	Ran       time.Duration `json:"ran_ns"`
	Stopped   time.Duration `json:"stopped_ns"`
	Processor time.Duration `json:"processor_ns"` // that it had
	Beside    time.Duration `json:"beside_ns"`    // of that, while it was stopped: what the kernel counts late
	// Since is how long ago it was seen to be stopped for the first turn that was as it should be.
	Since time.Duration `json:"since_ns"`
}

// Share is the share of the time in which it ran.
func (s SlowSeen) Share() float64 { return float64(s.Ran) / max(float64(s.Ran+s.Stopped), 1) }
