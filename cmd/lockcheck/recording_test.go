package main

import (
	"bytes"
	"os"
	"strconv"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
)

// recording writes events and requests as a run does. Every call is a millisecond later than the one before.
type recording struct {
	t                *testing.T
	events, requests *history.Writer
	now, op          int64
	index, seq       int64
}

func (r *recording) event(e history.Event) {
	r.t.Helper()
	r.now += 1e6
	e.TimeNS, e.Index = r.now, r.index
	r.index++
	if err := r.events.Event(e); err != nil {
		r.t.Fatal(err)
	}
}

func (r *recording) phase(name string) {
	r.event(history.Event{Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: name})
}

func (r *recording) begin(client string, e history.Event) int64 {
	r.op++
	e.Process, e.Client, e.Type, e.Op = client, client, history.Invoke, r.op
	r.event(e)
	return r.op
}

func (r *recording) end(client string, op int64, e history.Event) {
	e.Process, e.Client, e.Type, e.Op = client, client, history.OK, op
	r.event(e)
}

// granted completes an acquire.
func (r *recording) granted(client, hold, token string, op int64) {
	r.event(history.Event{Process: client, Client: client, Type: history.OK, F: history.Renew, Session: "s-" + client, SeenNS: r.now, TTLNS: 2e9})
	r.end(client, op, history.Event{F: history.Acquire, Key: "k1", Hold: hold, Session: "s-" + client, Token: token, SeenNS: r.now})
}

// update reads, writes and waits for neither.
func (r *recording) update(client, hold, token, value, base string) {
	read := r.begin(client, history.Event{F: history.Read, Key: "k1", Hold: hold, Token: token})
	r.request(read, history.Request{Kind: history.KindRead, Hold: hold, Token: token, Value: base})
	r.end(client, read, history.Event{F: history.Read, Key: "k1", Hold: hold, Value: base, HeldNS: r.now})
	write := r.begin(client, history.Event{F: history.Write, Key: "k1", Hold: hold, Token: token, Value: value, Base: base, WorkNS: 1e6})
	r.request(write, history.Request{Kind: history.KindWrite, Hold: hold, Token: token, Value: value, Base: base})
	r.end(client, write, history.Event{F: history.Write, Key: "k1", Hold: hold, HeldNS: r.now})
}

func (r *recording) request(op int64, q history.Request) {
	r.t.Helper()
	r.seq++
	q.Seq, q.Request, q.Key, q.Outcome, q.TimeNS = r.seq, strconv.FormatInt(op, 10), "k1", history.Applied, r.now
	if err := r.requests.Request(q); err != nil {
		r.t.Fatal(err)
	}
}

func (r *recording) release(client, hold string) {
	owned := true
	op := r.begin(client, history.Event{F: history.Release, Key: "k1", Hold: hold, Session: "s-" + client})
	r.end(client, op, history.Event{F: history.Release, Key: "k1", Hold: hold, Session: "s-" + client, Owned: &owned, HeldNS: r.now - 1e6})
}

// record makes a run directory: c2 waits for c1, both update. With stale, c2 is let in, c1 updates once more after it did, and
// then waits for c2 as it should have been.
func record(t *testing.T, stale bool) string {
	t.Helper()
	return recordLate(t, stale, func(*recording) {})
}

// recordLate is record in which c1 does more before its release, too late with stale.
func recordLate(t *testing.T, stale bool, late func(*recording)) string {
	t.Helper()
	plan := history.Plan{Version: history.FormatVersion, Run: "r1", Backend: "etcd", LockClient: "test", Workload: "lock",
		Nemesis: "none", Guard: "before-work", Provider: "local", Seed: 3, Nodes: 3, Clients: 2, Keys: 1, TTLMS: 2000,
		EffectiveMS: 2000, ElectionMS: 1000, Tokens: history.TokensOrdered, SameKernel: true,
		Exposure: []history.Requirement{{Name: history.ExposureContended, Min: 1}}}
	dir, err := rundir.Create(t.TempDir(), plan, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.WritePlan(plan); err != nil {
		t.Fatal(err)
	}
	var events, requests bytes.Buffer
	r := &recording{t: t, events: history.NewWriter(&events), requests: history.NewWriter(&requests)}
	r.phase(history.PhaseLoad)
	first := r.begin("c1", history.Event{F: history.Acquire, Key: "k1", Hold: "h1"})
	r.granted("c1", "h1", "10", first)
	second := r.begin("c2", history.Event{F: history.Acquire, Key: "k1", Hold: "h2"})
	r.update("c1", "h1", "10", "a", "")
	if !stale {
		r.release("c1", "h1")
	}
	r.granted("c2", "h2", "12", second)
	r.update("c2", "h2", "12", "b", "a")
	if stale {
		r.update("c1", "h1", "10", "c", "b")
		late(r)
		r.release("c1", "h1")
		third := r.begin("c1", history.Event{F: history.Acquire, Key: "k1", Hold: "h3"})
		r.release("c2", "h2")
		r.granted("c1", "h3", "13", third)
		r.release("c1", "h3")
	} else {
		r.release("c2", "h2")
	}
	r.phase(history.PhaseHeal)
	r.phase(history.PhaseFinal)
	for i, client := range []string{"f1", "f2"} {
		hold := "final" + client
		op := r.begin(client, history.Event{F: history.Acquire, Key: "k1", Hold: hold})
		r.granted(client, hold, strconv.Itoa(20+i), op)
		r.release(client, hold)
	}
	r.phase(history.PhaseEnd)
	for path, text := range map[string][]byte{dir.HistoryPath(): events.Bytes(), dir.ResourcePath(): requests.Bytes()} {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir.Path()
}
