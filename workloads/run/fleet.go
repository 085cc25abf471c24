package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/workloads/driver"
)

// member is one live lock client: its process and the harness's end of the conversation with it.
type member struct {
	name    string
	host    clusters.Host
	process clusters.Process
	driver  *driver.Driver
	ready   client.Ready
	stop    context.CancelFunc // of its pings
	over    chan struct{}      // closed once its end was recorded and acted upon
}

// kill ends the client with SIGKILL and returns once its end is recorded. What a stopped client believed it has believed
// until now.
func (m *member) kill(ctx context.Context) error {
	m.driver.ExpectEnd()
	m.driver.Thaw()
	if err := m.process.Kill(ctx); err != nil {
		return fmt.Errorf("killing client %s: %w", m.name, err)
	}
	m.stop()
	select {
	case <-m.driver.Gone():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("client %s was killed, but its output did not end: %w", m.name, ctx.Err())
	}
}

// discardTimeout bounds how long the end of a client that is of no use may take on a machine that stands still.
const discardTimeout = time.Minute

// discard ends a client that did not get ready, and returns once its end is recorded: nothing may be recorded after the end of the history.
// The time in which it had to get ready is over, so that its end has a time of its own.
func (m *member) discard() {
	ending, cancel := context.WithTimeout(context.Background(), discardTimeout)
	defer cancel()
	_ = m.kill(ending) // why it is of no use is what its starter is told
}

// fleet is all the lock clients of a run.
type fleet struct {
	site     clusters.Site
	command  clusters.Command // starts a lock client
	init     client.Init
	recorder *Recorder
	notify   driver.Notify
	ended    func(*member) // called once a client's conversation is over and recorded; nil for nothing

	mu      sync.Mutex
	hosts   map[string]clusters.Host
	members []*member
}

// startTimeouts are how long a client is waited for: until its process runs, which is the machine's and the container engine's affair, and from
// then on until it is ready, which is its own (clusters/client/README.md).
type startTimeouts struct{ start, ready time.Duration }

// start starts a client called name on the host of that name (which a successor shares with its predecessor). A client that is not ready
// in time is an ErrUnavailable.
func (f *fleet) start(ctx context.Context, host, name string, seed int64, limit startTimeouts) (*member, error) {
	process, where, err := f.launch(ctx, host, name, limit.start)
	if err != nil {
		return nil, err
	}
	pinging, stop := context.WithCancel(context.Background())
	m := &member{name: name, host: where, process: process, stop: stop, over: make(chan struct{})}
	m.driver = driver.New(name, process.Stdin(), process.Stdout(), f.recorder, f.notify)
	init := f.init
	init.Name, init.Seed = name, seed
	preparing, prepared := context.WithTimeout(ctx, limit.ready)
	defer prepared()
	if m.ready, err = m.driver.Init(preparing, init); err != nil {
		stop()
		m.driver.ExpectEnd()
		if m.driver.Died() {
			err = fmt.Errorf("client %s ended before it was ready: %w", name, deathOf(process))
		} else {
			err = inTime(ctx, preparing, limit.ready, fmt.Errorf("%w; its log is %s/%s.log in the run's nodes directory", err, host, name))
		}
		m.discard()
		return nil, err
	}
	go pingSteadily(pinging, m.driver)
	go f.awaitEnd(m)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members = append(f.members, m)
	return m, nil
}

// launch starts the process of a client, and makes its host if it is not there.
func (f *fleet) launch(ctx context.Context, host, name string, limit time.Duration) (clusters.Process, clusters.Host, error) {
	starting, started := context.WithTimeout(ctx, limit)
	defer started()
	where, err := f.host(starting, host)
	if err != nil {
		return nil, nil, inTime(ctx, starting, limit, err)
	}
	command := f.command
	command.Log, command.Pipes = name, true
	process, err := where.Start(starting, command)
	if err != nil {
		return nil, nil, inTime(ctx, starting, limit, fmt.Errorf("starting client %s: %w", name, err))
	}
	return process, where, nil
}

func (f *fleet) awaitEnd(m *member) {
	defer close(m.over)
	<-m.driver.Gone()
	if f.ended != nil {
		f.ended(m)
	}
}

func (f *fleet) host(ctx context.Context, name string) (clusters.Host, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if host := f.hosts[name]; host != nil {
		return host, nil
	}
	host, err := f.site.Host(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("making the host %s: %w", name, err)
	}
	f.hosts[name] = host
	return host, nil
}

// pingEvery is the pace of pings (rule R2): what a client believes is known to this grain.
const pingEvery = 20 * time.Millisecond

func pingSteadily(ctx context.Context, driver *driver.Driver) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		driver.Ping()
		select {
		case <-tick.C:
		case <-driver.Gone():
			return
		case <-ctx.Done():
			return
		}
	}
}

// live are the clients that have not ended, in the order of their names.
func (f *fleet) live() []*member {
	f.mu.Lock()
	defer f.mu.Unlock()
	var live []*member
	for _, m := range f.members {
		if m.driver.Err() == nil {
			live = append(live, m)
		}
	}
	slices.SortFunc(live, func(a, b *member) int { return strings.Compare(a.name, b.name) })
	return live
}

func (f *fleet) named(name string) *member {
	for _, m := range f.live() {
		if m.name == name {
			return m
		}
	}
	return nil
}

// pingHolders asks all clients that are believed to hold something whether they still do, at once after each grant (rule R2).
func (f *fleet) pingHolders() {
	for _, m := range f.live() {
		if _, _, holds := m.driver.Believes(); holds {
			m.driver.Ping()
		}
	}
}

// expectEnds says that all clients are about to be ended from outside.
func (f *fleet) expectEnds() {
	for _, m := range f.live() {
		m.driver.ExpectEnd()
	}
}

// awaitEnds returns once all clients' ends are recorded, or after a while.
func (f *fleet) awaitEnds(timeout time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	late := time.After(timeout)
	for _, m := range f.members {
		select {
		case <-m.driver.Gone():
		case <-late:
			return
		}
	}
}

// awaitActed returns once the ends that there were have been acted upon.
func (f *fleet) awaitActed() {
	f.mu.Lock()
	members := slices.Clone(f.members)
	f.mu.Unlock()
	for _, m := range members {
		if m.driver.Err() != nil {
			<-m.over
		}
	}
}

// closeTimeout bounds how long a client may take to close its session before it is killed.
const closeTimeout = 2 * time.Second

// close ends clients in good order, and those that do not end by SIGKILL.
func (f *fleet) close(ctx context.Context, members []*member) error {
	var wait sync.WaitGroup
	failed := make([]error, len(members))
	for i, m := range members {
		wait.Go(func() {
			m.driver.Close()
			select {
			case <-m.over:
				m.stop()
			case <-time.After(closeTimeout):
				failed[i] = m.kill(ctx)
			}
		})
	}
	wait.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}
