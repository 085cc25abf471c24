package postgres

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/jackc/pgx/v5/pgconn"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/sqlsession"
)

// outcome is what an error of a request proves about it.
type outcome struct {
	is   func(error) bool
	what string
	code string // of a definite failure; "" if unknown
	why  string
}

// outcomes is searched in order; what is not in it is unknown. The unknown ones that are in it are those which one might
// take for definite: the reason is there so that none is moved.
//
// A request is one statement, in a transaction of its own or in one that is open: an error of level ERROR undoes it. What it
// does not undo is a session's advisory lock, so that a statement which may have got one is followed by a look (forget).
var outcomes = []outcome{
	{is(sqlsession.ErrNotSent), "no session", history.CodeRefused, "there was no connection to send it on"},
	{says("57014"), "query_canceled", history.CodeCancelled, "the server gave the statement up and undid it"},
	{says("55P03"), "lock_not_available", history.CodeBusy, "the server would have had to wait, and undid the statement"},
	{says("25006"), "read_only_sql_transaction", history.CodeRefused, "a standby refuses before it writes"},
	{says("57P03"), "cannot_connect_now", history.CodeRefused, "the server starts or stops, and let no session begin"},
	{says("53300"), "too_many_connections", history.CodeRefused, "the server let no session begin"},
	{says("40001"), "serialization_failure", history.CodeRefused, "the server undid the transaction"},
	{says("40P01"), "deadlock_detected", history.CodeRefused, "the server undid the transaction"},
	{says("42P01"), "undefined_table", history.CodeRefused, "found before the statement runs"},
	{says("25P02"), "in_failed_sql_transaction", history.CodeRefused, "refused before it runs"},
	{says("53100"), "disk_full", history.CodeRefused, "an ERROR: the statement was undone (when the log itself cannot be written the server crashes instead)"},
	{says("53200"), "out_of_memory", history.CodeRefused, "an ERROR: the statement was undone"},
	{says("57P05"), "idle_session_timeout", history.CodeRefused, "is said between two requests: a request that it answers was never read"},
	{says("25P03"), "idle_in_transaction_session_timeout", history.CodeRefused, "is said between two requests: a request that it answers was never read"},

	{pgconn.SafeToRetry, "conn closed", "", "pgx says that it is safe to retry, of requests too that it had sent when the connection ended"},
	{says("57P01"), "admin_shutdown", "", "may come while a commit that is made already waits for the standby"},
	{says("57P02"), "crash_shutdown", "", "the server ends at once, wherever it is"},
	{says("40003"), "statement_completion_unknown", "", "it says so"},
	{is(context.Canceled), "given up", "", "says when the client stopped waiting, nothing about the server"},
	{is(context.DeadlineExceeded), "no reply in time", "", "says when the client stopped waiting, nothing about the server"},
	{is(os.ErrDeadlineExceeded), "no reply in time", "", "says when the client stopped waiting, nothing about the server"},
	{is(io.EOF), "the connection ended", "", "the server may have run it before it closed the connection"},
	{is(io.ErrUnexpectedEOF), "the connection ended", "", "the server may have run it before it closed the connection"},
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

// says recognises a server's reply by its SQLSTATE.
func says(state string) func(error) bool {
	return func(err error) bool { return stateOf(err) == state }
}

// stateOf is the SQLSTATE of a server's reply, "" of any other error.
func stateOf(err error) string {
	var reply *pgconn.PgError
	if errors.As(err, &reply) {
		return reply.Code
	}
	return ""
}

// judge makes a definite failure of an error that the table says is one, and leaves any other as it is.
func judge(err error) error {
	if err == nil || client.Certain(err) {
		return err
	}
	for _, o := range outcomes {
		if !o.is(err) {
			continue
		}
		if o.code == "" {
			return err
		}
		return &client.Error{Code: o.code, Err: err}
	}
	return err
}

// lastWords are the replies with which a server ends a session.
var lastWords = []string{
	"57P01", // admin_shutdown: also pg_terminate_backend
	"57P02", // crash_shutdown
	"57P05", // idle_session_timeout
	"25P03", // idle_in_transaction_session_timeout
}

// betweenRequests reports whether the server ended the session because it was silent: then it had read nothing since.
func betweenRequests(err error) bool {
	state := stateOf(err)
	return state == "57P05" || state == "25P03"
}
