//go:build e2e

package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
)

// look is what Consul said of a lock, and of the session that has it.
type look struct {
	began, ended   time.Time
	session, token string
	ttl, delay     time.Duration
}

// What a recording says of who held the lock, and by which token, is what Consul itself said of it at the time. The
// recording's clock and this test's have one beginning in common: each look bounds it, and no two looks contradict each
// other.
func TestConsulAndTheRecordingAgreeOnWhoHoldsTheLock(t *testing.T) {
	t.Parallel()
	o := outcome{out: t.TempDir()}
	cmd := exec.Command(program, "run", "--backend=consul", "--provider=local", "--nemesis=pause:client,0.3..0.6ttl", "--time-limit=8s", "--out="+o.out,
		"--work=20ms..120ms") // without acquires that are given up: Consul may grant one that no client came to believe in
	cmd.Env = append(os.Environ(), "LOCKCHECK_NAMESPACES=off") // where this test reaches the servers
	said, theirs := io.Pipe()
	cmd.Stderr = theirs
	looks, ended := make(chan []look, 1), make(chan struct{})
	go func() { looks <- lookOn(said, ended) }()
	err := cmd.Run()
	close(ended)
	theirs.Close()
	if err != nil {
		t.Fatalf("the run: %v", err)
	}
	held := holdsByToken(t, filepath.Join(o.run(), rundir.HistoryFile))
	least, most := time.Time{}, time.Now() // of the recording's beginning
	tokens := map[string]bool{}
	for _, l := range <-looks {
		h, ok := held[l.token]
		if !ok {
			t.Fatalf("Consul gave the lock to session %s with LockIndex %s, of which the recording has nothing", l.session, l.token)
		}
		if h.session != l.session || l.ttl != 2*time.Second || l.delay != 15*time.Second {
			t.Errorf("token %s is session %s in the recording; Consul has %+v", l.token, h.session, l)
		}
		tokens[l.token] = true
		if from := l.began.Add(-h.released); from.After(least) {
			least = from
		}
		if to := l.ended.Add(-h.asked); to.Before(most) {
			most = to
		}
	}
	t.Logf("%d holds were looked at, %d are recorded; the recording's beginning is known to %v", len(tokens), len(held), most.Sub(least))
	if most.Before(least) {
		t.Errorf("Consul's word and the recording contradict each other by %v", least.Sub(most))
	}
	if len(tokens) < 10 || most.Sub(least) > time.Second {
		t.Error("that shows little")
	}
}

// lookOn asks a server of the run again and again who holds the lock, from when it is said to have started.
func lookOn(said io.Reader, ended <-chan struct{}) (all []look) {
	buffer, text := make([]byte, 4096), ""
	started := regexp.MustCompile(`started n1 on (\S+),`)
	var server []string
	for server == nil {
		n, err := said.Read(buffer)
		if text += string(buffer[:n]); err != nil {
			return nil
		}
		server = started.FindStringSubmatch(text)
	}
	go io.Copy(io.Discard, said)
	for {
		select {
		case <-ended:
			return all
		case <-time.After(10 * time.Millisecond):
			if l, err := lookOnce("http://" + server[1] + ":8500"); err == nil && l.session != "" {
				all = append(all, l)
			}
		}
	}
}

func lookOnce(server string) (l look, err error) {
	var entries []struct {
		Session   string
		LockIndex int64
	}
	var sessions []struct {
		ID, TTL   string
		LockDelay time.Duration
	}
	l.began = time.Now()
	if err := ask(server+"/v1/kv/lockcheck/k1?consistent", &entries); err != nil || len(entries) != 1 {
		return l, fmt.Errorf("%d entries: %w", len(entries), err)
	}
	l.ended = time.Now()
	if err := ask(server+"/v1/session/list?consistent", &sessions); err != nil {
		return l, err
	}
	for _, s := range sessions {
		if s.ID == entries[0].Session { // else it was released in between
			l.session, l.token, l.delay = s.ID, strconv.FormatInt(entries[0].LockIndex, 10), s.LockDelay
			l.ttl, err = time.ParseDuration(s.TTL)
		}
	}
	return l, err
}

func ask(url string, answer any) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(answer)
}

// recorded is a hold as it was recorded: when it was asked for, and when its release was answered, since the recording's
// beginning.
type recorded struct {
	session         string
	asked, released time.Duration
}

func holdsByToken(t *testing.T, path string) map[string]recorded {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	asked, tokens, all := map[int64]time.Duration{}, map[string]string{}, map[string]recorded{}
	for lines := json.NewDecoder(file); ; {
		var e history.Event
		if err := lines.Decode(&e); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.F == history.Acquire && e.Type == history.Invoke:
			asked[e.Op] = time.Duration(e.TimeNS)
		case e.F == history.Acquire && e.Type == history.OK:
			tokens[e.Hold] = string(e.Token)
			all[string(e.Token)] = recorded{e.Session, asked[e.Op], time.Hour}
		case e.F == history.Release && e.Type != history.Invoke:
			h := all[tokens[e.Hold]]
			h.released = time.Duration(e.TimeNS)
			all[tokens[e.Hold]] = h
		}
	}
}
