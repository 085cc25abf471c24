//go:build linux && e2e

package docker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/client"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker/sandbox"
	"lockcheck/clusters/testkit"
)

// guestProgram is testdata/guest, which is static; it is built once.
var guestProgram = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "lockcheck-guest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", dir+"/guest", "./testdata/guest")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(dir + "/guest")
})

// guestImage is an image with nothing but that program.
func guestImage(t *testing.T, engine *client.Client, arch string, config map[string]any) string {
	t.Helper()
	built, err := guestProgram()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "guest")
	if err := os.WriteFile(program, built, 0o755); err != nil {
		t.Fatal(err)
	}
	c := &imageContent{arch: arch}
	if err := c.add(program, "/guest"); err != nil {
		t.Fatal(err)
	}
	config["Labels"] = map[string]string{labelTest: "1"}
	if err := c.configure(config); err != nil {
		t.Fatal(err)
	}
	tag := "lockcheck/test:" + c.id[:12]
	if err := c.load(t.Context(), engine, tag); err != nil {
		t.Fatal(err)
	}
	return tag
}

// engineArch is the engine's processor.
func engineArch(t *testing.T, engine *client.Client) string {
	t.Helper()
	f, err := learn(t.Context(), engine)
	if err != nil {
		t.Fatal(err)
	}
	return f.arch
}

// openGuests makes a site whose lock clients come from such an image, with one host.
func openGuests(t *testing.T, config map[string]any) (*site, clusters.Host) {
	t.Helper()
	engine := needEngine(t)
	image := guestImage(t, engine, engineArch(t, engine), config)
	s := testkit.Open(t, &Provider{ClientImage: image, Progress: testLog{t}}, clusters.Software{Backend: "test"}).(*site)
	return s, testkit.Host(t, s, "c1")
}

func startGuest(t *testing.T, h clusters.Host, args ...string) clusters.Process {
	t.Helper()
	p, err := h.Start(t.Context(), clusters.Command{InClientImage: true, Args: args, Log: "client", Pipes: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The image runs as the engine would run it: its entry point, its command or another, its user, directory and environment.
func TestALockClientOfAnImageRunsAsItsImageSays(t *testing.T) {
	t.Parallel()
	s, h := openGuests(t, map[string]any{
		"Entrypoint": []string{"guest"}, "Cmd": []string{"show", "by", "default"}, "User": "4711:42", "WorkingDir": "/home/its own", "Env": []string{"PATH=/", "MINE=1"},
		"Volumes": map[string]any{"/data": struct{}{}},
	})
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "[guest show by default] 4711 /home/its own 1 false"},
		{[]string{"show", "and no more"}, "[guest show and no more] 4711 /home/its own 1 false"},
	} {
		p := startGuest(t, h, c.args...)
		if got := testkit.ReadLine(t, p.Stdout()); got != c.want {
			t.Errorf("%v: %s, want %s", c.args, got, c.want)
		}
		if err := p.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	all := s.Provenance()
	if len(all) != 2 || all[1].Use != "lock clients" || all[1].Name != s.entrance.image.ref || !strings.HasPrefix(all[1].ID, "sha256:") {
		t.Errorf("it was made from %+v", all)
	}
}

func TestPipesLogAndExitCodeOfALockClientOfAnImage(t *testing.T) {
	t.Parallel()
	_, h := openGuests(t, map[string]any{"Entrypoint": []string{"/guest"}})
	p := startGuest(t, h, "talk")
	if _, err := p.Stdin().WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	if got := testkit.ReadLine(t, p.Stdout()); got != "hello" {
		t.Errorf("got %q", got)
	}
	p.Stdin().Close()
	<-p.Done()
	if p.Err() != nil {
		t.Errorf("end of input: %v", p.Err())
	}
	if log, err := os.ReadFile(p.(clusters.Logged).LogPath()); err != nil || string(log) != "hears\n" {
		t.Errorf("its log is %q, %v", log, err)
	}
	q := startGuest(t, h, "exit")
	<-q.Done()
	if q.Err() == nil || q.Err().Error() != "exit status 3" {
		t.Errorf("exit code 3 became %v", q.Err())
	}
}

func TestALockClientOfAnImageIsPausedToTheByte(t *testing.T) {
	t.Parallel()
	_, h := openGuests(t, map[string]any{"Entrypoint": []string{"/guest"}})
	silentWhilePaused(t, startGuest(t, h, "chatter"))
}

// Once it is stopped, the sandbox knows how much it has printed: as much as arrives, to the byte.
func TestWhatALockClientOfAnImageHasPrintedIsCounted(t *testing.T) {
	t.Parallel()
	_, h := openGuests(t, map[string]any{"Entrypoint": []string{"/guest"}})
	p := startGuest(t, h, "chatter").(*guest)
	var total int64
	read := func(within time.Duration) {
		_ = p.Stdout().SetReadDeadline(time.Now().Add(within))
		n, err := io.Copy(io.Discard, p.Stdout())
		if total += n; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("reading what it prints: %v", err)
		}
	}
	for total == 0 { // it may take its time to begin
		read(20 * time.Millisecond)
	}
	for range 5 {
		read(20 * time.Millisecond)
		answer, err := p.ask(t.Context(), sandbox.Pause)
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); total < answer.Printed && time.Now().Before(deadline); {
			read(20 * time.Millisecond)
		}
		read(50 * time.Millisecond)
		if total != answer.Printed {
			t.Errorf("the sandbox counts %d bytes, and %d arrived", answer.Printed, total)
		}
		if err := p.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAllProcessesOfALockClientOfAnImageEnd(t *testing.T) {
	t.Parallel()
	s, h := openGuests(t, map[string]any{"Entrypoint": []string{"/guest"}})
	p := startGuest(t, h, "fork")
	if got := testkit.ReadLine(t, p.Stdout()); got != "<nil>" {
		t.Fatal(got)
	}
	if err := p.(clusters.Pauser).Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := processesSeen(t, h, p)
	if len(all) != 2 {
		t.Fatalf("processes: %+v, want the one that was started and the one it forked", all)
	}
	for _, process := range all {
		for _, thread := range process.Threads {
			if !thread.State.Halted() {
				t.Errorf("thread %+v is not stopped", thread)
			}
		}
	}
	for range 2 { // a paused one, and one that is gone
		if err := p.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if p.Err() == nil || p.Err().Error() != "signal: killed" {
		t.Errorf("a killed client ended with %v", p.Err())
	}
	if err := p.(clusters.Pauser).Pause(t.Context()); err == nil || !strings.Contains(err.Error(), "client on host c1 has ended: signal: killed") {
		t.Errorf("pausing it: %v", err)
	}
	last := startGuest(t, h, "wait") // in the same place
	if all := things(t, s.engine, labelRun+"="+s.run); len(all) != 5 {
		t.Errorf("there are %v, want a network, a volume, the relay, the host and its client", all)
	}
	failUnlessMiscounted(t, s.Close())
	left(t, s.engine, labelRun+"="+s.run, 0)
	<-last.Done()
}

func TestImagesThatAreNoLockClientsAreRefused(t *testing.T) {
	t.Parallel()
	engine := needEngine(t)
	arch := engineArch(t, engine)
	foreign := map[string]string{"amd64": "arm64", "arm64": "amd64"}[arch]
	for name, c := range map[string]struct {
		image string
		kind  error
		want  []string
	}{
		"not there":            {"lockcheck/test:nowhere", clusters.ErrUnavailable, []string{"image lockcheck/test:nowhere of the lock client (--client-image)", "not in the engine"}},
		"another processor":    {guestImage(t, engine, foreign, map[string]any{"Entrypoint": []string{"/guest"}}), clusters.ErrUnavailable, []string{"is for linux/" + foreign, "the engine runs on linux/" + arch}},
		"nothing to run":       {guestImage(t, engine, arch, map[string]any{}), clusters.ErrUsage, []string{"neither an entry point nor a command"}},
		"no such entry point":  {guestImage(t, engine, arch, map[string]any{"Entrypoint": []string{"/nowhere"}}), clusters.ErrUnavailable, []string{"does not start", "/nowhere", "no such file"}},
		"none on its PATH":     {guestImage(t, engine, arch, map[string]any{"Entrypoint": []string{"nowhere"}}), clusters.ErrUnavailable, []string{"does not start", `"nowhere"`, "not found in $PATH"}},
		"a user without a uid": {guestImage(t, engine, arch, map[string]any{"Entrypoint": []string{"/guest"}, "User": "nobody"}), clusters.ErrUnavailable, []string{"does not start", "nobody"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := (&Provider{ClientImage: c.image, Progress: testLog{t}}).Open(t.Context(), clusters.SiteSpec{Run: t.Name(), LogDir: t.TempDir()})
			if err == nil {
				defer s.Close()
				_, err = testkit.Host(t, s, "c1").Start(t.Context(), clusters.Command{InClientImage: true, Log: "client", Pipes: true})
			}
			if !errors.Is(err, c.kind) {
				t.Fatalf("got %v", err)
			}
			for _, word := range c.want {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%v does not say %q", err, word)
				}
			}
			t.Log(err)
		})
	}
}

// Another process of the host is at the door before the container can be, and gets nothing of what is the container's.
func TestTheDoorIsForTheContainerAlone(t *testing.T) {
	t.Parallel()
	_, h := openGuests(t, map[string]any{"Entrypoint": []string{"/guest"}})
	knocks, err := h.Start(t.Context(), clusters.Command{Args: []string{"knock", "@lockcheck-2"}, Log: "knock", Pipes: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := testkit.ReadLine(t, knocks.Stdout()); got != "waits" {
		t.Fatal(got)
	}
	p := startGuest(t, h, "talk")
	if got := testkit.ReadLine(t, knocks.Stdout()); got != "given 0 <nil>" {
		t.Errorf("a process that is not the container's was %s", got)
	}
	if _, err := p.Stdin().WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	if got := testkit.ReadLine(t, p.Stdout()); got != "hello" {
		t.Errorf("the container says %q", got)
	}
}
