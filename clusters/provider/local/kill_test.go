//go:build linux

package local

import (
	"context"
	"errors"
	"os/exec"
	"testing"
)

// A process is looked at once the time to wait for it is over, too: others may have taken all of it.
func TestAProcessThatHasEndedIsNotSaidToBeThere(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	ended := &process{what: "it", cmd: cmd, done: make(chan struct{})}
	if err := ended.awaitEnd(over); !errors.Is(err, context.Canceled) {
		t.Errorf("before it ended: %v", err)
	}
	close(ended.done)
	for range 100 { // a select takes either of two that are ready
		if err := ended.awaitEnd(over); err != nil {
			t.Fatal(err)
		}
	}
}
