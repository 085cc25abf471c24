package nemesis

import (
	"slices"

	"lockcheck/checker/history"
)

// Requirements lists what every run must have seen: a lock that was waited for, and writes under locks by two clients; and
// what each spec requires, the most that any does.
func (s *schedule) Requirements() []history.Requirement {
	required := []history.Requirement{{Name: history.ExposureContended, Min: 1}, {Name: history.ExposureWriters, Min: 2}}
	for _, spec := range s.specs {
		for _, r := range spec.requirements(s.servers) {
			if i := slices.IndexFunc(required, func(known history.Requirement) bool { return known.Name == r.Name }); i >= 0 {
				required[i].Min = max(required[i].Min, r.Min)
				continue
			}
			required = append(required, r)
		}
	}
	return required
}

// requirements is what each kind of fault that was asked for must have done, by the first of its kind: to all that it names at
// once. A sequence must have been there as a whole; its last step comes only while all others are in effect.
func (s Spec) requirements(servers int) (required []history.Requirement) {
	var seen []string
	together := map[string]int{}
	for _, mix := range s {
		for _, f := range mix {
			kind := kindNamed(f.Kind)
			first := !slices.Contains(seen, f.Kind)
			if kind.requires == nil || !first && len(s) == 1 {
				continue
			}
			least := 1
			if f.comesInTurn() {
				least = max(f.Target.size(servers), 1)
			} else {
				together[f.Kind] += f.Target.size(servers)
			}
			if !first {
				continue
			}
			seen = append(seen, f.Kind)
			for _, name := range kind.required(f) {
				required = append(required, history.Requirement{Name: name, Min: int64(least)})
			}
		}
	}
	for _, name := range seen {
		if concurrent := together[name]; concurrent > 1 {
			required = append(required, history.Requirement{Name: history.AtOnce(history.WordsOf(history.F(name)).Exposures), Min: int64(concurrent)})
		}
	}
	return required
}
