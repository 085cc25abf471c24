package zookeeper

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// outcome is what an error of the library proves about the creation or removal of a node.
type outcome struct {
	err  error
	code string // of a definite failure; "" if unknown
	why  string
}

// outcomes is searched in order; what is not in it is unknown. The unknown ones that are in it are those which one might
// take for definite: the reason is there so that none is moved.
var outcomes = []outcome{
	{zk.ErrNoServer, history.CodeRefused,
		"the library says so only of requests that still wait to be sent, when it could connect to no server"},
	{zk.ErrNoNode, history.CodeNotOwned,
		"a delete found no such node: names are given once, so it never comes back (a create without its parent is made again)"},
	{zk.ErrSessionExpired, history.CodeRefused,
		"the leader checks the session before it turns a request into a change; and the library's own saying so is of requests that it did not send"},
	{zk.ErrSessionMoved, history.CodeRefused,
		"the leader refuses before it makes a change: the session is at another server by now"},
	{zk.ErrNoAuth, history.CodeRefused, "the leader checks before it makes a change"},
	{zk.ErrInvalidACL, history.CodeRefused, "the leader checks before it makes a change"},
	{zk.ErrNoChildrenForEphemerals, history.CodeRefused, "the leader checks before it makes a change"},
	{zk.ErrBadArguments, history.CodeRefused, "the leader checks before it makes a change"},
	{zk.ErrInvalidPath, history.CodeRefused, "the library checks before it sends"},
	{zk.ErrInvalidFlags, history.CodeRefused, "the library checks before it sends"},
	{zk.ErrNotLocked, history.CodeRefused, "Unlock of a zk.Lock whose Unlock was acknowledged before: the library sends nothing"},

	{zk.ErrConnectionClosed, "", "the request was sent, or not, and the change made, or not"},
	{zk.ErrClosing, "", "the library gives up everything when it closes, sent or not"},
	{zk.ErrAPIError, "", "says nothing about the change"},
	{zk.ErrNothing, "", "says nothing about the change"},
}

// judge makes a definite failure of an error that the table says is one, and leaves any other as it is.
func judge(err error) error {
	for _, o := range outcomes {
		if errors.Is(err, o.err) {
			if o.code == "" {
				return err
			}
			return &client.Error{Code: o.code, Err: err}
		}
	}
	return err
}

func isDefinite(err error) bool {
	var definite *client.Error
	return err == nil || errors.As(err, &definite)
}
