package compare

import (
	"path/filepath"
	"time"

	"lockcheck/reports/rundir"
)

// kept is a Watcher that writes compare.json after every run, so that a comparison which is killed can be gone on with.
type kept struct {
	Watcher
	c      Comparison
	dir    string
	began  time.Time
	before int64
}

// Keep tells another Watcher, too, and keeps what there is so far in the comparison's directory, as that of one that was
// interrupted. That it cannot be written is not said here: the end of the comparison tries again, and says so.
func Keep(c *Comparison, dir string, tasks []Task, watcher Watcher) Watcher {
	k := &kept{Watcher: watcher, c: *c, dir: dir, began: time.Now(), before: c.DurationNS}
	k.c.Cells, k.c.Interrupted = nil, true
	for _, t := range tasks {
		k.c.Cells = append(k.c.Cells, NewResult(t.Cell, t.Expect, t.Done, t.Repeat))
	}
	k.write()
	return k
}

// Ended keeps what came of a run before it is shown.
func (k *kept) Ended(job Job, run Run, cell Result) {
	k.c.Cells[job.Position] = cell
	k.write()
	k.Watcher.Ended(job, run, cell)
}

func (k *kept) write() {
	k.c.DurationNS = k.before + time.Since(k.began).Nanoseconds()
	k.c.Finish()
	_ = rundir.WriteAtomically(filepath.Join(k.dir, JSONFile), k.c.Write)
}
