package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"lockcheck/checker/history"
	"lockcheck/reports/compare"
)

// maxFile bounds what is read: a file of people is far smaller.
const maxFile = 1 << 20

func readText(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = &Error{File: path, Text: "it is larger than 1 MiB"}
	}
	return text, err
}

// document is the root of the only document of a text; nil if it has none. Errors are of type *Error.
func document(path string, text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	err := decoder.Decode(&document)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, syntaxError(path, text, err)
	}
	var second yaml.Node
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, &Error{path, second.Line, max(second.Column, 1), "a second document; there may be only one"}
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(path, text, err)
	case len(document.Content) == 0:
		return nil, nil
	}
	return document.Content[0], nil
}

// reader reads YAML strictly, and gathers all that is wrong in a document: the file of a comparison, a scenario, or Words.
type reader struct {
	path    string
	known   Known
	spec    compare.Spec
	errs    []*Error
	entries []entry
}

// read has file read the only document of a text. If there is none, empty says what is wrong with that; "" if nothing is.
func (r *reader) read(text []byte, empty string, file func(root *yaml.Node)) error {
	root, err := document(r.path, text)
	switch {
	case err != nil:
		return err
	case root != nil:
		file(root)
	case empty != "":
		r.errorf(&yaml.Node{Line: 1, Column: 1}, "%s", empty)
	}
	if len(r.errs) > 0 {
		return Mistakes(nil).With(r.errs...)
	}
	return nil
}

func placeOf(node *yaml.Node) compare.Place {
	return compare.Place{Line: node.Line, Column: node.Column}
}

func (r *reader) errorf(at *yaml.Node, format string, args ...any) {
	r.errs = append(r.errs, &Error{r.path, at.Line, at.Column, fmt.Sprintf(format, args...)})
}

// field is one key that a mapping may have, and what reads its value.
type field struct {
	name string
	read func(key, value *yaml.Node)
}

// mapping reads a mapping whose keys are all known. what names it in errors.
func (r *reader) mapping(node *yaml.Node, what string, fields []field) {
	r.each(node, what, func(key, value *yaml.Node) {
		for _, f := range fields {
			if f.name == key.Value {
				f.read(key, value)
				return
			}
		}
		names := make([]string, len(fields))
		for i, f := range fields {
			names[i] = f.name
		}
		r.errorf(key, "%s has no key %q%s; there are: %s", what, key.Value, history.Meant("", key.Value, names), strings.Join(names, ", "))
	})
}

// each goes through the pairs of a mapping without duplicates, anchors or merges: what a reader cannot see at a glance has
// no place among expectations.
func (r *reader) each(node *yaml.Node, what string, pair func(key, value *yaml.Node)) {
	if node.Kind != yaml.MappingNode {
		r.errorf(node, "%s is a mapping (name: value), not %s", what, kindOf(node))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
			r.errorf(key, "%s: a key is a plain word", what)
		case seen[key.Value] > 0:
			r.errorf(key, "%s has %q twice, first in line %d", what, key.Value, seen[key.Value])
		default:
			seen[key.Value] = key.Line
			pair(key, value)
		}
	}
}

func kindOf(node *yaml.Node) string {
	switch node.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	case yaml.AliasNode:
		return "an alias (write it out)"
	}
	if node.Tag == "!!null" {
		return "nothing"
	}
	return fmt.Sprintf("%q", node.Value)
}

// scalar reads one word.
func (r *reader) scalar(node *yaml.Node, what string) (string, bool) {
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" || node.Value == "" {
		r.errorf(node, "%s is a word, not %s", what, kindOf(node))
		return "", false
	}
	return node.Value, true
}

// words reads a word or a list of them, which may not be empty, and hands each to check.
func (r *reader) words(node *yaml.Node, what string, check func(at *yaml.Node, word string)) (words []string) {
	list := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		if list = node.Content; len(list) == 0 {
			r.errorf(node, "%s is empty; leave it out, or name something", what)
		}
	}
	for _, item := range list {
		word, ok := r.scalar(item, what)
		switch {
		case !ok:
		case slices.Contains(words, word):
			r.errorf(item, "%s names %q twice", what, word)
		default:
			words = append(words, word)
			if check != nil {
				check(item, word)
			}
		}
	}
	return words
}

// sequence goes through a list.
func (r *reader) sequence(node *yaml.Node, what string, item func(*yaml.Node)) {
	if node.Kind != yaml.SequenceNode {
		r.errorf(node, "%s is a list, not %s", what, kindOf(node))
		return
	}
	for _, n := range node.Content {
		item(n)
	}
}

// oneOf refuses what a table does not have.
func (r *reader) oneOf(what string, table []string) func(*yaml.Node, string) {
	return func(at *yaml.Node, word string) {
		if !slices.Contains(table, word) {
			if len(table) == 0 {
				return // what should have filled the table was wrong, and is told
			}
			r.errorf(at, "%v", history.Unknown(what, word, table))
		}
	}
}
