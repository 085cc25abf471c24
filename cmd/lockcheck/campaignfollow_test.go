package main

import (
	"bytes"
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
			config := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(config, []byte("current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: {server: '"+server.URL+"'}}]\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("KUBECONFIG", config)
			api, err := campaign.Connect()
			if err != nil {
				t.Fatal(err)
			}
			var said bytes.Buffer
			k := &kubeCampaign{api: api, c: &campaign.Campaign{Name: "x", Namespace: "default", UID: "u", Shards: 2}, of: &compareCampaign{whole: &compare.Comparison{}}, dir: t.TempDir(),
				out: output{out: &said, errOut: &said}, flag: campaignFlags{startTimeout: time.Millisecond}}
			err = k.followAndConclude(t.Context())
			if harness.ExitCode(err) != exitUnavailable || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "0/1 nodes") || deleted != c.deleted {
				t.Errorf("%v; deleted: %v", err, deleted)
			}
			if strings.ContainsRune(said.String()+err.Error(), '\x1b') {
				t.Errorf("a terminal would obey it: %q", said.String())
			}
		})
	}
}
