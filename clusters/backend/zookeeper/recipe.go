package zookeeper

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// libraryVersion is that of the connections' library, for reports.
var libraryVersion = client.LibraryVersion("github.com/go-zookeeper/zk")

// Recipe is the lock of ZooKeeper's recipes, written as a careful user would: an ephemeral sequential node below the
// lock's own, the lowest has the lock, every other watches the one before it. The token is the node's czxid, which grows
// for ever; its sequence number starts again when the lock's node is made anew.
//
// The session is lost when the library says that it has expired, and it says so only once it is connected again: a holder
// that is cut off goes on believing. (A careful program can do better by stopping while it is disconnected.)
func Recipe(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	return newQueues(init, watch, "/lockcheck", "lock-", "recipe")
}

// Election is leadership by the same recipe: candidates instead of waiters, and who is elected leads until it resigns or
// its session ends.
func Election(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	return newQueues(init, watch, "/lockcheck-election", "n_", "election")
}

func newQueues(init client.Init, watch client.Watch, base, prefix, name string) (client.Lock, client.Ready, error) {
	conns, err := newConns(init, watch)
	if err != nil {
		return nil, client.Ready{}, err
	}
	return &queues{watch: watch, conns: conns, base: baseOf(init, base), prefix: prefix},
		client.Ready{
			Client: "go-zookeeper " + libraryVersion + " " + name, Tokens: string(history.TokensOrdered),
			// A node is deleted by its name, which holds 128 random bits: no other node has it, below a new parent either.
			Release:  string(history.ReleaseChecked),
			Commands: []string{string(history.GuardAsk), string(history.GuardAskStale)},
		}, nil
}

// queues is the recipe as a client.Lock.
type queues struct {
	watch  client.Watch
	conns  *conns
	base   string // the parent of all locks
	prefix string // of a node's name, between its guid and its number
}

// lockPath is the node of a lock, below which its holder and waiters queue.
func lockPath(base, key string) string {
	for part := range strings.SplitSeq(key, "/") {
		base += "/" + url.PathEscape(part)
	}
	return base
}

func (q *queues) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	c, err := q.conns.take(ctx, key, false)
	if err != nil {
		// Without a session no request for the lock was sent.
		return nil, client.Definite(history.CodeRefused, "%w", err)
	}
	p := &place{conn: c, parent: lockPath(q.base, key), prefix: "_c_" + newGUID() + "-" + q.prefix}
	err = p.enter(ctx, q.watch)
	if err == nil {
		err = p.await(ctx, try)
	}
	if err != nil {
		q.conns.done(c, key, isDefinite(err))
		if !isDefinite(err) && p.era != nil {
			err = client.Under(p.era.name(), err)
		}
		return nil, err
	}
	return &held{conns: q.conns, conn: c, key: key, place: p, releasing: make(chan struct{}, 1)}, nil
}

// Close ends the session, which removes its nodes, and the connection.
func (q *queues) Close(ctx context.Context) error { return q.conns.close(ctx) }

// newGUID makes part of a node's name that no other node has, so that a create whose answer was lost is found again.
func newGUID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// place is a node in the queue of a lock.
type place struct {
	conn   *conn
	parent string
	prefix string // of the node's name; the server adds a number

	seen  int64 // the last ping read before the node's creation was sent
	path  string
	era   *era // the session that the node lives with
	czxid int64
}

// enter makes the node.
func (p *place) enter(ctx context.Context, watch client.Watch) error {
	p.seen = watch.Seen()
	client.Asked(ctx)
	path, err := p.conn.Create(p.parent+"/"+p.prefix, nil, zk.FlagEphemeral|zk.FlagSequence, p.conn.acl)
	if errors.Is(err, zk.ErrNoNode) {
		if err := makePath(p.conn.Conn, p.parent, p.conn.acl); err != nil {
			return client.Definite(history.CodeRefused, "making %s, without which nothing was asked for: %w", p.parent, err)
		}
		p.seen = watch.Seen()
		client.Asked(ctx)
		path, err = p.conn.Create(p.parent+"/"+p.prefix, nil, zk.FlagEphemeral|zk.FlagSequence, p.conn.acl)
	}
	if errors.Is(err, zk.ErrNoNode) { // another client removed the parent again
		return &client.Error{Code: history.CodeRefused, Err: err}
	}
	p.path = path
	if err != nil {
		if err = judge(err); isDefinite(err) {
			return err
		}
		if p.path = p.find(ctx); p.path == "" {
			return fmt.Errorf("the creation of the node got no answer, and it was not found: %w", err)
		}
	}
	return p.identify(ctx)
}

// makePath makes a node and all above it that is not there: at what is there, whose it may be, nothing is asked for.
func makePath(conn *zk.Conn, path string, acl []zk.ACL) error {
	_, err := conn.Create(path, nil, 0, acl)
	if above := strings.LastIndexByte(path, '/'); errors.Is(err, zk.ErrNoNode) && above > 0 {
		if err := makePath(conn, path[:above], acl); err != nil {
			return err
		}
		_, err = conn.Create(path, nil, 0, acl)
	}
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

const retryPause = 50 * time.Millisecond

// find looks for a node whose creation got no answer. It is looked for once, when a server has caught up with the
// leader; if it is not there then, it might still come, so nothing was proven.
func (p *place) find(ctx context.Context) string {
	for ctx.Err() == nil {
		client.Asked(ctx)
		_, err := p.conn.Sync(p.parent)
		var names []string
		if err == nil {
			client.Asked(ctx)
			names, _, err = p.conn.Children(p.parent)
		}
		if err == nil {
			for _, name := range names {
				if strings.HasPrefix(name, p.prefix) {
					return p.parent + "/" + name
				}
			}
			return ""
		}
		if !passing(err) {
			return ""
		}
		pause(ctx)
	}
	return ""
}

// passing reports whether a read that failed may work a little later.
func passing(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) || errors.Is(err, zk.ErrSessionMoved)
}

func pause(ctx context.Context) {
	select {
	case <-time.After(retryPause):
	case <-ctx.Done():
	}
}

// errGone: a node whose creation was acknowledged is not there any more, and its name is not given twice.
var errGone = errors.New("the node in the lock's queue is gone")

// identify reads which change made the node, and the session that it lives with.
func (p *place) identify(ctx context.Context) error {
	for {
		client.Asked(ctx)
		there, stat, err := p.conn.Exists(p.path)
		switch {
		case err == nil && !there:
			return &client.Error{Code: history.CodeNotOwned, Err: errGone}
		case err == nil:
			p.czxid, p.era = stat.Czxid, p.conn.observer.eras.of(stat.EphemeralOwner)
			if p.era == nil {
				return fmt.Errorf("the node %s belongs to session %x, which is none of this client's", p.path, stat.EphemeralOwner)
			}
			return nil
		case errors.Is(err, zk.ErrSessionExpired):
			// It was made under this session or the one before; that it was not read proves nothing.
			return err
		case !passing(err):
			return err
		case ctx.Err() != nil:
			return p.leave(ctx.Err(), history.CodeCancelled)
		}
		pause(ctx)
	}
}

// await waits until the node is the lowest. With try it looks once.
func (p *place) await(ctx context.Context, try bool) error {
	for {
		if ctx.Err() != nil {
			return p.leave(ctx.Err(), history.CodeCancelled)
		}
		client.Asked(ctx)
		names, _, err := p.conn.Children(p.parent)
		// A session that began later may read from a server that is behind, where the node still is.
		if p.era.isOver() {
			return p.expired()
		}
		if err != nil {
			if !passing(err) && !errors.Is(err, zk.ErrSessionExpired) {
				return err
			}
			pause(ctx)
			continue
		}
		before, present := predecessor(names, p.path[len(p.parent)+1:])
		switch {
		case !present:
			return &client.Error{Code: history.CodeNotOwned, Err: errGone}
		case before == "":
			return nil
		case try:
			return p.leave(errors.New("another has the lock"), history.CodeBusy)
		}
		if err := p.behind(ctx, before); err != nil {
			return err
		}
	}
}

// behind waits until something happens to the node before.
func (p *place) behind(ctx context.Context, before string) error {
	client.Asked(ctx)
	_, _, event, err := p.conn.GetW(p.parent + "/" + before) // sets no watch if there is no node
	if err != nil {
		if !errors.Is(err, zk.ErrNoNode) {
			pause(ctx)
		}
		return nil
	}
	client.Queued(ctx)
	select {
	case <-event: // deleted; or the watch ended with the session or the connection
	case <-p.era.over:
	case <-ctx.Done():
	}
	return nil
}

func (p *place) expired() error {
	return client.Definite(history.CodeNotOwned, "session %s has expired, and its node with it", p.era.name())
}

// leave takes the node out of the queue, because the waiting was given up. Only if its removal is acknowledged, the
// request is certainly gone.
func (p *place) leave(why error, code string) error {
	err := p.conn.Delete(p.path, -1)
	if err == nil || errors.Is(err, zk.ErrNoNode) {
		return &client.Error{Code: code, Err: why}
	}
	return fmt.Errorf("%w; the removal of the node is unknown: %w", why, err)
}
