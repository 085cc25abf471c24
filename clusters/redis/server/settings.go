package server

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Setting is one of a server's settings: its official name, what it is unless somebody says otherwise, and what a value
// has to look like.
type Setting struct {
	Name, Usual, About string
	Check              func(value string) error
}

// Persistence is what decides how much a server forgets when it is started again. All of it is as Redis does it by
// default, which is also what most servers that only hold locks run with: no append-only file, snapshots now and then.
var Persistence = []Setting{
	{"appendonly", "no", "write an append-only file", Toggle},
	{"appendfsync", "everysec", "when that file is synced: always, everysec, no", Choice("always", "everysec", "no")},
	{"save", "3600 1 300 100 60 10000", "snapshots: seconds and changes, in pairs; none: never", saves},
}

// Memory is what a server does when it is full, and how often it looks after itself.
var Memory = []Setting{
	{"maxmemory", "0", "bytes of data that a server takes; 0: no limit", Number(0, 1<<40)},
	{"maxmemory-policy", "noeviction", "what goes when it is full; anything but noeviction may evict a lock", Choice(
		"noeviction", "allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl")},
	{"hz", "10", "background rounds a second, in which expired keys are removed that nobody asks for", Number(1, 500)},
}

// noSaves is how --set says that there are no snapshots: an empty value would look like a slip.
const noSaves = "none"

// Number checks for a whole number from least to most.
func Number(least, most int64) func(string) error {
	return func(value string) error {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < least || n > most {
			return fmt.Errorf("%q is no whole number from %d to %d", value, least, most)
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

// Toggle checks for yes or no.
func Toggle(value string) error { return Choice("yes", "no")(value) }

func saves(value string) error {
	if value == noSaves {
		return nil
	}
	words := strings.Fields(value)
	for _, word := range words {
		if Number(1, 1<<31)(word) != nil {
			words = nil
		}
	}
	if len(words) == 0 || len(words)%2 != 0 {
		return fmt.Errorf("%q is neither pairs of seconds and changes (%q) nor %s", value, "3600 1 300 100", noSaves)
	}
	return nil
}

// Resolve completes what was asked for with what is usual. The error names everything that is wrong.
func Resolve(table []Setting, asked map[string]string) (map[string]string, error) {
	var errs []error
	var names []string
	for _, s := range table {
		names = append(names, s.Name)
	}
	for name := range asked {
		if !slices.Contains(names, name) {
			errs = append(errs, fmt.Errorf("there is no setting %q; there are: %s", name, strings.Join(names, ", ")))
		}
	}
	all := map[string]string{}
	for _, s := range table {
		value, ok := asked[s.Name]
		if !ok {
			value = s.Usual
		}
		if err := s.Check(value); err != nil {
			errs = append(errs, fmt.Errorf("setting %s: %w", s.Name, err))
		}
		all[s.Name] = value
	}
	return all, errors.Join(errs...)
}

// Lines are the settings of a table as lines of a configuration file.
func Lines(table []Setting, values map[string]string) []string {
	var lines []string
	for _, s := range table {
		value := values[s.Name]
		if s.Name != "save" {
			lines = append(lines, s.Name+" "+value)
			continue
		}
		if value == noSaves {
			lines = append(lines, `save ""`)
			continue
		}
		for pair := range slices.Chunk(strings.Fields(value), 2) {
			lines = append(lines, "save "+strings.Join(pair, " "))
		}
	}
	return lines
}
