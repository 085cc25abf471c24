package run

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"lockcheck/clusters"
)

func TestPrintedLinesAreKeptWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resource.jsonl")
	text := "{\"seq\":1}\n{\"seq\":2}\n{\"se"
	p, err := relayLog(bufio.NewReader(iotest.OneByteReader(strings.NewReader(text))), path)
	if err != nil {
		t.Fatal(err)
	}
	<-p.done
	if err := p.failed(); err != nil {
		t.Error(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != "{\"seq\":1}\n{\"seq\":2}\n" {
		t.Errorf("kept %q, %v", got, err)
	}
	if _, err := relayLog(bufio.NewReader(strings.NewReader("")), path); !errors.Is(err, os.ErrExist) {
		t.Errorf("a record that is there was opened: %v", err)
	}
}

func TestALogThatCannotBeReadFailsTheRun(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("{}\n"), iotest.ErrReader(errors.New("the pipe broke")))
	p, err := relayLog(bufio.NewReader(broken), filepath.Join(t.TempDir(), "resource.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.done
	if err := p.failed(); err == nil || !strings.Contains(err.Error(), "the pipe broke") {
		t.Errorf("got %v", err)
	}
	if (*logRelay)(nil).failed() != nil {
		t.Error("a resource that writes its log itself has failed")
	}
}

// ended is a resource that has ended by itself.
type ended struct {
	clusters.Process
	stdin *os.File
	err   error
}

func (e ended) Stdin() *os.File { return e.stdin }
func (e ended) Err() error      { return e.err }
func (e ended) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

// An output that ends looks the same whether all was printed or the way to the resource broke.
func TestALogIsCompleteOnlyIfItsResourceEndedWell(t *testing.T) {
	for _, broke := range []error{nil, errors.New("the engine went away")} {
		stdin, err := os.Create(filepath.Join(t.TempDir(), "stdin"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := relayLog(bufio.NewReader(strings.NewReader("{}\n")), filepath.Join(t.TempDir(), "resource.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.end(ended{stdin: stdin, err: broke}); !errors.Is(err, broke) || (err == nil) != (broke == nil) {
			t.Errorf("a resource that ended with %v: %v", broke, err)
		}
	}
}
