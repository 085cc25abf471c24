package mariadb

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"lockcheck/clusters/client"
	"lockcheck/clusters/client/sqlsession"
)

// reach is how one server is connected to, and as whom.
type reach struct {
	endpoint string
	access   client.Access // whose username is "" for servers that lockcheck started
	user     string        // at those
	database string        // "" for none
	synced   bool          // a node of Galera answers once it has all that any node acknowledged before
}

// config is how the driver is told.
func (r reach) config() (*mysql.Config, error) {
	config := mysql.NewConfig()
	config.User, config.Passwd = cmp.Or(r.access.Username, r.user), r.access.Password.Reveal()
	config.Net, config.Addr, config.DBName = "tcp", r.endpoint, r.database
	config.InterpolateParams = true // a request is one round trip
	config.ClientFoundRows = true   // a row that is written as it was counts as changed
	config.CheckConnLiveness = false
	config.Logger = &mysql.NopLogger{}
	if r.synced {
		const readsAndChanges = "7"
		config.Params = map[string]string{"wsrep_sync_wait": readsAndChanges}
	}
	secure, err := r.access.Config()
	if err != nil || secure == nil {
		return config, err
	}
	host, _, err := net.SplitHostPort(r.endpoint)
	config.TLS = secure.Clone()
	config.TLS.ServerName = cmp.Or(config.TLS.ServerName, host)
	config.TLS.MinVersion = max(config.TLS.MinVersion, tls.VersionTLS12)
	return config, err
}

// errReadOnly is for a server that is a replica.
var errReadOnly = errors.New("it takes no writes")

// writer connects to a server that takes writes, and says which: from the one with a number on, it asks one after the other. The server knows the
// session by its name, of which it holds a lock of its own.
func writer(ctx context.Context, to []reach, from int, name string, within time.Duration) (conn, int, error) {
	errs := []error{sqlsession.ErrNotSent}
	for i := range to {
		number := (from + i) % len(to)
		r := to[number]
		config, err := r.config()
		if err != nil {
			return conn{}, from, err
		}
		c, err := func() (conn, error) {
			ctx, cancel := context.WithTimeout(ctx, within)
			defer cancel()
			c, err := connect(ctx, config, sqlsession.Dial)
			if err != nil {
				return c, err
			}
			var readOnly bool
			var named int
			err = c.QueryRowContext(ctx, "select connection_id(), @@global.read_only, get_lock(?, 0)", name).Scan(&c.id, &readOnly, &named)
			switch {
			case err == nil && readOnly:
				err = errReadOnly
			case err == nil && named != 1:
				err = fmt.Errorf("another session is called %s", name)
			}
			if err != nil {
				c.Cut()
				return c, errors.Join(err, c.db.Close())
			}
			return c, nil
		}()
		if err == nil {
			return c, number, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", r.endpoint, err))
	}
	return conn{}, from, errors.Join(errs...)
}

// first is where a client looks first for a server that takes writes. Where all do, the clients that a run begins with are spread over them:
// their seeds follow one another.
func first(init client.Init) int {
	if !isGalera(init.Options) || len(init.Endpoints) == 0 {
		return 0
	}
	return int(uint64(init.Seed) % uint64(len(init.Endpoints)))
}

// newSessions prepares sessions at whichever server takes writes, which ends those that are silent for as long as a setting says.
func newSessions(init client.Init, watch client.Watch, idle ...string) (*sqlsession.Sessions[conn], error) {
	access, inGalera := init.Access(), isGalera(init.Options)
	var to []reach
	for _, endpoint := range init.Endpoints {
		to = append(to, reach{endpoint: endpoint, access: access, user: user, database: cmp.Or(sqlsession.SchemaFor(init), database), synced: inGalera})
	}
	var silence time.Duration
	for _, name := range idle {
		if limit := seconds(init.Options[name]); limit > 0 && (silence == 0 || limit < silence) {
			silence = limit
		}
	}
	ttl := time.Duration(init.TTLMS) * time.Millisecond
	prefix := sqlsession.SchemaFor(init)
	var at atomic.Int64 // the server that took the last session: no other one knows what hangs on that
	at.Store(int64(first(init)))
	driver := sqlsession.Driver[conn]{
		Connect: func(ctx context.Context, name string) (conn, error) {
			c, number, err := writer(ctx, to, int(at.Load()), prefix+name, sqlsession.RequestTimeout(ttl))
			at.Store(int64(number))
			return c, err
		},
		Judge: func(err error) error { return judge(err, inGalera) }, LastWords: lastWords,
		BetweenRequests: func(error) bool { return false }, // it ends a silent session without a word
	}
	return sqlsession.New(driver, init, watch, silence), nil
}
