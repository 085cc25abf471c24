//go:build campaign

package campaign

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// grant makes the Role of role.yaml in a namespace, and binds it to a subject.
func grant(t *testing.T, api *API, namespace string, subject object) {
	t.Helper()
	text, err := os.ReadFile("role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var role object
	if err := yaml.Unmarshal(text, &role); err != nil {
		t.Fatal(err)
	}
	rbac := "/apis/rbac.authorization.k8s.io/v1/namespaces/" + namespace
	create(t, api, rbac+"/roles", role)
	create(t, api, rbac+"/rolebindings", object{"metadata": object{"name": "b"}, "roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "lockcheck-campaigns"},
		"subjects": []object{subject}})
}

// The Role of role.yaml, with which a whole campaign is made, left and come back to.
func TestTheRoleIsEnough(t *testing.T) {
	t.Parallel()
	api := admin(t)
	n := namespace(t, api, "role", nil)
	asUser := strings.Replace(adminConfig, "admin", "campaigner", 1)
	code, said := run(t, asUser, t.TempDir(), append(matrix("none"), onCluster(n)...)...)
	if code != 69 || !strings.Contains(said, "role.yaml") {
		t.Errorf("without the Role: exit %d, want 69\n%s", code, said)
	}
	grant(t, api, n, object{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "campaigner"})
	out := t.TempDir()
	cmd, printed := lockcheck(t, asUser, out, append(matrix("none"), onCluster(n)...)...)
	jobOf(t, printed)
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
	_, rest, _ := strings.Cut(printed.String(), "--attach-job=")
	job, _, _ := strings.Cut(rest, " ")
	if code := cmd.ProcessState.ExitCode(); code != 130 || job == "" {
		t.Fatalf("left by Ctrl-C: exit %d, Job %q", code, job)
	}
	code, _ = run(t, asUser, out, "--attach-job="+job, "--namespace="+n)
	allPassed(t, code, runs(t, out))
	nothingLeft(t, api, n)
}

// What still works where no privileges are given: pods on loopback. That is said.
func TestARestrictedNamespaceHasPodsOnLoopback(t *testing.T) {
	t.Parallel()
	api := admin(t)
	n := namespace(t, api, "restricted", object{"pod-security.kubernetes.io/enforce": "restricted"})
	out := t.TempDir()
	code, said := run(t, adminConfig, out, append(matrix("pause,partition"), onCluster(n, meetsPause)...)...)
	t.Log(said)
	got := runs(t, out)
	if paused := got["etcd/pause/lock"]; len(paused) != 1 || paused[0].verdict() != "violation" {
		t.Errorf("exit %d: under pause %+v", code, paused)
	}
	if cut := got["etcd/partition/lock"]; len(cut) != 1 || cut[0].Verdict != "" || !strings.Contains(cut[0].Error, "network") {
		t.Errorf("exit %d: under partition %+v", code, cut)
	}
	if !strings.Contains(said, unprivilegedWords) {
		t.Errorf("it is not said that the pods had no privileges:\n%s", said)
	}
	nothingLeft(t, api, n)
}

const unprivilegedWords = "the namespace forbids the privileges that network namespaces need"

func TestWhatCannotBeIsSaidAndLeavesNothing(t *testing.T) {
	t.Parallel()
	api := admin(t)
	n := namespace(t, api, "bad", nil)
	small := namespace(t, api, "quota", nil)
	create(t, api, "/api/v1/namespaces/"+small+"/resourcequotas", object{"metadata": object{"name": "small"}, "spec": object{"hard": object{"limits.cpu": "100m"}}})
	nowhere := filepath.Join(t.TempDir(), "config")
	text, _ := os.ReadFile(adminConfig)
	if err := os.WriteFile(nowhere, bytes.Replace(text, []byte(":6443"), []byte(":6444"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
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
	}
	t.Run("each", func(t *testing.T) {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				args := append(append(matrix("none"), onCluster(c.namespace)...), c.more...)
				if name == "a Job that is none" {
					args = []string{"--attach-job=none", "--namespace=" + n}
				}
				code, said := run(t, c.kubeconfig, t.TempDir(), args...)
				if code != c.code || !strings.Contains(said, c.want) {
					t.Errorf("exit %d, want %d and %q:\n%s", code, c.code, c.want, said)
				}
				t.Log(said)
			})
		}
	})
	nothingLeft(t, api, n)
	nothingLeft(t, api, small)
}
