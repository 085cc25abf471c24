//go:build e2e && linux

package page

import (
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/longrun"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit/browserkit"
)

// longJudgement is a run of some operations with harm in it, and with the faults, changes of leader and stalls that such a run has.
func longJudgement(t testing.TB, operations int) rundir.Judgement {
	t.Helper()
	o := longrun.Options{Operations: operations, Illegal: 0.001}
	result, m, err := checker.Check(model.Recording{Plan: o.Plan(), Events: o.Events(), Requests: o.Requests()}, checker.Options{Unconfirmed: true})
	if err != nil {
		t.Fatal(err)
	}
	const disturbances = 200
	for i := range int64(disturbances) {
		at := m.EndNS * (i + 1) / (disturbances + 2)
		length := m.EndNS / disturbances / 3
		m.Faults = append(m.Faults, &model.Fault{Op: 1_000_000_000 + i, Name: history.F([]string{"pause", "partition", "clock"}[i%3]),
			Target: []string{"c1", "n1", "c3", "n2"}[i%4], BeginNS: at, EffectiveNS: at, HealNS: at + length, HealedNS: at + length})
		m.Leaders = append(m.Leaders, model.Mark{TimeNS: at, Value: []string{"n1", "", "n2"}[i%3]})
	}
	m.Stalls = []model.Span{{FromNS: m.EndNS / 3, ToNS: m.EndNS/3 + 1e7}}
	return rundir.Judgement{Plan: o.Plan(), Result: result, Model: m}
}

// The limits: written in 3 s and 500 MB, at most 5 MB, first drawn whole in 0.5 s, and 50 ms for a frame (95 %).
func BenchmarkReport(b *testing.B) {
	for _, operations := range []int{10_000, 100_000, 1_000_000} {
		name := map[int]string{10_000: "10k", 100_000: "100k", 1_000_000: "1M"}[operations]
		j := longJudgement(b, operations)
		path := ""
		b.Run("write/"+name, func(b *testing.B) {
			// As lockcheck check bounds its heap, by the size of the recording: 420 bytes for an operation.
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(max(64<<20, int64(operations)*420/4*3)))
			debug.FreeOSMemory() // what was needed for judging
			resetPeak()
			before := cpuSeconds()
			for b.Loop() {
				path = written(b, j)
			}
			b.ReportMetric((cpuSeconds()-before)/float64(b.N), "cpu-s/report")
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/report")
			b.ReportMetric(float64(info.Size())/(1<<20), "MB-report")
			b.ReportMetric(peakMB(), "MB-rss")
			b.ReportMetric(0, "ns/op")
		})
		path = written(b, j)
		b.Run("draw/"+name, func(b *testing.B) {
			const settle = time.Second
			browser := browserkit.Start(b)
			var p *browserkit.Page
			// From the beginning of the navigation until all is drawn.
			drawn := func(alone func(testing.TB, string, time.Duration) *browserkit.Page) float64 {
				if p != nil {
					p.Close()
					time.Sleep(settle) // a tab's end takes time too
				}
				p = alone(b, path, settle)
				p.Until(`document.documentElement.dataset.timeline === "drawn"`)
				return browserkit.Eval[float64](p, `performance.getEntriesByName("timeline-drawn")[0].startTime`)
			}
			var first, inNewTab []float64
			for b.Loop() {
				inNewTab = append(inNewTab, drawn(browser.Alone))
				first = append(first, drawn(browser.AloneByLink))
			}
			slices.Sort(first)
			slices.Sort(inNewTab)
			b.ReportMetric(first[len(first)/2], "ms-first-drawing")
			b.ReportMetric(first[len(first)-1], "ms-slowest-first")
			b.ReportMetric(inNewTab[len(inNewTab)/2], "ms-first-in-new-process")
			browserkit.Eval[bool](p, `document.getElementById("live").scrollIntoView(), true`)
			for _, way := range []string{"zoom", "pan", "hover"} {
				frames := browserkit.Eval[[]float64](p, frameScript(way))
				slices.Sort(frames)
				b.ReportMetric(frames[len(frames)*95/100], "ms-"+way+"-p95")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// frameScript drives the canvas with events of a pointer for 150 frames, and gives the time from each frame to the next one in
// ms: drawing, and all that the browser does to show it. A browser that keeps up shows 16.7.
func frameScript(way string) string {
	return `new Promise((done) => {
		const canvas = document.getElementById("canvas"), box = canvas.getBoundingClientRect(), frames = [];
		const send = (kind, Type, more) => canvas.dispatchEvent(new Type(kind, { bubbles: true, cancelable: true, clientX: box.left + box.width * .6, clientY: box.top + box.height / 2, ...more }));
		const ways = {
			zoom: (i) => send("wheel", WheelEvent, { ctrlKey: true, deltaY: i % 50 < 25 ? -40 : 40 }), // in, and out again
			pan: (i) => send("wheel", WheelEvent, { ctrlKey: true, shiftKey: true, deltaX: i % 60 < 30 ? 25 : -25 }),
			hover: (i) => send("pointermove", PointerEvent, { clientX: box.left + 150 + (i * 7) % (box.width - 200), clientY: box.top + 70 + (i * 5) % (box.height - 90) }),
		};
		document.querySelector('[data-do="fit"]').click();
		if ("` + way + `" === "pan") for (let i = 0; i < 2; i++) document.querySelector('[data-do="in"]').click();
		let last = 0, i = 0;
		requestAnimationFrame(function frame(now) {
			if (last) frames.push(now - last);
			last = now;
			if (i++ > 150) { done(frames); return; }
			ways["` + way + `"](i);
			requestAnimationFrame(frame);
		});
	})`
}

// cpuSeconds is what all processors spent for this process: it says more than the clock on a machine that does something else,
// too.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

// resetPeak forgets how much memory the process once had; peakMB is the most it had since.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

func peakMB() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, _ := strconv.ParseFloat(fields[0], 64)
	return kilobytes / 1024
}
