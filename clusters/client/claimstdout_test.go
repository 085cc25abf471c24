//go:build linux

package client

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// envPrints makes this test's program a client of which everything prints to standard output.
const envPrints = "LOCKCHECK_TEST_PRINTS"

// printing is a lock that prints when it is asked for.
type printing struct{ fakeLock }

func (p *printing) Acquire(ctx context.Context, key string, try bool) (Grant, error) {
	fmt.Println("by fmt")
	_, _ = unix.Write(stdout, []byte("by a library in C\n{\"msg\":\"lost\",\"session\":\"s\"}\n"))
	child := exec.Command("echo", "by a child")
	child.Stdout = os.Stdout
	if err := child.Run(); err != nil {
		return nil, err
	}
	return p.fakeLock.Acquire(ctx, key, try)
}

func TestBeAClientThatPrints(t *testing.T) {
	if os.Getenv(envPrints) == "" {
		t.Skip("a part of TestWhatAClientPrintsIsKeptInItsLog")
	}
	err := Serve(t.Context(), os.Stdin, os.Stdout, func(_ context.Context, _ Init, watch Watch) (Lock, Ready, error) {
		fmt.Println("while it is made")
		lock := &printing{fakeLock{watch: watch, grant: &fakeGrant{session: "s"}}}
		lock.grant.lock = &lock.fakeLock
		return lock, Ready{Client: "prints", Tokens: "none"}, nil
	})
	if err != nil {
		t.Error(err)
	}
	fmt.Println("when it is closed")
}

// When a client in Go, one of its libraries or a child prints to standard output by mistake, the protocol's lines stay whole
// and its own, and what was printed is in the client's log, once.
func TestWhatAClientPrintsIsKeptInItsLog(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestBeAClientThatPrints$")
	cmd.Env = append(os.Environ(), envPrints+"=1")
	var log bytes.Buffer
	cmd.Stderr = &log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, step := range []struct{ line, answer string }{
		{`{"cmd":"init","init":{"protocol":1,"name":"c1","ttl_ms":2000,"resource":"http://127.0.0.1:1"}}`, `{"msg":"ready"`},
		{`{"cmd":"acquire","op":1,"hold":"h1","key":"k"}`, `{"msg":"ok","op":1`},
		{`{"cmd":"acquire","op":2,"hold":"h2","key":"k"}`, `{"msg":"ok","op":2`},
		{`{"cmd":"ping","n":1}`, `{"msg":"pong"`},
	} {
		io.WriteString(in, step.line+"\n")
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), step.answer) {
			t.Errorf("after %s the protocol has %q", step.line, lines.Text())
		}
	}
	in.Close()
	for lines.Scan() {
		t.Errorf("the protocol goes on with %q", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	want := printedNotice + "while it is made\n" + strings.Repeat("by fmt\nby a library in C\n"+`{"msg":"lost","session":"s"}`+"\nby a child\n", 2) + "when it is closed\n"
	if rest, ok := strings.CutPrefix(log.String(), want); !ok || strings.Contains(rest, printedNotice) { // the test program prints, too
		t.Errorf("its log is\n%s\nwant\n%s", log.String(), want)
	}
}

// The nearest that prints nothing there: nothing is said.
func TestAClientThatPrintsNothingIsNotToldOff(t *testing.T) {
	read, write := io.Pipe()
	var log bytes.Buffer
	write.Close()
	if keepPrinted(read, &log); log.Len() > 0 {
		t.Errorf("its log has %q", &log)
	}
	var out bytes.Buffer
	if own, end := claimOutput(&out, &log); own != io.Writer(&out) {
		t.Error("what is no standard output was taken for it")
	} else {
		end()
	}
}
