//go:build e2e

package kubernetes

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/resource"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

// An API server that hears nothing of etcd says from its watch cache that the lock is held, and to a question for the latest says nothing.
func TestOnlyAQuestionForACopyIsAnsweredWithoutEtcd(t *testing.T) {
	c := start(t)
	init := backends.InitFor(c, 12*time.Second) // an elector stands it for 8 s that nothing is answered, and each question for 4 s
	written := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(resource.Answer{Outcome: history.Applied})
	}))
	t.Cleanup(written.Close)
	init.Protocol, init.Name, init.Resource = client.ProtocolVersion, "c1", written.URL
	ask := holder(t, init)
	for _, guard := range []history.Guard{history.GuardAsk, history.GuardAskStale} {
		clientkit.Eventually(t, "the lock is held by guard "+string(guard), func() bool { return ask(guard) == "" })
	}
	for _, member := range c.Nodes()[:3] {
		backends.Pause(t, member)
	}
	if code := ask(history.GuardAskStale); code != "" {
		t.Errorf("the copy was not asked, or does not have the Lease: %s", code)
	}
	if code := ask(history.GuardAsk); code != history.CodeUnanswered {
		t.Errorf("the latest came to %q without etcd, want %q", code, history.CodeUnanswered)
	}
}

// holder starts a lock client that holds a lock, and returns what writes under it and says what kept the write back.
func holder(t *testing.T, init client.Init) (write func(history.Guard) (code string)) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "elector")
	build := exec.Command("go", "build", "-trimpath", "-o", program, ".") // as the other tests build it, for the compiler's cache
	build.Dir, build.Env = "elector", append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), program, lockClients[0].Name)
	in, err := run.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Process.Kill(); _ = run.Wait() })
	commands, reports := json.NewEncoder(in), json.NewDecoder(out)
	answer := func(command client.Command) client.Report {
		t.Helper()
		if err := commands.Encode(command); err != nil {
			t.Fatal(err)
		}
		for {
			var r client.Report
			if err := reports.Decode(&r); err != nil {
				t.Fatalf("%s was not answered: %v", command.Cmd, err)
			}
			switch {
			case r.Msg == client.MsgReady && command.Cmd == client.CmdInit:
				return r
			case r.Op == command.Op && r.Op != 0 && (r.Msg == client.MsgOK || r.Msg == client.MsgFail || r.Msg == client.MsgInfo):
				return r
			}
		}
	}
	answer(client.Command{Cmd: client.CmdInit, Init: &init})
	if r := answer(client.Command{Cmd: client.CmdAcquire, Op: 1, Hold: "h", Key: "k"}); r.Msg != client.MsgOK {
		t.Fatalf("the acquire came to %+v", r)
	}
	op := int64(1)
	return func(guard history.Guard) string {
		op++
		r := answer(client.Command{Cmd: client.CmdWrite, Op: op, Hold: "h", Key: "k", Value: "v", WorkMS: 1, Guard: guard})
		if r.Msg == client.MsgInfo {
			t.Fatalf("the write came to %+v", r)
		}
		return r.Code
	}
}
