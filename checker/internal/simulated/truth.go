package simulated

// Truth is what happened, as no process inside the world can see it.
type Truth struct {
	Holds map[string]*TrueHold
	Stale map[int64]bool  // sequence numbers of writes that the resource applied after it had served a newer holder
	Lost  map[string]bool // values overwritten by a write that was not built on them, acknowledged or not
}

// TrueHold is one hold as it was at the service and in its client. Zeros: it never came to that.
type TrueHold struct {
	Order           int64 // of its grant among all
	GrantedNS       int64 // the service gave it the lock
	EndedNS         int64 // the service took it back: released, expired, removed
	LostNS          int64 // the service lost it, although it was neither given back nor over
	BelievesFromNS  int64 // its client's flag was set
	BelievesUntilNS int64 // and cleared, or its client died; the end of time if neither happened
}

func (w *world) truth(h *hold) *TrueHold {
	t := w.Truth.Holds[h.id]
	if t == nil {
		t = &TrueHold{}
		w.Truth.Holds[h.id] = t
	}
	return t
}

// granted and ended are told by the service at the moment it happens.
func (w *world) granted(h *hold) {
	w.order++
	t := w.truth(h)
	t.Order, t.GrantedNS, t.EndedNS = w.order, w.Now, 0
}

func (w *world) ended(h *hold, ns int64) {
	if t := w.truth(h); t.EndedNS == 0 && t.GrantedNS != 0 {
		t.EndedNS = ns
	}
}

// believe and doubt are told by the client.
func (w *world) believe(h *hold) {
	h.flag = true
	t := w.truth(h)
	t.BelievesFromNS, t.BelievesUntilNS = w.Now, never
}

func (w *world) doubt(h *hold) {
	if h.flag {
		h.flag = false
		w.truth(h).BelievesUntilNS = w.Now
	}
}
