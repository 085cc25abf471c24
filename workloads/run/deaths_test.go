package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/workloads/driver"
)

// speaker is a client whose lines the test writes by hand.
type speaker struct {
	*member
	out *os.File
}

func newSpeaker(t *testing.T, name string) speaker {
	t.Helper()
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	recorder, err := NewRecorder(filepath.Join(t.TempDir(), "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	s := speaker{&member{name: name, driver: driver.New(name, in, out, recorder, nil), over: make(chan struct{})}, theirOut}
	t.Cleanup(func() {
		theirOut.Close()
		<-s.driver.Gone()
		for _, f := range []*os.File{theirIn, in, out} {
			f.Close()
		}
		recorder.Close()
	})
	return s
}

// In any phase of the run, a client that breaks the protocol ends the
// run: the user's own as the user's mistake, a built-in one as lockcheck's.
func TestAClientThatBreaksTheProtocolEndsTheRun(t *testing.T) {
	for program, usage := range map[string]bool{"concurrency": false, "./mine": true} {
		run := New(Setup{}, nil, Output{})
		run.plan.LockClient = program
		run.abort = func(error) {}
		run.fleet = &fleet{ended: run.ended}
		s := newSpeaker(t, "c3")
		run.fleet.members = append(run.fleet.members, s.member)
		go run.fleet.awaitEnd(s.member)
		const line = `{"msg":"fail","op":7,"code":"not-owned"}`
		fmt.Fprintln(s.out, line)
		<-s.driver.Gone()
		run.fleet.awaitActed()
		err := run.failure
		if !errors.Is(err, client.ErrProtocol) || errors.Is(err, clusters.ErrUsage) != usage || !strings.Contains(err.Error(), line) || !strings.Contains(err.Error(), "client c3 cannot be used") {
			t.Errorf("program %q: %v", program, err)
		}
	}
}

// The nearest that goes on: a client that ends by itself is reported, and one that was ended is not.
func TestAClientThatEndsBreaksNoProtocol(t *testing.T) {
	for name, killed := range map[string]bool{"by itself": false, "killed": true} {
		var log strings.Builder
		run := New(Setup{}, nil, Output{Log: &log})
		run.fleet = &fleet{ended: run.ended}
		s := newSpeaker(t, "c3")
		ended := make(chan struct{})
		close(ended)
		s.process = &stub{done: ended, log: "/nowhere/c3.log"}
		go run.fleet.awaitEnd(s.member)
		if killed {
			s.driver.ExpectEnd()
		}
		s.out.Close()
		<-s.over
		want := "client c3 ended by itself: exit status 3\n    its log is /nowhere/c3.log\n"
		if killed {
			want = ""
		}
		if run.failure != nil || log.String() != want {
			t.Errorf("%s: %v, it says %q, want %q", name, run.failure, log.String(), want)
		}
	}
}

// A client that was just started is unfit if it broke the protocol before it was ready, wherever in the run that is; that it
// could not be started is another matter.
func TestWhatAStartedClientSaysEndsTheRunWhereverItIs(t *testing.T) {
	run := &Run{fleet: &fleet{}}
	run.plan.LockClient = "./mine"
	if err := run.unfit(nil, fmt.Errorf("client f1 cannot be used: %w", client.ErrProtocol)); !errors.Is(err, clusters.ErrUsage) {
		t.Errorf("broke the protocol: %v", err)
	}
	if err := run.unfit(nil, errors.New("no such file")); err != nil {
		t.Errorf("could not be started: %v", err)
	}
	if err := run.unfit(&member{name: "f1", ready: client.Ready{Tokens: "none"}}, nil); !errors.Is(err, clusters.ErrUsage) {
		t.Errorf("declares other tokens: %v", err)
	}
}

const (
	plainPanic = `starting
panic: runtime error: index out of range [5] with length 3

goroutine 19 [running]:
main.(*lock).Acquire(0xc00011e000, {0x5d2a38, 0xc000122000}, {0xc00011a0c8, 0x2}, 0x0)
	/home/you/ours/main.go:41 +0x1d
lockcheck/clusters/client.(*server).acquire(0xc000104000)
	/home/you/lockcheck/clusters/client/operations.go:27 +0x105
created by lockcheck/clusters/client.(*server).carryOut in goroutine 6
	/home/you/lockcheck/clusters/client/serve.go:160 +0xa5
exit status 2
`
	inLibrary = `panic: close of closed channel

goroutine 7 [running]:
panic({0x4a2b80?, 0x4e5f10?})
	/usr/local/go/src/runtime/panic.go:785 +0x132
sync.(*Once).doSlow(0xc00001, 0xc00002)
	/usr/local/go/src/sync/once.go:78 +0xab
github.com/redis/go-redis/v9.(*Client).Close(0xc000)
	/root/go/pkg/mod/github.com/redis/go-redis/v9@v9.7.0/redis.go:700 +0x1f
example.com/ours/lock.(*Lock).Close(0xc0)
	/src/ours/lock/lock.go:88 +0x2b
main.main()
	/src/ours/main.go:14 +0x1d
`
	onlyLibrary = `fatal error: concurrent map writes

goroutine 34 [running]:
github.com/a/b.(*C).put(...)
	/root/go/pkg/mod/github.com/a/b@v1.2.3/c.go:10
created by github.com/a/b.New in goroutine 1
	/root/go/pkg/mod/github.com/a/b@v1.2.3/c.go:5 +0x1f
`
	python = `Traceback (most recent call last):
  File "mine.py", line 3, in <module>
    import kazoo
ModuleNotFoundError: No module named 'kazoo'
`
)

func TestWhatALogSaysOfItsProgramsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		log  string
		want []string
	}{
		"the last line":              {"one\ntwo\nthree\n\n", []string{"three"}},
		"nothing":                    {"\n", nil},
		"another language":           {python, []string{"ModuleNotFoundError: No module named 'kazoo'"}},
		"a panic":                    {plainPanic, []string{"panic: runtime error: index out of range [5] with length 3", "main.(*lock).Acquire at /home/you/ours/main.go:41"}},
		"a panic below its own code": {inLibrary, []string{"panic: close of closed channel", "example.com/ours/lock.(*Lock).Close at /src/ours/lock/lock.go:88"}},
		"none of its own code":       {onlyLibrary, []string{"fatal error: concurrent map writes", "github.com/a/b.(*C).put at /root/go/pkg/mod/github.com/a/b@v1.2.3/c.go:10"}},
		"a line that looks like one": {"panic: is what we do not do\nbye\n", []string{"bye"}},
	} {
		if got := lastWords(test.log); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Of a log of any length only the end is read, in whole lines.
func TestTheEndOfALongLog(t *testing.T) {
	name := filepath.Join(t.TempDir(), "c1.log")
	if err := os.WriteFile(name, []byte(strings.Repeat("a line of twenty b.\n", maxLog/10)+"the last\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := readEnd(name)
	if err != nil || len(text) > maxLog || !strings.HasPrefix(string(text), "a line of twenty b.\n") || !strings.HasSuffix(string(text), "\nthe last\n") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
