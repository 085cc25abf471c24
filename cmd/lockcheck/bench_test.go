//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/longrun"
	"lockcheck/reports/rundir"
)

// BenchmarkCheckCommand runs the whole of `lockcheck check` on long recordings, as a process of its own: time, memory, and
// how large a report it leaves. A recording of a million operations is some 420 MB on disk.
func BenchmarkCheckCommand(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "lockcheck")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		name string
		o    longrun.Options
		code int
	}{
		{"10k", longrun.Options{Operations: 10_000}, exitPass},
		{"100k", longrun.Options{Operations: 100_000}, exitPass},
		{"1M", longrun.Options{Operations: 1_000_000}, exitPass},
		{"1M, 5 % unknown", longrun.Options{Operations: 1_000_000, Unknown: 0.05}, exitPass},
		{"1M, illegal", longrun.Options{Operations: 1_000_000, Illegal: 0.001}, exitViolation},
		{"10M", longrun.Options{Operations: 10_000_000}, exitPass},
	} {
		b.Run(c.name, func(b *testing.B) {
			if testing.Short() && c.o.Operations > 1_000_000 {
				b.Skip("takes some 3 GB of memory and 4 GB of disk")
			}
			path, lines := writeRun(b, c.o)
			rss := int64(0)
			var cpu time.Duration
			for b.Loop() {
				cmd := exec.Command(binary, "check", "--quiet", path)
				out, _ := cmd.CombinedOutput()
				if cmd.ProcessState.ExitCode() != c.code {
					b.Fatalf("exit %d: %s", cmd.ProcessState.ExitCode(), out)
				}
				rss = max(rss, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			report, err := os.Stat(filepath.Join(path, rundir.ReportFile))
			if err != nil {
				b.Fatal(err)
			}
			n := float64(b.N)
			b.ReportMetric(b.Elapsed().Seconds()/n, "s/check")
			b.ReportMetric(cpu.Seconds()/n, "cpu-s/check")
			b.ReportMetric(float64(rss)/1024, "MB-rss")
			b.ReportMetric(float64(report.Size())/1024, "kB-report")
			b.ReportMetric(float64(lines)*n/b.Elapsed().Seconds(), "lines/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// writeRun writes the run directory of a made-up recording.
func writeRun(b *testing.B, o longrun.Options) (path string, lines int) {
	b.Helper()
	path = b.TempDir()
	create := func(name string, write func(io.Writer) error) {
		file, err := os.Create(filepath.Join(path, name))
		if err != nil {
			b.Fatal(err)
		}
		out := bufio.NewWriterSize(file, 1<<20)
		for _, err := range []error{write(out), out.Flush(), file.Close()} {
			if err != nil {
				b.Fatal(fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	create(rundir.PlanFile, func(w io.Writer) error { return history.WritePlan(w, o.Plan()) })
	create(rundir.HistoryFile, func(w io.Writer) error { return each(o.Events(), history.NewWriter(w).Event, &lines) })
	create(rundir.ResourceFile, func(w io.Writer) error { return each(o.Requests(), history.NewWriter(w).Request, &lines) })
	return path, lines
}

func each[T any](rows iter.Seq2[T, error], write func(T) error, n *int) error {
	for row := range rows {
		if err := write(row); err != nil {
			return err
		}
		*n++
	}
	return nil
}
