package record

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockcheck/clusters/client"
)

// Version of the client library that is used, for reports.
var Version = redis.Version()

// Options are what a careful author of a lock sets for connections to one server: every request is sent once, because
// a repeated SET NX finds the record that the lost one made; and it is given up after bound, because a lock that is not
// confirmed within a part of its lease is of no use.
func Options(addr string, bound time.Duration) *redis.Options {
	return &redis.Options{
		Addr: addr, MaxRetries: -1, DialerRetries: 1, Protocol: 2, DisableIdentity: true,
		// Connecting ends before the request does, so that it is known that nothing was sent.
		DialTimeout: bound * 2 / 3, ReadTimeout: bound, WriteTimeout: bound, PoolTimeout: bound, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// AccessOptions are Options for a server that wants to be shown something first.
func AccessOptions(addr string, access client.Access, bound time.Duration) (*redis.Options, error) {
	options := Options(addr, bound)
	options.Username, options.Password = access.Username, access.Password.Reveal()
	var err error
	options.TLSConfig, err = access.Config()
	return options, err
}

// Sentinels are where a client learns who the primary is.
type Sentinels struct {
	Master string   // the name under which they watch the primary
	Addrs  []string // host:port
	Login  bool     // they want to be shown what the servers are, too
	Bound  time.Duration
}

// FailoverOptions are the same for a client that follows the primary as the Sentinels name it.
func FailoverOptions(s Sentinels, access client.Access) (*redis.FailoverOptions, error) {
	options := &redis.FailoverOptions{
		MasterName: s.Master, SentinelAddrs: s.Addrs, MaxRetries: -1, DialerRetries: 1, Protocol: 2, DisableIdentity: true,
		DialTimeout: s.Bound * 2 / 3, ReadTimeout: s.Bound, WriteTimeout: s.Bound, PoolTimeout: s.Bound, ContextTimeoutEnabled: true,
		Username: access.Username, Password: access.Password.Reveal(),
	}
	if s.Login {
		options.SentinelUsername, options.SentinelPassword = options.Username, options.Password
	}
	var err error
	options.TLSConfig, err = access.Config()
	return options, err
}

// errNotSent marks what went wrong before a connection was there.
var errNotSent = errors.New("not connected, so nothing was sent")

// Connecting is a hook that marks the errors of connecting: after any of them, the request was not sent.
type Connecting struct{}

// DialHook marks the error.
func (Connecting) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNotSent, err)
		}
		return conn, nil
	}
}

// ProcessHook changes nothing.
func (Connecting) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook changes nothing.
func (Connecting) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
