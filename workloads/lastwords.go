package workloads

import (
	"bytes"
	"io"
	"os"
	"path"
	"strings"
)

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
