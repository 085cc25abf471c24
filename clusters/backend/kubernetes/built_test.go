package kubernetes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheElectorIsBuiltOnceAndKept(t *testing.T) {
	source, err := sourceHere(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(source, folder, "go.mod")); err != nil {
		t.Error(err)
	}
	key, err := keyOf(source)
	if err != nil || len(key) != 12 {
		t.Fatalf("key %q, %v", key, err)
	}
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	kept := filepath.Join(cache, "lockcheck", Name+"-client-"+key, "elector-tested")
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := (elector{}).Obtain(t.Context(), "tested", t.Output()); err != nil || got != kept {
		t.Errorf("found %q, %v; want the one that is kept", got, err)
	}
	t.Setenv(EnvClient, "/nowhere/elector")
	if _, err := (elector{}).Obtain(t.Context(), "tested", t.Output()); err == nil || !strings.Contains(err.Error(), EnvClient+"=/nowhere/elector") {
		t.Errorf("got %v", err)
	}
	t.Setenv(EnvClient, "")
	t.Setenv("PATH", "/nowhere")
	if _, err := (elector{}).Obtain(t.Context(), "tested", t.Output()); err == nil || !strings.Contains(err.Error(), "no Go toolchain") || !strings.Contains(err.Error(), EnvClient) {
		t.Errorf("got %v", err)
	}
}
