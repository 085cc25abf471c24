package server

import (
	"context"
	"fmt"
	"net"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockcheck/clusters"
)

const (
	// AskTimeout is how long one server may take to answer the harness. A paused one takes for ever.
	AskTimeout = 400 * time.Millisecond
	// LookEvery is how often is looked while something is waited for.
	LookEvery = 10 * time.Millisecond
	dataName  = "redis"
)

// Server is a running server and the harness's connections to it.
type Server struct {
	clusters.Node
	rdb *redis.Client
}

// Endpoint is where clients connect.
func (s *Server) Endpoint() string { return endpoint(s.Node) }

func endpoint(at clusters.Node) string { return net.JoinHostPort(at.Addr(), Port) }

// Launch starts a server on a host. lines are added to its configuration. It returns once the process runs.
func Launch(ctx context.Context, site clusters.Site, host clusters.Host, lines []string) (*clusters.Server, error) {
	return StartProcess(ctx, site, host, Process{Log: dataName, File: "redis.conf", Port: Port, Lines: lines})
}

// Connect prepares connections to a server, which are made when they are first used.
func Connect(at clusters.Node, dial clusters.Dialer) *Server {
	return &Server{Node: at, rdb: redis.NewClient(Options(dial, endpoint(at)))}
}

// Process is a redis-server process to start.
type Process struct {
	Log   string // names its log and its data directory
	File  string // its configuration, below its data directory
	Port  string
	Lines []string // of its configuration
	Args  []string // after the file
}

// StartProcess starts redis-server from a configuration file below its data directory. It must be a file of its own,
// which is left alone when the process is started again, because Redis and Sentinel write into it what they were told.
func StartProcess(ctx context.Context, site clusters.Site, host clusters.Host, p Process) (*clusters.Server, error) {
	command, err := site.Server(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := host.DataDir(p.Log)
	if err != nil {
		return nil, err
	}
	lines := append([]string{
		"port " + p.Port, "bind " + host.Addr(), "protected-mode no", "dir " + dir, "daemonize no", `logfile ""`,
	}, p.Lines...)
	file := path.Join(dir, p.File)
	command.Args = append(append(append([]string{}, command.Args...), file), p.Args...)
	command.Log, command.Data = p.Log, p.Log
	command.Files = map[string][]byte{file: []byte(strings.Join(lines, "\n") + "\n")}
	return clusters.StartServer(ctx, host, command)
}

// quiet keeps the library from writing to the harness's terminal what every error says, too.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

var beQuiet = sync.OnceFunc(func() { redis.SetLogger(quiet{}) })

// Options are those of a connection of the harness: by the given way, one try each, without greetings of the library.
func Options(dial clusters.Dialer, addr string) *redis.Options {
	beQuiet()
	return &redis.Options{
		Addr: addr, Dialer: dial, Protocol: 2, DisableIdentity: true, MaxRetries: -1, DialerRetries: 1,
		DialTimeout: AskTimeout, ReadTimeout: AskTimeout, WriteTimeout: AskTimeout, ContextTimeoutEnabled: true, PoolSize: 4,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// Close ends the connections to the server, not the server.
func (s *Server) Close() error { return s.rdb.Close() }

// Write makes a plain write of a key that no lock uses.
func (s *Server) Write(ctx context.Context, key, value string) error {
	ctx, cancel := context.WithTimeout(ctx, AskTimeout)
	defer cancel()
	return s.rdb.Set(ctx, key, value, 0).Err()
}

// Read reads a key that no lock uses.
func (s *Server) Read(ctx context.Context, key string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, AskTimeout)
	defer cancel()
	return s.rdb.Get(ctx, key).Result()
}

// Role is "master" or "slave", in Redis's words.
func (s *Server) Role(ctx context.Context) (string, error) {
	info, err := s.Info(ctx)
	return info["role"], err
}

// Info is what the server says of itself, the sections server and replication.
func (s *Server) Info(ctx context.Context) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, AskTimeout)
	defer cancel()
	text, err := s.rdb.Info(ctx, "server", "replication").Result()
	if err != nil {
		return nil, err
	}
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info, nil
}

// Await waits until the server answers a command, with or without data. The error says why it did not.
func (s *Server) Await(ctx context.Context) error {
	return Settled(ctx, []clusters.Node{s.Node}, func(ctx context.Context) error {
		if _, err := s.Info(ctx); err != nil {
			return fmt.Errorf("redis server %s does not answer: %w", s.Name(), err)
		}
		return nil
	})
}
