package resource

import (
	"lockcheck/checker/history"
)

// A keyed resource takes the slot that a record names as its idempotency key (rule J12 in checker/RULES.md): the first record of a
// slot is applied, and every later one is answered as that one was and does nothing, no matter which client sends it and what else is compared.
// The line of such a request says duplicate, and names the first.

// checkKey refuses a write that has no key, and one that is sent with another. Clients that send none are written for no resource
// that would need it: the value says the same.
func (m Mode) checkKey(kind history.Kind, ask Ask) error {
	slot, ok := history.RecordedSlot(ask.Value)
	switch {
	case !m.Keyed && ask.IdempotencyKey != "":
		return badRequest("write %s has the idempotency key %s, and this run has none", ask.Request, ask.IdempotencyKey)
	case !m.Keyed || kind != history.KindWrite:
		return nil
	case !ok || slot == 0:
		return badRequest("write %s: the value %.100q names no slot, which is its idempotency key", ask.Request, ask.Value)
	case ask.IdempotencyKey != "" && ask.IdempotencyKey != history.IdempotencyKey(slot):
		return badRequest("write %s has the idempotency key %s, and records slot %d", ask.Request, ask.IdempotencyKey, slot)
	}
	return nil
}

// deduplicate answers a record of a slot that has one as that one was answered. It reports false for any other request.
func (s *Store) deduplicate(id uint64, kind history.Kind, ask Ask, reg register) (answer Answer, done bool, err error) {
	if !s.mode.Keyed || kind != history.KindWrite {
		return Answer{}, false, nil
	}
	slot, _ := history.RecordedSlot(ask.Value)
	at, recorded := reg.records[slot]
	if !recorded {
		return Answer{}, false, nil
	}
	first, err := s.line(ask.Request, at)
	if err != nil {
		return Answer{}, true, err
	}
	offset := s.size
	err = s.append(history.Request{
		Request: ask.Request, Key: ask.Key, Kind: kind, Hold: ask.Hold, Token: ask.Token, Value: ask.Value, Base: ask.Base,
		Outcome: history.Duplicate, Mark: reg.mark, First: first.Request,
	})
	if err != nil {
		return Answer{}, true, err
	}
	s.handled[id] = offset
	return s.answer(first), true, nil
}

// record remembers where the log has the first record of a slot.
func (r *register) record(value string, offset int64) {
	if r.records == nil {
		r.records = map[int64]int64{}
	}
	slot, _ := history.RecordedSlot(value)
	r.records[slot] = offset
}

// answered is the line that holds the answer of one that was handled before: its own, or that of the first record of its slot.
func (s *Store) answered(line history.Request) (history.Request, error) {
	if line.First == "" {
		return line, nil
	}
	slot, _ := history.RecordedSlot(line.Value)
	return s.line(line.Request, s.keys[line.Key].records[slot])
}
