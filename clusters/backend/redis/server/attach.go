package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockcheck/clusters"
)

const (
	attachedTry     = 2 * time.Second // for one question; another machine may be far away
	attachedTimeout = 20 * time.Second
	maxExisting     = 10  // keys that are named
	batch           = 500 // commands sent at once
)

// KeysOf is where locks keep their records.
type KeysOf struct {
	Record  func(lock string) string
	Counter func(lock string) string // of tokens; nil for none
}

// Attach prepares connections to servers that others run. Of them lockcheck knows the keys of the run's locks, each by its name:
// to find keys by a pattern, a server would have to go through all that it has.
func Attach(to clusters.Attachment, of KeysOf) (clusters.AttachedCluster, error) {
	c := &attached{AttachedService: clusters.AttachedServiceOf(to), to: to, probe: of.Record(to.ProbeKey()), place: "keys that begin with " + of.Record(to.Prefix)}
	c.keys = []string{c.probe}
	for _, lock := range to.Keys {
		c.keys = append(c.keys, of.Record(lock))
		if of.Counter != nil {
			c.keys = append(c.keys, of.Counter(lock))
		}
	}
	for _, node := range to.Nodes {
		options, err := AttachedOptions(to, node)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.servers = append(c.servers, &attachedServer{node, c, redis.NewClient(options)})
	}
	return c, nil
}

// AttachedOptions are for the harness's one connection to a server that others run. Errors wrap ErrUsage.
func AttachedOptions(to clusters.Attachment, node *clusters.AttachedNode) (*redis.Options, error) {
	config, err := to.Access.Config()
	if err != nil {
		return nil, fmt.Errorf("%w: redis: %w", clusters.ErrUsage, err)
	}
	options := Options(clusters.Secured(to.DialNode(node), config, node.Host()), node.Endpoint())
	options.Username, options.Password = to.Access.Username, to.Access.Password.Reveal()
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = attachedTry, attachedTry, attachedTry
	options.PoolSize = 1
	return options, nil
}

// attached is one server that others run, or several.
type attached struct {
	clusters.AttachedService
	to      clusters.Attachment
	servers []*attachedServer
	keys    []string // all that the run can make
	probe   string
	place   string
}

type attachedServer struct {
	*clusters.AttachedNode
	cluster *attached
	rdb     *redis.Client
}

// Place is what the run's keys begin with.
func (c *attached) Place() string { return c.place }

// Check asks every server for the run's keys, of which there are none.
func (c *attached) Check(ctx context.Context) error {
	return clusters.AskEvery(ctx, c.servers, func(ctx context.Context, s *attachedServer) error {
		_, err := s.existing(ctx)
		return err
	}, (*attachedServer).unusable)
}

// refusals are what a server says that will not have this user, and what to do.
var refusals = []struct{ says, advice string }{
	{"WRONGPASS", clusters.PasswordAdvice},
	{"NOAUTH", "it wants a password: " + clusters.PasswordAdvice},
	{"ERR AUTH", clusters.PasswordAdvice},
	{"NOPERM", "the user needs keys ~lockcheck:* and the commands get, set, del, exists, incr, pexpire, eval, evalsha"},
	{"READONLY", "name the primary: locks are written"},
	{"MOVED", "it is a Redis Cluster, which lockcheck has no lock clients for"},
	{"CROSSSLOT", "it is a Redis Cluster, which lockcheck has no lock clients for"},
}

func (s *attachedServer) unusable(err error) error { return Unusable(s.AttachedNode, err) }

// Unusable says why a server that others run cannot be used, and what to do.
func Unusable(s *clusters.AttachedNode, err error) error {
	var reply redis.Error
	if errors.As(err, &reply) {
		for _, r := range refusals {
			if strings.HasPrefix(reply.Error(), r.says) {
				return fmt.Errorf("%w: redis at %s: %w: %s", clusters.ErrUsage, s.Place(), err, r.advice)
			}
		}
		return fmt.Errorf("%w: redis at %s refuses: %w", clusters.ErrUnavailable, s.Place(), err)
	}
	return fmt.Errorf("%w: redis at %s: %w: is it Redis, and %s",
		clusters.ErrUnavailable, s.Place(), err, clusters.TLSAdvice)
}

// Existing lists some of the run's keys, of all servers.
func (c *attached) Existing(ctx context.Context) (found []string, err error) {
	for _, s := range c.servers {
		some, err := s.existing(ctx)
		if err != nil {
			return nil, s.unusable(err)
		}
		if found = append(found, some...); len(found) >= maxExisting {
			return found[:maxExisting], nil
		}
	}
	return found, nil
}

func (s *attachedServer) existing(ctx context.Context) (found []string, err error) {
	err = s.each(ctx, func(pipe redis.Pipeliner, key string) *redis.IntCmd { return pipe.Exists(ctx, key) },
		func(key string, n int64) {
			if n > 0 {
				found = append(found, key)
			}
		})
	return found, err
}

// each sends a command for each of the run's keys.
func (s *attachedServer) each(ctx context.Context, ask func(redis.Pipeliner, string) *redis.IntCmd, take func(key string, n int64)) error {
	for at := 0; at < len(s.cluster.keys); at += batch {
		some := s.cluster.keys[at:min(at+batch, len(s.cluster.keys))]
		pipe := s.rdb.Pipeline()
		var answers []*redis.IntCmd
		for _, key := range some {
			answers = append(answers, ask(pipe, key))
		}
		bounded, cancel := context.WithTimeout(ctx, attachedTry)
		_, err := pipe.Exec(bounded)
		cancel()
		if err != nil {
			return err
		}
		for i, a := range answers {
			take(some[i], a.Val())
		}
	}
	return nil
}

// script looks whether the server runs scripts as the lock clients have them.
var script = redis.NewScript("#!lua\nreturn redis.call('get', KEYS[1])")

// Ready writes to every server, and reads it back by a script.
func (c *attached) Ready(ctx context.Context) error {
	return clusters.AskEvery(ctx, c.servers, func(ctx context.Context, s *attachedServer) error { return s.verify(ctx) }, (*attachedServer).unusable)
}

func (s *attachedServer) verify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*attachedTry)
	defer cancel()
	value := fmt.Sprintf("%s %d", s.Name(), time.Now().UnixNano())
	if err := s.write(ctx, value); err != nil {
		return err
	}
	got, err := script.Run(ctx, s.rdb, []string{s.cluster.probe}).Text()
	if err == nil && got != value {
		err = fmt.Errorf("it took %q and reads %q", value, got)
	}
	return err
}

func (s *attachedServer) write(ctx context.Context, value string) error {
	ctx, cancel := context.WithTimeout(ctx, attachedTry)
	defer cancel()
	return s.rdb.Set(ctx, s.cluster.probe, value, 0).Err()
}

// Probe writes one key to a majority of the servers.
func (c *attached) Probe(ctx context.Context) error {
	return clusters.Until(ctx, attachedTimeout, LookEvery, func(ctx context.Context) error {
		var errs []error
		for _, a := range clusters.AskAll(ctx, c.servers, func(ctx context.Context, s *attachedServer) (struct{}, error) {
			return struct{}{}, s.write(ctx, "probe")
		}) {
			if a.Err != nil {
				errs = append(errs, fmt.Errorf("redis at %s: %w", a.Node.Place(), a.Err))
			}
		}
		if len(c.servers)-len(errs) > len(c.servers)/2 {
			return nil
		}
		return errors.Join(errs...)
	})
}

// Remove deletes the run's keys, on every server.
func (c *attached) Remove(ctx context.Context) error {
	for _, s := range c.servers {
		err := s.each(ctx, func(pipe redis.Pipeliner, key string) *redis.IntCmd { return pipe.Del(ctx, key) }, func(string, int64) {})
		if err != nil {
			return s.unusable(err)
		}
	}
	return nil
}

// Versions is what the servers say of themselves.
func (c *attached) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, "redis server", c.servers, func(ctx context.Context, s *attachedServer) (string, error) {
		info, err := (&Server{Node: s.AttachedNode, rdb: s.rdb}).Info(ctx)
		return info["redis_version"], err
	})
	return map[string]string{"redis": version}, err
}

// Close ends the connections.
func (c *attached) Close() error {
	var errs []error
	for _, s := range c.servers {
		errs = append(errs, s.rdb.Close())
	}
	return errors.Join(errs...)
}
