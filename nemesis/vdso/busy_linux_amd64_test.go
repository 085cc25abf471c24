package vdso

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// changes is how often a busy process is changed.
const changes = 200

// unpatch puts a process's functions back as they were. Every process of a kernel has the same vDSO, and that of this one
// was never changed.
func unpatch(t *testing.T, pid int) {
	t.Helper()
	target, err := findTarget(pid)
	if err != nil {
		t.Fatal(err)
	}
	original := ownVDSO(t)
	for range moveTries {
		var in bool
		err := withStopped(pid, func(s *stopped) error {
			img, _, err := target.read(s.any().read)
			if err != nil {
				return err
			}
			if in, err = s.inside(img); in || err != nil {
				return err
			}
			return s.putBack(img, original)
		})
		if err != nil {
			t.Fatal(err)
		}
		if !in {
			return
		}
	}
	t.Fatal(errInside)
}

// putBack writes the first bytes of each function as they were.
func (s *stopped) putBack(img image, original []byte) error {
	for _, entry := range img.entry {
		if err := s.any().write(img.base+entry, original[entry:entry+jumpSize]); err != nil {
			return err
		}
	}
	return nil
}

// readings is how many times a busy process has read its clock.
func (p *process) readings() int {
	p.t.Helper()
	n, err := strconv.Atoi(p.ask("?"))
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

func (p *process) wantMoreThan(readings int) {
	p.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); p.readings() <= readings; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatal("it reads its clock no more")
		}
	}
}

func startBusy(t *testing.T) *process {
	t.Helper()
	p := start(t, self("busy"))
	p.read()
	return p
}

// The target ends with an error when its monotonic clock goes back on any of its threads or between them.
func TestABusyGoProgramSurvivesChanges(t *testing.T) {
	p := startBusy(t)
	random := rand.New(rand.NewPCG(7, 7))
	var stopped []time.Duration
	for i := range changes {
		before := p.readings()
		report := apply(t, p.pid(), Skew{
			Wall:      Shift{time.Duration(random.Int64N(1e12)) - 5e11, random.Float64() - 0.5},
			Monotonic: Shift{time.Duration(random.Int64N(1e9)), random.Float64()*2 - 0.9},
		})
		stopped = append(stopped, report.Stopped)
		if i%10 == 0 {
			heal(t, p.pid())
		}
		p.wantMoreThan(before)
	}
	logQuantiles(t, stopped)
}

func TestABusyGoProgramSurvivesFirstPatches(t *testing.T) {
	p := startBusy(t)
	for range changes {
		// Its monotonic clock must not go back, so the original code has to show what the patch showed: only the wall
		// clock is skewed.
		apply(t, p.pid(), Skew{Wall: Shift{Offset: time.Hour}})
		unpatch(t, p.pid())
	}
	p.wantMoreThan(p.readings())
}

func TestManyBusyProgramsSurviveTheirFirstPatch(t *testing.T) {
	for range 20 {
		p := startBusy(t)
		before := p.readings()
		apply(t, p.pid(), Skew{Monotonic: Shift{time.Second, 0.05}})
		p.wantMoreThan(before)
		p.end()
	}
}
