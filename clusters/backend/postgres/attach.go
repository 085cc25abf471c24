package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/sqlsession"
	"lockcheck/clusters/pair"
)

const (
	attachedTry     = 3 * time.Second // for one question, the making of a connection included; another machine may be far away
	attachedTimeout = 20 * time.Second
)

var (
	_ clusters.Attachable     = Backend{}
	_ clusters.AttachLayouter = Backend{}
)

// Credentials are users, whose password the server may ask for, and the database that they use.
func (Backend) Credentials() clusters.Credentials {
	return clusters.Credentials{Login: clusters.LoginUser, Part: client.OptionDatabase}
}

// AttachLayout refuses a pooler: lockcheck puts its own before a server that it starts.
func (b Backend) AttachLayout(endpoints int, opts clusters.Options) (clusters.Layout, error) {
	if pooled(opts.Settings) {
		return clusters.Layout{}, fmt.Errorf("%w: --%s=%s is for servers that lockcheck starts: with --%s, name the server behind your pooler",
			clusters.ErrUsage, clusters.FlagSet, pooler, clusters.FlagAttach)
	}
	return clusters.LayoutOfOthers(b, endpoints, opts)
}

// Attach keeps where the servers are: each question to one is a connection of its own.
func (Backend) Attach(to clusters.Attachment) (clusters.AttachedCluster, error) {
	c := &attached{AttachedService: clusters.AttachedServiceOf(to), to: to, schema: sqlsession.SchemaOf(to.Prefix)}
	for _, at := range to.Nodes {
		config, err := reach{endpoints: []string{at.Endpoint()}, access: to.Access, schema: c.schema}.config()
		if err != nil {
			return nil, fmt.Errorf("%w: postgres: %w", clusters.ErrUsage, err)
		}
		config.RuntimeParams["application_name"] = "lockcheck"
		config.ConnectTimeout = attachedTry
		dialing(config, to.DialNode(at))
		c.servers = append(c.servers, &attachedServer{at, c, config})
	}
	return c, nil
}

// attached is one server that others run, or a primary and its standbys. Of it, lockcheck knows one schema and the advisory locks of
// the run's names.
type attached struct {
	clusters.AttachedService
	to      clusters.Attachment
	servers []*attachedServer
	schema  string
}

type attachedServer struct {
	*clusters.AttachedNode
	cluster *attached
	config  *pgx.ConnConfig
}

// Place is the schema, and the locks that have no names: both are the database's.
func (c *attached) Place() string {
	return "tables in the schema " + c.schema + " and advisory locks (64-bit hashes of names that begin with " + c.to.Prefix + ") of the database " + databaseOf(c.to.Access)
}

// ClientOptions say where the run's tables are, too.
func (c *attached) ClientOptions() map[string]string {
	options := c.AttachedService.ClientOptions()
	options[sqlsession.OptionSchema] = c.schema
	for _, name := range silences {
		options[name] = c.to.Layout.Settings[name]
	}
	return options
}

// ask makes a connection for one question.
func (s *attachedServer) ask(ctx context.Context, question func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, attachedTry)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return question(ctx, conn)
}

// at asks a server for one value.
func at[T any](ctx context.Context, s *attachedServer, sql string, args ...any) (got T, err error) {
	err = s.ask(ctx, func(ctx context.Context, conn *pgx.Conn) error { return conn.QueryRow(ctx, sql, args...).Scan(&got) })
	return got, err
}

// Check looks at every server for what a run would make, of which there is nothing, and at which takes writes.
func (c *attached) Check(ctx context.Context) error {
	err := clusters.AskEvery(ctx, c.servers, func(ctx context.Context, s *attachedServer) error {
		_, err := s.existing(ctx)
		return err
	}, (*attachedServer).Unusable)
	if err == nil {
		_, err = c.primary(ctx)
	}
	return err
}

// Existing is the run's schema, and those of its advisory locks that are held, on any of the servers.
func (c *attached) Existing(ctx context.Context) (found []string, err error) {
	for _, s := range c.servers {
		some, err := s.existing(ctx)
		if err != nil {
			return nil, s.Unusable(err)
		}
		found = append(found, some...)
	}
	return found, nil
}

// existing takes the run's advisory locks for a moment: to find out who has them the server would have to go through those of others.
func (s *attachedServer) existing(ctx context.Context) (found []string, err error) {
	err = s.ask(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, `select 'schema ' || nspname from pg_namespace where nspname = $1 union all
			select 'a held advisory lock of ' || name from unnest($2::text[]) name where not pg_try_advisory_xact_lock(hashtextextended(name, 0))`,
			s.cluster.schema, s.cluster.to.Keys)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return found, err
}

// primary is the server that takes writes.
func (c *attached) primary(ctx context.Context) (*attachedServer, error) {
	return pair.Writer(ctx, called, "standbys", c.servers, func(ctx context.Context, s *attachedServer) (bool, error) {
		return at[bool](ctx, s, "select current_setting('transaction_read_only')::bool")
	})
}

// Ready makes the run's tables if they are not there, and writes to them. For how long sessions may be silent has to be as clients are told.
func (c *attached) Ready(ctx context.Context) error {
	s, err := c.primary(ctx)
	if err != nil {
		return err
	}
	if err := s.ask(ctx, c.enter); err != nil {
		return s.Unusable(err)
	}
	if _, err := s.write(ctx); err != nil {
		return s.Unusable(err)
	}
	return s.checkSilences(ctx)
}

// enter makes the tables, all or none.
func (c *attached) enter(ctx context.Context, conn *pgx.Conn) error {
	var there bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_namespace where nspname = $1)", c.schema).Scan(&there); err != nil || there {
		return err
	}
	return inTransaction(ctx, conn, append([]string{"create schema " + c.schema}, strings.Split(strings.TrimSpace(tables), "\n")...)...)
}

func inTransaction(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, sql := range statements {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	})
}

// silences are the settings after which the server ends a session that is silent.
var silences = []string{idleSession, idleTransaction}

// checkSilences compares them with what clients are told: they report a loss by these, and a session that ends sooner is one that no client
// explains. Servers older than a setting do not have it.
func (s *attachedServer) checkSilences(ctx context.Context) error {
	for _, name := range silences {
		got, err := at[string](ctx, s, "select coalesce((select setting from pg_settings where name = $1), '0')", name)
		if err != nil {
			return s.Unusable(err)
		}
		if want := s.cluster.to.Layout.Settings[name]; got != want {
			return fmt.Errorf("%w: PostgreSQL at %s has %s=%s for this user, where %s is expected: say --%s=%s=%s", clusters.ErrUsage, s.Place(), name, got, want, clusters.FlagSet, name, got)
		}
	}
	return nil
}

// write makes a plain write that no lock needs.
func (s *attachedServer) write(ctx context.Context) (int64, error) {
	return at[int64](ctx, s, probeWrite)
}

// Probe writes to the server that takes it.
func (c *attached) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, attachedTimeout, attachedTry, called, c.servers, func(ctx context.Context, s *attachedServer) error {
		_, err := s.write(ctx)
		return err
	})
}

// Remove drops the run's tables and then its schema, by their names: what else there is in it keeps it, and is an error. Sessions of clients that
// ended may hold it up for a moment.
func (c *attached) Remove(ctx context.Context) error {
	return clusters.Until(ctx, attachedTimeout, againEvery, func(ctx context.Context) error {
		s, err := c.primary(ctx)
		if err != nil {
			return err
		}
		err = s.ask(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			return inTransaction(ctx, conn,
				"set local lock_timeout = '1s'", // an answer that is given up would leave the request in the queue
				"set local client_min_messages = 'error'",
				"drop table if exists "+c.in("lockcheck_lease", "lockcheck_row", "lockcheck_probe", "locks"),
				"drop sequence if exists "+c.in("lockcheck_token"),
				"drop schema if exists "+c.schema)
		})
		if err != nil {
			return s.Unusable(err)
		}
		return nil
	})
}

// againEvery is how long something that holds up the removal is waited for.
const againEvery = 200 * time.Millisecond

// in names things in the run's schema.
func (c *attached) in(names ...string) string {
	for i := range names {
		names[i] = c.schema + "." + names[i]
	}
	return strings.Join(names, ", ")
}

// Versions is what the servers say of themselves.
func (c *attached) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, called, c.servers, func(ctx context.Context, s *attachedServer) (string, error) { return at[string](ctx, s, askVersion) })
	return map[string]string{Name: version}, err
}

// Close has nothing to end.
func (c *attached) Close() error { return nil }

// refusals are the SQLSTATEs with which a server turns down what a run needs, and what to do.
var refusals = map[string]string{
	"28P01": clusters.PasswordAdvice,
	"28000": "pg_hba.conf, or the user's attributes, keep it out: " + clusters.PasswordAdvice + "; " + clusters.TLSAdvice,
	"3D000": "name the database in --" + clusters.FlagAttachConfig + " (database: …); without it, it is called as the user",
	"42501": "the user needs the right to make a schema: GRANT CREATE ON DATABASE … TO …",
	"08P01": "is it a pooler such as PgBouncer? Locks hang on sessions: name the server behind it",
	"25006": "name the primary: locks are written",
}

// Unusable says why a server cannot be used, and what to do.
func (s *attachedServer) Unusable(err error) error {
	if errors.Is(err, clusters.ErrUsage) || errors.Is(err, clusters.ErrUnavailable) {
		return err
	}
	state := stateOf(err)
	switch advice := refusals[state]; {
	case advice != "":
		return fmt.Errorf("%w: PostgreSQL at %s turns this user down: %w: %s", clusters.ErrUsage, s.Place(), err, advice)
	case state != "":
		return fmt.Errorf("%w: PostgreSQL at %s refuses: %w", clusters.ErrUnavailable, s.Place(), err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: PostgreSQL at %s did not answer within %v: is it PostgreSQL, and %s", clusters.ErrUnavailable, s.Place(), attachedTry, clusters.TLSAdvice)
	}
	return fmt.Errorf("%w: PostgreSQL at %s: %w: is it PostgreSQL, and %s", clusters.ErrUnavailable, s.Place(), err, clusters.TLSAdvice)
}
