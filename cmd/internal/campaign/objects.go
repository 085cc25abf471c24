package campaign

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// As much of the API's objects as is read.

type metadata struct {
	Name, UID         string
	Annotations       map[string]string
	DeletionTimestamp *time.Time
	OwnerReferences   []struct{ UID string }
}

type condition struct{ Type, Status, Reason, Message string }

type jobObject struct {
	Metadata metadata
	Spec     struct {
		Completions int
		Parallelism int
		Template    struct {
			Spec struct {
				Containers []struct {
					Env []struct{ Name, Value string }
				}
			}
		}
	}
	Status struct {
		Active, Succeeded, Failed       int
		CompletedIndexes, FailedIndexes string
		Conditions                      []condition
	}
}

// token is that of the pods' results.
func (j jobObject) token() string {
	for _, c := range j.Spec.Template.Spec.Containers {
		for _, e := range c.Env {
			if e.Name == envToken {
				return e.Value
			}
		}
	}
	return ""
}

// condition is that of a type if it holds; nil otherwise.
func (j jobObject) condition(kind string) *condition {
	return holding(j.Status.Conditions, kind, "True")
}

// ending reports whether a Job makes no more pods: it is being deleted, or has failed as a whole.
func (j jobObject) ending() bool {
	return j.Metadata.DeletionTimestamp != nil || j.condition("FailureTarget") != nil || j.condition("Failed") != nil
}

func holding(all []condition, kind, status string) *condition {
	for _, c := range all {
		if c.Type == kind && c.Status == status {
			return &c
		}
	}
	return nil
}

type podObject struct {
	Metadata metadata
	Status   struct {
		Phase, Reason, Message string
		Conditions             []condition
		ContainerStatuses      []struct {
			State struct {
				Waiting    *struct{ Reason, Message string }
				Running    *struct{ StartedAt time.Time }
				Terminated *struct {
					ExitCode        int
					Reason, Message string
				}
			}
		}
	}
}

// ownedBy reports whether the Job with this UID made a pod.
func (p podObject) ownedBy(uid string) bool {
	return slices.ContainsFunc(p.Metadata.OwnerReferences, func(o struct{ UID string }) bool { return o.UID == uid })
}

// index is that of a pod in its Job; -1 if it has none.
func (p podObject) index() int {
	i, err := strconv.Atoi(p.Metadata.Annotations[indexNote])
	if err != nil || i < 0 {
		return -1
	}
	return i
}

// ready reports whether a pod has its results to give.
func (p podObject) ready() bool {
	return p.running() && holding(p.Status.Conditions, "Ready", "True") != nil
}

// running reports whether a pod is at work, as far as the control plane knows. One that is being deleted is not: if its node is gone, it
// stays in its phase for ever.
func (p podObject) running() bool { return p.Status.Phase == "Running" && !p.deleted() }

func (p podObject) deleted() bool { return p.Metadata.DeletionTimestamp != nil }

// lost reports whether a pod has ended, or is being deleted, before its results were fetched: the Job makes another for its index.
func (p podObject) lost() bool {
	return p.Status.Phase == "Failed" || p.deleted() && p.Status.Phase != "Succeeded"
}

// indexes reads a set of indexes below count as the status of a Job writes it: "1,3-5,7".
func indexes(text string, count int) map[int]bool {
	set := map[int]bool{}
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		if err != nil {
			continue
		}
		to := from
		if isRange {
			if to, err = strconv.Atoi(last); err != nil {
				continue
			}
		}
		for i := max(from, 0); i <= min(to, count-1); i++ {
			set[i] = true
		}
	}
	return set
}
