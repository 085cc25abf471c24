package clusters

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// programOf writes a server that says a version into a directory of its own, and returns that.
func programOf(t *testing.T, version string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "locksmith"), []byte("#!/bin/sh\necho 'locksmith "+version+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// locksmith is a service of which lockcheck's own binary has 3.7.3.
func locksmith() Software {
	return Software{
		Backend: "locksmith",
		OnMachine: func(places ServerPaths) ([]string, error) {
			if places.Bin == "" {
				return nil, nil
			}
			found, err := FindProgram(places, "locksmith", "")
			return []string{found}, err
		},
		Version: func(ctx context.Context, found []string) (string, error) {
			if len(found) == 0 {
				return "3.7.3", nil
			}
			return VersionOf(ctx, regexp.MustCompile(`locksmith (\S+)`), found[0])
		},
	}
}

// A version is found wherever its server is: built in, on PATH, built by scripts/servers, or among the named programs, which are then the only ones.
func TestAServerOfAVersion(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	onPath, kept, named, other := programOf(t, "3.4.23"), programOf(t, "3.5.12"), programOf(t, "3.6.1"), programOf(t, "3.6.2")
	servers := KeptServers()[0]
	if err := os.MkdirAll(servers, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(kept, filepath.Join(servers, "3.5.12")); err != nil {
		t.Fatal(err)
	}
	broken := programOf(t, "3.9")
	if err := os.WriteFile(filepath.Join(broken, "locksmith"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", strings.Join([]string{"", onPath, onPath, filepath.Join(onPath, "none"), os.Getenv("PATH")}, string(filepath.ListSeparator)))
	list := named + string(filepath.ListSeparator) + other
	for _, test := range []struct {
		bin, version string
		want         string // the program
		is           error
		says         []string
	}{
		{"", "", "", nil, nil},
		{"", "3.7.3", "", nil, nil},
		{"", "3.7", "", nil, nil},
		{"", "3.4.23", onPath, nil, nil},
		{"", "3.4", onPath, nil, nil},
		{"", "3.5.12", filepath.Join(servers, "3.5.12"), nil, nil},
		{"", "3", "", ErrUsage, []string{"3.7.3 (built in)", "3.4.23", "3.5.12"}},
		{"", "3.5.1", "", ErrUnavailable, []string{"--server-version=3.5.1", "3.7.3 (built in), 3.4.23 (" + onPath, "scripts/servers"}},
		{list, "3.6.2", other, nil, nil},
		{list, "", named, nil, nil},
		{list, "3.4.23", "", ErrUnavailable, []string{"3.6.1 (" + named, "3.6.2"}},
		{list, "3.6", "", ErrUsage, []string{"3.6.1", "3.6.2"}},
		{broken, "3.9", "", ErrUnavailable, []string{"there are: none", "did not say its version"}},
	} {
		found, err := locksmith().Find(t.Context(), ServerPaths{Bin: test.bin, Version: test.version})
		if !errors.Is(err, test.is) {
			t.Errorf("%+v: %v", test, err)
		}
		for _, says := range test.says {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%+v: %v lacks %q", test, err, says)
			}
		}
		want := ""
		if test.want != "" {
			want = filepath.Join(test.want, "locksmith")
		}
		if got := strings.Join(found, " "); test.is == nil && got != want {
			t.Errorf("%+v: found %q", test, got)
		}
	}
}

// Only what says its own version, and can be built without its module's replacements, is built in another one.
func TestVersionsThatScriptsServersCannotBuild(t *testing.T) {
	for asked, says := range map[string]string{
		"etcd@": "names no version", "etcd@../3.5": "names no version", "no@1.2.3": "no server called no@1.2.3", "kubelet@1.30.0": "leave out @1.30.0",
		"consul@1.2.3": "leave out @1.2.3", "versitygw@1.2.3": "leave out @1.2.3",
	} {
		cmd := exec.Command("../scripts/servers", asked)
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 64 || !strings.Contains(string(out), says) {
			t.Errorf("%s: %v, want exit 64 and %q:\n%s", asked, err, says, out)
		}
	}
}
