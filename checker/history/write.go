package history

import (
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
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
	o := object{dst: append(dst, '{')}
	o.int("index", e.Index)
	o.int("time_ns", e.TimeNS)
	o.text("process", e.Process)
	o.word("client", e.Client)
	o.text("type", string(e.Type))
	o.text("f", string(e.F))
	o.number("op", e.Op)
	o.word("key", e.Key)
	o.word("hold", e.Hold)
	o.word("session", e.Session)
	o.word("token", e.Token)
	o.word("value", e.Value)
	o.word("base", e.Base)
	o.number("seen_ns", e.SeenNS)
	o.number("ttl_ns", e.TTLNS)
	o.number("valid_ns", e.ValidNS)
	o.number("held_ns", e.HeldNS)
	if e.Owned != nil {
		o.bool("owned", *e.Owned)
	}
	o.flag("try", e.Try)
	o.number("work_ns", e.WorkNS)
	o.word("target", e.Target)
	o.word("role", e.Role)
	o.number("dur_ns", e.DurNS)
	o.flag("heal", e.Heal)
	o.number("from_ns", e.FromNS)
	o.word("detail", e.Detail)
	o.number("skew_ns", e.SkewNS)
	o.word("code", e.Code)
	o.word("error", e.Error)
	return append(o.dst, '}')
}

// AppendRequest appends q as one JSON object, without a newline.
func AppendRequest(dst []byte, q *Request) []byte {
	o := object{dst: append(dst, '{')}
	o.int("seq", q.Seq)
	o.text("request", q.Request)
	o.text("key", q.Key)
	o.text("kind", string(q.Kind))
	o.word("hold", q.Hold)
	o.word("token", q.Token)
	o.word("value", q.Value)
	o.word("base", q.Base)
	o.text("outcome", string(q.Outcome))
	o.word("mark", q.Mark)
	o.int("time_ns", q.TimeNS)
	return append(o.dst, '}')
}

// object appends the fields of one JSON object. word, number and flag leave out zero values; text and int do not.
type object struct {
	dst  []byte
	some bool
}

func (o *object) name(n string) {
	if o.some {
		o.dst = append(o.dst, ',')
	}
	o.some = true
	o.dst = append(o.dst, '"')
	o.dst = append(o.dst, n...)
	o.dst = append(o.dst, '"', ':')
}

func (o *object) int(n string, v int64) {
	o.name(n)
	o.dst = strconv.AppendInt(o.dst, v, 10)
}

func (o *object) number(n string, v int64) {
	if v != 0 {
		o.int(n, v)
	}
}

func (o *object) text(n, v string) {
	o.name(n)
	o.dst = appendString(o.dst, v)
}

func (o *object) word(n, v string) {
	if v != "" {
		o.text(n, v)
	}
}

func (o *object) bool(n string, v bool) {
	o.name(n)
	o.dst = strconv.AppendBool(o.dst, v)
}

func (o *object) flag(n string, v bool) {
	if v {
		o.bool(n, v)
	}
}

const hex = "0123456789abcdef"

// appendString appends s as a JSON string. What comes from a client can be anything: quotes, newlines and bytes that are
// no UTF-8 must not end a line or a string.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '"' || c == '\\':
				dst = append(dst, '\\', c)
			case c == '\n':
				dst = append(dst, '\\', 'n')
			case c == '\t':
				dst = append(dst, '\\', 't')
			case c < ' ' || c == 0x7f:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			default:
				dst = append(dst, c)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, `\ufffd`...)
		} else {
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return append(dst, '"')
}
