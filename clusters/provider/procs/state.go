package procs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// State is the letter of "State:" in /proc/PID/task/TID/status.
type State byte

// Halted reports whether a thread executes nothing until SIGCONT. Z and X have ended (a leader may end before its other
// threads). t is not among them: a tracer lets such a thread go on without SIGCONT.
func (s State) Halted() bool { return s == 'T' || s.Over() }

// Over reports whether a thread has ended.
func (s State) Over() bool { return s == 'Z' || s == 'X' }

func (s State) going() bool { return s != 'T' }

// Thread is one thread as /proc shows it.
type Thread struct {
	Process int   `json:"process"`
	Thread  int   `json:"thread"`
	State   State `json:"state"`
}

// Threads lists the threads of all processes of a selection.
func Threads(chosen Selection) ([]Thread, error) { return threadsOf(chosen) }

func threadsOf(chosen Selection) ([]Thread, error) {
	pids, err := chosen()
	if err != nil {
		return nil, err
	}
	var all []Thread
	for _, pid := range pids {
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
			all = append(all, Thread{pid, tid, state})
		}
	}
	return all, nil
}

// gone reports whether an error of /proc means that the process or thread has ended.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

func readState(pid, tid int) (State, error) {
	path := fmt.Sprintf("/proc/%d/task/%d/status", pid, tid)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	_, after, ok := bytes.Cut(text, []byte("\nState:\t"))
	if !ok || len(after) == 0 {
		return 0, fmt.Errorf("%s has no State line", path)
	}
	return State(after[0]), nil
}

// Stat is what matters of /proc/PID/stat.
type Stat struct {
	Name          string
	State         State
	Parent, Group int
	Start         uint64 // clock ticks since the boot; with the process id it names a process for good
}

// ReadStat reads /proc/PID/stat.
func ReadStat(pid int) (Stat, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	text, err := os.ReadFile(path)
	if err != nil {
		return Stat{}, err
	}
	// The command's name is in parentheses and may contain anything, parentheses and spaces too.
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return Stat{}, fmt.Errorf("%s names no command", path)
	}
	fields := bytes.Fields(text[end+1:])
	const startField = 19 // counted from the state
	if len(fields) <= startField {
		return Stat{}, fmt.Errorf("%s is too short", path)
	}
	parent, err1 := strconv.Atoi(string(fields[1]))
	group, err2 := strconv.Atoi(string(fields[2]))
	start, err3 := strconv.ParseUint(string(fields[startField]), 10, 64)
	return Stat{string(text[open+1 : end]), State(fields[0][0]), parent, group, start}, errors.Join(err1, err2, err3)
}

// HasChildren reports whether a process's first thread has a child. Where the kernel does not tell, it may have one.
func HasChildren(pid int) bool {
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	return len(children) > 0 || err != nil && !gone(err)
}

// Numbers lists all processes.
func Numbers() ([]int, error) { return numbered("/proc") }

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
