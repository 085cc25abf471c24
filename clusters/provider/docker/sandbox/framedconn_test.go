package sandbox

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/hashicorp/yamux"
)

// carriedPair is a connection between two ends.
func carriedPair(t *testing.T) (near, far *Carried) {
	t.Helper()
	a, b := net.Pipe()
	client, err := NewSession(a)
	if err != nil {
		t.Fatal(err)
	}
	server, err := yamux.Server(b, config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	left, err := client.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	right, err := server.AcceptStream()
	if err != nil {
		t.Fatal(err)
	}
	return NewCarried(left), NewCarried(right)
}

func TestWhatIsWrittenBeforeTheEndArrivesAndTheOtherWayStaysOpen(t *testing.T) {
	near, far := carriedPair(t)
	sent := bytes.Repeat([]byte("0123456789"), 20_000) // several frames
	go func() {
		_, _ = near.Write(sent)
		_ = near.CloseWrite()
	}()
	got, err := io.ReadAll(far)
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("%d bytes of %d arrived: %v", len(got), len(sent), err)
	}
	if _, err := far.Write([]byte("answer")); err != nil {
		t.Fatal(err)
	}
	_ = far.CloseWrite()
	if got, err := io.ReadAll(near); err != nil || string(got) != "answer" {
		t.Errorf("the answer is %q, %v", got, err)
	}
}

func TestAConnectionThatBreaksOffDoesNotEnd(t *testing.T) {
	near, far := carriedPair(t)
	if _, err := near.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	near.Close()
	if got, err := io.ReadAll(far); err != io.ErrUnexpectedEOF || string(got) != "half" {
		t.Errorf("%q, %v: want what was written, and a break", got, err)
	}
}

func TestClosingEndsWhoReads(t *testing.T) {
	near, _ := carriedPair(t)
	read := make(chan error, 1)
	go func() {
		_, err := near.Read(make([]byte, 1))
		read <- err
	}()
	near.Close()
	if err := <-read; err == nil {
		t.Error("the read returned nothing and no error")
	}
}
