package reports

import (
	"lockcheck/checker"
	"lockcheck/checker/history"
)

// index finds what a drawing needs without reading the whole model for each finding.
type index struct {
	model    *checker.Model
	holds    map[string]*checker.Hold
	granted  map[string][]*checker.Hold   // by key, in the model's order
	requests map[string][]history.Request // by key
	clients  map[string]bool
}

func newIndex(m *checker.Model) *index {
	ix := &index{model: m, holds: map[string]*checker.Hold{}, granted: map[string][]*checker.Hold{},
		requests: map[string][]history.Request{}, clients: map[string]bool{}}
	for _, h := range m.Holds {
		ix.holds[h.ID] = h
		ix.clients[h.Client] = true
		if h.Outcome == history.OK {
			ix.granted[h.Key] = append(ix.granted[h.Key], h)
		}
	}
	for _, r := range m.Requests {
		ix.requests[r.Key] = append(ix.requests[r.Key], r)
	}
	return ix
}
