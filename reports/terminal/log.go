package terminal

import "strings"

// Write shows progress in words, line by line, so that a Status serves wherever a writer of lines is asked for. It takes
// whole lines and never fails.
func (s *Status) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		s.Line("%s", strings.TrimRight(line, "\n"))
	}
	return len(text), nil
}
