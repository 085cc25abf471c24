//go:build unix

package main

import (
	"runtime"
	"syscall"
)

// opener is the program that opens a file with what the user has chosen for its kind.
var opener = map[bool]string{true: "open", false: "xdg-open"}[runtime.GOOS == "darwin"]

// outliving has a process outlive this program, and not be for its Ctrl-C.
func outliving() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
