package smallworld

import "slices"

// A Replicated service keeps sessions and, for each lock, a queue of entries whose first one has the lock. One server leads: it has each
// command in its log, and answers once a majority has it. Lease ends are the leader's to count; another leader counts all anew.

type operation int

const (
	opNothing operation = iota // a leader's first
	opOpen
	opEnqueue
	opRemove
	opEnd // of a session
)

type command struct {
	op      operation
	session *session
	entry   *entry
	byName  bool  // whoever has the lock
	token   int64 // opEnqueue
	untilNS int64 // opOpen: the end of the first lease
}

// same is what a command that is sent again is known by.
func (c command) same() int {
	number := 0
	switch {
	case c.entry != nil:
		number = c.entry.number
	case c.session != nil:
		number = c.session.number
	}
	same := number*10 + int(c.op)
	if c.byName {
		same += 5
	}
	return same
}

type answer struct {
	ok, granted bool
	token       int64
	notLeader   bool
	leader      int
}

type server struct {
	process
	index int

	log      []command
	synced   int // of it, on the disk
	logTerm  int // of the leader that it has the log from
	term     int
	leads    bool
	leaderIs int // -1: unknown

	// What a leader has in memory.
	table   *table
	commit  int
	acked   []int
	pending map[int]func(answer) // by the place in the log
	places  map[int]int          // in the log, by what a command is known by
	fromNS  int64                // it has led since, by the clock that it counts leases with
	expires map[*session]int64
	ending  map[*session]bool
	acks    map[int]int // by the length of the log
	lag     int         // of its count of the commands, since it was started again

	records []record // of a Quorum, by key
	tokens  int64
}

func newServer(w *world, n int) *server {
	s := &server{process: process{w: w, name: "n" + string(rune('1'+n))}, index: n, leaderIs: -1, records: make([]record, w.Keys)}
	if w.Lock.Recipe == Queue && n == 0 {
		s.lead(1)
	}
	return s
}

// table is what the log comes to.
type table struct {
	applied  int
	queues   [][]*slot
	slots    map[*entry]*slot
	sessions []*session // that live
	gone     map[*entry]bool
	ended    map[*session]bool
	results  map[int]bool
}

type slot struct {
	entry   *entry
	token   int64
	granted bool
	push    func(answer) // the last request for it
}

// need is how many have to have a command.
func (s *server) need() int {
	switch s.w.Lock.Defect {
	case CommitsWithTwo:
		return 2
	case CountsTheReachable:
		return len(s.w.connected(s))/2 + 1
	}
	return s.w.majority()
}

func (w *world) majority() int { return w.Lock.Servers/2 + 1 }

// clock is what leases are counted by.
func (s *server) clock() int64 {
	switch s.w.Lock.Defect {
	case LeasesByWallClock, RecordsByWallClock:
		return s.wall()
	}
	return s.w.Now
}

func (s *server) lead(term int) {
	s.leads, s.term, s.logTerm, s.leaderIs = true, term, term, s.index
	s.table = &table{queues: make([][]*slot, s.w.Keys), slots: map[*entry]*slot{}, gone: map[*entry]bool{}, ended: map[*session]bool{}, results: map[int]bool{}}
	s.commit, s.acked, s.pending, s.places = 0, make([]int, s.w.Lock.Servers), map[int]func(answer){}, map[int]int{}
	s.expires, s.ending, s.fromNS = map[*session]int64{}, map[*session]bool{}, s.clock()
	s.acks = map[int]int{}
	s.log = s.log[:len(s.log):len(s.log)]
	for i, c := range s.log {
		s.places[c.same()] = i
	}
	s.append(command{op: opNothing, session: &session{-term}})
}

func (s *server) append(c command) int {
	s.log = append(s.log, c)
	s.places[c.same()] = len(s.log) - 1
	s.sync()
	for _, f := range s.w.servers {
		if f != nil && f != s {
			s.replicate(f)
		}
	}
	s.advance()
	return len(s.log) - 1
}

// sync has the log on the disk: at once, or a while after it was answered for.
func (s *server) sync() {
	if s.w.Lock.Defect != AnswersBeforeSync {
		s.synced = len(s.log)
		return
	}
	log, term := len(s.log), s.logTerm
	s.after(400*ms, func() {
		if s.logTerm == term {
			s.synced = max(s.synced, min(log, len(s.log)))
		}
	})
}

func (s *server) replicate(f *server) {
	term, log := s.term, s.log[:len(s.log):len(s.log)]
	s.w.send(&s.process, &f.process, func() {
		if term < f.term {
			return
		}
		if f.leads && f != s {
			f.leads = false
		}
		f.term, f.leaderIs = term, s.index
		if f.logTerm != term || len(log) > len(f.log) {
			f.log, f.logTerm = log, term
			f.sync()
		}
		s.w.send(&f.process, &s.process, func() {
			if s.leads && s.term == term {
				s.acked[f.index] = max(s.acked[f.index], len(log))
				s.acks[len(log)]++
				s.advance()
			}
		})
	})
}

// advance applies what enough servers have.
func (s *server) advance() {
	s.acked[s.index] = len(s.log)
	sorted := slices.Clone(s.acked)
	slices.Sort(sorted)
	have := sorted[len(sorted)-s.need()]
	switch s.w.Lock.Defect {
	case AnswersBeforeCommit:
		have = len(s.log)
	case CountsAcksTwice:
		for n := s.commit + 1; n <= len(s.log); n++ {
			if 1+s.acks[n] >= s.need() {
				have = max(have, n)
			}
		}
	}
	s.commit = max(s.commit, have)
	for s.table.applied < s.commit {
		place := s.table.applied
		s.table.applied++
		a := s.apply(place, s.log[place])
		if reply := s.pending[place]; reply != nil {
			delete(s.pending, place)
			reply(a)
		}
	}
}

// propose is a client's request to have a command done. It may come again.
func (s *server) propose(c command, reply func(answer)) {
	if !s.leads {
		reply(answer{notLeader: true, leader: s.leaderIs})
		return
	}
	place, again := s.places[c.same()]
	switch {
	case !again:
		c.untilNS, c.token = s.w.Now+s.w.TTLNS, int64(len(s.log)+1-s.lag)
		place = s.append(c)
		if place < s.table.applied {
			reply(s.answerOf(place, c, reply))
		} else {
			s.pending[place] = reply
		}
	case place < s.table.applied && c.op == opEnqueue && len(s.w.connected(s)) < s.need():
		// Whether it still leads, and the queue is as it knows it, only a majority can tell.
	case place < s.table.applied:
		reply(s.answerOf(place, c, reply))
	default:
		s.pending[place] = reply
	}
}

// answerOf is what came of a command that was done.
func (s *server) answerOf(place int, c command, reply func(answer)) answer {
	if c.op == opEnqueue {
		return s.stands(c.entry, reply)
	}
	return answer{ok: s.table.results[place]}
}

// stands says how an entry stands.
func (s *server) stands(e *entry, reply func(answer)) answer {
	one := s.table.slots[e]
	switch {
	case one == nil && s.w.Lock.Defect == ForgetsQueue && !s.table.ended[e.session] && !s.table.gone[e]:
		return answer{ok: true}
	case one == nil:
		return answer{}
	}
	one.push = reply
	return answer{ok: true, granted: one.granted, token: one.token}
}

// inherit is how long a session lasts that a leader before this one has opened.
func (s *server) inherit(c command) {
	switch s.w.Lock.Defect {
	case LeasesOfTheOpening: // renewals are not in the log
		s.expires[c.session] = c.untilNS
	case LeaseEndsByWallClock: // as the other leader noted it, by its own clock
		if end, noted := s.w.leaseEnds[c.session]; noted {
			s.expires[c.session] = s.w.Now + end - s.wall()
		}
	}
}

// keepAlive extends a session, if a majority of the servers still follows.
func (s *server) keepAlive(of *session, reply func(answer)) {
	w := s.w
	t := s.table
	switch {
	case !s.leads:
		reply(answer{notLeader: true, leader: s.leaderIs})
		return
	case t.ended[of]:
		reply(answer{})
		return
	case !slices.Contains(t.sessions, of) || s.ending[of]:
		return // it is not known here yet, or was before
	}
	until := s.clock() + w.TTLNS
	confirmed := func() {
		if s.leads && !t.ended[of] && !s.ending[of] && s.table == t {
			s.expires[of] = max(s.expires[of], until)
			if w.Lock.Defect == LeaseEndsByWallClock {
				w.leaseEnds[of] = s.wall() + until - w.Now
			}
			reply(answer{ok: true})
		}
	}
	if w.Lock.Defect == OldLeaderRenews {
		confirmed()
		return
	}
	term, votes := s.term, 1
	if votes >= w.majority() {
		confirmed()
	}
	for _, f := range w.servers {
		if f == s {
			continue
		}
		w.send(&s.process, &f.process, func() {
			if f.term <= term {
				f.term = term
				w.send(&f.process, &s.process, func() {
					if votes++; votes == w.majority() && s.term == term {
						confirmed()
					}
				})
			}
		})
	}
}

// firstOwn is the first place in the log of the leader's own term.
func (s *server) firstOwn() int {
	return s.places[command{op: opNothing, session: &session{-s.term}}.same()]
}

// endLeases ends the sessions whose leases are over.
func (s *server) endLeases() {
	now := s.clock()
	for _, of := range slices.Clone(s.table.sessions) {
		until, known := s.expires[of]
		if !known {
			until = s.fromNS + s.w.TTLNS
		}
		if now >= until && !s.ending[of] {
			s.ending[of] = true
			s.propose(command{op: opEnd, session: of}, func(answer) {})
		}
	}
}
