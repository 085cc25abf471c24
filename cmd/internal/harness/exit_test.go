package harness

import (
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// A directory for runs that cannot be written to is something that is not there, whoever calls it a mistake.
func TestAPlaceThatCannotBeWrittenToIsUnavailable(t *testing.T) {
	for want, err := range map[int]error{
		ExitUnavailable: Usage(fmt.Errorf("--out: %w", &fs.PathError{Op: "mkdir", Path: "x", Err: syscall.EROFS})),
		ExitUsage:       Usage(fmt.Errorf("--file: %w", &fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES})),
	} {
		if got := ExitCode(err); got != want {
			t.Errorf("%v: exit %d, want %d", err, got, want)
		}
	}
	if got := ExitCode(Usage(&fs.PathError{Op: "mkdir", Path: "x", Err: syscall.EACCES})); got != ExitUnavailable {
		t.Errorf("exit %d, want %d", got, ExitUnavailable)
	}
}
