// Package campaign runs the shards of a comparison or a gallery as one Indexed Job of Kubernetes, and brings their results back through the API
// server alone. It knows shards and directories, and nothing of what is in them. README.md has the whole flow.
//
//	submitting program                API server                       a pod, index i
//	Submit  ── Job, ConfigMap ───────→ │ ── Job controller, kubelet ──→ RunShard: the work of shard i+1
//	Follow  ── list pods, get Job ───→ │ ←── readiness: results ready ─ serves its directory
//	        ── pods/proxy: results ──→ │ ─────────────────────────────→ one archive
//	        ── pods/proxy: fetched ──→ │ ─────────────────────────────→ exit 0: the index is complete
package campaign

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Campaign is one Indexed Job, and what comes of it.
type Campaign struct {
	Name      string `json:"job"`
	Namespace string `json:"namespace"`
	Server    string `json:"server"`  // URL of the API server
	Command   string `json:"command"` // of lockcheck, whose work the shards are
	Digest    string `json:"digest"`  // of the plan, which all shards share
	Shards    int    `json:"shards"`

	UID        string `json:"-"` // of the Job: another may come to have its name
	Token      string `json:"-"` // that fetching a pod's results takes
	Privileged bool   `json:"-"` // whether its pods may make network namespaces
}

// Options are what a user chooses of the Job.
type Options struct {
	Image       string
	Parallel    int
	CPU, Memory string // requests and limits of a pod
	KeepAll     bool   // recordings of runs that passed, too
}

var (
	quantity  = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?$`)
	imageName = regexp.MustCompile(`^[a-zA-Z0-9][\w.\-/:@]*$`)
	dnsLabel  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
)

// maxParallel bounds what a slip of the finger can ask for: more pods than shards are never made.
const maxParallel = 1000

// Check is an error unless the options can be those of a Job.
func (o Options) Check() error {
	switch {
	case o.Image == "":
		return errors.New("--image is needed: the image of lockcheck that the pods run (scripts/images lockcheck builds one)")
	case !imageName.MatchString(o.Image):
		return fmt.Errorf("--image=%s is no name of an image, such as registry.example/lockcheck:1", o.Image)
	case o.Parallel < 1 || o.Parallel > maxParallel:
		return fmt.Errorf("--parallel=%d: use 1 to %d", o.Parallel, maxParallel)
	case !quantity.MatchString(o.CPU) || strings.Trim(o.CPU, "0.m") == "":
		return fmt.Errorf("--cpu=%s: say how many processors a pod has, such as 2 or 500m", o.CPU)
	case !quantity.MatchString(o.Memory) || strings.Trim(o.Memory, "0.kKMGTi") == "":
		return fmt.Errorf("--memory=%s: say how much memory a pod has, such as 2Gi", o.Memory)
	}
	return nil
}

// CheckName is an error unless something can be the name of a namespace or of a Job.
func CheckName(flag, name string) error {
	if !dnsLabel.MatchString(name) {
		return fmt.Errorf("--%s=%s: such names have lowercase letters, digits and dashes, at most 63", flag, name)
	}
	return nil
}
