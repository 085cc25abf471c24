package model

import (
	"cmp"
	"slices"

	"lockcheck/checker/history"
)

// Hold is one acquire and all that followed from it.
type Hold struct {
	ID      string
	Key     string
	Client  string
	Session string
	Token   string // decimal, "" if none

	InvokeNS int64        // the acquire's invocation
	SeenNS   int64        // its winning attempt was sent no earlier; 0 = unknown
	DoneNS   int64        // its completion
	Outcome  history.Type // of the acquire; history.Invoke while it is open
	Code     string
	Try      bool // it did not wait
	GaveBack bool // it failed, and had been granted: its client gave the grant back
	// QueuedNS is by when its request was in the queue of a lock that another held; 0 if that was not reported.
	QueuedNS int64
	// SentAttempts is how many requests for the lock its client sent to the service; 0 if that was not reported.
	SentAttempts int64

	// BelievedNS is how long the client is known to have believed in it (rule R4); 0 if it never confirmed it.
	BelievedNS int64
	ValidNS    int64 // declared by the client; 0 if it declares none

	ReleaseNS int64 // the release's invocation; 0 if there was none
	// released is, of several releases, the first with a definite answer, else the first that was answered; nil if none was.
	released *Attempt

	LostNS int64 // when the library's loss signal was read; 0 if it never came
	ExitNS int64 // when its client's process ended; 0 if it outlived the hold
	// EndedNS: the server had said by then that this grant, or its session, is gone (rule R6); 0 if never.
	EndedNS int64
	// Voided says that the loss of the session was announced before the grant was: its client never believed in it (rule R3).
	Voided bool

	// LeaseNS is when the acknowledged lease can have run out at the earliest (rule R5, less drift): the service must
	// not give the lock away before it. 0 means unprotected: no lease report is known.
	LeaseNS int64
	// ProvenNS: the service is proven to have held the grant from DoneNS to here (rule R6); 0 if nothing is proven.
	ProvenNS int64
	// ClaimedNS is the same where an answer may have been about another hold's record: it accuses no server, and excuses one.
	ClaimedNS int64

	Accesses []*Access  // reads and writes under it, in the order of their invocations
	Attempts []*Attempt // releases and extensions, in the order of their invocations

	Event     int64 // index of the acquire's invocation
	DoneEvent int64 // index of the acquire's completion; 0 while it is open

	LossNS       int64      // another client was certainly granted the lock later, and had been by then; 0 if none was
	more         *holdExtra // nil if there is nothing
	at           int32      // among the acquires of its key
	ClientNumber int32      // which of the clients it is of
}

// holdExtra is what is known of few holds, or by few kinds of lock clients.
type holdExtra struct {
	leases  []Lease // reported for this grant alone; those of its session are the session's
	signals []int64 // indexes of the events that name this hold and belong to no operation
	shared  sharedRecord
	told    bool // its loss was told by an event that names it
	// takeOvers are the records of others that its client removed while it acquired.
	takeOvers []TakeOver
	cleanup   *Attempt // the request by which its library removed a record before it told of the loss, unasked; nil if there was none
	tidiedNS  int64    // from here on its library may have removed its record, before it told of the loss; 0 if it did not
}

// Access is one read or write of the register behind the lock.
type Access struct {
	*opResult // F is Read or Write
	Hold      *Hold
	Op        int64
	InvokeNS  int64
	DoneNS    int64 // 0 while it is open
	WorkNS    int64 // of a write: how long its work takes
	Value     string
	Base      string

	Event     int64 // index of its invocation
	DoneEvent int64 // index of its completion; 0 while it is open

	// Built is the write whose value this one read, or was built on; nil for the initial value and for one that no client
	// wrote.
	Built *Access
	// HandledNS, Handled and Applied are what the resource did: when, in which line of its log (from 1; 0 if it never
	// handled it), and whether it read or wrote, or rejected it. This, and not the answer that the client got, decides
	// what happened (rule R9).
	HandledNS int64
	Handled   int32
	// Number is a write's among those of its key, from 1; place is its place among the applied ones, from 1.
	Number, Place int32
	Applied       bool
	// Deduplicated: the resource answered it as the first record of its slot, and did nothing (rule J12).
	Deduplicated bool
}

// Attempt is one release or extension of a hold.
type Attempt struct {
	*opResult // F is Release or Renew
	InvokeNS  int64
	SeenNS    int64 // it was sent no earlier; 0 = unknown
	DoneNS    int64 // 0 while it is open
	Owned     *bool
	Removed   bool // a release removed a record, and the answer does not say whose

	Event     int64 // index of its invocation
	DoneEvent int64 // index of its completion; 0 while it is open
}

// Lease is one acknowledged request that set or extended a lease (rule R5).
type Lease struct {
	TimeNS int64 // the acknowledgement was read
	SeenNS int64 // the request was sent no earlier
	TTLNS  int64 // granted
}

func (h *Hold) extra() *holdExtra {
	if h.more == nil {
		h.more = &holdExtra{}
	}
	return h.more
}

// Leases are those reported for this grant alone.
func (h *Hold) Leases() []Lease {
	if h.more == nil {
		return nil
	}
	return h.more.leases
}

// Signals are the indexes of the events that name this hold and belong to no operation.
func (h *Hold) Signals() []int64 {
	if h.more == nil {
		return nil
	}
	return h.more.signals
}

// Events are the indexes of all events that name the hold, in their order.
func (h *Hold) Events() []int64 {
	events := append([]int64{h.Event}, h.Signals()...)
	if h.Outcome != history.Invoke {
		events = append(events, h.DoneEvent)
	}
	for _, a := range h.Accesses {
		if events = append(events, a.Event); a.Outcome != history.Invoke {
			events = append(events, a.DoneEvent)
		}
	}
	for _, a := range h.Attempts {
		if events = append(events, a.Event); a.Outcome != history.Invoke {
			events = append(events, a.DoneEvent)
		}
	}
	slices.Sort(events)
	return events
}

// Told reports whether its loss was told by an event that names it.
func (h *Hold) Told() bool { return h.more != nil && h.more.told }

// Cleanup is the request by which its library removed a record before it told of the loss; nil if there was none.
func (h *Hold) Cleanup() *Attempt {
	if h.more == nil {
		return nil
	}
	return h.more.cleanup
}

// MayLastAt reports whether a hold had begun by some moment, and its client had neither been answered its release nor been told of its loss.
func (h *Hold) MayLastAt(atNS int64) bool {
	return h.Outcome == history.OK && h.DoneNS <= atNS && (h.released == nil || atNS < h.released.DoneNS) && (h.LostNS == 0 || atNS < h.LostNS)
}

// StartNS is when a hold's winning attempt was sent at the earliest: it cannot have been granted before (rule R2).
func (h *Hold) StartNS() int64 { return max(h.InvokeNS, h.SeenNS) }

// GrantedByNS is when a hold had been granted at the latest; never if that is not known.
func (h *Hold) GrantedByNS() int64 {
	if h.Outcome == history.OK {
		return h.DoneNS
	}
	return Never
}

// FollowedBy reports whether g was certainly asked for after h had been granted. Equal stamps prove no order.
func (h *Hold) FollowedBy(g *Hold) bool { return g.StartNS() > h.GrantedByNS() }

// saidGoneNS is when the service had first said that a hold's record, or its session, is not there; never if it did not.
func (h *Hold) saidGoneNS() int64 {
	return h.endedOr((*Attempt).NotOwned)
}

// endedOr is when the service had first said that a hold's session is over, or had given an answer of a kind; never if neither.
func (h *Hold) endedOr(kind func(*Attempt) bool) int64 {
	at := int64(Never)
	if h.EndedNS != 0 {
		at = h.EndedNS
	}
	for _, a := range h.Attempts {
		if kind(a) {
			at = min(at, a.DoneNS)
		}
	}
	return at
}

// releaseDoneNS is when its release was answered; 0 if it was not.
func (h *Hold) releaseDoneNS() int64 {
	if h.released == nil {
		return 0
	}
	return h.released.DoneNS
}

// Effective adds the accesses to a list that did something or saw something, in the resource's order. An applied read whose
// answer no client saw is neither.
func (h *Hold) Effective(list []*Access) []*Access {
	for _, a := range h.Accesses {
		if a.Applied && (a.F == history.Write || a.Outcome == history.OK) {
			list = append(list, a)
		}
	}
	if len(list) > 1 {
		SortInOrder(list, func(a, b *Access) int { return cmp.Compare(a.Handled, b.Handled) })
	}
	return list
}

// Tokened reports whether a hold was granted with a token.
func (h *Hold) Tokened() bool { return h.Outcome == history.OK && h.Token != "" }

// HandedOnBefore reports whether the holder itself released the lock, for certain, before another was granted it.
func (h *Hold) HandedOnBefore(g *Hold) bool {
	r := h.released
	return r != nil && r.Outcome == history.OK && (r.Owned == nil || *r.Owned) && r.InvokeNS < g.DoneNS
}

// GoneNS is when the service had first said that a hold is gone, or released; never if it did not.
func (h *Hold) GoneNS() int64 {
	return h.endedOr((*Attempt).Gone)
}

// GaveUp reports whether an acquire failed in a way that lets the service have granted it for a while: given up, it is a
// failure once the removal of its request is acknowledged, and that request may have been granted before (rule R8). So was one whose grant
// its client gave back, as it could not read the token.
func (h *Hold) GaveUp() bool {
	return h.Outcome == history.Fail && h.Code != history.CodeBusy && (h.Code != history.CodeRefused || h.GaveBack)
}

// OverNS is when a hold had come to its end, whichever that was; never if it has none.
func (h *Hold) OverNS() int64 {
	over := max(h.ExitNS, h.EndedNS)
	if gone := h.GoneNS(); gone != Never {
		over = max(over, gone)
	}
	switch {
	case h.Outcome == history.Fail:
		return h.DoneNS
	case over == 0:
		return Never
	}
	return max(over, h.DoneNS, h.BelievedNS)
}

// Seq is the sequence number under which the resource handled it; 0 if it never did.
func (a *Access) Seq() int64 { return int64(a.Handled) }

// Gone reports whether the answer shows that the service does not hold the grant any more.
func (a *Attempt) Gone() bool {
	return a.NotOwned() || a.F == history.Release && (a.Acted() || a.Outcome == history.OK)
}

// SentNS is when the request was sent at the earliest (rule R2).
func (a *Attempt) SentNS() int64 { return max(a.InvokeNS, a.SeenNS) }

// NotOwned reports whether the answer was definitely that the service did not hold this grant any more.
func (a *Attempt) NotOwned() bool {
	if a.DoneNS == 0 || a.Outcome == history.Info {
		return false
	}
	return a.Owned != nil && !*a.Owned || a.Owned == nil && a.Outcome == history.Fail && a.Code == history.CodeNotOwned
}

// Acted reports whether the request acted on this grant's own record (rule R6).
func (a *Attempt) Acted() bool {
	return a.DoneNS != 0 && a.Outcome != history.Info && a.Owned != nil && *a.Owned
}

// RemovedRecord reports whether the answer says that the release removed a record.
func (a *Attempt) RemovedRecord() bool {
	return a.Acted() || a.Removed && a.DoneNS != 0 && a.Outcome != history.Info
}

// LostReleases counts the releases that were asked for once the hold had been lost: its client was told, the service had said so, or says so in
// answer, or another client had been granted the lock. One that the client then never sent counts, too: that is what it makes of it.
func (m *Model) LostReleases() (n int64) {
	for _, h := range m.Holds {
		lost := int64(Never)
		for _, ns := range []int64{h.LostNS, h.EndedNS, h.LossNS} {
			if ns != 0 {
				lost = min(lost, ns)
			}
		}
		if h.ReleaseNS != 0 && m.InLoad(h.InvokeNS) && slices.ContainsFunc(h.Attempts, func(a *Attempt) bool {
			return a.F == history.Release && (a.InvokeNS >= lost || a.NotOwned() && h.GivenBackNS() >= a.InvokeNS)
		}) {
			n++
		}
	}
	return n
}
