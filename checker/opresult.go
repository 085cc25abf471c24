package checker

import "lockcheck/checker/history"

// opResult is what was asked and what came of it. A history has millions of answers and few different ones, so those that are
// alike share one; no code writes to it.
type opResult struct {
	F       history.F
	Outcome history.Type // history.Invoke while it is open
	Code    string
}

// sayings keeps one of each. Those met lately are found at a place of their own without hashing anything.
type sayings struct {
	lately [64]*opResult
	all    map[opResult]*opResult
}

func (s *sayings) of(f history.F, outcome history.Type, code string) *opResult {
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
