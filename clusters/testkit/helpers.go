// Package testkit is what tests have in common that run processes on the hosts of a site, and what every provider of such
// sites has to pass. It knows no provider.
package testkit

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

// Helpers are what a test binary does when it is started as a process of a run, by its first argument.
type Helpers map[string]func(args []string) error

// Play does what the program was started for and ends it with exit. It returns if that is to run tests.
func (h Helpers) Play(exit func(code int)) {
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-") {
		return
	}
	help, ok := h[os.Args[1]]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such helper:", os.Args[1])
		os.Exit(64)
	}
	if err := help(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		exit(1)
	}
	exit(0)
}

// Sleep is a helper that does nothing.
func Sleep([]string) error {
	for { // select {} is a deadlock to a program without C, which has one thread less
		time.Sleep(time.Hour)
	}
}

// Talk is a helper that says what it hears.
func Talk([]string) error {
	_, err := io.Copy(os.Stdout, os.Stdin)
	return err
}

// Echo is a helper that answers TCP on an address with what it hears, once it has said that it is ready.
func Echo(args []string) error {
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() { _, _ = io.Copy(c, c) }()
	}
}
