package svg

import (
	"cmp"
	"iter"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// Index finds what a drawing needs without reading the whole model for each finding. It knows the locks and holds that
// findings name, and no others: a run may have a million.
type Index struct {
	model   *model.Model
	Holds   map[string]*model.Hold // that findings name, by their ids
	keys    map[string]*keyIndex   // that findings are of
	Clients map[string]bool        // that ever asked for a lock
	Faults  map[int64]*model.Fault // by Op

	compares     history.Comparison // by the resource, and what it rejects requests for
	disturbances []words.Disturbance
}

// keyIndex is one lock: its grants in the order of their completions, of those up to each how long the longest lasts, and
// its requests in the resource's order.
type keyIndex struct {
	granted  []*model.Hold
	until    []int64
	requests []int   // indexes into the log
	times    []int64 // when each was handled
	inTime   bool    // the requests' times never go back
}

// NewIndex reads a judgement once.
func NewIndex(j rundir.Judgement) *Index {
	m := j.Model
	ix := &Index{model: m, Holds: map[string]*model.Hold{}, keys: map[string]*keyIndex{}, Clients: map[string]bool{}, Faults: map[int64]*model.Fault{},
		compares: j.Plan.Compares(), disturbances: words.Disturbances(m)}
	for _, p := range j.Result.Properties {
		for _, f := range p.Findings {
			ix.keys[f.Key] = &keyIndex{inTime: true}
			for _, id := range f.Holds {
				ix.Holds[id] = nil
			}
		}
	}
	for _, f := range m.Faults {
		ix.Faults[f.Op] = f
	}
	for _, h := range m.Holds {
		if !ix.Clients[h.Client] {
			ix.Clients[h.Client] = true
		}
		if _, named := ix.Holds[h.ID]; named {
			ix.Holds[h.ID] = h
		}
		if k := ix.keys[h.Key]; k != nil && h.Outcome == history.OK {
			k.granted = append(k.granted, h)
		}
	}
	for _, k := range ix.keys {
		slices.SortStableFunc(k.granted, func(a, b *model.Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
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

// Suspects are the faults that a cause names, the likeliest first.
func (ix *Index) Suspects(c model.Cause) (all []*model.Fault) {
	for _, op := range append([]int64{c.Fault}, c.Others...) {
		if f := ix.Faults[op]; f != nil {
			all = append(all, f)
		}
	}
	return all
}

// grantedWithin are the grants of a lock that may have lasted into [from, to], in the order in which they were asked for.
func (ix *Index) grantedWithin(key string, from, to int64) (holds []*model.Hold) {
	k := ix.keys[key]
	if k == nil {
		return nil
	}
	n, _ := slices.BinarySearchFunc(k.granted, to+1, func(h *model.Hold, ns int64) int { return cmp.Compare(h.DoneNS, ns) })
	for n--; n >= 0 && k.until[n] >= from; n-- {
		holds = append(holds, k.granted[n])
	}
	slices.SortStableFunc(holds, func(a, b *model.Hold) int { return cmp.Compare(a.InvokeNS, b.InvokeNS) })
	return holds
}

// requestsWithin are the requests of a lock handled in [from, to] and those of the numbers given, in the resource's order.
// They are made one at a time: a lease may last for many thousands.
func (ix *Index) requestsWithin(key string, from, to int64, named []int64) iter.Seq[history.Request] {
	return func(yield func(history.Request) bool) {
		k := ix.keys[key]
		if k == nil {
			return
		}
		within := k.requests
		if k.inTime {
			a, _ := slices.BinarySearch(k.times, from)
			b, _ := slices.BinarySearch(k.times, to+1)
			within = within[a:max(a, b)]
		}
		var beside []int // the named ones that are not within
		for _, seq := range named {
			at, ok := slices.BinarySearchFunc(k.requests, seq, func(i int, seq int64) int { return cmp.Compare(ix.model.Requests.At(i).Seq, seq) })
			if !ok {
				continue
			}
			if _, is := slices.BinarySearch(within, k.requests[at]); !is {
				beside = append(beside, k.requests[at])
			}
		}
		slices.Sort(beside)
		beside = slices.Compact(beside)
		before := len(beside)
		if len(within) > 0 {
			before, _ = slices.BinarySearch(beside, within[0])
		}
		for _, part := range [][]int{beside[:before], within, beside[before:]} {
			for _, i := range part {
				if !yield(ix.model.Requests.At(i)) {
					return
				}
			}
		}
	}
}

// Requests are the requests that a finding names, in the resource's order.
func (ix *Index) Requests(f model.Finding) []history.Request {
	return slices.Collect(ix.requestsWithin(f.Key, 1, 0, f.Requests))
}

// clientOf is who made the request at an index of the model; "" if that is not known.
func (ix *Index) clientOf(i int) string {
	if h := ix.model.Requester(i); h != nil {
		return h.Client
	}
	return ""
}

// Evidence is what decides which advice helps against a finding of a property.
func (ix *Index) Evidence(plan history.Plan, p *model.Property, f model.Finding) words.Evidence {
	e := words.Evidence{Plan: plan, Verdict: p.Verdict, Finding: f, Suspects: ix.Suspects(f.Cause), Requests: ix.Requests(f), Clients: ix.Clients}
	if n := len(f.Holds); n > 0 {
		if e.Older = ix.Holds[f.Holds[0]]; n > 1 {
			e.Newer = ix.Holds[f.Holds[n-1]]
		}
	}
	return e
}
