package workloads

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/resource"
)

// logRelay keeps the log of a resource that shares no files with the harness: it prints its lines, each before it answers
// the request, and they are written here in the order in which they come.
type logRelay struct {
	done chan struct{}

	mu  sync.Mutex
	err error
}

// lastLines bounds how long the end of the log is waited for once the resource was told to end.
const lastLines = 10 * time.Second

func relayLog(lines *bufio.Reader, path string) (*logRelay, error) {
	file, err := resource.OpenLog(path)
	if err != nil {
		return nil, err
	}
	p := &logRelay{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		err := copyLines(file, lines)
		if err := errors.Join(err, file.Close()); err != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.err = fmt.Errorf("keeping the resource's log: %w", err)
		}
	}()
	return p, nil
}

// copyLines writes whole lines only: what a killed harness leaves can be read.
func copyLines(to io.Writer, from *bufio.Reader) error {
	for {
		line, err := from.ReadBytes('\n')
		if err == io.EOF {
			return nil // a line without an end was never answered
		}
		if err != nil {
			return err
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
}

// failed is why the log is not complete. It may be asked of nil, for a resource that writes its log itself.
func (p *logRelay) failed() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// end lets the resource end and returns once its last line is kept. Output that ends says nothing of what is missing from
// it: only a resource that was seen to end well has printed everything.
func (p *logRelay) end(resource clusters.Process) error {
	_ = resource.Stdin().Close()
	late := time.After(lastLines)
	for _, ended := range []<-chan struct{}{p.done, resource.Done()} {
		select {
		case <-ended:
		case <-late:
			return errors.New("keeping the resource's log: the resource was told to end, but it or its output did not")
		}
	}
	if err := resource.Err(); err != nil {
		return errors.Join(p.failed(), fmt.Errorf("keeping the resource's log: its end may be missing: the resource ended with: %w", err))
	}
	return p.failed()
}
