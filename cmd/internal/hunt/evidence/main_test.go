package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/model"
	"lockcheck/reports/hunts"
)

const folder = "../../scenarios/files"

// fake is a plan whose lockcheck is a shell script that finds what the scenario pause-holder shows, and notes what it was asked for.
func fake(t *testing.T, script string) (*plan, func() []string) {
	t.Helper()
	dir := t.TempDir()
	record := hunts.Record{Version: hunts.FormatVersion, Runs: []hunts.Run{{N: 1}, {N: 2, Barren: "it froze"}, {N: 3}},
		Finds: []hunts.Find{{N: 1, Property: model.Liveness, Signature: "liveness", Run: 1}, {N: 2, Property: model.StaleWrite, Cause: "pause of holder", Signature: "stale-write", Run: 3, EndedNS: int64(90 * time.Second)}}}
	if err := record.Save(dir); err != nil {
		t.Fatal(err)
	}
	calls := filepath.Join(dir, "calls")
	text := fmt.Sprintf("#!/bin/sh\nfor out; do :; done\nout=${out#--out=}\necho \"$@\" >>%s\n%s\n", calls, strings.ReplaceAll(script, "RECORD", filepath.Join(dir, hunts.JSONFile)))
	program := filepath.Join(dir, "lockcheck")
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return &plan{program: program, file: filepath.Join(dir, "lines"), folder: folder, budget: time.Minute}, func() []string {
		text, _ := os.ReadFile(calls)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
}

const finds = `mkdir -p "$out/hunt-1" && cp RECORD "$out/hunt-1/hunt.json" && ln -s hunt-1 "$out/latest-hunt"; exit 1`

// The draw is the same each time, and of the gallery as it is: a new scenario changes it, and then the figures are of another draw.
func TestTheDraw(t *testing.T) {
	all, err := readScenarios(folder)
	if err != nil {
		t.Fatal(err)
	}
	p := &plan{all: all}
	names := draw(p)
	distinct := slices.Compact(slices.Sorted(slices.Values(names)))
	if len(names) != drawn || len(distinct) != drawn || !slices.Equal(names, draw(p)) || slices.IsSorted(names) {
		t.Errorf("drawn were %q", names)
	}
	for name, s := range all {
		if len(s.flags["backend"]) != 1 || len(s.causes) == 0 && name != "fence-holds" || s.steps() < 1 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	s := all["redlock-clock-jump"]
	if !s.shows(hunts.Find{Property: model.MutualExclusion, Cause: "clock skew of one"}) {
		t.Errorf("a clock of any server does not show %v", s)
	}
	for _, other := range []hunts.Find{{Property: model.MutualExclusion, Cause: "pause of holder"}, {Property: model.StaleWrite, Cause: "clock skew of one"}} {
		if s.shows(other) {
			t.Errorf("%v shows %v", other, s)
		}
	}
	for _, name := range bugs {
		if s, ok := all[name]; !ok || s.steps() < 2 {
			t.Errorf("%s is no scenario of two steps: %v", name, s)
		}
	}
}

// A blind hunt is given backend and client, and nothing else of its scenario.
func TestABlindHuntIsBlind(t *testing.T) {
	all, err := readScenarios(folder)
	if err != nil {
		t.Fatal(err)
	}
	p := &plan{all: all, budget: 10 * time.Minute}
	for name, want := range map[string]string{
		"redis-restart-amnesia":   "hunt --backend=redis --client=./.cache/libraries/redis-py",
		"redlock-restart-amnesia": "hunt --backend=redlock",
		"postgres-clock-jump":     "hunt --backend=postgres --client=row-lease",
	} {
		if got := strings.Join(argsBlind(p, Unit{Name: name}, nil), " "); got != want+" --for="+aims+" --seed=1 --budget=10m0s" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := strings.Join(argsTier2(p, Unit{Name: "redis-failover-loses-lock", Arm: "mixes", N: 2}, nil), " "); !strings.HasPrefix(got, "hunt --backend=redis --clients=9 --ttl=10s --arm=mixes --for=") || strings.Contains(got, "nemesis") {
		t.Error(got)
	}
}

// What ended is not made again, and a unit whose line was cut is.
func TestItGoesOn(t *testing.T) {
	p, calls := fake(t, finds)
	var out strings.Builder
	if err := p.run(t.Context(), "blind", false, &out); err != nil {
		t.Fatal(err)
	}
	if len(calls()) != drawn || !strings.Contains(out.String(), fmt.Sprintf("n = %d of %d; ", drawn, drawn)) {
		t.Fatalf("%d hunts\n%s", len(calls()), out.String())
	}
	whole, err := os.ReadFile(p.file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.file, whole[:len(whole)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := p.run(t.Context(), "blind", true, &out); err != nil || !strings.HasPrefix(out.String(), "blind "+draw(p)[drawn-1]+": lockcheck hunt --backend=") || !strings.Contains(out.String(), "n = 23 of 24") {
		t.Errorf("%v\n%s", err, out.String())
	}
	for range 2 {
		if err := p.run(t.Context(), "blind", false, &out); err != nil {
			t.Fatal(err)
		}
	}
	if all := calls(); len(all) != drawn+1 || all[drawn] != all[drawn-1] {
		t.Errorf("%d hunts, the last %q", len(all), all[len(all)-1])
	}
	if err := os.WriteFile(p.file, []byte("{}\nno\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := p.run(t.Context(), "blind", true, &out); err == nil || !strings.Contains(err.Error(), p.file+":2: ") {
		t.Errorf("%v", err)
	}
}

// What was found, and what not and why.
func TestTheTables(t *testing.T) {
	p, _ := fake(t, finds)
	all, err := readScenarios(folder)
	if err != nil {
		t.Fatal(err)
	}
	p.all = all
	learned := func(of *part, u Unit) Line {
		l, err := p.make(t.Context(), of, u, nil)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	table := func(of *part, lines ...Line) string {
		var out strings.Builder
		of.table(p, lines, &out)
		return out.String()
	}
	has := func(text string, all ...string) {
		t.Helper()
		for _, want := range all {
			if !strings.Contains(text, want) {
				t.Errorf("it lacks %q:\n%s", want, text)
			}
		}
	}
	blind := parts["blind"]
	hit, miss := learned(blind, Unit{Part: "blind", Name: "pause-holder"}), learned(blind, Unit{Part: "blind", Name: "redlock-clock-jump"})
	has(table(blind, hit, miss), "| pause-holder | yes | 3 | 1.5 |  |", "| redlock-clock-jump | no | 3 |", "not given: --clients=2", "found instead: liveness; stale-write", "n = 2 of 24; 1 found, median 1.5 min")
	if hit.Dir != "blind-pause-holder/latest-hunt/2" {
		t.Errorf("it is in %s", hit.Dir)
	}
	control := learned(parts["controls"], Unit{Part: "controls", Name: "consul with lock delay", N: 1})
	has(table(parts["controls"], control), "| consul with lock delay | 2 | 1 | liveness in ", "n = 2 of 600 runs; 2 accusations")
	if left := leftControls(p, []Line{control}); len(left) != len(controls) || left[len(left)-1].Name != control.Name || left[len(left)-1].N != 2 {
		t.Errorf("left are %v", left)
	}
	control.Runs = ofEach
	if left := leftControls(p, []Line{control}); len(left) != len(controls)-1 {
		t.Errorf("left are %v", left)
	}
	arm := func(arm string, found bool, runs int) Line {
		return Line{Unit: Unit{"tier2", "redlock-clock-jump", arm, 1}, Found: found, Runs: runs, Seconds: 60 * float64(runs)}
	}
	has(table(parts["tier2"], arm("hunt", true, 3), arm("hunt", false, 20), arm("uniform", false, 20)),
		"| redlock-clock-jump | 11.5 runs, 11.5 min (1 of 2) | | 20.0 runs, 20.0 min (0 of 1) |", "n = 3 of 144 searches")
	if left := leftTier2(p, []Line{arm("hunt", true, 3)}); len(left) != 143 {
		t.Errorf("%d are left", len(left))
	}

	missing, _ := fake(t, `echo "lockcheck: etcd is not there" >&2; exit 69`)
	missing.all = all
	l, err := missing.make(t.Context(), blind, Unit{Part: "blind", Name: "pause-holder"}, nil)
	if err != nil || l.Found {
		t.Errorf("%v, %+v", err, l)
	}
	has(table(blind, l), "| pause-holder | no | 0 | 0.0 | etcd is not there |")
}

// What shrink prints is read: as lockcheck prints it, see TestAShrunkPlanIsAPlanFile there.
func TestWhatShrinkPrintsIsRead(t *testing.T) {
	p, _ := fake(t, `cat <<'END'
--nemesis=partition:leader,3ttl;pause:holder@work,2ttl --clients=2 --keys=1, 57 runs
  before    partition:leader;pause:holder@work;kill:one: 9 of 10 (59–99 %)
  again     lockcheck run --backend=redis
  rate      18 of 20 (69–98 %), with fresh seeds
END`)
	all, err := readScenarios(folder)
	if err != nil {
		t.Fatal(err)
	}
	p.all = all
	name := "redlock-clock-jump" // of four steps
	blind := []Line{{Unit: Unit{Part: "blind", Name: name}, Found: true, Dir: "blind-x/1"}, {Unit: Unit{Part: "blind", Name: "pause-holder"}}}
	u := Unit{Part: "shrink", Name: name}
	if args := argsShrink(p, u, blind); args[1] != filepath.Join(p.file+".d", "blind-x", "1") {
		t.Errorf("%q", args)
	}
	l, err := p.make(t.Context(), parts["shrink"], u, blind)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	tableShrink(p, []Line{l}, &out)
	if !strings.Contains(out.String(), "| redlock-clock-jump | 2 | 4 | 0.5 | 9 of 10 | 18 of 20 | 57 | 0.0 |  |") || !strings.Contains(out.String(), "n = 1 of 10; 1 confirmed, 1 of these with at most 3 steps") {
		t.Error(out.String())
	}
	var lines []Line
	for _, name := range draw(p) {
		lines = append(lines, Line{Unit: Unit{Part: "blind", Name: name}, Found: true})
	}
	if left := leftShrink(p, lines); len(left) != shrunk || left[0].Name != draw(p)[0] {
		t.Errorf("left are %v", left)
	}
}
