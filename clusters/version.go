package clusters

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"time"
)

// versionTimeout bounds how long a program may take to say its version: a JVM takes half a second, a program of 100 MB that has to be read
// from a busy disk was seen to take ten. No verdict depends on it.
const versionTimeout = time.Minute

// VersionOf asks a program for its version, which is the first group of said.
func VersionOf(ctx context.Context, said *regexp.Regexp, command ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return "", fmt.Errorf("%s did not say its version within %v", command[0], versionTimeout)
	case err != nil:
		return "", fmt.Errorf("%s did not say its version: %w", command[0], err)
	}
	found := said.FindSubmatch(out)
	if found == nil {
		return "", fmt.Errorf("%s did not say its version, but %.80q", command[0], out)
	}
	return string(found[1]), nil
}
