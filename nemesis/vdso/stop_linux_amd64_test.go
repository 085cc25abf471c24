package vdso

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/nemesis/testkit"
)

// signals is a program that says so each time it gets SIGUSR1.
func signals([]string) error {
	got := make(chan os.Signal, 1)
	signal.Notify(got, unix.SIGUSR1)
	fmt.Println("ready")
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); os.Exit(0) }()
	for range got {
		fmt.Println("got it")
	}
	return nil
}

// A thread may be about to get a signal when it is stopped.
func TestNoSignalIsLost(t *testing.T) {
	p := start(t, self("signals"))
	p.read()
	quit, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-quit:
				close(failed)
				return
			default:
			}
			if _, err := Apply(p.pid(), anHour); err != nil {
				failed <- err
				return
			}
		}
	}()
	answers := make(chan string)
	go func() {
		for in := p.lines; ; {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			answers <- line
		}
	}()
	for i := range 1000 {
		if err := p.cmd.Process.Signal(unix.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		select {
		case <-answers:
		case <-time.After(10 * time.Second):
			t.Fatalf("signal %d was lost", i)
		}
	}
	close(quit)
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
}

// Between the two calls that stop a thread it may begin to take a signal: then it stops for that.
func TestASignalThatAThreadStopsAtIsDelivered(t *testing.T) {
	p := start(t, self("signals"))
	p.read()
	result := make(chan error)
	go onOwnThread(func() error {
		s := &stopped{pid: p.pid(), signals: make(map[int]unix.Signal)}
		if err := unix.PtraceSeize(s.pid); err != nil {
			return err
		}
		if err := unix.Tgkill(s.pid, s.pid, unix.SIGUSR1); err != nil {
			return err
		}
		if err := s.await(s.pid, time.Now().Add(stopTimeout)); err != nil {
			return err
		}
		if s.signals[s.pid] != unix.SIGUSR1 {
			return fmt.Errorf("it stopped at %v", s.signals[s.pid])
		}
		return s.letGo()
	}, result)
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() { got <- p.read() }()
	select {
	case <-got:
	case <-time.After(10 * time.Second):
		t.Error("the signal was lost")
	}
}

// The parent of a process that dies while it is being stopped may be this process, and wants to know how it ended.
func TestTheEndOfAChildIsLeftToItsParent(t *testing.T) {
	p := startClock(t)
	result := make(chan error)
	go onOwnThread(func() error {
		s := &stopped{pid: p.pid(), signals: make(map[int]unix.Signal)}
		if err := unix.PtraceSeize(s.pid); err != nil {
			return err
		}
		if err := p.cmd.Process.Kill(); err != nil {
			return err
		}
		for !over(s.pid) {
			time.Sleep(time.Millisecond)
		}
		if err := s.await(s.pid, time.Now().Add(stopTimeout)); err != nil {
			return err
		}
		if len(s.signals) != 0 {
			return fmt.Errorf("a dead process counts as stopped: %v", s.signals)
		}
		return s.letGo()
	}, result)
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("its parent is told %v, want that it was killed", err)
	}
}

// churn is a program whose threads come and go, as do its children.
func churn([]string) error {
	fmt.Println("ready")
	go func() {
		for {
			done := make(chan struct{})
			go func() {
				runtime.LockOSThread() // and ends with its goroutine
				defer close(done)
				for range 100 {
					_ = time.Now()
				}
			}()
			<-done
		}
	}()
	go func() {
		for {
			_ = exec.Command("/proc/self/exe", "nothing").Run() // begins with vfork
		}
	}()
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println(time.Now().UnixNano() - testkit.Kernel(unix.CLOCK_REALTIME))
	}
	return nil
}

func TestThreadsAndChildrenMayComeAndGo(t *testing.T) {
	p := start(t, self("churn"))
	p.read()
	for i := range changes {
		if i%2 == 1 {
			unpatch(t, p.pid())
		}
		apply(t, p.pid(), Skew{Wall: Shift{Offset: time.Duration(i) * time.Minute}})
		off, err := strconv.ParseInt(p.ask("?"), 10, 64)
		if want := time.Duration(i) * time.Minute; err != nil || (time.Duration(off)-want).Abs() > 20*time.Second {
			t.Errorf("it sees its wall clock off by %v, want about %v", time.Duration(off), want)
		}
	}
}

// hold stops a process and does not let it go.
func hold(args []string) error {
	pid, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	return withStopped(pid, func(*stopped) error {
		fmt.Println("stopped")
		select {}
	})
}

func TestTheDeathOfTheTracerLetsGo(t *testing.T) {
	p := startClock(t)
	holder := start(t, self("hold", strconv.Itoa(p.pid())))
	holder.read()
	wantState(t, p.pid(), "t")
	holder.end()
	wantSeen(t, p, 0, 0)
	apply(t, p.pid(), anHour)
	wantSeen(t, p, time.Hour, 0)
}

// A thread that is in the middle of what is to be replaced, or will come back to it from a signal handler, is noticed.
func TestThreadsInsideTheReplacedBytesAreNoticed(t *testing.T) {
	p := startClock(t)
	target, err := findTarget(p.pid())
	if err != nil {
		t.Fatal(err)
	}
	err = withStopped(p.pid(), func(s *stopped) error {
		img, _, err := target.read(s.any().read)
		if err != nil {
			return err
		}
		want := func(where string, want bool) {
			if in, err := s.inside(img); err != nil || in != want {
				t.Errorf("%s: inside %v (%v), want %v", where, in, err, want)
			}
		}
		want("as found", false)
		tid := int(s.any())
		var regs unix.PtraceRegs
		if err := unix.PtraceGetRegs(tid, &regs); err != nil {
			return err
		}
		for _, entry := range img.entry {
			for offset := range uint64(jumpSize + 1) {
				moved := regs
				moved.Rip = img.base + entry + offset
				if err := unix.PtraceSetRegs(tid, &moved); err != nil {
					return err
				}
				want(fmt.Sprintf("counter at %d", offset), offset > 0 && offset < jumpSize)
			}
		}
		if err := unix.PtraceSetRegs(tid, &regs); err != nil {
			return err
		}
		return wantNoticedOnStack(s, tracee(tid), regs.Rsp, img, want)
	})
	if err != nil {
		t.Fatal(err)
	}
	wantSeen(t, p, 0, 0)
}

// wantNoticedOnStack puts a program counter on a thread's stack, as a signal frame has it, and takes it away again.
func wantNoticedOnStack(s *stopped, thread tracee, pointer uint64, img image, want func(string, bool)) error {
	saved, frame := make([]byte, wordSize), make([]byte, wordSize)
	at := pointer&^(wordSize-1) + 64
	if err := thread.read(at, saved); err != nil {
		return err
	}
	for offset := range uint64(jumpSize + 1) {
		binary.LittleEndian.PutUint64(frame, img.base+img.entry[1]+offset)
		if err := thread.write(at, frame); err != nil {
			return err
		}
		want(fmt.Sprintf("on the stack at %d", offset), offset > 0 && offset < jumpSize)
	}
	return thread.write(at, saved)
}
