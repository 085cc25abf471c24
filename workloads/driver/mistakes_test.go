package driver

import (
	"errors"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// What a client cannot mean ends the conversation, with its line, and is never recorded as what the service answered.
func TestWhatCannotBeSaidIsTheClientsMistake(t *testing.T) {
	for name, test := range map[string]struct {
		lines []string // the last one is the mistake, unless says is empty
		says  string
	}{
		"an answer": {[]string{`{"msg":"ok","op":2,"owned":true,"seen":1}`}, ""},
		"an answer to an operation that there is not": {[]string{`{"msg":"fail","op":99,"code":"not-owned"}`}, "operation 99 is not open"},
		"an answer without an operation":              {[]string{`{"msg":"ok"}`}, "operation 0 is not open"},
		"a second answer":                             {[]string{`{"msg":"ok","op":2}`, `{"msg":"fail","op":2,"code":"not-owned"}`}, "operation 2 is not open: it was never asked of this client, or has been answered before"},
		"the same answer twice":                       {[]string{`{"msg":"info","op":2}`, `{"msg":"info","op":2}`}, "operation 2 is not open"},
		"a code":                                      {[]string{`{"msg":"fail","op":2,"code":"not-owned"}`}, ""},
		"a code that the page does not know":          {[]string{`{"msg":"fail","op":2,"code":"expired"}`}, `there is no code "expired"; there are: refused, busy, cancelled, not-owned, rejected, guard`},
		"a pong":                                      {[]string{`{"msg":"pong","n":1}`}, ""},
		"a pong of a ping that was never sent":        {[]string{`{"msg":"pong","n":2}`}, "n is 2, a ping that was never sent: the last one was 1"},
		"a seen of a ping that was never sent":        {[]string{`{"msg":"fail","op":2,"code":"not-owned","seen":2}`}, "seen is 2, a ping that was never sent: the last one was 1"},
		"a seen before all pings":                     {[]string{`{"msg":"ok","op":2,"seen":-1}`}, "seen is -1, a ping"},
		"a lease of the future":                       {[]string{`{"msg":"lease","session":"s1","seen":7,"ttl_ms":2000}`}, "seen is 7, a ping"},
		"an end of the future":                        {[]string{`{"msg":"ended","session":"s1","seen":7}`}, "seen is 7, a ping"},
		"a stage of an operation that is over":        {[]string{`{"msg":"ok","op":2}`, `{"msg":"stage","op":2,"stage":"queued"}`}, ""}, // printed by another thread: it only comes too late
	} {
		t.Run(name, func(t *testing.T) {
			p := newPuppet(t)
			p.ping()
			p.driver.Begin(client.Command{Cmd: client.CmdRelease, Op: 2, Hold: "h1", Key: "k1"})
			p.hear()
			for _, line := range test.lines {
				p.say("%s", line)
			}
			if test.says == "" {
				if p.settle(); p.driver.Err() != nil {
					t.Error(p.driver.Err())
				}
				return
			}
			<-p.driver.Gone()
			last := test.lines[len(test.lines)-1]
			if err := p.driver.Err(); !errors.Is(err, client.ErrProtocol) || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "`"+last+"`") {
				t.Errorf("%v, want %q and the line", err, test.says)
			}
			if accused := p.tape.find(history.Release, history.Fail); accused != nil {
				t.Errorf("recorded as %+v", accused)
			}
		})
	}
}

// An operation that the harness has given up waiting for may still be answered: once.
func TestALateAnswerMayComeOnce(t *testing.T) {
	for _, cmd := range []client.CommandName{client.CmdAcquire, client.CmdRead, client.CmdWrite, client.CmdRelease, client.CmdRenew} {
		t.Run(string(cmd), func(t *testing.T) {
			p := newPuppet(t)
			p.driver.Begin(client.Command{Cmd: cmd, Op: 2, Hold: "h1", Key: "k1", Value: "v"})
			p.hear()
			p.driver.Abandon(2, "no answer")
			const late = `{"msg":"fail","op":2,"code":"not-owned"}`
			p.say(late)
			if p.settle(); p.driver.Err() != nil {
				t.Fatalf("the late answer ended the client: %v", p.driver.Err())
			}
			p.say(late)
			<-p.driver.Gone()
			if err := p.driver.Err(); !errors.Is(err, client.ErrProtocol) {
				t.Errorf("answered twice: %v", err)
			}
		})
	}
}

// An acquire that was cancelled answers, once, as any other.
func TestACancelledAcquireIsAnsweredOnce(t *testing.T) {
	p := newPuppet(t)
	done := p.driver.Begin(client.Command{Cmd: client.CmdAcquire, Op: 2, Hold: "h1", Key: "k1"})
	p.hear()
	p.driver.Cancel(2)
	p.hear()
	p.say(`{"msg":"fail","op":2,"code":"cancelled"}`)
	if c := <-done; c.Type != history.Fail || p.driver.Err() != nil {
		t.Fatalf("%+v, %v", c, p.driver.Err())
	}
	p.say(`{"msg":"ok","op":2,"session":"s1"}`)
	<-p.driver.Gone()
	if err := p.driver.Err(); !errors.Is(err, client.ErrProtocol) {
		t.Errorf("answered twice: %v", err)
	}
}

// A report of the wrong kind is told in the words of the protocol, and the report "error", which is a legal one, is not called illegal.
func TestMistakesAreToldInPlainWords(t *testing.T) {
	for line, says := range map[string]string{
		`{"msg":"ok","op":2,"token":33}`:      `"token" has to be a string ("33"), and is a number`,
		`{"msg":"ok","op":"2"}`:               `"op" has to be a whole number, and is a string`,
		`{"msg":"ok","op":2`:                  "its JSON is cut off: one report is one line",
		`{"msg":"ok" "op":2}`:                 "its JSON is broken at byte 13",
		`["ok"]`:                              "a report is a JSON object, and this is an array",
		`{"msg":"error","error":"no server"}`: "it says that it cannot go on: no server",
	} {
		p := newPuppet(t)
		p.say("%s", line)
		<-p.driver.Gone()
		err := p.driver.Err()
		if !errors.Is(err, client.ErrProtocol) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "json:") || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v, want %q", line, err, says)
		}
		if legal := strings.Contains(line, "error"); legal == strings.Contains(err.Error(), "not the client protocol") {
			t.Errorf("%s: %v", line, err)
		}
	}
}
