package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// hold keeps a second lockcheck from going on with a comparison that is at work: both would write its compare.json, and the last
// one to end would take the other's runs out of it. The end of the process lets go. A file system without locks holds nothing.
func hold(dir string) (release func(), err error) {
	held, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot open the directory of the comparison: %w", err)
	}
	if err := unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		held.Close()
		return nil, fmt.Errorf("another lockcheck is at work on the comparison in %s; wait for its end, or end it", dir)
	}
	return func() { held.Close() }, nil
}
