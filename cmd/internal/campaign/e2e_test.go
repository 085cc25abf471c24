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

	"gopkg.in/yaml.v3"
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
	cmd := exec.Command(program(t), append([]string{"compare", "--out=" + out}, args...)...)
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
	for end := time.Now().Add(5 * time.Minute); !true_(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 5 minutes", what)
		}
	}
}

// cells are the verdicts of a comparison, by cell, and how often each was run.
func cells(t *testing.T, out string) (verdicts map[string]string, made map[string]int) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(out, "compare-*", "compare.json"))
	if len(files) != 1 {
		t.Fatalf("%d comparisons in %s", len(files), out)
	}
	var c struct {
		Cells []struct {
			Backend, Nemesis, Workload string
			Runs                       []struct {
				Verdict, Error string
				Dir            string
			}
		}
	}
	text, err := os.ReadFile(files[0])
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	verdicts, made = map[string]string{}, map[string]int{}
	for _, cell := range c.Cells {
		name := cell.Backend + "/" + cell.Nemesis + "/" + cell.Workload
		var all []string
		for _, r := range cell.Runs {
			all = append(all, r.Verdict+r.Error)
			if _, err := os.Stat(filepath.Join(filepath.Dir(files[0]), r.Dir, "results.json")); err != nil && r.Error == "" {
				t.Errorf("%s: the merged comparison leads to no run: %v", name, err)
			}
		}
		verdicts[name], made[name] = strings.Join(all, ","), len(cell.Runs)
	}
	return verdicts, made
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

func matrix(nemeses string, more ...string) []string {
	return append([]string{"--backends=etcd,redis", "--nemeses=" + nemeses, "--workloads=lock", "--time-limit=10s", "--seed=1"}, more...)
}

func onCluster(namespace string, more ...string) []string {
	return append([]string{"--on=kubernetes", "--image=" + os.Getenv("LOCKCHECK_IMAGE_LOCKCHECK"), "--namespace=" + namespace, "--parallel=2", "--cpu=800m", "--memory=1Gi"}, more...)
}

func TestACampaignComesToTheVerdictsOfThisMachine(t *testing.T) {
	api := admin(t)
	n := namespace(t, api, "verdicts", nil)
	there, here := t.TempDir(), t.TempDir()
	code, _ := run(t, adminConfig, there, append(matrix("none,pause", "--repeat=2"), onCluster(n)...)...)
	want, _ := run(t, adminConfig, here, matrix("none,pause", "--repeat=2", "--provider=local")...)
	if code != want || want != 1 {
		t.Errorf("exit %d in the cluster, %d here; want 1", code, want)
	}
	got, _ := cells(t, there)
	local, _ := cells(t, here)
	t.Log(got)
	for name, verdict := range local {
		if got[name] != verdict {
			t.Errorf("%s: %s in the cluster, %s here", name, got[name], verdict)
		}
	}
	nothingLeft(t, api, n)
}

// Pods are deleted while they work and while they serve, the API server and the submitting program are killed: the comparison is complete, and no cell
// has a run too many.
func TestWhateverIsKilledTheComparisonIsComplete(t *testing.T) {
	api := admin(t)
	n := namespace(t, api, "killed", nil)
	out := t.TempDir()
	cmd, said := lockcheck(t, adminConfig, out, append(matrix("none,pause,kill"), onCluster(n)...)...)
	var job string
	until(t, "the Job", func() bool {
		_, rest, found := strings.Cut(said.String(), "as Job ")
		job, _, _ = strings.Cut(rest, " ")
		return found && job != ""
	})
	killed := map[string]bool{}
	killPod := func() {
		until(t, "a pod at work", func() bool {
			var pods struct{ Items []podObject }
			if err := api.call(t.Context(), http.MethodGet, "/api/v1/namespaces/"+n+"/pods", nil, nil, &pods); err != nil {
				return false
			}
			for _, pod := range pods.Items {
				if pod.Status.Phase == "Running" && pod.Metadata.DeletionTimestamp == nil && !killed[pod.Metadata.Name] {
					killed[pod.Metadata.Name] = true
					return api.call(t.Context(), http.MethodDelete, "/api/v1/namespaces/"+n+"/pods/"+pod.Metadata.Name, url.Values{"gracePeriodSeconds": {"0"}}, nil, nil) == nil
				}
			}
			return false
		})
	}
	killPod()
	until(t, "a shard", func() bool { return strings.Contains(said.String(), "1 of 6 shards fetched") })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	killPod()
	node(t, "signal", "apiserver", "KILL")
	cmd, said = lockcheck(t, adminConfig, out, "--attach-job="+job, "--namespace="+n)
	until(t, "the API server", func() bool { return api.call(t.Context(), http.MethodGet, "/readyz", nil, nil, nil) == nil })
	until(t, "another shard", func() bool { return strings.Contains(said.String(), "3 of 6 shards fetched") })
	node(t, "signal", "apiserver", "KILL")
	node(t, "signal", "kubelet", "STOP")
	time.Sleep(60 * time.Second)
	node(t, "signal", "kubelet", "CONT")
	killPod()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit %d, want 1", code)
	}
	_, made := cells(t, out)
	if len(made) != 6 {
		t.Errorf("%d cells: %v", len(made), made)
	}
	for name, runs := range made {
		if runs != 1 {
			t.Errorf("%s was run %d times", name, runs)
		}
	}
	nothingLeft(t, api, n)
}

func node(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("../../../scripts/kubernetes", args...).CombinedOutput(); err != nil {
		t.Fatalf("scripts/kubernetes %v: %v\n%s", args, err, out)
	}
}

// The Role of role.yaml, with which a whole campaign is made, left and come back to.
func TestTheRoleIsEnough(t *testing.T) {
	api := admin(t)
	n := namespace(t, api, "role", nil)
	text, err := os.ReadFile("role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var role object
	if err := yaml.Unmarshal(text, &role); err != nil {
		t.Fatal(err)
	}
	rbac := "/apis/rbac.authorization.k8s.io/v1/namespaces/" + n
	asUser := strings.Replace(adminConfig, "admin", "campaigner", 1)
	code, said := run(t, asUser, t.TempDir(), append(matrix("none"), onCluster(n)...)...)
	if code != 69 || !strings.Contains(said, "role.yaml") {
		t.Errorf("without the Role: exit %d, want 69\n%s", code, said)
	}
	create(t, api, rbac+"/roles", role)
	create(t, api, rbac+"/rolebindings", object{"metadata": object{"name": "b"}, "roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "lockcheck-campaigns"},
		"subjects": []object{{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "campaigner"}}})
	out := t.TempDir()
	cmd, printed := lockcheck(t, asUser, out, append(matrix("none"), onCluster(n)...)...)
	until(t, "the Job", func() bool { return strings.Contains(printed.String(), "as Job ") })
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
	_, rest, _ := strings.Cut(printed.String(), "--attach-job=")
	job, _, _ := strings.Cut(rest, " ")
	if code := cmd.ProcessState.ExitCode(); code != 130 || job == "" {
		t.Fatalf("left by Ctrl-C: exit %d, Job %q", code, job)
	}
	if code, _ = run(t, asUser, out, "--attach-job="+job, "--namespace="+n); code != 0 {
		t.Errorf("come back to: exit %d, want 0", code)
	}
	nothingLeft(t, api, n)
}

// What still works where no privileges are given: pods on loopback. That is said.
func TestARestrictedNamespaceHasPodsOnLoopback(t *testing.T) {
	api := admin(t)
	n := namespace(t, api, "restricted", object{"pod-security.kubernetes.io/enforce": "restricted"})
	out := t.TempDir()
	code, said := run(t, adminConfig, out, append(matrix("pause,partition"), onCluster(n)...)...)
	got, _ := cells(t, out)
	if !strings.Contains(got["etcd/pause/lock"], "violation") || strings.Contains(got["etcd/partition/lock"], "violation") || strings.Contains(got["etcd/partition/lock"], "pass") {
		t.Errorf("exit %d: %v", code, got)
	}
	if !strings.Contains(said, unprivilegedWords) {
		t.Errorf("it is not said that the pods had no privileges:\n%s", said)
	}
	nothingLeft(t, api, n)
}

const unprivilegedWords = "the namespace forbids the privileges that network namespaces need"

func TestWhatCannotBeIsSaidAndLeavesNothing(t *testing.T) {
	api := admin(t)
	n := namespace(t, api, "bad", nil)
	small := namespace(t, api, "quota", nil)
	create(t, api, "/api/v1/namespaces/"+small+"/resourcequotas", object{"metadata": object{"name": "small"}, "spec": object{"hard": object{"limits.cpu": "100m"}}})
	nowhere := filepath.Join(t.TempDir(), "config")
	text, _ := os.ReadFile(adminConfig)
	if err := os.WriteFile(nowhere, bytes.Replace(text, []byte(":6443"), []byte(":6444"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		kubeconfig, namespace string
		more                  []string
		code                  int
		want                  string
	}{
		"no cluster":         {nowhere, n, nil, 69, "does not answer"},
		"no namespace":       {adminConfig, "nobody-made-it", nil, 69, `"nobody-made-it" not found`},
		"no such image":      {adminConfig, n, []string{"--image=registry.invalid/lockcheck:1"}, 69, "Image"},
		"a full node":        {adminConfig, n, []string{"--cpu=64", "--start-timeout=10s"}, 69, "Insufficient cpu"},
		"a quota":            {adminConfig, small, []string{"--start-timeout=10s"}, 69, "exceeded quota"},
		"no image at all":    {adminConfig, n, []string{"--image="}, 64, "--image is needed"},
		"a Job that is none": {adminConfig, n, nil, 69, "there is no Job"},
	} {
		args := append(append(matrix("none"), onCluster(c.namespace)...), c.more...)
		if name == "a Job that is none" {
			args = []string{"--attach-job=none", "--namespace=" + n}
		}
		code, said := run(t, c.kubeconfig, t.TempDir(), args...)
		if code != c.code || !strings.Contains(said, c.want) {
			t.Errorf("%s: exit %d, want %d and %q:\n%s", name, code, c.code, c.want, said)
		}
		t.Logf("%s: %s", name, said)
	}
	nothingLeft(t, api, n)
	nothingLeft(t, api, small)
}
