package vdso

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// readMemory reads a running process's memory. It needs the right to ptrace the process, but no file of /proc, which
// another user's process may not let us open.
func readMemory(pid int, at uint64, into []byte) error {
	n, err := unix.ProcessVMReadv(pid,
		[]unix.Iovec{{Base: &into[0], Len: uint64(len(into))}},
		[]unix.RemoteIovec{{Base: uintptr(at), Len: len(into)}}, 0)
	if err != nil {
		return fmt.Errorf("process_vm_readv(%d bytes at 0x%x): %w", len(into), at, err)
	}
	if n != len(into) {
		return fmt.Errorf("process_vm_readv(%d bytes at 0x%x): got only %d", len(into), at, n)
	}
	return nil
}

// tracee is a stopped thread, through which its process's memory is read and written.
//
// PTRACE_POKEDATA is the one way that writes into pages without write permission under every policy: /proc/PID/mem
// belongs to the target's user, and kernels may be built to refuse it for such pages. It writes whole words.
type tracee int

func (t tracee) read(at uint64, into []byte) error {
	if readMemory(int(t), at, into) == nil {
		return nil
	}
	if _, err := unix.PtracePeekData(int(t), uintptr(at), into); err != nil {
		return fmt.Errorf("ptrace(PTRACE_PEEKDATA, %d bytes at 0x%x): %w", len(into), at, err)
	}
	return nil
}

func (t tracee) write(at uint64, data []byte) error {
	if _, err := unix.PtracePokeData(int(t), uintptr(at), data); err != nil {
		return fmt.Errorf("ptrace(PTRACE_POKEDATA, %d bytes at 0x%x): %w", len(data), at, err)
	}
	return nil
}

// any is one of the stopped threads.
func (s *stopped) any() tracee {
	for tid := range s.signals {
		return tracee(tid)
	}
	return 0 // stop returns no process without threads
}
