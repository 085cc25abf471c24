package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
)

// recipe is what lock clients of Redis do in different ways.
type recipe struct {
	name string
	// set asks for the lock once. Errors are those of record.Judge.
	set func(ctx context.Context, store *record.Store, ask ask) (token string, granted bool, err error)
	// remove gives it back: whether it was this grant's own record that was removed, nil if the answer does not say.
	remove func(ctx context.Context, store *record.Store, ask ask) (owned *bool, err error)
	// release says whether remove compares and deletes in one step at the server (rule J5).
	release history.ReleaseKind
	// renewed: extended at a third of the lease until it is given back. If not, its validity is declared.
	renewed bool

	tokens history.Tokens
	reason string // why there are none
}

// ask is one attempt for a lock.
type ask struct {
	lock, value string
	ttl         time.Duration
	alone       bool // one server, without Sentinel: what it answers is what is
}

const noTokens = "a Redis record holds its owner's random value and no number that grows with each grant, so there is nothing for a resource to compare"

var (
	setnx = recipe{
		name: "setnx", set: plainSet, remove: compareAndDelete, release: history.ReleaseChecked, renewed: true,
		tokens: history.TokensNone, reason: noTokens,
	}
	setnxIncr = recipe{
		name: "setnx-incr", set: countedSet, remove: compareAndDelete, release: history.ReleaseChecked, renewed: true,
		tokens: history.TokensOrdered,
	}
	getDel = recipe{
		name: "get-del", set: plainSet, remove: getThenDelete, release: history.ReleaseUnchecked, renewed: true,
		tokens: history.TokensNone, reason: noTokens,
	}
	setnxExpire = recipe{
		name: "setnx-expire", set: setThenExpire, remove: compareAndDelete, release: history.ReleaseChecked, renewed: true,
		tokens: history.TokensNone, reason: noTokens,
	}
	setnxNoRenew = recipe{
		name: "setnx-norenew", set: plainSet, remove: compareAndDelete, release: history.ReleaseChecked,
		tokens: history.TokensNone, reason: noTokens,
	}
)

func plainSet(ctx context.Context, store *record.Store, a ask) (string, bool, error) {
	granted, err := store.Set(ctx, record.Key(a.lock), a.value, a.ttl)
	return "", granted, err
}

// setThenExpire makes the record in one step and lets it expire in another. Who dies in between leaves a record that never
// expires. The second step compares, as an extension does: only the record that the first one made is given an end, so that
// the lease that is reported is that record's. If it fails, the record is there, whatever is certain of the second step.
func setThenExpire(ctx context.Context, store *record.Store, a ask) (string, bool, error) {
	made, err := store.SetForever(ctx, record.Key(a.lock), a.value)
	if err != nil || !made {
		return "", false, err
	}
	if err := client.Expiring(ctx); err != nil {
		return "", false, fmt.Errorf("given up before the record was given its end: %w", err)
	}
	switch kept, err := store.Extend(ctx, record.Key(a.lock), a.value, a.ttl); {
	case err != nil:
		return "", false, errors.New("the record was made, and not given its end: " + err.Error())
	case !kept:
		return "", false, errors.New("the record was gone before it was given its end")
	}
	return "", true, nil
}

// counterKey is where the tokens of a lock are counted.
func counterKey(lock string) string { return record.Key(lock) + ":token" }

func countedSet(ctx context.Context, store *record.Store, a ask) (string, bool, error) {
	token, err := store.SetCounted(ctx, record.Key(a.lock), counterKey(a.lock), a.value, a.ttl)
	return token, token != "", err
}

// compareAndDelete is one script, which the server runs as a whole: what it removes has this grant's own random value.
func compareAndDelete(ctx context.Context, store *record.Store, a ask) (*bool, error) {
	owned, err := store.Delete(ctx, record.Key(a.lock), a.value)
	if err != nil {
		return nil, err
	}
	return &owned, nil
}

// getThenDelete is a release in two steps. If the first finds another value, nothing is removed; but it is a read, which a
// former primary or a replica answers as well, so it proves that the grant was over only where there is one server:
// elsewhere all that is certain is that nothing was sent. If the second removes something, it is not known whose it was;
// if it removes nothing, the grant was over.
func getThenDelete(ctx context.Context, store *record.Store, a ask) (*bool, error) {
	gone := false
	value, err := store.Get(ctx, record.Key(a.lock))
	switch {
	case err != nil && !client.Certain(err):
		// The read came to nothing, and the DEL was not sent: so nothing was removed.
		return nil, client.Definite(history.CodeRefused, "reading before the release: %w", err)
	case err != nil:
		return nil, err
	case value != a.value && a.alone:
		return &gone, nil
	case value != a.value:
		return nil, client.Definite(history.CodeRefused, "the read found another value, perhaps at a server that is no primary: nothing was sent to remove it")
	}
	if err := client.Removing(ctx); err != nil {
		return nil, client.Definite(history.CodeRefused, "given up between reading and removing: %w", err)
	}
	removed, err := store.DeleteAny(ctx, record.Key(a.lock))
	switch {
	case err != nil:
		return nil, err
	case removed:
		client.Removed(ctx)
		return nil, nil
	}
	return &gone, nil
}
