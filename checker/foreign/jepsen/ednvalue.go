package jepsen

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Kind is what an EDN value is.
type Kind uint8

// The kinds of a value. Lists count as vectors, as they are equal in Clojure; records are tagged maps.
const (
	Nil Kind = iota
	Bool
	Int   // of any size
	Float // decimals and ratios, too: compared by what is written
	String
	Char
	Keyword
	Symbol
	Vector
	Set
	Map // keys and values in turn
	Tagged
)

// Value is an EDN value: read only, and compared by its String. The zero value is nil.
type Value struct{ node *node }

type node struct {
	kind  Kind
	text  string // of a scalar: canonical; of a tagged value: the tag
	items []Value
}

// Kind is what the value is.
func (v Value) Kind() Kind {
	if v.node == nil {
		return Nil
	}
	return v.node.kind
}

// IsNil reports whether the value is nil, or absent.
func (v Value) IsNil() bool { return v.node == nil }

// Text is a scalar's own text: a string without its quotes, a keyword without its colon, a number's digits.
func (v Value) Text() string {
	if v.node == nil {
		return ""
	}
	return v.node.text
}

// Items are the elements of a vector or a set, the keys and values of a map in turn, or what a tag stands before.
func (v Value) Items() []Value {
	if v.node == nil {
		return nil
	}
	return v.node.items
}

// Untagged is the value without its tags.
func (v Value) Untagged() Value {
	for v.Kind() == Tagged {
		v = v.node.items[0]
	}
	return v
}

// equals reports whether two values have the same String. Values of different kinds never have.
func (v Value) equals(w Value) bool {
	switch {
	case v.node == w.node:
		return true
	case v.Kind() != w.Kind():
		return false
	case len(v.Items()) == 0 && len(w.Items()) == 0:
		return v.Text() == w.Text()
	}
	return v.String() == w.String()
}

// Get is the value of a map under a keyword; nil if there is none or v is no map.
func (v Value) Get(keyword string) Value {
	if v = v.Untagged(); v.Kind() != Map {
		return Value{}
	}
	for i := 0; i+1 < len(v.node.items); i += 2 {
		if k := v.node.items[i]; k.Kind() == Keyword && k.node.text == keyword {
			return v.node.items[i+1]
		}
	}
	return Value{}
}

// String is the value as EDN. Equal values have equal strings: the elements of sets and the entries of maps are sorted.
func (v Value) String() string {
	switch v.Kind() {
	case Nil:
		return "nil"
	case String:
		return quote(v.node.text)
	case Char:
		return `\` + v.node.text
	case Keyword:
		return ":" + v.node.text
	case Vector:
		return "[" + strings.Join(texts(v.node.items), " ") + "]"
	case Set:
		return "#{" + strings.Join(sorted(texts(v.node.items)), " ") + "}"
	case Map:
		all := texts(v.node.items)
		entries := make([]string, 0, len(all)/2)
		for i := 0; i+1 < len(all); i += 2 {
			entries = append(entries, all[i]+" "+all[i+1])
		}
		return "{" + strings.Join(sorted(entries), ", ") + "}"
	case Tagged:
		return "#" + v.node.text + " " + v.node.items[0].String()
	default:
		return v.node.text
	}
}

// quote writes a string as EDN, with what a terminal would not show as such escaped.
func quote(text string) string {
	var s strings.Builder
	s.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			s.WriteByte('\\')
			s.WriteRune(c)
		case c == '\n':
			s.WriteString(`\n`)
		case c == '\t':
			s.WriteString(`\t`)
		case c <= 0xffff && !unicode.IsPrint(c):
			fmt.Fprintf(&s, `\u%04x`, c)
		default:
			s.WriteRune(c)
		}
	}
	s.WriteByte('"')
	return s.String()
}

func texts(values []Value) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = v.String()
	}
	return all
}

func sorted(texts []string) []string {
	slices.Sort(texts)
	return texts
}

// ParseValue reads one EDN value and nothing after it.
func ParseValue(text string) (Value, error) {
	r := newReader(strings.NewReader(text), "value")
	v, ok, err := r.form()
	if err != nil {
		return Value{}, err
	}
	if !ok {
		return Value{}, r.mistake("no value")
	}
	if _, more, err := r.form(); err != nil || more {
		return Value{}, r.mistake("more than one value")
	}
	return v, nil
}
