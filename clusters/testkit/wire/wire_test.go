package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo answers each connection with what it is sent.
func echo(t *testing.T) string {
	t.Helper()
	return Listen(t, func(c net.Conn) {
		go func() {
			defer c.Close()
			_, _ = io.Copy(c, c)
		}()
	})
}

// What came after it was asked how far to pass is not passed, however late it is passed.
func TestOnlyWhatCameBeforeIsPassed(t *testing.T) {
	w := New(t, echo(t))
	c, err := net.Dial("tcp", w.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w.Hold(ToClient)
	answered := func(with string) {
		t.Helper()
		if _, err := c.Write([]byte(with[len(with)-1:])); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(30 * time.Second); string(w.Arrived(ToClient)) != with; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("it answered %q, want %q", w.Arrived(ToClient), with)
			}
		}
	}
	reads := func(want string) {
		t.Helper()
		buffer := make([]byte, 10)
		_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
		if n, err := c.Read(buffer); err != nil || string(buffer[:n]) != want {
			t.Fatalf("read %q, %v; want %q", buffer[:n], err, want)
		}
	}
	answered("a")
	pass := w.UpToNow(ToClient)
	answered("ab")
	pass()
	reads("a")
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); err == nil {
		t.Fatalf("%d bytes more were passed", n)
	}
	w.LetGo(ToClient)
	reads("b")
}

// The answer to a request is lost even if the request takes effect, and is answered, between a look at the server and the next passing of
// what others are waiting for.
func TestAReplyIsCutThoughItComesRightAfterALook(t *testing.T) {
	w := New(t, echo(t))
	c, err := net.Dial("tcp", w.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	send := func() { _, _ = c.Write([]byte("x")) }
	looks := 0
	CutReply([]*Wire{w}, 0, func() {}, func() bool {
		looks++
		if looks == 2 { // this look is from before the request took effect
			send()
			for deadline := time.Now().Add(30 * time.Second); len(w.Arrived(ToClient)) == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("nothing was answered")
				}
			}
			return false
		}
		return looks > 2
	})
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
	if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d bytes, %v: the reply was not lost", n, err)
	}
}
