package campaign

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// fakeAPI is an API server with one Job, whose pods serve real archives.
type fakeAPI struct {
	t  *testing.T
	mu sync.Mutex

	job       map[string]any
	plan      object
	pods      map[string]*fakePod
	completed []string
	failed    string
	conds     []condition
	deleted   bool
	events    []string
	eventsAt  time.Time       // zero: now
	used      map[string]bool // "VERB group/resource"
	asked     int
	before    func(w http.ResponseWriter, r *http.Request) bool // reports whether it answered
	after     func(r *http.Request)
	lost      func(r *http.Request) bool // reports whether the answer does not arrive, of what was done
	taken     string                     // token of the Job instead of the one that was sent
}

type fakePod struct {
	index   int
	owner   string // UID of its Job; that of ours by default
	phase   string
	ready   bool
	deleted bool // it is on its way out, and stays that if its node is gone
	status  map[string]any
	handler http.Handler
	fetched int // how often its archive was read
}

func newFakeAPI(t *testing.T) (*fakeAPI, *API) {
	f := &fakeAPI{t: t, pods: map[string]*fakePod{}, used: map[string]bool{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	api, err := connect(&rest.Config{Host: server.URL}, "n")
	if err != nil {
		t.Fatal(err)
	}
	return f, api
}

// pod adds a pod of an index that has its results.
func (f *fakeAPI) pod(name string, index int) *fakePod {
	dir := f.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "made-by"), []byte(name), 0o644); err != nil {
		f.t.Fatal(err)
	}
	s := &shardServer{dir: dir, token: "secret", fetched: make(chan struct{})}
	s.outcome.Store(&Outcome{Shard: index + 1})
	p := &fakePod{index: index, phase: "Running", ready: true, handler: s.handler()}
	go func() {
		<-s.fetched
		f.mu.Lock()
		defer f.mu.Unlock()
		p.phase, p.ready = "Succeeded", false
		f.completed = append(f.completed, fmt.Sprint(index))
	}()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pods[name] = p
	return p
}

var verbs = map[string]string{"GET": "get", "POST": "create", "DELETE": "delete"}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, group := strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/n/"), ""
	if in, is := strings.CutPrefix(path, "/apis/batch/v1/namespaces/n/"); is {
		path, group = in, "batch"
	}
	parts := strings.Split(path, "/")
	resource, verb := parts[0], verbs[r.Method]
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	if verb == "get" && len(parts) == 1 {
		verb = "list"
	}
	f.mu.Lock()
	f.asked++
	f.used[verb+" "+group+"/"+resource] = true
	before, after := f.before, f.after
	f.mu.Unlock()
	if before != nil && before(w, r) {
		return
	}
	if after != nil {
		defer after(r)
	}
	if resource == "pods/proxy" {
		f.proxy(w, r, strings.TrimSuffix(parts[1], fmt.Sprintf(":%d", port)), "/"+strings.Join(parts[3:], "/"))
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch verb + " " + resource {
	case "create jobs":
		_ = json.NewDecoder(r.Body).Decode(&f.job)
		f.job["metadata"].(map[string]any)["uid"] = "uid-1"
		if f.taken != "" {
			text, _ := json.Marshal(f.job)
			_ = json.Unmarshal(bytes.ReplaceAll(text, []byte("secret"), []byte(f.taken)), &f.job)
		}
		if f.lost != nil && f.lost(r) {
			f.refuse(w, 504, "the answer was lost")
			return
		}
		f.answer(w, f.job)
	case "create configmaps":
		_ = json.NewDecoder(r.Body).Decode(&f.plan)
		f.answer(w, object{})
	case "get configmaps":
		f.answer(w, f.plan)
	case "get jobs":
		if f.deleted {
			f.refuse(w, 404, "jobs.batch \"x\" not found")
			return
		}
		job := object{}
		for key, value := range f.job {
			job[key] = value
		}
		job["status"] = object{"active": f.active(), "succeeded": len(f.completed), "completedIndexes": strings.Join(f.completed, ","), "failedIndexes": f.failed, "conditions": f.conds}
		f.answer(w, job)
	case "delete jobs":
		var how struct{ Preconditions struct{ UID string } }
		if _ = json.NewDecoder(r.Body).Decode(&how); how.Preconditions.UID != f.job["metadata"].(map[string]any)["uid"] {
			f.refuse(w, 409, "the UID in the precondition is not that of the Job")
			return
		}
		f.deleted = true
		f.answer(w, object{})
	case "list pods":
		var items []object
		for name, p := range f.pods {
			if p.phase == "Succeeded" {
				continue
			}
			status := object{"phase": p.phase}
			for key, value := range p.status {
				status[key] = value
			}
			if p.ready {
				status["conditions"] = []condition{{Type: "Ready", Status: "True"}}
			}
			is := object{"name": name, "uid": name, "annotations": object{indexNote: fmt.Sprint(p.index)}, "ownerReferences": []object{{"uid": cmp.Or(p.owner, "uid-1")}}}
			if p.deleted {
				is["deletionTimestamp"] = time.Now().UTC().Format(time.RFC3339)
			}
			items = append(items, object{"metadata": is, "status": status})
		}
		f.answer(w, object{"items": items, "metadata": object{}})
	case "list events":
		var items []object
		at := f.eventsAt
		if at.IsZero() { // it happens again and again
			at = time.Now()
		}
		for _, message := range f.events {
			items = append(items, object{"message": message, "lastTimestamp": at})
		}
		f.answer(w, object{"items": items})
	default:
		f.refuse(w, 405, "no such request: "+verb+" "+resource)
	}
}

func (f *fakeAPI) active() (n int) {
	for _, p := range f.pods {
		if !p.deleted && (p.phase == "Running" || p.phase == "Pending") {
			n++
		}
	}
	return n
}

// patient is for an API server that is away in a test.
func patient(t *testing.T) Patient {
	return Patient{Notice: func(line string) { t.Log(line) }, Every: 5 * time.Millisecond}
}

func (f *fakeAPI) proxy(w http.ResponseWriter, r *http.Request, name, path string) {
	f.mu.Lock()
	p := f.pods[name]
	if p == nil || p.phase != "Running" {
		f.mu.Unlock()
		f.refuse(w, 503, "no such pod")
		return
	}
	if path == "/results" {
		p.fetched++
	}
	f.mu.Unlock()
	r.URL.Path = path
	p.handler.ServeHTTP(w, r)
}

func (f *fakeAPI) answer(w io.Writer, what any) { _ = json.NewEncoder(w).Encode(what) }

func (f *fakeAPI) refuse(w http.ResponseWriter, code int, message string) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object{"kind": "Status", "message": message})
}

// submitted is a campaign of some shards on a fake API server, and what follows it.
func submitted(t *testing.T, shards int) (*fakeAPI, *Follow) {
	t.Helper()
	fake, api := newFakeAPI(t)
	c := &Campaign{Name: "x", Namespace: "n", Command: "compare", Digest: "d", Shards: shards, Token: "secret", Privileged: true}
	if err := api.Submit(t.Context(), c, Options{Image: "i", Parallel: 2, CPU: "1", Memory: "1Gi"}, []byte("the plan")); err != nil {
		t.Fatal(err)
	}
	return fake, &Follow{API: api, Campaign: c, Store: opened(t, t.TempDir()), Notice: func(line string) { t.Log(line) }, StartTimeout: time.Minute, Every: 5 * time.Millisecond}
}

func opened(t *testing.T, dir string) Store {
	t.Helper()
	store, err := OpenStore(dir, func(string, Outcome) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// madeBy is the pod whose results lie in the place of a shard.
func madeBy(t *testing.T, s Store, shard int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.ShardDir(shard), ResultsDir, "made-by"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
