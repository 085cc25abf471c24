package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// recorded are the types that the files of a run directory hold, by the names of their schemas.
var recorded = map[string]reflect.Type{
	"history":  reflect.TypeFor[history.Event](),   // one line of history.jsonl
	"plan":     reflect.TypeFor[history.Plan](),    // plan.json
	"resource": reflect.TypeFor[history.Request](), // one line of resource.jsonl
	"results":  reflect.TypeFor[Results](),         // results.json
}

// enumerated are the types of which all values are known.
var enumerated = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[model.Verdict](): oneOf(model.Pass, model.Violation, model.Masked, model.Inconclusive, model.NotApplicable),
	reflect.TypeFor[model.Layer]():   oneOf(model.Layers...),
	reflect.TypeFor[model.Name]():    oneOf(checker.Names()...),
	reflect.TypeFor[uint64]():        {Type: "string", Pattern: "^[0-9]+$"}, // Step.Pick: other programs round numbers of this size
	reflect.TypeFor[history.Type]():  oneOf(history.Invoke, history.OK, history.Fail, history.Info),
}

func oneOf[T ~string](values ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

// SchemaNames are the names that Schema knows.
func SchemaNames() []string { return slices.Sorted(maps.Keys(recorded)) }

// Schema is the JSON schema (2020-12) of a file of a run directory, or of one of its lines. Its title has the version of the formats. Later
// programs of that version may write more fields.
func Schema(name string) (*jsonschema.Schema, error) {
	schema, err := closed(name)
	if err == nil {
		unclose(schema)
	}
	return schema, err
}

// unclose lets all objects of a schema have more fields.
func unclose(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Properties) > 0 {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		unclose(p)
	}
	unclose(s.Items)
	unclose(s.AdditionalProperties)
}

// closed is the schema of what this program writes, and nothing more.
func closed(name string) (*jsonschema.Schema, error) {
	of, known := recorded[name]
	if !known {
		return nil, fmt.Errorf("no file of a run is called %q", name)
	}
	schema, err := jsonschema.ForType(of, &jsonschema.ForOptions{TypeSchemas: enumerated})
	if err != nil {
		return nil, err
	}
	schema.Schema = "https://json-schema.org/draft/2020-12/schema"
	schema.Title = fmt.Sprintf("lockcheck %s, version %d", name, history.FormatVersion)
	return schema, nil
}

// Validate holds the files of a run directory against their schemas, and finds fields that these do not name. A file that is not there is left out.
func Validate(dir string) error {
	for name, file := range map[string]string{"history": HistoryFile, "plan": PlanFile, "resource": ResourceFile, "results": ResultsFile} {
		schema, err := closed(name)
		if err != nil {
			return err
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		for n := 1; ; n++ {
			var value any
			if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return fmt.Errorf("%s, value %d: %w", file, n, err)
			}
			if err := resolved.Validate(value); err != nil {
				return fmt.Errorf("%s, value %d: %w", file, n, err)
			}
		}
	}
	return nil
}
