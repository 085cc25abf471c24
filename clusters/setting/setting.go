// Package setting is how a backend's servers are set: a visible table of what can be set, and what is made of what users ask.
package setting

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockcheck/checker/history"
)

// Setting is one of a server's settings: its official name, its default, and which values
// make sense.
type Setting struct {
	Name, Default, About string
	Check                func(value string) error
}

// Table is all that can be set.
type Table []Setting

// Resolve completes what was asked for with the defaults. The error names everything that is wrong.
func (t Table) Resolve(asked map[string]string) (map[string]string, error) {
	var errs []error
	names := t.names()
	for name := range asked {
		if !slices.Contains(names, name) {
			errs = append(errs, history.Unknown("setting", name, names))
		}
	}
	all := map[string]string{}
	for _, s := range t {
		value, ok := asked[s.Name]
		if !ok {
			value = s.Default
		}
		if err := s.Check(value); err != nil {
			errs = append(errs, fmt.Errorf("setting %s: %w", s.Name, err))
		}
		all[s.Name] = value
	}
	return all, errors.Join(errs...)
}

func (t Table) names() []string {
	var names []string
	for _, s := range t {
		names = append(names, s.Name)
	}
	return names
}

// Number checks for a whole number in [from, to], in the one spelling that all servers read alike: +5 is refused by
// some, and 010 is 8 to others.
func Number(from, to int64) func(string) error {
	return func(value string) error {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != value || n < from || n > to {
			return fmt.Errorf("%q is no whole number from %d to %d", value, from, to)
		}
		return nil
	}
}

// Choice checks for one of some words.
func Choice(words ...string) func(string) error {
	return func(value string) error {
		if !slices.Contains(words, value) {
			return fmt.Errorf("%q is none of %s", value, strings.Join(words, ", "))
		}
		return nil
	}
}
