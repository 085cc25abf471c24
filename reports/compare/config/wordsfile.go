package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Words are those of a file that is one mapping of names to words, and the places of their values.
type Words struct {
	file   string
	values map[string]*yaml.Node
}

// ReadWords reads such a file, YAML or JSON. Its errors are those of Read: a name that is not one of these is a mistake.
func ReadWords(path string, names []string) (Words, error) {
	w := Words{path, map[string]*yaml.Node{}}
	text, err := readText(path)
	if err != nil {
		return w, err
	}
	var fields []field
	r := &reader{path: path}
	for _, name := range names {
		fields = append(fields, field{name, func(_, value *yaml.Node) {
			if _, ok := r.scalar(value, name); ok {
				w.values[name] = value
			}
		}})
	}
	return w, r.read(text, "", func(root *yaml.Node) {
		if root.Kind == yaml.ScalarNode { // which may be a password, in the wrong place: it is not quoted
			r.errorf(root, "the file is a mapping (name: value), not a single word; there are: %s", strings.Join(names, ", "))
			return
		}
		r.mapping(root, "the file", fields)
	})
}

// Word is the value of a name, "" if the file has none.
func (w Words) Word(name string) string {
	if value := w.values[name]; value != nil {
		return value.Value
	}
	return ""
}

// Errorf is a mistake at the value of a name.
func (w Words) Errorf(name, format string, args ...any) error {
	e := &Error{File: w.file, Text: fmt.Sprintf(format, args...)}
	if at := w.values[name]; at != nil {
		e.Line, e.Column = at.Line, at.Column
	}
	return e
}
