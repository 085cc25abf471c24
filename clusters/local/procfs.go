package local

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// threadState is the letter of "State:" in /proc/PID/task/TID/status.
type threadState byte

// halted: the thread executes nothing until SIGCONT. Z and X have ended (a leader may end before its other threads).
// t is not among them: a tracer lets such a thread go on without SIGCONT.
func (s threadState) halted() bool { return s == 'T' || s.over() }

func (s threadState) going() bool { return s != 'T' }

func (s threadState) over() bool { return s == 'Z' || s == 'X' }

// thr is one thread as /proc shows it.
type thr struct {
	pid, tid int
	state    threadState
}

// groupThreads lists the threads of all processes of a process group, and of all that its leader forked. A child that
// left the group is not reached by the group's signals; that it shows up here is what keeps a pause of half a program
// from being taken for one.
func groupThreads(pgid int) ([]thr, error) {
	pids, err := numbered("/proc")
	if err != nil {
		return nil, err
	}
	stats := make(map[int]stat, len(pids))
	for _, pid := range pids {
		if s, err := readStat(pid); err == nil { // else it is gone meanwhile
			stats[pid] = s
		}
	}
	var all []thr
	for _, pid := range pids {
		if !belongs(stats, pid, pgid) {
			continue
		}
		tids, err := numbered(fmt.Sprintf("/proc/%d/task", pid))
		if gone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, tid := range tids {
			state, err := readState(pid, tid)
			if gone(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			all = append(all, thr{pid, tid, state})
		}
	}
	return all, nil
}

// belongs tells whether a process is of the group, or descends from its leader.
func belongs(stats map[int]stat, pid, pgid int) bool {
	if stats[pid].pgrp == pgid {
		return true
	}
	for steps := 0; pid > 1 && steps < len(stats); steps++ {
		if pid == pgid {
			return true
		}
		pid = stats[pid].ppid
	}
	return false
}

// gone tells whether an error of /proc means that the process or thread ended meanwhile.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

func readState(pid, tid int) (threadState, error) {
	path := fmt.Sprintf("/proc/%d/task/%d/status", pid, tid)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	_, after, ok := bytes.Cut(text, []byte("\nState:\t"))
	if !ok || len(after) == 0 {
		return 0, fmt.Errorf("%s has no State line", path)
	}
	return threadState(after[0]), nil
}

// stat is what we need of /proc/PID/stat.
type stat struct {
	state      threadState
	ppid, pgrp int
}

func readStat(pid int) (stat, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	text, err := os.ReadFile(path)
	if err != nil {
		return stat{}, err
	}
	// The command's name is in parentheses and may contain anything, parentheses and spaces too.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 3 {
		return stat{}, fmt.Errorf("%s is too short", path)
	}
	ppid, err1 := strconv.Atoi(string(fields[1]))
	pgrp, err2 := strconv.Atoi(string(fields[2]))
	return stat{threadState(fields[0][0]), ppid, pgrp}, errors.Join(err1, err2)
}

// numbered lists the entries of a directory whose names are numbers.
func numbered(dir string) ([]int, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	numbers := make([]int, 0, len(names))
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}
