package main

import (
	"errors"
	"fmt"

	"lockcheck/reports/rundir"
)

// hold keeps a second lockcheck from going on with a comparison or a gallery that is at work: both would write its record, and the last
// one to end would take the other's runs out of it. The end of the process lets go. A file system without locks holds nothing.
func hold(dir string) (release func(), err error) {
	release, err = rundir.Hold(dir)
	switch {
	case errors.Is(err, rundir.ErrHeld):
		return nil, fmt.Errorf("another lockcheck is at work in %s; wait for its end, or end it", dir)
	case err != nil:
		return nil, fmt.Errorf("cannot hold %s: %w", dir, err)
	}
	return release, nil
}
