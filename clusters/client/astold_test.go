//go:build e2e

package client

import (
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client/libraries"
	"lockcheck/clusters/testkit/wire"
)

// go-redis repeats a release whose answer was lost, and the second attempt finds no record. What bsm/redislock makes of it is reported by a
// client that says what it is told, and by no other; sent only once, the release has no answer.
func TestAReleaseThatWasRepeatedIsReportedAsTold(t *testing.T) {
	withLibrariesTimes(t)
	var library libraries.Library
	for _, l := range libraries.All {
		if l.Name == "bsm-redislock" {
			library = l
		}
	}
	command := library.Command(t)
	for flags, want := range map[string]ReportName{"": MsgInfo, "-as-told": MsgFail, "-as-told -no-retries": MsgInfo} {
		t.Run("flags "+flags, func(t *testing.T) {
			t.Parallel()
			addr := servers[library.Backend](t)
			w := wire.New(t, addr)
			p := startProcess(t, append(command[:len(command):len(command)], strings.Fields(flags)...), []string{w.Addr}, register(t), "a")
			p.send(`{"cmd":"acquire","op":1,"hold":"h","key":"k"}`)
			p.answer(1, MsgOK)
			wire.CutReply([]*wire.Wire{w}, time.Second, func() { p.send(`{"cmd":"release","op":2,"hold":"h","key":"k"}`) }, func() bool {
				return strings.HasPrefix(string(ask(addr, "EXISTS lockcheck:k\r\n")), ":0")
			})
			if r := p.answer(2, MsgFail, MsgInfo); r.Msg != want || r.Msg == MsgFail && r.Code != history.CodeNotOwned {
				t.Errorf("it answers %s, want %s", line(r), want)
			}
		})
	}
}
