// Package driver is the harness's end of the client protocol: it sends commands to one client process, and stamps and records what
// passes. The protocol itself, and the client's end, are package client. Rules cited by number (R4) are in checker/RULES.md.
package driver

import (
	"fmt"
	"os"
	"sync"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// Recorder takes the events of a run and gives each its stamp.
type Recorder interface {
	Record(history.Event) int64
	Now() int64
}

// Notice is something that a client was just heard to do, for faults that wait for it.
type Notice struct {
	Client string
	Kind   NoticeKind
	Op     int64
	Hold   string
	Key    string
	WorkMS int64 // of the write that it belongs to
}

// NoticeKind names what was heard.
type NoticeKind string

// What can be heard.
const (
	NoticeQueued  NoticeKind = "queued"
	NoticeGranted NoticeKind = "granted"
	NoticeWorking NoticeKind = "working"
	NoticeWorked  NoticeKind = "worked"
	// NoticeRemoving: the client waits for its next ping before it deletes.
	NoticeRemoving NoticeKind = "removing"
	// NoticeExpiring: the client has made its record, and waits for its next ping before it lets the record expire.
	NoticeExpiring NoticeKind = "expiring"
	NoticeLost     NoticeKind = "lost"
)

// Driver is the harness's end of the protocol. It sends commands to one client process, each stamped before it is written,
// and records the answers, each stamped after it was read (rule R1 in checker/RULES.md). It pings the client at a steady
// pace, which bounds when the client sent a request (rule R2), and keeps until when the client has confirmed each of its
// holds: no hold counts for longer (rule R4).
type Driver struct {
	name     string
	stdin    *os.File
	stdout   *os.File
	recorder Recorder
	notify   Notify

	send sync.Mutex // one line at a time on stdin, in the order of their stamps
	line []byte     // the one that is being sent

	mu      sync.Mutex
	process string
	lives   int // how often the process name changed
	session string
	pings   pingStamps
	beliefs beliefs
	pending map[int64]*pendingOp
	orphans []Orphan
	frozen  bool            // seen stopped with nothing left to read: it keeps its beliefs (rule R4)
	quiet   <-chan struct{} // no ping is sent before this is closed; nil for now
	lines   client.LineReader
	partial []byte // the beginning of a line whose end was not read yet
	failure error  // why the client cannot be used any more
	closing bool
	doomed  bool // it is about to be ended from outside
	died    bool // it ended by itself
	ready   chan client.Ready
	gone    chan struct{} // closed when the client's output ended and was recorded

	asked    bool           // it was asked for a lock
	declared bool           // the client has said that it is ready
	tokens   history.Tokens // as it declared; "" before it has
}

// Orphan is a grant that came after its acquire had been given up as unknown. The client believes in it, the history
// counts it as no client's, and it has to be released.
type Orphan struct{ Hold, Key string }

type pendingOp struct {
	command  client.Command
	event    history.Event // of the invocation
	done     chan Completion
	working  bool
	answered bool
	queuedNS int64 // when it was first heard to be in the queue; 0 if it was not
}

// Completion is how an operation ended.
type Completion struct {
	Type   history.Type
	TimeNS int64
	Report client.Report
}

// Notify gets notices. It is called with the driver's lock held and must not block. While the channel that it returns
// is open, no ping is sent to the client; nil means that pings go on.
type Notify func(Notice) (acted <-chan struct{})

// New takes over the pipes of a client process. notify may be nil.
func New(name string, stdin, stdout *os.File, recorder Recorder, notify Notify) *Driver {
	if notify == nil {
		notify = func(Notice) <-chan struct{} { return nil }
	}
	d := &Driver{
		name: name, process: name, stdin: stdin, stdout: stdout, recorder: recorder, notify: notify,
		beliefs: newBeliefs(), pending: map[int64]*pendingOp{},
		ready: make(chan client.Ready, 1), gone: make(chan struct{}),
	}
	go d.readLoop()
	return d
}

// Name is the client's name.
func (d *Driver) Name() string { return d.name }

// Gone is closed when the client's output has ended.
func (d *Driver) Gone() <-chan struct{} { return d.gone }

// Err is why the client ended or cannot be used, nil while it can.
func (d *Driver) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failure
}

// Ping asks the client which holds it believes in. It does nothing while the client is known to be stopped, or to wait for
// its next ping when a fault is to come first, or while too many pings are unanswered: a stopped client must not fill its
// pipe, and what it does when it goes on is to be known to come after that.
func (d *Driver) Ping() {
	d.send.Lock()
	defer d.send.Unlock()
	d.mu.Lock()
	if d.failure != nil || d.closing || d.frozen || d.quietLocked() || d.pings.unanswered() >= maxUnanswered {
		d.mu.Unlock()
		return
	}
	n := d.pings.next(d.recorder.Now())
	d.mu.Unlock()
	d.writeLine(client.Command{Cmd: client.CmdPing, N: n})
}

// quietLocked reports whether pings have to wait for a fault.
func (d *Driver) quietLocked() bool {
	select {
	case <-d.quiet:
		d.quiet = nil
	default:
	}
	return d.quiet != nil
}

// Believes reports whether the client is believed to hold anything, and what it holds first.
func (d *Driver) Believes() (hold, key string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for hold, held := range d.beliefs.holds {
		if held.releaseNS == 0 {
			return hold, held.key, true
		}
	}
	return "", "", false
}

// BelievesIn reports whether the client is believed to hold that, and has not begun to release it.
func (d *Driver) BelievesIn(hold string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	held := d.beliefs.holds[hold]
	return held != nil && held.releaseNS == 0
}

// Working reports whether the client is at work under a lock at this moment, and under which.
func (d *Driver) Working() (hold, key string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, op := range d.pending {
		if op.working {
			return op.command.Hold, op.command.Key, true
		}
	}
	return "", "", false
}

// Waiting reports whether the client waits for a lock.
func (d *Driver) Waiting() bool { return d.acquires(func(string) bool { return true }) }

// WaitsFor reports whether the client waits for the lock that would be that hold.
func (d *Driver) WaitsFor(hold string) bool {
	return d.acquires(func(other string) bool { return other == hold })
}

// acquires reports whether the client waits for a lock that would be such a hold.
func (d *Driver) acquires(such func(hold string) bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, op := range d.pending {
		if op.command.Cmd == client.CmdAcquire && !op.answered && such(op.command.Hold) {
			return true
		}
	}
	return false
}

// Begin records an operation's invocation and sends it. The completion arrives on the channel, exactly once; a client
// that ends completes everything open as info.
func (d *Driver) Begin(command client.Command) <-chan Completion {
	d.send.Lock()
	defer d.send.Unlock()
	op := &pendingOp{command: command, done: make(chan Completion, 1)}
	d.mu.Lock()
	event := history.Event{
		Process: d.process, Client: d.name, Type: history.Invoke, F: history.F(command.Cmd),
		Op: command.Op, Key: command.Key, Hold: command.Hold, Session: d.session,
		Value: command.Value, Base: command.Base, Try: command.Try, WorkNS: (command.WorkMS + command.AfterMS) * 1e6,
	}
	stamp := d.recorder.Record(event)
	d.asked = d.asked || command.Cmd == client.CmdAcquire
	op.event = event
	op.event.TimeNS = stamp
	if command.Cmd == client.CmdRelease {
		d.beliefs.release(command.Hold, stamp)
	}
	failure := d.failure
	d.pending[command.Op] = op
	if failure != nil {
		d.completeLocked(op, history.Fail, client.Report{Code: history.CodeRefused, Error: failure.Error()})
	}
	d.mu.Unlock()
	if failure == nil {
		d.writeLine(command)
	}
	return op.done
}

// Cancel asks the client to give up a pending acquire; its completion still comes.
func (d *Driver) Cancel(op int64) { d.write(client.Command{Cmd: client.CmdCancel, Op: op}) }

// Abandon gives up waiting for an operation: it is recorded as info and stays open for ever, since it may still take
// effect (rule R8 in checker/RULES.md). The client goes on under a new process name. It does nothing if the operation has
// completed.
func (d *Driver) Abandon(op int64, reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if open := d.pending[op]; open != nil && !open.answered {
		d.completeLocked(open, history.Info, client.Report{Error: reason})
		d.pending[op] = open // its late answer may come, once
	}
}

// Orphans returns the grants that came too late, once.
func (d *Driver) Orphans() []Orphan {
	d.mu.Lock()
	defer d.mu.Unlock()
	orphans := d.orphans
	d.orphans = nil
	return orphans
}

func (d *Driver) write(command client.Command) error {
	d.send.Lock()
	defer d.send.Unlock()
	return d.writeLine(command)
}

func (d *Driver) writeLine(command client.Command) error {
	line, err := client.AppendCommand(d.line[:0], &command)
	if err != nil {
		return err
	}
	d.line = line
	_, err = d.stdin.Write(line)
	return err
}

// completeLocked records a completion and hands it to the one who waits. The event carries what the completion proves.
func (d *Driver) completeLocked(op *pendingOp, kind history.Type, report client.Report) {
	event := history.Event{
		Process: op.event.Process, Client: d.name, Type: kind, F: op.event.F, Op: op.command.Op,
		Key: op.command.Key, Hold: op.command.Hold, Session: report.Session, Token: report.Token,
		Owned: report.Owned, Code: report.Code, Error: report.Error,
		SeenNS: d.pings.stamp(report.Seen),
	}
	switch op.command.Cmd {
	case client.CmdRead:
		if kind == history.OK {
			event.Value = report.Value
		}
		d.confirmAnswer(op, report, &event)
	case client.CmdWrite:
		if kind == history.OK && op.command.IdempotencyKey != "" {
			event.Value = report.Value // as it was answered
		}
		d.confirmAnswer(op, report, &event)
	case client.CmdAcquire:
		event.ValidNS, event.Attempts, event.QueuedNS = validNS(kind, report, event.SeenNS), report.Attempts, op.queuedNS
		event.GaveBack = report.GaveBack
	case client.CmdRenew:
		event.ValidNS = validNS(kind, report, event.SeenNS)
	case client.CmdRelease:
		event.HeldNS, event.Removed = d.beliefs.end(op.command.Hold), report.Removed
	}
	stamp := d.recorder.Record(event)
	if op.command.Cmd == client.CmdAcquire && kind == history.OK {
		d.beliefs.grant(op.command.Hold, op.command.Key, report.Session, stamp)
		d.notify(Notice{Client: d.name, Kind: NoticeGranted, Op: op.command.Op, Hold: op.command.Hold, Key: op.command.Key})
	}
	if kind == history.Info {
		d.lives++
		d.process = fmt.Sprintf("%s.%d", d.name, d.lives+1)
	}
	op.answered, op.working = true, false
	delete(d.pending, op.command.Op)
	op.done <- Completion{Type: kind, TimeNS: stamp, Report: report}
}

// validNS is until when a grant was declared valid that was asked for after seenNS; 0 if it was not.
func validNS(kind history.Type, report client.Report, seenNS int64) int64 {
	if kind != history.OK || report.ValidMS == 0 {
		return 0
	}
	return seenNS + report.ValidMS*1e6
}

// confirmAnswer counts a read or write answered with the flag set as a confirmation of the hold at the stamp at which it was
// sent (rule R4).
func (d *Driver) confirmAnswer(op *pendingOp, report client.Report, event *history.Event) {
	if report.Held {
		d.beliefs.confirm(op.command.Hold, op.event.TimeNS)
	}
	event.HeldNS = d.beliefs.pending(op.command.Hold)
}
