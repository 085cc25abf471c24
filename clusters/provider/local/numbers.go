//go:build linux

package local

import (
	"fmt"
	"sync"
)

const maxSites = 255

// numbers are given to the sites of one process, 1 to maxSites. A number that was freed comes again only after all the others: what
// an ended site left behind in the process, such as a client that still dials, does not meet the servers of the next one.
type numbers struct {
	mu    sync.Mutex
	taken [maxSites + 1]bool
	last  int
}

func (n *numbers) take() (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for range maxSites {
		n.last = n.last%maxSites + 1
		if !n.taken[n.last] {
			n.taken[n.last] = true
			return n.last, nil
		}
	}
	return 0, fmt.Errorf("more than %d sites at once in one process", maxSites)
}

func (n *numbers) free(number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.taken[number] = false
}
