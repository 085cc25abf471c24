package kubernetes

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/clusters"
)

// said is a program that says something when it is asked for its version.
func said(t *testing.T, words string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	script := "#!/bin/sh\necho '" + words + "'\n"
	if err := os.WriteFile(filepath.Join(dir, program), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAProgramThatIsNoAPIServerIsNamed(t *testing.T) {
	for words, wrong := range map[string]string{
		"Kubernetes v1.34.4":        "",
		"Kubernetes v1.34.0-alpha.": "",
		"Kubernetes v1.33.9":        "is Kubernetes 1.33.9: the lock clients are for 1.34",
		"Kubernetes v1.340.1":       "is Kubernetes 1.340.1",
		"etcd Version: 3.7.3":       "is no kube-apiserver",
	} {
		t.Run(words, func(t *testing.T) {
			dir := said(t, words)
			found, err := onMachine(clusters.ServerPaths{Bin: dir})
			if wrong == "" {
				if err != nil || len(found) != 1 || found[0] != filepath.Join(dir, program) {
					t.Errorf("found %v, %v", found, err)
				}
				return
			}
			if !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), wrong) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWhereAnAPIServerIsLookedFor(t *testing.T) {
	onPath, ofEnvtest, kept := said(t, "Kubernetes v1.34.1"), said(t, "Kubernetes v1.34.2"), t.TempDir()
	servers := filepath.Join(kept, "lockcheck", "servers")
	if err := os.MkdirAll(filepath.Dir(servers), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(said(t, "Kubernetes v1.34.3"), servers); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, path, assets, cache, want string }{
		{"on PATH", onPath, ofEnvtest, kept, onPath},
		{"envtest's", "/nowhere", ofEnvtest, kept, ofEnvtest},
		{"kept", "/nowhere", "", kept, servers},
		{"nowhere", "/nowhere", "", "/nowhere", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PATH", c.path+":/bin:/usr/bin")
			t.Setenv(assets, c.assets)
			t.Setenv("XDG_CACHE_HOME", c.cache)
			found, err := onMachine(clusters.ServerPaths{})
			switch {
			case c.want == "":
				if !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), "scripts/servers kube-apiserver") {
					t.Errorf("found %v, %v", found, err)
				}
			case err != nil || found[0] != filepath.Join(c.want, program):
				t.Errorf("found %v, %v; want that of %s", found, err, c.want)
			}
		})
	}
}
