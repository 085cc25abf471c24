package docker

import (
	"fmt"
	"strings"
	"time"
)

// Labels of everything that a run makes.
const (
	labelRun    = "lockcheck.run"
	labelOwner  = "lockcheck.owner"
	labelSince  = "lockcheck.since"  // when the run began, RFC 3339
	labelHost   = "lockcheck.host"   // of containers and volumes
	labelClient = "lockcheck.client" // of the cached image that clients run from
)

// strangersAge is how long things of another machine's harness are left alone.
const strangersAge = 24 * time.Hour

// orphaned reports whether the owner of a thing with these labels is gone, as far as can be seen from here.
func orphaned(labels map[string]string, here string, now time.Time) bool {
	if labels[labelRun] == "" || labels[labelOwner] == "" {
		return false // not ours
	}
	rest, mine := strings.CutPrefix(labels[labelOwner], here+"/")
	if mine {
		var pid int
		var start uint64
		if _, err := fmt.Sscanf(rest, "%d/%d", &pid, &start); err != nil {
			return false
		}
		if gone, known := processGone(pid, start); known {
			return gone
		}
	}
	since, err := time.Parse(time.RFC3339, labels[labelSince])
	return err == nil && now.Sub(since) > strangersAge
}
