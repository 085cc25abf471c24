package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/client/v3/concurrency"

	"lockcheck/checker/history"
)

// elections is leadership as a lock, by client/v3/concurrency: to campaign is to acquire, to resign is to release. The
// token is the election's epoch, as its users call the create revision of the leader's key.
//
// Unlike a mutex, Campaign does not look whether its own key is still there when its turn has come: a candidate whose
// lease died while it waited is told that it leads.
var elections = recipe{
	name:   "election",
	record: queueKey, token: revisionToken, outcomes: electionOutcomes,
	// Resign is one transaction: it compares the create revision of the own key, and deletes.
	release: history.ReleaseChecked,
	ask: func(l *locks, of *session, key string) request {
		return &candidate{session: of.Session, prefix: prefix(key), name: l.name, inner: concurrency.NewElection(of.Session, prefix(key))}
	},
}

type candidate struct {
	session      *concurrency.Session
	prefix, name string
	inner        *concurrency.Election

	key      string // of the leader, once elected
	revision int64
	resigned bool
}

// Errors of the recipe, before it sends anything.
var (
	errNoTry    = errors.New("an election cannot be tried: the library has no such call")
	errResigned = errors.New("it has resigned before")
)

func (c *candidate) lock(ctx context.Context, try bool) error {
	if try {
		return errNoTry
	}
	if err := c.inner.Campaign(ctx, c.name); err != nil {
		return err
	}
	c.key, c.revision = c.inner.Key(), c.inner.Rev()
	return nil
}

// unlock resigns. The library's Election forgets that it leads even if its Resign failed, and would send nothing the
// next time; it is resumed for that.
func (c *candidate) unlock(ctx context.Context) error {
	if c.resigned {
		return errResigned
	}
	err := c.inner.Resign(ctx)
	if c.resigned = err == nil; !c.resigned {
		c.inner = concurrency.ResumeElection(c.session, c.prefix, c.key, c.revision)
	}
	return err
}

var electionOutcomes = append([]outcome{
	{errNoTry, history.CodeRefused, "nothing is sent"},
	{errResigned, history.CodeRefused, "nothing is sent"},
	{concurrency.ErrElectionNotLeader, "", "says that the key of an earlier request is gone, nothing of this one"},
}, serverOutcomes...)
