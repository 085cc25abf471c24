//go:build linux

package sandbox

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/clusters/procs"
)

const reapEvery = time.Second

// reapOrphans does the duty of a namespace's first process: orphans are given to it, and stay as zombies until it reads
// their end. Waiting for "any child" would steal from those who wait for theirs; so only zombies are read that were not
// started here, and that were not read for a whole round.
func (b *sandbox) reapOrphans() {
	seen := map[int]bool{}
	for range time.Tick(reapEvery) {
		zombies := b.orphans()
		for pid := range zombies {
			if seen[pid] {
				_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
			}
		}
		seen = zombies
	}
}

func (b *sandbox) orphans() map[int]bool {
	found := map[int]bool{}
	pids, err := procs.Numbers()
	if err != nil {
		return found
	}
	for _, pid := range pids {
		if _, known := b.children.Load(pid); known {
			continue
		}
		if s, err := procs.ReadStat(pid); err == nil && s.State.Over() && s.Parent == os.Getpid() {
			found[pid] = true
		}
	}
	return found
}
