package main

import "syscall"

// opener is the program that opens a file with what the user has chosen for its kind.
var opener = "rundll32 url.dll,FileProtocolHandler"

// outliving has nothing to do: a process of a window's own is not for this program's Ctrl-C.
func outliving() *syscall.SysProcAttr { return nil }
