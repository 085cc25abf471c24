package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What the first command compiles and downloads from empty caches is counted, because time says more of the machine. Each may
// grow by a quarter before its authors have to decide that it is worth it, and to record it here.
const (
	recordedPackages = 718 + 97 // of client-go, which reads kubeconfigs for --on=kubernetes
	recordedModules  = 120 + 15
)

func TestTheFirstCommandDoesNotGrow(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", ".")
	list.Env = append(list.Environ(), "GOFLAGS=", "CGO_ENABLED=1")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Split(strings.TrimSpace(string(out)), "\n")
	var modules []string
	for _, line := range packages {
		if _, module, _ := strings.Cut(line, " "); module != "" && module != "lockcheck" {
			modules = append(modules, module)
		}
	}
	slices.Sort(modules)
	for what, c := range map[string]struct{ now, recorded int }{
		"packages": {len(packages), recordedPackages}, "modules": {len(slices.Compact(modules)), recordedModules},
	} {
		t.Logf("%d %s, %d recorded", c.now, what, c.recorded)
		if 4*c.now > 5*c.recorded {
			t.Errorf("lockcheck is made of %d %s, more than a quarter above the %d that are recorded: which import brings them, and is it worth it? (go list -deps ./cmd/lockcheck)", c.now, what, c.recorded)
		}
	}
}
