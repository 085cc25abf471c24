package harness

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/clusters/provider/docker"
)

// Every entry of the table is one that commands can declare, whose default its own rule takes.
func TestFlagsAreWhole(t *testing.T) {
	var o Options
	set := pflag.NewFlagSet("run", pflag.ContinueOnError)
	Declare(set, &o, func(Flag) bool { return true })
	defaults := Default()
	for _, f := range Flags {
		if f.Help == "" || set.Lookup(f.Name) == nil {
			t.Errorf("--%s has no help, or is not declared", f.Name)
		}
		if (f.Provider == "") != (f.Instead == "") {
			t.Errorf("--%s is for provider %q, and at another: %q", f.Name, f.Provider, f.Instead)
		}
		if !slices.Equal(f.Values(o), f.Values(defaults)) {
			t.Errorf("--%s is %q when declared, and %q by default", f.Name, f.Values(o), f.Values(defaults))
		}
		for _, value := range f.Values(defaults) {
			if f.Rule.Check != nil && f.Rule.Check(f.Name, value) != nil {
				t.Errorf("--%s: its own default %s is refused", f.Name, value)
			}
		}
		if again, ok := FlagNamed(f.Name); !ok || again.Help != f.Help {
			t.Errorf("--%s is found as %+v", f.Name, again)
		}
	}
	if _, ok := FlagNamed("fate"); ok {
		t.Error("there is a flag --fate")
	}
}

// The command in a plan makes the same options again, all of them.
func TestTheReproducingCommandMakesTheSameOptions(t *testing.T) {
	all := Options{
		Backend: "redis", Client: "./mine --fast", Workload: "fencing", Nemesis: "pause:holder,1.5ttl", Guard: "none",
		Where:   Where{Provider: Local},
		Clients: 7, Keys: 3, Nodes: 5, TTL: 1500 * time.Millisecond, TimeLimit: 90 * time.Second, Until: "violation", Seed: 12, Out: Default().Out,
		Set: map[string]string{"b": "2", "a": "x y"},
	}
	all.Where.ServerPaths.Bin, all.Where.ServerPaths.Jar, all.Where.Image = "/opt/bin", "/opt/jar", "redis:7"
	few := Default()
	few.Backend, few.Client = "etcd", "concurrency"
	fromImage := few
	fromImage.Client, fromImage.Where.Provider, fromImage.Where.ClientImage, fromImage.ClientArgs = "", docker.Name, "mine:1", []string{"python3", "a file, of mine.py", "-v"}
	for _, o := range []Options{all, few, fromImage} {
		command := o.ReproduceCommand(o.Client)
		var got Options
		set := pflag.NewFlagSet("run", pflag.ContinueOnError)
		Declare(set, &got, func(Flag) bool { return true })
		if err := set.Parse(command[2:]); err != nil {
			t.Fatal(err)
		}
		o.Work = o.work().String() // a default that may be another in the next version is written out
		for _, f := range Flags {
			if !slices.Equal(f.Values(got), f.Values(o)) {
				t.Errorf("--%s is %q of %q", f.Name, f.Values(got), command)
			}
		}
		if !slices.Contains(command, "--seed="+map[int64]string{0: "0", 12: "12"}[o.Seed]) {
			t.Errorf("%q draws another seed", command)
		}
	}
	if command := few.ReproduceCommand("concurrency"); slices.ContainsFunc(command, func(word string) bool {
		return word == "--nodes=0" || word == "--image=" || word == "--out=lockcheck-out"
	}) {
		t.Errorf("%q names flags that were not given", command)
	}
}

func TestRules(t *testing.T) {
	early := strings.Join(FoundEarly(), ", ")
	for _, c := range []struct {
		rule  Rule
		value string
		want  string // "": taken
	}{
		{number(2, 100, "two make a crowd"), "2", ""},
		{number(2, 100, ""), "100", ""},
		{number(2, 100, "two make a crowd"), "1", "x=1: use 2 to 100; two make a crowd"},
		{number(2, 100, ""), "101", "x=101: use 2 to 100"},
		{number(2, 100, ""), "many", `x: "many" is no number from 2 to 100`},
		{span(time.Second, 24*time.Hour), "1s", ""},
		{span(time.Second, 24*time.Hour), "24h", ""},
		{span(time.Second, 24*time.Hour), "24h0m1s", "x=24h0m1s: use 1s to 24h"},
		{span(10*time.Second, 90*time.Minute), "1s", "x=1s: use 10s to 1h30m"},
		{span(10*time.Second, 20*time.Minute), "20", `x: "20" is no length of time from 10s to 20m, such as 30s`},
		{untilFound, "", ""},
		{untilFound, "violation", ""},
		{untilFound, "exposed", ""},
		{untilFound, "stale-write,exposed", `x=stale-write,exposed: "exposed" stands for all that the run requires, violated or not; use it alone, or name properties`},
		{untilFound, "stale-write,mutual-exclusion", ""},
		{untilFound, "stale-write,stale-write", `x=stale-write,stale-write names "stale-write" twice`},
		{untilFound, "violation,stale-write", `x=violation,stale-write: "violation" stands for any property; use it alone, or name properties`},
		{untilFound, "liveness", "x=liveness: liveness is known only at the end of a run; it can end early for: " + early},
		{untilFound, "stale", `x: there is no property "stale"; a run can end early for: violation, exposed, ` + early},
		{oneOf("pet", []string{"cat", "dog"}), "dog", ""},
		{oneOf("pet", []string{"cat", "dog"}), "cow", `x: there is no pet "cow"; there are: cat, dog`},
	} {
		err := c.rule.Check("x", c.value)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v, want %q", c.value, err, c.want)
		}
	}
}

// What clusters says of a flag follows the flag's name: errors that were spelled by hand would go on naming one that was renamed.
func TestClustersSpellNoFlagByHand(t *testing.T) {
	flagWord := regexp.MustCompile(`--([a-z]+(?:-[a-z]+)*)`)
	err := filepath.WalkDir("../../../clusters", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			for _, word := range flagWord.FindAllStringSubmatch(literal.Value, -1) {
				if _, known := FlagNamed(word[1]); known {
					t.Errorf("%s spells %s: take the constant (clusters/flagnames.go)", files.Position(literal.Pos()), word[0])
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
