package jepsen

import "strings"

// namespaced reads the map behind #:name, which is the namespace of its keys: #:a{:b 1} is {:a/b 1}. Keys that have a
// namespace keep it, that of :_/b is none at all, and a key that is no name (a string, a number) stays what it is.
func (r *reader) namespaced(tag string) (Value, error) {
	line, namespace := r.line, tag[1:]
	if namespace == "" || namespace[0] == ':' {
		return Value{}, r.mistake("#%s is Clojure, and no data: its namespace is known to a program only", shorten(tag))
	}
	if strings.Contains(namespace, "/") {
		return Value{}, r.mistake("#%s is no EDN: a namespace has no namespace", shorten(tag))
	}
	v, err := r.inner("the map of #" + shorten(tag))
	switch {
	case err != nil:
		return Value{}, err
	case v.Kind() != Map:
		return Value{}, r.mistakeAt(line, "#%s has to stand before a map, not %s", shorten(tag), shorten(v.String()))
	}
	named := &node{kind: Map, items: make([]Value, len(v.node.items))}
	copy(named.items, v.node.items)
	for i := 0; i < len(named.items); i += 2 {
		named.items[i] = within(namespace, named.items[i])
	}
	return Value{named}, r.unrepeated(named, line)
}

// within is a key of a map of that namespace.
func within(namespace string, key Value) Value {
	if key.Kind() != Keyword && key.Kind() != Symbol {
		return key
	}
	name := key.Text()
	switch slash := strings.IndexByte(name, '/'); {
	case strings.HasPrefix(name, "_/"):
		name = name[len("_/"):]
	case slash > 0: // the name / alone is a name
		return key
	default:
		name = namespace + "/" + name
	}
	return Value{&node{kind: key.Kind(), text: name}}
}

// maxPairwise is up to how many keys or elements are compared with one another without making their texts.
const maxPairwise = 16

// unrepeated refuses a map with two equal keys and a set with two equal elements: no program ever had such a value, so
// which of the two was meant is not known.
func (r *reader) unrepeated(n *node, line int) error {
	step, what := 1, "a set with %s twice"
	switch n.kind {
	case Map:
		step, what = 2, "a map with the key %s twice"
	case Set:
	default:
		return nil
	}
	if again, repeated := repeats(n.items, step); repeated {
		return r.mistakeAt(line, what, shorten(again.String()))
	}
	return nil
}

// repeats finds, of every step-th value, one that equals another before it.
func repeats(values []Value, step int) (again Value, repeated bool) {
	if len(values) > step*maxPairwise {
		seen := make(map[string]bool, len(values)/step)
		for i := 0; i < len(values); i += step {
			text := values[i].String()
			if seen[text] {
				return values[i], true
			}
			seen[text] = true
		}
		return Value{}, false
	}
	for i := step; i < len(values); i += step {
		for k := 0; k < i; k += step {
			if values[k].equals(values[i]) {
				return values[i], true
			}
		}
	}
	return Value{}, false
}
