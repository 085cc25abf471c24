package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
	"lockcheck/cmd/internal/hunt"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// result is where what came of a shrinking is.
type result struct {
	dir   string
	story story
	runs  int
	// interrupted says that the user ended it.
	interrupted bool
	// unmade ended it: one run after the other came to no verdict.
	unmade *hunt.UnmadeError
}

// story is a run of the smallest plan that showed the violation; empty if there was none.
type story struct {
	report string
	seed   int64
}

// show prints the result, and writes it as a plan file and a scenario.
func (f *shrinkFlags) show(s shrinking, shrunk hunt.Shrunk, r result, out output) error {
	p := shrunk.Plan
	fmt.Fprintf(out.out, "%s, %s\n", words.Plain(p.String()), history.Counted(int64(r.runs), "run", "runs"))
	fmt.Fprintf(out.out, "  before    %s: %s\n", words.Plain(s.plan.Nemesis), shrunk.Before)
	if r.story != (story{}) {
		fmt.Fprintf(out.out, "  story     %s\n", words.Plain(r.story.report))
		path := filepath.Join(r.dir, rundir.PlanFile)
		if err := s.writePlan(path, p, r.story.seed); err != nil {
			return err
		}
		fmt.Fprintf(out.out, "  schedule  %s\n", words.ShellWords([]string{"lockcheck", "run", "--plan=" + path}))
	}
	fmt.Fprintf(out.out, "  again     %s\n", words.ShellWords(slices.Concat([]string{"lockcheck", "run"}, arguments(s.flags(p)))))
	open := "this is not confirmed"
	if shrunk.Confirmed {
		fmt.Fprintf(out.out, "  rate      %s, with fresh seeds\n", shrunk.Rate)
		open = "its steps are not measured"
	}
	switch {
	case r.interrupted:
		fmt.Fprintf(out.out, "  interrupted before all was tried: %s\n", open)
		return harness.ErrInterrupted
	case r.unmade != nil:
		fmt.Fprintf(out.out, "  ended before all was tried: %s; %s\n", open, words.Plain(r.unmade.Error()))
		return harness.ExitStatus(r.unmade.Code)
	case shrunk.Cut:
		fmt.Fprintf(out.out, "  the budget of %s was spent before all was tried: %s; a larger --budget goes further\n", f.budget, open)
		return harness.ExitStatus(exitInconclusive)
	}
	for _, need := range shrunk.Without {
		fmt.Fprintf(out.out, "  without   %s: %s\n", words.Plain(need.Step), need.Rate)
	}
	if shrunk.Contrast == nil {
		fmt.Fprintln(out.out, "  scenario  none: it needs a contrast, and each smaller plan showed the find or had runs that could not tell")
	} else {
		fmt.Fprintf(out.out, "  contrast  %s: %s\n", words.Plain(shrunk.Contrast.String()), shrunk.ContrastRate)
		path := filepath.Join(r.dir, "scenario.yaml")
		if err := rundir.WriteAtomically(path, func(w io.Writer) error { return s.scenario(w, shrunk) }); err != nil {
			return err
		}
		fmt.Fprintf(out.out, "  scenario  %s\n", words.ShellWords([]string{"lockcheck", "gallery", "--file=" + path}))
	}
	if shrunk.Rate.Share() < shrunk.Before.Share()/2 {
		return harness.ExitStatus(exitInconclusive)
	}
	return nil
}

// writePlan writes the plan file of a run of the smallest plan: its very schedule, for lockcheck run --plan.
func (s *shrinking) writePlan(path string, p hunt.Plan, seed int64) error {
	command := slices.Concat([]string{"lockcheck", "run"}, arguments(s.flags(p)), []string{fmt.Sprintf("--seed=%d", seed)})
	f, err := settingsOf(&history.Plan{Command: command}, pflag.NewFlagSet("none", pflag.ContinueOnError))
	if err != nil {
		return err
	}
	made, err := preparedPlan(&f)
	if err != nil {
		return err
	}
	return rundir.WriteAtomically(path, func(w io.Writer) error { return printPlanJSON(w, made) })
}

// scenario writes the failure and its contrast as a file for the gallery.
func (s *shrinking) scenario(w io.Writer, shrunk hunt.Shrunk) error {
	file := yaml.Node{Kind: yaml.MappingNode}
	add := func(to *yaml.Node, name string, value any) {
		var node yaml.Node
		if err := node.Encode(value); err == nil {
			to.Content = append(to.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, &node)
		}
	}
	add(&file, "title", fmt.Sprintf("%s of %s under %s", s.property, s.plan.Backend, shrunk.Plan.Nemesis.KindsOf()))
	add(&file, "reference", "found by lockcheck, and shrunk")
	add(&file, "teaches", "(what a reader is to learn from it)")
	set := map[string]string{}
	for _, flag := range s.flags(shrunk.Plan) {
		if flag.Name == "set" {
			name, value, _ := strings.Cut(flag.Value, "=")
			set[name] = value
			continue
		}
		var value any = flag.Value
		if number := json.Number(flag.Value); flag.Name != "nemesis" {
			if n, err := number.Int64(); err == nil {
				value = n
			}
		}
		add(&file, flag.Name, value)
	}
	if len(set) > 0 {
		add(&file, "set", set)
	}
	add(&file, "expect", map[string]string{string(s.property): string(model.Violation)})
	contrast := yaml.Node{Kind: yaml.MappingNode}
	add(&contrast, "because", fmt.Sprintf("the nearest plan that was not seen to fail: %s", shrunk.ContrastRate))
	add(&contrast, "nemesis", shrunk.Contrast.Nemesis.String())
	if shrunk.Contrast.Clients != shrunk.Plan.Clients {
		add(&contrast, "clients", shrunk.Contrast.Clients)
	}
	if shrunk.Contrast.Keys != shrunk.Plan.Keys {
		add(&contrast, "keys", shrunk.Contrast.Keys)
	}
	add(&contrast, "expect", map[string]string{string(s.property): string(model.Pass)})
	file.Content = append(file.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "contrast"}, &contrast)
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	return encoder.Encode(&file)
}
