package checker

// Innocence is decided without any rule: of a tiny history it is searched whether there is a world of a correct lock service, a correct
// network and legal clients that yields it. What is free in such a world are the moments, between two events, at which the service did what
// it was asked to, records expired, and clients tidied up. What may go wrong beside that is said by worldGuilt.

// tinyNever is after the last event.
const tinyNever = int8(100)

// tinyDeed is a request to the service.
type tinyDeed struct {
	what     tinyWhat
	hold     int8
	from, by int8 // events after which it was sent, and by which it was carried out
	must     bool // it was
	answer   tinyAnswer
	after    uint64 // deeds that came before it
}

type tinyWhat int8

const (
	tinyTake   tinyWhat = iota // grants the lock
	tinyDrop                   // deletes a record, its own or (of clients that do not look) any
	tinyTidy                   // deletes its own, if it is there
	tinyExtend                 // extends one
	tinyLook                   // asks whether the own one is there
	tinyBusy                   // finds one
	tinyGone                   // is answered that the own one is not there
)

// tinyAnswer is what a deed is said to have found.
type tinyAnswer int8

const (
	tinyAny tinyAnswer = iota
	tinyOwn
	tinyNone
	tinySome // one, it is not said whose
)

// worldGuilt is what may have gone wrong in a world.
type worldGuilt struct {
	loses      func(h int8) bool    // the service may lose the record of a hold
	removes    func(q, h int8) bool // a release of q may remove what was promised to h
	tokens     bool                 // tokens may not grow with the grants
	shared     [2]int8              // unless 0: two holds, from 1, that were given one record
	notInOrder [2]int8              // unless 0: two holds, from 1, of which the first must not be granted before the second
}

// tinyState is what holds between two events.
type tinyState struct {
	at      int8 // the event before
	holder  int8 // whose record is there, from 1; 0: none
	expires int8 // the event from which on it may
	granted uint16
	did     uint64 // deeds
	token   int    // of the last grant
}

type innocence struct {
	h     *tinyHistory
	guilt worldGuilt
	seen  map[tinyState]bool
}

// possible reports whether there is a world with a history, of those in which no more goes wrong than may.
func (h *tinyHistory) possible(guilt worldGuilt) bool {
	s := innocence{h: h, guilt: guilt, seen: map[tinyState]bool{}}
	return s.from(tinyState{})
}

// own reports whether a record is that of a hold, or of its session. A grant whose session is not named stands alone.
func (s *innocence) own(record, hold int8) bool {
	return record == hold+1 || record > 0 && s.h.named == sessionOfClient && s.h.session(int(record-1)) == s.h.session(int(hold))
}

func (s *innocence) from(w tinyState) bool {
	if s.seen[w] {
		return false
	}
	s.seen[w] = true
	if w.at == s.h.moments {
		return true
	}
	if s.event(w) {
		next := w
		next.at++
		if s.from(next) {
			return true
		}
	}
	if w.holder > 0 && (w.at >= w.expires || s.guilt.loses != nil && s.guilt.loses(w.holder-1)) {
		next := w
		next.holder = 0
		if s.from(next) {
			return true
		}
	}
	for i := range s.h.deeds {
		d := &s.h.deeds[i]
		if w.did&(1<<i) != 0 || w.at < d.from || w.at >= d.by || w.did&d.after != d.after {
			continue
		}
		for _, looks := range s.looks() {
			if next, can := s.do(w, d, looks); can {
				next.did |= 1 << i
				if s.from(next) {
					return true
				}
			}
		}
	}
	return false
}

// event reports whether the next event may come now: what has to be done by then is, and what was given back is not there.
func (s *innocence) event(w tinyState) bool {
	for i := range s.h.deeds {
		switch d := &s.h.deeds[i]; {
		case d.by != w.at+1:
		case d.must && w.did&(1<<i) == 0:
			return false
		case d.what == tinyTake && d.answer == tinyNone && w.holder == d.hold+1: // given back by now
			return false
		}
	}
	return true
}

// looks is whether clients look whose record they act on.
func (s *innocence) looks() []bool {
	switch s.h.kind {
	case "checked":
		return []bool{true}
	case "unchecked":
		return []bool{false}
	}
	return []bool{true, false}
}

func (s *innocence) do(w tinyState, d *tinyDeed, looks bool) (tinyState, bool) {
	own := s.own(w.holder, d.hold)
	found := own || w.holder > 0 && !looks
	switch d.what {
	case tinyTake:
		return s.take(w, d.hold)
	case tinyTidy:
		w.holder = 0
		return w, own
	case tinyBusy:
		return w, w.holder > 0
	case tinyGone:
		return w, !own && w.granted&(1<<d.hold) != 0
	case tinyExtend:
		if found {
			w.expires = max(w.expires, w.at+s.h.ttl)
		}
		return w, found
	case tinyLook:
		if found && d.answer == tinyOwn {
			w.expires = max(w.expires, w.at+s.h.ttl) // it may, and none is sooner over
		}
		return w, d.fits(found)
	}
	if found && !own && w.at < w.expires && (s.guilt.removes == nil || !s.guilt.removes(d.hold, w.holder-1)) {
		return w, false
	}
	if found {
		w.holder = 0
	}
	return w, d.fits(found)
}

func (d *tinyDeed) fits(found bool) bool {
	switch d.answer {
	case tinyOwn, tinySome:
		return found
	case tinyNone:
		return !found
	}
	return true
}

// take grants the lock: with a new record, or with the one that its session has.
func (s *innocence) take(w tinyState, hold int8) (tinyState, bool) {
	h := &s.h.holds[hold]
	same := w.holder > 0 && s.own(w.holder, hold)
	if w.holder > 0 && !same {
		return w, false
	}
	if n := s.guilt.notInOrder; n[1] == hold+1 && w.granted&(1<<(n[0]-1)) != 0 {
		return w, false
	}
	if n := s.guilt.shared; n[1] > 0 && (n[0] == hold+1 && w.granted&(1<<(n[1]-1)) != 0 || n[1] == hold+1 && w.granted&(1<<(n[0]-1)) != 0) && w.holder != n[0]+n[1]-hold-1 {
		return w, false
	}
	if h.token > 0 && !s.guilt.tokens {
		if h.token < w.token || h.token == w.token && !same {
			return w, false
		}
		w.token = h.token
	}
	w.granted |= 1 << hold
	if !same || w.expires < w.at+s.h.ttl {
		w.expires = w.at + s.h.ttl
	}
	w.holder = hold + 1
	return w, true
}
