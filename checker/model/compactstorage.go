package model

import "lockcheck/checker/history"

// distinct counts different clients, up to two: whether there are several is all that is asked.
type distinct struct{ first, second int32 } // numbers of clients, from 1; 0 is none

// add takes a client's number, from 0.
func (d *distinct) add(client int32) {
	switch client++; {
	case d.first == 0:
		d.first = client
	case d.second == 0 && client != d.first:
		d.second = client
	}
}

// Several reports whether there are two or more.
func (d *distinct) Several() bool { return d.second != 0 }

// Count is how many there are, 2 at most.
func (d *distinct) Count() int {
	switch {
	case d.Several():
		return 2
	case d.first != 0:
		return 1
	}
	return 0
}

// operation is what a completion has to fit to: the acquire of a hold, or one of its accesses or attempts. The zero
// operation is none.
type operation struct {
	hold *Hold
	at   int32 // in hold.Accesses or hold.Attempts
	kind kind
}

type kind uint8

const (
	anAcquire kind = iota
	anAccess
	anAttempt
)

func (o operation) access() *Access {
	if o.kind != anAccess {
		return nil
	}
	return o.hold.Accesses[o.at]
}

func (o operation) attempt() *Attempt {
	if o.kind != anAttempt {
		return nil
	}
	return o.hold.Attempts[o.at]
}

// state is what was asked, when, and what came of it; history.Invoke while it is open.
func (o operation) state() (f history.F, invokeNS int64, outcome history.Type) {
	switch o.kind {
	case anAccess:
		a := o.access()
		return a.F, a.InvokeNS, a.Outcome
	case anAttempt:
		a := o.attempt()
		return a.F, a.InvokeNS, a.Outcome
	}
	return history.Acquire, o.hold.InvokeNS, o.hold.Outcome
}

// operations are found by their numbers. A harness counts them up from 1, so they are kept in rows one after the other;
// numbers that leave gaps, which a history from elsewhere may, are kept apart once the rows would be mostly empty.
type operations struct {
	rows  [][]operation // of rowLength each, but for the first, which grows up to that
	apart map[int64]operation
	n     int64
}

const (
	rowLength = 1 << 12
	maxGap    = 1024
)

func (o *operations) get(op int64) operation {
	if op >= 0 && op/rowLength < int64(len(o.rows)) {
		if row := o.rows[op/rowLength]; op%rowLength < int64(len(row)) && row[op%rowLength].hold != nil {
			return row[op%rowLength]
		}
	}
	return o.apart[op]
}

// put adds an operation; op is not negative.
func (o *operations) put(op int64, what operation) {
	o.n++
	if op > 4*o.n+maxGap {
		if o.apart == nil {
			o.apart = map[int64]operation{}
		}
		o.apart[op] = what
		return
	}
	for int64(len(o.rows)) <= op/rowLength {
		o.rows = append(o.rows, nil)
	}
	row := &o.rows[op/rowLength]
	if at := op % rowLength; int64(len(*row)) <= at {
		length := int64(rowLength)
		if op < rowLength {
			length = min(max(2*at, smallestBlock), rowLength)
		}
		grown := make([]operation, length)
		copy(grown, *row)
		*row = grown
	}
	(*row)[op%rowLength] = what
}

// opResult is what was asked and what came of it. A history has millions of answers and few different ones, so those that are
// alike share one; no code writes to it.
type opResult struct {
	F       history.F
	Outcome history.Type // history.Invoke while it is open
	Code    string
}

// results keeps one of each. Those met lately are found at a place of their own without hashing anything.
type results struct {
	lately [64]*opResult
	all    map[opResult]*opResult
}

func (s *results) of(f history.F, outcome history.Type, code string) *opResult {
	at := &s.lately[(31*(len(f)+7*len(outcome)+3*len(code))+int(lastByte(f))+5*int(lastByte(outcome)))%len(s.lately)]
	if a := *at; a != nil && a.F == f && a.Outcome == outcome && a.Code == code {
		return a
	}
	key := opResult{f, outcome, code}
	a := s.all[key]
	if a == nil {
		if s.all == nil {
			s.all = map[opResult]*opResult{}
		}
		a = &key
		s.all[key] = a
	}
	*at = a
	return a
}

func lastByte[T ~string](s T) byte {
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}

// slab hands out the elements of blocks one by one: a history has millions of small records that all live as long as
// their model, and making each of them by itself costs more time and memory than what is in it. Blocks grow, so that a
// small history costs little.
type slab[T any] struct {
	free  []T
	block int
}

const (
	smallestBlock = 8
	largestBlock  = 512
)

func (s *slab[T]) need(n int) {
	if len(s.free) < n {
		s.block = max(n, smallestBlock, min(2*s.block, largestBlock))
		s.free = make([]T, s.block)
	}
}

func (s *slab[T]) next() *T {
	s.need(1)
	p := &s.free[0]
	s.free = s.free[1:]
	return p
}

// list makes an empty list with room for n elements; one that outgrows it moves elsewhere, as slices do.
func (s *slab[T]) list(n int) []T {
	s.need(n)
	l := s.free[:0:n]
	s.free = s.free[n:]
	return l
}
