package clusters

import (
	"bytes"
	"errors"
	"fmt"
	"os"
)

// lastLines of a log are quoted in an error.
const lastLines = 5

var errNoReason = errors.New("exit code 0")

// Ended is an error if the process of a node has ended. what is what the node is called in it. Of a node that others
// run, that is unknown.
func Ended(n Node, what string) error {
	hosted, ok := n.(Hosted)
	if !ok {
		return nil
	}
	process := hosted.Process()
	if !HasEnded(process) {
		return nil
	}
	reason := process.Err()
	if reason == nil {
		reason = errNoReason
	}
	return fmt.Errorf("%s %s ended: %w%s", what, n.Name(), reason, LastWords(n))
}

// HasEnded reports whether a process has ended.
func HasEnded(process Process) bool {
	select {
	case <-process.Done():
		return true
	default:
		return false
	}
}

// LastWords quotes the end of the log of a node's process, where lockcheck started it and the provider says where it is.
func LastWords(n Node) string {
	hosted, ok := n.(Hosted)
	if !ok {
		return ""
	}
	logged, ok := hosted.Process().(Logged)
	if !ok {
		return ""
	}
	text, err := os.ReadFile(logged.LogPath())
	if err != nil {
		return "\n    " + err.Error()
	}
	text, _, _ = bytes.Cut(text, []byte("\nUsage:\n")) // all of it follows a flag that the program does not know
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	lines = lines[max(0, len(lines)-lastLines):]
	return fmt.Sprintf("\n    %s ends with\n    %s", logged.LogPath(), bytes.Join(lines, []byte("\n    ")))
}
