package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client"
)

// ended acts on the end of the conversation with a client, in any phase of the run. A client that broke the protocol
// ends the run: what it said after that, or did not say, is no word of the service. One that ended by itself is reported.
func (r *Run) ended(m *member) {
	switch why := m.driver.Err(); {
	case errors.Is(why, client.ErrProtocol):
		r.fail(r.unusable(m.name, why))
	case m.driver.Died():
		r.reportDeath(m.name, deathOf(m.process))
	}
}

// reportDeath says at once which client ended by itself, and how. What another's end had to say before is not repeated: a
// client that keeps dying mostly does so for one reason.
func (r *Run) reportDeath(name string, d *death) {
	words := d.how + "\n" + strings.Join(d.words, "\n")
	r.mu.Lock()
	before, known := r.deaths[words]
	if !known {
		r.deaths[words] = name
	}
	r.mu.Unlock()
	if known {
		r.progress("client %s ended by itself: %s, as %s did; its log is %s", name, d.how, before, d.log)
		return
	}
	r.progress("client %s ended by itself: %v", name, d)
}

// death is how a client ended that neither a fault nor the harness had ended.
type death struct {
	how   string   // exit status or signal
	words []string // of its log
	log   string   // the log's path
}

func (d *death) Error() string {
	lines := append([]string{d.how}, d.words...)
	if d.log != "" {
		lines = append(lines, "its log is "+d.log)
	}
	return strings.Join(lines, "\n    ")
}

// deathTimeout bounds how long a process may take to end after its output did. A busy engine was seen to tell of the end of a container's process
// more than two seconds after it.
const deathTimeout = 10 * time.Second

// deathOf is how a process ended, as far as can be seen soon after its output has.
func deathOf(process clusters.Process) *death {
	d := &death{how: "its output ended, and its process had not ended " + history.Duration(int64(deathTimeout)) + " later"}
	select {
	case <-process.Done():
		d.how = "exit status 0"
		if err := process.Err(); err != nil {
			d.how = err.Error()
		}
	case <-time.After(deathTimeout):
	}
	logged, ok := process.(clusters.Logged)
	if !ok {
		return d
	}
	d.log = logged.LogPath()
	if text, err := readEnd(d.log); err == nil {
		d.words = lastWords(string(text))
	}
	return d
}

// unfit is why a client that was just started ends the run: it broke the protocol, or it declares something else than those
// before it. It is nil if the client runs, and if it could not be started for another reason, which err says.
func (r *Run) unfit(m *member, err error) error {
	switch {
	case errors.Is(err, client.ErrProtocol):
		return r.refused(err)
	case err != nil:
		return nil
	}
	return r.agrees(m)
}

// unusable is why a client that broke the protocol cannot be tested.
func (r *Run) unusable(name string, why error) error {
	return r.refused(fmt.Errorf("client %s cannot be used: %w", name, why))
}

// maxLog is how much of the end of a client's log is looked at, in bytes: the trace of a Go program with many goroutines
// takes some.
const maxLog = 1 << 20

// readEnd is the end of a file, from the beginning of a line.
func readEnd(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	from := max(0, size-maxLog)
	text := make([]byte, size-from)
	if _, err := file.ReadAt(text, from); err != nil && err != io.EOF {
		return nil, err
	}
	if _, whole, cut := bytes.Cut(text, []byte{'\n'}); cut && from > 0 {
		text = whole
	}
	return text, nil
}

// lastWords are the lines of a program's log that say of what it ended: the last one, or of a panic in Go what it was and
// where the program's own code had come to.
func lastWords(log string) []string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "panic: ") && !strings.HasPrefix(line, "fatal error: ") {
			continue
		}
		if trace := goroutine(lines[i+1:]); trace != nil {
			return append([]string{line}, ownFrame(trace)...)
		}
	}
	if last := lines[len(lines)-1]; last != "" {
		return []string{last}
	}
	return nil
}

// goroutine is what follows the heading of the first goroutine of a trace, up to the next; nil if there is none.
func goroutine(lines []string) (trace []string) {
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "goroutine ") && trace == nil:
			trace = []string{}
		case trace != nil && line == "":
			return trace
		case trace != nil:
			trace = append(trace, line)
		}
	}
	return trace
}

// ownFrame is the innermost frame of a trace that is the program's own code, in one line. A frame takes two: a function with
// its arguments, and after a tab a file and a line. Where none is known to be its own it is the innermost after the
// runtime's.
func ownFrame(trace []string) []string {
	var first []string
	for i := 0; i+1 < len(trace); i++ {
		file, isFile := strings.CutPrefix(trace[i+1], "\t")
		function := trace[i]
		if at := strings.LastIndex(function, "("); at > 0 {
			function = function[:at]
		}
		if !isFile || function == "panic" || strings.HasPrefix(function, "runtime.") {
			continue
		}
		file, _, _ = strings.Cut(file, " ")
		frame := []string{function + " at " + file}
		if isOwn(function, file) {
			return frame
		}
		if first == nil {
			first = frame
		}
	}
	return first
}

// isOwn reports whether a frame is neither of a module that was downloaded nor of Go's library, whose packages' names have
// no dot before their first slash and whose files are in directories of those names.
func isOwn(function, file string) bool {
	if strings.Contains(file, "@v") {
		return false
	}
	slash := strings.LastIndex(function, "/") + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	pkg := function[:slash] + name
	root, _, _ := strings.Cut(pkg, "/")
	dir := path.Dir(file)
	library := !strings.Contains(root, ".") && (dir == pkg || strings.HasSuffix(dir, "/src/"+pkg))
	return !library
}
