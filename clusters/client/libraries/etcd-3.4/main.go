// Command etcd-3.4 is etcd's client of version 3.4 as a lock client: a session and a mutex of clientv3/concurrency, or with -election
// an election. Its waiters are granted a lock when all before them are gone, and do not look whether their own key is still there
// (etcd-io/etcd#11456), which version 3.5 does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/version"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"lockcheck/clusters/client"
)

var election = flag.Bool("election", false, "campaign and resign instead of locking and unlocking a mutex")

func main() {
	flag.Parse()
	if err := client.Serve(context.Background(), os.Stdin, os.Stdout, newLocks); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// locks makes a session for each acquire, which ends with it: a key is named by its session's lease, so that none is ever put twice.
type locks struct {
	etcd     *clientv3.Client
	watch    client.Watch
	name     string
	ttl      int // in seconds
	election bool

	mu     sync.Mutex
	open   map[*session]bool
	ending sync.WaitGroup
}

// maxReconnectWait is far less than a lease lasts: gRPC's own wait grows to two minutes.
const maxReconnectWait = 500 * time.Millisecond

func newLocks(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	l := &locks{watch: watch, name: init.Name, ttl: int(max(1, (init.TTLMS+999)/1000)), election: *election, open: map[*session]bool{}}
	access := init.Access()
	secure, err := access.Config()
	if err != nil {
		return nil, client.Ready{}, err
	}
	observer := observer{watch}
	slow := backoff.DefaultConfig
	slow.BaseDelay, slow.MaxDelay = 100*time.Millisecond, maxReconnectWait
	l.etcd, err = clientv3.New(clientv3.Config{
		Endpoints: init.Endpoints, Username: access.Username, Password: access.Password.Reveal(), TLS: secure,
		DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second, DialTimeout: 5 * time.Second,
		DialOptions: []grpc.DialOption{
			grpc.WithChainUnaryInterceptor(observer.unary), grpc.WithChainStreamInterceptor(observer.stream),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: slow, MinConnectTimeout: time.Second}),
		},
	})
	if err != nil {
		return nil, client.Ready{}, fmt.Errorf("connecting to etcd at %v: %w", init.Endpoints, err)
	}
	recipe := "concurrency.Mutex"
	if l.election {
		recipe = "concurrency.Election"
	}
	return l, client.Ready{
		Client: "etcd client " + version.Version + " " + recipe, Tokens: client.TokensOrdered,
		Release: client.ReleaseChecked, // deletes a key that no other session ever has
	}, nil
}

// Acquire makes a session and asks for the lock under it.
func (l *locks) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	if try {
		return nil, client.Definite(client.CodeRefused, "version 3.4 has no call that tries: nothing was sent")
	}
	s, err := l.newSession(ctx)
	if err != nil {
		return nil, client.Definite(client.CodeRefused, "starting a session: %w", err) // no request for the lock was sent
	}
	request := l.request(s, "/lockcheck/"+key)
	note := &attempt{session: s.name}
	if err := request.lock(withAttempt(ctx, note)); err != nil {
		return nil, l.givenUp(ctx, s, note, err)
	}
	return &grant{locks: l, session: s, request: request, revision: note.revision, seen: note.seen}, nil
}

// givenUp ends the session of an acquire that failed. Once that is acknowledged nothing of the acquire is left, and nothing can come.
func (l *locks) givenUp(ctx context.Context, s *session, note *attempt, err error) error {
	refused := isLeaseGone(err)
	switch ended := l.end(s); {
	case refused && !note.silent:
		return client.Definite(client.CodeRefused, "a put under a lease that is not there makes no key: %w", err)
	case ended == nil && ctx.Err() != nil:
		return client.Definite(client.CodeCancelled, "given up, and the lease that its key has was revoked: %w", err)
	case ended == nil:
		return client.Definite(client.CodeRefused, "the lease that its key has was revoked: %w", err)
	}
	return client.Under(s.name, err)
}

// Close revokes the leases of all sessions, as a program does with a deferred Close.
func (l *locks) Close(ctx context.Context) error {
	l.mu.Lock()
	for s := range l.open {
		l.ending.Go(func() { _ = l.end(s) })
	}
	l.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		l.ending.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		return fmt.Errorf("ending the sessions: %w", ctx.Err())
	}
	if err := l.etcd.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
