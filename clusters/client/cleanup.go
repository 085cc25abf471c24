package client

import "context"

// cleanupTaker is a Watch whose harness hears of what a library tidies up by itself.
type cleanupTaker interface {
	nextPing() <-chan struct{}
	lostAfterRemoving(session string, seen int64, reason error)
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
	if taker, ok := watch.(cleanupTaker); ok {
		taker.lostAfterRemoving(session, seen, reason)
		return
	}
	watch.Lost(session, reason)
}

func (w watch) nextPing() <-chan struct{} { return w.s.flags.nextPing() }

func (w watch) lostAfterRemoving(session string, seen int64, reason error) {
	w.s.flags.lose(session, Report{Removed: true, Seen: seen, Error: text(reason)})
}
