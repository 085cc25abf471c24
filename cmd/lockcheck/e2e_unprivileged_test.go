//go:build e2e

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/consul"
	"lockcheck/clusters/backend/kubernetes"
	"lockcheck/clusters/backend/postgres"
)

// nobody is the Linux user that owns nothing.
const nobody = 65534

// asNobody runs the command as a user who owns nothing but the directory of the output.
func asNobody(t *testing.T, args ...string) outcome {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a part of all other tests of this run, which is that of an unprivileged user")
	}
	o := outcome{out: filepath.Join(t.TempDir(), "out")}
	for _, dir := range []string{filepath.Dir(filepath.Dir(o.out)), filepath.Dir(o.out)} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, append(args, "--out="+o.out)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	cmd.Dir = "/"
	return finish(t, cmd, o)
}

func TestPauseAsAnUnprivilegedUser(t *testing.T) {
	t.Parallel()
	o := asNobody(t, endingAt(harmed, slices.Concat(pauseRun, []string{"--seed=4", "--time-limit=10s"})...)...)
	if o.code != 1 {
		t.Errorf("exit %d, want 1", o.code)
	}
	mustPass(t, o, serviceProperties...)
}

const sixKinds = "pause:holder@work,0.1..0.3ttl,partition:client,0.1..0.3ttl,kill:one,0.1..0.3ttl,clock:one+90s,0.1..0.3ttl,loss:client,0.1..0.3ttl," +
	"delay:client,50ms±10ms,0.1..0.3ttl"

// A mix of all faults as a user who owns nothing, nor the programs of the servers.
func TestFaultsAsAnUnprivilegedUser(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		of    clusters.Backend // whose server's program is in this user's own directories; nil where every user reaches it
		args  []string
		lacks []model.Name // n/a for the default client
	}{
		{name: "etcd"},
		{name: consul.Name, of: consul.Backend{}, args: []string{"--set=lock-delay=0s"}}, // else one lost lock takes the time of the run
		{name: kubernetes.Name, of: kubernetes.Backend{}},
		// An advisory lock has no lease and no token.
		{name: postgres.Name, lacks: []model.Name{model.EarlyExpiry, model.ReleaseByOwner, model.TokenMonotonicity}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			args := slices.Concat([]string{"run", "--backend=" + row.name, "--workload=lock", "--provider=local", "--time-limit=16s",
				"--seed=54", // draws all six within the first 6 s; others leave the sixth to the end, which a busy machine does not reach
				"--nemesis=" + sixKinds}, row.args)
			if row.of != nil {
				args = append(args, "--server-bin="+forAll(t, row.of))
			}
			o := asNobody(t, args...)
			t.Log(figures(t, o))
			took := map[history.F]int{}
			for _, f := range faults(t, o) {
				if strings.Contains(f.ended.Error, "the load ended before the fault was confirmed") && f.healed.Type != history.Fail {
					continue
				}
				if f.ended.Type != history.OK || f.healed.Type != history.OK {
					t.Errorf("%s of %s: %s %s, healed: %s %s", f.invoked.F, f.invoked.Target, f.ended.Type, f.ended.Error, f.healed.Type, f.healed.Error)
				}
				took[f.invoked.F]++
			}
			for _, kind := range kindsOf(t, sixKinds) {
				if took[history.F(kind)] == 0 {
					t.Errorf("no %s: %v", kind, took)
				}
			}
			for _, name := range serviceProperties {
				want := model.Pass
				if slices.Contains(row.lacks, name) {
					want = model.NotApplicable
				}
				if p := o.of(t, name); p.Verdict != want && !slices.Contains(freesOthers(row.name), name) {
					t.Errorf("%s is %s (%s), want %s: no fault of this run can make a correct service break it", name, p.Verdict, p.Reason, want)
				}
			}
		})
	}
}

// The pooler as a user who owns nothing, on whose PATH it need not be.
func TestAPoolerAsAnUnprivilegedUser(t *testing.T) {
	t.Parallel()
	needPooler(t)
	o := asNobody(t, "run", "--backend=postgres", "--provider=local", "--set=pooler=session", "--seed=1", "--nemesis=kill:node(2)@work,0.1..0.3ttl", untilExposed, atMost)
	if o.code > 1 || exposure(o, history.OfServers("kills")) == 0 {
		t.Errorf("exit %d, %+v", o.code, o.results.Exposure)
	}
	if p := o.of(t, model.LockLinearizability); p.Verdict != model.Pass {
		t.Errorf("%s is %s: %s", p.Name, p.Verdict, p.Reason)
	}
}

// Faults that stop nothing, as a user who owns nothing: each takes effect, and is over at the end.
func TestFaultsThatStopNothingAsAnUnprivilegedUser(t *testing.T) {
	t.Parallel()
	tookAndHealed(t, asNobody(t, "run", "--backend=etcd", "--provider=local", "--seed=1", faultsThatStopNothing, longWork, untilExposed, atMost))
}

// In containers, too.
func TestFaultsThatStopNothingInContainers(t *testing.T) {
	t.Parallel()
	needDocker(t)
	o := lockcheck(t, program, "run", "--backend=etcd", "--provider=docker", "--seed=1", faultsThatStopNothing, longWork, untilExposed, atMost)
	tookAndHealed(t, o)
	nothingLeft(t, o)
}

// faultsThatStopNothing come one at a time. The load lasts until each has come.
const faultsThatStopNothing = "--nemesis=delay:holder-servers@work,50ms±10ms,0.5..1ttl,rate:leader,64kbit,0.5..1ttl," +
	"slow:holder,20%,1..1.5ttl,restart:one,0.1..0.3ttl"

// Work that is longer than a fault takes on a busy machine, after which holders would be done: a delay takes up to a second, a pause a tenth
// of that. It is for loads that do not go on until a fault has met a holder.
const (
	longWork          = "--work=1s..2s"
	meetsPauseAlone   = "--work=300ms..400ms" // where all acquires wait, as those of jobs do
	meetsPause        = meetsPauseAlone + ",tries,given-up"
	meetsInContainers = "--work=500ms..800ms,tries,given-up" // and less than a lease, which some lock clients do not renew
)

func tookAndHealed(t *testing.T, o outcome) {
	t.Helper()
	t.Log(figures(t, o))
	took := map[history.F]int{}
	for _, f := range inOrder(t, o) {
		took[f.invoked.F]++
	}
	for _, kind := range kindsOf(t, strings.TrimPrefix(faultsThatStopNothing, "--nemesis=")) {
		if took[history.F(kind)] == 0 {
			t.Errorf("no %s: %v", kind, took)
		}
	}
	if o.code > 1 {
		t.Errorf("exit %d", o.code)
	}
	for _, name := range serviceProperties {
		if p := o.of(t, name); p.Verdict == model.Violation {
			t.Errorf("%s is violated by a service that these faults make only slower", name)
		}
	}
}

// forAll copies the program of a backend's server to where every user reaches it: this user's own directories may be closed to others.
func forAll(t *testing.T, backend clusters.Backend) string {
	t.Helper()
	found, err := backend.Software().OnMachine(clusters.ServerPaths{})
	if err != nil {
		skip(t, "%v", err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(program), filepath.Base(found[0]))
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
