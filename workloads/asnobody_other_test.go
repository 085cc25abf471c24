//go:build !linux

package workloads

import (
	"os/exec"
	"testing"
)

func asNobody(*exec.Cmd) {}

func forNobody(testing.TB, string) {}
