//go:build campaign

package campaign

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// hunter deletes pods at work at random, at random times, as if their nodes were gone.
type hunter struct {
	api       *API
	namespace string
	left      int
	killed    map[string]bool
	said      []string
}

func (h *hunter) hunt(ctx context.Context) {
	for h.left > 0 && pause(ctx, time.Duration(2+rand.IntN(8))*time.Second) == nil {
		var pods struct{ Items []podObject }
		if h.api.call(ctx, http.MethodGet, "/api/v1/namespaces/"+h.namespace+"/pods", nil, nil, &pods) != nil {
			continue
		}
		pods.Items = slices.DeleteFunc(pods.Items, func(p podObject) bool {
			return p.Status.Phase != "Running" || p.Metadata.DeletionTimestamp != nil || h.killed[p.Metadata.UID]
		})
		if len(pods.Items) == 0 {
			continue
		}
		pod := pods.Items[rand.IntN(len(pods.Items))]
		if h.api.call(ctx, http.MethodDelete, "/api/v1/namespaces/"+h.namespace+"/pods/"+pod.Metadata.Name, url.Values{"gracePeriodSeconds": {"0"}}, nil, nil) == nil {
			h.killed[pod.Metadata.UID] = true
			h.left--
			h.said = append(h.said, fmt.Sprintf("%s, ready %v", pod.Metadata.Name, pod.ready()))
		}
	}
}

var fetchedSoFar = regexp.MustCompile(`(\d+) of \d+ shards fetched`)

// fetched is how many shards a command said last that were fetched.
func fetched(said *written) (n int) {
	for _, m := range fetchedSoFar.FindAllStringSubmatch(said.String(), -1) {
		n, _ = strconv.Atoi(m[1])
	}
	return n
}

// ready reports whether the control plane takes the node to be there.
func ready(t *testing.T, api *API) bool {
	t.Helper()
	var nodes struct {
		Items []struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
	}
	if err := api.call(t.Context(), http.MethodGet, "/api/v1/nodes", nil, nil, &nodes); err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes.Items {
		for _, c := range n.Status.Conditions {
			if c.Type == "Ready" && c.Status != "True" {
				return false
			}
		}
	}
	return true
}

// Pods are killed while they work and while they serve, kubelet stands still until its node is taken for lost, the API server and the submitting program are killed,
// in the whole size the API server also answers nothing for minutes:
// the comparison is complete, and nothing in it is there twice.
func TestWhateverIsKilledTheComparisonIsComplete(t *testing.T) {
	api, s := admin(t), asked()
	n := namespace(t, api, "killed", nil)
	out := t.TempDir()
	cmd, said := lockcheck(t, adminConfig, out, s.matrix(onCluster(n)...)...)
	job := jobOf(t, said)
	h := &hunter{api: api, namespace: n, left: s.kills, killed: map[string]bool{}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var hunting sync.WaitGroup
	defer hunting.Wait()
	hunting.Go(func() { h.hunt(ctx) })

	until(t, "a shard", func() bool { return fetched(said) >= 1 })
	node(t, "signal", "kubelet", "STOP")
	until(t, "the node is taken for lost, and its pods for unready", func() bool { return !ready(t, api) })
	node(t, "signal", "kubelet", "CONT")
	before := fetched(said)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	node(t, "signal", "apiserver", "KILL")
	time.Sleep(5 * time.Second)
	if s.away > 0 { // it hears requests, and answers none
		t.Cleanup(func() { node(t, "signal", "apiserver", "CONT") })
		node(t, "signal", "apiserver", "STOP")
	}
	cmd, back := lockcheck(t, adminConfig, out, "--attach-job="+job, "--namespace="+n)
	if s.away > 0 {
		time.Sleep(s.away)
		node(t, "signal", "apiserver", "CONT")
	}
	_ = cmd.Wait()
	stop()
	hunting.Wait()
	t.Logf("killed: %s\n%s\n%s", strings.Join(h.said, "; "), said, back)
	if h.left > 0 {
		t.Errorf("%d of %d pods could not be killed before the end", h.left, s.kills)
	}
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit %d, want 1", code)
	}
	if after := fetched(back); after < before {
		t.Errorf("%d shards were here, and then %d", before, after)
	}
	complete(t, runs(t, out), s.cells(), s.repeat)
	nothingLeft(t, api, n)
}
