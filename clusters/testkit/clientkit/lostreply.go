package clientkit

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/wire"
)

// A request that needs the answers to others first gets them after the first of these. If it took effect more slowly than
// that its reply came through, and it is tried again with the next.
var replyTimeouts = []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 1600 * time.Millisecond, 6400 * time.Millisecond}

// WantLostReplyUnknown checks what a client makes of a release whose reply was lost.
func WantLostReplyUnknown(t *testing.T, factory client.Factory, init client.Init) {
	t.Helper()
	if err := LostReply(t, factory, init); err != nil {
		t.Error(err)
	}
}

// LostReply has a client release a lock and loses the reply. The error says what is wrong with its answer: its library may find
// anything when it asks once more, but "not owned" is not what the service answered to the release. The lease has to be long:
// it must not run out before that.
func LostReply(t *testing.T, factory client.Factory, init client.Init) error {
	t.Helper()
	behind := init
	behind.Endpoints = nil
	var wires []*Wire
	for _, server := range init.Endpoints {
		w := NewWire(t, server)
		wires, behind.Endpoints = append(wires, w), append(behind.Endpoints, w.Addr)
	}
	lock, _, _ := Client(t, factory, behind)
	other, _, _ := Client(t, factory, init)
	for i, timeout := range replyTimeouts {
		begun := time.Now()
		tried, err := loseReply(t, lock, other, wires, fmt.Sprintf("lost-reply-%d", i), timeout)
		if tried && time.Since(begun).Milliseconds() < init.TTLMS { // else the lease may have run out
			return err
		}
	}
	return errors.New("each release was answered before its connection could be cut, or its lease ran out before that")
}

// released is what a release came to.
type released struct {
	owned *bool
	err   error
}

func loseReply(t *testing.T, lock, other client.Lock, wires []*Wire, key string, timeout time.Duration) (tried bool, wrong error) {
	t.Helper()
	g := Acquire(t, lock, key)
	asked := Acquiring(t.Context(), other, key)
	answered := make(chan released, 1)
	late := time.Now().Add(Timeout)
	var next Outcome
	wire.CutReply(wires, timeout, func() {
		go func() {
			owned, err := g.Release(t.Context())
			answered <- released{owned, err}
		}()
	}, func() bool {
		select {
		case next = <-asked:
			return true
		default:
			return time.Now().After(late)
		}
	})
	inTime := len(answered) == 0
	if next.Err != nil || next.Grant == nil {
		t.Fatalf("the release took no effect: another's request came to %v", next.Err)
	}
	Release(t, next.Grant)
	answer := <-answered
	var definite *client.Error
	switch {
	case errors.As(answer.err, &definite):
		return true, fmt.Errorf("the release took effect, its reply was lost, and it answers %q for certain: %w", definite.Code, answer.err)
	case answer.owned != nil && !*answer.owned:
		return true, errors.New("the release took effect, its reply was lost, and it answers that it was not owned")
	}
	return inTime || answer.err != nil, nil
}
