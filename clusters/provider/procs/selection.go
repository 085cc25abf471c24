// Package procs stops, continues and kills processes that it sees through /proc, and reads back that every thread of
// them obeyed, on Linux. It knows nothing of who started them: a Selection says which ones it is about.
package procs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
)

// ErrNone means that a selection is empty: the processes have ended.
var ErrNone = errors.New("none of its processes is there")

// Selection lists the processes that something is about, as they are at this moment.
type Selection func() ([]int, error)

// Descent is a process, all of its process group, and all that descends from it. A child that left the group is not
// reached by the group's signals; that it is listed keeps a pause of half a program from being taken for one.
func Descent(leader int) Selection {
	return func() ([]int, error) {
		pids, stats, err := allStats()
		if err != nil {
			return nil, err
		}
		var chosen []int
		for _, pid := range pids {
			if belongs(stats, pid, leader) {
				chosen = append(chosen, pid)
			}
		}
		return chosen, nil
	}
}

// allStats is every process, in order, and what is known of those that are not gone by now.
func allStats() ([]int, map[int]Stat, error) {
	pids, err := Numbers()
	if err != nil {
		return nil, nil, err
	}
	stats := make(map[int]Stat, len(pids))
	for _, pid := range pids {
		if s, err := ReadStat(pid); err == nil {
			stats[pid] = s
		}
	}
	return pids, stats, nil
}

func belongs(stats map[int]Stat, pid, leader int) bool {
	if stats[pid].Group == leader {
		return true
	}
	for steps := 0; pid > 1 && steps <= len(stats); steps++ {
		if pid == leader {
			return true
		}
		pid = stats[pid].Parent
	}
	return false
}

// Container is every process of a container that shares this PID namespace, by the container's full id. The engine puts
// each container in a control group named after its id, and what the container starts stays there, even with other parents,
// sessions and users.
func Container(id string) Selection {
	return func() ([]int, error) {
		pids, err := Numbers()
		if err != nil {
			return nil, err
		}
		var chosen []int
		for _, pid := range pids {
			groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
			if gone(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if bytes.Contains(groups, []byte(id)) {
				chosen = append(chosen, pid)
			}
		}
		return chosen, nil
	}
}

// Fixed is what a selection lists now, for as long as it lives: it loses no process whose parent ends, and takes none for it
// that was given its id.
func Fixed(chosen Selection) (Selection, error) {
	pids, err := chosen()
	if err != nil {
		return nil, err
	}
	started := make(map[int]uint64, len(pids))
	for _, pid := range pids {
		if s, err := ReadStat(pid); err == nil { // else it is gone by now
			started[pid] = s.Start
		}
	}
	return func() ([]int, error) {
		var left []int
		for _, pid := range pids {
			if s, err := ReadStat(pid); err == nil && s.Start == started[pid] {
				left = append(left, pid)
			}
		}
		return left, nil
	}, nil
}

// Only is the processes with these ids.
func Only(pids ...int) Selection {
	return func() ([]int, error) { return pids, nil }
}
