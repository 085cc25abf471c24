package record

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// outcome is what an error of a request proves about it.
type outcome struct {
	is      func(error) bool
	what    string
	refused bool // it certainly had no effect, and never will; otherwise that is unknown
	why     string
}

// outcomes is searched in order; what is not in it is unknown. The unknown ones that are in it are those which one might
// take for definite: the reason is there so that none is moved.
//
// The server's refusals hold for scripts as well as for commands: the scripts here begin with "#!lua", so Redis decides
// before it runs one whether it may write.
var outcomes = []outcome{
	{is(errNotSent), "connecting failed", true, "there was no connection to send it on"},
	{is(redis.ErrPoolTimeout), "no connection was free", true, "it was not given a connection, so nothing was sent"},
	{is(redis.ErrPoolExhausted), "no connection was free", true, "it was not given a connection, so nothing was sent"},
	{is(redis.ErrClosed), "the client is closed", true, "it was not given a connection, so nothing was sent"},
	{says("READONLY "), "READONLY", true, "a replica refuses to write before it runs a command"},
	{says("NOREPLICAS "), "NOREPLICAS", true, "too few replicas are in touch: refused before it runs (min-replicas-to-write)"},
	{says("LOADING "), "LOADING", true, "a server that reads its data refuses before it runs a command"},
	{says("MASTERDOWN "), "MASTERDOWN", true, "a replica without its primary refuses before it runs a command"},
	{says("MISCONF "), "MISCONF", true, "a server that cannot save refuses writes before it runs them"},
	{says("OOM "), "OOM", true, "a server that is full refuses writes before it runs them"},
	{says("BUSY "), "BUSY", true, "a server that runs a slow script refuses everything else"},
	{says("NOSCRIPT "), "NOSCRIPT", true, "there is no such script, so none was run"},
	{says("NOAUTH "), "NOAUTH", true, "refused before it runs"},
	{says("NOPERM "), "NOPERM", true, "refused before it runs"},
	{says("ERR max number of clients reached"), "ERR max number of clients reached", true, "the connection was refused"},

	{is(context.Canceled), "given up", false, "says when the client stopped waiting, nothing about the server"},
	{is(context.DeadlineExceeded), "no reply in time", false, "says when the client stopped waiting, nothing about the server"},
	{is(os.ErrDeadlineExceeded), "no reply in time", false, "says when the client stopped waiting, nothing about the server"},
	{is(io.EOF), "the connection ended", false, "the server may have run it before it closed the connection"},
	{is(io.ErrUnexpectedEOF), "the connection ended", false, "the server may have run it before it closed the connection"},
	{says("UNBLOCKED "), "UNBLOCKED", false, "is said of commands that were under way when a primary became a replica"},
	{says("ERR "), "ERR", false, "some are found before and some while a script runs"},
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

// says recognises a server's reply by how it begins.
func says(prefix string) func(error) bool {
	return func(err error) bool {
		var reply redis.Error
		return errors.As(err, &reply) && strings.HasPrefix(reply.Error(), prefix)
	}
}

// Judge makes a definite failure of an error that the table says is one, and leaves any other as it is. Some requests
// are given up before they are begun; the caller knows.
func Judge(err error) error {
	if err == nil || client.Certain(err) {
		return err
	}
	for _, o := range outcomes {
		if !o.is(err) {
			continue
		}
		if !o.refused {
			return err
		}
		return &client.Error{Code: history.CodeRefused, Err: err}
	}
	return err
}
