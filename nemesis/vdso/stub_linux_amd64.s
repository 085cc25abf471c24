#include "textflag.h"
#include "go_asm.h"

// The stub replaces clock_gettime, gettimeofday and time of a vDSO. It is never called here: its bytes are copied into
// the target, so it
//   - refers to nothing but itself and the data in front of it (see stub_linux_amd64.go), relative to the program
//     counter, at distances that are the same in the copy;
//   - follows the System V ABI and knows nothing of Go. It changes AX, CX, DX, SI, DI and R8 to R11, which belong to
//     the called, and makes no calls;
//   - leaves the stack pointer where it is: 40 bytes below it, inside the 128 that the kernel leaves alone when it
//     delivers a signal, are all the stack it uses.
//
// It asks the kernel for the true time T of the clock, and answers
//
//     before the end of the skew:  target + (T - base) * rate
//     after it, wall clock:        T
//     after it, monotonic clock:   target + (end - base) * rate + (T - end)
//
// in whole nanoseconds, with a line of parameters in which rate has 32 bits behind the binary point. The end of the wall
// clock's line is a time of CLOCK_MONOTONIC, which no process can set; the ends of the others are on their own clock.
//
// The selector is read before the time is, and again when the answer is ready: a change in between starts all over. So
// the parameters are of one set, and a time that was read before a change is never shown by the parameters after it.

#define SYS_clock_gettime 228
#define SYS_gettimeofday 96
#define SYS_time 201
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_MONOTONIC_RAW 4
#define CLOCK_REALTIME_COARSE 5
#define CLOCK_MONOTONIC_COARSE 6
#define CLOCK_BOOTTIME 7

#define selector stub<>+(const_selectorAt-const_codeAt)(SB)
#define sets stub<>+(const_setsAt-const_codeAt)(SB)

// On the stack.
#define true_sec -16(SP)
#define true_nsec -8(SP)
#define now_sec -32(SP)
#define now_nsec -24(SP)
#define clock_id -40(SP)

// In: AX the system call's number, DI and SI the function's arguments.
// R8 is where the answer goes, R9 the line's offset in a set, R10 the number. A system call changes AX, CX and R11 only.
TEXT stub<>(SB), NOSPLIT|NOFRAME, $0
	MOVL AX, R10
	CMPL AX, $SYS_clock_gettime
	JEQ  clock

	// gettimeofday(tv, tz) and time(where): the wall clock, into what DI points to.
	MOVQ DI, R8
	CMPL AX, $SYS_time
	JEQ  wallclock
	TESTQ SI, SI
	JEQ  nozone
	XORL DI, DI                    // the time zone is the kernel's: gettimeofday(NULL, tz)
	SYSCALL
	TESTQ AX, AX
	JNE  return
nozone:
	XORL AX, AX
	TESTQ R8, R8                   // tv may be null
	JEQ  return
wallclock:
	MOVL $CLOCK_REALTIME, DI
	JMP  wallline

	// clock_gettime(id, ts): which line is the id's?
clock:
	MOVQ SI, R8
	CMPL DI, $CLOCK_REALTIME
	JEQ  wallline
	CMPL DI, $CLOCK_REALTIME_COARSE
	JEQ  wallline
	MOVL $(const_lineSize*const_monotonic), R9
	CMPL DI, $CLOCK_MONOTONIC
	JEQ  known
	CMPL DI, $CLOCK_MONOTONIC_COARSE
	JEQ  known
	MOVL $(const_lineSize*const_raw), R9
	CMPL DI, $CLOCK_MONOTONIC_RAW
	JEQ  known
	MOVL $(const_lineSize*const_boot), R9
	CMPL DI, $CLOCK_BOOTTIME
	JEQ  known
	SYSCALL                        // any other clock, and what is none, is the kernel's to answer
	RET
wallline:
	XORL R9, R9                    // the wall clock's line is the first
known:
	MOVL DI, clock_id

again:
	MOVQ selector, DX              // kept in DX until the multiplication

	// AX = T
	MOVL clock_id, DI
	LEAQ true_sec, SI
	MOVL $SYS_clock_gettime, AX
	SYSCALL
	TESTQ AX, AX                   // a sandbox may forbid it
	JNE  return
	TESTL R9, R9
	JNE  owntime

	// CX = the time that the wall clock's end is compared with
	MOVL $CLOCK_MONOTONIC, DI
	LEAQ now_sec, SI
	MOVL $SYS_clock_gettime, AX
	SYSCALL
	TESTQ AX, AX
	JNE  return
	IMUL3Q $1000000000, now_sec, CX
	ADDQ now_nsec, CX
	IMUL3Q $1000000000, true_sec, AX
	ADDQ true_nsec, AX
	JMP  line
owntime:
	IMUL3Q $1000000000, true_sec, AX
	ADDQ true_nsec, AX
	MOVQ AX, CX

	// R11 = the line; SI = what has passed since the end
line:
	MOVQ DX, SI
	ANDL $1, SI
	SHLL $const_setShift, SI
	LEAQ sets, R11
	ADDQ SI, R11
	ADDQ R9, R11
	XORL SI, SI
	CMPQ CX, const_lineEnd(R11)
	JLT  inforce
	TESTL R9, R9
	JNE  goeson
	MOVQ DX, CX
	JMP  answer                    // the wall clock is true again
goeson:
	MOVQ AX, SI                    // a monotonic clock goes on from where it was
	MOVQ const_lineEnd(R11), AX
	SUBQ AX, SI

inforce:
	SUBQ const_lineBase(R11), AX
	JGE  scale
	TESTL R9, R9                   // the wall clock may be set back; a coarse clock may still show a time before the
	JEQ  scale                     // base, and a monotonic one must not fall behind what the last set showed
	XORL AX, AX
scale:
	MOVQ DX, CX                    // the selector; IMULQ needs DX
	IMULQ const_lineRate(R11)      // DX:AX = AX * rate, signed
	SHRQ $const_fractionBits, DX, AX
	ADDQ const_lineTarget(R11), AX
	ADDQ SI, AX

answer:
	CMPQ CX, selector
	JNE  again

	TESTQ AX, AX                   // nothing is before 1970
	JGE  split
	XORL AX, AX
split:
	XORL DX, DX
	MOVL $1000000000, CX
	DIVQ CX                        // AX seconds, DX nanoseconds
	CMPL R10, $SYS_time
	JEQ  seconds
	MOVQ AX, 0(R8)
	CMPL R10, $SYS_clock_gettime
	JEQ  nanoseconds
	MOVL DX, AX
	XORL DX, DX
	MOVL $1000, CX
	DIVL CX                        // AX microseconds
	MOVL AX, DX
nanoseconds:
	MOVQ DX, 8(R8)
	XORL AX, AX
	RET
seconds:
	TESTQ R8, R8                   // time returns the seconds, and stores them where it is told to
	JEQ  return
	MOVQ AX, 0(R8)
return:
	RET
	QUAD $const_stubEnd

// func stubStart() unsafe.Pointer
TEXT ·stubStart(SB), NOSPLIT, $0-8
	LEAQ stub<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET
