//go:build e2e

package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/resource"
)

// conformWithKeys has a client that says that it knows idempotency keys write with one and without: what it was given has to reach the
// resource, and the value of the answer, which is another's, has to come back.
func conformWithKeys(t *testing.T, command, endpoints []string) {
	t.Helper()
	const others = "7/another's"
	asked := make(chan resource.Ask, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask resource.Ask
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			t.Errorf("POST %s: %v", r.URL.Path, err)
		}
		asked <- ask
		_ = json.NewEncoder(w).Encode(resource.Answer{Outcome: history.Applied, Value: others})
	}))
	defer server.Close()
	p := startProcess(t, command, endpoints, server.URL, "k")
	if !slices.Contains(p.commands, KnowsIdempotencyKeys) {
		t.Logf("NOT tried: idempotency keys. Its commands do not name %s", KnowsIdempotencyKeys)
		return
	}
	key := fmt.Sprintf("conformance-%d", time.Now().UnixNano())
	p.send(fmt.Sprintf(`{"cmd":"acquire","op":1,"hold":"hK","key":%q}`, key))
	p.answer(1, MsgOK)
	for op, once := range map[int64]string{2: "7", 3: ""} {
		line, err := AppendCommand(nil, &Command{Cmd: CmdWrite, Op: op, Hold: "hK", Key: key, Value: "7/its own", IdempotencyKey: once, Guard: history.GuardNone})
		if err != nil {
			t.Fatal(err)
		}
		p.send(string(line[:len(line)-1]))
		r := p.answer(op, MsgOK)
		if got := <-asked; got.IdempotencyKey != once {
			t.Errorf("a write that was given the idempotency key %q was sent with %q", once, got.IdempotencyKey)
		}
		if once != "" && r.Value != others {
			t.Errorf("a write with an idempotency key was answered with the value %q, and the client says %q", others, r.Value)
		}
	}
	p.send(`{"cmd":"release","op":4,"hold":"hK"}`)
	p.answer(4, MsgOK)
	p.closes()
}
