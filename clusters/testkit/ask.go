package testkit

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"lockcheck/clusters"
)

// ErrNoConnection says that no process listens, or that the way there is cut.
var ErrNoConnection = errors.New("does not even connect")

// AskTimeout is for a server that is there and not paused.
const AskTimeout = 5 * time.Second

// Ask connects, which the kernel does on its own, and waits for an echo server's answer.
func Ask(ctx context.Context, dial func(ctx context.Context, network, addr string) (net.Conn, error), addr string, within time.Duration) error {
	connecting, cancel := context.WithTimeout(ctx, AskTimeout)
	defer cancel()
	c, err := dial(connecting, "tcp", addr)
	if err != nil {
		return errors.Join(ErrNoConnection, err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(within))
	if _, err := c.Write([]byte("hello")); err != nil {
		return err
	}
	_, err = io.ReadFull(c, make([]byte, 5))
	return err
}

// Answers expects an echo server's answer.
func Answers(t *testing.T, s clusters.Site, addr string) {
	t.Helper()
	if err := Ask(t.Context(), s.Dial, addr, AskTimeout); err != nil {
		t.Fatal(err)
	}
}

// AnswersAtLast waits until an echo server answers that was just started.
func AnswersAtLast(t *testing.T, s clusters.Site, addr string) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = Ask(t.Context(), s.Dial, addr, AskTimeout); err == nil {
			return
		}
	}
	t.Fatal(err)
}
