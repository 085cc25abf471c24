package clusters

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
)

// Secured speaks TLS over a dialer's connections; config is nil for none. The server has to show a certificate for the name of the
// configuration, else for name, else for the host that is connected to.
func Secured(dial Dialer, config *tls.Config, name string) Dialer {
	if config == nil {
		return dial
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		host, _, _ := net.SplitHostPort(addr)
		own := config.Clone()
		own.ServerName = cmp.Or(own.ServerName, name, host)
		secure := tls.Client(conn, own)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, err
		}
		return secure, nil
	}
}
