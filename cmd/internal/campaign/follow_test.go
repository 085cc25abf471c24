package campaign

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"lockcheck/clusters"
)

func TestEachShardIsFetchedOnceAndItsPodTold(t *testing.T) {
	fake, follow := submitted(t, 3)
	pods := []*fakePod{fake.pod("a", 0), fake.pod("b", 1), fake.pod("c", 2)}
	missing, err := follow.Run(t.Context())
	if err != nil || len(missing) > 0 {
		t.Fatalf("missing %v, %v", missing, err)
	}
	for i, name := range []string{"a", "b", "c"} {
		if got := madeBy(t, follow.Store, i+1); got != name {
			t.Errorf("shard %d was made by %s, not by %s", i+1, got, name)
		}
		if pods[i].fetched != 1 {
			t.Errorf("the results of %s were read %d times", name, pods[i].fetched)
		}
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		fake.mu.Lock()
		told := len(fake.completed)
		fake.mu.Unlock()
		if told == 3 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d of 3 pods were told", told)
		}
	}
}

// A pod dies after its results were read and before it was told: its index is run again, and what the second pod has is not taken.
func TestASecondPodOfAShardIsToldAndNotCounted(t *testing.T) {
	fake, follow := submitted(t, 2)
	fake.pod("first", 0)
	var lost atomic.Bool
	fake.before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/fetched") || lost.Swap(true) {
			return false
		}
		fake.mu.Lock()
		fake.pods["first"].phase, fake.pods["first"].ready = "Failed", false
		fake.mu.Unlock()
		fake.pod("second", 0)
		fake.pod("other", 1)
		fake.refuse(w, 502, "the pod is gone")
		return true
	}
	missing, err := follow.Run(t.Context())
	if err != nil || len(missing) > 0 || !lost.Load() {
		t.Fatalf("missing %v, %v, lost %v", missing, err, lost.Load())
	}
	if got := madeBy(t, follow.Store, 1); got != "first" {
		t.Errorf("shard 1 was made by %s", got)
	}
	if n := fake.pods["second"].fetched; n != 0 {
		t.Errorf("the second pod's results were read %d times", n)
	}
}

// An archive that breaks off is no shard, and is read again.
func TestAnArchiveThatBreaksOffIsReadAgain(t *testing.T) {
	fake, follow := submitted(t, 1)
	fake.pod("a", 0)
	var tries atomic.Int32
	fake.before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/results") || tries.Add(1) > 2 {
			return false
		}
		var whole strings.Builder
		if err := pack(&whole, fake.t.TempDir(), true, []byte(`{"shard":1}`)); err != nil {
			t.Error(err)
		}
		_, _ = w.Write([]byte(whole.String()[:whole.Len()-6])) // into its checksum
		return true
	}
	if missing, err := follow.Run(t.Context()); err != nil || len(missing) > 0 {
		t.Fatalf("missing %v, %v", missing, err)
	}
	if tries.Load() != 3 || madeBy(t, follow.Store, 1) != "a" {
		t.Errorf("after %d tries the shard was made by %s", tries.Load(), madeBy(t, follow.Store, 1))
	}
	entries, _ := os.ReadDir(follow.Store.Dir)
	if len(entries) != 1 {
		t.Errorf("beside the shard there is %v", entries)
	}
}

func TestAnAPIServerThatIsAwayIsAskedAgain(t *testing.T) {
	fake, follow := submitted(t, 1)
	fake.pod("a", 0)
	var asked atomic.Int32
	fake.before = func(w http.ResponseWriter, _ *http.Request) bool {
		if n := asked.Add(1); n > 10 && n != 13 { // away, then once more amid a round
			return false
		}
		fake.refuse(w, 503, "away")
		return true
	}
	if missing, err := follow.Run(t.Context()); err != nil || len(missing) > 0 {
		t.Fatalf("missing %v, %v", missing, err)
	}
}

func TestWhatWasFetchedBeforeIsNotFetchedAgain(t *testing.T) {
	fake, follow := submitted(t, 2)
	fake.pod("a", 0)
	ctx, cancel := context.WithCancel(t.Context())
	follow.Notice = func(line string) {
		if strings.HasPrefix(line, "1 of 2 shards fetched") {
			cancel()
		}
	}
	if _, err := follow.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := os.MkdirAll(follow.Store.Dir+"/"+partial+"2-dead", 0o755); err != nil { // the program was killed while it wrote
		t.Fatal(err)
	}
	again := *follow
	again.Store, again.Notice = opened(t, follow.Store.Dir), func(line string) { t.Log(line) }
	fake.pod("b", 1)
	if missing, err := again.Run(t.Context()); err != nil || len(missing) > 0 {
		t.Fatalf("missing %v, %v", missing, err)
	}
	if n := fake.pods["a"].fetched; n != 1 {
		t.Errorf("the first shard was read %d times", n)
	}
}

func TestWhatCannotComeAnyMoreIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*fakeAPI)
		want string
	}{
		"fetched elsewhere": {func(f *fakeAPI) { f.completed = []string{"1"} }, "fetched by another"},
		"killed too often":  {func(f *fakeAPI) { f.failed = "1" }, "ended more often"},
		"out of time": {func(f *fakeAPI) {
			f.conds = []condition{{Type: "Failed", Status: "True", Reason: "DeadlineExceeded"}}
		}, "DeadlineExceeded"},
		"deleted": {func(f *fakeAPI) { f.deleted = true }, "deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			fake, follow := submitted(t, 2)
			fake.pod("a", 0)
			fake.after = func(r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/results") {
					fake.mu.Lock()
					defer fake.mu.Unlock()
					c.set(fake)
				}
			}
			missing, err := follow.Run(t.Context())
			if err != nil || len(missing) != 1 || missing[0].Shard != 2 || !strings.Contains(missing[0].Why, c.want) {
				t.Errorf("missing %v, %v; want shard 2, %q", missing, err, c.want)
			}
		})
	}
}

func waiting(reason string) map[string]any {
	return object{"containerStatuses": []object{{"state": object{"waiting": object{"reason": reason, "message": "M"}}}}}
}

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
			follow.StartTimeout = 100 * time.Millisecond
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
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if c.want != "" {
				ctx = t.Context()
			}
			_, err := follow.Run(ctx)
			if c.want == "" {
				if !errors.Is(err, context.DeadlineExceeded) {
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

func TestComingBackWaitsForAnAPIServerThatIsAway(t *testing.T) {
	fake, follow := submitted(t, 1)
	var asked atomic.Int32
	fake.before = func(w http.ResponseWriter, _ *http.Request) bool {
		if n := asked.Add(1); n > 5 && n != 7 { // away, and again between Job and ConfigMap
			return false
		}
		fake.refuse(w, 503, "away")
		return true
	}
	var said []string
	wait := Patient{Notice: func(line string) { said = append(said, line) }, Every: time.Millisecond}
	c, plan, err := follow.API.Find(t.Context(), "n", "x", wait)
	if err != nil || string(plan) != "the plan" || c.UID != "uid-1" {
		t.Fatalf("found %q, %v", plan, err)
	}
	if len(said) != 4 || !strings.Contains(said[0], "does not answer") || !strings.Contains(said[1], "answers again") {
		t.Errorf("said %q", said)
	}
	fake.before = func(w http.ResponseWriter, _ *http.Request) bool { fake.refuse(w, 403, "forbidden"); return true }
	if _, _, err := follow.API.Find(t.Context(), "n", "x", wait); !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), "role.yaml") {
		t.Errorf("without rights: %v", err)
	}
	fake.before = func(w http.ResponseWriter, _ *http.Request) bool { fake.refuse(w, 503, "away"); return true }
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := follow.API.Find(ctx, "n", "x", wait); err == nil || ctx.Err() == nil {
		t.Errorf("it did not end with its context: %v", err)
	}
}

// What a campaign asks for, in all that it does, is what the Role allows, and nothing else.
func TestTheRoleIsExactlyWhatIsUsed(t *testing.T) {
	fake, follow := submitted(t, 1)
	follow.StartTimeout = time.Hour
	fake.events = []string{"wait"}
	var once sync.Once
	fake.after = func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") { // what a pod that does not come waits for has been asked
			once.Do(func() { fake.pod("a", 0) })
		}
	}
	if _, err := follow.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, plan, err := follow.API.Find(t.Context(), "n", "x", patient(t)); err != nil || string(plan) != "the plan" {
		t.Fatalf("found %q, %v", plan, err)
	}
	if err := follow.API.Delete(t.Context(), follow.Campaign, patient(t)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var role struct {
		Rules []struct{ Resources, Verbs []string }
	}
	if err := yaml.Unmarshal(text, &role); err != nil {
		t.Fatal(err)
	}
	var allowed, used []string
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				allowed = append(allowed, verb+" "+resource)
			}
		}
	}
	for what := range fake.used {
		used = append(used, what)
	}
	slices.Sort(allowed)
	slices.Sort(used)
	if !slices.Equal(allowed, used) {
		t.Errorf("allowed: %v\nused:    %v", allowed, used)
	}
}

func TestASubmissionThatIsRefusedLeavesNothing(t *testing.T) {
	fake, api := newFakeAPI(t)
	fake.before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/configmaps") {
			return false
		}
		fake.refuse(w, 403, `configmaps is forbidden: User "u" cannot create resource "configmaps"`)
		return true
	}
	err := api.Submit(t.Context(), &Campaign{Name: "x", Namespace: "n", Shards: 1}, Options{Image: "i", Parallel: 1, CPU: "1", Memory: "1Gi"}, nil)
	if !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), "role.yaml") {
		t.Errorf("%v", err)
	}
	if !fake.deleted {
		t.Error("the Job is left")
	}
}
