package model

import (
	"fmt"

	"lockcheck/checker/history"
)

// A resource under test that takes idempotency keys (J12) applies the first record of a slot of a key, and answers every later one as
// that was. Its log is held against that here, and the answers that clients were given against its log.

// replayKeysUnderTest has the records that the log of a resource under test says were applied: by key and slot the first.
type replayKeysUnderTest map[slotOf]applied

// applied is a request that was, and whose it is, nil if that is not known.
type applied struct {
	request string
	access  *Access
}

// newReplayKeysUnderTest is nil where there are no keys, or the first record of a slot may be missing.
func newReplayKeysUnderTest(p *history.Plan) replayKeysUnderTest {
	if !p.Keyed() || p.Excerpt != nil {
		return nil
	}
	return replayKeysUnderTest{}
}

// handled takes the next line, whose access is a, nil if that is not known, and says what is wrong with it; "" if nothing is. By is what
// it goes against.
func (r replayKeysUnderTest) handled(q *history.Request, a *Access) (by *Access, why string) {
	slot, _ := history.RecordedSlot(q.Value)
	if r == nil || q.Kind != history.KindWrite || slot == 0 {
		return nil, ""
	}
	at := slotOf{q.Key, slot}
	first, recorded := r[at]
	record := fmt.Sprintf("%s, a record of slot %d of %s", requestName(q), slot, q.Key)
	switch {
	case q.Outcome == history.Applied && !recorded:
		r[at] = applied{q.Request, a}
	case q.Outcome == history.Applied && first.request != q.Request: // where it is the same, it was handled twice
		return first.access, fmt.Sprintf("the resource applied %s, although it had applied request %s with that idempotency key", record, first.request)
	case q.Outcome == history.Rejected && recorded:
		return first.access, fmt.Sprintf("the resource rejected %s, although it had applied request %s with that idempotency key, whose answer it had to give", record, first.request)
	case q.First == "": // a repetition
	case !recorded:
		return nil, fmt.Sprintf("the resource answered %s, as a duplicate of request %s, although it had applied no record of that slot: this one is lost", record, q.First)
	case q.First != first.request:
		return first.access, fmt.Sprintf("the resource answered %s, as a duplicate of request %s, and the first with that idempotency key was request %s", record, q.First, first.request)
	case a != nil && !a.Deduplicated && first.request != q.Request:
		return first.access, fmt.Sprintf("the resource answered %s, as a duplicate of request %s, after it had answered that very request otherwise", record, q.First)
	}
	return nil, ""
}

// keyless is a line that says that a request was answered by its idempotency key, where none was sent.
func (m *Model) keyless(q *history.Request, op operation) *Breach {
	if q.First == "" || m.Plan.Keyed() {
		return nil
	}
	return &Breach{kind: ofRecord, Seq: q.Seq, Key: q.Key, Access: op.access(), Text: fmt.Sprintf(
		"the resource says that it answered %s as a duplicate of request %s, although it was sent no idempotency key", requestName(q), q.First)}
}

// answeredWith notes the value that a write with an idempotency key was answered with, where it is not its own: nearly all are.
func (m *Model) answeredWith(a *Access, e *history.Event) {
	if m.Plan.UnderTest == nil || !m.Plan.Keyed() || a.F != history.Write || e.Type != history.OK || e.Value == a.Value {
		return
	}
	if m.otherAnswers == nil {
		m.otherAnswers = map[*Access]string{}
	}
	m.otherAnswers[a] = e.Value
}

// answer is the value that a write was answered with; "" if its client did not say.
func (m *Model) answer(a *Access) string {
	if other, noted := m.otherAnswers[a]; noted {
		return other
	}
	return a.Value
}

// misanswered holds the answer to a write with an idempotency key against the resource's log: it names what the resource took, its own
// value or that of the first with its key.
func (b *builder) misanswered(a *Access) *Breach {
	m := b.m
	if !m.Plan.Keyed() || a.F != history.Write || a.Handled == 0 {
		return nil
	}
	wrong := func(format string, args ...any) *Breach {
		return &Breach{kind: ofRecord, Access: a, Seq: a.Seq(), Client: true, Text: fmt.Sprintf("write %d of hold %s ", a.Op, a.Hold.ID) + fmt.Sprintf(format, args...)}
	}
	if a.Applied {
		if got := m.answer(a); a.Outcome == history.OK && got != a.Value {
			return wrong("was answered with %s (event %d), but the resource's log says that it was applied itself (seq %d)", answerName(got), a.DoneEvent, a.Seq())
		}
		return nil
	}
	line := m.Requests.At(int(a.Handled) - 1)
	first := b.ops.get(OperationOf(&history.Request{Request: line.First})).access()
	switch {
	case !a.Deduplicated || first == nil || !first.Applied || first.F != history.Write: // then there is another breach
	case a.Outcome == history.Fail && a.Code == history.CodeRejected:
		return wrong("was answered as rejected (event %d), and the first with its idempotency key, request %s, was applied", a.DoneEvent, line.First)
	case a.Outcome == history.OK && m.answer(a) != first.Value:
		return wrong("was answered with %s (event %d), and the first with its idempotency key, request %s, with %s", answerName(m.answer(a)), a.DoneEvent, line.First, first.Value)
	}
	return nil
}

func answerName(value string) string {
	if value == "" {
		return "no value"
	}
	return value
}
