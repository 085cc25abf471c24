package checker

import "lockcheck/checker/history"

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
