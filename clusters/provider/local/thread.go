//go:build linux

package local

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// thread is one thread of the operating system that runs what it is given, in order, until it is stopped. It carries
// what the kernel ties to threads: the network namespace it is in, and the parent-death signal of what it starts.
type thread struct {
	jobs chan func()
	quit chan struct{}
	gone chan struct{}
}

// newThread starts a thread that has run prepare, or returns its error.
func newThread(prepare func() error) (*thread, error) {
	t := &thread{jobs: make(chan func()), quit: make(chan struct{}), gone: make(chan struct{})}
	ready := make(chan error)
	go t.run(prepare, ready)
	if err := <-ready; err != nil {
		return nil, err
	}
	return t, nil
}

func (t *thread) run(prepare func() error, ready chan<- error) {
	// Never unlocked: the runtime ends the thread with the goroutine instead of giving a thread in a strange
	// namespace to others.
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		// /proc/self speaks of the main thread, and the runtime parks it instead of ending it. Hold it while another
		// goroutine takes a different one.
		again := make(chan error)
		go t.run(prepare, again)
		err := <-again
		runtime.UnlockOSThread()
		ready <- err
		return
	}
	defer close(t.gone)
	err := prepare()
	ready <- err
	if err != nil {
		return
	}
	for {
		select {
		case job := <-t.jobs:
			job()
		case <-t.quit:
			return
		}
	}
}

// do runs f on the thread and returns its error.
func (t *thread) do(f func() error) error {
	result := make(chan error, 1)
	select {
	case t.jobs <- func() { result <- f() }:
		return <-result
	case <-t.gone:
		return errClosed
	}
}

// stop ends the thread once its current job is done. What it started gets its parent-death signal.
func (t *thread) stop() {
	select {
	case <-t.quit:
	default:
		close(t.quit)
	}
	<-t.gone
}
