package mariadb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"lockcheck/clusters"
	"lockcheck/clusters/client/sqlsession"
	"lockcheck/clusters/pair"
)

const (
	attachedTry     = 3 * time.Second // for one question, the making of a connection included; another machine may be far away
	attachedTimeout = 20 * time.Second
	againEvery      = 200 * time.Millisecond // while something holds up the removal
)

var _ clusters.Attachable = Backend{}

// Credentials are users, whose password the server may ask for.
func (Backend) Credentials() clusters.Credentials {
	return clusters.Credentials{Login: clusters.LoginUser}
}

// Attach keeps where the servers are: each question to one is a connection of its own.
func (Backend) Attach(to clusters.Attachment) (clusters.AttachedCluster, error) {
	c := &attached{AttachedService: clusters.AttachedServiceOf(to), to: to, schema: sqlsession.SchemaOf(to.Prefix)}
	for _, at := range to.Nodes {
		config, err := reach{endpoint: at.Endpoint(), access: to.Access}.config()
		if err != nil {
			return nil, fmt.Errorf("%w: mariadb: %w", clusters.ErrUsage, err)
		}
		c.servers = append(c.servers, &attachedServer{at, c, config})
	}
	return c, nil
}

// attached is one server that others run, a primary and its replicas, or a Galera cluster. Of it, lockcheck knows one database and the named locks of
// the run.
type attached struct {
	clusters.AttachedService
	to      clusters.Attachment
	servers []*attachedServer
	schema  string
}

type attachedServer struct {
	*clusters.AttachedNode
	cluster *attached
	config  *mysql.Config
}

// Place is the database, and the locks by name, which belong to no database.
func (c *attached) Place() string {
	return "the database " + c.schema + " and locks by GET_LOCK with names that begin with " + c.to.Prefix + " or " + c.schema
}

// ClientOptions say where the run's tables are, too.
func (c *attached) ClientOptions() map[string]string {
	options := c.AttachedService.ClientOptions()
	options[sqlsession.OptionSchema] = c.schema
	maps.Copy(options, clientOptions(c.to.Layout.Settings))
	return options
}

// ask makes a connection for one question.
func (s *attachedServer) ask(ctx context.Context, question func(context.Context, conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, attachedTry)
	defer cancel()
	c, err := connect(ctx, s.config, s.cluster.to.DialNode(s.AttachedNode))
	if err != nil {
		return err
	}
	return errors.Join(question(ctx, c), c.Close(ctx))
}

// at asks a server for one value.
func at[T any](ctx context.Context, s *attachedServer, sql string, args ...any) (got T, err error) {
	err = s.ask(ctx, func(ctx context.Context, c conn) error { return c.QueryRowContext(ctx, sql, args...).Scan(&got) })
	return got, err
}

// Check looks at every server for what a run would make, of which there is nothing, and at which takes writes.
func (c *attached) Check(ctx context.Context) error {
	err := clusters.AskEvery(ctx, c.servers, func(ctx context.Context, s *attachedServer) error {
		said, err := at[string](ctx, s, askVersion)
		if err == nil && !strings.Contains(said, "MariaDB") {
			err = fmt.Errorf("%w: the server at %s says that it is %s: it is not MariaDB", clusters.ErrUnavailable, s.Place(), said)
		}
		return err
	}, (*attachedServer).Unusable)
	if err == nil {
		_, err = c.primary(ctx)
	}
	return err
}

// Existing is the run's database, and those of its named locks that are held, on any of the servers.
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

func (s *attachedServer) existing(ctx context.Context) (found []string, err error) {
	err = s.ask(ctx, func(ctx context.Context, c conn) error {
		there, err := c.Holds(ctx, "select exists (select 1 from information_schema.schemata where schema_name = ?)", s.cluster.schema)
		if err != nil {
			return err
		}
		if there {
			found = append(found, "the database "+s.cluster.schema)
		}
		for _, key := range s.cluster.to.Keys {
			held, err := c.Holds(ctx, "select is_used_lock(?) is not null", key)
			if err != nil {
				return err
			}
			if held {
				found = append(found, "a held lock by GET_LOCK, "+key)
			}
		}
		return nil
	})
	return found, err
}

// primary is the server that takes writes. Where all do, it is the first.
func (c *attached) primary(ctx context.Context) (*attachedServer, error) {
	if isGalera(c.to.Layout.Settings) {
		return c.servers[0], c.checkGroup(ctx)
	}
	return pair.Writer(ctx, called, "replicas", c.servers, func(ctx context.Context, s *attachedServer) (bool, error) {
		return at[bool](ctx, s, "select @@global.read_only")
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
	if err := s.write(ctx); err != nil {
		return s.Unusable(err)
	}
	return s.checkSilences(ctx)
}

// enter makes the run's database and its tables. A database that another made in the meantime is refused by the server.
func (c *attached) enter(ctx context.Context, on conn) error {
	there, err := on.Holds(ctx, "select exists (select 1 from information_schema.tables where table_schema = ? and table_name = 'lockcheck_probe')", c.schema)
	if err != nil || there {
		return err
	}
	for _, sql := range append([]string{"create database " + c.schema, "use " + c.schema}, tables...) {
		if _, err := on.ExecContext(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// checkSilences compares the settings after which a session ends with what clients are told: they report a loss by these, and a session that
// ends sooner is one that no client explains.
func (s *attachedServer) checkSilences(ctx context.Context) error {
	for _, name := range silences {
		got, err := at[string](ctx, s, "select @@session."+name)
		if err != nil {
			return s.Unusable(err)
		}
		if want := s.cluster.to.Layout.Settings[name]; got != want {
			return fmt.Errorf("%w: MariaDB at %s has %s=%s, where %s is expected: say --%s=%s=%s", clusters.ErrUsage, s.Place(), name, got, want, clusters.FlagSet, name, got)
		}
	}
	return nil
}

// write makes a plain write that no lock needs.
func (s *attachedServer) write(ctx context.Context) error {
	return s.ask(ctx, func(ctx context.Context, c conn) error {
		_, err := c.ExecContext(ctx, "update "+s.cluster.schema+".lockcheck_probe set value = value + 1")
		return err
	})
}

// Probe writes to the server that takes it.
func (c *attached) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, attachedTimeout, attachedTry, called, c.servers, func(ctx context.Context, s *attachedServer) error { return s.write(ctx) })
}

// Remove drops the run's tables by their names, and then its database: what else there is in it keeps it, and is an error. Sessions of clients
// that ended may hold it up for a moment.
func (c *attached) Remove(ctx context.Context) error {
	return clusters.Until(ctx, attachedTimeout, againEvery, func(ctx context.Context) error {
		s, err := c.primary(ctx)
		if err != nil {
			return err
		}
		return s.Unusable(s.ask(ctx, c.leave))
	})
}

func (c *attached) leave(ctx context.Context, on conn) error {
	there, err := on.Holds(ctx, "select exists (select 1 from information_schema.schemata where schema_name = ?)", c.schema)
	if err != nil || !there {
		return err
	}
	for _, sql := range []string{
		"set lock_wait_timeout = 1", "use " + c.schema, "drop table if exists lockcheck_lease, lockcheck_row, lockcheck_token, lockcheck_probe",
	} {
		if _, err := on.ExecContext(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	more, err := on.Holds(ctx, "select exists (select 1 from information_schema.tables where table_schema = ?)", c.schema)
	switch {
	case err != nil:
		return err
	case more:
		return fmt.Errorf("%w: the database %s has tables that are not the run's: drop them, or the database", clusters.ErrUsage, c.schema)
	}
	_, err = on.ExecContext(ctx, "drop database "+c.schema)
	return err
}

// Versions is what the servers say of themselves.
func (c *attached) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, called, c.servers, func(ctx context.Context, s *attachedServer) (string, error) { return at[string](ctx, s, askVersion) })
	return map[string]string{Name: version}, err
}

// Close has nothing to end.
func (c *attached) Close() error { return nil }

// refusals are the errors with which a server turns down what a run needs, and what to do.
var refusals = map[uint16]string{
	1045: clusters.PasswordAdvice,
	1130: "it lets no user in from this machine's address: CREATE USER …@'%'",
	1044: "the user needs the right to make a database: GRANT ALL ON `lockcheck\\_%`.* TO …",
	1142: "the user needs the right to make a database: GRANT ALL ON `lockcheck\\_%`.* TO …",
	3159: clusters.TLSAdvice,
	1290: "name the primary: locks are written",
}

// Unusable says why a server cannot be used, and what to do.
func (s *attachedServer) Unusable(err error) error {
	if err == nil || errors.Is(err, clusters.ErrUsage) || errors.Is(err, clusters.ErrUnavailable) {
		return err
	}
	number := numberOf(err)
	switch advice := refusals[number]; {
	case advice != "":
		return fmt.Errorf("%w: MariaDB at %s turns this user down: %w: %s", clusters.ErrUsage, s.Place(), err, advice)
	case number != 0:
		return fmt.Errorf("%w: MariaDB at %s refuses: %w", clusters.ErrUnavailable, s.Place(), err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: MariaDB at %s did not answer within %v: is it MariaDB, and %s", clusters.ErrUnavailable, s.Place(), attachedTry, clusters.TLSAdvice)
	}
	return fmt.Errorf("%w: MariaDB at %s: %w: is it MariaDB, and %s", clusters.ErrUnavailable, s.Place(), err, clusters.TLSAdvice)
}
