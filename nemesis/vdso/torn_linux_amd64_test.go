package vdso

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/nemesis/testkit"
)

// hours is a program that ends with an error when its wall clock is off by anything but whole hours.
func hours([]string) error {
	fmt.Println("ready")
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			fmt.Println("well")
		}
		os.Exit(0)
	}()
	for {
		before := testkit.Kernel(unix.CLOCK_REALTIME)
		seen := time.Now().UnixNano()
		after := testkit.Kernel(unix.CLOCK_REALTIME)
		lowest, highest := pastTheHour(seen-after), pastTheHour(seen-before)
		if lowest > tolerated || highest < -tolerated {
			return fmt.Errorf("the wall clock is off by %v to %v", time.Duration(seen-after), time.Duration(seen-before))
		}
	}
}

const (
	mixed     = 200 * time.Millisecond // what a mixed reading would be off by
	tolerated = mixed / 2
)

// pastTheHour is how far nanoseconds are from the nearest whole hour.
func pastTheHour(ns int64) time.Duration {
	d := time.Duration(ns)
	return d - d.Round(time.Hour)
}

// A reading may be held up anywhere while the clock is changed, and changed again, which overwrites the set that the
// reading began with. It must not mix the two.
func TestAReadingThatIsHeldUpIsOfOneSet(t *testing.T) {
	p := start(t, self("hours"))
	p.read()
	target, err := findTarget(p.pid())
	if err != nil {
		t.Fatal(err)
	}
	caught := 0
	for range 1000 {
		apply(t, p.pid(), Skew{Wall: Shift{Offset: time.Hour}})
		time.Sleep(mixed)
		err := withStopped(p.pid(), func(s *stopped) error {
			img, _, err := target.read(s.any().read)
			if err != nil {
				return err
			}
			if held, err := s.stepIntoMiddle(img); !held || err != nil {
				return err
			}
			caught++
			for _, offset := range []time.Duration{2 * time.Hour, 3 * time.Hour} {
				err = errors.Join(err, target.changeStopped(s, func(old set, at instant) (set, error) {
					return old.next(at, Skew{Wall: Shift{Offset: offset}, Expiry: time.Hour})
				}, &Report{}))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			p.ask("?") // it is well
		}
		if caught == 3 {
			return
		}
	}
	t.Error("no reading was caught in the middle")
}

// A reading may be held up while the functions are put back, and patched anew. The new patch must not look to it like the one
// that it began with.
func TestAReadingThatIsHeldUpIsOfOnePatch(t *testing.T) {
	original := ownVDSO(t)
	caught := 0
	for range 200 {
		p := start(t, self("hours"))
		p.read()
		target, err := findTarget(p.pid())
		if err != nil {
			t.Fatal(err)
		}
		apply(t, p.pid(), Skew{Wall: Shift{Offset: time.Hour}})
		time.Sleep(mixed)
		err = withStopped(p.pid(), func(s *stopped) error {
			img, _, err := target.read(s.any().read)
			if err != nil {
				return err
			}
			if held, err := s.stepIntoMiddle(img); !held || err != nil {
				return err
			}
			caught++
			if err := s.putBack(img, original); err != nil {
				return err
			}
			return target.changeStopped(s, func(old set, at instant) (set, error) {
				return old.next(at, Skew{Wall: Shift{Offset: 2 * time.Hour}, Expiry: time.Hour})
			}, &Report{})
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			p.ask("?") // it is well
		}
		p.end()
		if caught == 3 {
			return
		}
	}
	t.Error("no reading was caught in the middle")
}

// stepIntoMiddle looks for a thread in the stub and lets it step to the multiplication, where it has taken one parameter
// and not yet the next.
func (s *stopped) stepIntoMiddle(img image) (bool, error) {
	multiplication := bytes.Index(stubCode(), []byte{0x49, 0xf7, 0x6b, lineRate}) // imul qword [r11+rate]
	if multiplication < 0 {
		return false, errors.New("the stub has no multiplication")
	}
	begin := img.base + uint64(img.patch) + codeAt
	middle, end := begin+uint64(multiplication), begin+uint64(len(stubCode()))
	for tid, signal := range s.signals {
		var regs unix.PtraceRegs
		for steps := 0; steps < 200 && signal == 0; steps++ {
			if err := unix.PtraceGetRegs(tid, &regs); err != nil {
				return false, err
			}
			if regs.Rip == middle {
				return true, nil
			}
			if regs.Rip < begin || regs.Rip >= end {
				break
			}
			if signal, err := s.step(tid); err != nil {
				return false, err
			} else if signal != unix.SIGTRAP { // it is about to get one, so it goes elsewhere
				s.signals[tid] = signal
				break
			}
		}
	}
	return false, nil
}

// step lets a thread execute one instruction, and returns the signal that it stopped at then: SIGTRAP, or one of its own.
func (s *stopped) step(tid int) (unix.Signal, error) {
	if err := unix.PtraceSingleStep(tid); err != nil {
		return 0, err
	}
	for deadline := time.Now().Add(stopTimeout); time.Now().Before(deadline); {
		if info, err := s.wait(tid); err != nil {
			return 0, err
		} else if info.pid != 0 {
			return info.pending(), nil
		}
	}
	return 0, errors.New("a step did not end")
}
