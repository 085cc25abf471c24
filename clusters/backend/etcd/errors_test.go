package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lockcheck/checker/history"
	"lockcheck/clusters/testkit/clientkit"
)

// recipes are all that there are; a client that is not in the table of clients is of no use.
var recipes = []recipe{mutexes, elections, leaseTxns, leaseIDTokens, unlockRetries}

func TestWhichErrorsAreDefinite(t *testing.T) {
	const unknown = ""
	server := map[error]string{
		rpctypes.ErrGRPCLeaseNotFound:          history.CodeRefused,
		rpctypes.ErrLeaseNotFound:              history.CodeRefused,
		rpctypes.ErrGRPCRequestTooManyRequests: history.CodeRefused,
		rpctypes.ErrGRPCNoSpace:                history.CodeRefused,
		rpctypes.ErrGRPCRequestTooLarge:        history.CodeRefused,

		context.Canceled: unknown,
		fmt.Errorf("locking: %w", context.DeadlineExceeded):                             unknown,
		rpctypes.ErrGRPCTimeout:                                                         unknown,
		rpctypes.ErrTimeoutDueToLeaderFail:                                              unknown,
		rpctypes.ErrGRPCTimeoutDueToConnectionLost:                                      unknown,
		rpctypes.ErrGRPCLeaderChanged:                                                   unknown,
		rpctypes.ErrGRPCNoLeader:                                                        unknown,
		rpctypes.ErrGRPCStopped:                                                         unknown,
		rpctypes.ErrGRPCUnhealthy:                                                       unknown,
		status.Error(codes.Unavailable, "error reading from server: EOF"):               unknown,
		status.Error(codes.ResourceExhausted, "grpc: received message larger than max"): unknown,
		status.Error(codes.Canceled, "context canceled"):                                unknown,
		errors.New("lost watcher waiting for delete"):                                   unknown,
	}
	mutex := map[error]string{
		concurrency.ErrSessionExpired: history.CodeNotOwned,
		concurrency.ErrLocked:         history.CodeBusy,
		concurrency.ErrLockReleased:   history.CodeRefused,
	}
	for name, own := range map[string]map[error]string{
		mutexes.name:       mutex,
		leaseIDTokens.name: mutex,
		unlockRetries.name: mutex,
		elections.name: {
			errNoTry: history.CodeRefused, errResigned: history.CodeRefused,
			concurrency.ErrElectionNotLeader: unknown,
			concurrency.ErrSessionExpired:    unknown, // no word of this recipe
		},
		leaseTxns.name: {
			errHeld: history.CodeBusy, errGivenUp: history.CodeCancelled, errLeaseEnd: history.CodeRefused, errGone: history.CodeNotOwned,
			concurrency.ErrLocked: unknown, // no word of this recipe
		},
	} {
		i := slices.IndexFunc(recipes, func(r recipe) bool { return r.name == name })
		for _, table := range []map[error]string{server, own} {
			for err, code := range table {
				t.Run(name+"/"+err.Error(), func(t *testing.T) {
					clientkit.WantJudged(t, judge(err, recipes[i].outcomes), code)
				})
			}
		}
	}
}

func TestEveryOutcomeHasItsReason(t *testing.T) {
	for _, r := range recipes {
		for _, o := range r.outcomes {
			if o.err == nil || o.why == "" {
				t.Errorf("%s: %+v lacks an error or a reason", r.name, o)
			}
		}
	}
}

func TestEveryRecipeIsListed(t *testing.T) {
	var listed, made []string
	for _, c := range (Backend{}).Clients() {
		listed = append(listed, c.Name)
		if c.New == nil || c.About == "" {
			t.Errorf("%s lacks its maker or its description", c.Name)
		}
	}
	for _, r := range recipes {
		made = append(made, r.name)
	}
	if !slices.Equal(listed, made) {
		t.Errorf("listed are %v, there are %v", listed, made)
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
			clientkit.WantJudged(t, test.attempt.judge(test.err, mutexOutcomes), test.code)
		})
	}
}
