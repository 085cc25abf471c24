package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/resource"
)

// Patience when closing, in sum less than the time after which the harness kills: what is pending may answer, then the
// session is given back.
const (
	pendingTimeout = 500 * time.Millisecond
	closeTimeout   = time.Second
)

// Serve is the client's end of the protocol for clients in Go, built-in or in a main of your own: it reads commands from in until
// close, the end of input or the end of ctx, closes the session in good order and returns nil. An error wraps ErrProtocol, or says
// why the lock could not be made, or that the output is read no more.
//
// If out is the process's standard output, what else is printed there goes to standard error from now on.
func Serve(ctx context.Context, in io.Reader, out io.Writer, factory Factory) error {
	return serve(ctx, in, out, factory, time.After)
}

// serve is Serve; after times the work of writes.
func serve(ctx context.Context, in io.Reader, out io.Writer, factory Factory, after func(time.Duration) <-chan time.Time) error {
	out, unclaim := claimOutput(out, os.Stderr)
	defer unclaim()
	heard := newHeardPings()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{
		factory: factory, heard: heard, flags: newFlags(out, heard), ctx: ctx, after: after,
		grants: map[string]Grant{}, pending: map[int64]context.CancelFunc{}, stop: make(chan error, 2),
		idle: make(chan func()),
	}
	go func() { s.stop <- s.listen(pollable(in)) }()
	var err error
	select {
	case err = <-s.stop:
	case <-ctx.Done():
	}
	if err != nil {
		s.flags.say(Report{Msg: MsgError, Error: err.Error()})
	}
	cancel()
	return errors.Join(err, s.close())
}

type server struct {
	factory Factory
	heard   *heardPings
	flags   *flags
	ctx     context.Context // of all operations
	after   func(time.Duration) <-chan time.Time
	stop    chan error // why serving ends: nil in good order
	running sync.WaitGroup
	idle    chan func() // to a goroutine that waits for an operation to carry out

	mu       sync.Mutex
	started  bool
	closing  bool
	lock     Lock // nil until ready; not written after
	resource *resource.Client
	grants   map[string]Grant // by hold; kept until a release's outcome is certain
	pending  map[int64]context.CancelFunc
}

// maxCommand bounds a line of the harness, in bytes.
const maxCommand = 1 << 20

// listen is the only reader. Nothing that it calls waits, except for the output to be read.
func (s *server) listen(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 1<<16), maxCommand)
	var reader LineReader
	for lines.Scan() {
		cmd, err := reader.Command(lines.Bytes())
		if err != nil {
			return protocolError("%.200q: %w", lines.Bytes(), err)
		}
		if cmd.Cmd == CmdClose {
			return nil
		}
		if err := s.take(cmd); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return protocolError("reading commands: %w", err)
	}
	return nil
}

func (s *server) take(cmd Command) error {
	switch cmd.Cmd {
	case CmdPing:
		s.flags.ping(cmd.N)
		return nil
	case CmdInit:
		return s.init(cmd.Init)
	case CmdCancel:
		s.mu.Lock()
		defer s.mu.Unlock()
		if cancel := s.pending[cmd.Op]; cancel != nil { // else it was answered before
			cancel()
		}
		return nil
	}
	operation, ok := operations[cmd.Cmd]
	if !ok {
		return protocolError("unknown command %q", cmd.Cmd)
	}
	if err := check(cmd); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.lock == nil:
		cancel()
		return protocolError("%s before ready", cmd.Cmd)
	case s.pending[cmd.Op] != nil:
		cancel()
		return protocolError("operation %d is pending already", cmd.Op)
	case cmd.Cmd == CmdAcquire && s.grants[cmd.Hold] != nil:
		cancel()
		return protocolError("hold %q is granted already", cmd.Hold)
	case s.closing:
		cancel()
		return nil
	}
	s.pending[cmd.Op] = cancel
	s.running.Add(1)
	s.carryOut(func() {
		defer s.running.Done()
		defer cancel()
		operation(s, ctx, cmd)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.pending, cmd.Op)
	})
	return nil
}

// carryOut has an operation carried out in a goroutine of its own, at once. One that is done with its last serves again:
// its stack has grown to what a library needs, and growing one anew for every operation takes longer than all else here.
func (s *server) carryOut(operation func()) {
	select {
	case s.idle <- operation:
		return
	default:
	}
	go func() {
		for {
			operation()
			select {
			case operation = <-s.idle:
			case <-s.ctx.Done():
				return
			}
		}
	}()
}

// check refuses an operation that lacks what it needs.
func check(cmd Command) error {
	switch {
	case cmd.Op < 1:
		return protocolError("%s without an op", cmd.Cmd)
	case cmd.Hold == "":
		return protocolError("%s %d without a hold", cmd.Cmd, cmd.Op)
	case cmd.Key == "" && (cmd.Cmd == CmdAcquire || cmd.Cmd == CmdRead || cmd.Cmd == CmdWrite):
		return protocolError("%s %d without a key", cmd.Cmd, cmd.Op)
	case cmd.Cmd != CmdWrite:
		return nil
	case cmd.WorkMS < 0:
		return protocolError("write %d: work_ms %d is negative", cmd.Op, cmd.WorkMS)
	}
	if _, known := history.GuardNamed(cmd.Guard); !known {
		return protocolError("write %d: there is no guard %q; there are: %s", cmd.Op, cmd.Guard, strings.Join(history.GuardNames(), ", "))
	}
	return nil
}

// init makes the lock, beside the reading: a library may take its time to connect.
func (s *server) init(init *Init) error {
	switch {
	case init == nil:
		return protocolError("init without what it should say")
	case init.Protocol != ProtocolVersion:
		return protocolError("version %d is not spoken here: this client speaks %d", init.Protocol, ProtocolVersion)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return protocolError("init twice")
	}
	if s.closing {
		return nil
	}
	s.started = true
	s.running.Go(func() {
		lock, ready, err := s.factory(s.ctx, *init, watch{s})
		if err != nil {
			s.stop <- fmt.Errorf("making the lock: %w", err)
			return
		}
		s.mu.Lock()
		s.lock, s.resource = lock, resource.NewClient(init.Resource)
		s.mu.Unlock()
		s.flags.say(Report{Msg: MsgReady, Ready: complete(ready)})
	})
	return nil
}

// complete adds what Serve knows to what an implementation declares: Commands it adds to, the rest it fills in.
func complete(ready Ready) *Ready {
	ready.Protocol = ProtocolVersion
	var commands []string
	for _, name := range required {
		commands = append(commands, string(name))
	}
	ready.Commands = append(append(commands, KnowsIdempotencyKeys), ready.Commands...)
	if id, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil && ready.BootID == "" {
		ready.BootID = strings.TrimSpace(string(id))
	}
	return &ready
}

// close gives everything back, within bounds: what does not answer in time is left to the end of the process. No flag
// is set any more when the session begins to close.
func (s *server) close() error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	finished := make(chan struct{})
	go func() {
		s.running.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-time.After(pendingTimeout):
	}
	s.flags.releaseAll()
	s.mu.Lock()
	lock, protected := s.lock, s.resource
	s.mu.Unlock()
	if lock == nil {
		return s.flags.err()
	}
	protected.Close()
	bounded, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	// A session that could not be closed ends when its lease does; the process ends in good order all the same.
	if err := lock.Close(bounded); err != nil {
		fmt.Fprintf(os.Stderr, "closing the session: %v\n", err)
	}
	return s.flags.err()
}

// err is why the output could not be written, nil if it could.
func (f *flags) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken != nil {
		return fmt.Errorf("writing reports: %w", f.broken)
	}
	return nil
}

type watch struct{ s *server }

func (w watch) Seen() int64 { return w.s.heard.seen() }

func (w watch) Lease(session string, seen int64, ttl time.Duration) {
	w.s.flags.renewed(session, seen, ttl)
}

func (w watch) Ended(session string, reason error) {
	w.s.flags.say(Report{Msg: MsgEnded, Session: session, Error: text(reason)})
}

func (w watch) Lost(session string, reason error) {
	w.s.flags.lose(session, Report{Error: text(reason)})
}
