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

	"go.yaml.in/yaml/v3"

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

// A node that is gone never says that its pods have ended: they stay on their way out. Each index is done by another pod, and who waits hears of it.
func TestAPodOfANodeThatIsGoneIsNotWaitedFor(t *testing.T) {
	fake, follow := submitted(t, 1)
	gone := fake.pod("gone", 0)
	gone.deleted = true
	said := ""
	follow.Notice = func(line string) {
		said += line + "\n"
		if strings.Contains(line, "gone of shard 1") { // as the Job's controller makes it
			fake.pod("next", 0)
		}
	}
	if missing, err := follow.Run(t.Context()); err != nil || len(missing) > 0 {
		t.Fatalf("missing %v, %v", missing, err)
	}
	if got := madeBy(t, follow.Store, 1); got != "next" || gone.fetched > 0 {
		t.Errorf("shard 1 was made by %s; the results of the pod that is gone were read %d times", got, gone.fetched)
	}
	if want := "the pod gone of shard 1 ended before its results were fetched (it was deleted, or its node is gone); it is run again"; strings.Count(said, want) != 1 {
		t.Errorf("it was said:\n%s", said)
	}
}

// Where no node takes the pod that is to come instead, the campaign ends with the reason: the one that is gone is not at work.
func TestAPodOfANodeThatIsGoneIsNotAtWork(t *testing.T) {
	fake, follow := submitted(t, 1)
	fake.pod("gone", 0).deleted = true
	next := fake.pod("next", 0)
	next.phase, next.ready = "Pending", false
	next.status = object{"conditions": []condition{{Type: "PodScheduled", Status: "False", Reason: "Unschedulable", Message: "0/1 nodes are available"}}}
	follow.StartTimeout = 50 * time.Millisecond
	if _, err := follow.Run(t.Context()); !errors.Is(err, ErrNoProgress) || !strings.Contains(err.Error(), "0/1 nodes are available") {
		t.Errorf("%v, want that none is at work any more, and why", err)
	}
}

// Of a Job that has failed no pod is run again, and none is said to be.
func TestAPodOfAJobThatHasFailedIsNotSaidToBeRunAgain(t *testing.T) {
	fake, follow := submitted(t, 1)
	fake.pod("gone", 0).deleted = true
	fake.conds = []condition{{Type: "Failed", Status: "True", Reason: "DeadlineExceeded"}}
	said := ""
	follow.Notice = func(line string) { said += line + "\n" }
	missing, err := follow.Run(t.Context())
	if err != nil || len(missing) != 1 || !strings.Contains(missing[0].Why, "DeadlineExceeded") {
		t.Errorf("missing %v, %v", missing, err)
	}
	if !strings.Contains(said, "the pod gone of shard 1 ended before") || strings.Contains(said, "run again") {
		t.Errorf("it was said:\n%s", said)
	}
}

// What the Job says of pods that are being deleted decides whether it makes others: it must not wait until they have ended.
func TestTheJobDoesNotWaitForPodsThatAreBeingDeleted(t *testing.T) {
	fake, _ := submitted(t, 1)
	spec := fake.job["spec"].(map[string]any)
	if got := spec["podReplacementPolicy"]; got != "TerminatingOrFailed" || spec["podFailurePolicy"] != nil {
		t.Errorf("podReplacementPolicy %v, podFailurePolicy %v", got, spec["podFailurePolicy"])
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
		Rules []struct {
			APIGroups        []string `yaml:"apiGroups"`
			Resources, Verbs []string
		}
	}
	if err := yaml.Unmarshal(text, &role); err != nil {
		t.Fatal(err)
	}
	var allowed, used []string
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				allowed = append(allowed, verb+" "+strings.Join(rule.APIGroups, ",")+"/"+resource)
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
