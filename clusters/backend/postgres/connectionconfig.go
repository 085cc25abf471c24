package postgres

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"lockcheck/clusters/client"
)

// reach is which servers are connected to, and as whom. Of what the environment says to PostgreSQL's own programs (PGPASSWORD, PGSERVICE,
// PGOPTIONS, ~/.pgpass) nothing is used.
type reach struct {
	endpoints []string // host:port, asked one after the other
	writes    bool     // only the one that takes writes will do
	access    client.Access
	schema    string // where the tables are; "" for where those of servers are that lockcheck started
}

// unsaid are what the environment, or a file that it names, would say otherwise. TLS is a matter of the access.
var unsaid = map[string]string{
	"sslmode": "disable", "sslnegotiation": "postgres", "sslcertmode": "disable", "sslrootcert": "", "sslcert": "", "sslkey": "", "passfile": "",
	"require_auth": "", "channel_binding": "prefer", "min_protocol_version": "", "max_protocol_version": "", "connect_timeout": "0",
}

// config is how pgx is told.
func (r reach) config() (*pgx.ConnConfig, error) {
	as, in := cmp.Or(r.access.Username, user), database
	if r.access.Username != "" {
		in = databaseOf(r.access)
	}
	attributes := "any"
	if r.writes {
		attributes = "read-write"
	}
	said := url.Values{"target_session_attrs": {attributes}}
	for name, value := range unsaid {
		said.Set(name, value)
	}
	where := url.URL{
		Scheme: "postgres", User: url.User(as), Host: strings.Join(r.endpoints, ","), Path: "/" + in, RawQuery: said.Encode(),
	}
	config, err := pgx.ParseConfig(where.String())
	if err != nil { // it is ours, and right
		return nil, fmt.Errorf("the servers %v: %w: is there a variable PGSERVICE that names what is not there? Unset it", r.endpoints, err)
	}
	config.RuntimeParams = map[string]string{} // PGOPTIONS, and whatever else is in the file of a PGSERVICE
	config.KerberosSpn, config.KerberosSrvName = "", ""
	config.Password = r.access.Password.Reveal()
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // a request is one round trip, and none depends on an earlier one
	if r.schema != "" {
		config.RuntimeParams["search_path"] = r.schema
	}
	secure, err := r.access.Config()
	if err != nil || secure == nil {
		return config, err
	}
	named := func(host string) *tls.Config {
		own := secure.Clone()
		own.ServerName = cmp.Or(own.ServerName, host)
		return own
	}
	config.TLSConfig = named(config.Host)
	for _, next := range config.Fallbacks {
		next.TLSConfig = named(next.Host)
	}
	return config, nil
}

// databaseOf is the database of a user, as libpq has it.
func databaseOf(access client.Access) string {
	return cmp.Or(access.Parts[client.OptionDatabase], access.Username)
}

// dialing has pgx connect by a dialer, which finds a host by itself.
func dialing(config *pgx.ConnConfig, dial func(ctx context.Context, network, addr string) (net.Conn, error)) {
	config.DialFunc = dial
	config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
}
