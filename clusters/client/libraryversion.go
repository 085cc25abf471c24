package client

import (
	"cmp"
	"runtime/debug"
	"strings"
)

// LibraryVersion is the version of a Go module that this program was built with ("1.0.4"), for Ready.Client: a constant would stay as it is when
// a user builds the client with another version. For a module that go.mod replaces, it also names the replacement. "of unknown version" if the
// program does not know, as those of go test do not.
func LibraryVersion(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknownVersion
	}
	return versionIn(info, module)
}

const unknownVersion = "of unknown version"

func versionIn(info *debug.BuildInfo, module string) string {
	for _, dependency := range info.Deps {
		if dependency.Path != module {
			continue
		}
		version := cmp.Or(strings.TrimPrefix(dependency.Version, "v"), unknownVersion)
		if by := dependency.Replace; by != nil {
			return version + " (replaced by " + strings.TrimSpace(by.Path+" "+by.Version) + ")"
		}
		return version
	}
	return unknownVersion
}
