//go:build e2e

package vdso

import (
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/nemesis/testkit"
)

// eyes is what testdata/eyes.py sees. A reading is clock id, kernel before, seen, kernel after.
type eyes struct {
	Clocks       [][4]int64
	GetTimeOfDay [4]int64
	Time         [4]int64
	Null         int
	Zone         [4]any
	TimeStored   bool `json:"time_stored"`
	Unknown      [2]int
	Negative     int
}

func startEyes(t *testing.T) *process {
	t.Helper()
	p := start(t, exec.Command(need(t, "python3"), "testdata/eyes.py"))
	p.read()
	return p
}

func (p *process) look(how string) eyes {
	p.t.Helper()
	var e eyes
	if err := json.Unmarshal([]byte(p.ask(how)), &e); err != nil {
		p.t.Fatal(err)
	}
	return e
}

// timescaleOf is the timescale of a clock id that is skewed.
var timescaleOf = map[int64]timescale{0: wall, 5: wall, 1: monotonic, 6: monotonic, 4: raw, 7: boot}

// setOf is the set that a process has in force.
func setOf(t *testing.T, pid int) set {
	t.Helper()
	target, err := findTarget(pid)
	if err != nil {
		t.Fatal(err)
	}
	_, p, err := target.read(func(at uint64, into []byte) error { return readMemory(pid, at, into) })
	if err != nil || !p.complete {
		t.Fatalf("complete: %v, %v", p.complete, err)
	}
	return p.inForce()
}

// shownAt is what a clock shows at a time of its own; a wall clock's skew has not ended then.
func (s set) shownAt(scale timescale, t int64) int64 {
	var at instant
	at[scale] = t
	return s.shown(scale, at)
}

// wantExact checks to the nanosecond that each clock shows what its line says for a time between the kernel's answers.
func wantExact(t *testing.T, s set, e eyes) {
	t.Helper()
	for _, c := range e.Clocks {
		id, before, seen, after := c[0], c[1], c[2], c[3]
		if scale, skewed := timescaleOf[id]; skewed {
			before, after = s.shownAt(scale, before), s.shownAt(scale, after)
		}
		if seen < before || seen > after {
			t.Errorf("clock %d shows %d, want %d to %d", id, seen, before, after)
		}
	}
	shown := func(c [4]int64) (int64, int64) { return s.shownAt(wall, c[1]), s.shownAt(wall, c[3]) }
	if before, after := shown(e.GetTimeOfDay); e.GetTimeOfDay[2] < before-999 || e.GetTimeOfDay[2] > after {
		t.Errorf("gettimeofday shows %d, want %d to %d, in whole microseconds", e.GetTimeOfDay[2], before, after)
	}
	if before, after := shown(e.Time); e.Time[2] <= before-int64(time.Second) || e.Time[2] > after {
		t.Errorf("time shows %d, want %d to %d, in whole seconds", e.Time[2], before, after)
	}
	if e.Null != 0 || e.Zone != [4]any{0.0, 0.0, true, true} || !e.TimeStored {
		t.Errorf("null pointers and stored results: %+v", e)
	}
	if e.Unknown != [2]int{-1, int(unix.EINVAL)} || e.Negative != 0 {
		t.Errorf("clock 99: %v, want -1 and EINVAL; clock -6: %d, want 0", e.Unknown, e.Negative)
	}
}

func TestTheStubShowsWhatTheParametersSay(t *testing.T) {
	p := startEyes(t)
	wantExact(t, identity(), p.look("read"))
	random := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		apply(t, p.pid(), Skew{
			Wall:      Shift{time.Duration(random.Int64N(2e18)) - 1e18, MinDrift + random.Float64()*(MaxDrift-MinDrift)},
			Monotonic: Shift{time.Duration(random.Int64N(1e15)), MinDrift + random.Float64()*(MaxDrift-MinDrift)},
		})
		wantExact(t, setOf(t, p.pid()), p.look("read"))
	}
	heal(t, p.pid())
	wantExact(t, setOf(t, p.pid()), p.look("read"))
}

func TestAStoppedClockStandsStill(t *testing.T) {
	p := startEyes(t)
	apply(t, p.pid(), Skew{Wall: Shift{Drift: -1}, Monotonic: Shift{Drift: -1}})
	first := p.look("read")
	for range 10 {
		for i, c := range p.look("read").Clocks {
			if _, skewed := timescaleOf[c[0]]; skewed && c[2] != first.Clocks[i][2] {
				t.Errorf("clock %d went from %d to %d", c[0], first.Clocks[i][2], c[2])
			}
		}
	}
}

func TestAForkedChildInheritsTheSkew(t *testing.T) {
	p := startEyes(t)
	apply(t, p.pid(), Skew{Wall: Shift{Offset: time.Hour}, Monotonic: Shift{Offset: time.Minute}})
	e := p.look("fork")
	wantExact(t, setOf(t, p.pid()), e)
	if off := time.Duration(e.Clocks[0][2] - e.Clocks[0][1]); !testkit.Near(off, time.Hour) {
		t.Errorf("the child's wall clock is off by %v, want 1h", off)
	}
}

// An expired skew is calculated by other steps of the stub.
func TestTheStubShowsWhatTheParametersSayAfterTheEnd(t *testing.T) {
	p := startEyes(t)
	apply(t, p.pid(), Skew{Wall: Shift{time.Hour, 0.5}, Monotonic: Shift{time.Hour, 0.5}, Expiry: time.Nanosecond})
	e, s := p.look("read"), setOf(t, p.pid())
	s[wall] = straight(0, 0) // all of the readings are after the end
	wantExact(t, s, e)
	for _, c := range e.Clocks {
		want := map[timescale]time.Duration{wall: 0, monotonic: time.Hour, raw: time.Hour, boot: time.Hour}
		if scale, skewed := timescaleOf[c[0]]; skewed && !testkit.Near(time.Duration(c[2]-c[1]), want[scale]) {
			t.Errorf("clock %d is off by %v, want %v", c[0], time.Duration(c[2]-c[1]), want[scale])
		}
	}
}

func TestDriftIsSeenAtItsRate(t *testing.T) {
	p := startEyes(t)
	for _, drift := range []struct{ wall, mono float64 }{{0.05, -0.05}, {-0.05, 0.05}, {-0.5, 1}} {
		apply(t, p.pid(), Skew{Wall: Shift{Drift: drift.wall}, Monotonic: Shift{Drift: drift.mono}})
		first := p.look("read")
		time.Sleep(time.Second)
		second := p.look("read")
		wantRate(t, first.Clocks[0], second.Clocks[0], 1+drift.wall)
		wantRate(t, first.Clocks[1], second.Clocks[1], 1+drift.mono)
	}
}

// wantRate compares how far a clock went with how far the kernel's did: no less than between the two inner of the four
// times that it told, no more than between the outer ones.
func wantRate(t *testing.T, first, second [4]int64, want float64) {
	t.Helper()
	const rounding = 1e-6
	went := float64(second[2] - first[2])
	slowest, fastest := went/float64(second[3]-first[1]), went/float64(second[1]-first[3])
	if want < slowest-rounding || want > fastest+rounding {
		t.Errorf("clock %d goes at %.6f to %.6f of the pace, want %.6f", first[0], slowest, fastest, want)
	}
}
