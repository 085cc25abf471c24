package checker

import (
	"cmp"
	"slices"

	"lockcheck/checker/history"
)

// register is a key and what is known of its values while its writes are numbered.
type register struct {
	*keyView
	writers map[string]*Access // by value
	place   int32
	current *Access // the last write applied; nil while the value is the initial one
}

// registers are those of all keys. Neighbouring records are mostly of one key, so the last is looked at first.
type registers struct {
	byKey map[string]*register
	last  *register
	sizes int
}

func (all *registers) of(key string) *register {
	if all.last != nil && all.last.name == key {
		return all.last
	}
	r := all.byKey[key]
	if r == nil {
		r = &register{keyView: &keyView{name: key}, writers: map[string]*Access{}}
		if len(all.byKey) == 0 {
			r.writers = make(map[string]*Access, all.sizes) // most often there is but one key
		}
		all.byKey[key] = r
	}
	all.last = r
	return r
}

// resolve sorts everything by its key, numbers the writes of each, sees to it that their values are unique, and links each
// access to the write whose value it found or was built on. From here on no code compares values: a write is its value.
func (m *Model) resolve(accesses int) error {
	all := registers{byKey: map[string]*register{}, sizes: accesses / 2}
	for _, h := range m.Holds {
		r := all.of(h.Key)
		h.at = int32(len(r.acquires))
		r.acquires = append(r.acquires, h)
		if h.Outcome == history.OK {
			r.grants = append(r.grants, h)
		}
		for _, a := range h.Accesses {
			if a.F != history.Write {
				continue
			}
			if r.writers[a.Value] != nil || a.Value == "" {
				return defectf("event %d writes the value %q to %s, which is not unique", a.Event, a.Value, h.Key)
			}
			r.writes++
			a.number = int32(r.writes)
			r.writers[a.Value] = a
		}
	}
	if m.untrusted() != "" {
		m.resolveByAnswers(&all)
	} else {
		m.resolveByLog(&all)
	}
	for _, r := range all.byKey {
		sortInOrder(r.grants, func(a, b *Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
		m.keys = append(m.keys, r.keyView)
	}
	slices.SortFunc(m.keys, func(a, b *keyView) int { return cmp.Compare(a.name, b.name) })
	return nil
}

// resolveByLog resolves what the resource did in its own order: what a request finds is nearly always what the last write left.
func (m *Model) resolveByLog(all *registers) {
	writes := m.Plan.Compares().OrdersWrites() // they are what is compared, tokens elsewhere
	for i, a := range m.Requests.of {
		if a == nil || int(a.handled) != i+1 {
			continue
		}
		r := all.of(a.Hold.Key)
		if !r.compared.several() && (writes && a.F == history.Write || !writes && a.Hold.Token != "" && m.Requests.token(i) == a.Hold.Token) {
			r.compared.add(a.Hold.client)
		}
		if !a.applied {
			continue
		}
		r.handled = append(r.handled, a)
		if a.F == history.Read {
			a.built = r.writer(m.Requests.value(i))
			continue
		}
		a.built = r.writer(a.Base)
		r.place++
		a.place, r.current = r.place, a
	}
	for _, h := range m.Holds {
		for _, a := range h.Accesses {
			if a.F == history.Write && a.place == 0 {
				a.built = all.of(h.Key).writer(a.Base)
			}
		}
	}
}

// writer is who wrote a value; nil for the initial one and for one that no client wrote.
func (r *register) writer(value string) *Access {
	switch {
	case value == "":
		return nil
	case r.current != nil && r.current.Value == value:
		return r.current
	}
	return r.writers[value]
}
