package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/libraries/lockclient"
)

// requests sees what the library sends and keeps to itself: scripts with a record's key, its random value and the time of its
// end. Those that make a record or extend it come with the context of their acquire, its removal comes with none. rueidis
// repeats them when a connection breaks.
type requests struct {
	watch  client.Watch
	ttl    time.Duration
	alone  bool // one server, without Sentinels
	breaks lockclient.Breaks

	mu      sync.Mutex // guards all below, and what it points to
	records map[string]*record
}

// attempt is an acquire. The library may make several requests for it, each for a record of its own.
type attempt struct {
	waits      bool
	unanswered int     // requests that got no answer: their records may be there
	last       *record // that was asked for
}

type attemptKey struct{}

// record is a lock's record that was asked for.
type record struct {
	session string // its value
	seen    int64  // the last ping read before it was asked for
	granted bool
	gone    bool     // an extension found no such record
	removal *removal // what came of the last request to remove it
	removed int64    // the last ping read before the first such request was sent; 0 if none was
}

type removal struct {
	owned bool
	err   error
}

// sending is a request that is about to be sent.
type sending struct {
	seen  int64         // the last ping read
	ttl   time.Duration // that is asked for
	broke func() bool   // whether a connection broke since
}

// client is what the library makes its requests with.
func (r *requests) client(option rueidis.ClientOption) (rueidis.Client, error) {
	inner, err := rueidis.NewClient(option)
	return &observed{inner, r}, err
}

type observed struct {
	rueidis.Client
	requests *requests
}

// Do is how the library sends its scripts.
func (o *observed) Do(ctx context.Context, command rueidis.Completed) rueidis.RedisResult {
	words := command.Commands()
	if len(words) != 6 || !strings.HasPrefix(words[0], "EVAL") {
		return o.Client.Do(ctx, command)
	}
	by, _ := ctx.Value(attemptKey{}).(*attempt)
	s := sending{o.requests.watch.Seen(), o.requests.lease(words[5]), o.requests.breaks.Watch()}
	rec := o.requests.record(hex.EncodeToString([]byte(words[4])), by, s)
	switch {
	case by == nil:
		o.requests.removes(rec, s)
		return o.requests.removing(rec, s, o.Client.Do(ctx, command))
	case rec.granted:
		return o.requests.extending(rec, s, o.Client.Do(ctx, command))
	}
	client.Asked(ctx)
	result := o.requests.asking(rec, by, s, o.Client.Do(ctx, command))
	if by.waits && rueidis.IsRedisNil(result.Error()) {
		client.Queued(ctx)
	}
	return result
}

// lease is the time to live that is asked for with the time of a record's end. Both times are of this process's wall clock;
// the server goes by its own.
func (r *requests) lease(until string) time.Duration {
	ms, _ := strconv.ParseInt(until, 10, 64)
	return min(max(0, time.Until(time.UnixMilli(ms))), r.ttl)
}

// record finds a record, or takes up a new one.
func (r *requests) record(session string, by *attempt, s sending) *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := r.records[session]
	if rec == nil {
		rec = &record{session: session, seen: s.seen}
		r.records[session] = rec
	}
	if by != nil {
		by.last = rec
	}
	return rec
}

// asking takes the answer to a request for a record.
func (r *requests) asking(rec *record, by *attempt, s sending, result rueidis.RedisResult) rueidis.RedisResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := result.Error()
	if rec.granted = err == nil; rec.granted {
		r.watch.Lease(rec.session, s.seen, s.ttl)
		return result
	}
	if unanswered(err, s) {
		by.unanswered++
	} else if rueidis.IsRedisNil(err) {
		delete(r.records, rec.session)
	}
	return result
}

// extending takes the answer to an extension.
func (r *requests) extending(rec *record, s sending, result rueidis.RedisResult) rueidis.RedisResult {
	switch n, err := result.AsInt64(); {
	case err == nil && n == 1:
		r.watch.Lease(rec.session, s.seen, s.ttl)
	case err == nil && r.alone:
		r.mu.Lock()
		rec.gone = true
		r.mu.Unlock()
		r.watch.Ended(rec.session, errors.New("the extension found no record with this grant's value"))
	}
	return result
}

// removes notes a removal that is about to be sent.
func (r *requests) removes(rec *record, s sending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec.removed = cmp.Or(rec.removed, s.seen)
}

// removing takes the answer to a removal.
func (r *requests) removing(rec *record, s sending, result rueidis.RedisResult) rueidis.RedisResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, err := result.AsInt64()
	rec.removal = &removal{owned: n == 1, err: err}
	switch {
	case n == 1:
	case unanswered(err, s):
		rec.removal.err = fmt.Errorf("a request to remove the record got no answer: %w", cmp.Or(err, errors.New("rueidis sent another, which found none")))
	case err != nil:
		rec.removal.err = client.Definite(history.CodeRefused, "%w: refused before the script changed anything", err)
	case !r.alone:
		rec.removal.err = client.Definite(history.CodeRefused, "no such record, says a server that may be no primary any more: nothing was removed")
	}
	if err == nil {
		delete(r.records, rec.session)
	}
	return result
}

// unanswered reports whether an attempt got no answer. What a server refuses had no effect: it is refused at the one step at
// which a script changes something. Other errors say when the client stopped waiting.
func unanswered(err error, s sending) bool {
	_, refused := rueidis.IsRedisErr(err)
	return s.broke() || err != nil && !refused && !rueidis.IsRedisNil(err)
}

// release gives a lock back by the function that the library has for that, and says what came of it. After a loss the library
// sends nothing more: it has sent the removal already, or found that the record is gone. A removal that was sent before this release
// was asked for proves nothing of the time up to the release, and the library tells of the loss only once it is answered.
func (r *requests) release(rec *record, cancel context.CancelFunc) (owned *bool, err error) {
	unasked := r.removedAfter(rec)
	if unasked != 0 {
		client.LostAfterGivingBack(r.watch, rec.session, unasked, errors.New("the library sent the removal of the record by itself"))
	}
	cancel()
	switch last := r.removalOf(rec); {
	case last == nil && rec.gone:
		return nil, client.Definite(history.CodeNotOwned, "the library sent nothing: an extension had found no such record")
	case last == nil:
		return nil, client.Definite(history.CodeRefused, "the library sent nothing: it had found the lock lost")
	case last.err != nil:
		return nil, last.err
	case unasked != 0:
		return nil, client.Definite(history.CodeNotOwned, "the library sent nothing: it had sent the removal of the record before")
	default:
		return &last.owned, nil
	}
}

// lost tells of a loss. The library cancels the context of a lock before or after it has sent the request that removes its record.
func (r *requests) lost(rec *record, reason error) {
	if seen := r.removedAfter(rec); seen != 0 {
		client.LostAfterGivingBack(r.watch, rec.session, seen, reason)
		return
	}
	r.watch.Lost(rec.session, reason)
}

func (r *requests) removedAfter(rec *record) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return rec.removed
}

func (r *requests) removalOf(rec *record) *removal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return rec.removal
}

// judge says what the error of an acquire proves: nothing, if a request got no answer.
func (r *requests) judge(a *attempt, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case a.unanswered > 0:
		return fmt.Errorf("%w; %d requests got no answer", err, a.unanswered)
	case errors.Is(err, rueidislock.ErrNotLocked):
		return client.Definite(history.CodeBusy, "%w", err)
	case errors.Is(err, context.Canceled):
		return client.Definite(history.CodeCancelled, "%w; every request was answered", err)
	}
	return client.Definite(history.CodeRefused, "every request was refused: %w", err)
}
