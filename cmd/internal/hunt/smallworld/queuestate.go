package smallworld

import "slices"

// apply does a command of the log, which enough servers have.
func (s *server) apply(place int, c command) (a answer) {
	t := s.table
	switch c.op {
	case opNothing:
		if place == s.firstOwn() && s.w.Lock.Defect == ForgetsQueue {
			for key := range t.queues {
				t.queues[key] = slices.DeleteFunc(t.queues[key], func(one *slot) bool {
					if !one.granted {
						delete(t.slots, one.entry)
					}
					return !one.granted
				})
			}
		}
	case opOpen:
		if t.ended[c.session] {
			break
		}
		t.sessions = append(t.sessions, c.session)
		if place < s.firstOwn() {
			s.inherit(c)
		} else {
			s.expires[c.session] = s.clock() + s.w.TTLNS
		}
		a.ok = true
	case opEnqueue:
		if t.gone[c.entry] || t.ended[c.entry.session] {
			break
		}
		one := &slot{entry: c.entry, token: c.token, push: s.pending[place]}
		t.slots[c.entry] = one
		t.queues[c.entry.key] = append(t.queues[c.entry.key], one)
		delete(s.pending, place) // whoever asked is told by promote, or here
		s.promote(c.entry.key)
		if a.ok = true; !one.granted && one.push != nil {
			one.push(answer{ok: true})
		}
	case opRemove:
		if queue := t.queues[c.entry.key]; c.byName && t.slots[c.entry] == nil && len(queue) > 0 {
			a.ok = s.remove(queue[0].entry)
			break
		}
		a.ok = s.remove(c.entry)
	case opEnd:
		s.end(c.session)
		a.ok = true
	}
	t.results[place] = a.ok
	return a
}

// promote grants the lock to the first in the queue.
func (s *server) promote(key int) {
	queue := s.table.queues[key]
	if len(queue) == 0 || queue[0].granted {
		return
	}
	one := queue[0]
	one.granted = true
	if one.push != nil {
		one.push(answer{ok: true, granted: true, token: one.token})
	}
}

// remove reports whether the entry was there.
func (s *server) remove(e *entry) bool {
	t := s.table
	t.gone[e] = true
	one := t.slots[e]
	if one == nil {
		return false
	}
	delete(t.slots, e)
	t.queues[e.key] = slices.DeleteFunc(t.queues[e.key], func(other *slot) bool { return other == one })
	s.promote(e.key)
	return true
}

// end drops a session and all it queued for.
func (s *server) end(of *session) {
	t := s.table
	t.ended[of] = true
	t.sessions = slices.DeleteFunc(t.sessions, func(other *session) bool { return other == of })
	for key := range t.queues {
		for _, one := range slices.Clone(t.queues[key]) {
			if one.entry.session == of {
				s.remove(one.entry)
			}
		}
	}
}
