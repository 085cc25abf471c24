package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"lockcheck/checker/history"
)

// Recorder takes the events of a run and gives each its stamp.
type Recorder interface {
	Record(history.Event) int64
	Now() int64
}

// Moment is something that a client was just heard to do, for faults that wait for it.
type Moment struct {
	Client string
	Kind   MomentKind
	Op     int64
	Hold   string
	Key    string
	WorkMS int64 // of the write that the moment belongs to
}

// MomentKind names a moment.
type MomentKind string

// The moments.
const (
	MomentQueued  MomentKind = "queued"
	MomentGranted MomentKind = "granted"
	MomentWorking MomentKind = "working"
	MomentWorked  MomentKind = "worked"
	MomentLost    MomentKind = "lost"
)

// Driver is the harness's end of the protocol: it sends commands to one client process, stamps and records what passes
// (R1), pings it (R2), and keeps how long the client is known to have believed in its holds (R4).
type Driver struct {
	name     string
	stdin    *os.File
	stdout   *os.File
	recorder Recorder
	notify   func(Moment) // called with the driver's lock held; must not block

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
	frozen  bool // seen stopped with nothing left to read (R4)
	lines   lineReader
	partial []byte // the beginning of a line whose end was not read yet
	failure error  // why the client cannot be used any more
	closing bool
	ready   chan Ready
	gone    chan struct{} // closed when the client's output ended and was recorded

	declared bool           // the client has said that it is ready
	tokens   history.Tokens // as it declared; "" before it has
}

// Orphan is a grant that came after its acquire had been given up as unknown. The client believes in it, the history
// counts it as nobody's, and somebody has to release it.
type Orphan struct{ Hold, Key string }

type pendingOp struct {
	command  Command
	event    history.Event // of the invocation
	done     chan Completion
	working  bool
	answered bool
}

// Completion is how an operation ended.
type Completion struct {
	Type   history.Type
	TimeNS int64
	Report Report
}

// NewDriver takes over the pipes of a client process. notify may be nil.
func NewDriver(name string, stdin, stdout *os.File, recorder Recorder, notify func(Moment)) *Driver {
	if notify == nil {
		notify = func(Moment) {}
	}
	d := &Driver{
		name: name, process: name, stdin: stdin, stdout: stdout, recorder: recorder, notify: notify,
		beliefs: newBeliefs(), pending: map[int64]*pendingOp{},
		ready: make(chan Ready, 1), gone: make(chan struct{}),
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

// Init starts the conversation and returns what the client declares of itself.
func (d *Driver) Init(ctx context.Context, init Init) (Ready, error) {
	if err := d.write(Command{Cmd: CmdInit, Init: &init}); err != nil {
		return Ready{}, fmt.Errorf("client %s: sending init: %w", d.name, err)
	}
	select {
	case ready := <-d.ready:
		if ready.Protocol != ProtocolVersion {
			return Ready{}, fmt.Errorf("client %s speaks protocol %d, this harness speaks %d", d.name, ready.Protocol, ProtocolVersion)
		}
		return ready, nil
	case <-d.gone:
		return Ready{}, fmt.Errorf("client %s ended before it was ready: %w", d.name, d.Err())
	case <-ctx.Done():
		return Ready{}, fmt.Errorf("client %s did not get ready: %w", d.name, ctx.Err())
	}
}

// Ping asks the client which holds it believes in. While too many pings are unanswered it does nothing: a stopped client
// must not fill its pipe.
func (d *Driver) Ping() {
	d.send.Lock()
	defer d.send.Unlock()
	d.mu.Lock()
	if d.failure != nil || d.closing || d.pings.unanswered() >= maxUnanswered {
		d.mu.Unlock()
		return
	}
	n := d.pings.next(d.recorder.Now())
	d.mu.Unlock()
	d.writeLine(Command{Cmd: CmdPing, N: n})
}

// Believes tells whether the client is believed to hold anything, and what it holds first.
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

// Working tells whether the client is at work under a lock at this moment, and under which.
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

// Waiting tells whether the client waits for a lock.
func (d *Driver) Waiting() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, op := range d.pending {
		if op.command.Cmd == CmdAcquire && !op.answered {
			return true
		}
	}
	return false
}

// Begin records an operation's invocation and sends it. The completion arrives on the channel, exactly once; a client
// that ends completes everything open as info.
func (d *Driver) Begin(command Command) <-chan Completion {
	d.send.Lock()
	defer d.send.Unlock()
	op := &pendingOp{command: command, done: make(chan Completion, 1)}
	d.mu.Lock()
	event := history.Event{
		Process: d.process, Client: d.name, Type: history.Invoke, F: history.F(command.Cmd),
		Op: command.Op, Key: command.Key, Hold: command.Hold, Session: d.session,
		Value: command.Value, Base: command.Base, Try: command.Try, WorkNS: command.WorkMS * 1e6,
	}
	stamp := d.recorder.Record(event)
	op.event = event
	op.event.TimeNS = stamp
	if command.Cmd == CmdRelease {
		d.beliefs.release(command.Hold, stamp)
	}
	failure := d.failure
	d.pending[command.Op] = op
	if failure != nil {
		d.completeLocked(op, history.Fail, Report{Code: history.CodeRefused, Error: failure.Error()})
	}
	d.mu.Unlock()
	if failure == nil {
		d.writeLine(command)
	}
	return op.done
}

// Cancel asks the client to give up a pending acquire; its completion still comes.
func (d *Driver) Cancel(op int64) { d.write(Command{Cmd: CmdCancel, Op: op}) }

// Abandon gives up waiting for an operation: it is recorded as info and stays open for ever (R8). The client goes on
// under a new process name. It does nothing if the operation has completed.
func (d *Driver) Abandon(op int64, reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if open := d.pending[op]; open != nil && !open.answered {
		d.completeLocked(open, history.Info, Report{Error: reason})
		if open.command.Cmd == CmdAcquire {
			d.pending[op] = open // its late answer has to be heard
		}
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

// Close asks the client to end in good order. The asking is recorded first: from then on its session may be given up,
// and nothing protects what it was granted (R5).
func (d *Driver) Close() {
	d.mu.Lock()
	if d.closing || d.failure != nil {
		d.mu.Unlock()
		return
	}
	d.closing = true
	d.recorder.Record(history.Event{Process: d.process, Client: d.name, Type: history.Invoke, F: history.Exit})
	d.mu.Unlock()
	d.write(Command{Cmd: CmdClose})
}

func (d *Driver) write(command Command) error {
	d.send.Lock()
	defer d.send.Unlock()
	return d.writeLine(command)
}

func (d *Driver) writeLine(command Command) error {
	line, err := appendCommand(d.line[:0], &command)
	if err != nil {
		return err
	}
	d.line = line
	_, err = d.stdin.Write(line)
	return err
}

// completeLocked records a completion and hands it to the one who waits. The event carries what the completion proves.
func (d *Driver) completeLocked(op *pendingOp, kind history.Type, report Report) {
	event := history.Event{
		Process: op.event.Process, Client: d.name, Type: kind, F: op.event.F, Op: op.command.Op,
		Key: op.command.Key, Hold: op.command.Hold, Session: report.Session, Token: report.Token,
		Owned: report.Owned, Code: report.Code, Error: report.Error,
		SeenNS: d.pings.stamp(report.Seen),
	}
	switch op.command.Cmd {
	case CmdRead:
		if kind == history.OK {
			event.Value = report.Value
		}
		d.confirmAnswer(op, report, &event)
	case CmdWrite:
		d.confirmAnswer(op, report, &event)
	case CmdAcquire, CmdRenew:
		if kind == history.OK && report.ValidMS > 0 {
			event.ValidNS = event.SeenNS + report.ValidMS*1e6
		}
	case CmdRelease:
		event.HeldNS = d.beliefs.end(op.command.Hold)
	}
	stamp := d.recorder.Record(event)
	if op.command.Cmd == CmdAcquire && kind == history.OK {
		d.beliefs.grant(op.command.Hold, op.command.Key, report.Session, stamp)
		d.notify(Moment{Client: d.name, Kind: MomentGranted, Op: op.command.Op, Hold: op.command.Hold, Key: op.command.Key})
	}
	if kind == history.Info {
		d.lives++
		d.process = fmt.Sprintf("%s.%d", d.name, d.lives+1)
	}
	op.answered, op.working = true, false
	delete(d.pending, op.command.Op)
	op.done <- Completion{Type: kind, TimeNS: stamp, Report: report}
}

// confirmAnswer counts a read or write answered with the flag set as a confirmation at its sending (R4).
func (d *Driver) confirmAnswer(op *pendingOp, report Report, event *history.Event) {
	if report.Held {
		d.beliefs.confirm(op.command.Hold, op.event.TimeNS)
	}
	event.HeldNS = d.beliefs.pending(op.command.Hold)
}

// endLocked completes everything that is open when the client's output ends.
func (d *Driver) endLocked(reason error) {
	if d.failure == nil {
		d.failure = reason
	}
	for _, op := range d.openOps() {
		d.completeLocked(op, history.Info, Report{Error: "the client ended: " + d.failure.Error()})
	}
	exits := 0
	for _, hold := range sortedKeys(d.beliefs.holds) {
		key := d.beliefs.holds[hold].key
		d.recordExit(hold, key, d.beliefs.end(hold))
		exits++
	}
	if exits == 0 {
		d.recordExit("", "", 0)
	}
}

func (d *Driver) recordExit(hold, key string, heldNS int64) {
	d.recorder.Record(history.Event{
		Process: d.process, Client: d.name, Type: history.Info, F: history.Exit, Hold: hold, Key: key, HeldNS: heldNS,
		Error: exitText(d.failure),
	})
}

var errClosed = errors.New("closed in good order")

func exitText(err error) string {
	if err == nil || errors.Is(err, errClosed) {
		return ""
	}
	return err.Error()
}
