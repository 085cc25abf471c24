package driver

import (
	"errors"
	"strings"
	"testing"

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
