package locktest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/cmd/internal/harness"
	"lockcheck/workloads"
)

// What a plan leaves out is as lockcheck run has it.
func TestPlanLeavesTheDefaults(t *testing.T) {
	want := harness.Default()
	got, err := Plan{Backend: "etcd", Seed: 7}.options("TestX")
	if err != nil {
		t.Fatal(err)
	}
	want.Backend, want.Seed, want.Out = "etcd", 7, got.Out
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Every field of a plan but SkipUnavailable arrives somewhere.
func TestPlanIsTakenOver(t *testing.T) {
	defaults, err := Plan{Seed: 7}.options("TestX")
	if err != nil {
		t.Fatal(err)
	}
	for field := range reflect.TypeFor[Plan]().Fields() {
		if field.Name == "SkipUnavailable" {
			continue
		}
		plan := Plan{Seed: 7}
		switch to := reflect.ValueOf(&plan).Elem().FieldByIndex(field.Index); to.Kind() {
		case reflect.String:
			to.SetString("x")
		case reflect.Slice:
			to.Set(reflect.ValueOf([]string{"x"}))
		case reflect.Map:
			to.Set(reflect.ValueOf(map[string]string{"a": "b"}))
		default:
			to.SetInt(77)
		}
		got, err := plan.options("TestX")
		if err != nil {
			t.Fatal(err)
		}
		if reflect.DeepEqual(got, defaults) {
			t.Errorf("%s is lost", field.Name)
		}
	}
}

func TestSeedFromTheEnvironment(t *testing.T) {
	t.Setenv(seedVariable, "12")
	for asked, want := range map[int64]int64{0: 12, 5: 5} {
		if got, err := seed(asked); err != nil || got != want {
			t.Errorf("asked for %d: %d (%v), want %d", asked, got, err, want)
		}
	}
	t.Setenv(seedVariable, "twelve")
	if _, err := seed(0); err == nil {
		t.Error("a word is a seed")
	}
}

func TestTheReproducingCommandNamesTheSubtest(t *testing.T) {
	got := again("TestX/a(b)", 7)
	want := []string{"env", "LOCKCHECK_SEED=7", "go", "test", "-count=1", `-run=^TestX$/^a\(b\)$`, "lockcheck/cmd/locktest"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A flag of lockcheck run that a plan cannot say would be one that tests cannot use.
func TestAPlanHasAFieldForEveryFlag(t *testing.T) {
	for _, flag := range harness.Flags {
		if _, ok := fieldOf(flag.Name); !ok {
			t.Errorf("there is no field for --%s", flag.Name)
		}
	}
}

// Where the documentation of a plan's field lists what it can be, it lists what there is, and which of it is the default.
func TestThePlansDocumentationListsWhatThereIs(t *testing.T) {
	documented := fieldComments(t)
	for name, there := range map[string][]string{
		"Backend": harness.BackendNames(), "Workload": workloads.Names(), "Resource": history.ResourceNames(), "Guard": history.GuardNames(), "Provider": harness.ProviderNames(),
	} {
		defaults := harness.Default()
		flag, _ := harness.FlagNamed(strings.ToLower(name))
		want := slices.Clone(there)
		if i := slices.Index(want, *flag.At(&defaults).(*string)); i >= 0 {
			want[i] += " (default)"
		}
		words, _, _ := strings.Cut(documented[name], "; default: the workload's")
		got := strings.Split(strings.ReplaceAll(words, ", or ", ", "), ", ")
		if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Errorf("%s is documented as %q, want %q", name, got, want)
		}
	}
}

// fieldComments is what stands behind each field of Plan.
func fieldComments(t *testing.T) map[string]string {
	parsed, err := parser.ParseFile(token.NewFileSet(), "locktest.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			return n.Name.Name == "Plan"
		case *ast.Field:
			for _, name := range n.Names {
				comments[name.Name] = strings.TrimSpace(n.Comment.Text())
			}
		}
		return true
	})
	return comments
}
