package simulated

import (
	"fmt"
	"slices"
	"strconv"
)

// queueService keeps sessions and, for each lock, a queue of entries whose first one has the lock.
type queueService struct {
	w        *world
	rev      int64
	queues   map[string][]*entry
	sessions map[string]*session
	ending   bool // a session is, and with it what it queued for
}

// session is a lease at the service.
type session struct {
	id      string
	number  int64
	expires int64
	dead    bool
}

// entry is one request for a lock, in its queue.
type entry struct {
	key     string
	hold    *hold
	session *session
	token   string
	queued  bool
	granted bool
	gone    bool   // removed; one that was removed before it came to the queue does not get there
	notify  func() // the client, that it has the lock
}

// slack is how long after the end of a lease the service gets round to dropping it.
func (w *world) slack() int64 {
	if w.chance(0.1) {
		return w.up(1500 * ms)
	}
	return w.up(300 * ms)
}

// lifetime is how long an extended lease lasts by the server's own clock.
func (w *world) lifetime() int64 {
	if w.flawed(EarlyExpiry, 0.5) {
		return TTL / 4
	}
	return TTL - w.up(drift)
}

func (q *queueService) open() *session {
	q.rev++
	s := &session{id: fmt.Sprint("s", q.rev), number: q.w.up(1 << 40), expires: q.w.Now + q.w.lifetime()}
	q.sessions[s.id] = s
	q.watch(s)
	return s
}

// watch drops the session some time after its lease has run out.
func (q *queueService) watch(s *session) {
	q.w.At(s.expires, func() {
		if s.dead {
			return
		}
		if s.expires > q.w.Now {
			q.watch(s)
			return
		}
		q.w.After(q.w.slack(), func() {
			if s.expires > q.w.Now {
				q.watch(s)
				return
			}
			q.end(s)
		})
	})
}

// extend reports whether the session still lives.
func (q *queueService) extend(s *session) bool {
	switch {
	case s.dead:
		return q.w.flawed(LeaseRevived, 1)
	case q.w.Defect == ExtensionNotApplied:
		return true
	}
	s.expires = max(s.expires, q.w.Now+q.w.lifetime())
	return true
}

// end drops a session and all it queued for.
func (q *queueService) end(s *session) {
	if s.dead {
		return
	}
	s.dead = true
	if q.w.flawed(NeverFree, 1) {
		return
	}
	q.ending = true
	defer func() { q.ending = false }()
	for key := range q.w.Keys {
		for _, e := range slices.Clone(q.queues[keyName(key)]) {
			if e.session == s && !(q.w.Defect == GrantToTheDead && !e.granted) {
				q.remove(e)
			}
		}
	}
}

// enqueue reports whether the entry is in the queue. It may be asked again.
func (q *queueService) enqueue(e *entry) bool {
	switch {
	case e.session.dead || e.gone:
		return false
	case e.queued:
		if e.granted {
			e.notify()
		}
		return true
	}
	e.queued = true
	q.rev++
	e.token = strconv.FormatInt(q.number(e), 10)
	q.queues[e.key] = append(q.queues[e.key], e)
	q.promote(e.key)
	if queue := q.queues[e.key]; len(queue) == 2 && q.w.flawed(DoubleGrant, 0.3) {
		q.grant(e)
	}
	return true
}

// number is the token of a new entry.
func (q *queueService) number(e *entry) int64 {
	switch {
	case q.w.flawed(TokenRepeated, 0.3):
		return q.rev - 1 - q.w.up(3)
	case q.w.flawed(TokenBack, 0.3):
		return max(q.rev*10-1000, 1)
	case q.w.Defect == TokenBack:
		return q.rev * 10
	case q.w.Defect == TokenOfLease:
		return e.session.number
	}
	return q.rev
}

// promote grants the lock to the first in the queue.
func (q *queueService) promote(key string) {
	queue := q.queues[key]
	if len(queue) == 0 || slices.ContainsFunc(queue, func(e *entry) bool { return e.granted }) {
		return
	}
	next := queue[0]
	if q.w.flawed(QueueJumped, 0.5) {
		next = queue[len(queue)-1]
	}
	if q.w.flawed(NeverWoken, 0.05) || q.w.Defect == WokenByReleases && q.ending {
		next.notify = func() {}
	}
	q.grant(next)
}

func (q *queueService) grant(e *entry) {
	e.granted = true
	q.w.granted(e.hold)
	e.notify()
}

// remove reports whether the entry was in the queue.
func (q *queueService) remove(e *entry) bool {
	at := slices.Index(q.queues[e.key], e)
	if at < 0 {
		e.gone = true
		return false
	}
	q.queues[e.key] = slices.Delete(q.queues[e.key], at, at+1)
	e.gone = true
	if e.granted {
		q.w.ended(e.hold, q.w.Now)
	}
	q.promote(e.key)
	return true
}

// release is a client's request to remove its entry. It reports whether that entry was removed.
func (q *queueService) release(e *entry) bool {
	w := q.w
	switch {
	case e.granted && !e.gone && w.flawed(ReleaseNotDone, 0.3):
		return true
	case e.gone && w.flawed(ReleaseInvented, 1):
		return true
	case e.gone && (w.Defect == ReleaseByAnyone || w.Defect == UnlockByName):
		if queue := q.queues[e.key]; len(queue) > 0 {
			q.remove(queue[0])
		}
		return w.Defect == UnlockByName // it removed something, and cannot tell what
	}
	owned := q.remove(e)
	return owned && !w.flawed(ReleaseDenied, 0.3)
}
