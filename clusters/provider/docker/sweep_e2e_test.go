//go:build linux && e2e

package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

// things lists what bears a label.
func things(t *testing.T, engine *client.Client, label string) []string {
	t.Helper()
	labelled := filters.NewArgs(filters.Arg("label", label))
	var all []string
	containers, err := engine.ContainerList(t.Context(), container.ListOptions{All: true, Filters: labelled})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range containers {
		all = append(all, "container "+strings.Join(c.Names, " "))
	}
	networks, err := engine.NetworkList(t.Context(), network.ListOptions{Filters: labelled})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range networks {
		all = append(all, "network "+n.Name)
	}
	volumes, err := engine.VolumeList(t.Context(), volume.ListOptions{Filters: labelled})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range volumes.Volumes {
		all = append(all, "volume "+v.Name)
	}
	return all
}

// left expects that so many things bear a label, beside networks whose endpoints the engine miscounts: those are its own.
func left(t *testing.T, engine *client.Client, label string, want int) {
	t.Helper()
	all := things(t, engine, label)
	if len(all) > want {
		all = withoutMiscounted(t, engine, all)
	}
	if len(all) != want {
		t.Errorf("with label %s: %v, want %d", label, all, want)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	t.Parallel()
	engine := needEngine(t)
	s := openSite(t, testImage(t, engine, ""), "lockcheck", "sleep")
	command, err := s.Server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	command.Log, command.Data = "server", "data"
	server, err := testkit.Host(t, s, "n1").Start(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	p := testkit.Start(t, testkit.Host(t, s, "c1"), "sleep")
	if err := p.(clusters.Pauser).Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Host(t, s, "c2") // on its way
	if all := things(t, engine, labelRun+"="+s.run); len(all) < 5 {
		t.Errorf("there should be more than %v", all)
	}
	for range 2 {
		failUnlessMiscounted(t, s.Close())
	}
	left(t, engine, labelRun+"="+s.run, 0)
	for _, p := range []clusters.Process{server, p} {
		select {
		case <-p.Done():
		case <-time.After(20 * time.Second):
			t.Error("a process of a closed site is not done")
		}
	}
	if _, err := s.Host(t.Context(), "n2"); err == nil {
		t.Error("a host on a closed site was made")
	}
}

// A harness that is killed with its janitor leaves a network and volumes; its containers end by themselves. Sweep removes all of
// it, and nothing else: not another run that lives, not what does not bear our labels.
func TestAKilledHarnessLeavesNothingAfterSweep(t *testing.T) {
	engine := needEngine(t)
	image := testImage(t, engine, "")
	foreign, err := engine.ContainerCreate(t.Context(), &container.Config{
		Image: image, Cmd: []string{"lockcheck", "sleep"}, Labels: map[string]string{"another": "label", "lockcheck.runner": "x"},
	}, &container.HostConfig{NetworkMode: "none"}, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer removeContainer(context.Background(), engine, foreign.ID)
	if err := engine.ContainerStart(t.Context(), foreign.ID, container.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	living := openSite(t, "")
	p := testkit.Start(t, testkit.Host(t, living, "c1"), "talk")

	rounds := 2
	if os.Getenv("LOCKCHECK_TEST_KILLS") != "" {
		rounds = 10
	}
	for round := range rounds {
		run := fmt.Sprintf("killed-%d-%d", os.Getpid(), round)
		victim := startHarness(t, image, run)
		if all := things(t, engine, labelRun+"="+run); len(all) < 5 {
			t.Errorf("the harness had only %v", all)
		}
		killJanitor(t, victim)
		kill(t, victim)
		begun := time.Now()
		removed := sweepHere(t)
		t.Logf("swept %d in %v: %v", len(removed), time.Since(begun), removed)
		left(t, engine, labelRun+"="+run, 0)
	}
	if there, err := engine.ContainerInspect(t.Context(), foreign.ID); err != nil || !there.State.Running {
		t.Errorf("the container that is not ours: %v", err)
	}
	if _, err := p.Stdin().WriteString("alive\n"); err != nil {
		t.Error(err)
	}
	if got := testkit.ReadLine(t, p.Stdout()); got != "alive" {
		t.Errorf("the living run said %q", got)
	}
}

// startHarness starts a harness of its own, which has a run when it returns.
func startHarness(t *testing.T, image, run string) *exec.Cmd {
	t.Helper()
	harness := exec.Command(selfPath, "harness", image, run)
	harness.Stderr = os.Stderr
	out, err := harness.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := harness.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "up ") {
		t.Fatalf("the harness said %q, %v", line, err)
	}
	t.Cleanup(func() { os.RemoveAll(strings.TrimSpace(strings.TrimPrefix(line, "up "))) })
	return harness
}

func kill(t *testing.T, harness *exec.Cmd) {
	t.Helper()
	if err := harness.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = harness.Wait()
}

// A harness that dies while the engine starts its containers leaves an engine that still removes them: one whose input was
// attached too early would never be removed, and soon the engine would answer no requests.
func TestAHarnessKilledWhileItStartsLeavesAnEngineThatWorks(t *testing.T) {
	engine := needEngine(t)
	image := testImage(t, engine, "")
	for round := range 4 {
		run := fmt.Sprintf("starting-%d-%d", os.Getpid(), round)
		victim := exec.Command(selfPath, "harness", image, run)
		victim.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
		out, err := victim.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		// The relay's container is the first; it is being started as soon as it is there.
		for deadline := time.Now().Add(time.Minute); !hasContainer(things(t, engine, labelRun+"="+run)); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the harness makes no container")
			}
		}
		time.Sleep(time.Duration(round) * 100 * time.Millisecond)
		if err := victim.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if line, _ := bufio.NewReader(out).ReadString('\n'); strings.HasPrefix(line, "up ") {
			t.Log("it had started everything")
		}
		_ = victim.Wait()
		// What the engine was asked for before may come to be after the first sweep.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		for {
			_, err = Sweep(ctx)
			all := things(t, engine, labelRun+"="+run)
			if len(all) == 0 || errors.Is(err, clusters.ErrMiscounted) && len(withoutMiscounted(t, engine, all)) == 0 {
				break
			} else if ctx.Err() != nil {
				t.Fatalf("%v are left after a minute: %v", all, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		cancel()
	}
}

func hasContainer(things []string) bool {
	return slices.ContainsFunc(things, func(thing string) bool { return strings.HasPrefix(thing, "container ") })
}
