package disk

import (
	"context"
	"strings"

	"lockcheck/checker/history"
)

// Lost is what a power cut took.
type Lost struct {
	Bytes int64 `json:"bytes,omitempty"` // in blocks: of the last one as many as it has
	Files int64 `json:"files,omitempty"` // whose content is another one now
	Names int64 `json:"names,omitempty"` // that were made, or come back
	// KeptBytes is what was not synced either and stayed, of files that are torn.
	KeptBytes int64 `json:"kept_bytes,omitempty"`
}

func (l Lost) plus(m Lost) Lost {
	return Lost{l.Bytes + m.Bytes, l.Files + m.Files, l.Names + m.Names, l.KeptBytes + m.KeptBytes}
}

// Plus is what several disks of one host lost.
func (l Lost) Plus(m Lost) Lost { return l.plus(m) }

// String says what was lost: "12 kB in 2 files and 1 name".
func (l Lost) String() string {
	var parts []string
	if l.Files > 0 {
		parts = append(parts, kilobytes(l.Bytes)+" in "+history.Counted(l.Files, "file", "files"))
	}
	if l.Names > 0 {
		parts = append(parts, history.Counted(l.Names, "name", "names"))
	}
	text := "nothing"
	if len(parts) > 0 {
		text = strings.Join(parts, " and ")
	}
	if l.KeptBytes > 0 {
		text += "; " + kilobytes(l.KeptBytes) + " stayed though not synced"
	}
	return text
}

func kilobytes(n int64) string { return history.Grouped((n+1023)/1024) + " kB" }

// How says what else of a disk a power cut spares, or does not.
type How struct {
	// Torn is other than 0 where some of what was written to files and not synced stays: it decides what.
	Torn uint64 `json:"torn,omitempty"`
	// Journaled says that a sync of anything made all changes of names before it safe, as on ext4 or XFS; not only that of their directory.
	Journaled bool `json:"journaled,omitempty"`
}

// Cut has the disk lose what was not synced, and returns once that was seen: what a program of lockcheck's own had synced on it is
// there, and what it had not is gone. No other process that uses the disk may be running.
func (d *Disk) Cut(ctx context.Context, how How) (Lost, error) {
	return d.ask(ctx, request{Do: doCut, How: how})
}

// SyncAll takes all that is on the disk as synced.
func (d *Disk) SyncAll(ctx context.Context) error { return d.do(ctx, request{Do: doSyncAll}) }
