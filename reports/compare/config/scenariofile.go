package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"lockcheck/reports/compare"
)

// ReadScenario reads a scenario's file. Its errors are those of Read.
func ReadScenario(path, name string, known Known) (Scenario, error) {
	text, err := readText(path)
	if err != nil {
		return Scenario{}, err
	}
	return ParseScenario(path, name, text, known)
}

// ParseScenario is ReadScenario of a text at hand.
func ParseScenario(path, name string, text []byte, known Known) (Scenario, error) {
	r := &scenarioReader{reader: reader{path: path, known: known}, scenario: Scenario{Name: name, File: path}}
	r.spec.Places = compare.NewPlaces()
	err := r.read(text, "the file is empty", r.file)
	r.scenario.places = r.spec.Places
	return r.scenario, err
}

// scenarioReader reads a scenario with the rules of the file of a comparison.
type scenarioReader struct {
	reader
	scenario Scenario
}

// file reads the failure before the contrast, which changes it, in any order of the file.
func (r *scenarioReader) file(node *yaml.Node) {
	s := &r.scenario
	var contrast *yaml.Node
	failure := r.half(node, "the scenario", Failure, Half{Name: Failure}, []field{
		{"title", r.word(&s.Title, "title")},
		{"reference", r.word(&s.Reference, "reference")},
		{"teaches", r.word(&s.Teaches, "teaches")},
		{"fixed-in", r.word(&s.FixedIn, "fixed-in")},
		{"measured", func(_, value *yaml.Node) { s.Measured = r.measured(value) }},
		{"contrast", func(_, value *yaml.Node) { contrast = value }},
	})
	s.Failure = failure
	if node.Kind != yaml.MappingNode {
		return
	}
	for _, must := range []struct {
		name    string
		missing bool
	}{
		{"title", s.Title == "" && !has(node, "title")},
		{"reference", s.Reference == "" && !has(node, "reference")},
		{"teaches", s.Teaches == "" && !has(node, "teaches")},
		{"backend", !has(node, "backend")},
		{"nemesis", !has(node, "nemesis")},
		{"expect", !has(node, "expect")},
		{"contrast", contrast == nil},
	} {
		if must.missing {
			r.errorf(node, "the scenario needs %s", must.name)
		}
	}
	if expect := valueOf(node, "expect"); expect != nil && len(failure.Expect) == 0 && len(r.errs) == 0 {
		r.errorf(expect, "expect names no property, so that every run would reproduce the scenario")
	}
	if contrast == nil {
		return
	}
	// What ends the failure's load early is found in no run of the contrast.
	base := failure
	base.Name, base.Expect = Contrast, nil
	base.Flags = without(base.Flags, compare.FlagUntil)
	s.Contrast = r.half(contrast, "contrast", Contrast, base, []field{{"because", r.word(&base.Because, "because")}})
	s.Contrast.Because = base.Because
	if contrast.Kind != yaml.MappingNode {
		return
	}
	for _, name := range []string{"because", "expect"} {
		if !has(contrast, name) {
			r.errorf(contrast, "contrast needs %s", name)
		}
	}
}

// half reads the flags of one run and what is expected of it, on top of a base, and hands the other keys on. A key without a value
// takes what the base has of it away.
func (r *scenarioReader) half(node *yaml.Node, what string, name HalfName, base Half, other []field) Half {
	h := base
	h.Flags = slices.Clone(base.Flags)
	set := func(flag string, read func(value *yaml.Node) []compare.Flag) field {
		return field{flag, func(_, value *yaml.Node) {
			h.Flags = without(h.Flags, flag)
			if flag == client {
				h.Library = ""
			}
			if name == Contrast && value.Tag == "!!null" {
				return
			}
			h.Flags = append(h.Flags, read(value)...)
		}}
	}
	fields := []field{
		set("backend", func(value *yaml.Node) []compare.Flag {
			r.spec.Places.Backends[string(Contrast)] = placeOf(value) // until the contrast names another
			return r.named("backend", value, r.spec.Places.Backends, string(name), r.oneOf("backend", r.known.Backends))
		}),
		set("nemesis", func(value *yaml.Node) []compare.Flag {
			return r.named("nemesis", value, r.spec.Places.Nemeses, value.Value, func(at *yaml.Node, word string) {
				if err := r.known.Nemesis(word); err != nil {
					r.errorf(at, "nemesis %q: %v", word, err)
				}
			})
		}),
		set("workload", func(value *yaml.Node) []compare.Flag {
			return r.named("workload", value, r.spec.Places.Workloads, value.Value, r.oneOf("workload", r.known.Workloads))
		}),
	}
	places := map[HalfName]string{Failure: "", Contrast: string(Contrast)}[name] // what the contrast does not set stands with the failure
	for _, s := range r.known.Settings {
		fields = append(fields, set(s.Name, func(value *yaml.Node) []compare.Flag { return r.setting(s, places, value) }))
	}
	fields = append(fields, set(client, func(value *yaml.Node) []compare.Flag { return r.library(value, places, &h) }).as("library"))
	fields = append(fields, field{"expect", func(_, value *yaml.Node) { h.Expect = r.expect(value) }})
	r.mapping(node, what, append(fields, other...))
	return h
}

// LibrariesDir is where scripts/libraries keeps the lock clients that it builds, from the root of a checkout.
const LibrariesDir = ".cache/libraries"

// as is the same field under another name.
func (f field) as(name string) field { return field{name, f.read} }

// library reads the name of a lock client that is built by scripts/libraries, and its arguments.
func (r *scenarioReader) library(node *yaml.Node, places string, h *Half) []compare.Flag {
	word, ok := r.scalar(node, "library")
	if !ok {
		return nil
	}
	h.Library, _, _ = strings.Cut(word, " ")
	f := compare.Flag{Name: client, Value: "./" + LibrariesDir + "/" + word}
	r.spec.Places.SetFlag(places, f, placeOf(node))
	return []compare.Flag{f}
}

// client is the flag that names a lock client.
const client = "client"

// named reads a flag whose place depends on its value.
func (r *scenarioReader) named(flag string, node *yaml.Node, places map[string]compare.Place, key string, check func(*yaml.Node, string)) []compare.Flag {
	word, ok := r.scalar(node, flag)
	if !ok {
		return nil
	}
	check(node, word)
	places[key] = placeOf(node)
	return []compare.Flag{{Name: flag, Value: word}}
}

// word reads a text.
func (r *reader) word(to *string, what string) func(key, value *yaml.Node) {
	return func(_, value *yaml.Node) { *to, _ = r.scalar(value, what) }
}

// expect reads what is expected of each property: verdicts as in the file of a comparison, or `{verdict: violation, cause: KIND}`.
func (r *scenarioReader) expect(node *yaml.Node) (all []Expected) {
	r.each(node, "expect", func(key, value *yaml.Node) {
		e := Expected{}
		if value.Kind != yaml.MappingNode {
			e.Wanted = r.wantedOf(key, value)
			all = append(all, e)
			return
		}
		r.mapping(value, "what is expected of "+key.Value, []field{
			{"verdict", func(_, v *yaml.Node) { e.Wanted = r.wantedOf(key, v) }},
			{"cause", r.word(&e.Cause, "cause")},
		})
		if !has(value, "verdict") {
			r.errorf(value, "what is expected of %s needs verdict", key.Value)
		}
		all = append(all, e)
	})
	return all
}

// maxSeeds bounds what a slip of the finger can claim.
const maxSeeds = 100_000

func (r *scenarioReader) measured(node *yaml.Node) *Measured {
	var m Measured
	number := func(to *int, what string) func(key, value *yaml.Node) {
		return func(_, value *yaml.Node) {
			n, err := strconv.Atoi(value.Value)
			if value.Kind != yaml.ScalarNode || err != nil || n < 0 || n > maxSeeds {
				r.errorf(value, "%s is a number from 0 to %d, not %s", what, maxSeeds, kindOf(value))
				return
			}
			*to = n
		}
	}
	before := len(r.errs)
	r.mapping(node, "measured", []field{
		{"seeds", number(&m.Seeds, "seeds")},
		{"reproduced", number(&m.Reproduced, "reproduced")},
		{"date", func(_, value *yaml.Node) {
			if _, err := time.Parse(time.DateOnly, value.Value); err != nil {
				r.errorf(value, "date is a day such as 2026-01-31, not %s", kindOf(value))
			}
			m.Date = value.Value
		}},
	})
	if len(r.errs) == before && (m.Seeds == 0 || m.Date == "" || m.Reproduced > m.Seeds) {
		r.errorf(node, "measured needs seeds, reproduced and date, and no more are reproduced than seeds were run")
	}
	return &m
}

func has(node *yaml.Node, key string) bool { return valueOf(node, key) != nil }

// valueOf is the value of a key of a mapping; nil if it has none.
func valueOf(node *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

func without(flags []compare.Flag, name string) []compare.Flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f compare.Flag) bool { return f.Name == name })
}
