package client

import "context"

// cleanupTaker is a Watch whose harness hears of what a library tidies up by itself.
type cleanupTaker interface {
	nextPing() <-chan struct{}
	lostAfter(session string, loss Report)
}

// Tidying says that the library is about to remove a record without having been asked to, before it tells its user of a loss. It
// returns the number of the next ping, once that was read, so that the request is known to have been sent after it. An error
// means that ctx is done before that.
func Tidying(ctx context.Context, watch Watch) (seen int64, err error) {
	if taker, ok := watch.(cleanupTaker); ok {
		select {
		case <-taker.nextPing():
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return watch.Seen(), nil
}

// LostAfterRemoving is Watch.Lost of a library that had removed a record by then, by a request sent after ping seen, and the
// service's answer does not say whose record that was: it may have been another's (rule J5 in checker/RULES.md).
func LostAfterRemoving(watch Watch, session string, seen int64, reason error) {
	lostAfter(watch, session, Report{Removed: true, Seen: seen, Error: text(reason)}, reason)
}

// LostAfterGivingBack is Watch.Lost of a library that had sent a request by then, after ping seen, which may have removed the record of this
// very grant: from there on the service may grant the lock to others (rule R5 in checker/RULES.md).
func LostAfterGivingBack(watch Watch, session string, seen int64, reason error) {
	lostAfter(watch, session, Report{Seen: seen, Error: text(reason)}, reason)
}

func lostAfter(watch Watch, session string, loss Report, reason error) {
	if taker, ok := watch.(cleanupTaker); ok {
		taker.lostAfter(session, loss)
		return
	}
	watch.Lost(session, reason)
}

func (w watch) nextPing() <-chan struct{} { return w.s.flags.nextPing() }

func (w watch) lostAfter(session string, loss Report) { w.s.flags.lose(session, loss) }
