// Package disk is a file system of lockcheck's own under a server's data directory (FUSE), so that its disk can be made to
// stand still, to be slow or to fail.
//
//	harness ── pipes ──► lockcheck disk  (one process a data directory: it serves the mount, and never touches it)
//	                       │    ▲ ▲
//	                       │    │ └── /dev/fuse ◄── the server's reads, writes and syncs     gate.go, files_linux.go
//	                       │    └──── /dev/fuse ◄── the probe's own ones                     probe_linux.go
//	                       ▼
//	                     the data itself, in a directory beside the mount
//
// Who serves a mount must not be who uses it: a process with a request in flight cannot end before that is answered. So the harness
// reaches the data past the mount, and what a fault does is tried by a process of its own, the probe. The serving process gets
// SIGKILL when the harness dies; the kernel then answers all that is in flight, and nothing stays behind that cannot be killed.
package disk

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Command is the hidden command of lockcheck that calls Serve with the arguments that follow.
const Command = "disk"

// Class is a class of what a server asks of its disk.
type Class string

// The classes. Looking up names and attributes is none of them: the kernel has those in memory.
const (
	Reads  Class = "reads"
	Writes Class = "writes" // of data, sizes and names
	Syncs  Class = "syncs"  // fsync, fdatasync and msync, of files and directories
)

// Classes are all of them.
var Classes = []Class{Reads, Writes, Syncs}

// Rule is what a disk does instead of what it is asked for. It is one of Stall, Slow and Error.
type Rule struct {
	Stall bool          `json:"stall,omitempty"` // nothing is answered until the rule is gone
	Slow  time.Duration `json:"slow,omitempty"`  // each request takes so much longer; above 0
	Error bool          `json:"error,omitempty"` // each request fails with EIO, and is not carried out
	Of    []Class       `json:"of,omitempty"`    // none: all
}

func (r Rule) touches(class Class) bool { return len(r.Of) == 0 || slices.Contains(r.Of, class) }

// classes are those that the rule is about.
func (r Rule) classes() []Class {
	return slices.DeleteFunc(slices.Clone(Classes), func(c Class) bool { return !r.touches(c) })
}

// Hides reports whether a later rule of the same disk is not seen to work beside this one.
func (r Rule) Hides(later Rule) bool {
	if !slices.ContainsFunc(r.classes(), later.touches) {
		return false
	}
	return r.Stall && !later.Stall || r.Error && later.Slow > 0
}

// String says what the rule does: "reads, writes and syncs stand still".
func (r Rule) String() string {
	var names []string
	for _, c := range r.classes() {
		names = append(names, string(c))
	}
	who := strings.Join(names, ", ")
	if last := len(names) - 1; last > 0 {
		who = strings.Join(names[:last], ", ") + " and " + names[last]
	}
	switch {
	case r.Stall:
		return who + " stand still"
	case r.Error:
		return who + " fail (EIO)"
	}
	return fmt.Sprintf("%s take %v longer", who, r.Slow)
}
