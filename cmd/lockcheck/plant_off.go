//go:build !planted

package main

import (
	"github.com/spf13/cobra"

	"lockcheck/workloads/resource"
)

// plantResource leaves the resource as it is: only builds with the tag "planted" can break it.
func plantResource(_ *cobra.Command, mode func() resource.Mode) func() resource.Mode { return mode }
