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

// AppendEvent appends e as one JSON object, without a newline. Absent fields are left out; the bytes depend on e alone.
func AppendEvent(dst []byte, e *Event) []byte {
	o := flatjson.Begin(dst)
	o.Int("index", e.Index)
	o.Int("time_ns", e.TimeNS)
	o.Text("process", e.Process)
	o.Word("client", e.Client)
	o.Text("type", string(e.Type))
	o.Text("f", string(e.F))
	o.Number("op", e.Op)
	o.Word("key", e.Key)
	o.Word("hold", e.Hold)
	o.Word("session", e.Session)
	o.Word("token", e.Token)
	o.Word("value", e.Value)
	o.Word("base", e.Base)
	o.Number("seen_ns", e.SeenNS)
	o.Number("ttl_ns", e.TTLNS)
	o.Number("valid_ns", e.ValidNS)
	o.Number("held_ns", e.HeldNS)
	if e.Owned != nil {
		o.Bool("owned", *e.Owned)
	}
	o.Flag("removed", e.Removed)
	o.Flag("gave_back", e.GaveBack)
	o.Number("attempts", e.Attempts)
	o.Number("queued_ns", e.QueuedNS)
	o.Flag("try", e.Try)
	o.Number("work_ns", e.WorkNS)
	o.Word("target", e.Target)
	o.Word("role", e.Role)
	o.Number("dur_ns", e.DurNS)
	o.Flag("heal", e.Heal)
	o.Number("from_ns", e.FromNS)
	o.Flag("at_once", e.AtOnce)
	o.Word("clock", string(e.Clock))
	o.Word("detail", e.Detail)
	o.Number("skew_ns", e.SkewNS)
	o.Number("lag_ns", e.LagNS)
	o.Word("code", e.Code)
	o.Word("error", e.Error)
	return o.End()
}

// AppendRequest appends q as one JSON object, without a newline.
func AppendRequest(dst []byte, q *Request) []byte {
	o := flatjson.Begin(dst)
	o.Int("seq", q.Seq)
	o.Text("request", q.Request)
	o.Text("key", q.Key)
	o.Text("kind", string(q.Kind))
	o.Word("hold", q.Hold)
	o.Word("token", q.Token)
	o.Word("value", q.Value)
	o.Word("base", q.Base)
	o.Text("outcome", string(q.Outcome))
	o.Word("mark", q.Mark)
	o.Word("first", q.First)
	o.Int("time_ns", q.TimeNS)
	return o.End()
}
