package vdso

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
