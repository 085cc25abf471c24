//go:build e2e

package main_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/model"
)

// nemesisProviders are where the table is run: local, or what LOCKCHECK_PROVIDERS names (scripts/soak).
func nemesisProviders() []string {
	if named := os.Getenv("LOCKCHECK_PROVIDERS"); named != "" {
		return strings.Split(named, ",")
	}
	return []string{"local"}
}

func TestAimedFaults(t *testing.T) {
	t.Parallel()
	for _, provider := range nemesisProviders() {
		t.Run(provider, func(t *testing.T) {
			if provider == "docker" {
				needDocker(t)
			}
			for _, row := range aimedRows {
				if row.local && provider != "local" {
					continue // refused by name elsewhere
				}
				for _, seed := range seeds() {
					t.Run(fmt.Sprintf("%s/%s/%d", row.backend, row.name, seed), func(t *testing.T) {
						t.Parallel() // a run waits most of its time
						leftTo(t, row.shownBy)
						on := []string{"run", "--workload=lock", "--backend=" + row.backend, "--provider=" + provider, fmt.Sprintf("--seed=%d", seed)}
						args := slices.Concat(on, row.args)
						if row.with != nil {
							args = append(args, row.with(t)...)
						}
						if !row.lasts {
							args = endingAt(row.violates, args...)
						}
						row.judge(t, lockcheck(t, program, args...))
					})
				}
			}
		})
	}
}

func (row aimed) judge(t *testing.T, o outcome) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("expected: %s", row.why)
		}
	}()
	t.Log(figures(t, o))
	if row.exposed != "" {
		if n := exposure(o, row.exposed); n == 0 {
			t.Errorf("no %s: %+v", row.exposed, o.results.Exposure)
		}
		if o.code != 1 && o.code != 0 {
			t.Errorf("exit %d", o.code)
		}
	}
	found := o.violated()
	if violation := len(found) > 0; violation != (o.code == 1) || o.code == 0 && len(row.violates) > 0 {
		t.Errorf("exit %d with %v violated", o.code, found)
	}
	for _, name := range row.violates {
		p := o.of(t, name)
		if name == model.EarlyExpiry && p.Verdict == model.Pass && o.results.Stats.Stalls > 0 {
			t.Logf("early-expiry is pass: the machine froze %d times, and a stall ends what a lease protects (R5)", o.results.Stats.Stalls)
			continue
		}
		if p.Verdict != model.Violation || p.Count == 0 {
			t.Errorf("%s is %s, want violation", name, p.Verdict)
		}
	}
	if row.forgets != nil {
		if lost := row.forgets(o); lost != nil {
			t.Logf("the servers lost what they had acknowledged, so that any property may be violated; found: %v; their logs:\n%s", found, strings.Join(lost, "\n"))
			return
		}
	}
	for _, name := range found {
		if !slices.Contains(row.violates, name) && !slices.Contains(row.may, name) {
			t.Errorf("%s is violated", name)
		}
	}
	if p := o.of(t, model.Liveness); p.Verdict != model.Pass {
		t.Errorf("liveness is %s: %s", p.Verdict, p.Reason)
	}
	if row.also != nil {
		row.also(t, o)
	}
}

// How much harm a guard lets through when a holder is paused at work.
func TestStaleWritesPerOutlivedLease(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ guard, shownBy string }{
		{guard: "none"},
		{guard: "before-work", shownBy: "TestPauseBreaksThePlainLock"},
		{guard: "before-write", shownBy: "TestAimedFaults: the late write"},
	} {
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("%s/%d", row.guard, seed), func(t *testing.T) {
				t.Parallel()
				leftTo(t, row.shownBy)
				args := []string{"run", "--backend=etcd", oneServer, "--workload=lock", "--nemesis=pause:holder@work", "--guard=" + row.guard,
					"--provider=local", lateLimit, fmt.Sprintf("--seed=%d", seed)}
				if row.guard != "before-write" {
					args = endingAt([]model.Name{model.StaleWrite}, args...)
				}
				o := lockcheck(t, program, args...)
				staleWritesPerLease(t, o)
				if row.guard != "before-write" && o.results.Stats.StaleAccepted == 0 {
					t.Error("no client looks after the work, and no stale write was accepted")
				}
			})
		}
	}
}
