package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"lockcheck/clusters"
)

// Agent is the harness's end: the agent on one host. It is safe for concurrent use; requests go one after the other.
type Agent struct {
	host    clusters.Host
	process clusters.Process
	can     []string

	mu      sync.Mutex
	last    int64
	answers chan Answer
}

// Start starts an agent on a host. It ends when it is closed, or with the site.
func Start(ctx context.Context, host clusters.Host) (*Agent, error) {
	start := host.Start
	if powerful, ok := host.(clusters.PrivilegedHost); ok {
		start = powerful.StartAgent
	}
	process, err := start(ctx, clusters.Command{Args: []string{Command}, Log: Command, Pipes: true})
	if err != nil {
		return nil, err
	}
	a := &Agent{host: host, process: process, answers: make(chan Answer, 1)}
	hello := make(chan Hello, 1)
	go a.listen(process.Stdout(), hello)
	select {
	case h, ok := <-hello:
		if !ok {
			return nil, a.ended()
		}
		a.can = h.Can
		return a, nil
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("the agent on host %s did not get ready: %w", host.Name(), ctx.Err()), process.Kill(context.WithoutCancel(ctx)))
	}
}

func (a *Agent) listen(stdout *os.File, hello chan<- Hello) {
	defer close(a.answers)
	defer close(hello)
	lines := json.NewDecoder(stdout)
	var h Hello
	if err := lines.Decode(&h); err != nil {
		return
	}
	hello <- h
	for {
		var answer Answer
		if err := lines.Decode(&answer); err != nil {
			return
		}
		a.answers <- answer
	}
}

// Can reports whether the agent takes a request.
func (a *Agent) Can(do string) bool { return slices.Contains(a.can, do) }

// Done is closed once the agent has ended.
func (a *Agent) Done() <-chan struct{} { return a.process.Done() }

// Do asks for something and waits for the answer. result may be nil. The error is the agent's, or says that it ended. A
// request that was given up because ctx is done may still be carried out; the next one waits for it.
func (a *Agent) Do(ctx context.Context, do string, args, result any) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	line, err := json.Marshal(Request{ID: a.last, Do: do, Args: raw})
	if err != nil {
		return err
	}
	if _, err := a.process.Stdin().Write(append(line, '\n')); err != nil {
		return a.ended()
	}
	for {
		select {
		case answer, ok := <-a.answers:
			switch {
			case !ok:
				return a.ended()
			case answer.ID != a.last: // to a request that was given up
			case answer.Error != "":
				return fmt.Errorf("%s on host %s: %s", do, a.host.Name(), answer.Error)
			case result == nil:
				return nil
			default:
				return json.Unmarshal(answer.Result, result)
			}
		case <-ctx.Done():
			return fmt.Errorf("%s on host %s: no answer from the agent: %w", do, a.host.Name(), ctx.Err())
		}
	}
}

// endTimeout bounds how long an agent may take to be reaped after its output ended, and to take back what it did.
const endTimeout = 5 * time.Second

func (a *Agent) ended() error {
	select {
	case <-a.process.Done():
		return fmt.Errorf("the agent on host %s has ended: %w", a.host.Name(), errors.Join(errors.New("its log is agent.log in the host's directory"), a.process.Err()))
	case <-time.After(endTimeout):
		return fmt.Errorf("the agent on host %s closed its output", a.host.Name())
	}
}

// Close lets the agent take back all that it did, and returns once it has ended.
func (a *Agent) Close() error {
	_ = a.process.Stdin().Close()
	select {
	case <-a.process.Done():
		if err := a.process.Err(); err != nil {
			return fmt.Errorf("the agent on host %s could not take back all that it did: %w", a.host.Name(), err)
		}
		return nil
	case <-time.After(endTimeout):
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		return errors.Join(fmt.Errorf("the agent on host %s did not end", a.host.Name()), a.process.Kill(ctx))
	}
}
