package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
)

// Clients that do not see this machine's files get those of the access. What is not a file of it, the certificates that this machine
// trusts, they do not have.
func TestWhatClientsWithoutThisMachinesFilesAreGiven(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	access := client.Access{TLS: true, CA: file("my-ca"), Cert: file("my-cert"), Key: file("my-key")}
	got, files, err := carriedAccess(access, false)
	if err != nil || string(files[got.CA]) != "my-ca" || string(files[got.Cert]) != "my-cert" || string(files[got.Key]) != "my-key" || len(files) != 3 {
		t.Errorf("%+v with %d files, %v", got, len(files), err)
	}
	access.CA = ""
	if _, _, err := carriedAccess(access, false); !errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), "name it as ca") {
		t.Errorf("without the certificates of who may sign: %v", err)
	}
	if _, files, err := carriedAccess(access, true); err != nil || len(files) != 2 {
		t.Errorf("in an image of the user's: %d files, %v", len(files), err)
	}
	if got, files, err := carriedAccess(client.Access{Username: "me"}, false); err != nil || len(files) != 0 || got.Username != "me" {
		t.Errorf("without TLS: %+v, %d files, %v", got, len(files), err)
	}
}

// However many ask, turns come no faster than the rate; who comes late gets no turns for the time before.
func TestTurnsComeNoFasterThanTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(&Attach{MaxRate: 10})
		begun := time.Now()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				for range 4 {
					if !p.wait(t.Context(), nil) {
						t.Error("no turn came")
					}
				}
			})
		}
		all.Wait()
		if took := time.Since(begun); took != 1900*time.Millisecond {
			t.Errorf("20 turns at 10 a second took %v, want 1.9 s", took)
		}
		time.Sleep(time.Minute)
		begun = time.Now()
		for range 3 {
			p.wait(t.Context(), nil)
		}
		if took := time.Since(begun); took != 200*time.Millisecond {
			t.Errorf("3 turns after a rest took %v, want 200 ms", took)
		}
	})
}

func TestAWaitForATurnCanBeGivenUp(t *testing.T) {
	p := newPace(&Attach{MaxRate: 1})
	p.wait(t.Context(), nil)
	over := make(chan struct{})
	close(over)
	if p.wait(t.Context(), over) {
		t.Error("the load is over, and a turn came")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p.wait(ctx, nil) {
		t.Error("the run is over, and a turn came")
	}
	if free := newPace(nil); !free.wait(ctx, over) {
		t.Error("without a rate there is nothing to wait for")
	}
}
