package jepsen

import (
	"fmt"

	"lockcheck/checker/history"
)

// Mistake says what is wrong with a history, and where. It is a history.ErrMalformed.
type Mistake struct {
	File string // as it was given to Read; "" where only the line is known
	Line int    // from 1; 0 means the file as a whole
	Text string
}

func (m *Mistake) Error() string {
	if m.Line == 0 {
		return fmt.Sprintf("%s: %s", m.File, m.Text)
	}
	return fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.Text)
}

func (m *Mistake) Unwrap() error { return history.ErrMalformed }

// Mistakef makes a Mistake of a line whose file the caller knows.
func Mistakef(line int, format string, args ...any) *Mistake {
	return &Mistake{Line: line, Text: fmt.Sprintf(format, args...)}
}
