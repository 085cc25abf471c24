package harness

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// killAfter is how long a run that was asked to stop may take to clean up.
const killAfter = 2 * time.Minute

// Process is a program that makes a run, as a process of its own: Run can enter namespaces only once, and leaves the
// program that calls it nothing else to do. The end of ctx asks the run to end, which then cleans up. Use RunProcess.
func Process(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program)
	cmd.Args = append([]string{"lockcheck"}, args...)
	cmd.SysProcAttr = apart()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = killAfter
	return cmd
}

// RunProcess starts such a process and waits for its end. The error is that of its start, or that of its wait.
func RunProcess(cmd *exec.Cmd) error {
	// The parent-death signal comes when the thread that started the process ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}

// Tail keeps the end of what is written to it, at most Max bytes.
type Tail struct {
	Max  int
	kept []byte
}

func (t *Tail) Write(text []byte) (int, error) {
	t.kept = append(t.kept, text...)
	if over := len(t.kept) - t.Max; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(text), nil
}

func (t *Tail) String() string { return string(t.kept) }
