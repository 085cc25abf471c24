//go:build linux

package firewall

import (
	"errors"
	"slices"
	"sync"
)

// kept are the tables that stay, empty, until no packets are held. The kernel drops all that is in any queue of a network namespace when
// any table with chains goes from it.
var kept struct {
	sync.Mutex
	holders int
	tables  []*Table
}

// Keep has tables stay, without their rules, until as many calls of Release have come. Who holds packets in a queue calls it first.
func Keep() {
	kept.Lock()
	defer kept.Unlock()
	kept.holders++
}

// Release removes the tables that had to stay, once no other holder needs them.
func Release() error {
	kept.Lock()
	kept.holders--
	var tables []*Table
	if kept.holders == 0 {
		tables, kept.tables = kept.tables, nil
	}
	kept.Unlock()
	var errs []error
	for _, t := range tables {
		errs = append(errs, t.remove())
	}
	return errors.Join(errs...)
}

// keeping reports whether a table has to stay now, and notes it.
func keeping(t *Table) bool {
	kept.Lock()
	defer kept.Unlock()
	if kept.holders > 0 && !slices.Contains(kept.tables, t) {
		kept.tables = append(kept.tables, t)
	}
	return kept.holders > 0
}
