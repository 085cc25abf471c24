package flatjson

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// Codec writes and reads values of a struct as lines. Its fields are those that encoding/json would take, in their order, with
// their names and omitempty. A string tagged `flat:"text"` is not likely to be met again: a Reader keeps no copy of it. A field
// tagged `flat:"-"` is left out by Append and refused by Read: lines that have it are for encoding/json.
type Codec[T any] struct{ fields []field }

type field struct {
	name   string // as a line has it: quoted, with its colon
	kind   kind
	offset uintptr
	omit   bool // if it is empty
}

type kind uint8

const (
	integer kind = iota
	word
	text
	words
	boolean
	maybe
)

// NewCodec panics if T has a field of a type that no flat object can have, without a name, or with another option than omitempty.
func NewCodec[T any]() *Codec[T] {
	c := &Codec[T]{}
	for f := range reflect.TypeFor[T]().Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || f.Tag.Get("flat") == "-" {
			continue
		}
		kind, ok := kindOf(f)
		if !ok || name == "" {
			panic(fmt.Sprintf("%v.%s: no field of a flat object", reflect.TypeFor[T](), f.Name))
		}
		if options != "" && options != "omitempty" {
			panic(fmt.Sprintf("%v.%s: option %q is not supported: use omitempty or none", reflect.TypeFor[T](), f.Name, options))
		}
		c.fields = append(c.fields, field{`"` + name + `":`, kind, f.Offset, options == "omitempty"})
	}
	return c
}

func kindOf(f reflect.StructField) (k kind, ok bool) {
	switch kind := f.Type.Kind(); {
	case kind == reflect.Int64:
		return integer, true
	case kind == reflect.String && f.Tag.Get("flat") == "text":
		return text, true
	case kind == reflect.String:
		return word, true
	case kind == reflect.Bool:
		return boolean, true
	case f.Type == reflect.TypeFor[[]string]():
		return words, true
	case f.Type == reflect.TypeFor[*bool]():
		return maybe, true
	}
	return 0, false
}

// Append appends v as one object, without a newline.
func (c *Codec[T]) Append(dst []byte, v *T) []byte {
	o := object{dst: append(dst, '{')}
	for i := range c.fields {
		f := &c.fields[i]
		at := unsafe.Add(unsafe.Pointer(v), f.offset)
		switch f.kind {
		case integer:
			if n := *(*int64)(at); n != 0 || !f.omit {
				o.integer(f.name, n)
			}
		case word, text:
			if s := *(*string)(at); s != "" || !f.omit {
				o.text(f.name, s)
			}
		case words:
			if list := *(*[]string)(at); len(list) > 0 || !f.omit {
				o.words(f.name, list)
			}
		case boolean:
			if is := *(*bool)(at); is || !f.omit {
				o.boolean(f.name, is)
			}
		case maybe:
			if is := *(**bool)(at); is != nil {
				o.boolean(f.name, *is)
			}
		}
	}
	return append(o.dst, '}')
}

// Read reads a line that Append wrote. It returns false for anything else; what v has by then means nothing.
func (c *Codec[T]) Read(r *Reader, line []byte, v *T) bool {
	return r.object(line, c.fields, unsafe.Pointer(v))
}

// value reads one of a kind to where it stands.
func (r *Reader) value(kind kind, at unsafe.Pointer) bool {
	switch kind {
	case integer:
		return r.integer((*int64)(at))
	case word:
		return r.word((*string)(at))
	case text:
		return r.text((*string)(at))
	case words:
		return r.wordList((*[]string)(at))
	case boolean:
		return r.boolean((*bool)(at))
	case maybe:
		return r.maybe((**bool)(at))
	}
	return false
}
