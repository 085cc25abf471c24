//go:build e2e

package main_test

import (
	"strings"
	"testing"

	"lockcheck/checker/model"
)

// A library whose waiters are never woken again after the server was restarted is found out, though fresh clients get the lock
// at once; the same client without that defect is not accused (rule J8).
func TestAWakeUpThatIsLostAfterAReconnect(t *testing.T) {
	t.Parallel()
	for client, hangs := range map[string]bool{"setnx+lost-wakeup": true, "setnx": false} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			o := lockcheck(t, planted, "run", "--backend=redis", "--nodes=1", "--client="+client, "--nemesis=kill:one@work", "--time-limit=6s", "--seed=5")
			p := o.of(t, model.Liveness)
			if !hangs {
				if p.Verdict != model.Pass {
					t.Errorf("liveness is %s: %s", p.Verdict, p.Reason)
				}
				return
			}
			if o.code != 1 || p.Verdict != model.Violation || p.Count != 1 {
				t.Fatalf("exit %d; liveness is %s (%d): %s", o.code, p.Verdict, p.Count, p.Reason)
			}
			f := p.Findings[0]
			for _, says := range []string{"waited for k1: not granted in", "and a fresh session then got it in", "the waiters' library lost its wake-up"} {
				if !strings.Contains(f.Summary, says) {
					t.Errorf("the finding does not say %q: %s", says, f.Summary)
				}
			}
			if f.Cause.Kind != "kill of one" || !strings.Contains(f.Cause.Text, "the last fault before was a kill of n1") {
				t.Errorf("the cause is %+v", f.Cause)
			}
			if !o.results.Stats.Starved.Long {
				t.Errorf("no client starved: %+v", o.results.Stats.Starved)
			}
			if f.Witness == "" {
				t.Errorf("no witness: %s", f.NoWitness)
			}
			if !strings.Contains(o.stderr, "everything is healed, and c") || !strings.Contains(o.stderr, "still wait") {
				t.Errorf("it was not said why the run waits:\n%s", o.stderr)
			}
		})
	}
}
