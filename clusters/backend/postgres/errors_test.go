package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"lockcheck/checker/history"
	"lockcheck/clusters/client/sqlsession"
	"lockcheck/clusters/testkit/clientkit"
)

func TestWhichErrorsAreDefinite(t *testing.T) {
	said := func(state string) error { return &pgconn.PgError{Severity: "ERROR", Code: state} }
	for _, test := range []struct {
		err  error
		code string // "" if unknown
	}{
		{fmt.Errorf("%w: %w", sqlsession.ErrNotSent, io.EOF), history.CodeRefused},
		{said("57014"), history.CodeCancelled},
		{said("55P03"), history.CodeBusy},
		{said("25006"), history.CodeRefused},
		{said("57P03"), history.CodeRefused},
		{said("53300"), history.CodeRefused},
		{said("40001"), history.CodeRefused},
		{said("40P01"), history.CodeRefused},
		{said("42P01"), history.CodeRefused},
		{said("57P05"), history.CodeRefused},
		{said("25P03"), history.CodeRefused},

		{said("57P01"), ""},
		{said("57P02"), ""},
		{said("40003"), ""},
		{said("XX000"), ""},
		{said("08006"), ""},
		{context.Canceled, ""},
		{context.DeadlineExceeded, ""},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, ""},
		{io.EOF, ""},
		{io.ErrUnexpectedEOF, ""},
		{errors.New("57014, not from a server"), ""},
	} {
		t.Run(test.err.Error(), func(t *testing.T) {
			err := judge(test.err)
			if !errors.Is(err, test.err) {
				t.Errorf("the error is gone: %v", err)
			}
			clientkit.WantJudged(t, err, test.code)
		})
	}
}

func TestEveryOutcomeHasItsReason(t *testing.T) {
	for _, o := range outcomes {
		if o.is == nil || o.what == "" || o.why == "" {
			t.Errorf("%+v lacks something", o)
		}
	}
}
