package harness

import (
	"slices"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// A plan is whole before anything is started: it names the provider that was chosen, and so does the command that makes the run again.
func TestAPlanIsWholeBeforeAnythingIsStarted(t *testing.T) {
	o := Default()
	o.Backend, o.Seed, o.Where.Provider = "etcd", 7, Local
	p, err := plan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if p.Plan.Provider != Local || !slices.Contains(p.Plan.Command, "--provider="+Local) || !slices.Contains(p.Plan.Command, "--seed=7") {
		t.Errorf("provider %q, command %q", p.Plan.Provider, p.Plan.Command)
	}
}

// What clients are asked to do beside short work follows from the faults, the workload and the load's length; what was said is done.
func TestWhatClientsAreAskedToDo(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*Options)
		want     string // "": none is in the plan
		required bool
	}{
		"calm":                     {func(o *Options) { o.Nemesis = "none" }, "20ms..120ms,long-if-renewed,tries,given-up", true},
		"calm, with tokens":        {func(o *Options) { o.Nemesis, o.Workload = "none", "fencing" }, "20ms..120ms,long-if-renewed,tries,given-up", true},
		"calm, and short":          {func(o *Options) { o.Nemesis, o.TimeLimit = "none", 5*time.Second }, "20ms..120ms,tries,given-up", false},
		"calm, 10 s":               {func(o *Options) { o.Nemesis, o.TimeLimit = "none", 10*time.Second }, "20ms..120ms,long-if-renewed,tries,given-up", true},
		"kills":                    {func(o *Options) { o.Nemesis = "kill" }, "20ms..120ms,long-if-renewed,tries,given-up", false},
		"kills, 19 s":              {func(o *Options) { o.Nemesis, o.TimeLimit = "kill", 19*time.Second }, "20ms..120ms,tries,given-up", false},
		"pauses":                   {func(o *Options) { o.Nemesis = "pause" }, "20ms..120ms,tries,given-up", false},
		"jobs":                     {func(o *Options) { o.Nemesis, o.Workload = "none", "jobs" }, "", false},
		"work that was asked for":  {func(o *Options) { o.Nemesis, o.Work = "none", "20ms..120ms" }, "20ms..120ms", false},
		"long holds are asked for": {func(o *Options) { o.Nemesis, o.Work = "kill", "20ms..120ms,long" }, "20ms..120ms,long", true},
	} {
		o := Default()
		o.Backend = "etcd"
		c.change(&o)
		if err := o.Check(); err != nil {
			t.Fatal(err)
		}
		setup, err := Prepare(o)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if setup.Plan.Work != nil {
			got = setup.Plan.Work.String()
		}
		required := slices.ContainsFunc(setup.Plan.Exposure, func(r history.Requirement) bool { return r.Name == history.ExposureRenewed })
		if got != c.want || required != c.required {
			t.Errorf("%s: %q, a long hold is required: %v", name, got, required)
		}
	}
}

// What a run needs of the machine, and no more, is to be seen from inside its namespaces.
func TestWhatARunSeesOfTheMachine(t *testing.T) {
	o := Default()
	o.Backend, o.Out, o.Where.Provider, o.Where.ServerPaths = "etcd", "/runs", Local, clusters.ServerPaths{Bin: "/opt/etcd"}
	o.Client = "/bin/true"
	p, err := plan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	see := p.outside()
	if want := []string{"/runs", "/bin/true", "/opt/etcd", ""}; !slices.Equal(see.paths, want) || len(see.places) > 0 {
		t.Errorf("it sees %q and %q, want %q", see.paths, see.places, want)
	}
}
