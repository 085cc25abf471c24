//go:build e2e

package client

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a conversation with a client that is a process of its own.
type process struct {
	talk
	name     string
	tokens   string
	commands []string         // that it named
	pings    int              // sent
	pongs    int              // read, in order
	cut      bool             // its connections were broken: it may lose what it holds
	waiting  map[int64]Report // answers that were read before they were asked for
	errors   *lastLines       // of its standard error
	exited   chan error
}

// lastLines passes on what a client prints on standard error, and keeps its end.
type lastLines struct {
	mu   sync.Mutex
	kept []byte
}

const maxLastLines = 1 << 10

func (l *lastLines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, text...)
	l.kept = l.kept[max(0, len(l.kept)-maxLastLines):]
	return os.Stderr.Write(text)
}

// endTimeout is how long a client may take to end after its output has.
const endTimeout = 5 * time.Second

// death is how a client ended that was to do something else, with its last words.
func (p *process) death() string {
	how := "which closed its standard output and goes on,"
	select {
	case err := <-p.exited:
		if p.exited <- err; err == nil {
			how = "which ended with exit code 0"
		} else {
			how = fmt.Sprintf("which ended (%v)", err)
		}
	case <-time.After(endTimeout):
	}
	p.errors.mu.Lock()
	defer p.errors.mu.Unlock()
	if words := strings.TrimSpace(string(p.errors.kept)); words != "" {
		return how + "; its last words on standard error: " + words
	}
	return how + "; it said nothing on standard error"
}

// line is a report as the client's author knows it from the protocol.
func line(r Report) string {
	text, _ := json.Marshal(r)
	return string(text)
}

func startProcess(t *testing.T, command, endpoints []string, resource, name string) *process {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	errors := &lastLines{}
	cmd.Stderr = errors
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{
		talk: talk{t: t, in: in, lines: make(chan Report, 1000)}, name: name,
		waiting: map[int64]Report{}, errors: errors, exited: make(chan error, 1),
	}
	go func() {
		for scan := bufio.NewScanner(out); scan.Scan(); {
			var r Report
			if err := json.Unmarshal(scan.Bytes(), &r); err != nil {
				t.Errorf("client %s printed %q, want a JSON object of the client protocol and nothing else on standard output: %v", name, scan.Text(), err)
			}
			p.lines <- r
		}
		p.exited <- cmd.Wait() // what it printed on standard error is kept by then
		close(p.lines)
	}()
	t.Cleanup(func() { cmd.Process.Kill() })
	init, err := json.Marshal(Command{Cmd: CmdInit, Init: &Init{
		Protocol: ProtocolVersion, Name: name, Endpoints: endpoints, TTLMS: ttlFlag.Milliseconds(), Resource: resource, Seed: 1,
	}})
	if err != nil {
		t.Fatal(err)
	}
	p.send(string(init))
	ready := p.first().Ready
	if ready == nil || ready.Protocol != ProtocolVersion || ready.Client == "" {
		t.Fatalf("client %s said ready with %+v, want protocol %d and the client's name", name, ready, ProtocolVersion)
	}
	p.tokens, p.commands = ready.Tokens, ready.Commands
	if err := ready.Check(); err != nil {
		t.Errorf("client %s: %v", name, err)
	}
	return p
}

// readyTimeout is how long a run waits for a client to get ready: a runtime may take its time to start.
const readyTimeout = 20 * time.Second

// answerTimeout is how long a run waits for an answer (README.md).
func answerTimeout() time.Duration { return max(10*time.Second, 5**ttlFlag) }

// first is the first line, which has to be ready.
func (p *process) first() Report {
	p.t.Helper()
	select {
	case r, ok := <-p.lines:
		if !ok {
			p.t.Fatalf("want ready of client %s, %s", p.name, p.death())
		}
		if r.Msg != MsgReady {
			p.t.Fatalf("client %s printed %s, want ready first", p.name, line(r))
		}
		return r
	case <-time.After(readyTimeout):
		p.t.Fatalf("client %s printed nothing for %v, want ready", p.name, readyTimeout)
	}
	panic("unreachable")
}

// pingPace is how often a client is pinged while it is waited for. Some wait for a ping themselves before they go on.
const pingPace = 20 * time.Millisecond

// take reads lines until one is what is looked for, and keeps answers that come until then.
func (p *process) take(what string, within time.Duration, is func(Report) bool) Report {
	p.t.Helper()
	deadline, pace := time.After(within), time.NewTicker(pingPace)
	defer pace.Stop()
	for {
		select {
		case r, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("want %s of client %s, %s", what, p.name, p.death())
			}
			if p.hear(r, what); is(r) {
				return r
			}
		case <-pace.C:
			p.ping()
		case <-deadline:
			p.t.Fatalf("client %s: no %s within %v", p.name, what, within)
		}
	}
}

// hear takes a line that may be what is waited for, or not.
func (p *process) hear(r Report, what string) {
	p.t.Helper()
	if err := errors.Join(r.Check(), CheckGranted(r.Token)); err != nil {
		p.t.Errorf("client %s printed %s, which would end a run: %v", p.name, line(r), err)
	}
	if r.Seen < 0 || r.Seen > int64(p.pings) {
		p.t.Errorf("client %s printed %s, which would end a run: seen is the number of a ping that was never sent", p.name, line(r))
	}
	switch r.Msg {
	case MsgPong:
		if p.pongs++; r.N != int64(p.pongs) {
			p.t.Errorf("client %s answered ping %d with %s: pings are answered in order", p.name, p.pongs, line(r))
			p.pongs = int(r.N)
		}
	case MsgOK, MsgFail, MsgInfo:
		if _, twice := p.waiting[r.Op]; twice {
			p.t.Errorf("client %s answered operation %d twice, want one answer", p.name, r.Op)
		}
		p.waiting[r.Op] = r
	case MsgLost, MsgEnded:
		if !p.cut && what != "lost" {
			p.t.Fatalf("client %s printed %s instead of %s", p.name, line(r), what)
		}
	case MsgError:
		p.t.Fatalf("client %s printed %s instead of %s", p.name, line(r), what)
	}
}

// send says nothing of a client that has ended: what is read of it next tells how.
func (p *process) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, os.ErrClosed) {
		p.t.Fatal(err)
	}
}

func (p *process) ping() {
	p.t.Helper()
	p.pings++
	p.send(fmt.Sprintf(`{"cmd":"ping","n":%d}`, p.pings))
}

func (p *process) believes(want ...string) {
	p.t.Helper()
	p.ping()
	n := int64(p.pings)
	r := p.take("pong", answerTimeout(), func(r Report) bool { return r.Msg == MsgPong && r.N == n })
	if !slices.Equal(r.Holds, want) && len(r.Holds)+len(want) > 0 {
		p.t.Errorf("client %s answered ping %d with %s, want holds %q", p.name, n, line(r), want)
	}
}

// believesAtOnce sends so many pings at once, so that the client alone decides what it prints before it has answered them all:
// the test may be slow.
func (p *process) believesAtOnce(pings int, want ...string) {
	p.t.Helper()
	first := p.pings + 1
	for range pings {
		p.ping()
	}
	for n := first; n < first+pings; n++ {
		r := p.take("pong", answerTimeout(), func(r Report) bool { return r.Msg == MsgPong && r.N == int64(n) })
		if !slices.Equal(r.Holds, want) {
			p.t.Errorf("client %s answered ping %d with %s, want holds %q", p.name, n, line(r), want)
		}
	}
}

// answers reports whether an operation is answered, without waiting.
func (p *process) answers(op int64) bool {
	p.t.Helper()
	for {
		select {
		case r, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("want an answer of operation %d of client %s, %s", op, p.name, p.death())
			}
			p.hear(r, "an answer")
		default:
			_, ok := p.waiting[op]
			return ok
		}
	}
}

func (p *process) answer(op int64, want ...ReportName) Report {
	p.t.Helper()
	r, ok := p.waiting[op]
	if !ok {
		r = p.take(fmt.Sprintf("answer of operation %d", op), answerTimeout(), func(r Report) bool {
			return r.Op == op && (r.Msg == MsgOK || r.Msg == MsgFail || r.Msg == MsgInfo)
		})
	}
	if !slices.Contains(want, r.Msg) {
		p.t.Fatalf("client %s answered operation %d with %s, want %v", p.name, op, line(r), want)
	}
	return r
}

// mustNotHaveAnswered expects that an operation waits; because says for what.
func (p *process) mustNotHaveAnswered(op int64, because string) {
	p.t.Helper()
	if r, ok := p.waiting[op]; ok {
		p.t.Fatalf("client %s answered %s already, want it to wait: %s", p.name, line(r), because)
	}
}

// closes has a client end, which has to be there still.
func (p *process) closes() {
	p.t.Helper()
	select {
	case err := <-p.exited:
		p.exited <- err
		p.t.Errorf("client %s ended before it was told to", p.name)
	default:
	}
	p.send(`{"cmd":"close"}`)
	p.exits()
}

// exitTimeout is after how long a run kills a client that was told to end (README.md): what an author's own is tested for, and the example.
var exitTimeout = 2 * time.Second

func (p *process) exits() {
	p.t.Helper()
	go func() {
		for range p.lines { // what it still prints
		}
	}()
	select {
	case err := <-p.exited:
		if err != nil {
			p.t.Errorf("client %s ended with %v, want exit code 0", p.name, err)
		}
	case <-time.After(exitTimeout):
		p.t.Errorf("client %s did not end within %.0f s, want it to give its session back and exit with code 0", p.name, exitTimeout.Seconds())
	}
}

func TestWhatIsSentToAClientThatHasEndedIsNotItsError(t *testing.T) {
	cmd := exec.Command("true")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{talk: talk{t: t, in: in}}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Wait()
	p.send("nobody reads it") // a broken pipe
	cmd.Wait()
	p.send("nobody reads it") // a closed one
}
