package procs

import "errors"

// Target says which processes of a host are meant, as a program on that host sees them. It is comparable, and travels as
// JSON between programs.
type Target struct {
	PID       int    `json:"pid,omitempty"`       // a process, what it forked and its process group
	Container string `json:"container,omitempty"` // all processes of a container, by its full id
}

// Selection finds them. A target that names nothing is an error.
func (t Target) Selection() (Selection, error) {
	switch {
	case t.Container != "":
		return Container(t.Container), nil
	case t.PID > 0:
		return Descent(t.PID), nil
	}
	return nil, errors.New("no process was named")
}
