package checker

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// ErrExcerpt marks a request that a recording cannot serve because it is only an excerpt of another.
var ErrExcerpt = errors.New("the recording is an excerpt")

// excerpted prepares what is only an excerpt: the property it was made for is the only one that it is judged by (of a
// register, say, most writes are missing, so a search for lost updates would find what never was), and its
// registers begin with what they held where it begins.
func excerpted(rec model.Recording, opts Options) (model.Recording, Options, error) {
	x := rec.Plan.Excerpt
	if x == nil {
		return rec, opts, nil
	}
	only := model.Name(x.Property)
	switch {
	case !slices.Contains(Names(), only):
		return rec, opts, fmt.Errorf("%w for %w %q; there are %s", ErrExcerpt, ErrUnknownProperty, only, joined(Names()))
	case opts.Properties != nil && !slices.Contains(opts.Properties, only):
		return rec, opts, fmt.Errorf("%w made for %s: it can be judged by %s and by nothing else", ErrExcerpt, x.Finding, only)
	}
	opts.Properties = []model.Name{only}
	if len(x.Initial) > 0 {
		rec = model.Recording{Plan: rec.Plan, Events: initialEvents(rec.Events, x.Initial), Requests: initialRequests(rec.Requests, x.Initial)}
	}
	return rec, opts, nil
}

// initialEvents and initialRequests replace the values that registers begin with by the initial value.
func initialEvents(events iter.Seq2[history.Event, error], initial map[string]string) iter.Seq2[history.Event, error] {
	return func(yield func(history.Event, error) bool) {
		keys := map[string]string{} // by hold: reads and writes need not name theirs
		for e, err := range events {
			if e.F == history.Acquire && e.Type == history.Invoke {
				keys[e.Hold] = e.Key
			}
			if e.F == history.Read || e.F == history.Write {
				value := initial[keys[e.Hold]]
				e.Value, e.Base = unlessInitial(e.Value, value), unlessInitial(e.Base, value)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func initialRequests(requests iter.Seq2[history.Request, error], initial map[string]string) iter.Seq2[history.Request, error] {
	return func(yield func(history.Request, error) bool) {
		for q, err := range requests {
			value := initial[q.Key]
			q.Value, q.Base = unlessInitial(q.Value, value), unlessInitial(q.Base, value)
			if !yield(q, err) {
				return
			}
		}
	}
}

func unlessInitial(value, initial string) string {
	if value == initial {
		return ""
	}
	return value
}
