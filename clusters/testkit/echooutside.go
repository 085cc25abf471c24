package testkit

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// EchoOutside answers lines at an address of the machine, outside of any run's network, and returns where.
func EchoOutside(t *testing.T, ip string) string {
	t.Helper()
	listener, err := net.Listen("tcp4", net.JoinHostPort(ip, "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					fmt.Fprintf(conn, "%s from outside\n", lines.Text())
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// Says is the answer to a line, "" if the connection ends without one.
func Says(conn net.Conn, line string) string {
	_ = conn.SetDeadline(time.Now().Add(AskTimeout))
	fmt.Fprintln(conn, line)
	answer, _ := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(answer)
}
