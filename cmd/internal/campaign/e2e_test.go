//go:build campaign

// On a real Kubernetes node, which scripts/campaigns starts.

package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// program is lockcheck, of the same commit as the image.
func program(t *testing.T) string {
	name := os.Getenv("LOCKCHECK_PROGRAM")
	if name == "" {
		t.Fatal("LOCKCHECK_PROGRAM names no program: run scripts/campaigns")
	}
	return name
}

// written is what a command printed, while it runs.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// lockcheck starts a comparison; its results come below out.
func lockcheck(t *testing.T, kubeconfig, out string, args ...string) (*exec.Cmd, *written) {
	t.Helper()
	return start(t, kubeconfig, append([]string{"compare", "--out=" + out}, args...)...)
}

func start(t *testing.T, kubeconfig string, args ...string) (*exec.Cmd, *written) {
	t.Helper()
	cmd := exec.Command(program(t), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	said := &written{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if t.Failed() {
			t.Logf("%v\n%s", cmd.Args, said)
		}
	})
	return cmd, said
}

func run(t *testing.T, kubeconfig, out string, args ...string) (code int, said string) {
	t.Helper()
	cmd, printed := lockcheck(t, kubeconfig, out, args...)
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), printed.String()
}

func admin(t *testing.T) *API {
	t.Helper()
	api, err := Connect()
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// made is an object in a namespace of its own, and the end of that with the test.
func namespace(t *testing.T, api *API, name string, labels object) string {
	t.Helper()
	name = fmt.Sprintf("%s-%s", name, random(3))
	create(t, api, "/api/v1/namespaces", object{"metadata": object{"name": name, "labels": labels}})
	t.Cleanup(func() {
		_ = api.call(context.Background(), http.MethodDelete, "/api/v1/namespaces/"+name, nil, nil, nil)
	})
	until(t, "the service account of "+name, func() bool {
		return api.call(t.Context(), http.MethodGet, "/api/v1/namespaces/"+name+"/serviceaccounts/default", nil, nil, nil) == nil
	})
	return name
}

func create(t *testing.T, api *API, path string, what object) {
	t.Helper()
	if err := api.call(t.Context(), http.MethodPost, path, nil, what, nil); err != nil {
		t.Fatal(err)
	}
}

func until(t *testing.T, what string, true_ func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Minute); !true_(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 10 minutes", what)
		}
	}
}

// made is a run of a comparison.
type made struct {
	Verdict, Reason, Error, Dir string
	Seed                        int64
}

// verdict is that of a run; "stalled" where it would have passed if this machine had not been busy with something else.
func (r made) verdict() string {
	if r.Verdict == "inconclusive" && strings.HasPrefix(r.Reason, "the harness ") {
		return "stalled"
	}
	return r.Verdict + r.Error
}

// runs are those of the one comparison in a directory, by the names of their cells. Each lies where it says.
func runs(t *testing.T, out string) map[string][]made {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(out, "compare-*", "compare.json"))
	if len(files) != 1 {
		t.Fatalf("%d comparisons in %s", len(files), out)
	}
	var c struct {
		Cells []struct {
			Backend, Nemesis, Workload, TTL string
			Runs                            []made
		}
	}
	text, err := os.ReadFile(files[0])
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]made{}
	for _, cell := range c.Cells {
		name := strings.TrimSuffix(cell.Backend+"/"+cell.Nemesis+"/"+cell.Workload+"/"+cell.TTL, "/")
		if all[name] != nil {
			t.Errorf("%s is there twice", name)
		}
		all[name] = cell.Runs
		for _, r := range cell.Runs {
			if _, err := os.Stat(filepath.Join(filepath.Dir(files[0]), r.Dir, "results.json")); err != nil && r.Error == "" {
				t.Errorf("%s: the merged comparison leads to no run: %v", name, err)
			}
		}
	}
	return all
}

// complete is an error unless each cell has this many runs, of as many seeds, and none was refused.
func complete(t *testing.T, all map[string][]made, cells, repeat int) {
	t.Helper()
	if len(all) != cells {
		t.Errorf("%d cells, want %d", len(all), cells)
	}
	for name, runs := range all {
		seeds := map[int64]bool{}
		for _, r := range runs {
			seeds[r.Seed] = true
			if r.Error != "" {
				t.Errorf("%s, seed %d: %s", name, r.Seed, r.Error)
			}
		}
		if len(runs) != repeat || len(seeds) != repeat {
			t.Errorf("%s has %d runs of %d seeds, want %d", name, len(runs), len(seeds), repeat)
		}
	}
}

// nothingLeft waits until a namespace has no Job, no pod and no ConfigMap of a campaign.
func nothingLeft(t *testing.T, api *API, namespace string) {
	t.Helper()
	for _, path := range []string{"/apis/batch/v1/namespaces/" + namespace + "/jobs", "/api/v1/namespaces/" + namespace + "/pods", "/api/v1/namespaces/" + namespace + "/configmaps"} {
		until(t, path+" is empty", func() bool {
			var list struct{ Items []any }
			return api.call(t.Context(), http.MethodGet, path, url.Values{"labelSelector": {labelCampaign}}, nil, &list) == nil && len(list.Items) == 0
		})
	}
}

var adminConfig = os.Getenv("KUBECONFIG")

// soaking reports whether campaigns have their whole size (scripts/soak); else they have one that tells something in a minute.
func soaking() bool { return os.Getenv("LOCKCHECK_SOAK") == "1" }

// size is that of a comparison.
type size struct {
	backends, nemeses string
	repeat, kills     int
	many              int           // shards that do nothing
	rest              time.Duration // for how long the node is looked at without any campaign
	away              time.Duration // for how long the API server answers nothing
}

var (
	small = size{backends: "etcd,redis", nemeses: "none,pause", repeat: 1, kills: 3, many: 30}
	whole = size{backends: "etcd,redis,zookeeper,postgres", nemeses: "none,pause", repeat: 5, kills: 10, many: 500,
		rest: 20 * time.Second, away: 2 * time.Minute}
)

func asked() size {
	if soaking() {
		return whole
	}
	return small
}

func (s size) cells() int {
	return (strings.Count(s.backends, ",") + 1) * (strings.Count(s.nemeses, ",") + 1)
}

func (s size) matrix(more ...string) []string {
	return append([]string{"--backends=" + s.backends, "--nemeses=" + s.nemeses, "--workloads=lock", "--time-limit=10s", "--seed=1", fmt.Sprintf("--repeat=%d", s.repeat)}, more...)
}

// meetsPause has holders work for longer than a pause takes on a busy machine, after which they would be done.
const meetsPause = "--work=300ms..400ms,tries,given-up"

func matrix(nemeses string) []string {
	more := []string{}
	if nemeses == "none" { // half the load is enough to show that nothing is violated
		more = append(more, "--time-limit=5s")
	}
	return size{backends: "etcd", nemeses: nemeses, repeat: 1}.matrix(more...)
}

// allPassed wants every run to have passed, but for those in which this machine was too busy: they are inconclusive, and not all may be.
func allPassed(t *testing.T, code int, all map[string][]made) {
	t.Helper()
	want, clean := 0, 0
	for name, runs := range all {
		for _, r := range runs {
			switch verdict := r.verdict(); verdict {
			case "pass":
				clean++
			case "stalled":
				want = 2
			default:
				t.Errorf("%s, seed %d: %s", name, r.Seed, verdict)
			}
		}
	}
	if clean == 0 {
		t.Error("no run passed")
	}
	if code != want {
		t.Errorf("exit %d, want %d", code, want)
	}
}

// onCluster asks for half a processor a pod, so that tests beside each other have their pods. The node enforces no quotas.
func onCluster(namespace string, more ...string) []string {
	return append([]string{"--on=kubernetes", "--image=" + os.Getenv("LOCKCHECK_IMAGE_LOCKCHECK"), "--namespace=" + namespace, "--parallel=2", "--cpu=500m", "--memory=2Gi"}, more...)
}

// jobOf is the Job that a command says it has made.
func jobOf(t *testing.T, said *written) (job string) {
	t.Helper()
	until(t, "the Job", func() bool {
		_, rest, found := strings.Cut(said.String(), "as Job ")
		job, _, _ = strings.Cut(rest, " ")
		return found && job != ""
	})
	return job
}

func node(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("../../../scripts/kubernetes", args...).CombinedOutput(); err != nil {
		t.Fatalf("scripts/kubernetes %v: %v\n%s", args, err, out)
	}
}
