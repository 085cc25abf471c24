//go:build e2e

package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/sqlsession"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
	"lockcheck/clusters/testkit/wire"
)

// rowOf is who has a lock of pglock's, "" if there is no row.
func rowOf(t *testing.T, c *single, key string) string {
	t.Helper()
	owner, err := value[string](t.Context(), c.nodes[0], "select coalesce(max(owner), '') from locks where name = $1", key)
	if err != nil {
		t.Fatal(err)
	}
	return owner
}

// replaced changes the number of a lock's row, as another's grant does.
const replaced = "update locks set record_version_number = nextval('locks_rvn')"

// betweenHeartbeats is the client, made to release only when a heartbeat was just answered. The library's release cancels one that is on its
// way, and goes by the number from before it: if that heartbeat took effect nevertheless, the row stays for the rest of its lease.
func betweenHeartbeats(ctx context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	beats := &beats{Watch: watch, last: map[string]time.Time{}}
	lock, ready, err := newLibrary(ctx, init, beats)
	return &releasedInTime{lock, beats, time.Duration(init.TTLMS) * time.Millisecond}, ready, err
}

// beats notes when a lease was last reported, from a grant's second report on: a heartbeat is sent at once when a lock was granted.
type beats struct {
	client.Watch
	mu   sync.Mutex
	last map[string]time.Time
}

func (b *beats) Lease(session string, seen int64, ttl time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, granted := b.last[session]
	b.last[session] = time.Time{}
	if granted {
		b.last[session] = time.Now()
	}
	b.Watch.Lease(session, seen, ttl)
}

func (b *beats) at(session string) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last[session]
}

// holdBetween holds up what a client sends, at a moment when none of its heartbeats is on its way.
func (b *beats) holdBetween(way *clientkit.Wire, session string, ttl time.Duration) {
	for {
		before := b.at(session)
		way.Hold(clientkit.ToServer)
		if !before.IsZero() && b.at(session).Equal(before) && time.Since(before) < ttl/heartbeats {
			return
		}
		way.LetGo(clientkit.ToServer)
		time.Sleep(time.Millisecond)
	}
}

type releasedInTime struct {
	client.Lock
	beats *beats
	ttl   time.Duration
}

func (l *releasedInTime) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	g, err := l.Lock.Acquire(ctx, key, try)
	if err != nil {
		return nil, err
	}
	return &released{g, l}, nil
}

type released struct {
	client.Grant
	of *releasedInTime
}

func (g *released) Release(ctx context.Context) (*bool, error) {
	for time.Since(g.of.beats.at(g.Session())) > g.of.ttl/heartbeats/2 {
		select {
		case <-time.After(time.Millisecond):
		case <-g.Grant.(*borrowed).beating.Done():
			return nil, client.Definite(history.CodeRefused, "nothing was sent: %w", errNoHeartbeat)
		}
	}
	return g.Grant.Release(ctx)
}

func TestTheLibraryExcludesAndHandsOver(t *testing.T) {
	c := startAlone(t, nil)
	init := backends.InitFor(c, lease)
	a, watched, ready := clientkit.Client(t, betweenHeartbeats, init)
	b, _, _ := clientkit.Client(t, betweenHeartbeats, init)
	if ready.Tokens != string(history.TokensNone) || ready.TokensReason == "" {
		t.Errorf("declares %+v", ready)
	}
	first := clientkit.Acquire(t, a, "k")
	if owner := rowOf(t, c, "k"); owner != first.Session() || first.Seen() == 0 {
		t.Errorf("the row's owner is %q, the session %q, granted after ping %d", owner, first.Session(), first.Seen())
	}
	_, err := b.Acquire(t.Context(), "k", true)
	clientkit.WantCode(t, err, history.CodeBusy)
	ctx, giveUp := context.WithTimeout(t.Context(), 5*lease/2) // two leases: the heartbeats keep it
	defer giveUp()
	_, err = b.Acquire(ctx, "k", false)
	clientkit.WantCode(t, err, history.CodeCancelled)
	clientkit.WantOwned(t, clientkit.Release(t, first), "true")
	second := clientkit.Acquire(t, b, "k")
	if second.Session() == first.Session() {
		t.Error("two grants have one session")
	}
	clientkit.WantOwned(t, clientkit.Release(t, second), "true")
	watched.WantNoLoss(t)
}

func TestEachAnsweredHeartbeatIsALease(t *testing.T) {
	c := startAlone(t, nil)
	lock, watched, _ := clientkit.Client(t, betweenHeartbeats, backends.InitFor(c, lease))
	g := clientkit.Acquire(t, lock, "k")
	clientkit.Eventually(t, "five leases", func() bool { return len(watched.Leases(g.Session())) >= 5 })
	for i, l := range watched.Leases(g.Session()) {
		if l.TTL != lease || l.Seen == 0 || i == 0 && l.Seen != g.Seen() {
			t.Errorf("report %d is %+v, of a grant after ping %d", i+1, l, g.Seen())
		}
	}
	clientkit.Release(t, g)
	watched.WantNoLoss(t)
}

// A client that is paused, as far as the server can see, loses the lock to one that finds its number twice.
func TestWhoFindsANumberTwiceTakesTheLock(t *testing.T) {
	c := startAlone(t, nil)
	way := clientkit.NewWire(t, c.Endpoints()[0])
	beats := &beats{last: map[string]time.Time{}}
	a, watched, _ := clientkit.Client(t, func(ctx context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
		beats.Watch = watch
		return newLibrary(ctx, init, beats)
	}, initBehind(c, way.Addr, lease))
	b, _, _ := clientkit.Client(t, betweenHeartbeats, backends.InitFor(c, lease))
	old := clientkit.Acquire(t, a, "k")
	beats.holdBetween(way, old.Session(), lease)
	next := clientkit.Acquire(t, b, "k")
	if owner := rowOf(t, c, "k"); owner != next.Session() {
		t.Errorf("%q has the row, and %q was granted", owner, next.Session())
	}
	watched.WantLoss(t, old.Session())
	way.LetGo(clientkit.ToServer)
	clientkit.WantOwned(t, clientkit.Release(t, old), "false") // no heartbeat that could have changed the number was sent
	if owner := rowOf(t, c, "k"); owner != next.Session() {
		t.Errorf("the old one's release left the row to %q", owner)
	}
	clientkit.WantOwned(t, clientkit.Release(t, next), "true")
}

func TestAHeartbeatThatFindsAnotherNumberIsALossThatTheServerSaid(t *testing.T) {
	c := startAlone(t, nil)
	lock, watched, _ := clientkit.Client(t, newLibrary, backends.InitFor(c, lease))
	g := clientkit.Acquire(t, lock, "k")
	run(t, c, replaced)
	watched.WantLoss(t, g.Session())
	if !watched.SaidEnded(g.Session()) {
		t.Error("that the server said so was not reported before")
	}
	clientkit.WantOwned(t, clientkit.Release(t, g), "false")
}

// A heartbeat whose reply is lost changes the number: the library's release then finds no row, and the row stays. That it does is no
// proof that the lock was another's.
func TestAnUnansweredHeartbeatMakesAReleaseThatFindsNothingUnknown(t *testing.T) {
	c := startAlone(t, nil)
	lock, watched, _ := clientkit.Client(t, newLibrary, backends.InitFor(c, lease))
	g := clientkit.Acquire(t, lock, "k")
	clientkit.Eventually(t, "a heartbeat", func() bool { return len(watched.Leases(g.Session())) >= 2 })
	run(t, c, slow("update")...)
	watched.WantLoss(t, g.Session())
	if watched.SaidEnded(g.Session()) {
		t.Error("the server said nothing that was heard")
	}
	run(t, c, "drop trigger later on locks", replaced) // as if it had come through, as far as anybody can tell
	err := sent(func() error { _, err := g.Release(t.Context()); return err })
	clientkit.WantUnknown(t, err)
	if owner := rowOf(t, c, "k"); owner != g.Session() {
		t.Errorf("the row is %q's", owner)
	}
}

// sent is what came of a request that was sent: within these leases a busy machine may not even connect, which proves nothing of the request.
func sent(request func() error) error {
	for {
		if err := request(); !errors.Is(err, sqlsession.ErrNotSent) {
			return err
		}
	}
}

// slow makes the server take longer than the tests' leases for a statement.
func slow(statement string) []string {
	return []string{
		"create function later() returns trigger language plpgsql as $$ begin perform pg_sleep(12); return coalesce(new, old); end $$",
		"create trigger later before " + statement + " on locks for each row execute function later()",
	}
}

func TestALibrarysRequestWithoutAnAnswerIsUnknownUnderItsOwner(t *testing.T) {
	c := startAlone(t, nil)
	lock, _, _ := clientkit.Client(t, newLibrary, backends.InitFor(c, lease))
	run(t, c, slow("insert")...)
	err := sent(func() error { _, err := lock.Acquire(t.Context(), "k", true); return err }) // given up while the server waits
	clientkit.WantUnknown(t, err)
	if client.SessionOf(err) == "" {
		t.Errorf("it can only have been granted under its owner, which it does not name: %v", err)
	}
}

// A grant that is not waited for any more, and that cannot be given back, is there for the rest of its lease: that nothing was sent
// is true of its release, not of its acquire.
func TestAGrantThatCannotBeGivenBackIsUnknown(t *testing.T) {
	c := startAlone(t, nil)
	way := clientkit.NewWire(t, c.Endpoints()[0])
	lock, _, _ := clientkit.Client(t, newLibrary, initBehind(c, way.Addr, lease))
	g := clientkit.Acquire(t, lock, "k").(*borrowed)
	way.Hold(clientkit.ToServer) // new connections, too
	way.Sever()
	ctx, giveUp := context.WithCancel(t.Context())
	giveUp()
	err := g.giveBack(ctx)
	clientkit.WantUnknown(t, err)
	if client.SessionOf(err) != g.Session() {
		t.Errorf("granted under %q, and it says under %q", g.Session(), client.SessionOf(err))
	}
	if owner := rowOf(t, c, "k"); owner != g.Session() {
		t.Errorf("the row is %q's", owner)
	}
}

// The release's reply is lost after it took effect. database/sql may ask once more on another connection, and would find nothing.
func TestALostReplyToTheLibrarysReleaseIsUnknown(t *testing.T) {
	c := startAlone(t, nil)
	way := clientkit.NewWire(t, c.Endpoints()[0])
	lock, watched, _ := clientkit.Client(t, newLibrary, initBehind(c, way.Addr, 10*time.Second))
	g := clientkit.Acquire(t, lock, "k")
	clientkit.Eventually(t, "a heartbeat", func() bool { return len(watched.Leases(g.Session())) >= 2 })
	answered := make(chan error, 1)
	wire.CutReply([]*clientkit.Wire{way}, 200*time.Millisecond, func() {
		go func() {
			_, err := g.Release(t.Context())
			answered <- err
		}()
	}, func() bool { return rowOf(t, c, "k") == "" })
	clientkit.WantUnknown(t, <-answered)
}

// A server that is silent does not keep a client from its end. Neither its answers nor the end of a lease come while the client closes.
func TestTheLibraryClosesInTimeThoughTheServerIsSilent(t *testing.T) {
	c := startAlone(t, nil)
	way := clientkit.NewWire(t, c.Endpoints()[0])
	lock, _, _ := clientkit.Client(t, newLibrary, initBehind(c, way.Addr, 10*clientkit.Timeout))
	clientkit.Acquire(t, lock, "k")
	clientkit.Acquire(t, lock, "k2")
	way.Hold(clientkit.ToClient)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		lock.Close(ctx)
	}()
	select {
	case <-closed:
	case <-time.After(10 * time.Second): // less than pgx's own 15 s for a request that is given up
		t.Error("it does not close while the server is silent")
		way.LetGo(clientkit.ToClient)
		<-closed
	}
}

func TestTheLibrarysReleaseWithoutAnAnswerIsUnknown(t *testing.T) {
	c := startAlone(t, nil)
	lock, _, _ := clientkit.Client(t, betweenHeartbeats, backends.InitFor(c, lease))
	g := clientkit.Acquire(t, lock, "k")
	run(t, c, slow("delete")...)
	_, err := g.Release(t.Context())
	clientkit.WantUnknown(t, err)
}

func TestTheLibraryCountsItsRequests(t *testing.T) {
	init := backends.InitFor(startAlone(t, nil), lease)
	clientkit.WantAttempts(t, clientkit.Serve(t, betweenHeartbeats, init), clientkit.Serve(t, betweenHeartbeats, init), "k", 1)
}

func TestClosingTheLibraryGivesEverythingBack(t *testing.T) {
	c := startAlone(t, nil)
	lock, watched, _ := clientkit.Client(t, newLibrary, backends.InitFor(c, 10*time.Second))
	g := clientkit.Acquire(t, lock, "k")
	clientkit.Eventually(t, "a heartbeat", func() bool { return len(watched.Leases(g.Session())) >= 2 }) // the next is 2.5 s later
	if err := lock.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	watched.WantNoLoss(t)
	if owner := rowOf(t, c, "k"); owner != "" {
		t.Errorf("%q has the row still", owner)
	}
	_, err := lock.Acquire(t.Context(), "k", false)
	clientkit.WantCode(t, err, history.CodeRefused)
}
