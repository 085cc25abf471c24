package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/clienttest"
	"lockcheck/workloads/client"
)

// served is a client that is driven over its protocol. What it says is read at once: a client that cannot print stands
// still.
type served struct {
	t    *testing.T
	in   io.Writer
	out  chan client.Report
	said []client.Report
}

func serve(t *testing.T, r recipe, endpoint string) *served {
	t.Helper()
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- client.Serve(context.Background(), theirIn, theirOut, r.New)
		theirOut.Close()
	}()
	s := &served{t: t, in: in, out: make(chan client.Report, 1000)}
	go func() {
		defer close(s.out)
		for lines := json.NewDecoder(out); ; {
			var report client.Report
			if err := lines.Decode(&report); err != nil {
				return
			}
			s.out <- report
		}
	}()
	t.Cleanup(func() {
		in.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	s.send(fmt.Sprintf(`{"cmd":"init","init":{"protocol":1,"name":"c1","endpoints":[%q],"ttl_ms":6000,"resource":"http://127.0.0.1:1","seed":1}}`, endpoint))
	s.await(client.MsgReady, 0)
	return s
}

func (s *served) send(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// await is the next report of a kind on an operation.
func (s *served) await(msg client.ReportName, op int64) client.Report {
	s.t.Helper()
	late := time.After(clienttest.Patience)
	for {
		select {
		case report, ok := <-s.out:
			if !ok {
				s.t.Fatalf("the client ended; no %s of operation %d", msg, op)
			}
			s.said = append(s.said, report)
			if report.Msg == msg && report.Op == op {
				return report
			}
		case <-late:
			s.t.Fatalf("no %s of operation %d in %v; it said %+v", msg, op, clienttest.Patience, s.said)
		}
	}
}

// The waiter is known to wait when it says so, not when its key is there: given up in between it would not know what became
// of its request.
func TestEveryRecipeRemovesAWaiterThatGivesUp(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		a, _ := newClientOf(t, r, 1, endpoint)
		b := serve(t, r, endpoint)
		g := clienttest.Acquire(t, a, key(t))
		b.send(`{"cmd":"acquire","op":1,"hold":"h1","key":"` + key(t) + `"}`)
		b.await(client.MsgStage, 1)
		b.send(`{"cmd":"cancel","op":1}`)
		if answer := b.await(client.MsgFail, 1); answer.Code != history.CodeCancelled {
			t.Errorf("answered %+v", answer)
		}
		if left := records(t, admin(t, endpoint), key(t)); !slices.Equal(left, []string{g.(*grant).record}) {
			t.Errorf("keys %v are left, want the holder's", left)
		}
		clienttest.Release(t, g)
	})
}

func TestEveryRecipeSaysWhenItsRequestIsQueued(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		a, b := serve(t, r, endpoint), serve(t, r, endpoint)
		a.send(`{"cmd":"acquire","op":1,"hold":"h1","key":"k"}`)
		a.await(client.MsgOK, 1)
		b.send(`{"cmd":"acquire","op":1,"hold":"h1","key":"k"}`)
		if stage := b.await(client.MsgStage, 1); stage.Stage != client.StageQueued {
			t.Errorf("stage %q", stage.Stage)
		}
		a.send(`{"cmd":"release","op":2,"hold":"h1"}`)
		a.await(client.MsgOK, 2)
		b.await(client.MsgOK, 1)
		for _, said := range a.said {
			if said.Msg == client.MsgStage {
				t.Errorf("a waited for nobody and said %+v", said)
			}
		}
	})
}
