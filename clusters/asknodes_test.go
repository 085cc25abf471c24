package clusters

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// named is a node that has a name, and a process that has ended.
type named struct {
	Node
	name string
	ended
}

func (n named) Name() string     { return n.name }
func (n named) Addr() string     { return n.name }
func (n named) Host() Host       { return nil }
func (n named) Process() Process { return n.ended }

type ended struct {
	Process
	log string
	err error
}

func (e ended) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}
func (e ended) Err() error      { return e.err }
func (e ended) LogPath() string { return e.log }

var three = []named{{name: "n1"}, {name: "n2"}, {name: "n3"}}

func TestOneVersion(t *testing.T) {
	silent := errors.New("no answer")
	for name, test := range map[string]struct {
		versions map[string]string
		want     string // empty for an error
	}{
		"all the same":      {map[string]string{"n1": "3.6", "n2": "3.6", "n3": "3.6"}, "3.6"},
		"those that answer": {map[string]string{"n2": "3.6", "n3": "3.6"}, "3.6"},
		"different":         {map[string]string{"n1": "3.5", "n3": "3.6"}, "n1 3.5, n3 3.6"},
		"no member answers": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := OneVersion(t.Context(), "member", three, func(_ context.Context, n named) (string, error) {
				if version, ok := test.versions[n.name]; ok {
					return version, nil
				}
				return "", silent
			})
			if got != test.want || (err != nil) != (test.want == "") {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
			if err != nil && (!errors.Is(err, silent) || !strings.Contains(err.Error(), "no member told its version: member n1: no answer")) {
				t.Error(err)
			}
		})
	}
}

func TestAskEveryAndAskInTurn(t *testing.T) {
	places := []string{"one", "two", "three"}
	unusable := func(at string, err error) error { return errors.New(at + " " + err.Error()) }
	for refuse, want := range map[string]struct {
		every, inTurn string
		asked         int32 // in turn
	}{
		"":              {"", "", 1},
		"two":           {"two refuses", "", 1},
		"one two":       {"one refuses", "", 3},
		"one two three": {"one refuses", "one refuses\ntwo refuses\nthree refuses", 3},
	} {
		var asked atomic.Int32
		ask := func(_ context.Context, at string) error {
			asked.Add(1)
			if strings.Contains(refuse, at) {
				return errors.New("refuses")
			}
			return nil
		}
		said := func(err error) string {
			if err == nil {
				return ""
			}
			return err.Error()
		}
		if got := said(AskEvery(t.Context(), places, ask, unusable)); got != want.every || asked.Swap(0) != 3 {
			t.Errorf("every, %q refuse: %q", refuse, got)
		}
		if got := said(AskInTurn(t.Context(), places, ask, unusable)); got != want.inTurn || asked.Load() != want.asked {
			t.Errorf("in turn, %q refuse: %q after %d", refuse, got, asked.Load())
		}
	}
}

// A node that does not answer does not keep the others from being asked, and a write that is lost is made again.
func TestAWriteGoesToTheMemberThatTakesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64
		begun := time.Now()
		err := WriteToAny(t.Context(), time.Minute, 10*time.Millisecond, "member", three, func(ctx context.Context, n named) error {
			if n.name == "n2" && tries.Add(1) > 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		})
		if took := time.Since(begun); err != nil || tries.Load() != 2 || took != 10*time.Millisecond {
			t.Errorf("%d tries in %v, %v; want 2, the second after 10 ms", tries.Load(), took, err)
		}
	})
}

func TestAWriteThatNoMemberTakesSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		err := WriteToAny(t.Context(), 50*time.Millisecond, 10*time.Millisecond, "member", three, func(context.Context, named) error {
			return errors.New("full")
		})
		if took := time.Since(begun); took != 50*time.Millisecond {
			t.Errorf("given up after %v", took)
		}
		if err == nil || !strings.Contains(err.Error(), "no member took a write: member n") || !strings.Contains(err.Error(), "n3: full") {
			t.Errorf("no member takes it: %v", err)
		}
	})
}

func TestLastWords(t *testing.T) {
	log := filepath.Join(t.TempDir(), "n1.log")
	text := "1\n2\n3\n4\n5\nbad flag\n\nUsage:\nall of it\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Ended(named{name: "n1", ended: ended{log: log}}, "member")
	if err == nil || !strings.HasPrefix(err.Error(), "member n1 ended: exit code 0\n") || !strings.HasSuffix(err.Error(), " ends with\n    2\n    3\n    4\n    5\n    bad flag") {
		t.Errorf("got %v", err)
	}
}

func TestNamesThatAreNoFileNamesAreRefused(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"", "../x", "N1", "n 1", "1n", strings.Repeat("n", 32)} {
		if err := CheckName("host", name); err == nil || !strings.Contains(err.Error(), "host \"") {
			t.Errorf("%q: %v", name, err)
		}
		if log, err := OpenLog(dir, "n1", name); err == nil {
			log.Close()
			t.Errorf("the log %q was opened", name)
		}
	}
	for range 2 {
		log, err := OpenLog(dir, "n1", "etcd")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := log.WriteString("started\n"); err != nil {
			t.Fatal(err)
		}
		log.Close()
	}
	if text, err := os.ReadFile(filepath.Join(dir, "n1", "etcd.log")); err != nil || string(text) != "started\nstarted\n" {
		t.Errorf("it reads %q, %v", text, err)
	}
}
