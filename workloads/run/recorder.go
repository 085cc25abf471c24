package run

import (
	"bufio"
	"fmt"
	"os"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/resource"
)

// flushEvery bounds how much of a run a killed harness can lose.
const flushEvery = 100 * time.Millisecond

// Recorder stamps events and appends them to history.jsonl while the run goes on; it keeps none of them. Stamp and
// order are given under one lock, so times never go back from line to line. A caller records an invocation before it sends
// it, and an answer after it has read it: so the recorded span of an operation covers the true one (rule R1 in
// checker/RULES.md).
type Recorder struct {
	epoch   time.Time
	epochNS int64

	mu       sync.Mutex
	file     *os.File
	buffer   *bufio.Writer
	writer   *history.Writer
	index    int64
	err      error
	watchers []func(history.Event)
	awakeNS  int64 // when it was seen last that an event can be recorded; 0 while nothing watches over that

	stop chan struct{}
	done chan struct{}

	hidden *hidden // what no error of an event says
}

// NewRecorder creates the file, which must not exist yet, and starts the run's clock.
func NewRecorder(path string) (*Recorder, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("creating the history: %w", err)
	}
	epoch, epochNS, err := startClock()
	if err != nil {
		file.Close()
		return nil, err
	}
	r := &Recorder{
		epoch:   epoch,
		epochNS: epochNS,
		file:    file,
		buffer:  bufio.NewWriterSize(file, 1<<18),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
	}
	r.writer = history.NewWriter(r.buffer)
	go r.flushLoop()
	return r, nil
}

// startClock reads the run's start on this process's clock, and then on the one that the resource reads, too. Were this process held up in
// between, or the other way round, the resource would seem to handle requests after they were answered: as it is, it can only seem early.
func startClock() (epoch time.Time, epochNS int64, err error) {
	epoch = time.Now()
	epochNS, err = resource.Monotonic()
	return epoch, epochNS, err
}

// Now is the run's clock, in nanoseconds since its start.
func (r *Recorder) Now() int64 { return int64(time.Since(r.epoch)) }

// EpochNS is resource.Monotonic at the start of the run.
func (r *Recorder) EpochNS() int64 { return r.epochNS }

// Watch has f called with every event from now on, under the recorder's lock: f must be quick and must not record.
func (r *Recorder) Watch(f func(history.Event)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers = append(r.watchers, f)
}

// Hide keeps a secret out of the errors of events from now on.
func (r *Recorder) Hide(h *hidden) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hidden = h
}

// Record stamps and appends an event and returns the stamp. A write error is kept and reported by Err and Close.
func (r *Recorder) Record(event history.Event) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.record(event)
}

func (r *Recorder) record(event history.Event) int64 {
	event.TimeNS = r.Now()
	event.Error = r.hidden.text(event.Error)
	event.Index = r.index
	r.index++
	if r.err == nil {
		r.err = r.writer.Event(event)
	}
	for _, watch := range r.watchers {
		watch(event)
	}
	return event.TimeNS
}

// Flush brings everything recorded so far into the file.
func (r *Recorder) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = r.buffer.Flush()
	}
	return r.err
}

// Err is the first error in writing the history, if any. A run whose history cannot be written must end.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close flushes and closes the file.
func (r *Recorder) Close() error {
	close(r.stop)
	<-r.done
	err := r.Flush()
	if closed := r.file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("writing the history %s: %w", r.file.Name(), err)
	}
	return nil
}

func (r *Recorder) flushLoop() {
	defer close(r.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.Flush()
		case <-r.stop:
			return
		}
	}
}
