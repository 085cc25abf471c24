//go:build e2e

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/reports/compare/config"
)

// A checker of YAML files that is not lockcheck's takes the example, and shows what is wrong with another.
func TestTheSchemaWithAnotherChecker(t *testing.T) {
	const program = `
import json, sys, yaml, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
for e in jsonschema.Draft7Validator(schema).iter_errors(yaml.safe_load(open(sys.argv[2]))):
    print("/".join(map(str, e.absolute_path)) + ": " + e.message)
`
	python := "/usr/bin/python3" // Debian's modules are its own
	if err := exec.Command(python, "-c", "import yaml, jsonschema").Run(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s has no module yaml or jsonschema", python)
		}
		t.Skipf("%s has no module yaml or jsonschema", python)
	}
	dir := t.TempDir()
	text, _ := schemaOf(t)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	schema := write(config.SchemaName, text)
	for name, c := range map[string]struct{ text, want string }{
		"the example":        {config.Example, ""},
		"this project's own": {ownComparison(t), ""},
		"a slip of the pen":  {strings.Replace(config.Example, "clients: 5", "cliens: 5", 1), "defaults: Additional properties are not allowed ('cliens' was unexpected)\n"},
		"one client":         {strings.Replace(config.Example, "clients: 5", "clients: 1", 1), "defaults/clients: 1 is less than the minimum of 2\n"},
	} {
		out, err := exec.Command(python, "-c", program, schema, write("lockcheck.yaml", c.text)).CombinedOutput()
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %v, said\n%s", name, err, out)
		}
	}
}
