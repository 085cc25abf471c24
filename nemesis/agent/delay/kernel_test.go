//go:build e2e && linux

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

// withoutAVX stops Go from using AVX registers, which user-mode Linux does not save here: see startKernel. Less than all is not enough: the garbage collector
// looks at other flags than avx512f.
const withoutAVX = "GODEBUG=cpu.all=off"

// startKernel becomes a user-mode Linux, and returns only if it cannot.
//
// User-mode Linux 6.1 saves its processes' floating point registers in a buffer of a fixed size. On a processor that has more of them (AMX: 11 KB) the
// machine's kernel refuses to set only a part ("ptrace set fp regs failed, errno = 14"), and the first process dies. Here PTRACE_GETREGSET and PTRACE_SETREGSET
// fail with ENODEV on every machine, so that it falls back to PTRACE_GETFPREGS and PTRACE_SETFPREGS: registers as they were before AVX.
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
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program))); errno != 0 {
		return fmt.Errorf("a filter of system calls: %w", errno)
	}
	return syscall.Exec(kernel, append([]string{kernel}, args...), os.Environ())
}
