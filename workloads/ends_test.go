package workloads

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
		run := New(Config{})
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
		run := New(Config{Log: &log})
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
