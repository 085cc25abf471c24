package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client"
)

const declares = `{"msg":"ready","ready":{"protocol":1,"tokens":"none","commands":["ping","acquire","read","write","release","cancel","close"]}}`

// stub is a process that says some lines and then ends by itself, or stays until it is killed.
type stub struct {
	stdin, stdout, theirOut *os.File
	log                     string
	lingers                 time.Duration
	end                     func()
	done                    chan struct{}
}

func (s *stub) PID() int              { return 0 }
func (s *stub) Stdin() *os.File       { return s.stdin }
func (s *stub) Stdout() *os.File      { return s.stdout }
func (s *stub) Done() <-chan struct{} { return s.done }
func (s *stub) LogPath() string       { return s.log }
func (s *stub) Err() error            { return errors.New("exit status 3") }
func (s *stub) Kill(context.Context) error {
	if s.lingers == 0 {
		s.end()
	} else {
		time.AfterFunc(s.lingers, s.end)
	}
	return nil
}

// stubs is a host on which every process is a stub.
type stubs struct {
	clusters.Host
	t       *testing.T
	lines   []string
	stay    bool
	started int
	delay   time.Duration // of a start
	lingers time.Duration // how long after it was killed a process ends
}

func (h *stubs) Start(ctx context.Context, _ clusters.Command) (clusters.Process, error) {
	h.t.Helper()
	select {
	case <-time.After(h.delay):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	h.started++
	theirIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := &stub{stdin: stdin, stdout: stdout, theirOut: theirOut, done: make(chan struct{}), log: filepath.Join(h.t.TempDir(), "c.log"), lingers: h.lingers}
	s.end = sync.OnceFunc(func() {
		theirOut.Close()
		theirIn.Close()
		close(s.done)
	})
	if err := os.WriteFile(s.log, []byte("begun\nno such library\n"), 0o600); err != nil {
		return nil, err
	}
	for _, line := range h.lines {
		fmt.Fprintln(theirOut, line)
	}
	if !h.stay {
		s.end()
	}
	h.t.Cleanup(func() {
		s.end()
		stdin.Close()
	})
	return s, nil
}

// place is a worker whose clients are stubs; the first of them has ended.
func newPlace(t *testing.T, h *stubs) (*worker, *strings.Builder) {
	t.Helper()
	recorder, err := NewRecorder(filepath.Join(t.TempDir(), "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { recorder.Close() })
	var log strings.Builder
	run := New(Setup{}, nil, Output{Log: &log})
	run.recorder, run.abort, run.observed.Tokens = recorder, func(error) {}, history.TokensNone
	run.fleet = &fleet{recorder: recorder, hosts: map[string]clusters.Host{"c1": h}}
	first, err := run.fleet.start(t.Context(), "c1", "c1", 1, clientStartTimeouts)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorker(run, 1, first)
	w.backoff = 0
	return w, &log
}

// A client that a nemesis kills for a whole day is replaced each time. At the place of one that keeps ending by itself there
// is none any more at last, and the run goes on without.
func TestOnlyClientsThatEndByThemselvesAreGivenUp(t *testing.T) {
	const often = 3 * maxDeaths
	for name, test := range map[string]struct {
		stay bool
		want int // successors
	}{
		"killed by a fault": {true, often},
		"ends by itself":    {false, maxDeaths},
	} {
		t.Run(name, func(t *testing.T) {
			h := &stubs{t: t, lines: []string{declares}, stay: test.stay}
			w, log := newPlace(t, h)
			successors := 0
			for range often {
				if test.stay {
					if err := w.client.kill(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				<-w.client.driver.Gone()
				replaced, err := w.replace(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if !replaced {
					break
				}
				successors++
			}
			given := strings.Contains(log.String(), "client c1 ended by itself 21 times: no other is started in its place")
			if successors != test.want || given == test.stay {
				t.Errorf("%d successors, want %d; it says %q", successors, test.want, log.String())
			}
		})
	}
}

// So it is with one whose successors do not even get ready.
func TestSuccessorsThatEndBeforeTheyAreReadyAreGivenUp(t *testing.T) {
	h := &stubs{t: t, lines: []string{declares}}
	w, log := newPlace(t, h)
	<-w.client.driver.Gone()
	h.lines = nil
	replaced, err := w.replace(t.Context())
	if replaced || err != nil || h.started != 1+maxDeaths {
		t.Errorf("replaced %v after %d starts: %v", replaced, h.started, err)
	}
	for _, say := range []string{"client c1-2 ended by itself: exit status 3\n    no such library\n    its log is /", "client c1-3 ended by itself: exit status 3, as c1-2 did; its log is /"} {
		if !strings.Contains(log.String(), say) {
			t.Errorf("it says %q, want %q", log.String(), say)
		}
	}
}

// A client that does not get ready is gone when its starter hears of it: the end of the history must come after all that is recorded.
func TestTheEndOfAClientThatIsNotReadyIsRecordedFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	recorder, err := NewRecorder(path)
	if err != nil {
		t.Fatal(err)
	}
	h := &stubs{t: t, stay: true, lingers: 50 * time.Millisecond}
	f := &fleet{recorder: recorder, hosts: map[string]clusters.Host{"f1": h}}
	if _, err := f.start(t.Context(), "f1", "f1", 1, startTimeouts{time.Minute, time.Millisecond}); !errors.Is(err, clusters.ErrUnavailable) {
		t.Errorf("it is not out of time: %v", err)
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `"f":"exit"`) {
		t.Errorf("its end is not in the history: %s (%v)", text, err)
	}
}

// Each death comes with a longer wait, so that a client that ends at once does not keep the machine busy.
func TestAClientThatEndsAtOnceIsStartedMoreAndMoreSlowly(t *testing.T) {
	w := newWorker(New(Setup{}, nil, Output{}), 1, &member{name: "c1"})
	if w.backoff != deathBackoff {
		t.Errorf("it is started again after %v", w.backoff)
	}
	w.backoff = time.Millisecond
	begun := time.Now()
	for range maxDeaths {
		if !w.mayReplace(t.Context()) {
			t.Fatal("given up too soon")
		}
	}
	if waited, want := time.Since(begun), maxDeaths*(maxDeaths+1)/2*w.backoff; waited < want {
		t.Errorf("it waited %v in all, want at least %v", waited, want)
	}
}

// A defect of a user's lock client is the user's mistake; one of lockcheck's own is lockcheck's.
func TestABrokenClientIsItsAuthorsToMend(t *testing.T) {
	for name, row := range map[string]struct {
		program string
		inImage bool
		usage   bool
	}{
		"concurrency":    {},
		"leaderelection": {program: "/cache/elector"}, // lockcheck's own, and a program
		"./mine":         {program: "/home/mine", usage: true},
		"kazoo:1":        {inImage: true, usage: true},
	} {
		w, _ := newPlace(t, &stubs{t: t, lines: []string{declares, "Hello!"}})
		w.run.plan.LockClient = name
		w.run.setup.ClientCommand.Program, w.run.setup.ClientCommand.InClientImage = row.program, row.inImage
		<-w.client.driver.Gone()
		if _, err := w.replace(t.Context()); !errors.Is(err, client.ErrProtocol) || errors.Is(err, clusters.ErrUsage) != row.usage {
			t.Errorf("the client %s: %v", name, err)
		}
	}
}

// What the machine takes to start a client's process is none of the client's time. A client that is not there in time is no mistake of
// lockcheck's, nor its author's.
func TestHowLongAClientIsWaitedFor(t *testing.T) {
	const short = 2 * time.Second
	for name, test := range map[string]struct {
		limit startTimeouts
		delay time.Duration
		lines []string
		says  string // "" if it is ready
	}{
		"its start takes longer than it may": {startTimeouts{time.Hour, short}, short + short/10, []string{declares}, ""},
		"it is never started":                {startTimeouts{time.Millisecond, time.Hour}, time.Hour, []string{declares}, "not ready within 1ms"},
		"it never says that it is ready":     {startTimeouts{time.Hour, time.Millisecond}, 0, nil, "not ready within 1ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &stubs{t: t, lines: []string{declares}, stay: true}
			w, _ := newPlace(t, h)
			if err := w.client.kill(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.limits, h.delay, h.lines = test.limit, test.delay, test.lines
			replaced, err := w.replace(t.Context())
			if replaced != (test.says == "") || (err == nil) != replaced {
				t.Fatalf("replaced %v: %v", replaced, err)
			}
			if err != nil && (!errors.Is(err, clusters.ErrUnavailable) || errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("%v; want %q, and that something is not available", err, test.says)
			}
		})
	}
}
