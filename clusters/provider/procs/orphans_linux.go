package procs

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const reapEvery = time.Second

// ReapOrphans does the duty of a namespace's first process, for ever: orphans are given to it, and stay as zombies until it reads their
// end. Waiting for "any child" would steal from those who wait for theirs. So only zombies are read that were there a whole round
// before, that mine does not know, and of which nobody in this process holds a pidfd, as os.Process does until its Wait has returned
// (with Linux 5.4 or newer). A round alone proves nothing: on a busy machine a Wait was seen to come later.
func ReapOrphans(mine func(pid int) bool) {
	seen := map[int]bool{}
	for range time.Tick(reapEvery) {
		seen = reap(seen, mine)
	}
}

// reap makes one round, and returns the orphans that it found.
func reap(seen map[int]bool, mine func(pid int) bool) map[int]bool {
	zombies := orphans(mine)
	for pid := range zombies {
		if seen[pid] {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
	}
	return zombies
}

func orphans(mine func(pid int) bool) map[int]bool {
	found := map[int]bool{}
	pids, err := Numbers()
	if err != nil {
		return found
	}
	for _, pid := range pids {
		if mine(pid) {
			continue
		}
		if s, err := ReadStat(pid); err == nil && s.State.Over() && s.Parent == os.Getpid() {
			found[pid] = true
		}
	}
	if len(found) > 0 {
		for _, pid := range awaited() {
			delete(found, pid)
		}
	}
	return found
}

// awaited are the processes of which this one holds a pidfd.
func awaited() (pids []int) {
	const infos = "/proc/self/fdinfo/"
	open, err := os.ReadDir(infos)
	if err != nil {
		return nil
	}
	for _, fd := range open {
		info, err := os.ReadFile(infos + fd.Name())
		if err != nil {
			continue // closed since
		}
		for line := range strings.Lines(string(info)) {
			number, is := strings.CutPrefix(line, "Pid:")
			if pid, err := strconv.Atoi(strings.TrimSpace(number)); is && err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
