package campaign

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
)

// A pod that only wears the label of a campaign would hear its token, and could end the campaign's pods with it.
func TestAPodOfAnotherIsNotAsked(t *testing.T) {
	fake, follow := submitted(t, 1)
	fake.pod("stranger", 0).owner = "uid-2"
	fake.after = func(r *http.Request) {
		if strings.Contains(r.URL.Path, "stranger") {
			t.Errorf("%s was asked", r.URL.Path)
		}
		if strings.HasSuffix(r.URL.Path, "/pods") && len(fake.pods) == 1 {
			fake.pod("ours", 0)
		}
	}
	if missing, err := follow.Run(t.Context()); err != nil || len(missing) > 0 || madeBy(t, follow.Store, 1) != "ours" {
		t.Fatalf("missing %v, %v", missing, err)
	}
}

// The Job was deleted, and another has its name now.
func TestAJobOfTheSameNameIsNotOurs(t *testing.T) {
	fake, follow := submitted(t, 1)
	fake.job["metadata"].(map[string]any)["uid"] = "uid-2"
	missing, err := follow.Run(t.Context())
	if err != nil || len(missing) != 1 || !strings.Contains(missing[0].Why, "deleted") {
		t.Errorf("missing %v, %v", missing, err)
	}
	if err := follow.API.Delete(t.Context(), follow.Campaign, patient(t)); err != nil || fake.deleted {
		t.Errorf("%v; deleted: %v", err, fake.deleted)
	}
}

// The answer to the Job's making was lost. It is taken back if it is ours; that of another stays.
func TestAJobWhoseAnswerWasLostIsTakenBack(t *testing.T) {
	for name, c := range map[string]struct {
		theirs string
		want   bool
	}{"ours": {"", true}, "another's": {"their token", false}} {
		fake, api := newFakeAPI(t)
		fake.lost = func(r *http.Request) bool { return r.Method == http.MethodPost }
		campaign := &Campaign{Name: "x", Namespace: "n", Shards: 1, Token: "secret"}
		fake.taken = c.theirs
		err := api.Submit(t.Context(), campaign, Options{Image: "i", Parallel: 1, CPU: "1", Memory: "1Gi"}, nil)
		if !errors.Is(err, clusters.ErrUnavailable) || fake.deleted != c.want {
			t.Errorf("%s: %v; deleted: %v, want %v", name, err, fake.deleted, c.want)
		}
	}
}

// An Outcome is read whole, and the index in it must be the pod's own.
func TestAShardThatSaysItIsAnotherIsRefused(t *testing.T) {
	for name, outcome := range map[string]string{
		"another": `{"shard":2}`, "none": `{}`, "no JSON": `shard 1`, "huge": `{"shard":1,"log":"` + strings.Repeat("x", maxOutcome) + `"}`,
	} {
		var archive bytes.Buffer
		zipped := gzip.NewWriter(&archive)
		w := tar.NewWriter(zipped)
		if err := w.WriteHeader(&tar.Header{Name: OutcomeFile, Mode: 0o644, Size: int64(len(outcome))}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(outcome))
		_, _ = w.Close(), zipped.Close()
		store := opened(t, t.TempDir())
		if err := store.take(1, &archive); err == nil || store.Count() != 0 {
			t.Errorf("%s: %v, %d shards", name, err, store.Count())
		}
	}
}

// The API server is away when all is merged, and for longer than one waits: what is left is said by name.
func TestAJobThatCannotBeDeletedIsNamed(t *testing.T) {
	fake, follow := submitted(t, 1)
	fake.before = func(w http.ResponseWriter, _ *http.Request) bool { fake.refuse(w, 503, "away"); return true }
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wait := Patient{Notice: func(string) {}, Every: time.Hour}
	if err := follow.API.Delete(ctx, follow.Campaign, wait); err == nil || !strings.Contains(err.Error(), "the Job x is left in namespace n") {
		t.Errorf("%v", err)
	}
}
