package config

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is a mistake in the file, at a place in it.
type Error struct {
	File         string
	Line, Column int // from 1; 0 for the file as a whole
	Text         string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text)
}

// Mistakes are all that is wrong with a comparison, in the order of its file. There is at least one.
type Mistakes []*Error

// Error has a line for each, behind a head line if there are several: editors and CI find the places by the lines' beginnings.
func (m Mistakes) Error() string {
	var lines []string
	if len(m) > 1 {
		lines = []string{fmt.Sprintf("%d mistakes:", len(m))}
	}
	for _, e := range m {
		lines = append(lines, e.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes each of them one that errors.As finds.
func (m Mistakes) Unwrap() []error {
	all := make([]error, len(m))
	for i, e := range m {
		all[i] = e
	}
	return all
}

// With adds what else was found. A place that has a mistake already gets no other: it would follow from the first.
func (m Mistakes) With(more ...*Error) Mistakes {
	all := slices.Clone(m)
	for _, e := range more {
		if !slices.ContainsFunc(m, func(known *Error) bool { return known.Line == e.Line && known.Column == e.Column }) {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all
}

// syntaxError says where, as far as yaml does: "yaml: line 3: did not find expected key".
func syntaxError(path string, file []byte, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &Error{File: path, Text: text}
	if n, _ := fmt.Sscanf(text, "line %d:", &e.Line); n == 1 {
		_, e.Text, _ = strings.Cut(text, ": ")
		e.Column = 1
	}
	e.Text = "this is no YAML: " + e.Text + plainWords(e.Text, e.Line, file)
	return e
}

// indentation is what yaml says of lines that are indented to where nothing began. The line that it names is where the block
// begins that it was reading, before the mistake.
var indentation = []string{"did not find expected key", "did not find expected '-' indicator"}

// plainWords are what a message of yaml's most often means, for who does not know how it reads; "" if it says enough.
func plainWords(message string, line int, file []byte) string {
	if indentedWithTab(file, line) {
		return fmt.Sprintf("; line %d is indented with a tab; YAML wants spaces", line)
	}
	for _, says := range indentation {
		if message == says {
			return "; look at the indentation here and on the next lines"
		}
	}
	switch {
	case message != "mapping values are not allowed in this context":
		return ""
	case line == 0:
		return "; a value with a colon and a space in it needs quotes"
	}
	return "; look at the indentation here and on the line before; a value with a colon and a space in it needs quotes"
}

// indentedWithTab reports whether a line, from 1, has a tab before its first word.
func indentedWithTab(file []byte, line int) bool {
	lines := bytes.Split(file, []byte("\n"))
	if line < 1 || line > len(lines) {
		return false
	}
	text := lines[line-1]
	return bytes.ContainsRune(text[:len(text)-len(bytes.TrimLeft(text, " \t"))], '\t')
}
