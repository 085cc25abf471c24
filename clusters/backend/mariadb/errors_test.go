package mariadb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"testing"

	"github.com/go-sql-driver/mysql"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/sqlsession"
	"lockcheck/clusters/testkit/clientkit"
)

func TestWhichErrorsAreDefinite(t *testing.T) {
	said := func(number uint16) error { return &mysql.MySQLError{Number: number} }
	for _, test := range []struct {
		err  error
		code string // "" if unknown
	}{
		{fmt.Errorf("%w: %w", sqlsession.ErrNotSent, io.EOF), history.CodeRefused},
		{said(1317), history.CodeCancelled},
		{said(1205), history.CodeBusy},
		{said(deadlock), history.CodeRefused},
		{said(1290), history.CodeRefused},

		{said(1927), ""},
		{said(1053), ""},
		{said(1180), ""},
		{driver.ErrBadConn, ""},
		{mysql.ErrInvalidConn, ""},
		{context.DeadlineExceeded, ""},
		{io.EOF, ""},
	} {
		t.Run(test.err.Error(), func(t *testing.T) { clientkit.WantJudged(t, judge(test.err, false), test.code) })
	}
}

// A node that is cut off while it sends a transaction to the others says the same as of a conflict.
func TestAConflictOfNodesIsNotDefinite(t *testing.T) {
	clientkit.WantJudged(t, judge(&mysql.MySQLError{Number: deadlock}, true), "")
}

func TestWithoutAListenerNothingIsSent(t *testing.T) {
	for _, factory := range []client.Factory{newGetLock, newRowLease, newForUpdate} {
		lock, _, _ := clientkit.Client(t, factory, client.Init{Endpoints: []string{"127.0.0.1:1"}, TTLMS: 1000}) // below the ports that the kernel gives away
		_, err := lock.Acquire(t.Context(), "k", true)
		clientkit.WantCode(t, err, history.CodeRefused)
	}
}
