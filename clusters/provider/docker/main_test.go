//go:build linux

package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockcheck/clusters/provider/docker/sandbox"
	"lockcheck/clusters/testkit"
)

// helpers are what the test binary does when it is started in a container, or as a harness of its own.
var helpers = testkit.Helpers{
	sandbox.Command:      func([]string) error { return sandbox.Main() },
	sandbox.WipeCommand:  sandbox.Wipe,
	JanitorCommand:       Janitor,
	sandbox.EnterCommand: func(args []string) error { return sandbox.Enter(context.Background(), args) },
	"processes":          processes,
	"sleep":              testkit.Sleep,
	"echo":               testkit.Echo,
	"ask": func(args []string) error {
		return testkit.Ask(context.Background(), dialHere, args[0], testkit.AskTimeout)
	},
	"talk":         testkit.Talk,
	"chatter":      chatter,
	"show":         show,
	"fork":         fork,
	"init":         beInit,
	"append":       appendTo,
	"exit-code":    func([]string) error { os.Exit(3); return nil },
	"harness":      harness,
	"judge-hidden": judgeHidden,
	"hog":          hog,
	"say-to":       sayTo,
	"knock":        knock,
	"see-end":      seeEnd,
}

// afterTests removes the images that tests of an engine made (tag e2e).
var afterTests = func() {}

func TestMain(m *testing.M) {
	helpers.Play(os.Exit)
	code := m.Run()
	afterTests()
	os.Exit(code)
}

// dialHere connects as any process does.
var dialHere = new(net.Dialer).DialContext

// hog takes more and more memory.
func hog([]string) error {
	const step = 64 << 20
	for all := [][]byte{}; ; {
		piece := make([]byte, step)
		for i := 0; i < step; i += 4096 {
			piece[i] = 1
		}
		all = append(all, piece)
		if len(all)*step > serverMemory {
			return fmt.Errorf("%d MB were allowed", len(all)*step>>20)
		}
	}
}

// chatter prints without an end, from several threads.
func chatter([]string) error {
	for i := range 3 {
		go func() {
			for n := 0; ; n++ {
				fmt.Printf("%d says %d\n", i, n)
				time.Sleep(50 * time.Microsecond)
			}
		}()
	}
	select {}
}

// show prints files and the environment.
func show(args []string) error {
	fmt.Println(strings.Join(os.Environ(), "\n"))
	for _, name := range args {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Println(strings.TrimSpace(string(text)))
	}
	return nil
}

// fork starts a process that outlives it, unless it is seen to, and says so.
func fork([]string) error {
	cmd := exec.Command(inClientImage, "sleep")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println("forked")
	select {}
}

// beInit starts its arguments as a child, as an init process does.
func beInit(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// appendTo adds a line to a file, whose directory it makes, prints the file, and answers TCP on an address.
func appendTo(args []string) error {
	if err := os.MkdirAll(filepath.Dir(args[0]), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(args[0], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(file, "started"); err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), show(args[:len(args)-1])); err != nil {
		return err
	}
	return testkit.Echo(args[len(args)-1:])
}
