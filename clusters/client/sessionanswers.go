package client

import "time"

// answerTaker is a Watch that has guards to serve.
type answerTaker interface {
	answered(session string, seen int64, ttl time.Duration)
}

// Answered says that a server answered a request of a session, sent after ping seen, from which a careful user counts the
// session's time to live. It moves the deadline that guards go by (rule R9 in checker/RULES.md), and does not prove that
// the lease was extended (rule R5): the server that answers need not be the one that keeps the time.
// Where an answer does prove an extension, Watch.Lease says both.
func Answered(watch Watch, session string, seen int64, ttl time.Duration) {
	if taker, ok := watch.(answerTaker); ok {
		taker.answered(session, seen, ttl)
	}
}

func (w watch) answered(session string, seen int64, ttl time.Duration) {
	w.s.flags.answered(session, seen, ttl)
}

// answered notes what guards count from, without a word.
func (f *flags) answered(session string, seen int64, ttl time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.countFrom(session, seen, ttl)
}

// countFrom notes the request that a session's time counts from. Answers may be read in any order: what counts is the
// one that was sent last. Called with mu held.
func (f *flags) countFrom(session string, seen int64, ttl time.Duration) {
	if sent := f.heard.read(seen); !f.lost[session] && !sent.Before(f.leases[session].sent) {
		f.leases[session] = lease{sent: sent, ttl: ttl}
	}
}
