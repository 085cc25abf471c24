package config

import (
	"fmt"
	"strings"

	"lockcheck/checker"
	"lockcheck/checker/model"
	"lockcheck/reports/compare"
	"lockcheck/reports/rate"
)

// Choice is a value that a key can have, in words.
type Choice struct{ Name, About string }

// Menu is what a schema says of the values that Known takes.
type Menu struct {
	Backends           []Choice
	Clients            map[string][]Choice // of a backend
	Workloads, Nemeses []Choice
	NemesisPattern     string // of a description of faults
	ClientPattern      string // of a lock client of the user's own
}

// node is a part of a schema.
type node = map[string]any

// draft is the one that YAML's language servers and checkers have in common. In it nothing may stand beside $ref.
const draft = "http://json-schema.org/draft-07/schema#"

// Schema describes the file for editors, as JSON Schema. It refuses no file that Parse takes; what one part of a file says of
// another, what a backend makes of its settings, and how long a time is, only Parse and lockcheck compare refuse.
func Schema(known Known, menu Menu) map[string]any {
	s := schema{known, menu, node{}}
	return node{
		"definitions": s.definitions,
		"$schema":     draft, "title": Name,
		"description": "What lockcheck compare runs, and what is expected to come of it.",
		"type":        "object", "additionalProperties": false, "required": []string{"backends", "matrix"},
		"properties": node{
			"defaults":     s.flags("For every run: flags of lockcheck run.", nil),
			"backends":     s.backends(),
			"matrix":       s.matrix(),
			"exclude":      node{"description": "Cells that are not run.", "type": "array", "items": s.pattern("Picks cells; what is not named is any.", nil, nil)},
			"repeat":       repeat("The most runs of a cell; where a violation is expected they stop at the first hit."),
			"expectations": node{"description": "What is expected, exactly: what is listed has to come, and nothing that is not listed may be violated.", "type": "array", "items": s.expectation()},
		},
	}
}

type schema struct {
	known       Known
	menu        Menu
	definitions node // what stands in several places
}

// define gives a part of the schema a name, and refers to it.
func (s schema) define(name string, value node) node {
	s.definitions[name] = value
	return node{"$ref": "#/definitions/" + name}
}

// flags is a mapping of flags of lockcheck run, and of other keys.
func (s schema) flags(description string, other node) node {
	properties := node{}
	for _, setting := range s.known.Settings {
		properties[setting.Name] = s.define(setting.Name, described(setting.Help, setting.schema()))
	}
	for name, value := range other {
		properties[name] = value
	}
	return node{"description": description, "type": "object", "additionalProperties": false, "properties": properties}
}

func (s Setting) schema() node {
	value := s.Schema
	if value == nil {
		value = word()
	}
	if s.List {
		return node{"anyOf": []node{value, {"type": "array", "items": value}}}
	}
	if s.Pairs {
		return node{"type": "object", "additionalProperties": value}
	}
	return value
}

// backends are entries that may be called like a lock service, and those of other names, which have to say which one they are.
func (s schema) backends() node {
	entries := node{}
	for _, b := range s.menu.Backends {
		entry := s.backend(b.About)
		entry["type"] = []string{"object", "null"}
		entry["allOf"] = append(entry["allOf"].([]node), node{
			"if": node{"not": node{"required": []string{"backend"}}}, "then": s.clientsOf(b.Name),
		})
		entries[b.Name] = entry
	}
	own := s.backend("A lock service under a name of your own.")
	own["required"] = []string{"backend"}
	return node{
		"description": "What is compared: lock services by their names, or names of your own with backend: beside them.",
		"type":        "object", "minProperties": 1, "properties": entries, "additionalProperties": own,
	}
}

// backend is what can be set for one entry. Its client follows from the lock service that it names.
func (s schema) backend(description string) node {
	entry := s.flags(description, node{"backend": described("The lock service.", enum(s.menu.Backends))})
	var clients []node
	for _, b := range s.menu.Backends {
		clients = append(clients, node{
			"if":   node{"required": []string{"backend"}, "properties": node{"backend": node{"const": b.Name}}},
			"then": s.clientsOf(b.Name),
		})
	}
	entry["allOf"] = clients
	return entry
}

func (s schema) clientsOf(backend string) node {
	own := node{"type": "string", "pattern": s.menu.ClientPattern, "description": "a program that speaks the client protocol"}
	return node{"properties": node{"client": s.define("client-of-"+backend, node{"anyOf": []node{enum(s.menu.Clients[backend]), own}})}}
}

func (s schema) matrix() node {
	properties := node{
		"backends":  oneOrMore("Only these of the entries of backends, in this order.", word()),
		"nemeses":   oneOrMore("What disturbs the holders: names, or descriptions such as pause:holder@work,1.5ttl (lockcheck list has the grammar).", s.nemesis()),
		"workloads": oneOrMore("What clients do.", enum(s.menu.Workloads)),
	}
	for _, a := range compare.Axes {
		properties[a.Plural] = oneOrMore(a.About, s.value(a))
	}
	return node{
		"description": "Every backend under every nemesis with every workload.",
		"type":        "object", "additionalProperties": false, "required": []string{"nemeses", "workloads"},
		"properties": properties,
	}
}

// value is what the flag of an axis takes.
func (s schema) value(a compare.Axis) node {
	for _, setting := range s.known.Settings {
		if setting.Name == a.Flag {
			return setting.schema()
		}
	}
	return word()
}

func (s schema) nemesis() node {
	described := node{
		"type": "string", "pattern": s.menu.NemesisPattern,
		"patternErrorMessage": "This is no nemesis: KIND[:TARGET[-OTHER SIDE]][+SHIFT][@TRIGGER][,OPTION...]; lockcheck list has all words",
	}
	return s.define("nemesis", node{"anyOf": []node{enum(s.menu.Nemeses), described}})
}

// pattern picks cells, and has other keys.
func (s schema) pattern(description string, required []string, other node) node {
	properties := node{
		"backend":  oneOrMore("These entries of the matrix (default: all).", word()),
		"nemesis":  oneOrMore("These nemeses of the matrix, as they stand there (default: all).", s.nemesis()),
		"workload": oneOrMore("These workloads of the matrix (default: all).", enum(s.menu.Workloads)),
	}
	for _, a := range compare.Axes {
		properties[a.Flag] = oneOrMore(a.Picked, s.value(a))
	}
	for name, value := range other {
		properties[name] = value
	}
	all := node{"description": description, "type": "object", "additionalProperties": false, "properties": properties}
	if required != nil {
		all["required"] = required
	}
	return all
}

func (s schema) expectation() node {
	properties := node{}
	for _, name := range checker.Names() {
		d := checker.Describe(name)
		wanted := oneOrMore(fmt.Sprintf("%s (layer: %s)", d.Meaning, d.Layer), s.define("verdict", enum(verdictChoices())))
		wanted["anyOf"] = append(wanted["anyOf"].([]node), s.define("rate", rateSchema()))
		properties[string(name)] = wanted
	}
	return s.pattern("What is expected of the cells that it picks.", []string{"expect", "reason"}, node{
		"expect": node{
			"description": "What has to come, by property; {} is that nothing is violated. Of a list of verdicts any will do, in every run.",
			"type":        "object", "additionalProperties": false, "properties": properties,
		},
		"reason": described("Why it is so, for the next reader.", word()),
		"repeat": repeat("The most runs of these cells."),
	})
}

// verdictWords say what it takes to meet the expectation of a verdict alone.
var verdictWords = map[model.Verdict]string{
	model.Violation:     "has to come in at least one of the runs",
	model.Masked:        "has to come in at least one of the runs, and no violation in any",
	model.Pass:          "in all runs",
	model.NotApplicable: "in all runs",
}

func verdictChoices() (all []Choice) {
	for _, v := range compare.Expectable {
		all = append(all, Choice{string(v), verdictWords[v]})
	}
	return all
}

func rateSchema() node {
	return node{"type": "object", "additionalProperties": false, "required": []string{"rate"}, "properties": node{
		"rate": node{"type": "string", "pattern": rate.BoundPattern, "description": "In how many of the runs it has to be violated: at least (>=0.8), or at most (<=0.05). The 95 % interval has to show it."},
	}}
}

func repeat(description string) node {
	return node{"description": description, "type": []string{"integer", "string"}, "minimum": 1, "maximum": rate.MaxRuns, "pattern": "^[+]?[0-9]+$"}
}

// word is any scalar that is not empty: YAML makes numbers and booleans of some.
func word() node { return node{"type": []string{"string", "number", "boolean"}, "minLength": 1} }

func oneOrMore(description string, item node) node {
	return node{"description": description, "anyOf": []node{item, {"type": "array", "minItems": 1, "uniqueItems": true, "items": item}}}
}

// enum is one of these words; enumDescriptions is for editors, and means nothing to others.
func enum(choices []Choice) node {
	names, about := []string{}, []string{}
	for _, c := range choices {
		names, about = append(names, c.Name), append(about, c.About)
	}
	return node{"enum": names, "enumDescriptions": about}
}

func described(description string, value node) node {
	all := node{"description": strings.ReplaceAll(description, "`", "")}
	for key, v := range value {
		all[key] = v
	}
	return all
}
