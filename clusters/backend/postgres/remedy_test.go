//go:build e2e

package postgres

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// What the page about resources tells users to write rejects a lower token, and no other.
func TestTheRemedyOfThePageRejectsAStaleWrite(t *testing.T) {
	page, err := os.ReadFile("../../resource/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, statement, _ := strings.Cut(string(page), "```sql\n")
	statement, _, found := strings.Cut(statement, "```")
	if !found {
		t.Fatal("the page has no statement")
	}
	c := startAlone(t, nil)
	run(t, c, "create table accounts (id int primary key, value text, token bigint not null default 0)", "insert into accounts (id) values (1)")
	err = c.nodes[0].ask(t.Context(), func(ctx context.Context, conn *pgx.Conn) error {
		for _, write := range []struct {
			value string
			token int64
			takes int64
		}{{"first", 33, 1}, {"first again", 33, 1}, {"second", 34, 1}, {"late", 33, 0}} {
			done, err := conn.Exec(ctx, statement, write.value, write.token, 1)
			if err != nil {
				return err
			}
			if done.RowsAffected() != write.takes {
				t.Errorf("%s with token %d changed %d rows, want %d", write.value, write.token, done.RowsAffected(), write.takes)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := value[string](t.Context(), c.nodes[0], "select value from accounts"); err != nil || got != "second" {
		t.Errorf("%q, %v", got, err)
	}
}
