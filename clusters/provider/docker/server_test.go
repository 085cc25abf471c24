//go:build linux && e2e

package docker

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

func startServer(t *testing.T, s *site, h clusters.Host, args ...string) *clusters.Server {
	t.Helper()
	command, err := s.Server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	command.Args, command.Log = append(command.Args, args...), "server"
	p, err := clusters.StartServer(t.Context(), h, command)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Stopping the first process of a container looks like success where that is an init process or a shell and the server
// goes on answering.
func TestAServerIsPausedWithAnyFirstProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		user    string
		inImage []string
	}{
		"itself":           {"", []string{"lockcheck", "echo"}},
		"an init process":  {"", []string{"lockcheck", "init", "/lockcheck", "echo"}},
		"a shell":          {"", []string{"sh", "-c", `/lockcheck echo "$0"; echo over`}},
		"another user":     {"1234:1234", []string{"lockcheck", "init", "/lockcheck", "echo"}},
		"in a new session": {"", []string{"sh", "-c", `/lockcheck init /lockcheck echo "$0" & wait`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openSite(t, testImage(t, needEngine(t), c.user), c.inImage...)
			h := testkit.Host(t, s, "n1")
			addr := h.Addr() + ":2379"
			server := startServer(t, s, h, addr)
			pausesAndResumes(t, s, server.Process(), addr)

			if err := server.Process().(clusters.Pauser).Pause(t.Context()); err != nil {
				t.Fatal(err)
			}
			all := processesSeen(t, h, server.Process())
			threads := 0
			for _, process := range all {
				for _, thread := range process.Threads {
					if threads++; thread.State != 'T' {
						t.Errorf("thread %d of process %d is %c", thread.Thread, process.PID, thread.State)
					}
				}
			}
			if threads < 2 {
				t.Errorf("only %d threads were seen: %+v", threads, all)
			}
			if err := server.Process().Kill(t.Context()); err != nil { // stopped as it is
				t.Fatal(err)
			}
			for _, process := range processesSeen(t, h, server.Process()) {
				for _, thread := range process.Threads {
					if !thread.State.Over() {
						t.Errorf("after the kill: %+v", process)
					}
				}
			}
		})
	}
}

// A server that the kernel kills for want of memory is not one that was killed from outside.
func TestAServerThatNeedsTooMuchMemoryIsNamed(t *testing.T) {
	t.Parallel()
	s := openSite(t, testImage(t, needEngine(t), ""), "lockcheck")
	s.memory = 128 << 20
	hog := startServer(t, s, testkit.Host(t, s, "n1"), "hog").Process()
	select {
	case <-hog.Done():
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
	if err := hog.Err(); err == nil || !strings.Contains(err.Error(), "more memory than the 128 MB") {
		t.Errorf("it ended with %v", err)
	}
	victim := startServer(t, s, testkit.Host(t, s, "n2"), "sleep").Process()
	id := victim.(*server).id
	if err := s.engine.ContainerKill(t.Context(), id, "KILL"); err != nil {
		t.Fatal(err)
	}
	<-victim.Done()
	if err := victim.Err(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("one that was killed ended with %v", err)
	}
}

// What an image says of its server's health is not looked at: the engine would start processes beside a paused server.
func TestNothingIsStartedBesideAServer(t *testing.T) {
	t.Parallel()
	s := openSite(t, testImage(t, needEngine(t), ""), "lockcheck", "sleep")
	p := startServer(t, s, testkit.Host(t, s, "n1")).Process().(*server)
	there, err := s.engine.ContainerInspect(t.Context(), p.id)
	if err != nil {
		t.Fatal(err)
	}
	if check := there.Config.Healthcheck; check == nil || len(check.Test) != 1 || check.Test[0] != "NONE" {
		t.Errorf("the engine looks at its health with %+v", check)
	}
	if there.State.Health != nil && there.State.Health.Status != "none" {
		t.Errorf("its health is %+v", there.State.Health)
	}
	for _, m := range there.Mounts {
		v, err := s.engine.VolumeInspect(t.Context(), m.Name)
		if err != nil || v.Labels[labelRun] != s.run {
			t.Errorf("the volume at %s bears no label of the run: %v, %v", m.Destination, v.Labels, err)
		}
	}
	if len(there.Mounts) != 2 {
		t.Errorf("its volumes are %+v", there.Mounts)
	}
	for port, published := range there.NetworkSettings.Ports {
		if len(published) > 0 {
			t.Errorf("port %s is published at %v", port, published)
		}
	}
}

func TestFilesDataRestartAndWipe(t *testing.T) {
	t.Parallel()
	s := openSite(t, testImage(t, needEngine(t), ""), "lockcheck", "append")
	h := testkit.Host(t, s, "n1")
	dir, err := h.DataDir("data")
	if err != nil {
		t.Fatal(err)
	}
	command, err := s.Server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	addr := h.Addr() + ":2379"
	command.Log, command.Data, command.Env = "server", "data", []string{"MINE=1"}
	command.Files = map[string][]byte{
		dir + "/deep/config": []byte("from the harness\n"), "/etc/server/config": []byte("elsewhere\n"), dir + "/placeholder": []byte("must not appear\n"),
	}
	command.Args = append(command.Args, dir+"/deep/config", "/etc/server/config", dir+"/placeholder", addr)
	server, err := clusters.StartServer(t.Context(), h, command)
	if err != nil {
		t.Fatal(err)
	}
	log := server.Process().(clusters.Logged).LogPath()
	// printed is what the log has behind a part of it once it has what is wanted, which reaches it some time after the server
	// answers; or what it had when that did not come.
	printed := func(behind, want string) (said string) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			text, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if said = strings.TrimPrefix(string(text), behind); strings.Contains(said, want) || time.Now().After(deadline) {
				return said
			}
		}
	}
	// again restarts the server, which has to print what is wanted.
	again := func(empty bool, want string) {
		t.Helper()
		before, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Process().Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := server.Restart(t.Context(), empty); err != nil {
			t.Fatal(err)
		}
		testkit.AnswersAtLast(t, s, addr)
		said := printed(string(before), want)
		if !strings.Contains(said, want) {
			t.Errorf("restarted, without its data: %v; it did not find %q:\n%s", empty, want, said)
		}
	}
	if err := server.Restart(t.Context(), false); err == nil {
		t.Error("a server that runs was started again")
	}
	if err := h.Wipe(t.Context(), "data"); err == nil {
		t.Error("data in use was wiped")
	}
	testkit.AnswersAtLast(t, s, addr)
	text := printed("", "ready\n")
	for _, want := range []string{"MINE=1\n", "from the harness\nstarted\n", "elsewhere\n", "of the image\n", "ready\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the first start: no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "must not appear") {
		t.Error("a file of the image was replaced")
	}
	again(false, "from the harness\nstarted\nstarted\n")
	again(true, "from the harness\nstarted\nelsewhere")
}

func TestAServerThatEndsSaysHow(t *testing.T) {
	t.Parallel()
	s := openSite(t, testImage(t, needEngine(t), ""), "sh", "-c", `echo "last words" >&2; exit $0`)
	h := testkit.Host(t, s, "n1")
	for status, want := range map[string]string{"0": "", "3": "exit status 3", "127": "could not run its program"} {
		p := startServer(t, s, h, status).Process()
		<-p.Done()
		switch {
		case want == "" && p.Err() != nil, want != "" && (p.Err() == nil || !strings.Contains(p.Err().Error(), want)):
			t.Errorf("exit %s became %v", status, p.Err())
		}
		if log, err := os.ReadFile(p.(clusters.Logged).LogPath()); err != nil || !strings.Contains(string(log), "last words") {
			t.Errorf("log: %q, %v", log, err)
		}
		if err := p.(clusters.Pauser).Pause(t.Context()); err == nil || !strings.Contains(err.Error(), "server on host n1 has ended") {
			t.Errorf("pausing what has ended: %v", err)
		}
	}
}

func TestImagesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	engine := needEngine(t)
	image := testImage(t, engine, "")
	for name, c := range map[string]struct {
		image, program string
		want           []string
	}{
		"no such image": {"127.0.0.1:1/nobody/nothing:1", "redis-server", []string{"127.0.0.1:1/nobody/nothing:1", "--image", "LOCKCHECK_IMAGE_TEST", "scripts/images test"}},
		"no such id":    {"sha256:0000000000000000000000000000000000000000000000000000000000000000", "x", []string{"there is no such image", "scripts/images"}},
		"no server":     {image, "redis-server", []string{"has no program redis-server on its PATH", image, "--image"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := (&Provider{Image: c.image}).Open(t.Context(), clusters.SiteSpec{
				Run: "images", LogDir: t.TempDir(), Software: clusters.Software{Backend: "test", InImage: []string{c.program}},
			})
			if err == nil {
				s.Close()
				t.Fatal("it was opened")
			}
			if !errors.Is(err, clusters.ErrUnavailable) {
				t.Errorf("not ErrUnavailable: %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in: %v", want, err)
				}
			}
			left(t, engine, labelRun+"=images", 0)
		})
	}
}
