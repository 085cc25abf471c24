package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// variant is a way in which programs use the elector.
type variant struct {
	name            string
	library         string // the module whose user the program is
	releaseOnCancel bool
	stand           func(*term) (run func(context.Context) error, err error) // run stands for election; an error ends the process
	cleansUp        bool                                                     // for as long as a lease lasts, before it ends
	// release: the elector reads the record and replaces it, and does not look whose it is that it read: it goes by what it
	// itself saw last, which may be older (LeaderElector.release in client-go 0.34).
	release history.ReleaseKind
}

const clientGo, controllerRuntime = "k8s.io/client-go", "sigs.k8s.io/controller-runtime"

var variants = map[string]variant{
	"leaderelection": {name: "leaderelection", library: clientGo, stand: (*term).elector, releaseOnCancel: true, release: history.ReleaseUnchecked},
	// What is never sent removes nothing.
	"no-release": {name: "no-release", library: clientGo, stand: (*term).elector, release: history.ReleaseChecked},
	// By default they send no release, either. They declare nothing of it: once a lock is lost their process ends, and cannot be asked for one.
	"manager":           {name: "manager", library: controllerRuntime, stand: (*term).manager},
	"manager-slow-exit": {name: "manager-slow-exit", library: controllerRuntime, stand: (*term).manager, cleansUp: true},
}

// factories are what the program can be started as.
var factories = map[string]client.Factory{}

func init() {
	for name, v := range variants {
		factories[name] = v.newLocks
	}
}

// locks is client-go's elector as a client.Lock: one elector for each acquire, as a program that begins anew has one.
type locks struct {
	variant
	config *rest.Config
	client coordinationv1.CoordinationV1Interface
	watch  client.Watch
	times  times
	owner  string // how identities begin
	in     string // the namespace of the Leases

	leaving atomic.Bool // the process is about to end
	mu      sync.Mutex
	running map[*term]bool // electors that have not ended
}

// times are the elector's, in the proportions of Kubernetes' own components: 15 s, 10 s and 2 s.
type times struct{ lease, renewDeadline, retryPeriod time.Duration }

func timesOf(ttl time.Duration) times { return times{ttl, ttl * 10 / 15, ttl * 2 / 15} }

func (v variant) newLocks(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	ttl := time.Duration(init.TTLMS) * time.Millisecond
	if ttl < time.Second || ttl%time.Second != 0 {
		return nil, client.Ready{}, fmt.Errorf("a Lease lasts whole seconds, not %v", ttl)
	}
	l := &locks{variant: v, watch: watch, times: timesOf(ttl), owner: init.Name, in: namespaceOf(init), running: map[*term]bool{}}
	var err error
	if l.config, err = configOf(init, l.times.renewDeadline); err != nil {
		return nil, client.Ready{}, err
	}
	if l.client, err = coordinationv1.NewForConfig(l.config); err != nil {
		return nil, client.Ready{}, err
	}
	return l, client.Ready{
		Client: path.Base(v.library) + " " + client.LibraryVersion(v.library) + " " + v.name, Tokens: string(history.TokensOrdered), Release: string(v.release),
		Commands: []string{string(history.GuardAsk), string(history.GuardAskStale)},
	}, nil
}

var (
	errNoTry   = errors.New("leadership cannot be tried: client-go has no such call")
	errLeaving = errors.New("main is about to exit, and starts no other manager")
)

// Acquire runs an elector until it leads. Given up, it waits for the elector's end: only then it is known what was sent.
func (l *locks) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	switch {
	case try:
		return nil, client.Definite(history.CodeRefused, "%w", errNoTry)
	case l.leaving.Load():
		return nil, client.Definite(history.CodeRefused, "%w", errLeaving)
	}
	t, err := l.newTerm(ctx, key)
	if err != nil {
		return nil, err
	}
	select {
	case <-t.started:
		return t, nil
	case <-t.ended:
		return nil, client.Under(t.identity, t.judgeAcquire(errors.New("the elector ended without being asked to")))
	case <-ctx.Done():
	}
	if t.record.leads() { // the grant came first
		return t, nil
	}
	t.cancel()
	<-t.ended
	return nil, client.Under(t.identity, t.judgeAcquire(ctx.Err()))
}

// Close cancels all electors at once, as a program does that is asked to end, and waits for their ends.
func (l *locks) Close(ctx context.Context) error {
	l.mu.Lock()
	var running []*term
	for t := range l.running {
		running = append(running, t)
	}
	l.mu.Unlock()
	for _, t := range running {
		t.releasing.Store(true)
		t.cancel()
	}
	for _, t := range running {
		select {
		case <-t.ended:
		case <-ctx.Done():
			return fmt.Errorf("giving up leadership: %w", ctx.Err())
		}
	}
	return nil
}
