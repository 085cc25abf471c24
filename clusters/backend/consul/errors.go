package consul

import (
	"bytes"
	"errors"
	"net/http"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// outcome is what an answer with an error proves about a request for a lock.
type outcome struct {
	text    string // that it contains
	refused bool   // the request had no effect and never will have
	why     string
}

const invalidSession = "invalid session"

// outcomes is searched in order; what is not in it is unknown. The unknown ones that are in it are those which one might
// take for definite: the reason is there so that none is moved. Of Consul's answers only the text says what went wrong.
//
// A request that got no answer is unknown unless there was no connection to send it on, which is observed and not read from
// an error's text.
var outcomes = []outcome{
	{invalidSession, true, "found when the request was applied: the session is gone, and nothing was changed"},
	{"No cluster leader", true, "no server led that could have been asked; Consul's own servers repeat a request after it"},
	{"node is not the leader", true, "raft refuses before it appends"},
	{"rpc error getting client", true, "the server had no connection to the leader to send it on"},
	{"Missing node registration", true, "a session's node is looked up before anything is changed"},

	{"leadership lost while committing log", false, "the entry may be committed by the next leader"},
	{"rpc error making call", false, "the leader may have had it"},
	{"timed out enqueuing operation", false, "says when the server stopped waiting; not trusted to be before the append"},
	{"raft is already shutdown", false, "a server that ends says so of entries that are under way"},
}

// refused reports whether a request certainly did nothing.
func refused(x *exchange) bool {
	if x.status == 0 {
		return !x.sent
	}
	if x.status == http.StatusOK {
		return false
	}
	for _, o := range outcomes {
		if says(x, o.text) {
			return o.refused
		}
	}
	return false
}

// says reports whether the answer is an error with a text.
func says(x *exchange, text string) bool {
	return x.status != 0 && x.status != http.StatusOK && bytes.Contains(x.body, []byte(text))
}

var errHeld = errors.New("the lock was not to be had at once")

// judgeAcquire says what it means that the library did not get the lock; err is nil if it was given up, or only tried. Unless a
// request for the lock has no answer, nothing of it is left: the library ends the session that waited.
func (a *attempt) judgeAcquire(err error, givenUp bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.unclear:
		return client.Under(a.session, err)
	case givenUp:
		return client.Definite(history.CodeCancelled, "given up while it waited: %w", errors.Join(errHeld, err))
	case err == nil:
		return &client.Error{Code: history.CodeBusy, Err: errHeld}
	}
	return &client.Error{Code: history.CodeRefused, Err: err}
}
