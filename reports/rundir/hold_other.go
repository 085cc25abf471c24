//go:build !unix

package rundir

// Hold holds nothing: no run is made on such a system.
func Hold(string) (release func(), err error) { return func() {}, nil }
