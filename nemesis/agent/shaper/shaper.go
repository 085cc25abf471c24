// Package shaper limits the rate at which the network namespace of the calling thread sends, with the kernel's token bucket filter (tbf):
// what is too much waits in a queue, and what does not fit into that is dropped. It is for namespaces of a run's own, with which it ends.
package shaper

import "time"

const (
	// mtu is what the kernel's bucket has to hold at least: a whole Ethernet frame.
	mtu = 1514
	// burstTime is how long the bucket takes to fill. It may be emptied at once.
	burstTime = 10 * time.Millisecond
	// queueTime is what waits at most.
	queueTime = 400 * time.Millisecond
)

// Burst is how many bytes may pass at once after a silence, at a rate in bits a second.
func Burst(bits int64) int64 { return max(2*mtu, bytesIn(bits, burstTime)) }

func queue(bits int64) int64 { return max(4*mtu, bytesIn(bits, queueTime)) }

func bytesIn(bits int64, of time.Duration) int64 { return int64(float64(bits) / 8 * of.Seconds()) }
