package vdso

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// frameReach is how far up a thread's stack an interrupted program counter is looked for: many times the size of a signal
// frame and of what a handler has below it.
const frameReach = 64 << 10

// inside reports whether a thread is in the middle of the bytes that are to be replaced, or will return into them from a
// signal handler. Such a thread has to move on first. At an entry itself it may stay: it has executed nothing yet.
func (s *stopped) inside(img image) (bool, error) {
	stack := make([]byte, frameReach)
	for tid := range s.signals {
		var regs unix.PtraceRegs
		if err := unix.PtraceGetRegs(tid, &regs); err != nil {
			return false, fmt.Errorf("ptrace(PTRACE_GETREGS) of thread %d: %w", tid, err)
		}
		if img.replaced(regs.Rip) {
			return true, nil
		}
		if img.anyReplaced(stackOf(tid, regs.Rsp, stack)) {
			return true, nil
		}
	}
	return false, nil
}

// replaced reports whether an address is behind the first of the bytes to be replaced.
func (img image) replaced(address uint64) bool {
	for _, entry := range img.entry {
		if at := img.base + entry; address > at && address < at+jumpSize {
			return true
		}
	}
	return false
}

func (img image) anyReplaced(stack []byte) bool {
	for ; len(stack) >= wordSize; stack = stack[wordSize:] {
		word := binary.LittleEndian.Uint64(stack)
		if word-img.base < uint64(img.size) && img.replaced(word) { // the first is there to be quick
			return true
		}
	}
	return false
}

// stackOf reads what there is of a thread's stack from its pointer on. It may end sooner than the reach, and a read
// across its end yields less than was asked for.
func stackOf(tid int, pointer uint64, into []byte) []byte {
	pointer &^= wordSize - 1
	n, err := unix.ProcessVMReadv(tid,
		[]unix.Iovec{{Base: &into[0], Len: uint64(len(into))}},
		[]unix.RemoteIovec{{Base: uintptr(pointer), Len: len(into)}}, 0)
	if err == nil {
		return into[:n]
	}
	n, _ = unix.PtracePeekData(tid, uintptr(pointer), into) // stops where the stack ends
	return into[:n]
}
