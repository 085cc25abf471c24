package campaign

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockcheck/clusters"
)

func TestWhyNoPodStarts(t *testing.T) {
	for name, c := range map[string]struct {
		pod     map[string]any
		phase   string
		event   string
		timeout time.Duration
		want    string
		is      error
	}{
		"no such image":        {pod: waiting("ErrImageNeverPull"), want: "ErrImageNeverPull: M", is: ErrNotStarted},
		"no program in it":     {phase: "Failed", pod: object{"containerStatuses": []object{{"state": object{"terminated": object{"reason": "StartError", "exitCode": 128, "message": "no such file"}}}}}, want: "no such file", is: ErrNotStarted},
		"a full node":          {pod: object{"conditions": []condition{{"PodScheduled", "False", "Unschedulable", "0/1 nodes are available"}}}, timeout: time.Millisecond, want: "0/1 nodes", is: ErrNotStarted},
		"a quota":              {event: "exceeded quota: small", timeout: time.Millisecond, want: "exceeded quota", is: ErrNotStarted},
		"nothing is said":      {timeout: time.Millisecond, want: "neither its pods", is: ErrNotStarted},
		"forbidden privileges": {event: `pods "x" is forbidden: violates PodSecurity "restricted:latest": ` + strings.Repeat("unrestricted capabilities, ", 40), want: "violates PodSecurity", is: ErrRestricted},
	} {
		t.Run(name, func(t *testing.T) {
			fake, follow := submitted(t, 1)
			if c.pod != nil {
				fake.pods["a"] = &fakePod{phase: "Pending", status: c.pod}
				if c.phase != "" {
					fake.pods["a"].phase = c.phase
				}
			}
			if c.event != "" {
				fake.events = []string{c.event}
			}
			if c.timeout > 0 {
				follow.StartTimeout = c.timeout
			}
			_, err := follow.Run(t.Context())
			if !errors.Is(err, c.is) || !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}

// Pods were at work, and the next cannot be: that is said in the cluster's words, and the campaign does not wait for ever.
func TestWhatHoldsPodsUpLaterIsSaidAndEndsTheCampaign(t *testing.T) {
	full := object{"conditions": []condition{{"PodScheduled", "False", "Unschedulable", "0/1 nodes are available"}}}
	for name, c := range map[string]struct {
		pod   map[string]any
		event string
		stale bool
		want  string
	}{
		"the image is gone":                   {pod: waiting("ErrImagePull"), want: "ErrImagePull: M"},
		"the node is full":                    {pod: full, want: "0/1 nodes are available"},
		"a quota is used up":                  {event: "exceeded quota: small", want: "exceeded quota: small"},
		"the network gives no sandbox":        {pod: waiting("ContainerCreating"), want: "ContainerCreating"},
		"the controller waits by itself":      {},
		"a quota was used up, and is no more": {event: "exceeded quota: small", stale: true},
	} {
		t.Run(name, func(t *testing.T) {
			fake, follow := submitted(t, 2)
			follow.StartTimeout = time.Millisecond // less than between two rounds: from the second on that no pod is at work, it is over
			fake.pod("a", 0)
			if c.stale {
				fake.events, fake.eventsAt = []string{c.event}, time.Now().Add(-time.Minute)
			}
			var once sync.Once
			fake.after = func(r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/fetched") {
					return
				}
				once.Do(func() {
					fake.mu.Lock()
					defer fake.mu.Unlock()
					if c.pod != nil {
						fake.pods["b"] = &fakePod{index: 1, phase: "Pending", status: c.pod}
					}
					if c.event != "" && !c.stale {
						fake.events = []string{c.event}
					}
				})
			}
			var mu sync.Mutex
			var said []string
			follow.Notice = func(line string) { mu.Lock(); defer mu.Unlock(); said = append(said, line) }
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.want == "" {
				var rounds atomic.Int32
				fake.before = func(_ http.ResponseWriter, r *http.Request) bool {
					if strings.HasSuffix(r.URL.Path, "/events") && rounds.Add(1) == 20 {
						cancel()
					}
					return false
				}
			}
			_, err := follow.Run(ctx)
			if c.want == "" {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%v; want it to wait", err)
				}
				return
			}
			if !errors.Is(err, ErrNoProgress) || !errors.Is(err, clusters.ErrUnavailable) || errors.Is(err, ErrNotStarted) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
			if all := strings.Join(said, "\n"); c.want != "ContainerCreating" && !strings.Contains(all, c.want) {
				t.Errorf("it was not said:\n%s", all)
			}
		})
	}
}

// Some pods are at work, and others wait: that is said, and ends nothing.
func TestWhatHoldsSomePodsUpIsSaidOnce(t *testing.T) {
	fake, follow := submitted(t, 2)
	follow.StartTimeout = 50 * time.Millisecond
	fake.pod("a", 0).ready = false
	fake.pods["b"] = &fakePod{index: 1, phase: "Pending", status: waiting("ImagePullBackOff")}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var count, later atomic.Int32
	follow.Notice = func(line string) {
		if strings.Contains(line, "ImagePullBackOff: M") {
			count.Add(1)
		}
	}
	fake.before = func(http.ResponseWriter, *http.Request) bool {
		if count.Load() > 0 && later.Add(1) == 40 { // it is asked again and again, and would be said again
			cancel()
		}
		return false
	}
	if _, err := follow.Run(ctx); !errors.Is(err, context.Canceled) || count.Load() != 1 {
		t.Errorf("%v; said %d times", err, count.Load())
	}
}
