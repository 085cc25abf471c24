//go:build linux

package testkit

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// bound is for a server to listen and to answer.
const bound = 10 * time.Second

// Dial connects to a server on a socket as soon as it listens.
func Dial(t *testing.T, socket string) net.Conn {
	t.Helper()
	for deadline := time.Now().Add(bound); ; time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			return conn
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// Redis is how far off a Redis server on a socket sees its wall clock, by TIME.
func Redis(t *testing.T, socket string) time.Duration {
	t.Helper()
	conn := Dial(t, socket)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(bound))
	in := bufio.NewReader(conn)
	return Asked(func() int64 {
		if _, err := fmt.Fprint(conn, "TIME\r\n"); err != nil {
			t.Fatal(err)
		}
		var numbers []int64
		for range 5 { // *2, $10, seconds, $6, microseconds
			line, err := in.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64); err == nil {
				numbers = append(numbers, n)
			}
		}
		if len(numbers) != 2 {
			t.Fatalf("TIME answered %v", numbers)
		}
		return numbers[0]*1e9 + numbers[1]*1e3
	})
}
