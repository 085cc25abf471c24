package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"lockcheck/reports/compare/config"
)

// node is a value of a JSON text, and where it begins.
type node struct {
	at     int        // offset
	value  json.Token // nil, bool, json.Number, string; or json.Delim, of { or [
	fields []field
	items  []*node
}

type field struct {
	name string
	at   int
	node *node
}

// find is the value of a field; nil if there is none.
func (n *node) find(name string) *node {
	for _, f := range n.fields {
		if f.name == name {
			return f.node
		}
	}
	return nil
}

// what says what kind of value it is.
func (n *node) what() string {
	switch value := n.value.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(value)
	case json.Number:
		return "the number " + value.String()
	case string:
		return fmt.Sprintf("the text %q", value)
	case json.Delim:
		if value == '{' {
			return "an object"
		}
	}
	return "a list"
}

// parser reads a text into nodes. encoding/json alone says of no value where it is.
type parser struct {
	path    string
	text    []byte
	decoder *json.Decoder
}

func parse(path string, text []byte) (*node, error) {
	p := &parser{path, text, json.NewDecoder(bytes.NewReader(text))}
	if err := p.valid(); err != nil {
		return nil, err
	}
	p.decoder.UseNumber()
	return p.next(0)
}

// valid says what is no JSON. The decoder counts its offsets from the last token, this from the beginning.
func (p *parser) valid() error {
	var whole json.RawMessage
	err := json.Unmarshal(p.text, &whole)
	var syntax *json.SyntaxError
	if err == nil || !errors.As(err, &syntax) {
		return err
	}
	if int(syntax.Offset) >= len(bytes.TrimSpace(p.text)) && strings.HasPrefix(err.Error(), "unexpected end") {
		return p.mistake(len(p.text), "this is no JSON: it ends too early")
	}
	return p.mistake(max(int(syntax.Offset)-1, 0), "this is no JSON: "+err.Error())
}

// maxDepth is more than any plan has.
const maxDepth = 20

func (p *parser) next(depth int) (*node, error) {
	n := &node{at: p.ahead()}
	if depth > maxDepth {
		return nil, p.mistake(n.at, "more is nested here than in any plan")
	}
	var err error
	if n.value, err = p.decoder.Token(); err != nil {
		return nil, err
	}
	switch n.value {
	case json.Delim('{'):
		for p.decoder.More() {
			at := p.ahead()
			name, err := p.decoder.Token()
			if err != nil {
				return nil, err
			}
			f := field{name: name.(string), at: at}
			if n.find(f.name) != nil {
				return nil, p.mistake(at, fmt.Sprintf("%s is there twice", f.name))
			}
			if f.node, err = p.next(depth + 1); err != nil {
				return nil, err
			}
			n.fields = append(n.fields, f)
		}
		_, err = p.decoder.Token()
	case json.Delim('['):
		for p.decoder.More() {
			item, err := p.next(depth + 1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		_, err = p.decoder.Token()
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

// ahead is where the next token begins.
func (p *parser) ahead() int {
	at := int(p.decoder.InputOffset())
	for at < len(p.text) && bytes.IndexByte([]byte(" \t\r\n,:"), p.text[at]) >= 0 {
		at++
	}
	return at
}

func (p *parser) mistake(at int, text string) error { return mistake(p.path, p.text, at, text) }

// mistake is an error at a place of a text.
func mistake(path string, text []byte, at int, words string) *config.Error {
	before := text[:min(at, len(text))]
	line := bytes.Count(before, []byte("\n")) + 1
	begins := bytes.LastIndexByte(before, '\n') + 1
	return &config.Error{File: path, Line: line, Column: utf8.RuneCount(before[begins:]) + 1, Text: words}
}
