package client

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
)

// An author's own client, tested as README.md says.
var (
	clientFlag    = flag.String("client", "", "command of the client to test for conformance")
	endpointsFlag = flag.String("endpoints", "", "of its lock service, separated by commas")
	ttlFlag       = flag.Duration("ttl", 2*time.Second, "time to live to ask for")
)

func TestConformance(t *testing.T) {
	if *clientFlag != "" {
		conform(t, strings.Fields(*clientFlag), strings.Split(*endpointsFlag, ","))
		return
	}
	t.Run("the example of README.md", func(t *testing.T) {
		conform(t, example(t), []string{startToy(t).addr})
	})
}

// example is the command of README.md's client.
func example(t *testing.T) []string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("python3 is not there: the example of README.md cannot be tested; install python3")
		}
		t.Skip("python3 is not there: the example of README.md is NOT tested")
	}
	program := filepath.Join(t.TempDir(), "example.py")
	if err := os.WriteFile(program, []byte(fenced(t, "python")[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{python, program}
}

func TestExampleOfREADMETellsItsLoss(t *testing.T) {
	toy := startToy(t)
	p := startProcess(t, example(t), []string{toy.addr}, register(t), "a")
	p.send(`{"cmd":"acquire","op":1,"hold":"h1","key":"k"}`)
	granted := p.answer(1, MsgOK)
	p.believes("h1")
	p.send(`{"cmd":"write","op":2,"hold":"h1","key":"k","value":"v","work_ms":300,"guard":"before-write"}`)
	p.take("stage", time.Second, func(r Report) bool { return r.Stage == StageWorking })
	toy.sever()
	if lost := p.take("lost", time.Second, func(r Report) bool { return r.Msg == MsgLost }); lost.Session != granted.Session {
		t.Errorf("lost %+v, want session %s", lost, granted.Session)
	}
	p.believes()
	if r := p.answer(2, MsgFail); r.Code != history.CodeGuard || r.Held {
		t.Errorf("the write answered %+v, want held back by its guard", r)
	}
	p.send(`{"cmd":"release","op":3,"hold":"h1"}`)
	p.answer(3, MsgInfo) // the toy is gone: nobody knows
}

// conform walks two processes of a client through what every client has to do.
func conform(t *testing.T, command, endpoints []string) {
	resource := register(t)
	key := fmt.Sprintf("conformance-%d", time.Now().UnixNano())
	a := startProcess(t, command, endpoints, resource, "a")
	b := startProcess(t, command, endpoints, resource, "b")

	a.believes()
	a.send(fmt.Sprintf(`{"cmd":"acquire","op":1,"hold":"hA","key":%q,"a field nobody knows":{"x":1}}`, key))
	first := a.answer(1, MsgOK)
	a.believes("hA")
	a.send(fmt.Sprintf(`{"cmd":"read","op":2,"hold":"hA","key":%q}`, key))
	if r := a.answer(2, MsgOK); !r.Held || r.Value != "" {
		t.Errorf("the first read answered %+v, want the initial value, held", r)
	}

	b.send(fmt.Sprintf(`{"cmd":"acquire","op":3,"hold":"hB","key":%q}`, key))
	for range 20 { // pings while an acquire waits
		b.believes()
		time.Sleep(5 * time.Millisecond)
	}
	b.mustNotHaveAnswered(3)

	a.send(fmt.Sprintf(`{"cmd":"write","op":4,"hold":"hA","key":%q,"value":"v4","work_ms":200,"guard":"before-write"}`, key))
	for range 20 { // pings while a write works
		a.believes("hA")
		time.Sleep(5 * time.Millisecond)
	}
	a.mustNotHaveAnswered(4)
	if r := a.answer(4, MsgOK); !r.Held {
		t.Errorf("the write answered %+v, want held", r)
	}
	a.send(`{"cmd":"release","op":5,"hold":"hA"}`)
	if r := a.answer(5, MsgOK); r.Owned != nil && !*r.Owned {
		t.Errorf("the release answered %+v: it was its own", r)
	}
	a.believes()

	second := b.answer(3, MsgOK)
	b.believes("hB")
	greater(t, first.Token, second.Token, a.tokens)
	b.send(fmt.Sprintf(`{"cmd":"read","op":6,"hold":"hB","key":%q}`, key))
	if r := b.answer(6, MsgOK); r.Value != "v4" {
		t.Errorf("the other client's read answered %+v, want v4", r)
	}

	a.send(fmt.Sprintf(`{"cmd":"acquire","op":7,"hold":"hA2","key":%q}`, key))
	a.believes()
	time.Sleep(100 * time.Millisecond)
	a.send(`{"cmd":"cancel","op":7}`)
	if r := a.answer(7, MsgFail, MsgInfo); r.Msg == MsgFail && r.Code != history.CodeCancelled && r.Code != history.CodeRefused {
		t.Errorf("the cancelled acquire answered %+v", r)
	}
	a.send(fmt.Sprintf(`{"cmd":"read","op":8,"hold":"nobody","key":%q}`, key))
	if r := a.answer(8, MsgFail); r.Code != history.CodeRefused {
		t.Errorf("a read under no hold answered %+v, want refused", r)
	}

	b.send(`{"cmd":"close"}`)
	b.exits()
	a.believes() // the cancelled acquire was not granted
	a.send(fmt.Sprintf(`{"cmd":"acquire","op":9,"hold":"hA3","key":%q}`, key))
	greater(t, second.Token, a.answer(9, MsgOK).Token, a.tokens)
	a.in.(io.Closer).Close()
	a.exits()
}

func greater(t *testing.T, before, after, tokens string) {
	t.Helper()
	if tokens != string(history.TokensOrdered) {
		return
	}
	x, okX := new(big.Int).SetString(before, 10)
	y, okY := new(big.Int).SetString(after, 10)
	if !okX || !okY || y.Cmp(x) <= 0 {
		t.Errorf("token %q after %q: want decimal numbers that grow", after, before)
	}
}

// process is a conversation with a client that is a process of its own.
type process struct {
	talk
	name    string
	tokens  string
	pings   int
	waiting map[int64]Report // answers that were read before they were asked for
	exited  chan error
}

func startProcess(t *testing.T, command, endpoints []string, resource, name string) *process {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
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
		waiting: map[int64]Report{}, exited: make(chan error, 1),
	}
	go func() {
		for scan := bufio.NewScanner(out); scan.Scan(); {
			var r Report
			if err := json.Unmarshal(scan.Bytes(), &r); err != nil {
				t.Errorf("client %s printed %q: %v", name, scan.Text(), err)
			}
			p.lines <- r
		}
		close(p.lines)
		p.exited <- cmd.Wait()
	}()
	t.Cleanup(func() { cmd.Process.Kill() })
	line, err := json.Marshal(Command{Cmd: CmdInit, Init: &Init{
		Protocol: ProtocolVersion, Name: name, Endpoints: endpoints, TTLMS: ttlFlag.Milliseconds(), Resource: resource, Seed: 1,
	}})
	if err != nil {
		t.Fatal(err)
	}
	p.send(string(line))
	ready := p.want(MsgReady).Ready
	if ready == nil || ready.Protocol != ProtocolVersion || ready.Client == "" {
		t.Fatalf("client %s declared %+v", name, ready)
	}
	if p.tokens = ready.Tokens; p.tokens != string(history.TokensOrdered) && p.tokens != string(history.TokensNone) {
		t.Errorf("client %s declared tokens %q: want ordered or none", name, p.tokens)
	}
	for _, need := range []CommandName{CmdPing, CmdAcquire, CmdRead, CmdWrite, CmdRelease, CmdCancel, CmdClose} {
		if !slices.Contains(ready.Commands, string(need)) {
			t.Errorf("client %s does not name the command %s", name, need)
		}
	}
	return p
}

// take reads lines until one is what is looked for, and keeps answers that come meanwhile.
func (p *process) take(what string, within time.Duration, is func(Report) bool) Report {
	p.t.Helper()
	deadline := time.After(within)
	for {
		select {
		case r, ok := <-p.lines:
			switch {
			case !ok:
				p.t.Fatalf("client %s ended its output instead of %s", p.name, what)
			case is(r):
				return r
			case r.Msg == MsgOK || r.Msg == MsgFail || r.Msg == MsgInfo:
				p.waiting[r.Op] = r
			case r.Msg == MsgLost || r.Msg == MsgEnded || r.Msg == MsgError:
				p.t.Fatalf("client %s printed %+v instead of %s", p.name, r, what)
			}
		case <-deadline:
			p.t.Fatalf("client %s: no %s within %v", p.name, what, within)
		}
	}
}

func (p *process) believes(want ...string) {
	p.t.Helper()
	p.pings++
	p.send(fmt.Sprintf(`{"cmd":"ping","n":%d}`, p.pings))
	r := p.take("pong", time.Second, func(r Report) bool { return r.Msg == MsgPong })
	if r.N != int64(p.pings) || !slices.Equal(r.Holds, want) && len(r.Holds)+len(want) > 0 {
		p.t.Errorf("client %s answered ping %d with %+v, want holds %v", p.name, p.pings, r, want)
	}
}

func (p *process) answer(op int64, want ...ReportName) Report {
	p.t.Helper()
	r, ok := p.waiting[op]
	if !ok {
		r = p.take(fmt.Sprintf("answer of operation %d", op), 10*time.Second, func(r Report) bool {
			return r.Op == op && (r.Msg == MsgOK || r.Msg == MsgFail || r.Msg == MsgInfo)
		})
	}
	if !slices.Contains(want, r.Msg) {
		line, _ := json.Marshal(r) // as the client's author knows it from the protocol
		p.t.Fatalf("client %s answered operation %d with %s, want %v", p.name, op, line, want)
	}
	return r
}

func (p *process) mustNotHaveAnswered(op int64) {
	p.t.Helper()
	if r, ok := p.waiting[op]; ok {
		p.t.Fatalf("client %s answered %+v already", p.name, r)
	}
}

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
	case <-time.After(2 * time.Second):
		p.t.Errorf("client %s did not end within 2 s", p.name)
	}
}
