package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/rundir"
)

// schemaOf is what lockcheck schema prints, and compiled.
func schemaOf(t *testing.T, flags ...string) (string, *jsonschema.Schema) {
	t.Helper()
	got := lockcheck(t, append([]string{"schema"}, flags...)...)
	if got.code != exitPass {
		t.Fatalf("exit %d: %s", got.code, got.stderr)
	}
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(got.stdout))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("lockcheck.json", parsed); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("lockcheck.json")
	if err != nil {
		t.Fatal(err)
	}
	return got.stdout, compiled
}

// bySchema holds a file against the schema, as an editor does.
func bySchema(t *testing.T, schema *jsonschema.Schema, text string) error {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	words, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(string(words)))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(parsed)
}

// byParser holds a file against all that compare refuses before anything is looked for.
func byParser(text string) error {
	spec, err := config.Parse("l.yaml", []byte(text), known())
	if err != nil {
		return err
	}
	if wrong := (&planner{onPaper: true}).mistakes(spec, spec.Tasks(compare.Whole)); len(wrong) > 0 {
		return config.Mistakes(wrong)
	}
	return nil
}

const schemaFile = `defaults: {ttl: 2s, clients: 5, guard: before-work, set: {a: 1}}
backends: {etcd: , ours: {backend: redis, client: setnx}}
matrix: {nemeses: [none, "pause:holder@work,1.5ttl"], workloads: lock}
exclude: [{backend: ours, nemesis: none}]
repeat: 3
expectations:
- {nemesis: none, expect: {}, reason: r}
- {nemesis: "pause:holder@work,1.5ttl", repeat: 2, expect: {stale-write: violation, lost-update: [pass, violation]}, reason: 5}
`

// schemaCases are changes to the file above.
var schemaCases = map[string]struct {
	old, with string
	good      bool
}{
	"as it is":                   {"repeat: 3", "repeat: 3", true},
	"a number in quotes":         {"repeat: 3", `repeat: "3"`, true},
	"no defaults":                {"defaults: {ttl: 2s, clients: 5, guard: before-work, set: {a: 1}}\n", "", true},
	"one word in a list":         {"workloads: lock", "workloads: [lock]", true},
	"a program of one's own":     {"client: setnx", "client: /bin/true", true},
	"the client of its service":  {"etcd: ,", "etcd: {client: election},", true},
	"another service's name":     {"etcd: ,", "etcd: {backend: redis, client: setnx},", true},
	"an unknown key":             {"repeat: 3", "repaet: 3", false},
	"an unknown default":         {"clients: 5", "cliens: 5", false},
	"an unknown key of a matrix": {"workloads: lock", "workload: lock", false},
	"an unknown key of entries":  {"reason: r", "raeson: r", false},
	"no backends":                {"backends: {etcd: , ours: {backend: redis, client: setnx}}\n", "", false},
	"no entry of backends":       {"{etcd: , ours: {backend: redis, client: setnx}}", "{}", false},
	"a name of nothing":          {"{backend: redis, client: setnx}", "{client: setnx}", false},
	"an unknown service":         {"backend: redis", "backend: consul", false},
	"another service's client":   {"client: setnx", "client: election", false},
	"another's, by its name":     {"etcd: ,", "etcd: {client: setnx},", false},
	"an unknown nemesis":         {"[none,", "[none, comet,", false},
	"a target with a typo":       {"[none,", "[none, 'pause:leadr',", false},
	"a nemesis twice":            {"[none,", "[none, none,", false},
	"no nemesis":                 {`[none, "pause:holder@work,1.5ttl"]`, "[]", false},
	"an unknown workload":        {"workloads: lock", "workloads: sleep", false},
	"an unknown guard":           {"guard: before-work", "guard: dog", false},
	"a run that ends early":      {"ttl: 2s", `ttl: 2s, until: "stale-write,lost-update"`, true},
	"an end once exposed":        {"ttl: 2s", `ttl: 2s, until: exposed`, true},
	"an end at nothing":          {"ttl: 2s", "ttl: 2s, until: stale", false},
	"one client":                 {"clients: 5", "clients: 1", false},
	"a word for a number":        {"clients: 5", "clients: many", false},
	"a lease without a unit":     {"ttl: 2s", "ttl: 2", false},
	"a list for a word":          {"ttl: 2s", "ttl: [2s]", false},
	"nothing for a word":         {"ttl: 2s", "ttl: ", false},
	"a list of words":            {"etcd: ,", "etcd: {client-image: mine, client-arg: [run, mine.py, run]},", true},
	"a word for a list":          {"etcd: ,", "etcd: {client-image: mine, client-arg: run},", true},
	"pairs for a list":           {"etcd: ,", "etcd: {client-image: mine, client-arg: {run: mine}},", false},
	"a word for pairs":           {"set: {a: 1}", "set: a=1", false},
	"no run":                     {"repeat: 3", "repeat: 0", false},
	"too many runs":              {"repeat: 3", "repeat: 10001", false},
	"half a run":                 {"repeat: 3", "repeat: 1.5", false},
	"a word for entries":         {"exclude: [{backend: ours, nemesis: none}]", "exclude: ours", false},
	"an unknown property":        {"stale-write:", "stale-wirte:", false},
	"an unknown verdict":         {"stale-write: violation", "stale-write: violated", false},
	"an expected unknown":        {"stale-write: violation", "stale-write: inconclusive", false},
	"no verdict of a list":       {"[pass, violation]", "[]", false},
	"a verdict twice":            {"[pass, violation]", "[pass, pass]", false},
	"no reason":                  {", reason: r", "", false},
	"an empty reason":            {"reason: r", `reason: ""`, false},
	"no expect":                  {"expect: {}, ", "", false},
	"expect is nothing":          {"expect: {}", "expect: ", false},
}

// beyondSchema are changes that only lockcheck can refuse.
var beyondSchema = map[string][2]string{
	"a nemesis that is not in the matrix": {"{nemesis: none, expect", "{nemesis: kill, expect"},
	"a backend that is not in the matrix": {"exclude: [{backend: ours,", "exclude: [{backend: mine,"},
	"an entry for no cell":                {"{nemesis: none, expect", "{nemesis: none, backend: ours, expect"},
	"a lease that is too long":            {"ttl: 2s", "ttl: 25h"},
	"a lease that a backend cannot have":  {"ttl: 2s", "ttl: 2500ms"},
	"a target that the fault cannot have": {"[none,", "[none, 'clock:resource',"},
	"a setting that a backend lacks":      {"etcd: ,", "etcd: {set: {colour: red}},"},
	"a program that is not there":         {"client: setnx", "client: ./not/there"},
}

// The schema and the parser are of one mind, but for what a schema cannot say.
func TestTheSchemaRefusesWhatTheParserRefuses(t *testing.T) {
	_, schema := schemaOf(t)
	// The settings of the file are of no backend.
	file := strings.Replace(schemaFile, "{a: 1}", "{}", 1)
	changed := func(t *testing.T, old, with string) string {
		from := file
		if strings.Contains(old, "{a: 1}") {
			from = schemaFile
		}
		if !strings.Contains(from, old) {
			t.Fatalf("the file has no %q", old)
		}
		return strings.Replace(from, old, with, 1)
	}
	for name, c := range schemaCases {
		t.Run(name, func(t *testing.T) {
			text := changed(t, c.old, c.with)
			if err := byParser(text); (err == nil) != c.good {
				t.Errorf("the parser: %v", err)
			}
			if err := bySchema(t, schema, text); (err == nil) != c.good {
				t.Errorf("the schema: %v", err)
			}
		})
	}
	for name, c := range beyondSchema {
		t.Run(name, func(t *testing.T) {
			text := changed(t, c[0], c[1])
			if byParser(text) == nil {
				t.Error("the parser takes it")
			}
			if err := bySchema(t, schema, text); err != nil {
				t.Errorf("the schema refuses it, so that it belongs into the table above: %v", err)
			}
		})
	}
	for name, text := range map[string]string{"the example": config.Example, "this project's own": ownComparison(t)} {
		if err := errors.Join(byParser(text), bySchema(t, schema, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ownComparison(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../scripts/compare.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every key that the parser knows is in the schema, described, and the schema has no other.
func TestTheSchemaHasTheParsersKeys(t *testing.T) {
	text, _ := schemaOf(t)
	for place, path := range map[string][]string{
		"%s: 1": {}, "defaults: {%s: 1}": {"defaults"}, "backends: {ours: {backend: etcd, %s: 1}}": {"backends", "additionalProperties"},
		"backends: {etcd: {%s: 1}}": {"backends", "properties", "etcd"}, "matrix: {%s: 1}": {"matrix"},
		"exclude: [{%s: 1}]": {"exclude", "items"}, "expectations: [{%s: 1}]": {"expectations", "items"},
		"expectations: [{expect: {%s: pass}}]": {"expectations", "items", "properties", "expect"},
	} {
		_, err := config.Parse("l.yaml", []byte(fmt.Sprintf(place, "nonesuch")), known())
		found := regexp.MustCompile(`"nonesuch"; there are: (.*)`).FindStringSubmatch(fmt.Sprint(err))
		if found == nil {
			t.Fatalf("%s: the parser says %v", place, err)
		}
		parsers := strings.Split(found[1], ", ")
		var at map[string]any
		if err := json.Unmarshal([]byte(text), &at); err != nil {
			t.Fatal(err)
		}
		definitions := at["definitions"].(map[string]any)
		for i, step := range path {
			if i == 0 {
				at = at["properties"].(map[string]any)
			}
			at = at[step].(map[string]any)
		}
		properties := at["properties"].(map[string]any)
		slices.Sort(parsers)
		if keys := slices.Sorted(maps.Keys(properties)); !slices.Equal(keys, parsers) {
			t.Errorf("%s: the schema has\n%q, the parser\n%q", place, keys, parsers)
		}
		for key, value := range properties {
			part := value.(map[string]any)
			if name, ok := part["$ref"].(string); ok {
				part = definitions[strings.TrimPrefix(name, "#/definitions/")].(map[string]any)
			}
			if about, _ := part["description"].(string); about == "" {
				t.Errorf("%s: %s is not described", place, key)
			}
		}
	}
}

// A new file says how an editor finds the schema.
func TestTheExampleHasTheModeline(t *testing.T) {
	if !strings.Contains(config.Example, "\n# "+config.Modeline+"\n") || !strings.Contains(config.Example, "lockcheck schema >"+config.SchemaName) {
		t.Errorf("the example does not say it:\n%s", config.Example)
	}
}

func TestSchemasOfRecordedFiles(t *testing.T) {
	for _, name := range rundir.SchemaNames() {
		if text, _ := schemaOf(t, name); !strings.Contains(text, `"lockcheck `+name+`, version `) {
			t.Errorf("%s has no title with its version:\n%.300s", name, text)
		}
	}
	for flag, args := range map[string][]string{"results": {"verdicts"}, "--scenario": {"results", "--scenario"}} {
		if got := lockcheck(t, append([]string{"schema"}, args...)...); got.code != exitUsage || !strings.Contains(got.stderr, flag) {
			t.Errorf("schema %v: exit %d, want %d and %s named: %s", args, got.code, exitUsage, flag, got.stderr)
		}
	}
}

func TestVersion(t *testing.T) {
	got := lockcheck(t, "version", "--json")
	var v versions
	if err := json.Unmarshal([]byte(got.stdout), &v); err != nil || v.Lockcheck == "" || v.Go == "" || v.Formats < 1 || v.Protocol < 1 {
		t.Errorf("%v: %s", err, got.stdout)
	}
	if text := lockcheck(t, "version").stdout; !strings.Contains(text, "\nprotocol  ") || !strings.Contains(text, v.Lockcheck) {
		t.Errorf("version says %s", text)
	}
}
