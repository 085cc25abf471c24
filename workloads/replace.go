package workloads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockcheck/clusters/client"
)

// maxDeaths bounds how often a client that ended by itself is replaced at one place. Those that a fault or the harness ended
// do not count.
const maxDeaths = 20

const deathBackoff = 100 * time.Millisecond

// replace starts a successor for a client that is gone. It reports false if the place stays empty: too many have ended there
// by themselves, or the load is over. An error ends the run.
func (w *worker) replace(ctx context.Context) (replaced bool, err error) {
	if ctx.Err() != nil {
		return false, nil
	}
	if why := w.client.driver.Err(); errors.Is(why, client.ErrProtocol) {
		return false, w.run.unusable(w.client.name, why)
	}
	died := w.client.driver.Died()
	if err := w.client.kill(ctx); err != nil {
		return false, err
	}
	for {
		if died && !w.mayReplace(ctx) {
			return false, nil
		}
		next, err := w.startNext(ctx)
		if wrong := w.run.unfit(next, err); wrong != nil {
			return false, wrong
		}
		if err == nil {
			w.client = next
			return true, nil
		}
		var d *death
		if died = errors.As(err, &d); !died {
			return false, err
		}
		w.run.reportDeath(fmt.Sprintf("%s-%d", w.host, w.starts), d)
	}
}

// startNext starts the next client at this place.
func (w *worker) startNext(ctx context.Context) (*member, error) {
	w.starts++
	return w.run.fleet.start(ctx, w.host, fmt.Sprintf("%s-%d", w.host, w.starts), w.crashRand.Int64(), w.limits)
}

// mayReplace counts a client that ended by itself, and reports whether there is to be another: after a while, and while the
// load goes on.
func (w *worker) mayReplace(ctx context.Context) bool {
	if w.deaths++; w.deaths > maxDeaths {
		w.run.progress("client %s ended by itself %d times: no other is started in its place", w.host, w.deaths)
		return false
	}
	return w.pause(ctx, time.Duration(w.deaths)*w.backoff) && w.run.loading()
}
