package config

import (
	"strings"
	"testing"
)

// Who does not know YAML's own words learns what to look at.
func TestMistakesOfYAMLInPlainWords(t *testing.T) {
	const tab, here = "is indented with a tab; YAML wants spaces", "; look at the indentation here and on the next lines"
	for name, test := range map[string]struct{ text, want string }{
		"a tab":                         {"backends:\n\tetcd: {}\n", "l.yaml:2:1: this is no YAML: found character that cannot start any token; line 2 " + tab},
		"a tab after spaces, deeper":    {"# mine\n\nbackends:\n  etcd:\n  \t  client: x\n", "l.yaml:5:1: this is no YAML: found character that cannot start any token; line 5 " + tab},
		"a tab below a word":            {"repeat: 3\n\tmatrix: {}\n", "; line 2 " + tab},
		"back to where nothing began":   {"backends:\n  etcd: {}\nmatrix:\n  nemeses: [none]\n workloads: [lock]\n", "did not find expected key" + here},
		"the same in a list":            {"expectations:\n  - nemesis: pause\n   expect: {}\n", "did not find expected '-' indicator" + here},
		"too deep":                      {"expectations:\n  - nemesis: pause\n     expect: {}\n", "; look at the indentation here and on the line before; a value with a colon"},
		"a colon in a value":            {"repeat: 3: 4\n", "this is no YAML: mapping values are not allowed in this context; a value with a colon and a space in it needs quotes"},
		"a bracket, which says enough":  {"repeat: [3\n", "this is no YAML: did not find expected ',' or ']'"},
		"a character that is not a tab": {"repeat: @3\n", "this is no YAML: found character that cannot start any token"},
		"a tab elsewhere is not blamed": {"#\tmine\nrepeat: [3\n", "did not find expected ',' or ']'"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("l.yaml", []byte(test.text), menu)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("said %v; want %s", err, test.want)
			}
			if enough := !strings.Contains(test.want, ";"); enough && !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("said %v; want no more than %s", err, test.want)
			}
		})
	}
}
