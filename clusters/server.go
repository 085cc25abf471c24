package clusters

import (
	"context"
	"fmt"
	"sync"
)

// Server is a Hosted node of one process that can be started again the way it was started first.
type Server struct {
	host    Host
	command Command

	mu      sync.Mutex
	process Process
}

var (
	_ Hosted    = (*Server)(nil)
	_ Restarter = (*Server)(nil)
)

// StartServer starts a server on a host.
func StartServer(ctx context.Context, host Host, command Command) (*Server, error) {
	s := &Server{host: host, command: command}
	var err error
	s.process, err = host.Start(ctx, command)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Name is that of the host.
func (s *Server) Name() string { return s.host.Name() }

// Addr is its host's.
func (s *Server) Addr() string { return s.host.Addr() }

// Host is where the server runs.
func (s *Server) Host() Host { return s.host }

// Process is the server's process that was started last.
func (s *Server) Process() Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

// SetCommand changes what later restarts start: a server that comes back without its data may have to be told so.
func (s *Server) SetCommand(command Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.command = command
}

// Restart starts the server again. It is an error if its process is still there.
func (s *Server) Restart(ctx context.Context, empty bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.process.Done():
	default:
		return fmt.Errorf("restart %s: its process has not ended", s.Name())
	}
	if empty && s.command.Data != "" {
		if err := s.host.Wipe(ctx, s.command.Data); err != nil {
			return fmt.Errorf("restart %s without its data: %w", s.Name(), err)
		}
	}
	process, err := s.host.Start(ctx, s.command)
	if err != nil {
		return fmt.Errorf("restart %s: %w", s.Name(), err)
	}
	s.process = process
	return nil
}
