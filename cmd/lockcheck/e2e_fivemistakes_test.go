//go:build e2e

package main_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/checker/model"
)

// Mistakes that small lock clients make (testdata/mistakes), each with the fault that shows it. A hang is seen after the bound of rule J8,
// so these runs last for a minute and more, and one of them depends on which request a fault meets: the soak runs them.
func TestMistakesOfSmallLockClients(t *testing.T) {
	left(t, "TestAWakeUpThatIsLostAfterAReconnect")
	t.Parallel()
	mistakes := filepath.Join(t.TempDir(), "mistakes")
	if out, err := exec.Command("go", "build", "-o", mistakes, "./testdata/mistakes").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for makes, c := range map[string]struct {
		args  []string
		finds []model.Name
		says  string // in the verdict's sentence
	}{
		"none":          {[]string{"--nemesis=none", "--time-limit=5s"}, nil, "PASS"},
		"token-apart":   {[]string{"--nemesis=delay:waiter-servers,0.6ttl,4ttl", "--workload=fencing", "--work=2s..3s", "--clients=2", "--time-limit=110s"}, []model.Name{model.TokenMonotonicity, model.LockLinearizability}, ""},
		"predecessor":   {[]string{"--nemesis=pause:holder,45s", "--clients=3", "--time-limit=50s"}, []model.Name{model.Liveness}, ""},
		"hanging":       {[]string{"--nemesis=pause:holder,1.5..2.2ttl", "--clients=3", "--time-limit=60s"}, nil, "never answered, and no fault explains it"},
		"by-name":       {[]string{"--nemesis=pause:holder,1.5..2.2ttl", "--clients=2", "--time-limit=20s", "--guard=none"}, []model.Name{model.ReleaseByOwner}, ""},
		"watchdog":      {[]string{"--nemesis=pause:one,0.3..0.5ttl", "--clients=3", "--time-limit=20s", "--work=5ms..20ms"}, []model.Name{model.Liveness}, ""},
		"asleep":        {[]string{"--nemesis=none", "--clients=3", "--time-limit=40s"}, []model.Name{model.Liveness}, ""},
		"left":          {[]string{"--nemesis=kill:holder@work", "--clients=3", "--time-limit=40s"}, []model.Name{model.Liveness}, ""},
		"none, delayed": {[]string{"--nemesis=delay:waiter-servers,0.2ttl,2ttl", "--clients=3", "--time-limit=10s"}, nil, ""},
	} {
		t.Run(makes, func(t *testing.T) {
			t.Parallel()
			word, _, _ := strings.Cut(makes, ",")
			for _, seed := range seeds() {
				o := lockcheck(t, program, append([]string{"run", "--backend=redis", "--nodes=1", "--provider=local", "--ttl=1s", fmt.Sprintf("--seed=%d", seed), "--client=" + mistakes + " " + word}, c.args...)...)
				for _, name := range c.finds {
					if p := o.of(t, name); p.Verdict != model.Violation {
						t.Errorf("seed %d: %s is %s: %s", seed, name, p.Verdict, p.Reason)
					}
				}
				if !strings.Contains(o.stdout+o.stderr, c.says) {
					t.Errorf("seed %d: it does not say %q", seed, c.says)
				}
			}
		})
	}
}
