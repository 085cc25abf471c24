package redlock

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"lockcheck/checker/history"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
)

// observed is what was seen of the requests of one call of a library: those of its last round, and what may be left of
// earlier ones.
type observed struct {
	watch  client.Watch
	queued func() // called when a majority of the servers says that the lock is another's

	mu      sync.Mutex
	value   string  // of the call's records: all its rounds have the same
	seen    []int64 // the last ping read before the last SET was sent, by server
	sets    []vote  // answers to the last SET
	evals   []vote  // answers to the last script
	unclear []int   // SETs that may still make their record
	made    []bool  // a record was made and its removal not acknowledged
}

type observedKey struct{}

func observe(ctx context.Context, watch client.Watch, servers int) (context.Context, *observed) {
	o := &observed{
		watch: watch, queued: func() { client.Queued(ctx) },
		seen: make([]int64, servers), sets: make([]vote, servers), evals: make([]vote, servers),
		unclear: make([]int, servers), made: make([]bool, servers),
	}
	for i := range servers {
		o.sets[i].err, o.evals[i].err = errNotAsked, errNotAsked
	}
	return context.WithValue(ctx, observedKey{}, o), o
}

// errNotAsked is the answer of a server to which nothing was sent.
var errNotAsked = client.Definite(history.CodeRefused, "it was not asked")

// hook is the observer's end at the client of one server.
type hook struct {
	record.Connecting
	server int
}

// ProcessHook takes seen before the request can be sent, and looks at the answer before the library does.
func (h hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		o, _ := ctx.Value(observedKey{}).(*observed)
		if o == nil {
			return next(ctx, cmd)
		}
		seen := o.watch.Seen()
		err := ctx.Err()
		if err != nil { // the round's time was over before: with any error, nothing is sent
			err = fmt.Errorf("%w: %w", errNotAsked, err)
		} else {
			err = next(ctx, cmd)
		}
		switch cmd := cmd.(type) {
		case *redis.BoolCmd: // SET key value ... NX, to each server once a round
			if h.server == 0 {
				client.Asked(ctx)
			}
			o.set(h.server, fmt.Sprint(cmd.Args()[2]), seen, vote{err == nil && cmd.Val(), record.Judge(err)})
		case *redis.Cmd: // a script
			if err == nil || !strings.HasPrefix(err.Error(), "NOSCRIPT ") { // then it is sent again with its text
				n, _ := cmd.Int64()
				o.eval(h.server, vote{err == nil && n == 1, record.Judge(err)})
			}
		}
		return err
	}
}

func (o *observed) set(server int, value string, seen int64, v vote) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.value, o.seen[server], o.sets[server] = value, seen, v
	if !v.certain() {
		o.unclear[server]++
	}
	o.made[server] = o.made[server] || v.yes
	held := 0
	for _, v := range o.sets {
		if v.err == nil && !v.yes {
			held++
		}
	}
	if held > len(o.sets)/2 {
		o.queued()
	}
}

// eval takes a script's answer. In a call that asks for a lock it is a removal.
func (o *observed) eval(server int, v vote) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.evals[server] = v
	switch {
	case v.err != nil:
	case o.made[server]:
		o.made[server] = false
	case v.yes && o.unclear[server] > 0:
		o.unclear[server]--
	}
}

// votes are the answers to the last round of scripts.
func (o *observed) votes() []vote {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]vote{}, o.evals...)
}

// won is the outcome of the round that made the lock: where its record is, and the last ping read before any of the
// requests that made it was sent.
func (o *observed) won() (standings, int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := standingsOf(o.sets)
	seen := int64(-1)
	for i, v := range o.sets {
		if v.yes && (seen < 0 || o.seen[i] < seen) {
			seen = o.seen[i]
		}
		if o.unclear[i] > 0 && !v.yes {
			known[i] = unclear
		}
	}
	return known, max(seen, 0)
}

// settled reports whether nothing is left, nor can come, of a call that came to nothing.
func (o *observed) settled() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.unclear {
		if o.unclear[i] > 0 || o.made[i] {
			return false
		}
	}
	return true
}
