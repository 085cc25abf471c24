//go:build linux

package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"lockcheck/clusters/testkit"
)

// sayTo connects to an address, says something and prints the answer, or "" if the connection ends without one: a reset can arrive
// before the connecting program has looked whether it is connected, which then is told of it as of a failure to connect. It is a helper.
func sayTo(args []string) error {
	conn, err := net.Dial("tcp4", args[0])
	if errors.Is(err, syscall.ECONNRESET) {
		fmt.Println()
		return nil
	}
	if err != nil {
		fmt.Println("no connection:", err)
		return nil
	}
	fmt.Println(testkit.Says(conn, args[1]))
	return nil
}

// seeEnd connects, says that it has, then how the connection ended, and writes where only one direction did. It is a helper.
func seeEnd(args []string) error {
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp4", args[0])
	if err != nil {
		return err
	}
	fmt.Println("connected")
	_, err = conn.Read(make([]byte, 1))
	switch {
	case strings.Contains(err.Error(), "reset"):
		fmt.Println("reset")
	default:
		fmt.Println(err.Error() + ", and the other way goes on")
	}
	fmt.Fprintln(conn, "still here")
	return nil
}
