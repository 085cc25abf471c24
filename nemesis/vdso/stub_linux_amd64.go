package vdso

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What the patch puts into the zero padding behind the vDSO's image. The first byte is 16-aligned; all offsets are from it.
//
//	0x000  marker      8 bytes, one word: what follows is ours
//	0x008  selector    8 bytes, one word: counts the changes; its lowest bit names the set in force
//	0x010  sets        2 x 128 bytes: a change is written into the set that is not in force
//	0x110  doors       3 x 16 bytes, one a function: mov eax, <system call number>; jmp code
//	0x140  code        stub_linux_amd64.s
//
// A set holds four lines of 32 bytes (see line), in the order of timescale. The assembly takes these numbers from here.
const (
	selectorAt = 0x08
	setsAt     = 0x10
	doorsAt    = 0x110
	codeAt     = 0x140

	setShift = 7
	setSize  = 1 << setShift
	lineSize = 32
	doorSize = 16

	lineBase   = 0  // offsets in a line
	lineTarget = 8  //
	lineRate   = 16 //
	lineEnd    = 24 //
)

// marker is what a helper knows its own patch, or a former helper's, by. Its last byte is the layout's version.
const marker = "lockchk1"

// fractionBits of a rate are behind the binary point.
const fractionBits = 32

// A timescale is a group of clock ids that differ from each other only in resolution.
type timescale int

const (
	wall timescale = iota
	monotonic
	raw
	boot
	timescales int = iota
)

// stubEnd follows the stub's last instruction.
const stubEnd = 0x0123_4567_89ab_cdef

// stubStart is the address of the stub's first instruction in this process.
func stubStart() unsafe.Pointer

// stubCode copies the stub's instructions.
func stubCode() []byte {
	const bound = 1024 // more than the stub is long, less than what surely follows it in the program
	text := unsafe.Slice((*byte)(stubStart()), bound)
	end := bytes.Index(text, binary.LittleEndian.AppendUint64(nil, stubEnd))
	if end < 0 {
		panic("vdso: the stub has no end")
	}
	return bytes.Clone(text[:end])
}

// A door is how one function of the vDSO enters the stub: as a system call would, with its number in AX.
type door struct {
	symbol string
	number uint32
}

// The functions that are replaced. clock_getres and the others stay as they are.
var doors = [...]door{
	{"__vdso_clock_gettime", unix.SYS_CLOCK_GETTIME},
	{"__vdso_gettimeofday", unix.SYS_GETTIMEOFDAY},
	{"__vdso_time", unix.SYS_TIME},
}

// doorAt is the offset of a door in the patch.
func doorAt(i int) int { return doorsAt + i*doorSize }

// patchCode is the part of the patch that never changes: doors and stub, to be put at doorsAt.
func patchCode() []byte {
	const int3 = 0xcc // where no thread should get to
	code := bytes.Repeat([]byte{int3}, codeAt-doorsAt)
	for i, d := range doors {
		at := i * doorSize
		code[at] = 0xb8 // mov eax, imm32
		binary.LittleEndian.PutUint32(code[at+1:], d.number)
		copy(code[at+5:], jump(int64(doorsAt+at+5), codeAt))
	}
	return append(code, stubCode()...)
}

// jumpSize is how much of a function is replaced.
const jumpSize = 5

// jump is a jump from one address to another, both counted from the same point.
func jump(from, to int64) []byte {
	distance := to - from - jumpSize
	if distance != int64(int32(distance)) {
		panic(fmt.Sprintf("vdso: a jump over %d bytes", distance)) // a vDSO has a few pages
	}
	return binary.LittleEndian.AppendUint32([]byte{0xe9}, uint32(distance)) // jmp rel32
}
