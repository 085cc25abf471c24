package run

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lockcheck/checker/history"
)

// A control group that may have two processors, in which eight programs start at once on a large machine, has used up its quota after a few
// milliseconds of each 100, and stands still for the rest: less than stallLimit at a time, but most of the time. The kernel counts it.

// quota reads for how long control groups were kept from the processors by their quotas, all processors added up.
type quota struct{ files []string }

// ownQuota is that of this program's control group and of those above it, as far as they are to be seen here.
func ownQuota() quota { return quota{quotaFiles("/proc/self")} }

// quotaFiles are the files cpu.stat for a process: of cgroup 2, or of the hierarchy of the controller cpu.
func quotaFiles(proc string) (files []string) {
	groups, _ := os.ReadFile(filepath.Join(proc, "cgroup"))
	mounts, _ := os.ReadFile(filepath.Join(proc, "mountinfo"))
	for line := range strings.Lines(string(mounts)) {
		// 31 23 0:26 ROOT POINT OPTIONS [more] - TYPE SOURCE SUPER-OPTIONS
		fields := strings.Fields(line)
		before, after, _ := strings.Cut(line, " - ")
		kind := strings.Fields(after)
		if before == line || len(fields) < 5 || len(kind) < 3 {
			continue
		}
		var controllers string
		switch {
		case kind[0] == "cgroup2":
		case kind[0] == "cgroup" && has(kind[2], "cpu"):
			controllers = "cpu"
		default:
			continue
		}
		if group, is := groupOf(string(groups), controllers); is {
			files = append(files, statsUpTo(fields[4], fields[3], group)...)
		}
	}
	return files
}

func has(list, word string) bool { return strings.Contains(","+list+",", ","+word+",") }

// groupOf is the control group in the hierarchy of a controller; of cgroup 2 for "".
func groupOf(text, controller string) (string, bool) {
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // 4:cpu,cpuacct:/group
		if len(parts) == 3 && (parts[1] == controller || controller != "" && has(parts[1], controller)) {
			return parts[2], true
		}
	}
	return "", false
}

// statsUpTo are the files of a group and of those above it, up to the root of the mount.
func statsUpTo(point, root, group string) (files []string) {
	below, err := filepath.Rel(root, group)
	if err != nil || !filepath.IsLocal(below) { // the mount shows another part of the hierarchy: its root is ours, where it is a container's
		below = "."
	}
	for {
		if file := filepath.Join(point, below, "cpu.stat"); readable(file) {
			files = append(files, file)
		}
		if below == "." {
			return files
		}
		below = filepath.Dir(below)
	}
}

func readable(file string) bool {
	_, err := os.ReadFile(file)
	return err == nil
}

// throttledNS is what was counted so far; 0 where nothing counts it.
func (q quota) throttledNS() (sum int64) {
	for _, file := range q.files {
		text, _ := os.ReadFile(file)
		for line := range bytes.Lines(text) {
			name, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
			n, err := strconv.ParseInt(value, 10, 64)
			switch {
			case err != nil:
			case name == "throttled_usec": // cgroup 2
				sum += n * 1000
			case name == "throttled_time":
				sum += n
			}
		}
	}
	return sum
}

// throttleEvery is how long the stretches are for which it is said how much of them was throttled. A stretch of which that was less than
// stallLimit is like one in which nothing stood still for that long.
const throttleEvery = time.Second

// throttled is a quota, and when it was read last.
type throttled struct {
	quota quota
	at    int64 // 0 before the first reading
	count int64
}

// since reads the quota if a stretch is over, and returns its beginning and for how much of it the quota held us up.
func (t *throttled) since(now int64) (from, by int64) {
	if t.at != 0 && now-t.at < int64(throttleEvery) {
		return 0, 0
	}
	count := t.quota.throttledNS()
	if t.at != 0 {
		from, by = t.at, count-t.count
	}
	t.at, t.count = now, count
	return from, by
}

func throttledMark(from, by int64) history.Event {
	return history.Event{Process: history.HarnessProcess, Type: history.Info, F: history.Throttled, FromNS: from, DurNS: by}
}
