package checker

import (
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
		Token: a.Hold.Token, Value: a.Value, Base: a.Base, Outcome: history.Applied, Mark: a.Hold.Token, TimeNS: a.handledNS}
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
	return int(a.handled) == len(l.of) && a.applied && q.TimeNS == a.handledNS && q.Token == token && q.Mark == token && q.Value == a.Value && q.Base == a.Base &&
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
