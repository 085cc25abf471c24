package model

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"strconv"

	"lockcheck/checker/history"
)

// RequestLog is the resource's log. Nearly every line of it repeats what the history says of the access that it is of,
// so of such a line only that access is kept; the others are kept as they are.
type RequestLog struct {
	of  []*Access // whose each line is; nil where that is not known
	odd map[int]*history.Request
}

// Len is how many requests there are.
func (l *RequestLog) Len() int { return len(l.of) }

// At is the i-th request, from 0.
func (l *RequestLog) At(i int) history.Request {
	if q := l.odd[i]; q != nil {
		return *q
	}
	a := l.of[i]
	return history.Request{Seq: int64(i) + 1, Request: strconv.FormatInt(a.Op, 10), Key: a.Hold.Key, Kind: history.Kind(a.F), Hold: a.Hold.ID,
		Token: a.Hold.Token, Value: a.Value, Base: a.Base, Outcome: history.Applied, Mark: a.Hold.Token, TimeNS: a.HandledNS}
}

// Set puts a request in the place of the i-th.
func (l *RequestLog) Set(i int, q history.Request) {
	if l.odd == nil {
		l.odd = map[int]*history.Request{}
	}
	l.odd[i] = &q
}

// Append adds a request of which nothing else is known.
func (l *RequestLog) Append(q history.Request) {
	l.of = append(l.of, nil)
	l.Set(len(l.of)-1, q)
}

// take adds a request of an access, which it has been held against; a is nil if that is not known.
func (l *RequestLog) take(q *history.Request, a *Access) {
	l.of = append(l.of, a)
	if a == nil || !l.repeats(q, a) {
		l.Set(len(l.of)-1, *q)
	}
}

// repeats reports whether At makes the last line out of its access.
func (l *RequestLog) repeats(q *history.Request, a *Access) bool {
	token := a.Hold.Token
	return int(a.Handled) == len(l.of) && a.Applied && q.TimeNS == a.HandledNS && q.Token == token && q.Mark == token && q.Value == a.Value && q.Base == a.Base &&
		string(q.Kind) == string(a.F) && q.Hold == a.Hold.ID && q.Key == a.Hold.Key && isDecimal(q.Request, a.Op)
}

// isDecimal reports whether a text is how a number that is not negative is written.
func isDecimal(text string, number int64) bool {
	var digits [20]byte
	return text == string(strconv.AppendInt(digits[:0], number, 10))
}

// access is whose the i-th request is; nil if that is not known.
func (l *RequestLog) access(i int) *Access { return l.of[i] }

// token is what the i-th request presented; "" if nothing.
func (l *RequestLog) token(i int) string {
	if q := l.odd[i]; q != nil {
		return q.Token
	}
	return l.of[i].Hold.Token
}

// value is what the i-th request wrote or found.
func (l *RequestLog) value(i int) string {
	if q := l.odd[i]; q != nil {
		return q.Value
	}
	return l.of[i].Value
}

// join reads the resource's log and gives every request to the access it belongs to. The log says what happened (R9); a
// client's definite answer that it contradicts is a defect of lockcheck or of the client, never a verdict; of a resource under test
// it is a finding (see Breach).
func (b *builder) join(requests iter.Seq2[history.Request, error]) error {
	m := b.m
	m.Requests.of = make([]*Access, 0, b.accesses+b.accesses/32)
	if m.Plan.UnderTest != nil {
		return b.joinUnderTest(requests)
	}
	log := newReplay(&m.Plan)
	lines, beyond := int64(0), false
	var defect error // the first; a log that cannot be read to its end is that before anything else
	for q, err := range requests {
		lines++
		switch {
		case err != nil:
			return err
		case q.Seq != lines:
			return fmt.Errorf("%w: request %d stands where request %d of the resource's log has to", history.ErrMalformed, q.Seq, lines)
		case lines > math.MaxInt32:
			return fmt.Errorf("%w: the resource's log has more than %d lines", history.ErrMalformed, math.MaxInt32)
		case OperationOf(&q) == 0:
			return fmt.Errorf("%w: request %d of the resource's log names operation %s, which is no number of one", history.ErrMalformed, q.Seq, clipped(q.Request))
		case beyond || defect != nil:
			continue
		}
		op := b.ops.get(OperationOf(&q))
		if !m.Complete && op.hold == nil {
			// The harness was killed before it had written down what this request belongs to. All that the history knows
			// to be answered had been handled before; what comes after is beyond it.
			beyond = true
			continue
		}
		if wrong := cmp.Or(handled(&q, op), log.handled(&q)); wrong != nil {
			defect = wrong.defect()
			continue
		}
		if q.Kind == history.KindWrite && q.Outcome == history.Rejected {
			m.Rejected++
		}
		m.Requests.take(&q, op.access())
	}
	if defect != nil {
		return defect
	}
	for _, h := range m.Holds {
		for _, a := range h.Accesses {
			if wrong := m.contradiction(a); wrong != nil {
				return b.orCut(a, wrong.defect())
			}
		}
	}
	return m.resolve(b.accesses)
}

// orCut tells a log without its end from one that contradicts the history: the resource handles a request before its
// answer is read, so a log that holds any request asked for after that had gone past this one.
func (b *builder) orCut(missing *Access, contradiction error) error {
	if missing.Handled != 0 || missing.Outcome != history.OK {
		return contradiction
	}
	for _, a := range b.m.Requests.of {
		if a.InvokeNS > missing.DoneNS {
			return contradiction
		}
	}
	return fmt.Errorf("%w: it ends with line %d, and %s %d of hold %s, which was answered ok (event %d of the history), is not in it",
		ErrCut, b.m.Requests.Len(), missing.F, missing.Op, missing.Hold.ID, missing.Event)
}

// OperationOf is the operation a request belongs to; 0, which is none, if its id is too large to be one.
func OperationOf(q *history.Request) int64 {
	number, err := strconv.ParseInt(q.Request, 10, 64)
	if err != nil {
		return 0
	}
	return number
}

// handled gives a request to its access, and lets it share that one's strings.
func handled(q *history.Request, op operation) *Breach {
	number, a := OperationOf(q), op.access()
	wrong := func(format string, args ...any) *Breach {
		return &Breach{kind: ofRecord, Seq: q.Seq, Key: q.Key, Text: fmt.Sprintf(format, args...), Client: true}
	}
	switch {
	case op.hold == nil || a == nil:
		return wrong("request %d of the resource's log (seq %d) belongs to no read or write of the history", number, q.Seq)
	case op.hold.ID != q.Hold || op.hold.Key != q.Key || string(a.F) != string(q.Kind):
		return wrong("request %d (seq %d) is a %s of %s under hold %s in the resource's log, a %s of %s under hold %s in the history",
			number, q.Seq, q.Kind, q.Key, q.Hold, a.F, op.hold.Key, op.hold.ID)
	}
	q.Hold, q.Key = op.hold.ID, op.hold.Key
	if q.Value == a.Value {
		q.Value = a.Value
	}
	if q.Base == a.Base {
		q.Base = a.Base
	}
	if q.Token == op.hold.Token {
		q.Token = op.hold.Token
	}
	switch {
	case q.First != "" && a.Handled == 0: // by its key: the first answer of its slot was given
		a.Handled, a.HandledNS, a.Deduplicated = int32(q.Seq), q.TimeNS, true
	case q.Outcome == history.Duplicate: // nothing was done: the first answer was given again
	case a.Handled != 0:
		twice := wrong("request %d was handled twice by the resource (seq %d and %d)", number, a.Seq(), q.Seq).of(a)
		twice.Client = false // it knows a request by its number, however often that is sent
		return twice
	default:
		a.Handled, a.HandledNS, a.Applied = int32(q.Seq), q.TimeNS, q.Outcome == history.Applied
	}
	if q.Kind == history.KindWrite && (q.Value != a.Value || q.Base != a.Base) {
		return wrong("request %d (seq %d) writes %q built on %q in the resource's log, %q built on %q in the history",
			number, q.Seq, q.Value, q.Base, a.Value, a.Base).of(a)
	}
	return nil
}

// contradiction holds a definite answer against the resource's log.
func (m *Model) contradiction(a *Access) *Breach {
	wrong := func(format string, args ...any) *Breach {
		return &Breach{kind: ofRecord, Seq: a.Seq(), Access: a, Text: fmt.Sprintf(format, args...), Client: true}
	}
	what := func() string { return string(a.F) + " " + strconv.FormatInt(a.Op, 10) + " of hold " + a.Hold.ID }
	switch {
	case a.Outcome == history.OK && !a.Applied && !a.Deduplicated:
		return wrong("%s was answered ok (event %d), but the resource's log does not hold it", what(), a.Event)
	case a.Outcome == history.OK && a.HandledNS > a.DoneNS && m.Plan.SameKernel && m.Plan.UnderTest == nil: // their clock is one
		return wrong("%s was answered ok at %s (event %d), before the resource handled it at %s (seq %d)",
			what(), history.Moment(a.DoneNS), a.Event, history.Moment(a.HandledNS), a.Seq())
	case a.Outcome == history.Fail && a.Applied:
		return wrong("%s was reported as certainly not done (event %d), but the resource did it (seq %d)", what(), a.Event, a.Seq())
	case a.Outcome == history.Fail && a.Code == history.CodeRejected && a.Handled == 0:
		return wrong("%s was reported as rejected (event %d), but the resource's log does not hold it", what(), a.Event)
	case a.Outcome == history.OK && a.F == history.Read && a.Value != m.Requests.value(int(a.Handled)-1):
		return wrong("%s returned %q (event %d), but the resource's log says %q (seq %d)", what(), a.Value, a.Event, m.Requests.value(int(a.Handled)-1), a.Seq())
	}
	return nil
}
