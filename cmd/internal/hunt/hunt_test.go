package hunt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/model"
	"lockcheck/clusters"
	"lockcheck/nemesis"
	"lockcheck/reports/hunts"
)

func menu() nemesis.Menu {
	return nemesis.Menu{Conditions: nemesis.Conditions{TTL: 2 * time.Second, Servers: 3, Clients: 5, Limit: 12 * time.Second}, Constants: []time.Duration{2 * time.Second}}
}

// world is a lock that is broken by a pause of a holder behind a partition of the leader, in this order. The nearer a trial comes to that, the
// smaller is its margin.
func world(_ context.Context, t Trial) Outcome {
	o := Outcome{Verdict: model.Pass, Features: []string{t.spec.KindsOf()}, Margins: []Margin{{model.EarlyExpiry, 1e9}}}
	cut := strings.Index(t.Nemesis, "partition:leader")
	paused := strings.LastIndex(t.Nemesis, "pause:holder")
	switch {
	case cut >= 0 && paused > cut:
		o.Margins[0].By = 0
		o.Finds = []Find{{Signature: "early-expiry: A acquire, B acquire", Property: model.EarlyExpiry, Summary: "lost"}}
	case cut >= 0:
		o.Margins[0].By = 1e6
	case paused >= 0:
		o.Margins[0].By = 1e7
	}
	return o
}

// huntOf begins a hunt of so many runs.
func huntOf(t *testing.T, dir string, runs int, ctx context.Context) *Hunt {
	t.Helper()
	h, err := Create(dir, Header{Seed: 7, Budget: time.Hour}, NewSearch(menu(), 7))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	goOn(t, h, ctx, runs)
	return h
}

func goOn(t *testing.T, h *Hunt, ctx context.Context, runs int) {
	t.Helper()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := h.Go(ctx, 1, world, func(Ended) {
		if len(h.Trials) >= runs {
			stop()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAHuntFindsWhatTakesTwoSteps(t *testing.T) {
	h := huntOf(t, t.TempDir(), 600, t.Context())
	if h.Finds() != 1 {
		t.Fatalf("%d finds", h.Finds())
	}
	for i, trial := range h.Trials {
		if (trial.N%3 == 0) != (trial.Origin == Uniform) && trial.Origin != Uniform || trial.N%3 == 0 && trial.Origin != Uniform {
			t.Fatalf("trial %d is %s", i+1, trial.Origin)
		}
	}
}

// Guided by margins a search comes there sooner than chance alone, over many seeds.
func TestMarginsLeadTheSearch(t *testing.T) {
	const most, seeds = 400, 12
	guided, byChance := 0, 0
	for seed := int64(1); seed <= seeds; seed++ {
		s := NewSearch(menu(), seed)
		n := 0
		for n < most {
			n++
			trial := s.Next()
			if news := s.Learn(trial, world(t.Context(), trial)); len(news.New) > 0 {
				break
			}
		}
		guided += n
		uniform := NewSearch(menu(), seed+1000)
		n = 0
		for n < most {
			n++
			trial := Trial{spec: uniform.menu.Draw(uniform.r)}
			trial.Nemesis = trial.spec.String()
			if len(world(t.Context(), trial).Finds) > 0 {
				break
			}
		}
		byChance += n
	}
	t.Logf("runs to the find, of %d seeds: %d guided, %d by chance", seeds, guided, byChance)
	if 2*guided > byChance {
		t.Errorf("guided by margins it took %d runs, by chance %d", guided, byChance)
	}
}

// A hunt that was killed in the middle of a line goes on as if it had not been: the same decisions, and only what was under way is made again.
func TestAKilledHuntGoesOnTheSame(t *testing.T) {
	whole := huntOf(t, t.TempDir(), 60, t.Context())
	dir := t.TempDir()
	huntOf(t, dir, 25, t.Context()).Close()
	path := filepath.Join(dir, hunts.JournalFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-20], 0o644); err != nil { // the last outcome
		t.Fatal(err)
	}
	h, err := Resume(dir, NewSearch(menu(), 7))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if len(h.Trials) != 24 || len(h.open) != 1 {
		t.Fatalf("%d trials are known, and %d under way", len(h.Trials), len(h.open))
	}
	goOn(t, h, t.Context(), 60)
	line := func(e Ended) string { return fmt.Sprint(e.Trial, e.Seed, e.News) }
	for i := range whole.Trials {
		if a, b := line(whole.Trials[i]), line(h.Trials[i]); a != b {
			t.Fatalf("trial %d: %s, and resumed: %s", i+1, a, b)
		}
	}
}

// What a search is compared with learns nothing: all trials by chance, or each default mix in turn, and all of them.
func TestASearchOfOneOrigin(t *testing.T) {
	for _, only := range []Origin{Uniform, Usual} {
		s := NewSearch(menu(), 7)
		s.Only(only)
		seen := map[string]int{}
		for range 2 * len(s.mixes) {
			trial := s.Next()
			if trial.Origin != only {
				t.Fatalf("%s is %s, want %s", trial.Nemesis, trial.Origin, only)
			}
			seen[trial.Nemesis]++
			s.Learn(trial, world(t.Context(), trial))
		}
		if all := len(s.mixes); only == Usual && len(seen) != all {
			t.Errorf("%d of %d mixes", len(seen), all)
		}
	}
}

func TestAJournalOfOtherDecisionsIsRefused(t *testing.T) {
	dir := t.TempDir()
	huntOf(t, dir, 10, t.Context()).Close()
	if _, err := Resume(dir, NewSearch(menu(), 8)); err == nil || !strings.Contains(err.Error(), hunts.JournalFile+":2: trial 1 was") {
		t.Errorf("%v", err)
	}
	path := filepath.Join(dir, hunts.JournalFile)
	text, _ := os.ReadFile(path)
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), `{"trial"`, `{"trail"`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(dir, NewSearch(menu(), 7)); err == nil {
		t.Error("a damaged journal is read")
	}
}

// What one run did once may be noise, and a run that taught nothing earns nothing.
func TestWhatCounts(t *testing.T) {
	s := NewSearch(menu(), 1)
	learn := func(o Outcome) News { return s.Learn(s.Next(), o) }
	if news := learn(Outcome{Features: []string{"a", "b"}}); news.Features != 0 {
		t.Errorf("one run: %+v", news)
	}
	if news := learn(Outcome{Features: []string{"a"}, Barren: "the machine stood still"}); news.Features != 0 {
		t.Errorf("a barren run: %+v", news)
	}
	if news := learn(Outcome{Features: []string{"a"}}); news.Features != 1 || s.Seen() != 1 {
		t.Errorf("the second run: %+v, %d seen", news, s.Seen())
	}
	find := Find{Signature: "x"}
	if news := learn(Outcome{Finds: []Find{find}}); !slices.Equal(news.New, []Find{find}) {
		t.Errorf("a find: %+v", news)
	}
	if news := learn(Outcome{Finds: []Find{find}}); len(news.New) != 0 {
		t.Errorf("found again: %+v", news)
	}
}

func TestRunsAreMadeSideBySide(t *testing.T) {
	h, err := Create(t.TempDir(), Header{Seed: 3, Budget: time.Hour}, NewSearch(menu(), 3))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	seen := map[int]bool{}
	err = h.Go(ctx, 3, world, func(e Ended) {
		if seen[e.N] {
			t.Errorf("trial %d was made twice", e.N)
		}
		seen[e.N] = true
		if len(seen) == 60 {
			stop()
		}
	})
	if err != nil || len(seen) != 60 {
		t.Errorf("%d trials, %v", len(seen), err)
	}
}

// A hunt whose runs cannot be made ends with their exit code, and a fault that cannot be is not drawn again.
func TestRunsThatCannotBeMadeEndTheHunt(t *testing.T) {
	cannot := func(which func(string) bool) (*Hunt, error) {
		h, err := Create(t.TempDir(), Header{Seed: 3, Budget: time.Hour}, NewSearch(menu(), 3))
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		return h, h.Go(ctx, 1, func(ctx context.Context, trial Trial) Outcome {
			if which(trial.Nemesis) {
				return Outcome{Barren: "it is not there", Unmade: 69}
			}
			return world(ctx, trial)
		}, func(e Ended) {
			if e.N == 120 {
				stop()
			}
		})
	}
	h, err := cannot(func(string) bool { return true })
	var unmade *UnmadeError
	if !errors.As(err, &unmade) || unmade.Code != 69 || len(h.Trials) != mostUnmade {
		t.Errorf("%v after %d runs", err, len(h.Trials))
	}
	disks := 0
	h, err = cannot(func(text string) bool {
		if !strings.Contains(text, "disk") {
			return false
		}
		disks++
		return true
	})
	if err != nil || disks < 1 || disks > 3 || len(h.Trials) != 120 { // twice alone, and once with other kinds that were in no run before
		t.Errorf("%v, %d runs with a disk that fails, of %d", err, disks, len(h.Trials))
	}
}

// One run that fails says nothing of a fault that runs had before.
func TestOneFailureBansNoKind(t *testing.T) {
	s := NewSearch(menu(), 5)
	pause, err := nemesis.Parse("pause:holder@work,2ttl")
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		s.Learn(Trial{spec: pause}, Outcome{Verdict: model.Pass})
	}
	for range 2 * mostAlone {
		s.Learn(Trial{spec: pause}, Outcome{Barren: "the machine froze", Unmade: 70})
	}
	paused := 0
	for range 200 {
		if trial := s.Next(); strings.Contains(trial.Nemesis, "pause") {
			paused++
		}
	}
	if paused == 0 {
		t.Error("pause is not drawn again")
	}
}

// A kind that was in no run is banned once it failed alone twice. The search goes on without it.
func TestTwoFailuresAloneBanAKind(t *testing.T) {
	s := NewSearch(menu(), 5)
	disk, err := nemesis.Parse("disk:one,1ttl")
	if err != nil {
		t.Fatal(err)
	}
	kind := disk.KindsOf()
	s.Learn(Trial{spec: disk}, Outcome{Unmade: 69})
	if s.banned[kind] {
		t.Error("it is banned after one failure")
	}
	pause, _ := nemesis.Parse("pause:holder@work,2ttl")
	s.Learn(Trial{spec: pause}, Outcome{Verdict: model.Pass})
	if trial := s.Next(); trial.Nemesis != disk.String() {
		t.Errorf("the next trial is %s", trial)
	}
	s.Learn(Trial{spec: disk}, Outcome{Unmade: 69})
	if !s.banned[kind] {
		t.Error("it is not banned after two failures")
	}
}

// A hunt for which no fault is left ends with an error.
func TestAHuntWithoutFaults(t *testing.T) {
	nothing := menu()
	nothing.Takes = func(nemesis.Spec) bool { return false }
	h, err := Create(t.TempDir(), Header{Budget: time.Hour}, NewSearch(nothing, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	err = h.Go(t.Context(), 1, world, func(Ended) { t.Error("a run was made") })
	if !errors.Is(err, clusters.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	h.Trials = []Ended{{Outcome: Outcome{Unmade: 69, Barren: "no kernel module"}}}
	var unmade *UnmadeError
	if _, err := h.next(); !errors.As(err, &unmade) || unmade.Code != 69 {
		t.Errorf("%v", err)
	}
}
