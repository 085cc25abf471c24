package campaign

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A power cut after a pod was told must lose nothing: the pod is gone by then, and its index is never run again.
func TestAPodIsToldOnlyOnceItsResultsAreOnTheDisk(t *testing.T) {
	fake, follow := submitted(t, 1)
	fake.pod("a", 0)
	var mu sync.Mutex
	synced := map[string]bool{}
	follow.Store.sync = func(name string) error {
		mu.Lock()
		defer mu.Unlock()
		if info, err := os.Stat(name); err == nil && info.IsDir() { // its entries: what is renamed into it later is not among them
			entries, _ := os.ReadDir(name)
			for _, entry := range entries {
				synced[filepath.Join(name, entry.Name())] = true
			}
			return nil
		}
		synced["content of "+filepath.Base(name)] = true
		return nil
	}
	var told bool
	fake.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/fetched") {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		told = true
		if !synced[follow.Store.ShardDir(1)] {
			t.Error("the place of the shard is not on the disk")
		}
		_ = filepath.WalkDir(follow.Store.ShardDir(1), func(name string, entry fs.DirEntry, _ error) error {
			if !entry.IsDir() && !synced["content of "+entry.Name()] {
				t.Errorf("%s is not on the disk", name)
			}
			return nil
		})
		return false
	}
	if _, err := follow.Run(t.Context()); err != nil || !told {
		t.Fatalf("%v, told %v", err, told)
	}
}

// A power cut may have come between the rename and the sync of what an earlier program fetched; its pods are told by this one.
func TestAStoreThatIsGoneOnWithIsSynced(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"1/results/a": "x"})
	var got []string
	if err := syncTree(dir, func(name string) error { got = append(got, filepath.Base(name)); return syncPath(name) }); err != nil {
		t.Fatal(err)
	}
	if want := "a results 1 " + filepath.Base(dir); strings.Join(got, " ") != want {
		t.Errorf("synced %v, want %s", got, want)
	}
	if err := syncPath(filepath.Join(dir, "none")); err == nil {
		t.Error("what is not there was synced")
	}
}
