//go:build !linux

package firewall

import (
	"fmt"
	"runtime"
)

func refused() error {
	return fmt.Errorf("dropping packets needs Linux's nftables, and this is %s", runtime.GOOS)
}

// Table is what is in the kernel for one cut.
type Table struct{}

// Block is refused.
func Block(string, []Link) (*Table, error) { return nil, refused() }

// Queue is refused.
func Queue(string, []Link, Queues) (*Table, error) { return nil, refused() }

// Dropped is refused.
func (*Table) Dropped() (packets uint64, err error) { return 0, refused() }

// Unblock is refused.
func (*Table) Unblock() error { return refused() }
