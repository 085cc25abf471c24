package driver

import (
	"bytes"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/wire"
)

// FuzzDriver has a client say anything at all, in one piece and in two, while operations of each kind are pending. In every
// case the driver takes what it understands, ends with it, and records nothing that a history cannot hold; each pending
// operation is completed exactly once.
func FuzzDriver(f *testing.F) {
	say := func(lines ...string) []byte { return []byte(join(lines)) }
	ready := `{"msg":"ready","ready":{"protocol":1,"client":"toy 1.0","tokens":"ordered",` + allCommands + `}}`
	f.Add(say(ready, `{"msg":"pong","n":1}`, `{"msg":"ok","op":1,"session":"s1","token":"33","seen":1,"valid_ms":900}`, `{"msg":"pong","n":2,"holds":["h1"]}`), 7)
	f.Add(say(ready, `{"msg":"lease","session":"s1","seen":1,"ttl_ms":5000}`, `{"msg":"lost","session":"s1","error":"gone"}`, `{"msg":"ended","holds":["h1","h2"]}`), 70)
	f.Add(say(ready, `{"msg":"stage","op":3,"stage":"working"}`, `{"msg":"ok","op":2,"value":"v","held":true}`, `{"msg":"info","op":3,"error":"reset"}`, `{"msg":"ok","op":4,"owned":false}`), 0)
	f.Add(say(`{"msg":"ready","ready":{"protocol":1,"tokens":"none","reason":"no",`+allCommands+`}}`, `{"msg":"ok","op":1}`, `{"msg":"fail","op":4,"code":"not-owned"}`), 1)
	f.Add(say(`{"msg":"ok","op":1,"token":"x"}`), 3)
	f.Add(say(`{"msg":"ok","op":1,"valid_ms":9223372036854775807}`, `{"msg":"lease","ttl_ms":-1}`), 3)
	f.Add(say(`{"msg":"lease"}`, `{"msg":"lost"}`, `{"msg":"error","error":"\u0000"}`, "\xff"), 3)
	for _, line := range wire.Hard {
		f.Add(say(line), len(line)/2)
	}
	f.Fuzz(func(t *testing.T, said []byte, cut int) {
		if len(said) > 32<<10 { // a pipe has room for two such pieces before it is read
			t.Skip()
		}
		p := newPuppet(t)
		var pending []<-chan Completion
		for i, cmd := range []client.CommandName{client.CmdAcquire, client.CmdRead, client.CmdWrite, client.CmdRelease, client.CmdRenew} {
			p.driver.Ping()
			command := client.Command{Cmd: cmd, Op: int64(i + 1), Hold: "h1", Key: "k1"}
			if cmd == client.CmdWrite {
				command.Value = "v1"
			}
			pending = append(pending, p.driver.Begin(command))
		}
		cut = min(max(cut, 0), len(said))
		for _, piece := range [][]byte{said[:cut], said[cut:]} {
			p.says.Write(piece) // the driver may have hung up
		}
		p.says.Close()
		<-p.driver.Gone()
		if p.driver.Err() == nil {
			t.Error("the client is gone, and the driver knows no reason")
		}
		for i, done := range pending {
			if c := <-done; c.Type == history.Invoke {
				t.Errorf("operation %d came to %q", i+1, c.Type)
			}
			select {
			case again := <-done:
				t.Errorf("operation %d came to an end twice: %+v", i+1, again)
			default:
			}
		}
		written := history.NewWriter(&bytes.Buffer{})
		for i, event := range p.tape.events {
			event.Index = int64(i)
			if err := written.Event(event); err != nil {
				t.Errorf("after %q: %v", said, err)
			}
		}
	})
}

func join(lines []string) (all string) {
	for _, line := range lines {
		all += line + "\n"
	}
	return all
}
