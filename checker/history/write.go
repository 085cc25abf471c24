package history

import (
	"fmt"
	"io"

	"lockcheck/checker/history/flatjson"
)

// Writer appends lines to a recording. Every line goes out in one call of Write, so that a run that is killed leaves at
// most one torn line; give it a bufio.Writer where that does not matter. It is not safe for concurrent use.
type Writer struct {
	out  io.Writer
	line []byte
	next int64
	now  int64
}

// NewWriter makes a Writer for one new file.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Event validates e and appends it to a history. It refuses one that is out of order: indexes count up from 0 and the
// order of the lines is the order of the stamps.
func (w *Writer) Event(e Event) error {
	switch err := e.Validate(); {
	case err != nil:
		return fmt.Errorf("event %d (%s %s of %s): %w", e.Index, e.Type, e.F, e.Process, err)
	case e.Index != w.next:
		return mistakef("event %d out of place: %d has to follow", e.Index, w.next)
	case e.TimeNS < w.now:
		return mistakef("event %d: time_ns is %d, before the event above it (%d)", e.Index, e.TimeNS, w.now)
	}
	w.line = append(AppendEvent(w.line[:0], &e), '\n')
	if _, err := w.out.Write(w.line); err != nil {
		return err
	}
	w.next, w.now = e.Index+1, e.TimeNS
	return nil
}

// Request validates q and appends it to a resource's log. Seq counts up from 1.
func (w *Writer) Request(q Request) error {
	switch err := q.Validate(); {
	case err != nil:
		return fmt.Errorf("request %d: %w", q.Seq, err)
	case q.Seq != w.next+1:
		return mistakef("request %d out of place: %d has to follow", q.Seq, w.next+1)
	}
	w.line = append(AppendRequest(w.line[:0], &q), '\n')
	if _, err := w.out.Write(w.line); err != nil {
		return err
	}
	w.next = q.Seq
	return nil
}

// The fields of a line are those of its struct.
var (
	eventCodec   = flatjson.NewCodec[Event]()
	requestCodec = flatjson.NewCodec[Request]()
)

// AppendEvent appends e as one JSON object, without a newline. Absent fields are left out; the bytes depend on e alone.
func AppendEvent(dst []byte, e *Event) []byte { return eventCodec.Append(dst, e) }

// AppendRequest appends q as one JSON object, without a newline.
func AppendRequest(dst []byte, q *Request) []byte { return requestCodec.Append(dst, q) }
