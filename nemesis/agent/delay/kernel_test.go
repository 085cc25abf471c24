//go:build linux

package delay

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// envKernel is the file of a user-mode Linux that the test's program becomes.
const envKernel = "LOCKCHECK_TEST_KERNEL"

// withoutAVX keeps a program in Go from registers that user-mode Linux does not save when it has no sets of them: see startKernel.
const withoutAVX = "GODEBUG=cpu.avx=off,cpu.avx2=off,cpu.avx512f=off"

// startKernel becomes a user-mode Linux, and returns only if it cannot.
//
// Linux 6.1 as a user's program saves its processes' floating point registers in a buffer of one size. On a processor that has more of them (AMX: 11 KB) the
// machine's kernel refuses to set them of less than all ("ptrace set fp regs failed, errno = 14"), and the first process dies. Where sets of registers cannot be
// read at all it saves those of before AVX, which is the same on every processor: ptrace's two requests for sets are answered with an error.
func startKernel(kernel string, args []string) error {
	runtime.LockOSThread()
	const number, firstArgument = 0, 16 // in struct seccomp_data; of the argument the half that counts, on a little-endian machine
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 4, K: unix.SYS_PTRACE},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: firstArgument},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: unix.PTRACE_GETREGSET},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.PTRACE_SETREGSET},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENODEV)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("a filter of system calls: %w", err)
	}
	return syscall.Exec(kernel, append([]string{kernel}, args...), os.Environ())
}
