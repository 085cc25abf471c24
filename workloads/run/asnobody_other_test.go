//go:build e2e && !linux

package run

import (
	"os/exec"
	"testing"
)

func asNobody(*exec.Cmd) {}

func forNobody(testing.TB, string) {}
