package postgres

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// The library sends a heartbeat as soon as it has a lock: its answer can be here before the grant is. The grant's own lease is reported first all the same.
func TestAGrantsLeaseIsReportedBeforeThatOfAHeartbeat(t *testing.T) {
	watched := &clientkit.Watched{}
	g := &borrowed{from: &library{watch: watched, ttl: time.Second}, session: "s", sent: map[request]int{}}
	g.note(statement{g, asks, 1})
	ctx := context.WithValue(t.Context(), statementKey{}, statement{g, extends, 2})
	statements{watched}.TraceQueryEnd(ctx, nil, pgx.TraceQueryEndData{CommandTag: pgconn.NewCommandTag("UPDATE 1")})
	g.leased()
	if got, want := watched.Leases("s"), []clientkit.Lease{{Session: "s", Seen: 1, TTL: time.Second}, {Session: "s", Seen: 2, TTL: time.Second}}; !slices.Equal(got, want) {
		t.Errorf("reported are %+v, want %+v", got, want)
	}
}

func TestTheLibraryWithoutAListenerSendsNothing(t *testing.T) {
	lock, _, _ := clientkit.Client(t, newLibrary, client.Init{Endpoints: []string{"127.0.0.1:1"}, TTLMS: 1000}) // below the ports that the kernel gives away
	for _, try := range []bool{true, false} {
		_, err := lock.Acquire(t.Context(), "k", try)
		clientkit.WantCode(t, err, history.CodeRefused)
	}
}
