package clusters

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

// toy is a backend of one server, and its cluster.
type toy struct {
	Backend
	Cluster
	ready, leader error
	leads         string
	closed        *bool
}

func (toy) Name() string                                         { return "toy" }
func (toy) Launch(context.Context, Site, Layout) ([]Node, error) { return []Node{toyNode{}}, nil }
func (t toy) Connect(Service) (Cluster, error)                   { return t, nil }
func (t toy) Ready(context.Context) error                        { return t.ready }
func (t toy) Leader(context.Context) (string, error)             { return t.leads, t.leader }
func (t toy) Standing(ctx context.Context) (string, error)       { return Leads(ctx, t) }
func (t toy) Close() error                                       { *t.closed = true; return nil }

type toyNode struct{}

func (toyNode) Name() string { return "n1" }
func (toyNode) Addr() string { return "10.0.0.1" }

// nowhere is a site that is not asked for anything.
type nowhere struct{ Site }

func (nowhere) Dial(context.Context, string, string) (net.Conn, error) { return nil, io.EOF }

func TestStartSaysHowTheServiceStands(t *testing.T) {
	for name, c := range map[string]struct {
		toy
		want string
	}{
		"a leader":       {toy{leads: "n1"}, "s, n1 leads\n"},
		"no leader":      {toy{}, "s, no node leads\n"},
		"it cannot tell": {toy{leader: errors.New("no answer")}, "s (how it stands is not known: no answer)\n"},
	} {
		c.closed = new(bool)
		var progress strings.Builder
		cluster, err := Start(t.Context(), c.toy, nowhere{}, Layout{}, &progress)
		if err != nil || cluster == nil || *c.closed {
			t.Errorf("%s: %v, closed: %t", name, err, *c.closed)
		}
		if !strings.HasPrefix(progress.String(), "toy: started n1 on 10.0.0.1\ntoy: ready after ") || !strings.HasSuffix(progress.String(), c.want) {
			t.Errorf("%s: it says %q, want an end of %q", name, progress.String(), c.want)
		}
	}
}

func TestAServiceThatDoesNotGetReadyIsNotConnectedToAnyMore(t *testing.T) {
	down := errors.New("down")
	service := toy{ready: down, closed: new(bool)}
	if _, err := Start(t.Context(), service, nowhere{}, Layout{}, io.Discard); !errors.Is(err, down) || !*service.closed || !strings.HasPrefix(err.Error(), "starting 1 server of toy: ") {
		t.Errorf("%v, closed: %t", err, *service.closed)
	}
}
