//go:build linux && e2e

package docker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/client"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

// An engine that hangs or goes away while a host is being made must not hold up the end of a run, nor break it.
func TestCloseIsBoundedWithAnyEngine(t *testing.T) {
	engine := needEngine(t)
	for name, turn := range map[string]func(*goingEngine){
		"it hangs":             func(g *goingEngine) { g.hangs.Store(true) },
		"it lets none attach":  func(g *goingEngine) { g.aloof.Store(true) },
		"it goes away at once": func(g *goingEngine) { g.away() },
	} {
		t.Run(name, func(t *testing.T) {
			going := newGoingEngine(t, engine.DaemonHost())
			opened, err := (&Provider{}).Open(t.Context(), clusters.SiteSpec{Run: t.Name(), LogDir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			s := opened.(*site)
			s.timeout = time.Second
			testkit.Start(t, testkit.Host(t, s, "c1"), "talk")
			turn(going)
			testkit.Host(t, s, "c2")
			if !going.hangs.Load() {
				<-s.hosts["c2"].made
				if err := s.hosts["c2"].err; !errors.Is(err, clusters.ErrUnavailable) {
					t.Errorf("the host that could not be made: %v", err)
				}
			}
			closed := make(chan error, 1)
			go func() { closed <- s.Close() }()
			select {
			case err = <-closed:
			case <-time.After(time.Minute): // two pings' timeouts and the site's are 11 s
				t.Fatal("Close does not return")
			}
			if !going.aloof.Load() && !errors.Is(err, clusters.ErrUnavailable) {
				t.Errorf("close: %v", err)
			}
			if going.aloof.Load() && err != nil {
				t.Errorf("close: %v", err)
			}
			if !going.aloof.Load() {
				going.away() // ends the sandboxes
				if _, err := removeRun(t.Context(), engine, s.run, s.owner); err != nil {
					t.Error(err)
				}
			}
			left(t, engine, labelRun+"="+s.run, 0)
		})
	}
}

// goingEngine passes on to the real engine until it goes away.
type goingEngine struct {
	listener net.Listener
	hangs    atomic.Bool // takes everything and answers nothing
	aloof    atomic.Bool // closes connections that want to attach to a container
	mu       sync.Mutex
	conns    []net.Conn
	gone     bool // what is accepted still is closed at once
}

// pass passes on what is said, until the engine goes away.
func (g *goingEngine) pass(to io.WriteCloser, from io.Reader) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || g.aloof.Load() && bytes.Contains(buffer[:n], []byte("/attach?")) {
			return
		}
		if g.hangs.Load() {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (g *goingEngine) away() {
	g.listener.Close()
	g.mu.Lock()
	g.gone = true
	g.mu.Unlock()
	g.breakOff()
}

// breakOff closes the connections that there are; new ones can be made.
func (g *goingEngine) breakOff() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.conns {
		c.Close()
	}
}

func newGoingEngine(t *testing.T, real string) *goingEngine {
	t.Helper()
	network, addr, _ := strings.Cut(real, "://")
	path := testkit.Socket(t)
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	g := &goingEngine{listener: listener}
	t.Cleanup(g.away)
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial(network, addr)
			if err != nil {
				near.Close()
				continue
			}
			g.mu.Lock()
			g.conns = append(g.conns, near, far)
			if g.gone {
				near.Close()
				far.Close()
			}
			g.mu.Unlock()
			go g.pass(far, near)
			go g.pass(near, far)
		}
	}()
	t.Setenv(client.EnvOverrideHost, "unix://"+path)
	return g
}

// A connection that breaks is no proof that a container ended: the engine may have closed it, which ends with one connection after
// the other, and answers on those that are left.
func TestWhoEndsAContainerIsToldFromWhoEndsTheConversation(t *testing.T) {
	engine := needEngine(t)
	image := testImage(t, engine, "")
	for name, c := range map[string]struct {
		ends     func(going *goingEngine, id string) error
		want     string
		unwanted string
	}{
		"the conversation": {func(going *goingEngine, _ string) error { going.breakOff(); return nil }, "or the way to it, went away", "another process"},
		"the container":    {func(_ *goingEngine, id string) error { return engine.ContainerKill(t.Context(), id, "KILL") }, "was ended by another process, with exit status 137", "went away"},
	} {
		t.Run(name, func(t *testing.T) {
			going := newGoingEngine(t, engine.DaemonHost())
			s, err := (&Provider{Image: image}).Open(t.Context(), clusters.SiteSpec{
				Run: t.Name(), LogDir: t.TempDir(), Software: clusters.Software{Backend: "test", InImage: []string{"lockcheck", "echo"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = s.Close() // whether it finds all gone depends on how it ended
				if _, err := removeRun(t.Context(), engine, s.(*site).run, s.(*site).owner); err != nil {
					t.Error(err)
				}
			}()
			h := testkit.Host(t, s, "c1")
			child := testkit.Start(t, h, "talk")
			if err := c.ends(going, h.(*host).id); err != nil {
				t.Fatal(err)
			}
			select {
			case <-child.Done():
			case <-time.After(20 * time.Second):
				t.Fatal("the client goes on")
			}
			if err := child.Err(); !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.unwanted) {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

func TestAnEngineThatGoesAwayIsNamed(t *testing.T) {
	engine := needEngine(t)
	image := testImage(t, engine, "")
	going := newGoingEngine(t, engine.DaemonHost())
	s, err := (&Provider{Image: image}).Open(t.Context(), clusters.SiteSpec{
		Run: t.Name(), LogDir: t.TempDir(), Software: clusters.Software{Backend: "test", InImage: []string{"lockcheck", "echo"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := testkit.Host(t, s, "n1")
	addr := h.Addr() + ":2379"
	server := startServer(t, s.(*site), h, addr).Process()
	child := testkit.Start(t, testkit.Host(t, s, "c1"), "talk")
	testkit.AnswersAtLast(t, s, addr)

	going.away()
	for _, p := range []clusters.Process{server, child} {
		select {
		case <-p.Done():
		case <-time.After(20 * time.Second):
			t.Fatal("a process goes on without an engine")
		}
		if err := p.Err(); !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), "went away") {
			t.Errorf("it ended with %v", err)
		}
	}
	if _, err := s.Dial(t.Context(), "tcp", addr); !errors.Is(err, clusters.ErrUnavailable) {
		t.Errorf("dialling: %v", err)
	}
	if _, err := s.Host(t.Context(), "c2"); err != nil {
		t.Error(err) // it is made in the background
	}
	if err := s.Close(); !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), "lockcheck clean") {
		t.Errorf("close: %v", err)
	}
	// It was only the way to the engine that broke: what the run had there is removed as the next run would do it, had
	// its harness ended.
	if _, err := removeRun(t.Context(), engine, s.(*site).run, s.(*site).owner); err != nil {
		t.Error(err)
	}
	left(t, engine, labelRun+"="+t.Name(), 0)
}

func TestTwoRunsAtOnce(t *testing.T) {
	a, b := openSite(t, ""), (*site)(nil)
	t.Run("second", func(t *testing.T) {
		b = openSite(t, "")
		one, two := testkit.Host(t, a, "n1"), testkit.Host(t, b, "n1")
		testkit.Start(t, one, "echo", one.Addr()+":2379")
		testkit.Start(t, two, "echo", two.Addr()+":2379")
		testkit.AnswersAtLast(t, a, one.Addr()+":2379")
		testkit.AnswersAtLast(t, b, two.Addr()+":2379")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := testkit.Ask(ctx, b.Dial, one.Addr()+":2379", 500*time.Millisecond); err == nil {
			t.Error("one run reaches the servers of the other")
		}
	})
	testkit.AnswersAtLast(t, a, a.hosts["n1"].addr+":2379")
}
