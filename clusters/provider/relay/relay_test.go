package relay

import (
	"context"
	"errors"
	"net"
	"testing"
)

// failing is a listener that no connection comes in at.
type failing struct {
	net.Listener
	why   error
	ended chan struct{}
}

func (f failing) Accept() (net.Conn, error) {
	if f.why == nil {
		<-f.ended
		return nil, net.ErrClosed
	}
	return nil, f.why
}

func (f failing) Close() error { close(f.ended); return nil }

// A relay that can take no more connections says so: to clients the place outside would be what does not answer. One that is closed
// has nothing to say.
func TestARelayThatTakesNothingMoreSaysSo(t *testing.T) {
	broken, told := errors.New("too many open files"), []error{}
	serve := func(l failing, during func(*Relay)) {
		r := New(l, 1, func(context.Context) (net.Conn, error) { return nil, errors.New("nowhere") }, func(err error) { told = append(told, err) })
		ended := make(chan struct{})
		go func() { r.serve(); close(ended) }()
		during(r)
		<-ended
	}
	serve(failing{why: broken, ended: make(chan struct{})}, func(*Relay) {})
	if len(told) != 1 || !errors.Is(told[0], broken) {
		t.Errorf("told: %v", told)
	}
	told = nil
	serve(failing{ended: make(chan struct{})}, (*Relay).close)
	if len(told) != 0 {
		t.Errorf("when it was closed: %v", told)
	}
}
