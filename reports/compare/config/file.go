package config

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"lockcheck/checker"
	"lockcheck/checker/model"
	"lockcheck/reports/compare"
	"lockcheck/reports/rate"
)

// entry is an expectation whose places are still known.
type entry struct {
	at *yaml.Node
	compare.Expectation
	understood bool // what it picks is
}

// file reads the whole document. The matrix comes before what picks from it, in any order of the file.
func (r *reader) file(node *yaml.Node) {
	parts := []field{
		{"defaults", func(_, value *yaml.Node) { r.spec.Defaults = r.flags(value, "defaults", "", nil) }},
		{"backends", r.backends},
		{"matrix", r.matrix},
		{"exclude", r.exclude},
		{"repeat", func(_, value *yaml.Node) { r.spec.Repeat = r.repeat(value) }},
		{"expectations", r.expectations},
	}
	later := map[string][2]*yaml.Node{}
	fields := make([]field, len(parts))
	for i, part := range parts {
		fields[i] = field{part.name, func(key, value *yaml.Node) { later[part.name] = [2]*yaml.Node{key, value} }}
	}
	r.mapping(node, "the file", fields)
	r.spec.Repeat = 1
	matrixWrong := false
	for _, part := range parts {
		before := len(r.errs)
		if pair, ok := later[part.name]; ok {
			part.read(pair[0], pair[1])
			matrixWrong = matrixWrong || len(r.errs) > before && (part.name == "matrix" || part.name == "exclude")
		} else if part.name == "backends" || part.name == "matrix" {
			r.errorf(node, "%s is missing", part.name)
			matrixWrong = true
		}
	}
	cells := r.spec.Cells()
	switch {
	case matrixWrong || len(r.spec.Backends) == 0: // what would be said of its cells would follow from that
	case len(cells) == 0:
		r.errorf(later["matrix"][0], "nothing is left of the matrix")
	default:
		r.hold(cells)
	}
	for _, e := range r.entries {
		r.spec.Expectations = append(r.spec.Expectations, e.Expectation)
	}
}

// backends reads a mapping of names to what is set for each: `etcd: {}` or `mine: {backend: etcd, client: ./my-client}`.
func (r *reader) backends(key, node *yaml.Node) {
	r.each(node, "backends", func(name, value *yaml.Node) {
		b := compare.Backend{Name: name.Value, Kind: name.Value}
		kindAt := name
		if value.Tag != "!!null" { // `etcd:` alone is fine
			b.Flags = r.flags(value, "backend "+name.Value, name.Value, func(_, value *yaml.Node) {
				kindAt = value
				b.Kind, _ = r.scalar(value, "backend")
			})
		}
		if b.Kind != "" {
			r.oneOf("backend", r.known.Backends)(kindAt, b.Kind)
		}
		r.spec.Places.Backends[b.Name] = placeOf(kindAt)
		r.spec.Backends = append(r.spec.Backends, b)
	})
	if node.Kind == yaml.MappingNode && len(r.spec.Backends) == 0 {
		r.errorf(key, "backends names none")
	}
}

func (r *reader) matrix(key, node *yaml.Node) {
	var names []string
	for _, b := range r.spec.Backends {
		names = append(names, b.Name)
	}
	before := len(r.errs)
	fields := []field{
		{"backends", func(_, value *yaml.Node) {
			wanted := r.words(value, "backends", r.oneOf("entry of backends called", names))
			var chosen []compare.Backend
			for _, name := range wanted { // in the order of the matrix
				if i := slices.Index(names, name); i >= 0 {
					chosen = append(chosen, r.spec.Backends[i])
				}
			}
			r.spec.Backends = chosen
		}},
		{"nemeses", func(_, value *yaml.Node) {
			r.spec.Nemeses = r.words(value, "nemeses", func(at *yaml.Node, word string) {
				r.spec.Places.Nemeses[word] = placeOf(at)
				if err := r.known.Nemesis(word); err != nil {
					r.errorf(at, "nemesis %q: %v", word, err)
				}
			})
		}},
		{"workloads", func(_, value *yaml.Node) {
			r.spec.Workloads = r.words(value, "workloads", func(at *yaml.Node, word string) {
				r.spec.Places.Workloads[word] = placeOf(at)
				r.oneOf("workload", r.known.Workloads)(at, word)
			})
		}},
	}
	for _, a := range compare.Axes {
		fields = append(fields, r.axis(a))
	}
	r.mapping(node, "matrix", fields)
	if len(r.errs) == before && (len(r.spec.Nemeses) == 0 || len(r.spec.Workloads) == 0) {
		r.errorf(key, "matrix needs nemeses and workloads")
	}
}

// axis reads the values of one.
func (r *reader) axis(a compare.Axis) field {
	return field{a.Plural, func(_, value *yaml.Node) {
		r.words(value, a.Plural, func(at *yaml.Node, word string) {
			if err := r.refused(a, word); err != nil {
				r.errorf(at, "%v", err)
				return // no cell has it: it would be told of once more for each
			}
			values := a.Of(&r.spec)
			*values = append(*values, word)
			r.spec.Places.SetFlag("", compare.Flag{Name: a.Flag, Value: word}, placeOf(at)) // one that a backend refuses points here
		})
	}}
}

// refused is why the flag of an axis refuses a value; nil if it takes it.
func (r *reader) refused(a compare.Axis, word string) error {
	i := slices.IndexFunc(r.known.Settings, func(s Setting) bool { return s.Name == a.Flag })
	if i < 0 || r.known.Settings[i].Rule == nil {
		return nil
	}
	return r.known.Settings[i].Rule(a.Plural, word)
}

// pattern reads the keys that pick cells, and reports whether what they pick is understood; other takes what else the mapping has.
func (r *reader) pattern(node *yaml.Node, what string, other []field) (p compare.Pattern, understood bool) {
	var backends []string
	for _, b := range r.spec.Backends {
		backends = append(backends, b.Name)
	}
	p.Line = node.Line
	before, beside := len(r.errs), 0
	fields := []field{
		{"backend", func(_, v *yaml.Node) {
			p.Backends = r.words(v, "backend", r.inMatrix("backend", backends))
		}},
		{"nemesis", func(_, v *yaml.Node) {
			p.Nemeses = r.words(v, "nemesis", r.inMatrix("nemesis", r.spec.Nemeses))
		}},
		{"workload", func(_, v *yaml.Node) {
			p.Workloads = r.words(v, "workload", r.inMatrix("workload", r.spec.Workloads))
		}},
	}
	for _, a := range compare.Axes {
		fields = append(fields, field{a.Flag, func(_, v *yaml.Node) { *a.In(&p) = r.words(v, a.Flag, r.inMatrix(a.Flag, *a.Of(&r.spec))) }})
	}
	for _, f := range other {
		fields = append(fields, field{f.name, func(key, value *yaml.Node) {
			soFar := len(r.errs)
			f.read(key, value)
			beside += len(r.errs) - soFar
		}})
	}
	r.mapping(node, what, fields)
	return p, len(r.errs) == before+beside
}

// inMatrix refuses what the matrix does not have, often because it was taken out there.
func (r *reader) inMatrix(what string, names []string) func(*yaml.Node, string) {
	return func(at *yaml.Node, word string) {
		if len(names) > 0 && !slices.Contains(names, word) { // of a matrix that is wrong that is reported
			r.errorf(at, "there is no %s in the matrix called %q; there are: %s. Take it out here as well, or put it into the matrix", what, word, strings.Join(names, ", "))
		}
	}
}

func (r *reader) exclude(_, node *yaml.Node) {
	r.sequence(node, "exclude", func(item *yaml.Node) {
		whole := r.spec
		whole.Exclude = nil
		p, understood := r.pattern(item, "an entry of exclude", nil)
		if understood && !slices.ContainsFunc(whole.Cells(), p.Matches) {
			r.errorf(item, "this picks no cell of the matrix")
		}
		r.spec.Exclude = append(r.spec.Exclude, p)
	})
}

func (r *reader) repeat(node *yaml.Node) int {
	n, err := strconv.Atoi(node.Value)
	if node.Kind != yaml.ScalarNode || err != nil || n < 1 || n > rate.MaxRuns {
		r.errorf(node, "repeat is a number from 1 to %d, not %s", rate.MaxRuns, kindOf(node))
		return 1
	}
	return n
}

func (r *reader) expectations(key, node *yaml.Node) {
	r.spec.Expecting, r.spec.ExpectingLine = true, key.Line
	r.sequence(node, "expectations", func(item *yaml.Node) {
		e := compare.Expectation{File: r.path, Line: item.Line}
		expects, understood := false, false
		e.Pattern, understood = r.pattern(item, "an expectation", []field{
			{"expect", func(key, value *yaml.Node) {
				expects = true
				e.Line = key.Line
				e.Expect = r.wanted(value)
			}},
			{"reason", func(_, value *yaml.Node) { e.Reason, _ = r.scalar(value, "reason") }},
			{"repeat", func(_, value *yaml.Node) { e.Repeat = r.repeat(value) }},
		})
		switch {
		case item.Kind != yaml.MappingNode:
			return // has been said
		case !expects:
			r.errorf(item, "an expectation needs expect; {} is that nothing is violated")
		case e.Reason == "":
			r.errorf(item, "an expectation needs a reason: its next reader wants to know why it is so")
		}
		r.entries = append(r.entries, entry{item, e, understood})
	})
}

func (r *reader) wanted(node *yaml.Node) (all []compare.Wanted) {
	all = []compare.Wanted{}
	r.each(node, "expect", func(key, value *yaml.Node) {
		if value.Kind == yaml.MappingNode {
			all = append(all, r.rateOf(key, value))
			return
		}
		all = append(all, r.wantedOf(key, value))
	})
	return all
}

// rateOf reads in how many runs a property is expected to be violated: `{rate: ">=0.8"}`.
func (r *reader) rateOf(key, value *yaml.Node) compare.Wanted {
	w := r.property(key)
	r.mapping(value, "what is expected of "+key.Value, []field{{"rate", func(_, value *yaml.Node) {
		text, ok := r.scalar(value, "rate")
		if !ok {
			return
		}
		bound, err := rate.ParseBound(text)
		if err != nil {
			r.errorf(value, "%v", err)
		}
		w.Rate = &bound
	}}})
	if !has(value, "rate") {
		r.errorf(value, "what is expected of %s needs rate, or is a verdict", key.Value)
	}
	return w
}

// property reads which one something is expected of.
func (r *reader) property(key *yaml.Node) compare.Wanted {
	names := make([]string, len(checker.Names()))
	for i, name := range checker.Names() {
		names[i] = string(name)
	}
	r.oneOf("property", names)(key, key.Value)
	return compare.Wanted{Property: model.Name(key.Value), Line: key.Line}
}

// wantedOf reads what is expected of one property.
func (r *reader) wantedOf(key, value *yaml.Node) compare.Wanted {
	w := r.property(key)
	verdicts := make([]string, len(compare.Expectable))
	for i, v := range compare.Expectable {
		verdicts[i] = string(v)
	}
	for _, word := range r.words(value, "what is expected of "+key.Value, func(at *yaml.Node, word string) {
		if word == string(model.Inconclusive) {
			r.errorf(at, "inconclusive cannot be expected: it would be met by a run that showed nothing")
			return
		}
		r.oneOf("verdict", verdicts)(at, word)
	}) {
		w.Verdicts = append(w.Verdicts, model.Verdict(word))
	}
	return w
}

// hold refuses expectations that pick no cell, and cells that two expectations pick.
func (r *reader) hold(cells []compare.Cell) {
	for i, e := range r.entries {
		if e.understood {
			r.holdEntry(e, r.entries[:i], cells)
		}
	}
}

func (r *reader) holdEntry(e entry, before []entry, cells []compare.Cell) {
	picked := false
	for _, cell := range cells {
		if !e.Matches(cell) {
			continue
		}
		picked = true
		for _, other := range before {
			if other.understood && other.Matches(cell) {
				r.errorf(e.at, "the cell %v is picked in line %d already; only one expectation may hold for a cell", cell, other.at.Line)
				return
			}
		}
	}
	if !picked {
		r.errorf(e.at, "this picks no cell of the matrix, so that what it expects could never come: take it out, or take what it picks out of exclude")
	}
}
