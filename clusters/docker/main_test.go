package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/client"

	"lockcheck/clusters"
	"lockcheck/clusters/docker/holder"
	"lockcheck/nemesis/agent"
)

// helpers are what the test binary does when it is started in a container, or as a harness of its own.
var helpers = map[string]func(args []string) error{
	holder.Command: func([]string) error { return holder.Main() },
	agent.Command:  func([]string) error { return agent.Serve(os.Stdin, os.Stdout) },
	"sleep":        func([]string) error { select {} },
	"echo":         echo,
	"ask":          func(args []string) error { return askOnce(context.Background(), dialHere, args[0], 5*time.Second) },
	"talk":         func([]string) error { _, err := io.Copy(os.Stdout, os.Stdin); return err },
	"chatter":      chatter,
	"show":         show,
	"fork":         fork,
	"init":         beInit,
	"append":       appendTo,
	"exit-code":    func([]string) error { os.Exit(3); return nil },
	"harness":      harness,
	"judge-hidden": judgeHidden,
	"hog":          hog,
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		help, ok := helpers[os.Args[1]]
		if !ok {
			fmt.Fprintln(os.Stderr, "no such helper:", os.Args[1])
			os.Exit(64)
		}
		if err := help(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if engine, err := connect(context.Background()); err == nil {
		removeTestImages(engine)
	}
	os.Exit(code)
}

// needEngine skips a test where there is no engine; CI must have one.
func needEngine(t *testing.T) *client.Client {
	t.Helper()
	engine, err := connect(t.Context())
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine
}

// openSite makes a site whose servers come from an image made by testImage.
func openSite(t *testing.T, image string, inImage ...string) *site {
	t.Helper()
	needEngine(t)
	if len(inImage) == 0 {
		inImage = nil
	}
	s, err := (&Provider{Image: image, Progress: testLog{t}}).Open(t.Context(), clusters.SiteSpec{
		Run: t.Name(), LogDir: t.TempDir(), Software: clusters.Software{Backend: "test", InImage: inImage, ImageData: "/data"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s.(*site)
}

type testLog struct{ t *testing.T }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

func newHost(t *testing.T, s clusters.Site, name string) clusters.Host {
	t.Helper()
	h, err := s.Host(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// start starts a helper with pipes.
func start(t *testing.T, h clusters.Host, args ...string) clusters.Process {
	t.Helper()
	p, err := h.Start(t.Context(), clusters.Command{Args: args, Log: args[0], Pipes: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func readLine(t *testing.T, from *os.File) string {
	t.Helper()
	_ = from.SetReadDeadline(time.Now().Add(20 * time.Second))
	line, err := bufio.NewReader(from).ReadString('\n')
	if err != nil {
		t.Fatalf("read a line: %v (got %q)", err, line)
	}
	return strings.TrimSpace(line)
}

type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

func dialHere(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, addr)
}

var errNoConnection = errors.New("does not even connect")

// askOnce connects, which the kernel does on its own, and waits for the server's answer.
func askOnce(ctx context.Context, dial dialer, addr string, within time.Duration) error {
	c, err := dial(ctx, "tcp", addr)
	if err != nil {
		return errors.Join(errNoConnection, err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(within))
	if _, err := c.Write([]byte("hello")); err != nil {
		return err
	}
	_, err = io.ReadFull(c, make([]byte, 5))
	return err
}

// answers waits until an echo server answers.
func answers(t *testing.T, s clusters.Site, addr string) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = askOnce(t.Context(), s.Dial, addr, 5*time.Second); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// echo answers TCP on an address.
func echo(args []string) error {
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
			return fmt.Errorf("nobody minds %d MB", len(all)*step>>20)
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

// fork starts a process that outlives it, unless somebody sees to it, and says so.
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

// appendTo adds a line to a file, prints the file, and answers TCP on an address.
func appendTo(args []string) error {
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
	return echo(args[len(args)-1:])
}
