//go:build e2e

package client

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/testkit/wire"
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
	t.Run("the example", func(t *testing.T) {
		conform(t, example(t), []string{startToy(t).addr})
	})
}

// example is the command of the client that README.md begins with.
func example(t *testing.T) []string { return changedExample(t, "", "") }

// changedExample is the same with a part of the client replaced.
func changedExample(t *testing.T, was, is string) []string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("python3 is not there: example/client.py cannot be tested; install python3")
		}
		t.Skip("python3 is not there: example/client.py is NOT tested")
	}
	content, err := os.ReadFile("example/client.py")
	if err != nil {
		t.Fatal(err)
	}
	program, text := filepath.Join(t.TempDir(), "example.py"), string(content)
	if was != "" && strings.Count(text, was) != 1 {
		t.Fatalf("example/client.py does not have %q once", was)
	}
	if err := os.WriteFile(program, []byte(strings.Replace(text, was, is, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{python, program}
}

// A client whose library repeats a request without a word says that it did not own what it has just released. The example
// does not, and is not found wrong.
func TestASilentRetryIsFoundOut(t *testing.T) {
	const once = `    grant.send("release")
    answer = grant.receive()
`
	const repeated = `    try:
        grant.send("release")
        answer = grant.receive()
    except OSError:
        host, port = init["endpoints"][0].rsplit(":", 1)
        again = socket.create_connection((host, int(port))).makefile("rw")
        again.write("release\n")
        again.flush()
        answer = again.readline().strip()
`
	for name, test := range map[string]struct {
		command []string
		says    string
	}{
		"sent once":         {example(t), ""},
		"silently repeated": {changedExample(t, once, repeated), `"owned":false}. It had removed the lock`},
	} {
		t.Run(name, func(t *testing.T) {
			tried, err := loseReplies(t, test.command, []string{startToy(t).addr}, register(t), time.Hour) // it has no leases
			if !tried || (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("tried %v, found %v; want %q", tried, err, test.says)
			}
		})
	}
}

// What may be said of a release that took effect and whose reply was cut off, and what may not.
func TestWhatMayBeSaidOfALostReply(t *testing.T) {
	for line, right := range map[string]bool{
		`{"msg":"info","op":1,"error":"reset"}`:    true,
		`{"msg":"ok","op":1}`:                      true,
		`{"msg":"ok","op":1,"owned":true}`:         true,
		`{"msg":"ok","op":1,"owned":false}`:        false,
		`{"msg":"info","op":1,"owned":false}`:      false,
		`{"msg":"fail","op":1,"code":"not-owned"}`: false,
		`{"msg":"fail","op":1,"code":"refused"}`:   false,
	} {
		var r Report
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if err := lostReply(r); (err == nil) != right {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestTheExampleReportsItsLoss(t *testing.T) {
	toy := startToy(t)
	p := startProcess(t, example(t), []string{toy.addr}, register(t), "a")
	p.send(`{"cmd":"acquire","op":1,"hold":"h1","key":"k"}`)
	granted := p.answer(1, MsgOK)
	p.believes("h1")
	p.send(`{"cmd":"write","op":2,"hold":"h1","key":"k","value":"v","work_ms":300,"guard":"before-write"}`)
	p.take("stage", answerTimeout(), func(r Report) bool { return r.Stage == StageWorking })
	toy.sever()
	if lost := p.take("lost", answerTimeout(), func(r Report) bool { return r.Msg == MsgLost }); lost.Session != granted.Session {
		t.Errorf("lost %s, want session %s", line(lost), granted.Session)
	}
	p.believes()
	if r := p.answer(2, MsgFail); r.Code != history.CodeGuard || r.Held {
		t.Errorf("the write answered %s, want held back by its guard", line(r))
	}
	p.send(`{"cmd":"release","op":3,"hold":"h1"}`)
	p.answer(3, MsgInfo) // the toy is gone: the outcome is unknown
}

// conform walks two processes of a client through what every client has to do.
func conform(t *testing.T, command, endpoints []string) {
	resource := register(t)
	key := fmt.Sprintf("conformance-%d", time.Now().UnixNano())
	a := startProcess(t, command, endpoints, resource, "a")
	b := startProcess(t, command, endpoints, resource, "b")

	a.believes()
	a.send(fmt.Sprintf(`{"cmd":"acquire","op":1,"hold":"hA","key":%q,"an unknown field":{"x":1}}`, key))
	first := a.answer(1, MsgOK)
	a.believes("hA")
	a.send(fmt.Sprintf(`{"cmd":"read","op":2,"hold":"hA","key":%q}`, key))
	if r := a.answer(2, MsgOK); !r.Held || r.Value != "" {
		t.Errorf("the first read answered %s, want no value (nothing was written yet), and \"held\":true", line(r))
	}

	b.send(fmt.Sprintf(`{"cmd":"acquire","op":3,"hold":"hB","key":%q}`, key))
	for range 20 { // pings while an acquire waits
		b.believes()
		time.Sleep(5 * time.Millisecond)
	}
	b.mustNotHaveAnswered(3, "client a has the lock")

	const work = 200 * time.Millisecond
	begun := time.Now()
	a.send(fmt.Sprintf(`{"cmd":"write","op":4,"hold":"hA","key":%q,"value":"v4","work_ms":%d,"guard":"before-write"}`, key, work.Milliseconds()))
	a.believesAtOnce(20, "hA") // pings while a write works
	if r := a.answer(4, MsgOK); !r.Held {
		t.Errorf("the write answered %s, want \"held\":true", line(r))
	}
	if took := time.Since(begun); took < work {
		t.Errorf("the write answered after %v, want its work of %v before that", took, work)
	}
	a.send(`{"cmd":"release","op":5,"hold":"hA"}`)
	if r := a.answer(5, MsgOK); r.Owned != nil && !*r.Owned {
		t.Errorf("the release answered %s, want \"owned\":true, or no \"owned\" at all: the record was its own", line(r))
	}
	a.believes()

	second := b.answer(3, MsgOK)
	b.believes("hB")
	greater(t, first.Token, second.Token, a.tokens)
	b.send(fmt.Sprintf(`{"cmd":"read","op":6,"hold":"hB","key":%q}`, key))
	if r := b.answer(6, MsgOK); r.Value != "v4" {
		t.Errorf("the other client's read answered %s, want the value v4", line(r))
	}

	a.send(fmt.Sprintf(`{"cmd":"acquire","op":7,"hold":"hA2","key":%q}`, key))
	a.believes()
	time.Sleep(100 * time.Millisecond)
	a.send(`{"cmd":"cancel","op":7}`)
	if r := a.answer(7, MsgFail, MsgInfo); r.Msg == MsgFail && r.Code != history.CodeCancelled && r.Code != history.CodeRefused {
		t.Errorf("the cancelled acquire answered %s, want the code cancelled or refused, or info", line(r))
	}
	a.send(fmt.Sprintf(`{"cmd":"read","op":8,"hold":"unknown","key":%q}`, key))
	if r := a.answer(8, MsgFail); r.Code != history.CodeRefused {
		t.Errorf("a read under no hold answered %s, want the code refused", line(r))
	}

	b.closes()
	a.believes() // the cancelled acquire was not granted
	a.send(fmt.Sprintf(`{"cmd":"acquire","op":9,"hold":"hA3","key":%q}`, key))
	greater(t, second.Token, a.answer(9, MsgOK).Token, a.tokens)
	a.in.(io.Closer).Close()
	a.exits()
	if t.Failed() {
		return // what follows from that would hide it
	}
	conformAtOnce(t, command, endpoints, resource)
	conformWithKeys(t, command, endpoints)
	conformAfterALostReply(t, command, endpoints, resource)
}

// conformAtOnce has two clients ask for a lock as soon as each is ready, before any ping: in a run, the successor of a client that was
// killed does.
func conformAtOnce(t *testing.T, command, endpoints []string, resource string) {
	t.Helper()
	key := fmt.Sprintf("conformance-%d", time.Now().UnixNano())
	e := startProcess(t, command, endpoints, resource, "e")
	e.send(fmt.Sprintf(`{"cmd":"acquire","op":1,"hold":"hE","key":%q}`, key))
	first := e.answer(1, MsgOK)
	f := startProcess(t, command, endpoints, resource, "f")
	f.send(fmt.Sprintf(`{"cmd":"acquire","op":1,"hold":"hF","key":%q}`, key))
	f.believesAtOnce(1)
	f.mustNotHaveAnswered(1, "client e has the lock")
	e.believes("hE")
	e.send(`{"cmd":"release","op":2,"hold":"hE"}`)
	e.answer(2, MsgOK)
	greater(t, first.Token, f.answer(1, MsgOK).Token, f.tokens)
	for _, p := range []*process{e, f} {
		p.closes()
	}
}

func conformAfterALostReply(t *testing.T, command, endpoints []string, resource string) {
	t.Helper()
	tried, err := loseReplies(t, command, endpoints, resource, *ttlFlag)
	switch {
	case err != nil:
		t.Error(err)
	case !tried:
		t.Log("NOT tried: a release whose answer is cut off. Each was answered before that; perhaps the client connects past -endpoints")
	}
}

// replyTimeouts is within what a release is expected to take effect once it is sent, so that its reply can be cut off. A
// service, or a client that asks again and again, may be slower: then it is tried again.
var replyTimeouts = []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 900 * time.Millisecond, 2700 * time.Millisecond, 8100 * time.Millisecond}

// loseReplies has one client release while another waits, behind a wire that lets the request through and loses the reply.
// Once the other is granted the lock the release has certainly removed it, so an answer of "not owned" is wrong, unless its
// lease may have run out before. It reports whether the answer came after the cut.
func loseReplies(t *testing.T, command, endpoints []string, resource string, lease time.Duration) (tried bool, wrong error) {
	var wires []*wire.Wire
	var behind []string
	for _, server := range endpoints {
		w := wire.New(t, server)
		wires, behind = append(wires, w), append(behind, w.Addr)
	}
	a, b := startProcess(t, command, behind, resource, "c"), startProcess(t, command, endpoints, resource, "d")
	for i, timeout := range replyTimeouts {
		begun := time.Now()
		if timeout > lease {
			break
		}
		tried, wrong = loseReply(t, a, b, wires, timeout, int64(2*i+1))
		if tried && time.Since(begun) < lease {
			return true, wrong
		}
	}
	return false, nil
}

func loseReply(t *testing.T, a, b *process, wires []*wire.Wire, timeout time.Duration, op int64) (tried bool, wrong error) {
	t.Helper()
	key := fmt.Sprintf("conformance-%d", time.Now().UnixNano())
	a.send(fmt.Sprintf(`{"cmd":"acquire","op":%d,"hold":"hC%d","key":%q}`, op, op, key))
	a.answer(op, MsgOK)
	b.send(fmt.Sprintf(`{"cmd":"acquire","op":%d,"hold":"hD%d","key":%q}`, op, op, key))
	late := time.Now().Add(time.Minute)
	wire.CutReply(wires, timeout, func() {
		a.send(fmt.Sprintf(`{"cmd":"release","op":%d,"hold":"hC%d"}`, op+1, op))
	}, func() bool {
		a.ping()
		b.ping()
		tried = !a.answers(op + 1)
		return b.answers(op) || time.Now().After(late)
	})
	a.cut = true
	b.answer(op, MsgOK)
	b.send(fmt.Sprintf(`{"cmd":"release","op":%d,"hold":"hD%d"}`, op+1, op))
	b.answer(op+1, MsgOK)
	r := a.answer(op+1, MsgOK, MsgInfo, MsgFail)
	return tried || r.Msg == MsgInfo, lostReply(r)
}

// lostReply says what is wrong with the answer of a release that took effect and whose reply was cut off.
func lostReply(r Report) error {
	if r.Msg != MsgFail && (r.Owned == nil || *r.Owned) {
		return nil
	}
	return fmt.Errorf("a release answered %s. It had removed the lock, which another was granted at once, and only the reply was cut off. After a request "+
		"that got no answer \"not owned\" proves nothing: want info. Does the library, or something below it, repeat requests? (README.md, \"Silent retries\")", line(r))
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
