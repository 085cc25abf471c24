//go:build !linux

package agent

// newSlow can do nothing: processes are stopped and read back on Linux only.
func newSlow() ability { return ability{} }
