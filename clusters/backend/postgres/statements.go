package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"lockcheck/clusters/client"
)

// request is what a statement of pglock's is for.
type request string

const (
	asks    request = "INSERT"
	extends request = "UPDATE"
	removes request = "DELETE"
)

// errOtherNumber is the server's word that a grant is over.
var errOtherNumber = errors.New("the row is gone, or has another number")

// borrowedKey is where a context has the lock that its statements are for, statementKey the statement.
type borrowedKey struct{}

type statementKey struct{}

// statement is one that was sent for a lock.
type statement struct {
	of   *borrowed
	is   request
	seen int64
}

// statements observes what the library asks of the server and is answered, which it does not report. A heartbeat that was answered
// extends the lease: a client that finds its number from then on has to find it again, a lease later.
type statements struct{ watch client.Watch }

func (s statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	g, _ := ctx.Value(borrowedKey{}).(*borrowed)
	words := strings.Fields(data.SQL)
	if g == nil || len(words) == 0 {
		return ctx
	}
	sent := statement{g, request(words[0]), s.watch.Seen()}
	if sent.is == asks {
		client.Asked(ctx)
	}
	g.note(sent)
	return context.WithValue(ctx, statementKey{}, sent)
}

func (s statements) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	sent, ok := ctx.Value(statementKey{}).(statement)
	if !ok || sent.is != extends {
		return
	}
	g := sent.of
	switch unsure := g.doubt(data.Err != nil); {
	case data.Err != nil:
	case data.CommandTag.RowsAffected() == 1:
		g.leased()
		s.watch.Lease(g.session, sent.seen, g.from.ttl)
	case !unsure:
		s.watch.Ended(g.session, errOtherNumber)
	}
}

// note counts a statement that is sent.
func (g *borrowed) note(sent statement) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sent[sent.is]++
	if sent.is == asks {
		g.seen = sent.seen
	}
}

func (g *borrowed) requests(of request) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sent[of]
}

// doubt notes whether a heartbeat was not answered, and returns whether any was not.
func (g *borrowed) doubt(unanswered bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unsure = g.unsure || unanswered
	return g.unsure
}
