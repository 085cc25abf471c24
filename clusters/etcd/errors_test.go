package etcd

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lockcheck/checker/history"
)

func TestWhichErrorsAreDefinite(t *testing.T) {
	for _, test := range []struct {
		err  error
		code string // "" for unknown
	}{
		{concurrency.ErrSessionExpired, history.CodeNotOwned},
		{concurrency.ErrLocked, history.CodeBusy},
		{rpctypes.ErrGRPCLeaseNotFound, history.CodeRefused},
		{rpctypes.ErrLeaseNotFound, history.CodeRefused},
		{rpctypes.ErrGRPCRequestTooManyRequests, history.CodeRefused},
		{rpctypes.ErrGRPCNoSpace, history.CodeRefused},

		{context.Canceled, ""},
		{fmt.Errorf("locking: %w", context.DeadlineExceeded), ""},
		{rpctypes.ErrGRPCTimeout, ""},
		{rpctypes.ErrTimeoutDueToLeaderFail, ""},
		{rpctypes.ErrGRPCLeaderChanged, ""},
		{rpctypes.ErrGRPCNoLeader, ""},
		{rpctypes.ErrGRPCStopped, ""},
		{status.Error(codes.Unavailable, "error reading from server: EOF"), ""},
		{status.Error(codes.ResourceExhausted, "grpc: received message larger than max"), ""},
		{status.Error(codes.Canceled, "context canceled"), ""},
		{errors.New("lost watcher waiting for delete"), ""},
	} {
		t.Run(test.err.Error(), func(t *testing.T) {
			if test.code == "" {
				wantUnknown(t, judge(test.err))
				return
			}
			wantCode(t, judge(test.err), test.code)
		})
	}
}

func TestEveryOutcomeHasItsReason(t *testing.T) {
	for _, o := range outcomes {
		if o.err == nil || o.why == "" {
			t.Errorf("%+v lacks an error or a reason", o)
		}
	}
}

// What went wrong after the put was acknowledged says nothing about the put.
func TestRefusalAfterTheKeyWasPutIsUnknown(t *testing.T) {
	for name, test := range map[string]struct {
		attempt *attempt
		err     error
		code    string
	}{
		"refused while waiting":               {&attempt{revision: 7, sent: true}, rpctypes.ErrTooManyRequests, ""},
		"refused while waiting, then removed": {&attempt{revision: 7, sent: true, gone: true}, rpctypes.ErrTooManyRequests, history.CodeCancelled},
		"refused at once":                     {&attempt{sent: true}, rpctypes.ErrTooManyRequests, history.CodeRefused},
		"cancelled and not sent":              {&attempt{}, context.Canceled, history.CodeRefused},
		"cancelled and sent":                  {&attempt{sent: true}, context.Canceled, ""},
		"expired while waiting":               {&attempt{revision: 7, sent: true}, concurrency.ErrSessionExpired, history.CodeNotOwned},
	} {
		t.Run(name, func(t *testing.T) {
			if test.code == "" {
				wantUnknown(t, test.attempt.judge(test.err))
				return
			}
			wantCode(t, test.attempt.judge(test.err), test.code)
		})
	}
}
