//go:build e2e

package client

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"lockcheck/clusters/testkit/wire"
)

// startToy starts the lock service of example/client.py: a connection is a session.
func startToy(t *testing.T) *toy {
	t.Helper()
	s := &toy{queues: map[string][]net.Conn{}}
	s.addr = wire.Listen(t, func(conn net.Conn) { go s.serve(conn) })
	return s
}

type toy struct {
	addr string

	mu     sync.Mutex
	tokens int
	queues map[string][]net.Conn // by key; the first has the lock
}

func (s *toy) serve(conn net.Conn) {
	defer conn.Close()
	key := ""
	for scan := bufio.NewScanner(conn); scan.Scan(); {
		word, rest, _ := strings.Cut(scan.Text(), " ")
		s.mu.Lock()
		switch word {
		case "acquire":
			key = rest
			if s.queues[key] = append(s.queues[key], conn); len(s.queues[key]) == 1 {
				s.grant(conn)
			}
		case "release":
			if s.remove(key, conn) {
				fmt.Fprintln(conn, "released")
			} else {
				fmt.Fprintln(conn, "nothing")
			}
		case "cancel":
			if queue := s.queues[key]; len(queue) > 0 && queue[0] != conn && s.remove(key, conn) {
				fmt.Fprintln(conn, "cancelled")
			}
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(key, conn)
}

func (s *toy) grant(conn net.Conn) {
	s.tokens++
	fmt.Fprintln(conn, "granted", s.tokens)
}

func (s *toy) remove(key string, conn net.Conn) bool {
	for i, c := range s.queues[key] {
		if c != conn {
			continue
		}
		s.queues[key] = append(s.queues[key][:i:i], s.queues[key][i+1:]...)
		if i == 0 && len(s.queues[key]) > 0 {
			s.grant(s.queues[key][0])
		}
		return true
	}
	return false
}

// sever ends every session.
func (s *toy) sever() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, queue := range s.queues {
		for _, conn := range queue {
			conn.Close()
		}
	}
}
