package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
)

// fenced returns the code blocks of README.md in a language.
func fenced(t *testing.T, language string) []string {
	t.Helper()
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for rest := string(page); ; {
		_, after, found := strings.Cut(rest, "\n```"+language+"\n")
		if !found {
			break
		}
		block, after, _ := strings.Cut(after, "\n```\n")
		blocks, rest = append(blocks, block+"\n"), after
	}
	if len(blocks) == 0 {
		t.Fatalf("README.md has no block in %s", language)
	}
	return blocks
}

// Every line that README.md shows is one that this package reads, with every field that it has.
func TestTranscriptsOfREADMEAreTheProtocol(t *testing.T) {
	commands, reports := map[CommandName]bool{}, map[ReportName]bool{}
	for _, block := range fenced(t, "transcript") {
		for line := range strings.Lines(block) {
			way, text, _ := strings.Cut(strings.TrimSpace(line), " ")
			dec := json.NewDecoder(bytes.NewReader([]byte(text)))
			dec.DisallowUnknownFields()
			switch way {
			case "→":
				var c Command
				if err := dec.Decode(&c); err != nil {
					t.Errorf("%s: %v", line, err)
				}
				commands[c.Cmd] = true
			case "←":
				var r Report
				if err := dec.Decode(&r); err != nil {
					t.Errorf("%s: %v", line, err)
				}
				reports[r.Msg] = true
			default:
				t.Errorf("%q goes neither way", line)
			}
		}
	}
	for _, c := range []CommandName{CmdInit, CmdPing, CmdAcquire, CmdRenew, CmdRead, CmdWrite, CmdRelease, CmdCancel, CmdClose} {
		if !commands[c] {
			t.Errorf("README.md does not show the command %s", c)
		}
	}
	for _, r := range []ReportName{MsgReady, MsgPong, MsgOK, MsgFail, MsgLost, MsgLease, MsgEnded, MsgStage, MsgError} {
		if !reports[r] {
			t.Errorf("README.md does not show the report %s", r)
		}
	}
}

// startToy starts the lock service of README.md's example: a connection is a session.
func startToy(t *testing.T) *toy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &toy{addr: l.Addr().String(), queues: map[string][]net.Conn{}}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
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
