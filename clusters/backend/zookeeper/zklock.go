package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// Library is the lock that github.com/go-zookeeper/zk comes with, used as its documentation says: zk.NewLock, Lock, Unlock.
//
// It has no try and cannot be given up: a user who does not want to wait any longer has to close the connection. After an
// error it leaves its node where it is, so the connection is given up then, too. It gives no token: that is read from
// the node afterwards, which a user can do who knows how the library names its nodes.
func Library(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	return library(init, watch, "zk.Lock", false)
}

// LibrarySameSession is the same lock as a careless program uses it: it takes an error of Lock for "no lock, and no place in the queue", says so
// for certain, and goes on with the same session. The node that the library left is in the queue for as long as that session lives
// (samuel/go-zookeeper#229).
func LibrarySameSession(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	return library(init, watch, "zk.Lock, same session after errors", true)
}

func library(init client.Init, watch client.Watch, name string, careless bool) (client.Lock, client.Ready, error) {
	conns, err := newConns(init, watch)
	if err != nil {
		return nil, client.Ready{}, err
	}
	return &locks{conns: conns, base: "/lockcheck", careless: careless},
		client.Ready{
			Client: "go-zookeeper " + libraryVersion + " " + name, Tokens: string(history.TokensOrdered),
			// Unlock deletes the node by its name, in which CreateProtectedEphemeralSequential has put 128 random bits.
			Release: string(history.ReleaseChecked),
		}, nil
}

// locks is zk.Lock as a client.Lock.
type locks struct {
	conns    *conns
	base     string
	careless bool // LibrarySameSession
}

func (l *locks) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	if try {
		return nil, client.Definite(history.CodeRefused, "zk.Lock has no try: nothing was sent")
	}
	// What the library does under the lock's path is observed, so nothing else may be under way there.
	c, err := l.conns.take(ctx, key, true)
	if err != nil {
		return nil, client.Definite(history.CodeRefused, "%w", err)
	}
	lock := zk.NewLock(c.Conn, lockPath(l.base, key), c.acl)
	attempt, forget := c.observer.follow(ctx, lockPath(l.base, key)+"/")
	defer forget()
	done := make(chan error, 1)
	go func() { done <- lock.Lock() }()
	select {
	case err = <-done:
		err = attempt.judge(c.observer, err)
		if l.careless && err != nil && !isDefinite(err) {
			err = client.Definite(history.CodeRefused, "%w, says zk.Lock, which is taken for no lock: its node may be there", err)
		}
	case <-ctx.Done():
		err = l.abandon(ctx, c, key, attempt, done)
	}
	g := &libraryGrant{conns: l.conns, conn: c, key: key, lock: lock, releasing: make(chan struct{}, 1)}
	if err == nil {
		err = g.identify(attempt, lockPath(l.base, key))
	}
	if err != nil {
		l.conns.done(c, key, isDefinite(err))
		if only := attempt.sessionOnly(); !isDefinite(err) && only != "" {
			err = client.Under(only, err)
		}
		return nil, err
	}
	return g, nil
}

// Close ends the session, which removes its nodes, and the connection.
func (l *locks) Close(ctx context.Context) error { return l.conns.close(ctx) }

// abandon gives up a Lock in the only way there is, unless something else depends on the connection: then the session
// ends with that, and until then the outcome is unknown.
func (l *locks) abandon(ctx context.Context, c *conn, key string, a *attempt, done <-chan error) error {
	if !l.conns.closeAlone(c, key) {
		return fmt.Errorf("%w; zk.Lock cannot be given up while the connection is used otherwise", ctx.Err())
	}
	<-done // closing lets it return
	switch a.mayHave(c.observer) {
	case nothing:
		return &client.Error{Code: history.CodeRefused, Err: ctx.Err()}
	case over:
		return &client.Error{Code: history.CodeCancelled, Err: ctx.Err()}
	}
	return fmt.Errorf("%w; the closing of the session was not acknowledged", ctx.Err())
}

// What an attempt of the library's lock can have left behind.
const (
	nothing = iota // no create was sent
	over           // all creates were sent under one session, which has certainly ended
	something
)

func (at *attempt) mayHave(o *observer) int {
	at.mu.Lock()
	defer at.mu.Unlock()
	switch e := o.eras.of(at.session); {
	case at.creates == 0:
		return nothing
	case !at.several && (o.wasClosed(at.session) || (e != nil && e.isOver())):
		return over
	}
	return something
}

// judge says what an error of the library's Lock means. Its text says little: Lock makes a node first, and an error afterwards
// leaves it there.
func (at *attempt) judge(o *observer, err error) error {
	if err == nil {
		return nil
	}
	switch at.mayHave(o) {
	case nothing:
		return &client.Error{Code: history.CodeRefused, Err: err}
	case over:
		return &client.Error{Code: history.CodeNotOwned, Err: err}
	}
	return err
}

// libraryGrant is a zk.Lock that is locked.
type libraryGrant struct {
	conns *conns
	conn  *conn
	key   string
	lock  *zk.Lock
	era   *era
	czxid int64
	seen  int64

	releasing chan struct{} // holds one token while an Unlock is under way: zk.Lock is not for concurrent use
	settled   bool
}

func (g *libraryGrant) Session() string  { return g.era.name() }
func (g *libraryGrant) Token() string    { return strconv.FormatInt(g.czxid, 10) }
func (g *libraryGrant) Seen() int64      { return g.seen }
func (g *libraryGrant) Valid() time.Time { return time.Time{} } // the library declares none

// identify finds the node that the library made, which it keeps to itself, and reads its czxid. Usually the answer to its
// create was seen. If that was lost the library found the node by name, and here it is found by its owner: the lowest
// that belongs to this session. If it is gone by now (the library does not look for it before it says that it has the
// lock) there is nothing to name the grant by, and its outcome is unknown.
func (g *libraryGrant) identify(a *attempt, parent string) error {
	a.mu.Lock()
	path, seen, made := a.path, a.seen, a.session
	a.mu.Unlock()
	if path != "" {
		there, stat, err := g.conn.Exists(path)
		if err == nil && there {
			g.czxid, g.seen, g.era = stat.Czxid, seen, g.conn.observer.eras.of(stat.EphemeralOwner)
			if g.era != nil {
				return nil
			}
		}
		return fmt.Errorf("zk.Lock says that it is locked; which change made its node %s cannot be read (there: %v): %v", path, there, err)
	}
	names, _, err := g.conn.Children(parent)
	if err != nil {
		return fmt.Errorf("zk.Lock says that it is locked; its node cannot be found: %w", err)
	}
	for _, name := range inQueue(names) {
		there, stat, err := g.conn.Exists(parent + "/" + name)
		if err == nil && there && stat.EphemeralOwner == made && strings.HasPrefix(name, "_c_") {
			g.czxid, g.seen, g.era = stat.Czxid, seen, g.conn.observer.eras.of(made)
			if g.era != nil {
				return nil
			}
		}
	}
	return errors.New("zk.Lock says that it is locked; no node of its session is in the queue")
}

// Release unlocks. The library deletes its node by a name that no other has: if it was there, it was this grant's.
func (g *libraryGrant) Release(ctx context.Context) (*bool, error) {
	select {
	case g.releasing <- struct{}{}:
		defer func() { <-g.releasing }()
	case <-ctx.Done():
		return nil, client.Definite(history.CodeRefused, "an earlier release of this grant was still under way: %w", ctx.Err())
	}
	owned := g.era.owned()
	err := g.lock.Unlock()
	if err != nil {
		err = judge(err)
	}
	if !g.settled {
		g.settled = true
		g.conns.done(g.conn, g.key, isDefinite(err))
	}
	if err != nil {
		return nil, err
	}
	return owned, nil
}
