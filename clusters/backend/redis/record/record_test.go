package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// reply is an error as a server says it.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

func TestWhichErrorsAreDefinite(t *testing.T) {
	for _, test := range []struct {
		err     error
		refused bool
	}{
		{fmt.Errorf("%w: %w", errNotSent, io.EOF), true},
		{redis.ErrPoolTimeout, true},
		{redis.ErrClosed, true},
		{reply("READONLY You can't write against a read only replica."), true},
		{reply("NOREPLICAS Not enough good replicas to write."), true},
		{reply("LOADING Redis is loading the dataset in memory"), true},
		{reply("MASTERDOWN Link with MASTER is down"), true},
		{reply("MISCONF Redis is configured to save RDB snapshots"), true},
		{reply("OOM command not allowed"), true},
		{reply("BUSY Redis is busy running a script."), true},
		{reply("NOSCRIPT No matching script."), true},

		{context.Canceled, false},
		{context.DeadlineExceeded, false},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, false},
		{io.EOF, false},
		{io.ErrUnexpectedEOF, false},
		{reply("UNBLOCKED force unblock from blocking operation"), false},
		{reply("ERR value is not an integer or out of range"), false},
		{reply("WRONGTYPE Operation against a key holding the wrong kind of value"), false},
		{errors.New("READONLY, not from a server"), false},
	} {
		t.Run(test.err.Error(), func(t *testing.T) {
			err := Judge(test.err)
			var definite *client.Error
			switch {
			case !errors.Is(err, test.err):
				t.Errorf("the error is gone: %v", err)
			case errors.As(err, &definite) != test.refused || client.Certain(err) != test.refused:
				t.Errorf("judged %v (%T), want refused %v", err, err, test.refused)
			case test.refused && definite.Code != history.CodeRefused:
				t.Errorf("code %q", definite.Code)
			}
		})
	}
}

func TestEveryOutcomeHasItsReason(t *testing.T) {
	for _, o := range outcomes {
		if o.is == nil || o.what == "" || o.why == "" {
			t.Errorf("%+v lacks something", o)
		}
	}
}

func TestWithoutAListenerNothingIsSent(t *testing.T) {
	const closed = "127.0.0.1:1" // below the ports that the kernel gives away
	store := NewStore(redis.NewClient(Options(closed, time.Second)), time.Second)
	defer store.Close()
	for name, request := range requests(store) {
		if err := request(); !client.Certain(err) || !errors.Is(err, errNotSent) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A listener that never answers: what was sent to it may have been done.
func TestSilenceIsUnknown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const bound = 50 * time.Millisecond
	store := NewStore(redis.NewClient(Options(l.Addr().String(), bound)), bound)
	defer store.Close()
	for name, request := range requests(store) {
		if err := request(); err == nil || client.Certain(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// requests are all that write.
func requests(s *Store) map[string]func() error {
	ctx := context.Background()
	return map[string]func() error{
		"set":     func() error { _, err := s.Set(ctx, "k", "v", time.Second); return err },
		"forever": func() error { _, err := s.SetForever(ctx, "k", "v"); return err },
		"counted": func() error { _, err := s.SetCounted(ctx, "k", "n", "v", time.Second); return err },
		"delete":  func() error { _, err := s.Delete(ctx, "k", "v"); return err },
		"extend":  func() error { _, err := s.Extend(ctx, "k", "v", time.Second); return err },
		"del":     func() error { _, err := s.DeleteAny(ctx, "k"); return err },
	}
}
