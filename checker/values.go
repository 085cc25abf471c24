package checker

import "lockcheck/checker/history"

// register is what is known of the values of one key while its writes are numbered.
type register struct {
	writers map[string]*Access // by value
	number  int32
	place   int32
	current *Access // the last write applied; nil while the value is the initial one
}

// resolve numbers the writes of each key, sees to it that their values are unique, and links each access to the write
// whose value it found or was built on. From here on nobody compares values: a write is its value.
func (m *Model) resolve() error {
	writes := 0
	for _, h := range m.Holds {
		for _, a := range h.Accesses {
			if a.F == history.Write {
				writes++
			}
		}
	}
	registers := map[string]*register{}
	of := func(key string) *register {
		r := registers[key]
		if r == nil {
			r = &register{writers: map[string]*Access{}}
			if len(registers) == 0 {
				r.writers = make(map[string]*Access, writes) // most often there is but one
			}
			registers[key] = r
		}
		return r
	}
	var r *register
	key := ""
	for _, h := range m.Holds {
		if r == nil || key != h.Key {
			r, key = of(h.Key), h.Key
		}
		for _, a := range h.Accesses {
			if a.F != history.Write {
				continue
			}
			if r.writers[a.Value] != nil || a.Value == "" {
				return defectf("event %d writes the value %q to %s, which is not unique", a.Event, a.Value, h.Key)
			}
			r.number++
			a.number = r.number
			r.writers[a.Value] = a
		}
	}
	// What the resource did is resolved in its own order: what a request finds is nearly always what the last write left.
	for i, a := range m.byRequest {
		if a.Handled != &m.Requests[i] || !a.Applied() {
			continue
		}
		if r == nil || key != a.Hold.Key {
			r, key = of(a.Hold.Key), a.Hold.Key
		}
		if a.F == history.Read {
			a.built = r.writer(a.Handled.Value)
			continue
		}
		a.built = r.writer(a.Base)
		r.place++
		a.place, r.current = r.place, a
	}
	for _, h := range m.Holds {
		for _, a := range h.Accesses {
			if a.F == history.Write && !a.Applied() {
				a.built = of(h.Key).writer(a.Base)
			}
		}
	}
	return nil
}

// writer is who wrote a value; nil for the initial one and for one that nobody wrote.
func (r *register) writer(value string) *Access {
	switch {
	case value == "":
		return nil
	case r.current != nil && r.current.Value == value:
		return r.current
	}
	return r.writers[value]
}
