package reports

import (
	"cmp"
	"slices"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// index finds what a drawing needs without reading the whole model for each finding. It knows the locks and holds that
// findings name, and no others: a run may have a million.
type index struct {
	model   *checker.Model
	holds   map[string]*checker.Hold // that findings name
	keys    map[string]*keyIndex     // that findings are of
	clients map[string]bool
	faults  map[int64]*checker.Fault // by Op

	disturbances []disturbance
}

// keyIndex is one lock: its grants in the order of their completions, of those up to each how long the longest lasts, and
// its requests in the resource's order.
type keyIndex struct {
	granted  []*checker.Hold
	until    []int64
	requests []int   // indexes into the log
	times    []int64 // when each was handled
	inTime   bool    // the requests' times never go back
}

func newIndex(j Judgement) *index {
	m := j.Model
	ix := &index{model: m, holds: map[string]*checker.Hold{}, keys: map[string]*keyIndex{}, clients: map[string]bool{}, faults: map[int64]*checker.Fault{}, disturbances: disturbances(m)}
	for _, p := range j.Result.Properties {
		for _, f := range p.Findings {
			ix.keys[f.Key] = &keyIndex{inTime: true}
			for _, id := range f.Holds {
				ix.holds[id] = nil
			}
		}
	}
	for _, f := range m.Faults {
		ix.faults[f.Op] = f
	}
	for _, h := range m.Holds {
		if !ix.clients[h.Client] {
			ix.clients[h.Client] = true
		}
		if _, named := ix.holds[h.ID]; named {
			ix.holds[h.ID] = h
		}
		if k := ix.keys[h.Key]; k != nil && h.Outcome == history.OK {
			k.granted = append(k.granted, h)
		}
	}
	for _, k := range ix.keys {
		slices.SortStableFunc(k.granted, func(a, b *checker.Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
		for i, h := range k.granted {
			k.until = append(k.until, max(holdEnd(h, m.EndNS), h.DoneNS))
			if i > 0 {
				k.until[i] = max(k.until[i], k.until[i-1])
			}
		}
	}
	if len(ix.keys) == 0 {
		return ix
	}
	for i := range m.Requests.Len() {
		r := m.Requests.At(i)
		if k := ix.keys[r.Key]; k != nil {
			n := len(k.requests)
			k.inTime = k.inTime && (n == 0 || k.times[n-1] <= r.TimeNS)
			k.requests, k.times = append(k.requests, i), append(k.times, r.TimeNS)
		}
	}
	return ix
}

// grantedWithin are the grants of a lock that may have lasted into [from, to], in the order in which they were asked for.
func (ix *index) grantedWithin(key string, from, to int64) (holds []*checker.Hold) {
	k := ix.keys[key]
	if k == nil {
		return nil
	}
	n, _ := slices.BinarySearchFunc(k.granted, to+1, func(h *checker.Hold, ns int64) int { return cmp.Compare(h.DoneNS, ns) })
	for n--; n >= 0 && k.until[n] >= from; n-- {
		holds = append(holds, k.granted[n])
	}
	slices.SortStableFunc(holds, func(a, b *checker.Hold) int { return cmp.Compare(a.InvokeNS, b.InvokeNS) })
	return holds
}

// requestsWithin are the requests of a lock handled in [from, to] and those of the numbers given, in the resource's order.
func (ix *index) requestsWithin(key string, from, to int64, named []int64) (requests []history.Request) {
	k := ix.keys[key]
	if k == nil {
		return nil
	}
	within := k.requests
	if k.inTime {
		a, _ := slices.BinarySearch(k.times, from)
		b, _ := slices.BinarySearch(k.times, to+1)
		within = within[a:b]
	}
	wanted := slices.Clone(within)
	for _, seq := range named {
		at, ok := slices.BinarySearchFunc(k.requests, seq, func(i int, seq int64) int { return cmp.Compare(ix.model.Requests.At(i).Seq, seq) })
		if ok {
			wanted = append(wanted, k.requests[at])
		}
	}
	slices.Sort(wanted)
	for _, i := range slices.Compact(wanted) {
		requests = append(requests, ix.model.Requests.At(i))
	}
	return requests
}

// clientOf is who made the request at an index of the model; "" if that is not known.
func (ix *index) clientOf(i int) string {
	if h := ix.model.Requester(i); h != nil {
		return h.Client
	}
	return ""
}
