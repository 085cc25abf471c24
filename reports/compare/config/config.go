// Package config reads lockcheck.yaml, the file of a comparison. It is strict: a key or a value that it does not know, or that
// cannot be, is refused with file, line and column, so that no slip of the pen makes an expectation vanish.
package config

import (
	_ "embed"

	"lockcheck/reports/compare"
)

// Name is what the file is called by default.
const Name = "lockcheck.yaml"

// Known is what the file may name. Its functions say why a value cannot be; nil is fine.
type Known struct {
	Backends, Workloads []string
	Settings            []Setting
	Nemesis             func(spec string) error
}

// Read reads a file. Its errors are of type *Error, or Mistakes if the file is YAML at all, but for what the system says of the
// file. With Mistakes the spec is what could be understood.
func Read(path string, known Known) (compare.Spec, error) {
	text, err := readText(path)
	if err != nil {
		return compare.Spec{}, err
	}
	return Parse(path, text, known)
}

// Parse is Read of a text at hand.
func Parse(path string, text []byte, known Known) (compare.Spec, error) {
	r := &reader{path: path, known: known}
	r.spec.File, r.spec.Places, r.spec.OnlyIn = path, compare.NewPlaces(), known.OnlyIn()
	err := r.read(text, "the file is empty; lockcheck init writes one to begin with", r.file)
	return r.spec, err
}

// Example is a commented file to begin with.
//
//go:embed lockcheck.yaml
var Example string

// SchemaName is what the file's schema is called by default, and Modeline the comment with which YAML language servers find it.
const (
	SchemaName = "lockcheck.schema.json"
	Modeline   = "# yaml-language-server: $schema=" + SchemaName
)
