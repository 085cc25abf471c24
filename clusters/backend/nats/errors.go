package nats

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// outcome is what an error of a publish proves about it.
type outcome struct {
	is      error
	refused bool // it certainly had no effect, and never will
	why     string
}

// outcomes is searched in order; what is not in it is unknown. The unknown ones that are in it are those which one might take for
// definite: the reason is there so that none is moved.
var outcomes = []outcome{
	{nats.ErrReconnectBufExceeded, true, "there was no connection, and the client keeps nothing to send later (ReconnectBufSize)"},
	{jetstream.ErrNoStreamResponse, true, "the server that was asked knew of no leader of the stream, and passed it on to none"},
	{nats.ErrNoResponders, true, "the same, as the server says it"},

	{nats.ErrConnectionClosed, false, "is said of requests that wait for an answer, too"},
	{nats.ErrTimeout, false, "says when the client stopped waiting, nothing about the server"},
}

// judge makes a definite failure of an error that the table says is one, and leaves any other as it is.
func judge(err error) error {
	if err == nil || client.Certain(err) {
		return err
	}
	for _, o := range outcomes {
		if errors.Is(err, o.is) && o.refused {
			return &client.Error{Code: history.CodeRefused, Err: err}
		} else if errors.Is(err, o.is) {
			return err
		}
	}
	return err
}

// What a server answers if a key's last message is another than the publish expects: it publishes nothing. The second one is said while
// a publish of another is under way.
const (
	codeWrongLast        jetstream.ErrorCode = 10071
	codeWrongLastPending jetstream.ErrorCode = 10164
)

func isConflict(err error) bool {
	code := codeOf(err)
	return code == codeWrongLast || code == codeWrongLastPending
}

// lastOf is the revision that a conflict names as the key's last, 0 for none.
func lastOf(err error) (revision uint64) {
	var said *jetstream.APIError
	if errors.As(err, &said) {
		_, _ = fmt.Sscanf(said.Description, "wrong last sequence: %d", &revision)
	}
	return revision
}
