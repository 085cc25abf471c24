package config

import (
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
