package config

import (
	"go.yaml.in/yaml/v3"

	"lockcheck/reports/compare"
)

// Setting is a flag of lockcheck run that the file can set, by its name. What only the command knows, such as the range that a
// backend can honour, it checks before the first run.
type Setting struct {
	Name string
	// Pairs says that its value is a mapping, of which each pair is given for itself: NAME=VALUE.
	Pairs bool
	// List says that its value is a word or a list of words, each given for itself.
	List bool
	// Rule says why a value cannot be, in words that begin with the name; nil takes every word.
	Rule func(name, value string) error
	// Workload is the only one that understands it; "" if all do.
	Workload string
	// Help and Schema are for Schema alone: what people have to know of it, and what JSON Schema can say of its value; nil is any
	// word.
	Help   string
	Schema map[string]any
}

// OnlyIn is, by name, the one workload that understands a setting.
func (k Known) OnlyIn() map[string]string {
	only := map[string]string{}
	for _, s := range k.Settings {
		if s.Workload != "" {
			only[s.Name] = s.Workload
		}
	}
	return only
}

// flags reads a mapping of flags of lockcheck run, of the backend called name or "" for all of them; backend takes the key of
// that name, where there may be one.
func (r *reader) flags(node *yaml.Node, what, name string, backend func(key, value *yaml.Node)) (flags []compare.Flag) {
	var fields []field
	for _, s := range r.known.Settings {
		fields = append(fields, field{s.Name, func(_, value *yaml.Node) { flags = append(flags, r.setting(s, name, value)...) }})
	}
	if backend != nil {
		fields = append(fields, field{"backend", backend})
	}
	r.mapping(node, what, fields)
	return flags
}

// setting reads the value of one of them.
func (r *reader) setting(s Setting, backend string, node *yaml.Node) (flags []compare.Flag) {
	take := func(what, before string, value *yaml.Node) {
		text, ok := r.scalar(value, what)
		if !ok {
			return
		}
		if s.Rule != nil {
			if err := s.Rule(s.Name, text); err != nil {
				r.errorf(value, "%v", err)
				return
			}
		}
		flag := compare.Flag{Name: s.Name, Value: before + text}
		flags = append(flags, flag)
		r.spec.Places.SetFlag(backend, flag, placeOf(value))
	}
	if s.List && node.Kind == yaml.SequenceNode {
		r.sequence(node, s.Name, func(item *yaml.Node) { take(s.Name, "", item) })
		return flags
	}
	if !s.Pairs {
		take(s.Name, "", node)
		return flags
	}
	r.each(node, s.Name, func(key, value *yaml.Node) { take(s.Name+" "+key.Value, key.Value+"=", value) })
	return flags
}
