package targets

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"lockcheck/clusters"
)

// mortal is a node whose process ends when it is told to, and that can be started again.
type mortal struct {
	name    string
	done    chan struct{}
	started int
}

func (m *mortal) Name() string              { return m.name }
func (m *mortal) Addr() string              { return "" }
func (m *mortal) Host() clusters.Host       { return nil }
func (m *mortal) Process() clusters.Process { return mortalProcess(m.done) }
func (m *mortal) Restart(context.Context, bool) error {
	m.started++
	m.done = make(chan struct{})
	return nil
}

type mortalProcess chan struct{}

func (mortalProcess) PID() int                   { return 0 }
func (mortalProcess) Stdin() *os.File            { return nil }
func (mortalProcess) Stdout() *os.File           { return nil }
func (p mortalProcess) Done() <-chan struct{}    { return p }
func (mortalProcess) Err() error                 { return errors.New("exit status 1") }
func (mortalProcess) Kill(context.Context) error { return nil }

// Servers whose disks failed are started again whenever they end by themselves, also after all was found to be ready; those that a
// fault killed, or that end without such a fault, are not.
func TestServersThatEndAfterTheirDisksFailedAreStartedAgain(t *testing.T) {
	var told []string
	servers := NewServers(NewAgents(), nil)
	disks := servers.disks
	nodes := map[string]*mortal{}
	for _, name := range []string{"failed", "late", "killed", "other"} {
		nodes[name] = &mortal{name: name, done: make(chan struct{})}
		if s := servers.Server(nodes[name]); name != "other" {
			disks.note(s)
			disks.note(s)
		}
	}
	disks.killed("killed", true)
	for _, name := range []string{"failed", "killed", "other"} {
		close(nodes[name].done)
	}
	looks := 0
	err := servers.ReadyAgain(t.Context(), func(context.Context) error {
		if looks++; looks == 1 {
			close(nodes["late"].done) // it was ready, and ends a moment later
		}
		return nil
	}, func(name string) { told = append(told, name) })
	started := []int{nodes["failed"].started, nodes["late"].started, nodes["killed"].started, nodes["other"].started}
	if err != nil || !slices.Equal(started, []int{1, 1, 0, 0}) || looks != 2 {
		t.Errorf("after %d looks started %v: %v", looks, started, err)
	}
	if slices.Sort(told); !slices.Equal(told, []string{"failed", "late"}) {
		t.Errorf("told %q", told)
	}
}
