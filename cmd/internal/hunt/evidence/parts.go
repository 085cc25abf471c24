package main

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockcheck/reports/hunts"
)

// aims count as finds where nobody says what to look for: whatever a scenario of the gallery can be about.
const aims = "service,harm,mutual-exclusion"

const (
	drawn    = 24  // of all scenarios
	shrunk   = 10  // of those found
	ofEach   = 100 // runs of a control
	most     = 20  // hunts of a control: where no run can tell anything, more of them cannot either
	searches = 6   // of a bug and arm
)

// controls are correct locks, as far as anybody knows: each promise of the lock service should hold under any fault.
var controls = map[string][]string{
	"etcd concurrency, fenced": {"--backend=etcd", "--client=concurrency", "--workload=fencing"},
	"zookeeper recipe":         {"--backend=zookeeper", "--client=recipe"},
	"zookeeper election":       {"--backend=zookeeper", "--client=election"},
	"consul with lock delay":   {"--backend=consul"},
	"postgres advisory":        {"--backend=postgres", "--client=advisory", "--nodes=1"},
	"postgres for-update":      {"--backend=postgres", "--client=for-update", "--nodes=1"},
}

// bugs are scenarios of two aimed steps or more, whose servers and lock clients come with lockcheck or Debian.
var bugs = []string{"etcd-old-leader-revokes", "etcd-stale-unlock-retry", "postgres-failover-loses-lease", "redis-failover-loses-lock",
	"redlock-clock-jump", "redlock-restart-amnesia", "redlock-restart-majority", "zk-orphan-node"}

var arms = []string{"hunt", "mixes", "uniform"}

var parts = map[string]*part{
	"blind":    {leftBlind, argsBlind, learnHunt, tableBlind},
	"shrink":   {leftShrink, argsShrink, learnShrink, tableShrink},
	"controls": {leftControls, argsControls, learnControl, tableControls},
	"tier2":    {leftTier2, argsTier2, learnHunt, tableTier2},
}

// remaining are the units that no line is of.
func remaining(all []Unit, done []Line) []Unit {
	return slices.DeleteFunc(all, func(u Unit) bool { return slices.ContainsFunc(done, func(l Line) bool { return l.Unit == u }) })
}

// draw draws the scenarios of the blind hunts.
func draw(p *plan) []string {
	names := slices.Sorted(maps.Keys(p.all))
	rand.New(rand.NewPCG(1, 0)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:min(drawn, len(names))]
}

func leftBlind(p *plan, done []Line) []Unit {
	var all []Unit
	for _, name := range draw(p) {
		all = append(all, Unit{Part: "blind", Name: name})
	}
	return remaining(all, done)
}

func argsBlind(p *plan, u Unit, _ []Line) []string {
	return slices.Concat([]string{"hunt"}, p.all[u.Name].args("backend", "client"), []string{"--for=" + aims, "--seed=1", "--budget=" + p.budget.String()})
}

// learnHunt learns whether a hunt found what the scenario shows.
func learnHunt(p *plan, m *made, l *Line) {
	for _, f := range m.record.Finds {
		if !p.all[l.Name].shows(f) {
			l.Else = append(l.Else, f.Signature)
		} else if !l.Found {
			l.Found, l.Seconds, l.Dir = true, time.Duration(f.EndedNS).Seconds(), filepath.Join(filepath.Base(m.dir), hunts.LatestLink, strconv.Itoa(f.N))
			l.Runs = 1 + slices.IndexFunc(m.record.Runs, func(r hunts.Run) bool { return r.N == f.Run })
		}
	}
}

func tableBlind(p *plan, done []Line, out io.Writer) {
	var took []float64
	fmt.Fprintln(out, "| scenario | found | runs | minutes | why not |\n|---|---|---|---|---|")
	for _, l := range done {
		why := ""
		if l.Found {
			took = append(took, l.Seconds)
		} else {
			why = missed(p, l)
		}
		fmt.Fprintf(out, "| %s | %s | %d | %.1f | %s |\n", l.Name, yes(l.Found), l.Runs, l.Seconds/60, why)
	}
	fmt.Fprintf(out, "\nn = %d of %d; %d found%s\n", len(done), len(draw(p)), len(took), median(took))
}

// missed says what is known of a scenario that was not found: why there was no run, what the hunt was not given, and what else it found.
func missed(p *plan, l Line) string {
	if l.Why != "" {
		return l.Why
	}
	if len(p.all[l.Name].causes) == 0 {
		return "none of its runs has a violation"
	}
	var why []string
	given := p.all[l.Name].args("backend", "client")
	if other := slices.DeleteFunc(p.all[l.Name].args(), func(arg string) bool { return slices.Contains(given, arg) }); len(other) > 0 {
		why = append(why, "not given: "+strings.Join(other, " "))
	}
	if len(l.Else) > 0 {
		why = append(why, "found instead: "+strings.Join(l.Else, "; "))
	}
	return strings.ReplaceAll(strings.Join(append(why, "it needs "+p.all[l.Name].flags["nemesis"][0]), "; "), "|", "/")
}

func yes(found bool) string {
	if found {
		return "yes"
	}
	return "no"
}

func median(took []float64) string {
	if len(took) == 0 {
		return ""
	}
	slices.Sort(took)
	return fmt.Sprintf(", median %.1f min", took[len(took)/2]/60)
}

// found is the blind hunt of a scenario.
func found(name string, done []Line) (Line, bool) {
	i := slices.IndexFunc(done, func(l Line) bool { return l.Part == "blind" && l.Name == name && l.Found })
	if i < 0 {
		return Line{}, false
	}
	return done[i], true
}

func leftShrink(p *plan, done []Line) []Unit {
	var all []Unit
	for _, name := range draw(p) {
		if _, ok := found(name, done); ok && len(all) < shrunk {
			all = append(all, Unit{Part: "shrink", Name: name})
		}
	}
	return remaining(all, done)
}

func argsShrink(p *plan, u Unit, done []Line) []string {
	l, _ := found(u.Name, done)
	return []string{"shrink", filepath.Join(p.runs(), l.Dir), "--budget=15m", "--confirm=20", "--seed=1000"}
}

var (
	smallest = regexp.MustCompile(`(?m)^--nemesis=(\S+) .*, (\d+) runs?$`)
	before   = regexp.MustCompile(`(?m)^  before .*: (\d+) of (\d+)`)
	rate     = regexp.MustCompile(`(?m)^  rate +(\d+) of (\d+)`)
)

// learnShrink reads what shrink printed.
func learnShrink(p *plan, m *made, l *Line) {
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	match := smallest.FindStringSubmatch(m.stdout)
	if l.ByHand = p.all[l.Name].steps(); match == nil {
		return
	}
	l.Why, l.Steps, l.Runs = "", strings.Count(match[1], ";")+1, number(match[2])
	for of, to := range map[*regexp.Regexp]*[2]int{before: &l.Before, rate: &l.Confirm} {
		if match := of.FindStringSubmatch(m.stdout); match != nil {
			*to = [2]int{number(match[1]), number(match[2])}
		}
	}
	l.Found = l.Confirm[1] > 0
}

func tableShrink(_ *plan, done []Line, out io.Writer) {
	small, confirmed := 0, 0
	fmt.Fprintln(out, "| scenario | steps | by hand | ratio | rate before | confirmed | runs | minutes | |\n|---|---|---|---|---|---|---|---|---|")
	for _, l := range done {
		ratio := float64(l.Steps) / float64(l.ByHand)
		if l.Found {
			confirmed++
			if l.Steps <= 3 {
				small++
			}
		}
		fmt.Fprintf(out, "| %s | %d | %d | %.1f | %d of %d | %d of %d | %d | %.1f | %s |\n", l.Name, l.Steps, l.ByHand, ratio, l.Before[0], l.Before[1], l.Confirm[0], l.Confirm[1], l.Runs, l.Seconds/60, l.Why)
	}
	fmt.Fprintf(out, "\nn = %d of %d; %d confirmed, %d of these with at most 3 steps\n", len(done), shrunk, confirmed, small)
}

// ofControl are the runs of a control that could tell something, and its hunts.
func ofControl(name string, done []Line) (runs, made int, accused []string) {
	for _, l := range done {
		if l.Part == "controls" && l.Name == name {
			runs, made, accused = runs+l.Runs, made+1, append(accused, l.Else...)
		}
	}
	return runs, made, accused
}

// leftControls is the next hunt of each control that has too few runs. The one with the fewest comes first.
func leftControls(_ *plan, done []Line) (left []Unit) {
	for _, name := range slices.Sorted(maps.Keys(controls)) {
		if runs, made, _ := ofControl(name, done); runs < ofEach && made < most {
			left = append(left, Unit{Part: "controls", Name: name, N: made + 1})
		}
	}
	slices.SortStableFunc(left, func(a, b Unit) int { return a.N - b.N })
	return left
}

func argsControls(p *plan, u Unit, _ []Line) []string {
	return slices.Concat([]string{"hunt"}, controls[u.Name], []string{"--for=service", "--seed=" + strconv.Itoa(u.N), "--budget=" + p.budget.String()})
}

func learnControl(_ *plan, m *made, l *Line) {
	l.Runs = len(slices.DeleteFunc(slices.Clone(m.record.Runs), func(r hunts.Run) bool { return r.Barren != "" }))
	for _, f := range m.record.Finds {
		text := fmt.Sprintf("%s in %s/%d", f.Signature, filepath.Base(m.dir), f.N)
		if f.Gallery != "" {
			text += " (like " + f.Gallery + ")"
		}
		l.Else = append(l.Else, text)
	}
}

func tableControls(_ *plan, done []Line, out io.Writer) {
	all, accusations := 0, 0
	fmt.Fprintln(out, "| control | runs that could tell | hunts | accused of |\n|---|---|---|---|")
	for _, name := range slices.Sorted(maps.Keys(controls)) {
		runs, made, accused := ofControl(name, done)
		all, accusations = all+runs, accusations+len(accused)
		fmt.Fprintf(out, "| %s | %d | %d | %s |\n", name, runs, made, strings.ReplaceAll(strings.Join(accused, "; "), "|", "/"))
	}
	fmt.Fprintf(out, "\nn = %d of %d runs; %d accusations\n", all, ofEach*len(controls), accusations)
}

func leftTier2(_ *plan, done []Line) []Unit {
	var all []Unit
	for n := 1; n <= searches; n++ {
		for _, name := range bugs {
			for _, arm := range arms {
				all = append(all, Unit{"tier2", name, arm, n})
			}
		}
	}
	return remaining(all, done)
}

func argsTier2(p *plan, u Unit, _ []Line) []string {
	properties := strings.Join(slices.Sorted(maps.Keys(p.all[u.Name].causes)), ",")
	return slices.Concat([]string{"hunt"}, p.all[u.Name].args(), []string{"--arm=" + u.Arm, "--for=" + properties, "--seed=" + strconv.Itoa(1000*u.N), "--budget=" + p.budget.String()})
}

// tableTier2 has the restricted means of runs and minutes to the first find, and in brackets how many searches found it. It compares nothing.
func tableTier2(_ *plan, done []Line, out io.Writer) {
	fmt.Fprintf(out, "| bug | %s |\n|---|%s\n", strings.Join(arms, " | "), strings.Repeat("---|", len(arms)))
	for _, name := range bugs {
		fmt.Fprintf(out, "| %s |", name)
		for _, arm := range arms {
			n, hits, runs, seconds := 0, 0, 0, 0.0
			for _, l := range done {
				if l.Name == name && l.Arm == arm {
					n, runs, seconds = n+1, runs+l.Runs, seconds+l.Seconds
					if l.Found {
						hits++
					}
				}
			}
			if n == 0 {
				fmt.Fprint(out, " |")
				continue
			}
			fmt.Fprintf(out, " %.1f runs, %.1f min (%d of %d) |", float64(runs)/float64(n), seconds/60/float64(n), hits, n)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "\nn = %d of %d searches\n", len(done), searches*len(bugs)*len(arms))
}
