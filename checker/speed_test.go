package checker

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"lockcheck/checker/figures"
	"lockcheck/checker/longrun"
	"lockcheck/checker/model"
	"lockcheck/checker/property"
)

// speeds are the histories whose judging is timed. Each has one lock and one register.
var speeds = []struct {
	name string
	longrun.Options
}{
	{"1e4", longrun.Options{Operations: 10_000}},
	{"1e5", longrun.Options{Operations: 100_000}},
	{"1e6", longrun.Options{Operations: 1_000_000}},
	{"1e6 illegal", longrun.Options{Operations: 1_000_000, Illegal: 0.001}},
	{"1e6 unknown 5%", longrun.Options{Operations: 1_000_000, Unknown: 0.05}},
	{"1e7", longrun.Options{Operations: 10_000_000}},
}

// BenchmarkJudge times all that is done with a history once it has been read: every property, exposure and figures, by the
// exact algorithms alone and with Porcupine's confirmation. Beside it stands Porcupine alone on the same lock operations,
// as far as it comes with a bounded memory. BenchmarkModel times what comes before: the model made from events in memory.
func BenchmarkJudge(b *testing.B) {
	for _, s := range speeds {
		b.Run(s.name, func(b *testing.B) {
			if testing.Short() && s.Operations > 1_000_000 {
				b.Skip("takes some 4 GB")
			}
			m, c, err := model.Build(recordingFrom(s.Options), "")
			if err != nil {
				b.Fatal(err)
			}
			for _, mode := range []struct {
				name string
				opts Options
			}{{"exact", Options{Unconfirmed: true, MaxFindings: DefaultMaxFindings}}, {"confirmed", Options{MaxFindings: DefaultMaxFindings}}} {
				b.Run(mode.name, func(b *testing.B) {
					var fastest spent
					for b.Loop() {
						fastest.take(func() { judgedAnew(b, m, c, mode.opts) })
					}
					b.StopTimer()
					peak := peakHeap(func() { judgedAnew(b, m, c, mode.opts) })
					reportSpeed(b, s.Operations, fastest, peak)
				})
			}
			b.Run("porcupine alone", func(b *testing.B) {
				model, ops := property.LockOperations(m.Locks)
				var fastest spent
				reached := 0.0
				peak := peakHeap(func() {
					for b.Loop() {
						fastest.take(func() { reached = porcupineAlone(model, ops, aloneBytes) })
					}
				})
				reportSpeed(b, s.Operations, fastest, peak)
				b.ReportMetric(100*reached, "%-done")
			})
		})
	}
}

// BenchmarkModel makes a model of events and requests that are made up as they are read.
func BenchmarkModel(b *testing.B) {
	for _, s := range speeds {
		b.Run(s.name, func(b *testing.B) {
			if testing.Short() && s.Operations > 1_000_000 {
				b.Skip("takes some 4 GB")
			}
			make := func() {
				if _, _, err := model.Build(recordingFrom(s.Options), ""); err != nil {
					b.Fatal(err)
				}
			}
			var fastest spent
			for b.Loop() {
				fastest.take(make)
			}
			b.StopTimer()
			reportSpeed(b, s.Operations, fastest, peakHeap(make))
		})
	}
}

func recordingFrom(o longrun.Options) model.Recording {
	return model.Recording{Plan: o.Plan(), Events: o.Events(), Requests: o.Requests()}
}

// judgedAnew judges a model as Check does, with nothing left over from the last time.
func judgedAnew(b testing.TB, m *model.Model, c *model.Counts, opts Options) {
	j := newJudgement(m.Afresh(), opts, nil)
	j.judgeAll()
	for _, p := range properties {
		o := j.outcome(p.Name)
		if o.Defect != nil {
			b.Fatal(o.Defect)
		}
		j.property(p, o)
	}
	figures.Stats(j.m, c, j.Superseding())
}

// spent is the least time that an iteration took, on the clock and of all processors: what else the machine does can only
// make one slower.
type spent struct{ clock, cpu time.Duration }

func (s *spent) take(do func()) {
	began, used := time.Now(), cpuTime()
	do()
	clock, cpu := time.Since(began), cpuTime()-used
	if s.clock == 0 || clock < s.clock {
		s.clock = clock
	}
	if s.cpu == 0 || cpu < s.cpu {
		s.cpu = cpu
	}
}

func reportSpeed(b *testing.B, operations int, fastest spent, peak uint64) {
	b.ReportMetric(fastest.clock.Seconds(), "s")
	b.ReportMetric(fastest.cpu.Seconds(), "cpu-s")
	b.ReportMetric(float64(fastest.clock.Nanoseconds())/float64(operations), "ns/operation")
	b.ReportMetric(float64(peak)/(1<<20), "MB-more")
	b.ReportMetric(0, "ns/op")
}

// peakHeap is by how much the heap grows while something is done, garbage that was not collected included.
func peakHeap(do func()) uint64 {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	runtime.GC()
	metrics.Read(heap)
	before, highest := heap[0].Value.Uint64(), uint64(0)
	stop := make(chan bool)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for tick := time.NewTicker(2 * time.Millisecond); ; {
			metrics.Read(heap)
			highest = max(highest, heap[0].Value.Uint64())
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	})
	do()
	close(stop)
	watcher.Wait()
	return highest - min(before, highest)
}

// aloneBytes is how much memory Porcupine alone may take: it keeps one bit an operation for every step it takes.
const aloneBytes = 1 << 30

// porcupineAlone gives Porcupine a whole history in one search, and returns which share of it had been ordered when it came
// to its end, or was stopped.
func porcupineAlone(model porcupine.Model, ops []porcupine.Operation, bytes int) float64 {
	step, left, ordered := model.Step, bytes/(len(ops)/8+100), 0
	model.Step = func(state, input, output any) (bool, any) {
		if left--; left < 0 {
			return false, state
		}
		ok, next := step(state, input, output)
		if ok {
			ordered++
		}
		return ok, next
	}
	porcupine.CheckOperations(model, ops)
	return min(float64(ordered)/float64(len(ops)), 1)
}

func TestPorcupineAloneIsStopped(t *testing.T) {
	m, _, err := model.Build(recordingFrom(longrun.Options{Operations: 1000}), "")
	if err != nil {
		t.Fatal(err)
	}
	model, ops := property.LockOperations(m.Locks[:1])
	for bytes, want := range map[int]func(share float64) bool{
		1 << 24: func(share float64) bool { return share == 1 },
		1 << 16: func(share float64) bool { return share > 0 && share < 1 },
	} {
		if share := porcupineAlone(model, ops, bytes); !want(share) {
			t.Errorf("with %d bytes a share of %.3f is ordered", bytes, share)
		}
	}
}
