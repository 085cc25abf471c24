package simulated

import (
	"cmp"
	"strconv"

	"lockcheck/checker/history"
)

// resource is what the lock protects: a register for each lock, with its log.
type resource struct {
	w        *world
	values   map[string]string
	before   map[string]string // the value before the present one
	marks    map[string]string
	answered map[int64]resourceAnswer
	firsts   map[int64]string              // what was answered as the first record of its slot, and that one
	applied  map[string][]*history.Request // writes, for the truth about what was lost
	served   map[string]int64              // the youngest grant that had a request served
	earlier  map[string]string             // the marks before the latest
}

type resourceAnswer struct {
	value    string
	rejected bool
}

func newResource(w *world) resource {
	return resource{w, map[string]string{}, map[string]string{}, map[string]string{}, map[int64]resourceAnswer{}, map[int64]string{}, map[string][]*history.Request{}, map[string]int64{}, map[string]string{}}
}

// handle does one request, writes its line, and answers.
func (s *resource) handle(q history.Request, op int64, h *hold) resourceAnswer {
	w := s.w
	q.Request, q.Key, q.Hold, q.TimeNS = strconv.FormatInt(op, 10), h.key, h.id, w.Now
	if known, ok := s.answered[op]; ok && !w.flawed(AppliedTwice, 1) {
		q.Outcome, q.First = history.Duplicate, s.firsts[op]
		if q.Kind == history.KindRead {
			q.Value = known.value
		}
		s.log(q)
		return known
	}
	if first := s.deduplicates(&q, h); first != nil {
		a := resourceAnswer{first.Value, first.Outcome == history.Rejected}
		if w.Defect == AnsweredAsOwn {
			a.value = q.Value
		}
		q.Outcome, q.First, q.Mark = history.Duplicate, first.Request, s.marks[h.key]
		s.answered[op], s.firsts[op] = a, first.Request
		s.log(q)
		return a
	}
	var a resourceAnswer
	switch {
	case s.rejects(&q, h):
		q.Outcome, a.rejected = history.Rejected, true
		if q.Kind == history.KindWrite && w.Defect == KeyUsedUp {
			s.applied[h.key] = append(s.applied[h.key], &q)
		}
		if q.Kind == history.KindWrite && w.Defect == RejectedStored {
			q.Outcome = history.Applied
			s.write(&q, h)
		}
	case q.Kind == history.KindRead:
		q.Outcome, q.Value = history.Applied, s.values[h.key]
		if w.flawed(OldRead, 0.3) {
			q.Value = s.before[h.key]
		}
		a.value = q.Value
	default:
		q.Outcome = history.Applied
		s.write(&q, h)
		a.rejected = w.flawed(AppliedDenied, 0.1)
		if w.Plan.Keyed() {
			a.value = q.Value
		}
	}
	if q.Outcome == history.Applied {
		s.served[h.key] = max(s.served[h.key], w.truth(h).Order)
		if q.Token != "" && s.lower(s.mark(h.key), q.Token) && !(s.onlyWrites() && q.Kind == history.KindRead) {
			s.setMark(h.key, q.Token)
		}
	}
	q.Mark = s.mark(h.key)
	s.answered[op] = a
	if q.Kind == history.KindWrite && w.flawed(WriteForgotten, 0.1) {
		return a
	}
	s.log(q)
	return a
}

// rejects compares a request with what the resource has.
func (s *resource) rejects(q *history.Request, h *hold) bool {
	w := s.w
	switch {
	case w.CAS && q.Kind == history.KindWrite:
		return q.Base != s.values[h.key] && w.Defect != BaseIgnored || w.flawed(FreshRejected, 0.1)
	case w.Fenced && q.Token != "":
		return s.fences(q, h)
	}
	return false
}

// fences compares a request's token with the mark, as each defect has it.
func (s *resource) fences(q *history.Request, h *hold) bool {
	w, mark := s.w, s.mark(h.key)
	switch {
	case w.Defect == FenceIgnored, w.Defect == OnlyWrites && q.Kind == history.KindRead:
		return false
	case w.flawed(FreshRejected, 0.1):
		return true
	case w.flawed(CheckThenWrite, 0.5):
		mark = s.earlier[h.key] // as it was when the request was compared
	case w.flawed(MarkForgotten, 0.05):
		s.marks = map[string]string{}
		return false
	case w.Defect == EqualRejected:
		return mark != "" && !s.lower(mark, q.Token)
	}
	return s.lower(q.Token, mark)
}

func (s *resource) onlyWrites() bool { return s.w.Defect == FenceOfWrites || s.w.Defect == OnlyWrites }

// mark is the highest token that was served on a key.
func (s *resource) mark(key string) string {
	if s.w.Defect == OneMark {
		key = ""
	}
	return s.marks[key]
}

func (s *resource) setMark(key, token string) {
	if s.w.Defect == OneMark {
		key = ""
	}
	s.earlier[key], s.marks[key] = s.marks[key], token
}

func (s *resource) log(q history.Request) {
	if s.w.UnderTest {
		q.TimeNS = 0
	}
	q.Seq = int64(len(s.w.Requests) + 1)
	s.w.Requests = append(s.w.Requests, q)
}

// lower compares tokens as numbers.
func (s *resource) lower(a, b string) bool {
	if s.w.Defect == FenceAsText {
		return a < b
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) < 0
}

// write stores a value, and notes what that write truly did.
func (s *resource) write(q *history.Request, h *hold) {
	w := s.w
	if order := w.truth(h).Order; order < s.served[h.key] {
		w.Truth.Stale[int64(len(w.Requests)+1)] = true
	}
	writes := s.applied[h.key]
	base := len(writes)
	for base > 0 && writes[base-1].Value != q.Base {
		base--
	}
	for _, lost := range writes[base:] {
		w.Truth.Lost[lost.Value] = true
	}
	s.applied[h.key] = append(writes, q)
	if w.flawed(UpdateDropped, 0.2) {
		return
	}
	s.before[h.key], s.values[h.key] = s.values[h.key], q.Value
}
