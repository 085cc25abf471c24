package config

import (
	"cmp"

	"go.yaml.in/yaml/v3"

	"lockcheck/checker"
	"lockcheck/checker/model"
)

// Find is a find of hunts that is known, and why that is no reason for alarm. An empty Party or Shape stands for any, and
// NoPart for finds that have none.
type Find struct {
	Property model.Name
	Party    string
	Shape    string
	Reason   string
	File     string
	Line     int
}

// NoPart is the Party or Shape of finds without one.
const NoPart = "none"

// Is reports whether a find of this property, party and shape is this one.
func (f Find) Is(property model.Name, party, shape string) bool {
	return f.Property == property && is(f.Party, party) && is(f.Shape, shape)
}

func is(known, part string) bool { return known == "" || known == cmp.Or(part, NoPart) }

// ReadFinds reads the file of known finds. Its errors are those of Read.
func ReadFinds(path string) ([]Find, error) {
	text, err := readText(path)
	if err != nil {
		return nil, err
	}
	return ParseFinds(path, text)
}

// ParseFinds is ReadFinds of a text at hand:
//
//	known:
//	  - property: early-expiry
//	    party: etcd                       # who broke the promise; none: nobody is named; left out: any
//	    shape: acquire, write | acquire   # what the clients did; none: there is no shape; left out: any
//	    reason: etcd-io/etcd#11456, fixed in 3.5
func ParseFinds(path string, text []byte) (finds []Find, err error) {
	r := &reader{path: path}
	root, err := document(path, text)
	switch {
	case err != nil:
		return nil, err
	case root == nil:
		r.errorf(&yaml.Node{Line: 1, Column: 1}, "the file is empty; known: [] says that no find is known")
	default:
		has := false
		r.mapping(root, "the file", []field{{"known", func(_, value *yaml.Node) {
			has = true
			r.sequence(value, "known", func(item *yaml.Node) { finds = append(finds, r.find(item)) })
		}}})
		if root.Kind == yaml.MappingNode && !has && len(r.errs) == 0 {
			r.errorf(root, "known is missing")
		}
	}
	if len(r.errs) > 0 {
		return nil, Mistakes(nil).With(r.errs...)
	}
	return finds, nil
}

func (r *reader) find(node *yaml.Node) Find {
	f := Find{File: r.path, Line: node.Line}
	property := ""
	var names []string
	for _, name := range checker.Names() {
		names = append(names, string(name))
	}
	r.mapping(node, "a known find", []field{
		{"property", func(_, value *yaml.Node) {
			if word, ok := r.scalar(value, "property"); ok {
				property = word
				r.oneOf("property", names)(value, word)
			}
		}},
		{"party", r.word(&f.Party, "party")},
		{"shape", r.word(&f.Shape, "shape")},
		{"reason", r.word(&f.Reason, "reason")},
	})
	f.Property = model.Name(property)
	switch {
	case node.Kind != yaml.MappingNode: // has been said
	case !has(node, "property"):
		r.errorf(node, "a known find needs property")
	case !has(node, "reason"):
		r.errorf(node, "a known find needs a reason: its next reader wants to know why it is no alarm")
	}
	return f
}
