package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockcheck/cmd/internal/campaign"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
)

// connected is the API server of a kubeconfig that names this one.
func connected(t *testing.T, url string) *campaign.API {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte("current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: {server: '"+url+"'}}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", config)
	api, err := campaign.Connect()
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// A Job is come back to by the command that made it, and by the lockcheck that made it, with a plan that is its own; whatever else comes is
// refused, and nothing is made of it.
func TestOnlyTheCommandThatMadeAJobComesBackToIt(t *testing.T) {
	text, digest, err := galleryOfTwo(t).plan()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		command string // that comes back
		notes   map[string]string
		want    string
	}{
		"another command":   {"compare", map[string]string{"lockcheck/plan-digest": digest, "lockcheck/command": "gallery"}, `was made by lockcheck "gallery"`},
		"a command of none": {"gallery", map[string]string{"lockcheck/plan-digest": digest, "lockcheck/command": "\x1b[2J"}, `was made by lockcheck "\x1b[2J"`},
		"an earlier one":    {"gallery", map[string]string{"lockcheck/plan-digest": digest}, "was made by an earlier lockcheck"},
		"no campaign":       {"gallery", nil, "is not one of lockcheck's"},
		"another plan":      {"gallery", map[string]string{"lockcheck/plan-digest": "d", "lockcheck/command": "gallery"}, "do not belong together"},
	} {
		t.Run(name, func(t *testing.T) {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			_, _ = w.Write(text)
			_ = w.Close()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var answer any = map[string]any{"binaryData": map[string][]byte{"plan.json.gz": packed.Bytes()}}
				if strings.HasSuffix(r.URL.Path, "/jobs/x") {
					env := []any{map[string]any{"name": "LOCKCHECK_SHARD_TOKEN", "value": "t"}}
					pod := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"env": env}}}}
					answer = map[string]any{"metadata": map[string]any{"uid": "u", "annotations": c.notes}, "spec": map[string]any{"completions": 2, "template": pod}}
				}
				_ = json.NewEncoder(w).Encode(answer)
			}))
			defer server.Close()
			connected(t, server.URL)
			out := t.TempDir()
			got := lockcheck(t, c.command, "--attach-job=x", "--out="+out)
			if got.code != exitUsage || !strings.Contains(got.stderr, c.want) {
				t.Errorf("exit %d: %s\nwant %q", got.code, got.stderr, c.want)
			}
			if left, _ := os.ReadDir(out); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
}

// A campaign that stands still is left where something of it is to be fetched, and how to come back is said; where nothing was made of it, nothing is left.
func TestACampaignThatStandsStillLeavesTheWayBackOrNothing(t *testing.T) {
	for name, c := range map[string]struct {
		succeeded int
		want      string
		deleted   bool
	}{
		"pods were at work":     {1, "--attach-job=x", false},
		"no pod was ever there": {0, "was deleted", true},
	} {
		t.Run(name, func(t *testing.T) {
			deleted := false
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var answer any = map[string]any{}
				switch {
				case r.Method == http.MethodDelete:
					deleted = true
				case strings.HasSuffix(r.URL.Path, "/jobs/x"):
					answer = map[string]any{"metadata": map[string]any{"uid": "u"}, "spec": map[string]any{"parallelism": 1}, "status": map[string]any{"active": 1, "succeeded": c.succeeded}}
				case strings.HasSuffix(r.URL.Path, "/pods"):
					answer = map[string]any{"items": []any{map[string]any{
						"metadata": map[string]any{"name": "x-1", "uid": "p", "ownerReferences": []any{map[string]any{"uid": "u"}}},
						"status":   map[string]any{"phase": "Pending", "conditions": []any{map[string]any{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes \x1b[2J"}}},
					}}}
				}
				_ = json.NewEncoder(w).Encode(answer)
			}))
			defer server.Close()
			api := connected(t, server.URL)
			var said bytes.Buffer
			k := &kubeCampaign{api: api, c: &campaign.Campaign{Name: "x", Namespace: "default", UID: "u", Shards: 2}, of: &compareCampaign{whole: &compare.Comparison{}}, dir: t.TempDir(),
				out: output{out: &said, errOut: &said}, flag: campaignFlags{startTimeout: time.Millisecond}}
			err := k.followAndConclude(t.Context())
			if harness.ExitCode(err) != exitUnavailable || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "0/1 nodes") || deleted != c.deleted {
				t.Errorf("%v; deleted: %v", err, deleted)
			}
			if strings.ContainsRune(said.String()+err.Error(), '\x1b') {
				t.Errorf("a terminal would obey it: %q", said.String())
			}
		})
	}
}
