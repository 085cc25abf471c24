package campaign

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// noOps is an API server whose Job controller keeps a number of pods at work, each of which has its results at once.
func noOps(t *testing.T, shards, parallel int) (*fakeAPI, *Follow) {
	fake, follow := submitted(t, shards)
	fake.job["spec"].(map[string]any)["parallelism"] = parallel
	var mu sync.Mutex
	next := 0
	fake.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != follow.pods() {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		fake.mu.Lock()
		at := fake.active()
		fake.mu.Unlock()
		for ; at < parallel && next < shards; at, next = at+1, next+1 {
			fake.pod(fmt.Sprintf("pod-%d", next), next)
		}
		return false
	}
	follow.Notice = func(string) {}
	follow.Store.sync = func(string) error { return nil } // of the disk nothing is measured here
	return fake, follow
}

// cost is what a campaign of no-op shards takes: requests, rounds of questions, and how much the heap has grown at its end.
func cost(t *testing.T, shards int) (requests, rounds int64, heap int64) {
	const parallel = 25
	fake, follow := noOps(t, shards, parallel)
	countRounds := fake.before
	fake.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == follow.pods() {
			rounds++ // one at a time
		}
		return countRounds(w, r)
	}
	before := heapInUse()
	missing, err := follow.Run(t.Context())
	heap = heapInUse() - before
	if err != nil || len(missing) > 0 || follow.Store.Count() != shards {
		t.Fatalf("%d shards, missing %v, %v", follow.Store.Count(), missing, err)
	}
	runtime.KeepAlive(follow)
	return follow.API.Requests(), rounds, heap
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Two requests a shard, two a round, and a few for refusals: nothing grows with the square of the shards. The heap has the fake API server
// and its pods, too, so that what is allowed is far more than what a campaign keeps.
func Test500ShardsCostTenTimes50(t *testing.T) {
	for _, shards := range []int{50, 500} {
		requests, rounds, heap := cost(t, shards)
		t.Logf("%d shards: %d requests in %d rounds, heap %+d kB", shards, requests, rounds, heap>>10)
		if most := 2*int64(shards) + 2*rounds + 2 + rounds/10 + 5; requests > most {
			t.Errorf("%d shards took %d requests in %d rounds; want at most %d", shards, requests, rounds, most)
		}
		if perShard := heap / int64(shards); perShard > 8<<10 {
			t.Errorf("%d shards grew the heap by %d bytes each", shards, perShard)
		}
	}
}

// What is read of a shard goes to the disk as it comes: the largest archive takes no more memory than the smallest.
func TestALargeShardTakesNoMemory(t *testing.T) {
	const size = 64 << 20
	reader, writer := io.Pipe()
	from := t.TempDir()
	file, err := os.Create(filepath.Join(from, "history.jsonl"))
	if err == nil {
		err = errors.Join(file.Truncate(size), file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() { writer.CloseWithError(pack(writer, from, true, []byte(`{"shard":1}`))) }()
	store := opened(t, t.TempDir())
	store.sync = func(string) error { return nil }
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := store.take(1, reader); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 8<<20 {
		t.Errorf("%d bytes were allocated for a shard of %d", allocated, int64(size))
	}
}
