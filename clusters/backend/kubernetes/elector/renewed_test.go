package main

import (
	"context"
	"sync"
	"time"

	"lockcheck/clusters/client"
)

// renewed is a variant whose grants are told once they were renewed, and whose releases are asked for when a renewal was just answered. A release cancels a renewal that is on its way, and
// the first is as soon as the elector leads: if the server takes that one nevertheless, between the release's question and its request,
// it refuses the request, and the Lease stands until it runs out.
func renewed(v variant) client.Factory {
	return func(ctx context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
		answered := &renewals{Watch: watch, last: map[string]time.Time{}, over: map[string]bool{}}
		lock, ready, err := v.newLocks(ctx, init, answered)
		return &renewedLock{lock, answered, timesOf(time.Duration(init.TTLMS) * time.Millisecond).retryPeriod}, ready, err
	}
}

// renewals notes when the last renewal of each session was answered, and which have no more to come. A session's first lease is its grant's.
type renewals struct {
	client.Watch
	mu   sync.Mutex
	last map[string]time.Time
	over map[string]bool
}

func (r *renewals) Ended(session string, reason error) {
	r.end(session)
	r.Watch.Ended(session, reason)
}

func (r *renewals) Lost(session string, reason error) {
	r.end(session)
	r.Watch.Lost(session, reason)
}

func (r *renewals) end(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over[session] = true
}

// justAnswered reports whether the last renewal of a session was answered less than half their distance ago, or none is to come.
func (r *renewals) justAnswered(session string, every time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over[session] || time.Since(r.last[session]) <= every/2
}

func (r *renewals) Lease(session string, seen int64, ttl time.Duration) {
	r.Watch.Lease(session, seen, ttl)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, granted := r.last[session]; granted {
		r.last[session] = time.Now()
	} else {
		r.last[session] = time.Time{}
	}
}

func (r *renewals) at(session string) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[session]
}

type renewedLock struct {
	client.Lock
	renewals *renewals
	every    time.Duration
}

func (l *renewedLock) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	g, err := l.Lock.Acquire(ctx, key, try)
	if err != nil {
		return nil, err
	}
	for l.renewals.at(g.Session()).IsZero() && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	return &renewedGrant{g, l}, nil
}

type renewedGrant struct {
	client.Grant
	of *renewedLock
}

// Release waits for that.
func (g *renewedGrant) Release(ctx context.Context) (*bool, error) {
	for !g.of.renewals.justAnswered(g.Session(), g.of.every) && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	return g.Grant.Release(ctx)
}
