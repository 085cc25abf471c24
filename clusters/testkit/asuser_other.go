//go:build !linux

package testkit

import "syscall"

// as is for Linux, where the tests run that need it.
func as(uint32) *syscall.SysProcAttr { return nil }
