package harness

import "syscall"

// Self is this program, even if its file was removed since it was started: go test removes it early.
func Self() (string, error) { return "/proc/self/exe", nil }

// apart gives a run a process group of its own: a terminal's Ctrl-C reaches this program alone, which passes it on once;
// twice would be an impatient user's. Should this program be killed, the run is asked to end, and cleans up.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
