// Package pair runs two servers of which one follows the other: backends with a primary and a standby use it.
package pair

import (
	"context"
	"sync"

	"lockcheck/clusters"
)

// Command is how a server is started. follow says that it is to make its data, if it has none, as a copy of the other's.
type Command func(self, other clusters.Host, follow bool) (clusters.Command, error)

// Start starts a server on each host, the first as the primary. other is nil for one that stands alone.
func Start(ctx context.Context, hosts []clusters.Host, command Command) ([]clusters.Node, error) {
	together := &servers{}
	for i, host := range hosts {
		var other clusters.Host
		if len(hosts) > 1 {
			other = hosts[1-i]
		}
		together.all = append(together.all, &Server{of: together, host: host, follow: i > 0,
			command: func(follow bool) (clusters.Command, error) { return command(host, other, follow) }})
	}
	return clusters.Together(len(hosts), func(i int) (clusters.Node, error) { return together.all[i].start(ctx) })
}

// servers are those that lockcheck started: what is done to one may have to be done to the other.
type servers struct {
	mu  sync.Mutex
	all []*Server
}

// Server is one that lockcheck started.
type Server struct {
	*clusters.Server
	of      *servers
	host    clusters.Host
	command func(follow bool) (clusters.Command, error)
	follow  bool // it is a standby, or to become one
	remake  bool // its data is of no use any more: the next start makes it anew
	remade  bool // that was done because the other came back empty: a fault that killed it at the same time need not start it again
}

func (s *Server) start(ctx context.Context) (clusters.Node, error) {
	command, err := s.command(s.follow)
	if err != nil {
		return nil, err
	}
	s.Server, err = clusters.StartServer(ctx, s.host, command)
	return s, err
}

func (s *Server) ended() bool { return clusters.HasEnded(s.Process()) }

// other is the server beside it, nil for one that is alone.
func (s *Server) other() *Server {
	for _, o := range s.of.all {
		if o != s {
			return o
		}
	}
	return nil
}

// Restart starts the server again. An empty primary is a new cluster, whose standby is made anew: the old one's data is that
// of another.
func (s *Server) Restart(ctx context.Context, empty bool) error {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.remade && !s.ended() {
		s.remade = false
		return nil
	}
	empty = empty || s.remake
	if err := s.restart(ctx, empty); err != nil {
		return err
	}
	standby := s.other()
	if standby == nil || !empty || s.follow {
		return nil
	}
	if standby.ended() { // it is started again by the one who ended it
		standby.remake = true
		return nil
	}
	if err := standby.Process().Kill(ctx); err != nil {
		return err
	}
	if err := standby.restart(ctx, true); err != nil {
		return err
	}
	standby.remade = true
	return nil
}

// restart is called with mu held.
func (s *Server) restart(ctx context.Context, empty bool) error {
	command, err := s.command(s.follow)
	if err != nil {
		return err
	}
	s.SetCommand(command)
	if err := s.Server.Restart(ctx, empty); err != nil {
		return err
	}
	s.remake, s.remade = false, false
	return nil
}

// retire kills a primary that is to become its standby's standby, and reports whether it is still to be started as that: one
// that had ended before is started again by the one who ended it.
func (s *Server) retire(ctx context.Context) (restart bool, err error) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	restart = !s.ended()
	if err := s.Process().Kill(ctx); err != nil {
		return false, err
	}
	s.follow, s.remake = true, true
	if next := s.other(); next != nil {
		next.follow = false
	}
	return restart, nil
}
