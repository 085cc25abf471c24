package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

var questions = []history.Question{history.AskLatest, history.AskAnyCopy}

// grantAt is a grant of identity a with number 3, at a server that answers by hand.
func grantAt(t *testing.T, answer http.HandlerFunc) (*term, *clientkit.Watched) {
	t.Helper()
	server := httptest.NewTLSServer(answer)
	t.Cleanup(server.Close)
	c, err := connect(client.Init{Endpoints: []string{strings.TrimPrefix(server.URL, "https://")}}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	w := clientkit.NewWatched()
	x := &term{identity: "a", lease: "lockcheck-k", locks: &locks{variant: held, watch: w, client: c, in: "locks"}}
	// A question that went by the elector's own record would find that the Lease is b's.
	x.record = &record{Interface: &slowLock{holder: "b"}, watch: w, acquire: t.Context(), grant: grant{granted: true, transitions: 3}}
	return x, w
}

func isHeldBy(holder string, transitions int32) http.HandlerFunc {
	return isOf(coordination.LeaseSpec{HolderIdentity: &holder, LeaseTransitions: &transitions})
}

func isOf(spec coordination.LeaseSpec) http.HandlerFunc {
	return answers(http.StatusOK, coordination.Lease{TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}, Spec: spec})
}

func refuses(code int, reason metav1.StatusReason) http.HandlerFunc {
	return answers(code, metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason,
	})
}

func answers(code int, object any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(object)
	}
}

func TestWhatAnAnswerSaysOfAGrant(t *testing.T) {
	const yes, no, unknown = "held", "not held", "unknown"
	for name, c := range map[string]struct {
		answers http.HandlerFunc
		want    string
	}{
		"its own record":                  {isHeldBy("a", 3), yes},
		"another's":                       {isHeldBy("b", 4), no},
		"another's of the same number":    {isHeldBy("b", 3), no},
		"its own, taken again":            {isHeldBy("a", 5), no},
		"its own, of an object made anew": {isHeldBy("a", 0), no},
		"given back":                      {isHeldBy("", 3), no},
		"there is no such Lease":          {refuses(http.StatusNotFound, metav1.StatusReasonNotFound), no},
		"a Lease without a holder":        {isOf(coordination.LeaseSpec{}), no},
		"no page of a proxy's":            {http.NotFound, unknown},
		"etcd did not answer in time":     {refuses(http.StatusGatewayTimeout, metav1.StatusReasonTimeout), unknown},
		"etcd has no leader":              {refuses(http.StatusInternalServerError, metav1.StatusReasonInternalError), unknown},
		"forbidden":                       {refuses(http.StatusForbidden, metav1.StatusReasonForbidden), unknown},
		"the connection breaks":           {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			for _, question := range questions {
				x, w := grantAt(t, c.answers)
				held, err := x.Ask(t.Context(), question)
				got := map[bool]string{true: yes, false: no}[held]
				if err != nil {
					got = unknown
				}
				if got != c.want || held && err != nil {
					t.Errorf("%s: %s (%v, %v), want %s", question, got, held, err, c.want)
				}
				if w.SaidEnded("a") || x.record.over != nil || x.record.read != nil {
					t.Errorf("%s: the answer was taken for more than one to this question", question)
				}
			}
		})
	}
}

// Only a question for a copy may be answered from the watch cache.
func TestWhichAnswersMayBeOld(t *testing.T) {
	var versions [][]string
	x, _ := grantAt(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/apis/coordination.k8s.io/v1/namespaces/locks/leases/lockcheck-k" {
			t.Errorf("asked %s %s", r.Method, r.URL.Path)
		}
		versions = append(versions, r.URL.Query()["resourceVersion"])
		isHeldBy("a", 3)(w, r)
	})
	for _, question := range questions {
		if _, err := x.Ask(t.Context(), question); err != nil {
			t.Fatal(err)
		}
	}
	if len(versions) != 2 || versions[0] != nil || !slices.Equal(versions[1], []string{"0"}) {
		t.Errorf("asked for the versions %q, want none of the latest, and 0 of any copy", versions)
	}
}

func TestAnAnswerThatDoesNotComeIsUnknown(t *testing.T) {
	never := make(chan struct{})
	x, _ := grantAt(t, func(http.ResponseWriter, *http.Request) { <-never })
	t.Cleanup(func() { close(never) })   // before the server is closed, which waits for it
	for _, question := range questions { // for as long as client-go waits for any of the elector's
		if held, err := x.Ask(context.Background(), question); err == nil || held {
			t.Errorf("%s: %v, %v", question, held, err)
		}
	}
}

// A Lease that was deleted and made anew by the same elector can have the number of the grant that ended with the deletion.
func TestARecordMadeAnewIsNotTheGrantsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		anew       bool
		copyIs     bool
		copyUnsure bool
	}{
		"its end is known":      {false, true, false}, // and a copy may be from before
		"it was made once more": {true, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			x, _ := grantAt(t, isHeldBy("a", 3))
			x.record.end(errors.New("there is no such Lease"))
			if c.anew {
				// Not even the answer to this has to arrive for others to read it.
				lost := func(context.Context, resourcelock.LeaderElectionRecord) error { return errors.New("connection reset") }
				_ = x.record.write(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "a", LeaderTransitions: 3}, lost)
			}
			if held, err := x.Ask(t.Context(), history.AskLatest); held || err != nil {
				t.Errorf("latest: %v, %v", held, err)
			}
			if held, err := x.Ask(t.Context(), history.AskAnyCopy); held != c.copyIs || (err != nil) != c.copyUnsure {
				t.Errorf("a copy: %v, %v", held, err)
			}
		})
	}
}

func TestEveryVariantSaysThatItCanAsk(t *testing.T) {
	for name, v := range variants {
		_, _, ready := clientkit.Client(t, v.newLocks, client.Init{Endpoints: []string{"none:1"}, TTLMS: ttl.Milliseconds()})
		for _, guard := range []history.Guard{history.GuardAsk, history.GuardAskStale} {
			if !slices.Contains(ready.Commands, string(guard)) {
				t.Errorf("%s declares %q", name, ready.Commands)
			}
		}
	}
}

// A real server's answers, also to an elector that makes its Lease anew.
func TestAGrantAsksAboutItsOwnLease(t *testing.T) {
	for _, v := range []variant{held, unheld} {
		t.Run(v.name, func(t *testing.T) {
			lock, w := newClient(t, v)
			taken, deleted := key(t), key(t)
			g := clientkit.Acquire(t, lock, taken)
			wantAnswers(t, g, true)
			take(t, taken, "another")
			wantAnswers(t, g, false)

			g = clientkit.Acquire(t, lock, deleted)
			wantAnswers(t, g, true)
			c, err := connect(initOf(t), ttl)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Leases("default").Delete(t.Context(), leaseName(deleted), metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			clientkit.Eventually(t, "the elector has made it anew", func() bool { return w.SaidEnded(g.Session()) && isThere(t, deleted) })
			if is := leaseOf(t, deleted); *is.Spec.HolderIdentity != g.Session() {
				t.Fatalf("the Lease is %q's", *is.Spec.HolderIdentity)
			}
			if held, err := g.(*renewedGrant).Grant.(client.Asker).Ask(t.Context(), history.AskLatest); held || err != nil {
				t.Errorf("once the Lease was made anew: %v, %v", held, err)
			}
		})
	}
}

// wantAnswers asks about a grant. The watch cache may be behind.
func wantAnswers(t *testing.T, g client.Grant, want bool) {
	t.Helper()
	x := g.(*renewedGrant).Grant.(client.Asker)
	if held, err := x.Ask(t.Context(), history.AskLatest); held != want || err != nil {
		t.Errorf("latest: %v, %v, want %v", held, err, want)
	}
	clientkit.Eventually(t, "the watch cache says so, too", func() bool {
		held, err := x.Ask(t.Context(), history.AskAnyCopy)
		return held == want && err == nil
	})
}
