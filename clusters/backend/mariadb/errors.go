package mariadb

import (
	"errors"
	"slices"

	"github.com/go-sql-driver/mysql"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/sqlsession"
)

// definite are the server's replies that prove that a request came to nothing. All other errors are unknown, of which these might be
// taken for definite: a session that was killed (1927) or a server that ends (1053) may have run the statement before.
//
// A request is one statement, in a transaction of its own or in one that is open: an error undoes it. What it does not undo is a lock by
// GET_LOCK, so that a statement which may have got one is followed by a look (Forget).
var definite = map[uint16]struct{ code, why string }{
	1317:     {history.CodeCancelled, "query interrupted: the server gave the statement up and undid it"},
	1205:     {history.CodeBusy, "lock wait timeout: the statement was undone"},
	deadlock: {history.CodeRefused, "deadlock: the transaction was undone"},
	1290:     {history.CodeRefused, "a replica refuses before it writes"},
	1047:     {history.CodeRefused, "a node outside of its Galera cluster refuses before it runs a statement"},
	1040:     {history.CodeRefused, "too many connections: no session began"},
	1146:     {history.CodeRefused, "no such table: found before the statement runs"},
	1049:     {history.CodeRefused, "no such database: no session began"},
	1114:     {history.CodeRefused, "the table is full: the statement was undone"},
}

// numberOf is that of a server's reply, 0 of any other error.
func numberOf(err error) uint16 {
	var reply *mysql.MySQLError
	if errors.As(err, &reply) {
		return reply.Number
	}
	return 0
}

// deadlock is also the reply of a node of Galera whose transaction conflicts with another node's. It is then not definite: a node that is cut
// off while it sends the transaction says the same, and the others may have committed it.
const deadlock = 1213

// judge makes a definite failure of an error that is one, and leaves any other as it is.
func judge(err error, inGalera bool) error {
	if err == nil || client.Certain(err) {
		return err
	}
	if errors.Is(err, sqlsession.ErrNotSent) {
		return &client.Error{Code: history.CodeRefused, Err: err}
	}
	if known, ok := definite[numberOf(err)]; ok && !(inGalera && numberOf(err) == deadlock) {
		return &client.Error{Code: known.code, Err: err}
	}
	return err
}

// lastWords reports whether the server ended a session by this reply: it was killed, or the server stops.
func lastWords(err error) bool { return slices.Contains([]uint16{1927, 1053}, numberOf(err)) }
