package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/compare"
)

var menu = Known{
	Backends: []string{"etcd", "redis"}, Workloads: []string{"lock", "fencing"},
	Settings: []Setting{{Name: "client"}, {Name: "clients", Rule: only("5")}, {Name: "ttl", Rule: only("2s", "3s")}, {Name: "resource", Rule: only("plain", "cas")}, {Name: "time-limit"}, {Name: "set", Pairs: true, Rule: only("2", "3")}},
	Nemesis: func(spec string) error {
		if slices.Contains([]string{"none", "pause", "pause:holder,1.5ttl"}, spec) {
			return nil
		}
		return errors.New("there is no such fault")
	},
}

// only is a rule that takes these values.
func only(values ...string) func(name, value string) error {
	return func(name, value string) error {
		if !slices.Contains(values, value) {
			return fmt.Errorf("%s: %q is none of %q", name, value, values)
		}
		return nil
	}
}

const whole = `
defaults: {ttl: 2s, set: {b: "2"}}
backends:
  etcd:
  ours: {backend: etcd, client: ./ours, ttl: 3s}
matrix:
  nemeses: [none, "pause:holder,1.5ttl"]
  workloads: lock
exclude:
  - {backend: ours, nemesis: none}
repeat: 3
expectations:
  - nemesis: "pause:holder,1.5ttl"
    backend: [etcd, ours]
    expect:
      mutual-exclusion: violation
      lost-update: [pass, violation]
    reason: because
    repeat: 7
`

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.yaml")
	if err := os.WriteFile(path, []byte(whole), 0o644); err != nil {
		t.Fatal(err)
	}
	spec, err := Read(path, menu)
	if err != nil {
		t.Fatal(err)
	}
	tasks := spec.Tasks(compare.Whole)
	if len(tasks) != 3 || !spec.Expecting || spec.Repeat != 3 {
		t.Fatalf("read as %+v", spec)
	}
	ours := tasks[2]
	want := []compare.Flag{{Name: "backend", Value: "etcd"}, {Name: "nemesis", Value: "pause:holder,1.5ttl"}, {Name: "workload", Value: "lock"},
		{Name: "client", Value: "./ours"}, {Name: "ttl", Value: "3s"}, {Name: "set", Value: "b=2"}}
	if !slices.Equal(ours.Flags, want) || ours.Repeat != 7 || ours.Cell.Backend != "ours" {
		t.Errorf("the last cell is %+v", ours)
	}
	e := ours.Expect
	if e.File != path || e.Line != 15 || e.Reason != "because" || len(e.Expect) != 2 || e.Expect[0].Line != 16 || e.Expect[1].Line != 17 ||
		!slices.Equal(e.Expect[1].Verdicts, []model.Verdict{model.Pass, model.Violation}) {
		t.Errorf("its expectation is %+v", e)
	}
	if calm := tasks[0].Expect; !calm.Implicit || calm.Line != 12 {
		t.Errorf("the cell without an entry is held against %+v", calm)
	}
	if _, err := Read(path+".no", menu); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A user who makes the example smaller learns what else has to go, from the file and from the error.
func TestAnExpectationThatOutlivesItsNemesisSaysWhatToDo(t *testing.T) {
	smaller := strings.Replace(Example, "nemeses: [none, pause]", "nemeses: [none]", 1)
	if smaller == Example {
		t.Fatal("the example has another matrix")
	}
	_, err := Parse(Name, []byte(smaller), menu)
	if err == nil {
		t.Fatal("it is taken")
	}
	for line, text := range strings.Split(smaller, "\n") {
		if strings.HasPrefix(text, "  - nemesis: pause") {
			if want := fmt.Sprintf("%s:%d:14: there is no nemesis in the matrix called \"pause\"; there are: none. Take it out here as well, or put it into the matrix", Name, line+1); !strings.Contains(err.Error(), want) {
				t.Errorf("%v\nwant %q", err, want)
			}
		}
	}
	if matrix := Example[strings.Index(Example, "# Every backend under"):strings.Index(Example, "\nmatrix:")]; !strings.Contains(matrix, "take a nemesis or a workload out of the matrix, take its entries under\n# expectations out as well") {
		t.Errorf("the example does not say it where the matrix is:\n%s", matrix)
	}
}

func TestExampleIsRight(t *testing.T) {
	spec, err := Parse(Name, []byte(Example), menu)
	if err != nil {
		t.Fatal(err)
	}
	if cells := spec.Cells(); len(cells) != 4 {
		t.Errorf("it has the cells %v", cells)
	}
}

// Each is a change to the file above, and the place and some words of what is said of it.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct{ old, with, want string }{
		"unknown key":                  {"repeat: 3", "repaet: 3", `l.yaml:11:1: the file has no key "repaet" (did you mean repeat?); there are: defaults,`},
		"unknown key deep down":        {"    reason: because", "    reasons: because", "l.yaml:18:5: an expectation has no key"},
		"unknown default":              {"{ttl: 2s,", "{tll: 2s,", `l.yaml:2:12: defaults has no key "tll"`},
		"backend key in defaults":      {"{ttl: 2s,", "{backend: etcd,", `l.yaml:2:12: defaults has no key "backend"`},
		"a value against its rule":     {"{ttl: 2s,", "{ttl: 2,", `l.yaml:2:17: ttl: "2" is none of ["2s" "3s"]`},
		"another value, deeper down":   {"./ours, ttl: 3s", "./ours, clients: many", `l.yaml:5:50: clients: "many" is none of`},
		"a pair against its rule":      {`{b: "2"}`, "{b: 4}", `l.yaml:2:30: set: "4" is none of`},
		"a list for a value":           {"{ttl: 2s,", "{client: [a],", "l.yaml:2:20: client is a word, not a list"},
		"a word for pairs":             {`{b: "2"}`, "b=2", `l.yaml:2:26: set is a mapping (name: value), not "b=2"`},
		"a key twice":                  {"repeat: 3", "repeat: 3\nrepeat: 4", `l.yaml:12:1: the file has "repeat" twice, first in line 11`},
		"unknown service":              {"backend: etcd, client", "backend: consul, client", `l.yaml:5:19: there is no backend "consul"; there are: etcd, redis`},
		"unknown nemesis":              {"[none, ", "[nine, ", `l.yaml:7:13: nemesis "nine": there is no such fault`},
		"unknown workload":             {"workloads: lock", "workloads: [lock, lok]", `l.yaml:8:21: there is no workload "lok"`},
		"a nemesis twice":              {"[none, ", "[none, none, ", `l.yaml:7:19: nemeses names "none" twice`},
		"empty list":                   {"workloads: lock", "workloads: []", "l.yaml:8:14: workloads is empty"},
		"exclude of what is not":       {"- {backend: ours, nemesis: none}", "- {backend: redis}", "l.yaml:10:15: there is no backend in the matrix called"},
		"exclude of everything":        {"- {backend: ours, nemesis: none}", "- {}", "nothing is left of the matrix"},
		"repeat of none":               {"repeat: 3", "repeat: 0", `l.yaml:11:9: repeat is a number from 1 to 10000, not "0"`},
		"unknown property":             {"mutual-exclusion:", "mutual-exclusoin:", `l.yaml:16:7: there is no property "mutual-exclusoin"`},
		"unknown verdict":              {"mutual-exclusion: violation", "mutual-exclusion: violated", `l.yaml:16:25: there is no verdict "violated"; there are: violation, masked, pass, n/a`},
		"an unknown that is expected":  {"mutual-exclusion: violation", "mutual-exclusion: inconclusive", "l.yaml:16:25: inconclusive cannot be expected"},
		"no reason":                    {"    reason: because\n", "", "l.yaml:13:5: an expectation needs a reason"},
		"no expect":                    {"    expect:\n      mutual-exclusion: violation\n      lost-update: [pass, violation]\n", "", "l.yaml:13:5: an expectation needs expect"},
		"an entry for no cell":         {"expectations:", "expectations:\n  - {backend: ours, nemesis: none, expect: {}, reason: r}", "l.yaml:13:5: this picks no cell of the matrix"},
		"two entries for one cell":     {"expectations:", "expectations:\n  - {backend: etcd, expect: {}, reason: r}", "l.yaml:14:5: the cell etcd / pause:holder,1.5ttl / lock is picked in line 13 already"},
		"a word for a mapping":         {"defaults: {ttl: 2s, set: {b: \"2\"}}", "defaults: fast", `l.yaml:2:11: defaults is a mapping (name: value), not "fast"`},
		"an alias":                     {"defaults: {ttl: 2s, set: {b: \"2\"}}", "defaults: &d {ttl: 2s}\nexclude: *d", "l.yaml:3:10: exclude is a list, not an alias"},
		"no matrix":                    {"matrix:\n  nemeses: [none, \"pause:holder,1.5ttl\"]\n  workloads: lock\n", "", "matrix is missing"},
		"no YAML":                      {"repeat: 3", "repeat: [3", "this is no YAML"},
		"no such lease":                {"  workloads: lock\n", "  workloads: lock\n  ttls: [2s, 4s]\n", `l.yaml:9:14: ttls: "4s" is none of`},
		"a lease twice":                {"  workloads: lock\n", "  workloads: lock\n  ttls: [2s, 2s]\n", `l.yaml:9:14: ttls names "2s" twice`},
		"no such resource":             {"  workloads: lock\n", "  workloads: lock\n  resources: [plain, disc]\n", `l.yaml:9:22: resources: "disc" is none of`},
		"a resource twice":             {"  workloads: lock\n", "  workloads: lock\n  resources: [cas, cas]\n", `l.yaml:9:20: resources names "cas" twice`},
		"a resource that is not there": {"  workloads: lock\nexclude:\n  - {backend: ours, nemesis: none}", "  workloads: lock\n  resources: [plain, cas]\nexclude:\n  - {resource: fenced}", `l.yaml:11:16: there is no resource in the matrix called "fenced"; there are: plain, cas`},
		"a resource not in the matrix": {"    reason: because\n", "    reason: because\n    resource: cas\n", "this picks no cell of the matrix"},
		"a lease not in the matrix":    {"    reason: because\n", "    reason: because\n    ttl: 2s\n", "this picks no cell of the matrix"},
		"a rate always met":            {"mutual-exclusion: violation", `mutual-exclusion: {rate: ">=0"}`, "l.yaml:16:32: no number of runs decides a rate of >=0"},
		"a rate above all":             {"mutual-exclusion: violation", `mutual-exclusion: {rate: "<=1.5"}`, "l.yaml:16:32: no number of runs decides a rate of <=1.5"},
		"a rate never met":             {"mutual-exclusion: violation", `mutual-exclusion: {rate: ">1"}`, "l.yaml:16:32: no number of runs decides a rate of >1"},
		"a rate for too many runs":     {"mutual-exclusion: violation", `mutual-exclusion: {rate: "<=0.0001"}`, "l.yaml:16:32: a cell has at most 10000 runs"},
		"no rate":                      {"mutual-exclusion: violation", "mutual-exclusion: {rate: often}", `l.yaml:16:32: "often" is no rate`},
		"a rate of nothing":            {"mutual-exclusion: violation", "mutual-exclusion: {}", "l.yaml:16:25: what is expected of mutual-exclusion needs rate"},
		"a rate of another name":       {"mutual-exclusion: violation", `mutual-exclusion: {share: ">0.5"}`, `l.yaml:16:26: what is expected of mutual-exclusion has no key "share"`},
		"a rate of no property":        {"mutual-exclusion: violation", `mutual-exclusoin: {rate: ">0.5"}`, `l.yaml:16:7: there is no property "mutual-exclusoin"`},
		"two documents":                {"repeat: 3", "repeat: 3\n---\na: 1", "a second document"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(whole, test.old) {
				t.Fatal("the file has no such place")
			}
			text := strings.Replace(whole, test.old, test.with, 1)
			if name == "two documents" {
				text = whole + "---\na: 1\n"
			}
			_, err := Parse("l.yaml", []byte(text), menu)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("said %v; want %s", err, test.want)
			}
		})
	}
	// What follows from a mistake is no mistake of its own.
	_, err := Parse("l.yaml", []byte(strings.Replace(whole, "nemeses:", "nemesis:", 1)), menu)
	if err == nil || strings.Contains(err.Error(), "in the matrix called") {
		t.Errorf("said %v; want the wrong key only", err)
	}
	for _, text := range []string{"", "# nothing\n", "- a\n", "a\n", "null\n", "\x00", "a: &a [*a]\n"} {
		var place *Error
		if _, err := Parse("l.yaml", []byte(text), menu); !errors.As(err, &place) {
			t.Errorf("%q: %v, want an error with a place", text, err)
		}
	}
}

// All mistakes are said at once, in the file's order, whatever part of it they are in; what only follows from one is not.
func TestAllMistakesAtOnce(t *testing.T) {
	text := `
defaults: {ttl: 9s, tll: 2s}
backends:
  etcd: {clients: many}
  ours: {backend: consul}
matrix:
  nemeses: [none, "pause:holder,1.5ttl"]
  workloads: lock
exclude:
  - {backend: ours, nemesis: none}
repaet: 3
repeat: many
expectations:
  - {backend: ours, nemesis: none, expect: {}, reason: r}
  - {nemesis: none, expect: {mutual-exclusoin: pass}}
  - {nemesis: none, expect: {}, reason: r}
  - {backnd: etcd, expect: {}, reason: r}
`
	_, err := Parse("l.yaml", []byte(text), menu)
	var places []string
	var mistakes Mistakes
	if !errors.As(err, &mistakes) {
		t.Fatalf("said %v", err)
	}
	for _, e := range mistakes {
		places = append(places, fmt.Sprintf("%d:%d", e.Line, e.Column))
	}
	want := []string{"2:17", "2:21", "4:19", "5:19", "11:1", "12:9", "14:5", "15:5", "15:30", "16:5", "17:6"}
	if !slices.Equal(places, want) {
		t.Errorf("mistakes at %v, want %v:\n%v", places, want, err)
	}
	lines := strings.Split(err.Error(), "\n")
	if lines[0] != "11 mistakes:" || len(lines) != 12 || !strings.HasPrefix(lines[1], "l.yaml:2:17: ttl: ") {
		t.Errorf("said\n%v", err)
	}
}

// What decides a run is found in the file again, at the backend before the defaults.
func TestPlaces(t *testing.T) {
	spec, err := Parse("l.yaml", []byte(whole), menu)
	if err != nil {
		t.Fatal(err)
	}
	cell := compare.Cell{Backend: "ours", Nemesis: "pause:holder,1.5ttl", Workload: "lock"}
	for _, test := range []struct {
		flag compare.Flag
		want compare.Place
	}{
		{compare.Flag{Name: "backend", Value: "etcd"}, compare.Place{Line: 5, Column: 19}},
		{compare.Flag{Name: "nemesis", Value: cell.Nemesis}, compare.Place{Line: 7, Column: 19}},
		{compare.Flag{Name: "workload", Value: "lock"}, compare.Place{Line: 8, Column: 14}},
		{compare.Flag{Name: "ttl", Value: "3s"}, compare.Place{Line: 5, Column: 46}},
		{compare.Flag{Name: "set", Value: "b=2"}, compare.Place{Line: 2, Column: 30}},
		{compare.Flag{Name: "ttl", Value: "7s"}, compare.Place{}}, // of the command line
	} {
		if got := spec.Places.Flag(cell, test.flag); got != test.want {
			t.Errorf("%+v stands at %+v, want %+v", test.flag, got, test.want)
		}
	}
}

// Reading any file ends without harm.
func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add(Example)
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := Parse("l.yaml", []byte(text), menu)
		if err == nil && len(spec.Cells()) == 0 {
			t.Errorf("a matrix without cells is taken: %s", fmt.Sprintf("%+v", spec))
		}
	})
}
