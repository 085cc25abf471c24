package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"lockcheck/checker/history"
	"lockcheck/clusters/resource"
)

// keeperSQL makes the tables and the function of a resource under test.
//
//go:embed keeper.sql
var keeperSQL string

// ResourceSettings are what a server is told that is a resource under test: nothing, it keeps what it has acknowledged.
func (Backend) ResourceSettings() map[string]string { return nil }

// keeper is a PostgreSQL server as a resource under test.
type keeper struct{ pool *pgxpool.Pool }

// OpenResource makes a resource of the server at an address. It returns once its tables are there.
func (Backend) OpenResource(ctx context.Context, addr string) (resource.Keeper, error) {
	pool, err := pgxpool.New(ctx, fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable&application_name=lockcheck-resource&pool_max_conns=64", user, addr, database))
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, keeperSQL); err != nil {
		pool.Close()
		return nil, fmt.Errorf("making the tables of the resource: %w", err)
	}
	return &keeper{pool}, nil
}

func (s *keeper) Close() { s.pool.Close() }

func (s *keeper) Ping(ctx context.Context) error { return s.pool.Ping(ctx) }

// Handle is one statement, which is a transaction of its own, so one round trip.
func (s *keeper) Handle(ctx context.Context, kind history.Kind, ask resource.Ask) (line history.Request, err error) {
	line = history.Request{Request: ask.Request, Key: ask.Key, Kind: kind, Hold: ask.Hold, Token: ask.Token, Base: ask.Base}
	err = s.pool.QueryRow(ctx, "select outcome, value, mark from lockcheck_handle($1, $2, $3, $4, $5, $6, $7, $8)",
		ask.Key, ask.Request, string(kind), ask.Hold, ask.Token, ask.Value, ask.Base, ask.IdempotencyKey).Scan(&line.Outcome, &line.Value, &line.Mark)
	if err != nil {
		return line, fmt.Errorf("postgres: request %s: %w", ask.Request, err)
	}
	return line, nil
}

// Log is in the order in which each key's row was locked.
func (s *keeper) Log(ctx context.Context, pass func(history.Request) error) error {
	rows, err := s.pool.Query(ctx, "select request, key, kind, hold, token, value, base, outcome, mark, first from lockcheck_storage_log order by key, place")
	if err != nil {
		return err
	}
	var q history.Request
	_, err = pgx.ForEachRow(rows, []any{&q.Request, &q.Key, &q.Kind, &q.Hold, &q.Token, &q.Value, &q.Base, &q.Outcome, &q.Mark, &q.First}, func() error { return pass(q) })
	return err
}
