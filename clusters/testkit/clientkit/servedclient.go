package clientkit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"lockcheck/clusters/client"
)

// Served is a client that is driven over its protocol. What it says is read at once: a client that cannot print stands
// still.
type Served struct {
	Ready client.Ready    // what it declared
	Value []client.Report // what was awaited, and all before it

	t   *testing.T
	in  io.Writer
	out chan client.Report
}

// Serve starts a client, which is closed with the test.
func Serve(t *testing.T, factory client.Factory, init client.Init) *Served {
	t.Helper()
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- client.Serve(context.Background(), theirIn, theirOut, factory)
		theirOut.Close()
	}()
	s := &Served{t: t, in: in, out: make(chan client.Report, 1000)}
	go s.listen(out)
	t.Cleanup(func() {
		in.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	init.Protocol, init.Name, init.Resource = client.ProtocolVersion, "c1", "http://127.0.0.1:1" // where no server listens
	line, err := json.Marshal(client.Command{Cmd: client.CmdInit, Init: &init})
	if err != nil {
		t.Fatal(err)
	}
	s.Send("%s", line)
	s.Ready = *s.Await(client.MsgReady, 0).Ready
	return s
}

func (s *Served) listen(out io.Reader) {
	defer close(s.out)
	for lines := json.NewDecoder(out); ; {
		var report client.Report
		if err := lines.Decode(&report); err != nil {
			return
		}
		s.out <- report
	}
}

// Send gives the client a line.
func (s *Served) Send(format string, args ...any) {
	s.t.Helper()
	if _, err := fmt.Fprintf(s.in, format+"\n", args...); err != nil {
		s.t.Fatal(err)
	}
}

// Acquire asks for a lock as operation op, whose hold is called h1, h2, ... after it.
func (s *Served) Acquire(op int64, key string) {
	s.t.Helper()
	s.Send(`{"cmd":"acquire","op":%d,"hold":"h%d","key":%q}`, op, op, key)
}

// Release gives the hold of an acquire back as operation op.
func (s *Served) Release(op, acquire int64) {
	s.t.Helper()
	s.Send(`{"cmd":"release","op":%d,"hold":"h%d"}`, op, acquire)
}

// Await is the next report of a kind on an operation.
func (s *Served) Await(msg client.ReportName, op int64) client.Report {
	s.t.Helper()
	late := time.After(Timeout)
	for {
		select {
		case report, ok := <-s.out:
			if !ok {
				s.t.Fatalf("the client ended; no %s of operation %d", msg, op)
			}
			s.Value = append(s.Value, report)
			if report.Msg == msg && report.Op == op {
				return report
			}
		case <-late:
			s.t.Fatalf("no %s of operation %d in %v; it said %+v", msg, op, Timeout, s.Value)
		}
	}
}
