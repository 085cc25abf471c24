package workloads

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
)

// waiters knows from the history which acquires wait for a lock, and from the beginning of the phase waiting on which locks
// one of them was granted. What the checker does not wait for is not waited for: under a session that has ended nothing can be
// granted any more.
type waiters struct {
	pending map[int64]pendingAcquire // by operation
	known   map[string]bool          // sessions
	session map[string]string        // by client, the one that began last
	ended   map[string]int64         // by client: when its last session was confirmed to have ended
	phase   bool
	granted map[string]bool // by key
}

// pendingAcquire is an acquire that was not answered yet.
type pendingAcquire struct {
	client, key string
	sinceNS     int64
}

func newWaiters() waiters {
	return waiters{pending: map[int64]pendingAcquire{}, known: map[string]bool{}, session: map[string]string{}, ended: map[string]int64{}, granted: map[string]bool{}}
}

func (w *waiters) take(event history.Event) {
	switch {
	case event.F == history.Phase:
		w.phase = event.Value == history.PhaseWaiting
	case event.F == history.Acquire && event.Type == history.Invoke:
		if !event.Try {
			w.pending[event.Op] = pendingAcquire{event.Client, event.Key, event.TimeNS}
		}
	case event.F == history.Acquire:
		if _, waited := w.pending[event.Op]; waited && w.phase && event.Type == history.OK {
			w.granted[event.Key] = true
		}
		delete(w.pending, event.Op)
		w.follow(event)
	case event.F == history.Renew && event.Op == 0 && event.Session != "":
		w.follow(event)
	}
}

// follow knows the last session of each client. While it has a later one than that which ended, an acquire may be under that.
func (w *waiters) follow(event history.Event) {
	switch last := w.session[event.Client]; {
	case event.Session == "":
	case event.Type == history.OK && !w.known[event.Session]:
		w.known[event.Session], w.session[event.Client] = true, event.Session
		delete(w.ended, event.Client)
	case event.F == history.Renew && event.Type == history.Fail && event.Hold == "" && last == event.Session && w.ended[event.Client] == 0:
		w.ended[event.Client] = event.TimeNS
	}
}

// giveUp takes an acquire out, unless it is the last that waits for its lock.
func (w *waiters) giveUp(op int64) bool {
	of, waits := w.pending[op]
	if !waits {
		return false
	}
	for other, with := range w.pending {
		if other != op && with.key == of.key {
			delete(w.pending, op)
			return true
		}
	}
	return false
}

// hanging are those who wait for a lock that none of them was granted, by lock and then by how long they wait.
func (w *waiters) hanging() (all []pendingAcquire) {
	for _, of := range w.pending {
		if ended := w.ended[of.client]; !w.granted[of.key] && (ended == 0 || ended < of.sinceNS) {
			all = append(all, of)
		}
	}
	slices.SortFunc(all, func(a, b pendingAcquire) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.sinceNS, b.sinceNS))
	})
	return all
}

// hangingWords say who waits for what: "c2 and c4 still wait for k1, and c1 for k2".
func hangingWords(all []pendingAcquire) string {
	var locks []string
	for i := 0; i < len(all); {
		var clients []string
		key := all[i].key
		for ; i < len(all) && all[i].key == key; i++ {
			clients = append(clients, all[i].client)
		}
		verb := ""
		if len(locks) == 0 {
			verb = " still waits"
			if len(clients) > 1 {
				verb = " still wait"
			}
		}
		locks = append(locks, fmt.Sprintf("%s%s for %s", listed(clients), verb, key))
	}
	return listed(locks)
}

func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
