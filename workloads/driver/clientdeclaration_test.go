package driver

import (
	"errors"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// allCommands are all that a client has to understand, as its ready report names them.
const allCommands = `"commands":["ping","acquire","read","write","release","cancel","close"]`

// A client that lacks a command would be found out by what it does not do, in the middle of a run.
func TestReadyHasToNameEveryCommand(t *testing.T) {
	for name, test := range map[string]struct{ commands, says string }{
		"all":           {allCommands, ""},
		"more than all": {strings.Replace(allCommands, "]", `,"renew","fly"]`, 1), ""},
		"all but one":   {strings.Replace(allCommands, `"cancel",`, "", 1), `does not name cancel among its "commands"`},
		"none":          {`"commands":[]`, `does not name ping, acquire, read, write, release, cancel, close among`},
		"not said":      {`"client":"mine"`, `does not name ping, acquire`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPuppet(t)
			p.say(`{"msg":"ready","ready":{"protocol":1,"tokens":"none",%s}}`, test.commands)
			_, err := p.driver.Init(t.Context(), client.Init{Protocol: client.ProtocolVersion})
			switch {
			case test.says == "" && err != nil:
				t.Error(err)
			case test.says != "" && (!errors.Is(err, client.ErrProtocol) || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), `{"msg":"ready"`)):
				t.Errorf("%v, want %q and the line", err, test.says)
			}
		})
	}
}

// A client need not know whether its releases look whose record they remove; a word that says neither is a mistake.
func TestAReleaseIsDeclaredByOneOfTwoWords(t *testing.T) {
	for name, test := range map[string]struct{ release, says string }{
		"checked":      {`,"release":"checked"`, ""},
		"unchecked":    {`,"release":"unchecked"`, ""},
		"not said":     {``, ""},
		"another word": {`,"release":"safe"`, `declares release "safe"; "release" has to be "checked" or "unchecked", or left out`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPuppet(t)
			p.say(`{"msg":"ready","ready":{"protocol":1,"tokens":"none",%s%s}}`, allCommands, test.release)
			_, err := p.driver.Init(t.Context(), client.Init{Protocol: client.ProtocolVersion})
			switch {
			case test.says == "" && err != nil:
				t.Error(err)
			case test.says != "" && (!errors.Is(err, client.ErrProtocol) || !strings.Contains(err.Error(), test.says)):
				t.Errorf("%v, want %q", err, test.says)
			}
		})
	}
}

func TestALongestRetryIsATime(t *testing.T) {
	for retry, says := range map[int]string{
		0: "", 60_000: "", -1: `declares retry_ms -1; "retry_ms" has to be the longest wait between two requests of an acquire, from 0 to 3600000 milliseconds`, 3_600_001: "declares retry_ms 3600001",
	} {
		p := newPuppet(t)
		p.say(`{"msg":"ready","ready":{"protocol":1,"tokens":"none",%s,"retry_ms":%d}}`, allCommands, retry)
		switch _, err := p.driver.Init(t.Context(), client.Init{Protocol: client.ProtocolVersion}); {
		case says == "" && err != nil:
			t.Error(err)
		case says != "" && (!errors.Is(err, client.ErrProtocol) || !strings.Contains(err.Error(), says)):
			t.Errorf("%v, want %q", err, says)
		}
	}
}

func TestReadyHasToSayWhetherThereAreTokens(t *testing.T) {
	for name, test := range map[string]struct{ ready, says string }{
		"ordered":          {`"protocol":1,"tokens":"ordered"`, ""},
		"none":             {`"protocol":1,"tokens":"none"`, ""},
		"not said":         {`"protocol":1`, `does not say whether its grants carry tokens; "tokens" has to be "ordered" or "none"`},
		"another word":     {`"protocol":1,"tokens":"yes"`, `declares tokens "yes"; "tokens" has to be "ordered" or "none"`},
		"another protocol": {`"protocol":2,"tokens":"fancy"`, "speaks protocol 2, this harness speaks 1"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPuppet(t)
			p.say(`{"msg":"ready","ready":{%s,%s}}`, test.ready, allCommands)
			_, err := p.driver.Init(t.Context(), client.Init{Protocol: client.ProtocolVersion})
			if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("%v, want %q", err, test.says)
			}
		})
	}
}

// What is declared is held against the first grant, not found out when the run is over.
func TestAGrantThatBreaksWhatWasDeclaredEndsTheClient(t *testing.T) {
	for name, test := range map[string]struct{ declared, answer, says string }{
		"a number, as declared":      {"ordered", `"msg":"ok","token":"4711"`, ""},
		"none, as declared":          {"none", `"msg":"ok"`, ""},
		"none, against what it said": {"ordered", `"msg":"ok"`, `declares tokens "ordered", and its grant of k1 (op 1) has none: give each grant its number`},
		"one, against what it said":  {"none", `"msg":"ok","token":"33"`, `declares tokens "none", and its grant of k1 (op 1) has token "33": declare "ordered"`},
		"no number":                  {"ordered", `"msg":"ok","token":"0x21"`, `token "0x21" is not a decimal number`},
		"a sign":                     {"ordered", `"msg":"ok","token":"+33"`, `token "+33" is not a decimal number`},
		"a space":                    {"ordered", `"msg":"ok","token":"33 "`, `token "33 " is not a decimal number`},
		"leading zeros":              {"ordered", `"msg":"ok","token":"0033"`, `token "0033" has leading zeros: it has to be written as "33"`},
		"nothing but zeros":          {"ordered", `"msg":"ok","token":"00"`, `token "00" has leading zeros: it has to be written as "0"`},
		"zero":                       {"ordered", `"msg":"ok","token":"0"`, ""},
		"not granted":                {"ordered", `"msg":"fail","code":"busy"`, ""},
		"zeros, not granted":         {"ordered", `"msg":"fail","code":"busy","token":"0033"`, ""},
		"not known to be granted":    {"ordered", `"msg":"info"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPuppet(t)
			p.say(`{"msg":"ready","ready":{"protocol":1,"tokens":%q,%s}}`, test.declared, allCommands)
			if _, err := p.driver.Init(t.Context(), client.Init{Protocol: client.ProtocolVersion}); err != nil {
				t.Fatal(err)
			}
			p.hear()
			done := p.driver.Begin(client.Command{Cmd: client.CmdAcquire, Op: 1, Hold: "h1", Key: "k1"})
			p.hear()
			p.say(`{"op":1,%s}`, test.answer)
			completion := <-done
			err := p.driver.Err()
			switch {
			case test.says == "":
				if err != nil {
					t.Error(err)
				}
			case !errors.Is(err, client.ErrProtocol) || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), `{"op":1,`+test.answer+`}`):
				t.Errorf("%v, want %q and the line", err, test.says)
			case completion.Type != history.Info:
				t.Errorf("the acquire came to %s", completion.Type)
			}
		})
	}
}

// A second ready report could take back what the first declared, after it was relied upon.
func TestReadyIsSaidOnce(t *testing.T) {
	p := newPuppet(t)
	p.say(`{"msg":"ready","ready":{"protocol":1,"tokens":"ordered",%s}}`, allCommands)
	if _, err := p.driver.Init(t.Context(), client.Init{Protocol: client.ProtocolVersion}); err != nil {
		t.Fatal(err)
	}
	p.say(`{"msg":"ready","ready":{"protocol":1,"tokens":"none"}}`)
	<-p.driver.Gone()
	if err := p.driver.Err(); !errors.Is(err, client.ErrProtocol) || !strings.Contains(err.Error(), "ready twice") {
		t.Error(err)
	}
}
