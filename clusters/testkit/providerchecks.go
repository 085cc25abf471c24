package testkit

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
)

// PipesAndExitCode checks what becomes of the input, the output and the exit code of processes. Its helpers are talk and
// exit-code, which ends with 3.
func PipesAndExitCode(t *testing.T, h clusters.Host) {
	t.Helper()
	p := Start(t, h, "talk")
	if _, err := p.Stdin().WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	if got := ReadLine(t, p.Stdout()); got != "hello" {
		t.Errorf("got %q", got)
	}
	p.Stdin().Close()
	<-p.Done()
	if p.Err() != nil {
		t.Errorf("end of input: %v", p.Err())
	}
	q := Start(t, h, "exit-code")
	<-q.Done()
	if q.Err() == nil || q.Err().Error() != "exit status 3" {
		t.Errorf("exit code 3 became %v", q.Err())
	}
}

// Pauses checks twenty times that an echo server is silent while it is paused, that TCP connects all the same, and that it
// answers afterwards; paused looks at it in that time. It returns how long a pause or its end took, the median: a busy machine holds up some.
func Pauses(t *testing.T, s clusters.Site, p clusters.Process, addr string, paused func()) (median time.Duration) {
	t.Helper()
	var took []time.Duration
	for range 20 {
		begun := time.Now()
		if err := p.(clusters.Pauser).Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(begun))
		paused()
		err := Ask(t.Context(), s.Dial, addr, 20*time.Millisecond)
		var timeout net.Error
		if errors.Is(err, ErrNoConnection) || !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("a paused server: %v", err)
		}
		begun = time.Now()
		if err := p.(clusters.Pauser).Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(begun))
		Answers(t, s, addr)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// RefusesNames checks that names that cannot be those of hosts and logs are refused, and that no host is made twice. It
// returns the host n1.
func RefusesNames(t *testing.T, s clusters.Site, more ...string) clusters.Host {
	t.Helper()
	for _, name := range append([]string{"", "../n1", "N1", "n 1"}, more...) {
		if _, err := s.Host(t.Context(), name); err == nil {
			t.Errorf("host %q was made", name)
		}
	}
	h := Host(t, s, "n1")
	if _, err := s.Host(t.Context(), "n1"); err == nil {
		t.Error("a second host n1 was made")
	}
	if _, err := h.Start(t.Context(), clusters.Command{Args: []string{"sleep"}, Log: "../x"}); err == nil {
		t.Error("a log outside its directory was opened")
	}
	return h
}

// ReadyAlone tests a backend's readiness alone: a service that others run, of which no more than names and addresses
// are known, is ready as soon as it is, and says what is missing while it is not.
func ReadyAlone(t *testing.T, backend clusters.Backend, site clusters.Site, layout clusters.Layout) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	nodes, err := backend.Launch(ctx, site, layout)
	if err != nil {
		t.Fatal(err)
	}
	var places []clusters.Node
	for _, n := range nodes {
		places = append(places, Place{n.Name(), n.Addr()})
	}
	service, err := backend.Connect(clusters.Service{Nodes: places, Dial: site.Dial, Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	if err := service.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	if err := service.Probe(ctx); err != nil {
		t.Errorf("a ready service takes no write: %v", err)
	}
	if hosted := clusters.HostedNodes(service); len(hosted) > 0 {
		t.Errorf("%d nodes of a service that others run can be stopped", len(hosted))
	}
	last := nodes[len(nodes)-1].(clusters.Hosted)
	if err := last.Process().Kill(ctx); err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := service.Ready(soon); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), last.Name()) {
		t.Errorf("without %s it is ready, or does not say what is missing: %v", last.Name(), err)
	}
}

// Place is all that is known of a server that others run.
type Place struct{ Called, At string }

// Name is what it is called.
func (p Place) Name() string { return p.Called }

// Addr is its address, without a port.
func (p Place) Addr() string { return p.At }
