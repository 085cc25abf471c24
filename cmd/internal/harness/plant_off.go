//go:build !planted

package harness

import (
	"github.com/spf13/pflag"

	"lockcheck/clusters/resource"
)

// plantResource leaves the resource as it is: only builds with the tag "planted" can break it.
func plantResource(_ *pflag.FlagSet, mode func() resource.Mode) func() resource.Mode { return mode }

// plantPrefix leaves every run its own prefix.
func plantPrefix(prefix string) string { return prefix }
