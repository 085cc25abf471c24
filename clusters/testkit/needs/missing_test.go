package needs

import (
	"runtime"
	"testing"
)

// ending notes how a test would have ended.
type ending struct {
	testing.TB
	how string
}

func (e *ending) Helper() {}

func (e *ending) Skip(...any) { e.end("skipped") }

func (e *ending) Fatal(...any) { e.end("failed") }

func (e *ending) end(how string) {
	e.how = how
	runtime.Goexit()
}

func TestWhatIsSkippedElsewhereFailsInCI(t *testing.T) {
	for ci, want := range map[string]string{"": "skipped", "false": "skipped", "true": "failed"} {
		t.Setenv("CI", ci)
		got := &ending{}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			Skip(got, "no such thing")
		}()
		if <-ended; got.how != want {
			t.Errorf("CI=%s: the test %s, want %s", ci, got.how, want)
		}
	}
}
