package model

import (
	"cmp"
	"slices"

	"lockcheck/checker/history"
)

// resolveByAnswers decides what the accesses did where the resource's log cannot be trusted (R9): what was answered ok happened. Of
// what has no definite answer a write happened if its value was found. Any other may have happened or not, and that decides
// nothing: no update looks at its value, so an order that has it is one without it, too, and the other way round.
func (m *Model) resolveByAnswers(all *registers) {
	found := map[*Access]bool{}
	for _, h := range m.Holds {
		r := all.of(h.Key)
		for _, a := range h.Accesses {
			a.Handled, a.HandledNS, a.Applied = 0, max(a.DoneNS, a.InvokeNS), a.Outcome == history.OK
			switch {
			case a.F == history.Write && m.answer(a) != a.Value: // another's record counts (J12), or it is not known which
				a.Applied, a.Built = false, r.writer(a.Base)
			case a.F == history.Write:
				a.Built = r.writer(a.Base)
			case a.Applied:
				a.Built = r.writer(a.Value)
				found[a.Built] = true
			}
		}
	}
	for _, h := range m.Holds {
		for _, a := range h.Accesses {
			open := a.Outcome == history.Info || a.Outcome == history.Invoke || a.Outcome == history.OK && m.answer(a) == ""
			a.Applied = a.Applied || a.F == history.Write && open && found[a]
		}
	}
}

// register is a key and what is known of its values while its writes are numbered.
type register struct {
	*Lock
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
	if all.last != nil && all.last.Name == key {
		return all.last
	}
	r := all.byKey[key]
	if r == nil {
		r = &register{Lock: &Lock{Name: key}, writers: map[string]*Access{}}
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
		h.at = int32(len(r.Acquires))
		r.Acquires = append(r.Acquires, h)
		if h.Outcome == history.OK {
			r.Grants = append(r.Grants, h)
		}
		for _, a := range h.Accesses {
			if a.F != history.Write {
				continue
			}
			if r.writers[a.Value] != nil || a.Value == "" {
				return Defectf("event %d writes the value %q to %s, which is not unique", a.Event, a.Value, h.Key)
			}
			r.Writes++
			a.Number = int32(r.Writes)
			r.writers[a.Value] = a
		}
	}
	if m.Untrusted() != "" {
		m.resolveByAnswers(&all)
	} else {
		m.resolveByLog(&all)
	}
	for _, r := range all.byKey {
		SortInOrder(r.Grants, func(a, b *Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
		m.Locks = append(m.Locks, r.Lock)
	}
	slices.SortFunc(m.Locks, func(a, b *Lock) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// resolveByLog resolves what the resource did in its own order: what a request finds is nearly always what the last write left.
func (m *Model) resolveByLog(all *registers) {
	writes := m.Plan.Compares().OrdersWrites() // they are what is compared, tokens elsewhere
	for i, a := range m.Requests.of {
		if a == nil || int(a.Handled) != i+1 {
			continue
		}
		r := all.of(a.Hold.Key)
		if !r.Compared.Several() && (writes && a.F == history.Write || !writes && a.Hold.Token != "" && m.Requests.token(i) == a.Hold.Token) {
			r.Compared.add(a.Hold.ClientNumber)
		}
		if !a.Applied {
			continue
		}
		r.Handled = append(r.Handled, a)
		if a.F == history.Read {
			a.Built = r.writer(m.Requests.value(i))
			continue
		}
		a.Built = r.writer(a.Base)
		r.place++
		a.Place, r.current = r.place, a
	}
	for _, h := range m.Holds {
		for _, a := range h.Accesses {
			if a.F == history.Write && a.Place == 0 {
				a.Built = all.of(h.Key).writer(a.Base)
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

// ValueName is what texts call a value of a register.
func ValueName(v string) string {
	if v == "" {
		return "the initial value"
	}
	return v
}
