package client

import (
	"runtime/debug"
	"testing"
)

func TestALibrarysVersionIsTheOneThatTheProgramWasBuiltWith(t *testing.T) {
	info := &debug.BuildInfo{Deps: []*debug.Module{
		{Path: "example.org/lock", Version: "v1.2.3"},
		{Path: "example.org/lock/v4", Version: "v4.18.0", Replace: &debug.Module{Path: "../lock"}},
		{Path: "example.org/other", Version: "v0.1.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v0.2.0"}},
		{Path: "example.org/nothing"},
	}}
	for module, want := range map[string]string{
		"example.org/lock":    "1.2.3",
		"example.org/lock/v4": "4.18.0 (replaced by ../lock)",
		"example.org/other":   "0.1.0 (replaced by example.org/fork v0.2.0)",
		"example.org/nothing": unknownVersion,
		"example.org/lo":      unknownVersion,
	} {
		if got := versionIn(info, module); got != want {
			t.Errorf("%s is %q, want %q", module, got, want)
		}
	}
}
