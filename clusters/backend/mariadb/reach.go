package mariadb

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
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

// writer connects to the first server that takes writes. The server knows the session by its name, of which it holds a lock of its own.
func writer(ctx context.Context, to []reach, name string, within time.Duration) (conn, error) {
	errs := []error{sqlsession.ErrNotSent}
	for _, r := range to {
		config, err := r.config()
		if err != nil {
			return conn{}, err
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
			return c, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", r.endpoint, err))
	}
	return conn{}, errors.Join(errs...)
}

// newSessions prepares sessions at whichever server takes writes, which ends those that are silent for as long as a setting says.
func newSessions(init client.Init, watch client.Watch, idle ...string) (*sqlsession.Sessions[conn], error) {
	access := init.Access()
	var to []reach
	for _, endpoint := range init.Endpoints {
		to = append(to, reach{endpoint: endpoint, access: access, user: user, database: cmp.Or(sqlsession.SchemaFor(init), database)})
	}
	var silence time.Duration
	for _, name := range idle {
		if limit := seconds(init.Options[name]); limit > 0 && (silence == 0 || limit < silence) {
			silence = limit
		}
	}
	ttl := time.Duration(init.TTLMS) * time.Millisecond
	prefix := sqlsession.SchemaFor(init)
	driver := sqlsession.Driver[conn]{
		Connect: func(ctx context.Context, name string) (conn, error) {
			return writer(ctx, to, prefix+name, sqlsession.RequestTimeout(ttl))
		},
		Judge: judge, LastWords: lastWords,
		BetweenRequests: func(error) bool { return false }, // it ends a silent session without a word
	}
	return sqlsession.New(driver, init, watch, silence), nil
}
