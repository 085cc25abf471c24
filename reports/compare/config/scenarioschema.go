package config

import (
	"fmt"

	"lockcheck/checker"
)

// ScenarioSchema describes a scenario's file for editors, as Schema does the file of a comparison.
func ScenarioSchema(known Known, menu Menu) map[string]any {
	s := schema{known, menu, node{}}
	failure := s.half(nil)
	properties := failure["properties"].(node)
	for name, about := range map[string]string{
		"title": "What happens, in a line.", "reference": "Where it happened: an issue, an article, or who saw it.",
		"teaches": "What there is to learn from it.", "fixed-in": "The first version that does not fail so.",
	} {
		properties[name] = described(about, word())
	}
	count := func(about string) node {
		return described(about, node{"type": []string{"integer", "string"}, "minimum": 0, "maximum": maxSeeds, "pattern": "^[+]?[0-9]+$"})
	}
	properties["measured"] = node{
		"description": "In how many runs, each with a seed of its own, it was reproduced when that was last measured.",
		"type":        "object", "additionalProperties": false, "required": []string{"seeds", "reproduced", "date"},
		"properties": node{
			"seeds": count("How many runs were made."), "reproduced": count("In how many of them it was reproduced."),
			"date": node{"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
		},
	}
	contrast := s.half(nullable)
	contrast["description"] = "The nearest run that does not fail: what differs from the failure's. A key without a value takes the failure's away."
	contrast["required"] = []string{"because", "expect"}
	contrast["properties"].(node)["because"] = described("Why it does not fail.", word())
	properties["contrast"] = contrast
	properties["expect"].(node)["minProperties"] = 1
	failure["definitions"], failure["$schema"], failure["title"] = s.definitions, draft, "a scenario of lockcheck gallery"
	failure["description"] = "A known failure of a lock: a run that shows it, and the nearest run that does not fail."
	failure["required"] = []string{"title", "reference", "teaches", "backend", "nemesis", "expect", "contrast"}
	return failure
}

// nullable is a value that may be left out behind its key.
func nullable(value node) node { return node{"anyOf": []node{value, {"type": "null"}}} }

// half are the flags of one run and what is expected of it; wrap is put around the flags' values.
func (s schema) half(wrap func(node) node) node {
	own := node{
		"backend":  described("The lock service.", enum(s.menu.Backends)),
		"nemesis":  s.nemesis(),
		"workload": described("What clients do.", enum(s.menu.Workloads)),
	}
	half := s.flags("", own)
	properties := half["properties"].(node)
	properties["library"] = described("Instead of client: a lock client that scripts/libraries builds, with its arguments.", word())
	if wrap != nil {
		for name, value := range properties {
			properties[name] = wrap(value.(node))
		}
	}
	properties["expect"] = s.halfExpect()
	return half
}

func (s schema) halfExpect() node {
	properties := node{}
	for _, name := range checker.Names() {
		d := checker.Describe(name)
		verdicts := oneOrMore("", s.define("verdict", enum(verdictChoices())))
		caused := node{
			"type": "object", "additionalProperties": false, "required": []string{"verdict"},
			"properties": node{"verdict": verdicts, "cause": described("The kind of cause that one of its findings has to have.", word())},
		}
		properties[string(name)] = node{"description": fmt.Sprintf("%s (layer: %s)", d.Meaning, d.Layer), "anyOf": []node{verdicts, caused}}
	}
	return node{
		"description": "What has to come, by property. A run of which no violation is expected must have none at all.",
		"type":        "object", "additionalProperties": false, "properties": properties,
	}
}
