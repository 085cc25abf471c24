package mariadb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"lockcheck/clusters"
	"lockcheck/clusters/pair"
)

// replicated is a primary and its replica.
type replicated struct{ *single }

var (
	_ clusters.Cluster         = (*replicated)(nil)
	_ clusters.LeaderReporter  = (*replicated)(nil)
	_ clusters.FailoverTrigger = (*replicated)(nil)
)

// Leader is the server that is not a replica.
func (r *replicated) Leader(ctx context.Context) (string, error) { return pair.Leader(ctx, r.nodes) }

// Standing names the primary.
func (r *replicated) Standing(ctx context.Context) (string, error) {
	leader, err := r.Leader(ctx)
	return cmp.Or(leader, "no server") + " is the primary, its replica is asynchronous", err
}

// Ready returns once both servers answer, one is the primary and the other replicates it; and a write to the primary was read from both.
func (r *replicated) Ready(ctx context.Context) error {
	return r.settled(ctx, func(ctx context.Context) error {
		if err := pair.AllAnswer(ctx, called, r.nodes); err != nil {
			return err
		}
		primary, err := pair.Primary(ctx, r.nodes)
		if err != nil {
			return err
		}
		if err := pair.Other(r.nodes, primary).replicates(ctx); err != nil {
			return err
		}
		return r.verify(ctx, primary)
	})
}

// applyTimeout is how long a replica may take to apply what it was sent before its primary was lost.
const applyTimeout = 5

// promote has a replica take the primary's place, once it has applied what it was sent.
func (n *node) promote(ctx context.Context) error {
	return n.ask(ctx, func(ctx context.Context, c conn) error {
		if _, err := c.ExecContext(ctx, "stop slave io_thread"); err != nil {
			return err
		}
		status, err := statusOf(ctx, c)
		if err != nil {
			return err
		}
		var waited int
		if err := c.QueryRowContext(ctx, "select master_gtid_wait(?, ?)", status["Gtid_IO_Pos"], applyTimeout).Scan(&waited); err != nil {
			return err
		}
		if waited != 0 {
			return fmt.Errorf("it has not applied %s within %d s: %s", status["Gtid_IO_Pos"], applyTimeout, status["Last_SQL_Error"])
		}
		for _, sql := range []string{"stop slave", "reset slave all", "set global read_only = 0"} {
			if _, err := c.ExecContext(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	})
}

// replicates is an error unless the server is connected to its primary and applies what it is sent.
func (n *node) replicates(ctx context.Context) error {
	return n.ask(ctx, func(ctx context.Context, c conn) error {
		status, err := statusOf(ctx, c)
		if err == nil && (status["Slave_IO_Running"] != "Yes" || status["Slave_SQL_Running"] != "Yes") {
			err = fmt.Errorf("the replica %s does not replicate: connected: %q, applies: %q: %s%s", n.Name(), status["Slave_IO_Running"], status["Slave_SQL_Running"],
				status["Last_IO_Error"], status["Last_SQL_Error"])
		}
		return err
	})
}

// statusOf is what a server says of its replication, by the names of its columns; empty for one that is no replica.
func statusOf(ctx context.Context, c conn) (map[string]string, error) {
	rows, err := c.QueryContext(ctx, "show slave status")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil || !rows.Next() {
		return nil, errors.Join(err, rows.Err())
	}
	values := make([]sql.NullString, len(names))
	into := make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	err = rows.Scan(into...)
	status := map[string]string{}
	for i, name := range names {
		status[name] = values[i].String
	}
	return status, err
}

// Failover kills the primary and promotes its replica.
func (r *replicated) Failover(ctx context.Context) error {
	return pair.Failover(ctx, r.nodes, func(ctx context.Context, next *node) error {
		return pair.Promote(ctx, next, lookEvery, next.promote,
			func(ctx context.Context) error {
				_, err := next.Write(ctx)
				return err
			})
	})
}
