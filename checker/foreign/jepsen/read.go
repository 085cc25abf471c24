package jepsen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"lockcheck/checker/history"
)

// Never is the Return of an operation that may take effect at any time after its call.
const Never = int64(1<<63 - 1)

// Operation is one operation of a client, from its invocation to its completion.
type Operation struct {
	Process string
	F       string // without its colon
	Input   Value  // of the invocation
	Output  Value  // of the completion; nil for one that never came
	// Outcome is history.OK (it happened), history.Fail (it certainly did not) or history.Info: it may take effect at
	// any time after its call, or never. What was not completed is Info.
	Outcome history.Type
	Error   Value // of the completion
	// Call and Return are places in the history's order, from 1 and all different. Return is Never for Info.
	Call, Return int64
	Line         int // of the invocation
	EndLine      int // of the completion; 0 if there is none
}

// History is a file read to its end.
type History struct {
	File       string
	Form       string      // "EDN", "text" or "log"
	Operations []Operation // in the order of their invocations
	Nemesis    int         // events that are no client's
	Passed     int         // lines of a log that are no operations
}

// Read reads a history in any of Jepsen's forms. File is the name that errors give. An error is a *Mistake (a
// history.ErrMalformed) unless r itself failed.
func Read(r io.Reader, file string) (*History, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3)
	}
	c := collector{history: &History{File: file}, open: map[string]int{}, names: map[string]string{}, index: -1}
	if line := jsonAt(in); line > 0 {
		wrong := Mistakef(line, "this is JSON; a history of Jepsen is EDN (history.edn in a run's directory) or text (history.txt)")
		wrong.File = file
		return nil, wrong
	}
	var err error
	if isEDN(in) {
		c.history.Form = "EDN"
		err = ednEvents(in, file, c.add)
	} else {
		var log bool
		c.history.Form = "text"
		if c.history.Passed, log, err = textEvents(in, file, c.add); log {
			c.history.Form = "log"
		}
	}
	switch {
	case err != nil:
		return nil, err
	case c.err != nil:
		c.err.File = file
		return nil, c.err
	}
	return c.history, nil
}

// jsonHead is an object of JSON where a history begins. In EDN no value stands right behind a colon that follows a string.
var jsonHead = regexp.MustCompile(`^[\s\[]*\{\s*"(?:[^"\\]|\\.)*":\s*["\d\[{-]`)

// jsonAt is the line in which a file that is JSON begins; 0 for any other file.
func jsonAt(in *bufio.Reader) int {
	head, _ := in.Peek(64 << 10)
	found := jsonHead.Find(head)
	if found == nil {
		return 0
	}
	return 1 + bytes.Count(found[:bytes.IndexByte(found, '{')], []byte("\n"))
}

// isEDN decides by the first character that is no white space: operations in EDN begin with a bracket, a tag or a comment,
// those in text with a process, a date or a level. An empty file is an EDN file with no operations.
func isEDN(in *bufio.Reader) bool {
	head, _ := in.Peek(64 << 10)
	head = bytes.TrimLeft(head, " \t\r\n,\f\v")
	return len(head) == 0 || bytes.IndexByte([]byte("[({#;)]}"), head[0]) >= 0
}

// ednEvents reads operations that stand in one vector or list, or one after the other.
func ednEvents(in io.Reader, file string, yield func(Event) bool) error {
	r := newReader(in, file)
	each := func(v Value, line int) (bool, error) {
		e, err := eventOf(v, line)
		var m *Mistake
		if errors.As(err, &m) {
			m.File = file
			return false, m
		}
		return yield(e), nil
	}
	end, opened, err := r.open()
	if err != nil {
		return err
	}
	for closed := false; ; {
		line, err := r.skip()
		if err != nil {
			return err
		}
		r.begin()
		v, closer, ok, err := r.element()
		switch {
		case err != nil:
			return err
		case ok && closed:
			return r.mistakeAt(line, "the history was closed before this: an operation stands behind its end")
		case ok:
			if going, err := each(v, line); !going || err != nil {
				return err
			}
		case closer != 0 && (closer != end || closed):
			return r.mistake("%q closes nothing", closer)
		case closer != 0:
			closed = true
		case end != 0 && !closed:
			return r.mistakeAt(opened, "the history that is opened here is not closed by %q: the file is cut off", end)
		default:
			return nil
		}
	}
}

// open steps into the vector or list around a history, if there is one, and says what will close it. Tags before it
// are dropped, and so is that of an operation that comes first: they say nothing of what an operation is. The namespace of
// a map is no tag.
func (r *reader) open() (end byte, line int, err error) {
	for {
		if line, err = r.skip(); err != nil {
			return 0, line, err
		}
		head, _ := r.in.Peek(2)
		switch {
		case len(head) > 0 && head[0] == '[':
			r.next()
			return ']', line, nil
		case len(head) > 0 && head[0] == '(':
			r.next()
			return ')', line, nil
		case len(head) < 2 || head[0] != '#' || head[1] == '#' || head[1] == ':' || delimiter(head[1]):
			return 0, line, nil
		}
		r.next()
		if _, err := r.token(); err != nil {
			return 0, line, err
		}
	}
}

// skip passes over white space, comments and forms dropped by #_, and returns the line of what follows.
func (r *reader) skip() (int, error) {
	for {
		head, _ := r.in.Peek(2)
		switch {
		case len(head) == 0:
			r.next() // learns whether this is the end or a failure
			return r.line, r.err
		case space(head[0]):
			r.next()
		case head[0] == ';':
			r.comment()
		case string(head) == "#_":
			r.next()
			r.next()
			r.begin()
			if _, err := r.inner("the form to be dropped by #_"); err != nil {
				return r.line, err
			}
		default:
			return r.line, nil
		}
	}
}

// collector pairs invocations with their completions.
type collector struct {
	history *History
	open    map[string]int    // by process: the place of its open operation
	names   map[string]string // one copy of each name of a process or function
	index   int64             // of the event before
	events  int64
	err     *Mistake
}

func (c *collector) refuse(line int, format string, args ...any) bool {
	c.err = Mistakef(line, format, args...)
	return false
}

func (c *collector) name(s string) string {
	if known, ok := c.names[s]; ok {
		return known
	}
	c.names[s] = s
	return s
}

func (c *collector) add(e Event) bool {
	if e.Index >= 0 {
		if e.Index <= c.index {
			return c.refuse(e.Line, "index %d after %d: the operations are not in their order", e.Index, c.index)
		}
		c.index = e.Index
	}
	if !e.Client {
		c.history.Nemesis++
		return true
	}
	if c.events++; c.events > MaxEvents {
		return c.refuse(e.Line, "more than %d events of clients: judge a part of the history", MaxEvents)
	}
	at, open := c.open[e.Process]
	if e.Type == history.Invoke {
		if open {
			before := &c.history.Operations[at]
			return c.refuse(e.Line, "process %s invokes :%s while its :%s of line %d is not completed: one process does one thing at a time",
				shorten(e.Process), shorten(e.F), shorten(before.F), before.Line)
		}
		process := c.name(e.Process)
		c.open[process] = len(c.history.Operations)
		c.history.Operations = append(c.history.Operations, Operation{Process: process, F: c.name(e.F), Input: e.Value,
			Outcome: history.Info, Call: c.events, Return: Never, Line: e.Line})
		return true
	}
	if !open {
		return c.refuse(e.Line, "process %s completes :%s without having invoked it", shorten(e.Process), shorten(e.F))
	}
	op := &c.history.Operations[at]
	if op.F != e.F {
		return c.refuse(e.Line, "process %s completes :%s, and what it invoked on line %d is :%s", shorten(e.Process), shorten(e.F), op.Line, shorten(op.F))
	}
	delete(c.open, e.Process)
	op.Outcome, op.Output, op.Error, op.EndLine = e.Type, e.Value, e.Error, e.Line
	if e.Type != history.Info {
		op.Return = c.events
	}
	return true
}

// FailedAsInfo is the other reading of a history: every operation said to have failed may have happened after all. What
// a client reports as failed is its own judgement, and verdicts have depended on it.
func FailedAsInfo(ops []Operation) []Operation {
	other := make([]Operation, len(ops))
	copy(other, ops)
	for i := range other {
		if op := &other[i]; op.Outcome == history.Fail {
			op.Outcome, op.Return = history.Info, Never
		}
	}
	return other
}

func (op *Operation) String() string {
	return fmt.Sprintf("process %s :%s %s", op.Process, op.F, op.Input)
}
