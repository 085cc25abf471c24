package compare

import "strings"

// Place is where something stands in the file of a comparison, from 1; the zero Place is not known.
type Place struct{ Line, Column int }

// Places is where in its file stands what decides the runs, so that one that cannot be made points there.
type Places struct {
	Backends, Nemeses, Workloads map[string]Place
	flags                        map[string]Place
}

// NewPlaces has no places yet.
func NewPlaces() Places {
	return Places{map[string]Place{}, map[string]Place{}, map[string]Place{}, map[string]Place{}}
}

// SetFlag notes where a flag stands: for one backend, or "" for the defaults.
func (p Places) SetFlag(backend string, f Flag, at Place) { p.flags[flagKey(backend, f)] = at }

// Flag is where a flag of the cell stands: with its backend, or with the defaults.
func (p Places) Flag(cell Cell, f Flag) Place {
	switch f.Name {
	case "backend":
		return p.Backends[cell.Backend]
	case "nemesis":
		return p.Nemeses[cell.Nemesis]
	case "workload":
		return p.Workloads[cell.Workload]
	}
	if at, ok := p.flags[flagKey(cell.Backend, f)]; ok {
		return at
	}
	return p.flags[flagKey("", f)]
}

// flagKey has the value in it, because a flag of the command line goes before the file's and stands nowhere in it.
func flagKey(backend string, f Flag) string {
	return strings.Join([]string{backend, f.Name, f.Value}, "\x00")
}
