package client

import (
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// flags keeps the client's belief flags, one a hold (rule R3), and is the only writer of its output. Both under one
// lock: a reader of the output sees the changes of the flags in the order in which they happened, and no answer or
// guard can see a flag that a line before it contradicts.
type flags struct {
	heard *heardPings

	mu     sync.Mutex
	out    io.Writer
	line   []byte            // the one that is being printed
	broken error             // of the output; nothing is said any more
	held   map[string]string // the holds believed in, each with its session
	lost   map[string]bool   // sessions whose loss was signalled: a grant on one comes too late
	leases map[string]lease  // by session: what was answered last
}

// lease is an answered request that a session's time to live counts from, by the client's own clock.
type lease struct {
	sent time.Time // or a little before
	ttl  time.Duration
}

// renewBy is the share of a lease that a careful program lets pass without an acknowledgement before it doubts its lock
// (rule R9).
const renewBy = 0.75

func (l lease) deadline() time.Time { return l.sent.Add(time.Duration(renewBy * float64(l.ttl))) }

func newFlags(out io.Writer, heard *heardPings) *flags {
	return &flags{
		heard: heard, out: out,
		held: map[string]string{}, lost: map[string]bool{}, leases: map[string]lease{},
	}
}

// say prints a report.
func (f *flags) say(r Report) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sayLocked(r)
}

// sayLocked prints a line with one Write call. Below 4096 bytes a write to a pipe is atomic, so a client that is
// stopped or killed leaves no half line behind; only a value of the resource or an error's text could make one longer, and
// the texts are cut.
func (f *flags) sayLocked(r Report) {
	const maxText = 1000
	if len(r.Error) > maxText {
		r.Error = r.Error[:maxText] + "..."
	}
	line, err := appendReport(f.line[:0], &r)
	f.line = line
	if err == nil && f.broken == nil {
		_, err = f.out.Write(line)
	}
	if err != nil && f.broken == nil {
		f.broken = err
	}
}

// ping takes ping n, and answers it with the holds believed in.
func (f *flags) ping(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard.hear(n)
	f.sayLocked(Report{Msg: MsgPong, N: n, Holds: slices.Sorted(maps.Keys(f.held))})
}

// nextPing is closed by the next ping.
func (f *flags) nextPing() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.heard.awaitNext()
}

// between prints that an operation stands between two of its requests. The channel is closed by the next ping: no ping is
// read between the line and the beginning of the waiting.
func (f *flags) between(op int64, stage Stage) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sayLocked(Report{Msg: MsgStage, Op: op, Stage: stage})
	return f.heard.awaitNext()
}

// grant sets a hold's flag and prints the answer that says so. If the session's loss was printed before, the grant is
// void: the answer is printed, because the service did grant, and the flag stays clear.
func (f *flags) grant(hold, session string, answer Report) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if session == "" || !f.lost[session] {
		f.held[hold] = session
	}
	f.sayLocked(answer)
}

// release clears a hold's flag. It is called when the release begins: from then on the request may take effect at any
// moment, and no program believes in a lock that it has begun to give back. Nothing is lost by not waiting for the
// answer, since a recorded hold never lasts past its release's invocation (rule R4).
func (f *flags) release(hold string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.held, hold)
}

// releaseAll clears every flag: closing the session is the release of all that it holds.
func (f *flags) releaseAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.held)
}

// answer prints the answer of a read or write with its hold's flag as it stands.
func (f *flags) answer(hold string, r Report) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, r.Held = f.held[hold]
	f.sayLocked(r)
}

// lose prints the loss of a session and then clears the flags of its holds.
func (f *flags) lose(session string, loss Report) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost[session] {
		return
	}
	loss.Msg, loss.Session = MsgLost, session
	f.sayLocked(loss)
	f.lost[session] = true
	delete(f.leases, session)
	maps.DeleteFunc(f.held, func(_, of string) bool { return of == session })
}

// renewed prints a lease report and notes the lease for the guards.
func (f *flags) renewed(session string, seen int64, ttl time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.countFrom(session, seen, ttl)
	f.sayLocked(Report{Msg: MsgLease, Session: session, Seen: seen, TTLMS: ttl.Milliseconds()})
}

// look is what a guard does (rule R9): it reads the flag, and the validity that the library declared or, if it declares
// none, a deadline of the client's own. It returns why the lock cannot be relied on, "" if it can.
func (f *flags) look(hold string, valid time.Time) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	session, held := f.held[hold]
	if !held {
		return "the lock was lost"
	}
	now := time.Now()
	if !valid.IsZero() {
		if !now.Before(valid) {
			return "the declared validity is over"
		}
		return ""
	}
	if l, ok := f.leases[session]; ok && !now.Before(l.deadline()) {
		return "no renewal was acknowledged for three quarters of the lease"
	}
	return ""
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
