package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// machine is a directory with proc/cgroup, proc/mountinfo, and control groups, whose mounts MOUNT stands for.
func machine(t *testing.T, groups, mounts string, stats map[string]string) (proc, mount string) {
	t.Helper()
	dir := t.TempDir()
	proc, mount = filepath.Join(dir, "proc"), filepath.Join(dir, "mount")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(proc, "cgroup"), groups)
	write(filepath.Join(proc, "mountinfo"), strings.ReplaceAll(mounts, "MOUNT", mount))
	for name, text := range stats {
		write(filepath.Join(mount, name, "cpu.stat"), text)
	}
	return proc, mount
}

func TestTheQuotaThatCountsIsThatOfThisProgramsControlGroup(t *testing.T) {
	const v1, v2 = "nr_throttled 3\nthrottled_time 250000000\n", "usage_usec 9\nthrottled_usec 250000\n"
	for name, c := range map[string]struct {
		groups, mounts string
		stats          map[string]string
		files          []string
	}{
		"cgroup 2, and the groups above it": {"0::/a/b\n", "31 22 0:27 / MOUNT rw,relatime shared:4 - cgroup2 cgroup2 rw\n",
			map[string]string{"": v2, "a": "throttled_usec 0\n", "a/b": "throttled_usec 0\n", "a/c": v2}, []string{"a/b", "a", ""}},
		"cgroup 2 in a container": {"0::/\n", "31 22 0:27 / MOUNT ro - cgroup2 cgroup rw\n", map[string]string{"": v2}, []string{""}},
		"the hierarchy of the controller, and others beside it": {"4:memory:/x\n3:cpu,cpuacct:/a\n0::/x\n",
			"31 22 0:27 / MOUNT/m rw - cgroup cgroup rw,memory\n32 22 0:28 / MOUNT/c rw - cgroup cgroup rw,cpu,cpuacct\n33 22 0:29 / MOUNT/s rw - cgroup cgroup rw,cpuset\n",
			map[string]string{"m": v1, "m/x": v1, "s": v1, "c/a": v1}, []string{"c/a"}},
		"a container's part of the hierarchy":           {"3:cpu:/pods/p/c\n", "32 22 0:28 /pods/p/c MOUNT ro - cgroup cgroup rw,cpu\n", map[string]string{"": v1}, []string{""}},
		"a mount of another part of the hierarchy":      {"3:cpu:/\n", "32 22 0:28 /pods/p/c MOUNT ro - cgroup cgroup rw,cpu\n", map[string]string{"": v1}, []string{""}},
		"no control groups, and a line that is not one": {"", "x\n1 2 - cgroup2\n", nil, nil},
	} {
		proc, mount := machine(t, c.groups, c.mounts, c.stats)
		var want []string
		for _, file := range c.files {
			want = append(want, filepath.Join(mount, file, "cpu.stat"))
		}
		files := quotaFiles(proc)
		if !slices.Equal(files, want) {
			t.Errorf("%s: %v, want %v", name, files, want)
		}
		if got := (quota{files}).throttledNS(); got != 250e6 && want != nil {
			t.Errorf("%s: throttled for %d ns", name, got)
		}
	}
}

// What no reader of a history knows ends the run: this one did, in a pod.
func TestAHistoryMaySayThatItsRunWasThrottled(t *testing.T) {
	e := throttledMark(1e9, 3e8)
	e.TimeNS = 2e9
	if err := e.Validate(); err != nil {
		t.Error(err)
	}
}

func TestAQuotaIsReadOnceASecondAndTellsWhatCameSince(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu.stat")
	q := throttled{quota: quota{[]string{file}}}
	for _, c := range []struct {
		at         time.Duration
		stat       string
		from, want time.Duration
	}{
		{time.Second, "throttled_usec 7000000", 0, 0}, // before the run
		{1500 * time.Millisecond, "throttled_usec 7400000", 0, 0},
		{2 * time.Second, "throttled_usec 7500000", time.Second, 500 * time.Millisecond},
		{3100 * time.Millisecond, "throttled_usec 7500000", 2 * time.Second, 0},
	} {
		if err := os.WriteFile(file, []byte(c.stat+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if from, by := q.since(int64(c.at)); time.Duration(by) != c.want || c.want > 0 && time.Duration(from) != c.from {
			t.Errorf("at %v: throttled for %v since %v; want %v since %v", c.at, time.Duration(by), time.Duration(from), c.want, c.from)
		}
	}
}
