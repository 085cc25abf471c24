//go:build !unix

package rundir

// Hold holds nothing: Windows has no locks of directories.
func Hold(string) (release func(), err error) { return func() {}, nil }
