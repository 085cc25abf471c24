package nats

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/clusters"
)

func TestAServerWhoseKeysHaveNoTTLIsRefused(t *testing.T) {
	for says, want := range map[string]string{"nats-server: v2.10.22": "2.11 or later", "nats-server: v2.9.0": "2.11 or later", "nats-server: v2.11.0": "", "nats-server: v2.15.2": "", "redis 7": "is not NATS"} {
		program := filepath.Join(t.TempDir(), program)
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho '"+says+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := onMachine(clusters.ServerPaths{Bin: program})
		if want == "" && err != nil || want != "" && (!errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", says, err)
		}
	}
}
