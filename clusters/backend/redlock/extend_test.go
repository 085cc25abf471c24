package redlock

import (
	"context"
	"errors"
	"testing"
	"time"

	"lockcheck/clusters/client/renewal"
)

// The time of the lease is over before any extension: of the users it is lost only for the one who looks at it.
func TestTheTimeOfALeaseIsLookedAtByTheCarefulUserAlone(t *testing.T) {
	for name, u := range map[string]usage{"redsync": careful, "redsync-extend": byExtend, "redsync-setnx-extend": setNXOnExtend} {
		t.Run(name, func(t *testing.T) {
			lost := make(chan error, 1)
			asked := make(chan struct{}, 1000)
			r := u.renew()(time.Second, time.Now(), func(context.Context) renewal.Round { asked <- struct{}{}; return renewal.Round{} }, func(why error) { lost <- why })
			defer r.Stop()
			if !u.byAnswers {
				if why := <-lost; !errors.Is(why, renewal.ErrOver) {
					t.Errorf("lost: %v", why)
				}
				return
			}
			for range 3 {
				<-asked
			}
			if len(lost) > 0 {
				t.Errorf("lost: %v", <-lost)
			}
		})
	}
}
