package locktest

import (
	"reflect"
	"slices"
	"testing"

	"lockcheck/cmd/harness"
)

// What a plan leaves out is as lockcheck run has it.
func TestPlanLeavesTheUsual(t *testing.T) {
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
	usual, err := Plan{Seed: 7}.options("TestX")
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
		case reflect.Map:
			to.Set(reflect.ValueOf(map[string]string{"a": "b"}))
		default:
			to.SetInt(77)
		}
		got, err := plan.options("TestX")
		if err != nil {
			t.Fatal(err)
		}
		if reflect.DeepEqual(got, usual) {
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

func TestAgainNamesTheSubtest(t *testing.T) {
	got := again("TestX/a(b)", 7)
	want := []string{"env", "LOCKCHECK_SEED=7", "go", "test", "-count=1", `-run=^TestX$/^a\(b\)$`, "lockcheck/cmd/locktest"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
