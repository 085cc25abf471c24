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
